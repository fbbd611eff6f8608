"""A notebook's parameters: papermill's own reading of the cell that declares them, with types and ranges checked.

Papermill is imported by what reads declarations, which is no notebook.
"""

import ast
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldpnb.checks import UsageError, nearest, shortened, shown

UNREADABLE = (ValueError, TypeError, SyntaxError, OverflowError, RecursionError, MemoryError)
"""Errors of parsing and converting arbitrary text."""

_INTERVAL = re.compile(r"([\[(])\s*([-+.\w]+)\s*,\s*([-+.\w]+)\s*([\])]);")
_WORDS = re.compile(r"\{([^}]*)\};")
_TYPES: dict[str, Any] = {"int": (int, float), "float": (int, float), "str": str, "bool": bool}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as a notebook or an experiment declares it.

    Its meaning may begin with the interval of its numbers, ``(0, 1]; sampling rate``, with the words it may be,
    ``{error, missing}; what becomes of ...``, or with ``file;`` or ``folder;`` if it is the path of one.
    """

    name: str
    type: str
    default: Any
    meaning: str

    def convert(self, value: Any) -> Any:
        """Return `value` as this parameter's type, from text (the command line) or from a Python value.

        A path becomes absolute: it counts from here, since notebooks run in their own folder. `UsageError` if the value
        cannot be converted without loss, is not finite, outside its interval, none of its words, or no file.

        >>> Parameter("users", "int", 10, "").convert("1e6")
        1000000
        >>> Parameter("rate", "float", 0.5, "(0, 1]; sampling rate").convert("1.5")
        Traceback (most recent call last):
        ldpnb.checks.UsageError: rate must lie in (0, 1], got rate='1.5'
        """
        try:
            converted = _read(self.type, value)
        except UNREADABLE:
            raise self._refused(f"be of type {self.type}", value) from None
        if converted == [] and self.default:
            raise self._refused("have an entry", converted)
        numbers = [
            n
            for n in (converted if isinstance(converted, list) else [converted])
            if isinstance(n, int | float)
        ]
        if not all(abs(number) <= sys.float_info.max for number in numbers):
            raise self._refused("be finite, at most 1.8e308", value)
        interval, listed = _INTERVAL.match(self.meaning), _WORDS.match(self.meaning)
        if interval:
            low, high = map(float, interval.group(2, 3))
            outside = {
                end for end, bracket in ((low, interval[1]), (high, interval[4])) if bracket in "()"
            }
            if not all(low <= number <= high and number not in outside for number in numbers):
                raise self._refused(f"lie in {interval[0][:-1]}", value)
        if listed and converted not in (words := re.split(r",\s*", listed[1])):
            raise self._refused(f"be one of {', '.join(words)}", value, nearest(converted, words))
        if converted and self.meaning.startswith(("file;", "folder;")):
            path = Path(os.path.expanduser(converted)).absolute()
            if not path.exists():
                raise self._refused("be a file", converted)
            return str(path)
        return converted

    def _refused(self, rule: str, value: Any, hint: str = "") -> UsageError:
        return UsageError(f"{self.name} must {rule}, got {self.name}={shortened(value)}{hint}")


def _read(kind: str, value: Any) -> Any:
    """Return a value, or what a text says, as this type; one of the errors in `UNREADABLE` if it is none of it."""
    if kind.startswith("list["):
        if isinstance(value, str):  # one entry needs no brackets
            value = ast.literal_eval(value.strip()) if value.strip().startswith("[") else [value]
        item = kind[len("list[") : -1]
        return [_read(item, str(v) if item == "str" and type(v) is int else v) for v in value]
    if isinstance(value, str) and kind != "str":
        value = ast.literal_eval(value.strip().capitalize() if kind == "bool" else value.strip())
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "bool"):
        raise TypeError
    if kind == "str":
        value.encode()
    if kind == "int" and value != int(value):
        raise ValueError
    return {"int": int, "float": float}.get(kind, type(value))(value)


def declared_parameters(cell: str, where: str) -> tuple[Parameter, ...]:
    """Return the parameters that a cell declares, as papermill reads it: ``name: type = literal  # meaning, unit``.

    `UsageError` if one has no such type, no literal, or no meaning.

    >>> declared_parameters("epsilon: float = 1.0  # budget, nats", "example")
    (Parameter(name='epsilon', type='float', default=1.0, meaning='budget, nats'),)
    """
    from papermill.translators import PythonTranslator

    parameters = []
    for name, kind, text, meaning in PythonTranslator.inspect({"source": cell}):
        if kind.removeprefix("list[").removesuffix("]") not in _TYPES or not meaning:
            raise UsageError(
                f"{where}: {name} needs a type among {', '.join(_TYPES)} or list[...], and a meaning"
            )
        try:
            parameters.append(Parameter(name, kind, ast.literal_eval(text), meaning))
        except UNREADABLE:
            raise UsageError(
                f"{where}: the value of {name} must be a literal, got {shown(text)}"
            ) from None
    return tuple(parameters)


def checked(
    parameters: Iterable[Parameter], given: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return the given parameters converted to their types.

    `UsageError` for a name that is not declared (the nearest is suggested) or a value that its parameter does not take.
    """
    known = {p.name: p for p in parameters}
    for name in given.keys() - known.keys():
        has = f"it has {', '.join(known) or 'none'}"
        raise UsageError(
            f"{where} has no parameter {shown(name)}{nearest(name, list(known))}; {has}"
        )
    return {name: known[name].convert(value) for name, value in given.items()}
