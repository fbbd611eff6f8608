"""Notebooks and figures are found by the names that a user types; what is no notebook is named."""

import json
from pathlib import Path

import pytest
from demonstration import PARAMETERS, notebook

from ldpnb.checks import UsageError
from ldpnb.run import catalogue, export


def fresh() -> tuple[catalogue.Notebook, ...]:
    catalogue.catalogue.cache_clear()
    return catalogue.catalogue()


@pytest.mark.parametrize(
    "wanted",
    [
        "1_demo/01_line",
        "01_line",
        "01_l",
        "1_demo/01",
        "1_demo/01_line.ipynb",
        "notebooks/1_demo/01_line.ipynb",
    ],
)
def test_a_notebook_is_found_by_its_id_its_path_or_the_beginning_of_its_name(
    checkout: Path, wanted: str
) -> None:
    assert catalogue.find(wanted).id == "1_demo/01_line"


@pytest.mark.parametrize(("number", "end"), [(6, "b/6"), (7, "b/6, ...")])
def test_a_name_that_fits_several_is_refused_with_the_first_six_of_them(
    number: int, end: str
) -> None:
    names = [f"b/{place}" for place in range(1, number + 1)]
    with pytest.raises(UsageError, match=r"^b is ambiguous: b/1, b/2") as refused:
        catalogue.unique("b", names, "figure")
    assert str(refused.value).endswith(f", {end}")


def test_a_whole_name_is_meant_before_longer_ones_that_begin_so() -> None:
    names = ["1_a/loss", "1_a/losses", "loss_of_users"]
    assert catalogue.unique("loss", names, "figure") == "1_a/loss"


def test_copies_and_remainders_of_notebooks_are_not_listed(checkout: Path) -> None:
    folder = checkout / "notebooks/1_demo"
    (folder / ".ipynb_checkpoints").mkdir()
    for name in (
        "01_line.failed.ipynb",
        "01_line.executed.ipynb",
        ".ipynb_checkpoints/01_line-checkpoint.ipynb",
    ):
        (folder / name).write_text("{}")
    (folder / "03_folder.ipynb").mkdir()
    assert [listed.id for listed in fresh()] == ["1_demo/01_line", "1_demo/02_broken"]


def test_a_notebook_has_the_title_of_its_first_words_the_source_of_its_folder_and_its_claims(
    checkout: Path,
) -> None:
    book = json.loads(notebook(PARAMETERS, "verdicts('bun2022/theorem-5.2')", "verdicts(1 +"))
    for cell in book["cells"][-2:]:
        cell["metadata"]["tags"] = ["claims"]
    (checkout / "notebooks/1_demo/03_claims.ipynb").write_text(json.dumps(book))

    untitled = {**book, "cells": [cell for cell in book["cells"] if cell["cell_type"] == "code"]}
    (checkout / "notebooks/99_alone.ipynb").write_text(json.dumps(untitled))

    found = {listed.id: listed for listed in fresh()}
    assert found["1_demo/03_claims"].title == "A demonstration"
    assert found["1_demo/03_claims"].source == "demo"
    assert found["1_demo/03_claims"].claims == ("bun2022/theorem-5.2",)
    assert found["1_demo/01_line"].claims == ()
    assert found["99_alone"].title == "99_alone"
    assert found["99_alone"].source == ""


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cells": [{}]}', '{"cells": 7}'])
def test_a_file_that_is_no_notebook_is_named(checkout: Path, content: str) -> None:
    path = checkout / "notebooks/1_demo/03_damaged.ipynb"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"03_damaged.ipynb is not a notebook of format 4"):
        fresh()


LENGTHS = {"1.5in": 1.5, "30in": 30, "3.4in": 3.4, "86mm": 86 / 25.4, "762mm": 30}
NO_LENGTHS = [".5in", "1.49in", "30.1in", "763mm", "3.4", "-3in", "3 in", "3.in", ""]


@pytest.mark.parametrize("width", [*LENGTHS, *NO_LENGTHS])
def test_a_width_is_a_length_of_1_5_to_30_inches(width: str) -> None:
    wanted = LENGTHS.get(width)
    if wanted is None:
        with pytest.raises(UsageError, match=r"width must be a length of 1.5 to 30 in"):
            export.inches(width)
    else:
        assert export.inches(width) == pytest.approx(wanted)
