"""A notebook's parameters, as its `parameters` cell declares them and papermill may replace them."""

import ast
import contextlib
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ldpnb.checks import UsageError, nearest, shortened, shown

UNREADABLE = (ValueError, TypeError, SyntaxError, OverflowError, RecursionError, MemoryError)
"""Errors of parsing and converting arbitrary text."""

_INTERVAL = re.compile(r"[\[(]\s*[-+.\w]+\s*,\s*[-+.\w]+\s*[\])];")
_WORDS = re.compile(r"\{([^}]*)\};")
_TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": list}
_INJECTED = "# Parameters\n"
"""First line of the cell that papermill injects."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as a notebook's `parameters` cell or an experiment declares it, perhaps one of a few words."""

    name: str
    type: str
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words it may be, with which its meaning may begin: ``{error, missing}; what becomes of ...``."""
        found = _WORDS.match(self.meaning)
        return tuple(word.strip() for word in found[1].split(",")) if found else self.choices

    @property
    def within(self) -> str:
        """The interval for its numbers, with which its meaning may begin: ``(0, 1]; sampling rate``."""
        found = _INTERVAL.match(self.meaning)
        return found[0].removesuffix(";") if found else ""

    @property
    def names_a_file(self) -> bool:
        """Whether it is the path of a file or folder: its meaning then begins so, as in ``file; your table``."""
        return self.meaning.startswith(("file;", "folder;")) or self.name == "data" or self.name.endswith("_path")

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
        except UNREADABLE:
            raise UsageError(f"{self.name} must be of type {self.type}, got {self.name}={shortened(value)}") from None
        if converted == [] and self.default:
            raise UsageError(f"{self.name} must have an entry, got {self.name}=[]")
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
        found = _read(value, kind) if isinstance(value, str) else value
        if isinstance(found, bool) != (kind == "bool") or (kind == "list") != isinstance(found, list):
            raise TypeError
        if kind == "int" and found != int(found):
            raise ValueError
        return _items(found, self.type) if kind == "list" else _TYPES[kind](found)


def _inside(number: Any, interval: str) -> bool:
    if not interval or isinstance(number, str | bool | list):
        return True
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = number >= low if interval[0] == "[" else number > low
    return bool(above and (number <= high if interval[-1] == "]" else number < high))


def _read(text: str, kind: str) -> Any:
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else None
    if kind == "list":
        return ast.literal_eval(text)
    # as floats, whole numbers beyond 2^53 would change
    with contextlib.suppress(ValueError):
        return int(text)
    return float(text)


def _items(values: list[Any], annotation: str) -> list[Any]:
    inner = annotation.removeprefix("list").strip("[]") or "str"
    return [Parameter("item", inner, None, "")._converted(v) for v in values]


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
    for node in parsed(cell, where).body:
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
        except UNREADABLE:
            raise UsageError(f"{where}: the value of {node.target.id} must be a literal") from None
        parameters.append(Parameter(node.target.id, kind, default, meaning))
    return tuple(parameters)


def parsed(cell: str, where: str) -> ast.Module:
    """Return the syntax tree of a tagged cell."""
    try:
        return ast.parse(cell)
    except UNREADABLE as error:
        raise UsageError(f"{where}: a tagged cell is not Python: {shown(str(error))}") from None


def checked(parameters: Iterable[Parameter], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the given parameters converted to their types.

    Raises
    ------
    UsageError
        For a name that is not declared (the nearest is suggested), or a value of the wrong type or outside its
        interval.
    """
    known = {p.name: p for p in parameters}
    for name in given:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise UsageError(f"{where} has no parameter {shown(name)}{nearest(name, list(known))}; {has}")
    return {name: known[name].convert(value) for name, value in given.items()}


def injected() -> bool:
    """Return whether papermill has put parameters into this kernel's notebook."""
    return bool(_injected()[1])


def _injected() -> tuple[dict[str, Any], int, list[str]]:
    """Return this kernel's names, the place of the cell that papermill put below a notebook's own, and all cells."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    names = shell.user_ns if shell is not None else {}
    cells = [str(cell) for cell in names.get("In", [])]
    return names, next((i for i, cell in enumerate(cells) if cell.startswith(_INJECTED)), 0), cells


def check_injected() -> None:
    """Check what papermill has put below this kernel's `parameters` cell, and convert it as ``ldpnb run`` does.

    Does nothing outside a kernel, or in one to which papermill has given no parameters.
    """
    names, at, cells = _injected()
    if not at:
        return
    own = next((cell for cell in reversed(cells[:at]) if cell), "")
    targets = [node.targets[0] for node in parsed(cells[at], "papermill").body if isinstance(node, ast.Assign)]
    given = {target.id: names[target.id] for target in targets if isinstance(target, ast.Name)}
    names.update(checked(declared_parameters(own, "the notebook"), given, "the notebook"))
