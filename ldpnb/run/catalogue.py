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
    """A notebook of the companion.

    Attributes
    ----------
    id : str
        Its folder and name, such as ``1_biswas2022/01_sampling_bias``.
    path : Path
        Its file.
    title : str
        Its first line, or its id if it has none.
    source : str
        The key of the source that it is about; empty for a notebook outside the folders.
    declaration : str
        The code of its cell tagged ``parameters``; empty if it has none.
    shows : tuple of tuple of str
        What its calls of `verdicts` name: claims, or a source and sections of it.
    """

    id: str
    path: Path
    title: str
    source: str
    declaration: str
    shows: tuple[tuple[str, ...], ...]

    @property
    def claims(self) -> tuple[str, ...]:
        """The identifiers of the claims that it shows."""
        identifiers: list[str] = []
        for which in self.shows:
            identifiers += [claim.id for claim in select(*which)]
        return tuple(identifiers)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What its `parameters` cell, if it has one, declares."""
        return declared_parameters(self.declaration, self.id) if self.declaration else ()

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters converted to their types (`checked`)."""
        # A declaration that cannot be read matters only to somebody who gives a parameter.
        declared = self.parameters if given else ()
        return checked(declared, given, self.id)


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
    checkout = _checkout().resolve()
    place = output.resolve()
    if place.is_relative_to(checkout) and not place.is_relative_to(checkout / "build"):
        raise UsageError(
            f"output must lie below build/ or outside the checkout, got {shown(str(output))}"
        )


@cache
def catalogue() -> tuple[Notebook, ...]:
    """Return all notebooks in reading order."""
    folder = home() / "notebooks"
    paths = [path for path in folder.rglob("*.ipynb") if _is_of_the_companion(path)]
    paths.sort(key=lambda path: path.relative_to(folder).as_posix())
    return tuple(_read(path, folder) for path in paths)


def _is_of_the_companion(path: Path) -> bool:
    """Return whether a file is neither a run's remainder nor a copy that Jupyter keeps.

    The former is ``<name>.failed.ipynb`` or ``<name>.executed.ipynb``; the latter stands in
    ``.ipynb_checkpoints``.
    """
    return path.is_file() and path.name.count(".") == 1 and "." not in path.parent.name


def find(wanted: str) -> Notebook:
    """Return a notebook by its id, its path or the beginning of its name."""
    notebooks = {notebook.id: notebook for notebook in catalogue()}
    name = wanted.removeprefix("notebooks/").removesuffix(".ipynb")
    return notebooks[unique(name, list(notebooks), "notebook")]


def unique(
    wanted: str,
    names: Sequence[str],
    kind: str,
    where: str = "`ldpnb list` and `ldpnb verdicts` show all",
) -> str:
    """Return the name that a user means.

    Parameters
    ----------
    wanted : str
        A name, its part after a slash, or a beginning of either that only one name has.
    names : sequence of str
        All names, such as ``1_biswas2022/01_sampling_bias``.
    kind : str
        What has such names, for the message.
    where : str
        Where all names are found, for the message.

    Raises
    ------
    UsageError
        If several names fit, which the message lists; or if none does, and it gives the nearest.
    """
    fitting = [name for name in names if f"/{name}".endswith(f"/{wanted}")]
    if not fitting:
        fitting = [name for name in names if f"/{wanted}" in f"/{name}"]

    if not fitting:
        last_parts = [name.split("/")[-1] for name in names]
        hint = nearest(wanted, [*names, *last_parts])
        raise UsageError(f"no {kind} {shown(wanted)}{hint}; {where}")
    if len(fitting) > 1:
        more = ", ..." if len(fitting) > 6 else ""
        raise UsageError(
            f"{shown(wanted) or 'an empty name'} is ambiguous: {', '.join(fitting[:6])}{more}"
        )
    return fitting[0]


def _read(path: Path, folder: Path) -> Notebook:
    """Return a notebook by its file."""
    identifier = path.relative_to(folder).with_suffix("").as_posix()
    try:
        cells = [_Cell.read(cell) for cell in json.loads(path.read_bytes())["cells"]]
    except (*UNREADABLE, KeyError, AttributeError, OSError) as error:
        raise UsageError(f"{path} is not a notebook of format 4: {shown(str(error))}") from None

    headings = [cell.text for cell in cells if cell.kind == "markdown" and cell.text]
    title = headings[0].splitlines()[0].lstrip("# ") if headings else ""

    # Papermill too takes the first cell with this tag.
    declarations = [cell.text for cell in cells if "parameters" in cell.tags]

    shows: list[tuple[str, ...]] = []
    for cell in cells:
        if "claims" in cell.tags:
            shows += _shown_by(cell.text)

    folder_name, slash, _ = identifier.partition("/")
    _, _, source = folder_name.partition("_")
    return Notebook(
        id=identifier,
        path=path,
        title=title or identifier,
        source=source if slash else "",
        declaration=declarations[0] if declarations else "",
        shows=tuple(shows),
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """What is read of a cell."""

    kind: str
    text: str
    tags: Sequence[str]

    @classmethod
    def read(cls, cell: Mapping[str, Any]) -> "_Cell":
        tags = cell["metadata"].get("tags", [])
        return cls(kind=cell["cell_type"], text="".join(cell["source"]), tags=tags)


def _shown_by(code: str) -> Iterator[tuple[str, ...]]:
    """Yield what each call of `verdicts` in some code names; nothing if it is not Python."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return

    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="verdicts"), args=[*names]):
                yield tuple(str(name.value) for name in names if isinstance(name, ast.Constant))
