"""The notebooks, the parameters they take and the claims they decide, read from the files.

Nothing is run for it.
"""

import ast
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb.checks import UsageError, nearest, shown
from ldpnb.claims import select
from ldpnb.notebook.parameters import UNREADABLE, Parameter, checked, declared_parameters

HOME_VARIABLE = "LDPNB_HOME"
"""Environment variable naming the checkout, for an installation that does not lie in one."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the companion."""

    id: str
    path: Path
    title: str
    source: str
    declaration: str
    shows: tuple[tuple[str, ...], ...]
    """What its calls of `verdicts` name: claims, or a source and sections of it."""

    @property
    def claims(self) -> tuple[str, ...]:
        """The identifiers of the claims that it shows."""
        return tuple(claim.id for which in self.shows for claim in select(*which))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What its `parameters` cell, if it has one, declares."""
        return declared_parameters(self.declaration, self.id) if self.declaration else ()

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters converted to their types (`checked`)."""
        return checked(self.parameters if given else (), given, self.id)


def _checkout() -> Path:
    return Path(os.environ.get(HOME_VARIABLE) or Path(ldpnb.__file__).resolve().parent.parent)


def home() -> Path:
    """Return the checkout: what ``LDPNB_HOME`` names, or the folder that holds this package."""
    folder = _checkout()
    if not (folder / "notebooks").is_dir():
        raise UsageError(
            f"no notebooks/ in {folder}; clone ldpnb and set {HOME_VARIABLE} to the clone"
        )
    return folder


def require_uncommitted(output: Path) -> None:
    """Refuse an output inside the checkout that lies outside ``build/``, even by links."""
    checkout, place = _checkout().resolve(), output.resolve()
    if place.is_relative_to(checkout) and not place.is_relative_to(checkout / "build"):
        raise UsageError(
            f"output must lie below build/ or outside the checkout, got {shown(str(output))}"
        )


@cache
def catalogue() -> tuple[Notebook, ...]:
    """Return all notebooks in reading order."""
    folder = home() / "notebooks"
    # not what failed or was left beside an edit, nor Jupyter's own copies
    paths = [
        p
        for p in folder.rglob("*.ipynb")
        if p.is_file() and p.name.count(".") == 1 and "." not in p.parent.name
    ]
    return tuple(
        _read(p, folder) for p in sorted(paths, key=lambda p: p.relative_to(folder).as_posix())
    )


def find(wanted: str) -> Notebook:
    """Return a notebook by its id, its path or the beginning of its name."""
    notebooks = {n.id: n for n in catalogue()}
    return notebooks[
        unique(
            wanted.removeprefix("notebooks/").removesuffix(".ipynb"), list(notebooks), "notebook"
        )
    ]


def unique(wanted: str, names: Sequence[str], kind: str) -> str:
    """Return the name that a user means.

    It, or its part after a slash, is `wanted`, or else it is the only one that begins so. A
    `UsageError` names those that fit if several do, and the nearest if none does.
    """
    fitting = [name for name in names if f"/{name}".endswith(f"/{wanted}")]
    fitting = fitting or [name for name in names if f"/{wanted}" in f"/{name}"]
    if len(fitting) > 1:
        raise UsageError(
            f"{shown(wanted)} is ambiguous: {', '.join(fitting[:6])}"
            f"{', ...' if fitting[6:] else ''}"
        )
    if not fitting:
        hint = nearest(wanted, [*names, *(name.split("/")[-1] for name in names)])
        raise UsageError(f"no {kind} {shown(wanted)}{hint}; `ldpnb list` and `verdicts` name all")
    return fitting[0]


def _read(path: Path, folder: Path) -> Notebook:
    identifier = path.relative_to(folder).with_suffix("").as_posix()
    try:
        content = json.loads(path.read_bytes())
        cells = [
            (c["cell_type"], "".join(c["source"]), c["metadata"].get("tags", []))
            for c in content["cells"]
        ]
    except (*UNREADABLE, KeyError, AttributeError, OSError) as error:
        raise UsageError(f"{path} is not a notebook of format 4: {shown(str(error))}") from None
    title = next(
        (
            text.splitlines()[0].lstrip("# ")
            for kind, text, _ in cells
            if kind == "markdown" and text
        ),
        "",
    )
    declaration = next(
        (text for _, text, tags in cells if "parameters" in tags), ""
    )  # the first, as for papermill
    shows = [which for _, text, tags in cells if "claims" in tags for which in _shown_by(text)]
    source = identifier.split("/")[0].partition("_")[2] if "/" in identifier else ""
    return Notebook(identifier, path, title or identifier, source, declaration, tuple(shows))


def _shown_by(cell: str) -> Iterator[tuple[str, ...]]:
    """Yield what each call of `verdicts` in a cell names; none if the cell is no Python."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="verdicts"), args=[*names]):
                yield tuple(str(name.value) for name in names if isinstance(name, ast.Constant))
