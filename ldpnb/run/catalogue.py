"""What notebooks there are, which parameters they take and which claims they decide. Reads the files; runs nothing."""

import ast
import contextlib
import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb.checks import UsageError, nearest, shortened, shown

HOME_VARIABLE = "LDPNB_HOME"
"""Environment variable naming the checkout, for an installation that does not lie in one."""

_UNREADABLE = (ValueError, TypeError, SyntaxError, OverflowError, RecursionError, MemoryError)
_MOST_BYTES = 2**27

_INTERVAL = re.compile(r"[\[(]\s*[-+.\w]+\s*,\s*[-+.\w]+\s*[\])];")
_WORDS = re.compile(r"\{([^}]*)\};")
_TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": list}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as a notebook's `parameters` cell or an experiment declares it; it may be one of a few words only."""

    name: str
    type: str
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of which it is one, with which its meaning may begin: ``{error, missing}; what becomes of ...``."""
        found = _WORDS.match(self.meaning)
        return tuple(word.strip() for word in found[1].split(",")) if found else self.choices

    @property
    def within(self) -> str:
        """The interval in which its numbers must lie, with which its meaning begins: ``(0, 1]; sampling rate``."""
        found = _INTERVAL.match(self.meaning)
        return found[0].removesuffix(";") if found else ""

    def convert(self, value: Any) -> Any:
        """Return `value` as this parameter's type, from text (the command line) or from a Python value.

        Raises
        ------
        UsageError
            If it cannot be converted without loss, is not finite, outside its interval, or none of the choices.

        Examples
        --------
        >>> Parameter("users", "int", 10, "").convert("1e6")
        1000000
        >>> Parameter("users", "int", 10, "").convert("many")
        Traceback (most recent call last):
        ldpnb.checks.UsageError: users must be of type int, got users='many'
        """
        try:
            converted = self._converted(value)
        except _UNREADABLE:
            raise UsageError(f"{self.name} must be of type {self.type}, got {self.name}={shortened(value)}") from None
        numbers = converted if isinstance(converted, list) else [converted]
        if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
            raise UsageError(f"{self.name} must be finite, got {self.name}={shown(str(value))}")
        if any(not _inside(number, self.within) for number in numbers):
            raise UsageError(f"{self.name} must lie in {self.within}, got {self.name}={shortened(value)}")
        if self.words and converted not in self.words:
            got = f"{self.name}={shortened(value)}{nearest(converted, self.words)}"
            raise UsageError(f"{self.name} must be one of {', '.join(self.words)}, got {got}")
        return converted

    def _converted(self, value: Any) -> Any:
        kind = self.type.split("[")[0]
        if kind == "str":
            if not isinstance(value, str):
                raise TypeError
            value.encode()
            return value
        parsed = _parsed(value, kind) if isinstance(value, str) else value
        if isinstance(parsed, bool) != (kind == "bool") or (kind == "list") != isinstance(parsed, list):
            raise TypeError
        if kind == "int" and parsed != int(parsed):
            raise ValueError
        return _items(parsed, self.type) if kind == "list" else _TYPES[kind](parsed)


def _inside(number: Any, interval: str) -> bool:
    if not interval or isinstance(number, str | bool | list):
        return True
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = number >= low if interval[0] == "[" else number > low
    return bool(above and (number <= high if interval[-1] == "]" else number < high))


def _parsed(text: str, kind: str) -> Any:
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else None
    if kind == "list":
        return ast.literal_eval(text)
    # through a floating-point number whole ones beyond 2^53 would change
    with contextlib.suppress(ValueError):
        return int(text)
    return float(text)


def _items(values: list[Any], annotation: str) -> list[Any]:
    inner = annotation.removeprefix("list").strip("[]") or "str"
    return [Parameter("item", inner, None, "")._converted(v) for v in values]


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the companion."""

    id: str
    path: Path
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    claims: tuple[str, ...]

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters converted to their types.

        Paths count from the working directory, and become absolute.

        Raises
        ------
        UsageError
            For a name the notebook does not have (the nearest is suggested), a value of the wrong type or outside its
            interval, or a file that is not there.
        """
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                raise UsageError(f"{self.id} has no parameter {shown(name)}{nearest(name, list(known))}; {has}")
        return {name: _absolute(known[name], known[name].convert(value)) for name, value in given.items()}


def _absolute(parameter: Parameter, value: Any) -> Any:
    """Return the value of a parameter that names a file so that it can be found from the notebook's folder as well."""
    if not value or parameter.type != "str" or not (parameter.name == "data" or parameter.name.endswith("_path")):
        return value
    path = os.path.join(os.getcwd(), os.path.expanduser(value))
    if not os.path.exists(path):
        raise UsageError(f"{parameter.name} must be a file, got {parameter.name}={shown(value)}")
    return path


