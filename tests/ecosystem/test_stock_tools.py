"""The notebooks work under tools that know nothing of this project.

These are pytest with nbval, nbconvert, plain Python, and pages that take away styles, such as
GitHub's.
"""

import html
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import nbconvert
import pytest

from ldpnb.run.catalogue import catalogue, find, home

QUICK = "5_lecture20/01_means"
LANGUAGE = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
IDS = [notebook.id for notebook in catalogue()]


def contents() -> dict[str, dict]:
    """Every notebook's content, by its id."""
    return {name: json.loads(find(name).path.read_text(encoding="utf-8")) for name in IDS}


def all_cells() -> list[dict]:
    cells = []
    for content in contents().values():
        cells += content["cells"]

    return cells


@pytest.mark.nightly
@pytest.mark.parametrize("name", IDS)
def test_a_notebook_passes_nbval_without_plugin_and_configuration_of_ours(
    name: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider"]
    command += ["-c", "/dev/null", find(name).path]
    ours = ("LDPNB_", "JUPYTER_", "PYTEST_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=plain
    )

    assert result.returncode == 0, result.stdout


def test_what_a_live_section_has_stored_is_what_a_plain_kernel_says_as_text() -> None:
    live = [cell for cell in all_cells() if "\nlive(" in "\n" + "".join(cell["source"])]
    assert live

    for cell in live:
        (output,) = cell["outputs"]
        assert output["output_type"] == "display_data"
        assert list(output["data"]) == ["text/plain"]


def without_styles(text: str) -> str:
    """What is left of a table where style sheets and attributes are taken away."""
    without_sheets = re.sub(r"(?s)<(style|script).*?</\1>", "", text)
    return html.unescape(re.sub(r"<[^>]+>", " ", without_sheets))


def test_tables_keep_every_word_where_a_renderer_takes_their_styles_away() -> None:
    tables = []
    for cell in all_cells():
        data = [output.get("data", {}) for output in cell.get("outputs", [])]
        tables += [shown for shown in data if "text/html" in shown]

    assert tables
    for table in tables:
        shown = without_styles("".join(table["text/html"])).split()
        words = "".join(table["text/plain"]).split()
        whole = {word for word in words if not word.endswith("...") and word != "\\"}
        assert whole <= set(shown)


@pytest.mark.parametrize("name", IDS)
def test_a_notebook_says_its_language(name: str) -> None:
    content = json.loads(find(name).path.read_text(encoding="utf-8"))
    assert content["metadata"]["language_info"].items() >= LANGUAGE.items()


def test_no_two_cells_have_the_same_id() -> None:
    ids = [cell["id"] for cell in all_cells()]
    assert len(ids) == len(set(ids))


SCRIPTS = [name if name == QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in IDS]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_notebook_is_a_script_that_runs_and_prints_text(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body, resources = nbconvert.ScriptExporter().from_filename(find(name).path)
    script = tmp_path / f"script{resources['output_extension']}"
    script.write_text(body, encoding="utf-8")
    for variable in os.environ.copy():
        if variable.startswith("LDPNB_"):
            monkeypatch.delenv(variable)

    monkeypatch.chdir(tmp_path)
    runpy.run_path("script.py")
    said = capsys.readouterr().out

    for picture in (home() / "figures" / name).glob("*.png"):
        record = json.loads(picture.with_suffix(".json").read_bytes())
        assert record["caption"] in said
    assert "text/" not in said, "no output is printed as a dictionary"
    assert " object at " not in said
