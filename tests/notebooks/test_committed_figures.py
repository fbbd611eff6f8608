"""A committed figure is the one that its notebook shows and that its numbers belong to."""

import hashlib
import json
from binascii import a2b_base64
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from ldpnb.run.catalogue import catalogue, home

FIGURES = home() / "figures"
DRAWN = {".csv", ".json", ".pdf", ".png"}
PRINTED = {".csv", ".json", ".tex"}


def faults(figure: Path) -> Iterator[str]:
    """Yield what does not belong together of the files of a figure, given by its path without a suffix."""
    files = {path.suffix: path.read_bytes() for path in figure.parent.glob(f"{figure.name}.*")}
    if files.keys() not in (DRAWN, PRINTED):
        yield f"has {', '.join(sorted(files))}"
        return
    made, table = json.loads(files[".json"]), pd.read_csv(figure.with_name(f"{figure.name}.csv"))
    hashes = {suffix: hashlib.sha256(content).hexdigest() for suffix, content in files.items()}
    if made["sha256"] != hashes[".csv"]:
        yield "has other numbers than it was made from"
    if (made["rows"], made["columns"]) != (len(table), list(table.columns)):
        yield "has another table"
    for suffix, drawn in made.get("drawn", {}).items():
        if hashes.get(suffix) != drawn:
            yield f"has another {suffix}"
    if not made["caption"].strip() or made["parameters"]:
        yield "has no caption, or is of a run with other parameters"


def shown(notebook: Path) -> set[bytes]:
    """Return the pictures of a notebook."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    data = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return {a2b_base64("".join(one["image/png"])) for one in data if "image/png" in one}


@pytest.mark.parametrize(
    "figure",
    sorted({p.with_suffix("") for p in FIGURES.rglob("*.*") if p.name != "errata.md" and p.suffixes[0] != ".grid"}),
    ids=lambda p: p.name,
)
def test_a_committed_figure_belongs_to_its_numbers(figure: Path) -> None:
    assert list(faults(figure)) == []


@pytest.mark.parametrize("notebook", catalogue(), ids=lambda n: n.id)
def test_a_notebook_shows_its_figures(notebook) -> None:
    pictures = {path.read_bytes() for path in (FIGURES / notebook.id).glob("*.png")}
    assert pictures <= shown(notebook.path)


def test_no_figure_is_of_no_notebook() -> None:
    folders = {path.parent for path in FIGURES.rglob("*") if path.is_file() and path.name != "errata.md"}
    assert folders <= {FIGURES, *(FIGURES / n.id for n in catalogue())}
