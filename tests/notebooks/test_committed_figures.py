"""A committed figure is shown by its notebook, and belongs to the numbers beside it.

Somebody who edits a number, a picture, a table or a caption by hand is told.
"""

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
    pictures = set()
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                pictures.add(a2b_base64("".join(output["data"]["image/png"])))

    return pictures


FILES = [path for path in FIGURES.rglob("*.*") if path.name != "errata.md"]


@pytest.mark.parametrize(
    "figure",
    sorted({path.with_suffix("") for path in FILES}),
    ids=lambda figure: f"{figure.parent.name}/{figure.name}",
)
def test_a_committed_figure_belongs_to_its_numbers(figure: Path) -> None:
    files = {path.suffix: path.read_bytes() for path in figure.parent.glob(f"{figure.name}.*")}
    assert files.keys() in (DRAWN, PRINTED)

    hashes = {suffix: hashlib.sha256(content).hexdigest() for suffix, content in files.items()}
    table = pd.read_csv(figure.with_name(f"{figure.name}.csv"))
    record = json.loads(files[".json"])

    assert record["sha256"] == hashes[".csv"]
    assert record["rows"] == len(table)
    assert record["columns"] == list(table.columns)
    assert record["drawn"].items() <= hashes.items()
    assert record["caption"].strip()
    assert not record["parameters"], "a run with other parameters is not committed"


@pytest.mark.parametrize("notebook", catalogue(), ids=lambda notebook: notebook.id)
def test_a_notebook_shows_its_figures(notebook) -> None:
    published = {path.read_bytes() for path in (FIGURES / notebook.id).glob("*.png")}
    assert published <= shown(notebook.path), "`ldpnb run` draws them again"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "picture", sorted(FIGURES.rglob("*.png")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_picture_is_what_its_numbers_draw(picture: Path) -> None:
    assert same(picture.read_bytes(), png(export.chart(picture)))


def test_every_figure_belongs_to_a_notebook() -> None:
    folders = {path.parent for path in FILES if path.is_file()}
    assert folders <= {FIGURES, *(FIGURES / notebook.id for notebook in catalogue())}
