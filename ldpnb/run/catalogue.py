"""The notebooks, the parameters they take and the claims they decide, read from the files without running them."""

import ast
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb.checks import UsageError, nearest, shown
from ldpnb.notebook.parameters import UNREADABLE, Parameter, checked, declared_parameters

MARK = ".ldpnb"
"""File in a folder made by ``ldpnb get``."""

HOME_VARIABLE = "LDPNB_HOME"
"""Environment variable naming the checkout, for an installation that does not lie in one."""


class NoNotebookError(UsageError):
    """No notebook has that name."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the companion."""

    id: str
    path: Path
    title: str
    source: str
    declaration: str
    claims: tuple[str, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What its `parameters` cell, if it has one, declares."""
        return declared_parameters(self.declaration, self.id) if self.declaration else ()

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters converted to their types.

        Paths are relative to the working directory, and become absolute.

        Raises
        ------
        UsageError
            For a name the notebook does not have (the nearest is suggested), a value of the wrong type or outside its
            interval, or a file that is not there.
        """
        known = {p.name: p for p in self.parameters} if given else {}
        return {name: _absolute(known[name], value) for name, value in checked(known.values(), given, self.id).items()}


def _absolute(parameter: Parameter, value: Any) -> Any:
    """Return a parameter's value, made absolute if it names a file: notebooks run in their own folder."""
    if not value or not parameter.names_a_file:
        return value
    path = os.path.join(os.getcwd(), os.path.expanduser(value))
    if not os.path.exists(path):
        raise UsageError(f"{parameter.name} must be a file, got {parameter.name}={shown(value)}")
    return path


def home() -> Path:
    """Return the folder with ``notebooks/``: the one that ``ldpnb get`` unpacked around here, or the checkout.

    Raises
    ------
    UsageError
        If neither the environment variable ``LDPNB_HOME`` nor the working directory nor the package's own location
        leads to one.
    """
    chosen, here = os.environ.get(HOME_VARIABLE), Path.cwd()
    unpacked = next((place for place in (here, *here.parents) if (place / MARK).is_file()), None)
    folder = Path(chosen) if chosen else unpacked or Path(ldpnb.__file__).resolve().parent.parent
    if not (folder / "notebooks").is_dir():
        where = f"`ldpnb get` unpacks them, or set {HOME_VARIABLE} to a checkout of ldpnb"
        raise UsageError(f"no notebooks/ in {folder}; {where}")
    return folder


_COMMITTED = {"notebooks", "figures", "ldpnb", "tests", ".git", ".github", ".ci", "binder"}


def require_uncommitted(*outputs: Path) -> None:
    """Refuse outputs that would overwrite or litter committed files of the checkout, if there is one.

    Raises
    ------
    UsageError
        If one is the checkout itself, a file at its top, or inside a committed folder, even through links.
    """
    try:
        folder = home().resolve()
    except UsageError:  # a bare installation
        return
    for output in outputs:
        place = output.resolve()
        inside = place.relative_to(folder).parts[:1] if place.is_relative_to(folder) else ("elsewhere",)
        if not inside or inside[0] in _COMMITTED or (place.parent == folder and place.is_file()):
            raise UsageError(f"output must lie outside what is committed, got {shown(str(output))}")


@cache
def catalogue() -> tuple[Notebook, ...]:
    """Return all notebooks in reading order."""
    folder = home() / "notebooks"
    # not what failed or was left beside an edit, nor Jupyter's own copies
    paths = [p for p in folder.rglob("*.ipynb") if p.is_file() and p.name.count(".") == 1 and "." not in p.parent.name]
    return tuple(_read(p, folder) for p in sorted(paths, key=lambda p: p.relative_to(folder).as_posix()))


def find(identifier: str) -> Notebook:
    """Return a notebook by its id or by an unambiguous end or beginning of it.

    Raises
    ------
    UsageError
        If none or several match; the nearest are named.
    """
    notebooks = {n.id: n for n in catalogue()}
    wanted = identifier.removesuffix(".ipynb").removeprefix("./").removeprefix("notebooks/")
    if wanted in notebooks:
        return notebooks[wanted]
    matching = [n for i, n in notebooks.items() if i.split("/")[-1].startswith(wanted) or i.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(f"{shown(identifier)} is ambiguous: {', '.join(n.id for n in matching)}")
    names = [*notebooks, *(i.split("/")[-1] for i in notebooks)]
    raise NoNotebookError(f"no notebook {shown(identifier)}{nearest(wanted, names)}; `ldpnb list` shows all")


def _read(path: Path, folder: Path) -> Notebook:
    identifier = path.relative_to(folder).with_suffix("").as_posix()
    texts = [("".join(cell["source"]), cell) for cell in _cells(path)]
    title = next((t.splitlines()[0].lstrip("# ") for t, c in texts if c["cell_type"] == "markdown" and t), identifier)
    source = identifier.split("/")[0].partition("_")[2] if "/" in identifier else ""
    declarations, claims = (
        [text for text, cell in texts if tag in cell["metadata"].get("tags", [])] for tag in ("parameters", "claims")
    )
    if len(declarations) > 1:
        raise UsageError(f"{identifier}: {len(declarations)} cells are tagged parameters, at most one may be")
    return Notebook(identifier, path, title, source, "".join(declarations), _claims(claims, identifier))


def _cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook's file, after checking what is read of them."""
    try:
        content = json.loads(path.read_bytes())
        if content["nbformat"] != 4:
            raise ValueError(f"it has format {content['nbformat']!r} instead of 4")
        cells: list[dict[str, Any]] = content["cells"]
        for number, cell in enumerate(cells):
            outputs = cell["outputs"] if cell["cell_type"] == "code" else []
            words = (*cell["source"], *cell["metadata"].get("tags", []), *(o["output_type"] for o in outputs))
            if not all(isinstance(word, str) for word in words):
                raise ValueError(f"cell {number} is malformed")
    except (*UNREADABLE, KeyError, AttributeError, OSError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else shown(str(error))
        raise UsageError(f"{path} is not a notebook: {reason}") from None
    return cells


def _claims(cells: list[str], where: str) -> tuple[str, ...]:
    try:
        nodes = [node for cell in cells for node in ast.walk(ast.parse(cell))]
    except UNREADABLE as error:
        raise UsageError(f"{where}: the cell of its claims is not Python: {shown(str(error))}") from None
    return tuple(n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and "/" in n.value)
