"""The notebooks, the parameters they take and the claims they decide, read from the files without running them."""

import ast
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb.checks import UsageError, nearest, shown
from ldpnb.notebook.parameters import UNREADABLE, Parameter, checked, declared_parameters

HOME_VARIABLE = "LDPNB_HOME"
"""Environment variable naming the checkout, for an installation that does not lie in one."""


class UnknownNameError(UsageError):
    """Nothing has that name."""


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
        """Return the given parameters converted to their types (`checked`), and paths made absolute.

        They count from here, since notebooks run in their own folder; one that is not there is a `UsageError`.
        """
        known = self.parameters if given else ()
        values = checked(known, given, self.id)
        for name in (parameter.name for parameter in known if parameter.names_a_file and values.get(parameter.name)):
            path = Path(os.path.expanduser(values[name])).absolute()
            if not path.exists():
                raise UsageError(f"{name} must be a file, got {name}={shown(values[name])}")
            values[name] = str(path)
        return values


def home() -> Path:
    """Return the checkout: the folder that ``LDPNB_HOME`` names, or the one that this package lies in."""
    folder = Path(os.environ.get(HOME_VARIABLE) or Path(ldpnb.__file__).resolve().parent.parent)
    if not (folder / "notebooks").is_dir():
        raise UsageError(f"no notebooks/ in {folder}; clone ldpnb and set {HOME_VARIABLE} to the clone")
    return folder


_COMMITTED = ("notebooks", "figures", "ldpnb", "tests", ".git", ".github", ".ci", "binder")


def require_uncommitted(output: Path) -> None:
    """Refuse an output that would overwrite or litter committed files of the checkout, even by links."""
    try:
        folder, place = home().resolve(), output.resolve()
    except UsageError:  # a bare installation
        return
    at_top = place == folder or (place.parent == folder and place.is_file())
    if at_top or any(place.is_relative_to(folder / room) for room in _COMMITTED):
        raise UsageError(f"output must lie outside what is committed, got {shown(str(output))}")


@cache
def catalogue() -> tuple[Notebook, ...]:
    """Return all notebooks in reading order."""
    folder = home() / "notebooks"
    # not what failed or was left beside an edit, nor Jupyter's own copies
    paths = [p for p in folder.rglob("*.ipynb") if p.is_file() and p.name.count(".") == 1 and "." not in p.parent.name]
    return tuple(_read(p, folder) for p in sorted(paths, key=lambda p: p.relative_to(folder).as_posix()))


def find(identifier: str) -> Notebook:
    """Return a notebook by its id or by an unambiguous beginning of it or of its name."""
    notebooks = {n.id: n for n in catalogue()}
    wanted = identifier.removesuffix(".ipynb").removeprefix("./").removeprefix("notebooks/")
    return notebooks[unique(wanted, list(notebooks), "notebook", within=False)]


def unique(wanted: str, names: Sequence[str], kind: str, *, within: bool = True, near: Sequence[str] = ()) -> str:
    """Return the one of some names that a user means: it is `wanted`, its last part is, or begins so, or holds it.

    Case and separators do not matter. With `within` false a name must begin so. A `UsageError` names several that fit
    equally well; if none fits, an `UnknownNameError` suggests the nearest of the names and those in `near`.
    """
    word = _plain(wanted)
    begins = [name for name in names if _plain(name).startswith(word) or _plain(_last(name)).startswith(word)]
    for fitting in (
        [name for name in begins if _plain(name) == word],
        [name for name in begins if _plain(_last(name)) == word],
        begins,
        [name for name in names if within and word in _plain(name)],
    ):
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            more = ", ..." if len(fitting) > 6 else ""
            raise UsageError(f"{shown(wanted)} is ambiguous: {', '.join(fitting[:6])}{more}")
    known = [*names, *near]
    hint = nearest(wanted, [*known, *map(_last, known)])
    raise UnknownNameError(f"no {kind} {shown(wanted)}{hint}; `ldpnb list` and `verdicts` name all")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def _last(name: str) -> str:
    return name.split("/")[-1]


def _read(path: Path, folder: Path) -> Notebook:
    identifier = path.relative_to(folder).with_suffix("").as_posix()
    try:
        content = json.loads(path.read_bytes())
        if content["nbformat"] != 4:
            raise ValueError(f"it has format {content['nbformat']!r} instead of 4")
        cells = [(c["cell_type"], "".join(c["source"]), c["metadata"].get("tags", [])) for c in content["cells"]]
        texts = [text for kind, text, _ in cells if kind == "markdown" and text]
        declarations = [text for _, text, tags in cells if "parameters" in tags]
        claims = _claims("\n".join(text for _, text, tags in cells if "claims" in tags))
    except (*UNREADABLE, KeyError, AttributeError, OSError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else shown(str(error))
        raise UsageError(f"{path} is not a notebook: {reason}") from None
    if len(declarations) > 1:
        raise UsageError(f"{identifier}: {len(declarations)} cells are tagged parameters, at most one may be")
    title = texts[0].splitlines()[0].lstrip("# ") if texts else identifier
    source = identifier.split("/")[0].partition("_")[2] if "/" in identifier else ""
    return Notebook(identifier, path, title, source, "".join(declarations), claims)


def _claims(code: str) -> tuple[str, ...]:
    """Return the claims that a cell names."""
    words = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    return tuple(word for word in words if isinstance(word, str) and "/" in word)