def home() -> Path:
    """Return the checkout: the folder that holds ``notebooks/``.

    Raises
    ------
    UsageError
        If neither the environment variable ``LDPNB_HOME`` nor the package's own location leads to one.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    folder = Path(chosen) if chosen else Path(ldpnb.__file__).resolve().parent.parent
    if not (folder / "notebooks").is_dir():
        raise UsageError(f"no notebooks/ in {folder}; set {HOME_VARIABLE} to a checkout of ldpnb")
    return folder


@cache
def catalogue() -> tuple[Notebook, ...]:
    """Return all notebooks in reading order."""
    folder = home() / "notebooks"
    paths = [
        p
        for p in folder.rglob("*.ipynb")
        if p.is_file() and not p.name.endswith(".failed.ipynb") and ".ipynb_checkpoints" not in p.parts
    ]
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
    raise UsageError(f"no notebook {shown(identifier)}{nearest(wanted, names)}; `ldpnb list` shows all")


def _read(path: Path, folder: Path) -> Notebook:
    identifier = path.relative_to(folder).with_suffix("").as_posix()
    cells = _cells(path)
    texts = [("".join(c["source"]), c) for c in cells]
    title = next((t.splitlines()[0].lstrip("# ") for t, c in texts if c["cell_type"] == "markdown" and t), identifier)
    source = identifier.split("/")[0].partition("_")[2] if "/" in identifier else ""
    tagged: dict[str, list[str]] = {"parameters": [], "claims": []}
    for text, cell in texts:
        for tag in cell["metadata"].get("tags", []):
            tagged.setdefault(tag, []).append(text)
    if len(tagged["parameters"]) > 1:
        raise UsageError(f"{identifier}: {len(tagged['parameters'])} cells are tagged parameters, at most one may be")
    declared = declared_parameters("".join(tagged["parameters"]), identifier)
    return Notebook(identifier, path, title, source, declared, _claims(tagged["claims"], identifier))


def _cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook's file, after checking that they have what every reader takes for granted."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES:,} bytes")
        content = json.loads(path.read_bytes())
        if content["nbformat"] != 4:
            raise ValueError(f"it has format {content['nbformat']!r} instead of 4")
        cells: list[dict[str, Any]] = content["cells"]
        for number, cell in enumerate(cells):
            outputs = cell["outputs"] if cell["cell_type"] == "code" else []
            tags = cell["metadata"].get("tags", [])
            if not all(
                isinstance(text, str) for text in (*cell["source"], *tags, *(o["output_type"] for o in outputs))
            ):
                raise ValueError(f"cell {number} is malformed")
    except (*_UNREADABLE, KeyError, AttributeError, OSError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else shown(str(error))
        raise UsageError(f"{path} is not a notebook: {reason}") from None
    return cells


def declared_parameters(cell: str, where: str) -> tuple[Parameter, ...]:
    """Return the parameters that a cell declares, each ``name: type = literal  # meaning, unit``.

    Raises
    ------
    UsageError
        If the cell holds anything else.

    Examples
    --------
    >>> (epsilon,) = declared_parameters("epsilon: float = 1.0  # budget, nats", "example")
    >>> epsilon.name, epsilon.type, epsilon.default, epsilon.meaning
    ('epsilon', 'float', 1.0, 'budget, nats')
    """
    lines, parameters = cell.splitlines(), []
    for node in _parse(cell, where).body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None):
            raise UsageError(f"{where}: line {node.lineno} of the parameters cell is not `name: type = literal`")
        line = lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :]
        meaning = line.partition("#")[2].strip()
        kind = ast.unparse(node.annotation)
        if kind.split("[")[0] not in _TYPES or not meaning:
            raise UsageError(
                f"{where}: {node.target.id} needs a type among {', '.join(_TYPES)} and a comment with its meaning"
            )
        try:
            default = ast.literal_eval(node.value)
        except _UNREADABLE:
            raise UsageError(f"{where}: the value of {node.target.id} must be a literal") from None
        parameters.append(Parameter(node.target.id, kind, default, meaning))
    return tuple(parameters)


def _parse(cell: str, where: str) -> ast.Module:
    try:
        return ast.parse(cell)
    except _UNREADABLE as error:
        raise UsageError(f"{where}: a tagged cell is not Python: {shown(str(error))}") from None


def _claims(cells: list[str], where: str) -> tuple[str, ...]:
    nodes = (node for cell in cells for node in ast.walk(_parse(cell, where)))
    return tuple(n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and "/" in n.value)
