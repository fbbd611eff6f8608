"""A committed figure is the one that its notebook shows and that its numbers belong to."""

import hashlib
import json
from binascii import a2b_base64
from pathlib import Path

import pandas as pd
import pytest

from ldpnb.notebook.figures import png
from ldpnb.run import export
from ldpnb.run.catalogue import catalogue, home
from ldpnb.run.sameness import same

FIGURES = home() / "figures"
DRAWN = {".csv", ".json", ".png"}
PRINTED = {".csv", ".json"}


def shown(notebook: Path) -> set[bytes]:
    """Return the pictures of a notebook."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    data = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return {a2b_base64("".join(one["image/png"])) for one in data if "image/png" in one}


@pytest.mark.parametrize(
    "figure",
    sorted({p.with_suffix("") for p in FIGURES.rglob("*.*") if p.name != "errata.md"}),
    ids=lambda p: p.name,
)
def test_a_committed_figure_belongs_to_its_numbers(figure: Path) -> None:
    files = {path.suffix: path.read_bytes() for path in figure.parent.glob(f"{figure.name}.*")}
    assert files.keys() in (DRAWN, PRINTED)

    made, table = json.loads(files[".json"]), pd.read_csv(figure.with_name(f"{figure.name}.csv"))
    hashes = {suffix: hashlib.sha256(content).hexdigest() for suffix, content in files.items()}

    assert made["sha256"] == hashes[".csv"]
    assert (made["rows"], made["columns"]) == (len(table), list(table.columns))
    assert made["drawn"].items() <= hashes.items()
    assert made["caption"].strip()
    assert not made["parameters"], "a run with other parameters is not committed"


@pytest.mark.parametrize("notebook", catalogue(), ids=lambda n: n.id)
def test_a_notebook_shows_its_figures(notebook) -> None:
    published = {path.read_bytes() for path in (FIGURES / notebook.id).glob("*.png")}
    assert published <= shown(notebook.path), "`ldpnb run` draws them again"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "picture", sorted(FIGURES.rglob("*.png")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_picture_is_what_its_numbers_draw(picture: Path) -> None:
    assert same(picture.read_bytes(), png(export.chart(picture)))


def test_no_figure_is_of_no_notebook() -> None:
    folders = {
        path.parent for path in FIGURES.rglob("*") if path.is_file() and path.name != "errata.md"
    }
    assert folders <= {FIGURES, *(FIGURES / n.id for n in catalogue())}
