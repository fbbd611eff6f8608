"""A notebook's parameters, with their types and ranges.

Papermill reads the cell that declares them. It is imported where a declaration is read, because
notebooks themselves never read one.
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
"""Errors that parsing and converting arbitrary text can raise."""

_INTERVAL = re.compile(r"([\[(])\s*([-+.\w]+)\s*,\s*([-+.\w]+)\s*([\])]);")
_WORDS = re.compile(r"\{([^}]*)\};")
_TYPES: dict[str, Any] = {"int": (int, float), "float": (int, float), "str": str, "bool": bool}
_CONVERTERS: dict[str, Any] = {"int": int, "float": float}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as a notebook or an experiment declares it.

    Parameters
    ----------
    name : str
        Its name.
    type : str
        One of int, float, str and bool, or a list of one of these, such as ``list[float]``.
    default : object
        The value that it has if none is given.
    meaning : str
        What it means. The text may begin with a rule: the interval of its numbers (``(0, 1];
        sampling rate``), the words that it can be (``{error, missing}; what becomes of ...``), or
        ``file;`` or ``folder;`` if it is the path of one.
    """

    name: str
    type: str
    default: Any
    meaning: str

    def convert(self, value: Any) -> Any:
        """Return a value as this parameter's type, if it keeps the parameter's rule.

        The path of a file or a folder becomes absolute, because notebooks run in their own folders.

        Parameters
        ----------
        value : object
            A text, as from the command line, or a Python value.

        Returns
        -------
        object
            The value as an int, float, str or bool, or as a list of these.

        Raises
        ------
        UsageError
            If the value cannot be converted without loss, is not finite, lies outside the
            parameter's interval, is none of its words, or is the path of nothing.

        Examples
        --------
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

        entries = converted if isinstance(converted, list) else [converted]
        numbers = [entry for entry in entries if isinstance(entry, int | float)]
        self._require_finite(numbers, value)
        self._require_inside(numbers, value)
        self._require_word(converted, value)

        if converted and self.meaning.startswith(("file;", "folder;")):
            return self._existing(converted)
        return converted

    def _require_finite(self, numbers: list[float], value: Any) -> None:
        for number in numbers:
            # A comparison with nan is false; an int can be larger than every float.
            if not abs(number) <= sys.float_info.max:
                raise self._refused("be finite, at most 1.8e308", value)

    def _require_inside(self, numbers: list[float], value: Any) -> None:
        interval = _INTERVAL.match(self.meaning)
        if interval is None:
            return

        opening, low_text, high_text, closing = interval.groups()
        low = float(low_text)
        high = float(high_text)
        for number in numbers:
            above = low < number if opening == "(" else low <= number
            below = number < high if closing == ")" else number <= high
            if not (above and below):
                rule = interval[0].removesuffix(";")
                raise self._refused(f"lie in {rule}", value)

    def _require_word(self, converted: Any, value: Any) -> None:
        listed = _WORDS.match(self.meaning)
        if listed is None:
            return

        words = re.split(r",\s*", listed[1])
        if converted not in words:
            raise self._refused(f"be one of {', '.join(words)}", value, nearest(converted, words))

    def _existing(self, text: str) -> str:
        """Return the absolute path of a file or folder that exists."""
        path = Path(os.path.expanduser(text)).absolute()
        if not path.exists():
            raise self._refused("be a file", text)
        return str(path)

    def _refused(self, rule: str, value: Any, hint: str = "") -> UsageError:
        return UsageError(f"{self.name} must {rule}, got {self.name}={shortened(value)}{hint}")


def _read(kind: str, value: Any) -> Any:
    """Return a value, or what a text says, as a type; raise one of `UNREADABLE` if it is not."""
    if kind.startswith("list["):
        return _read_list(kind.removeprefix("list[").removesuffix("]"), value)

    if isinstance(value, str) and kind != "str":
        text = value.strip()
        value = ast.literal_eval(text.capitalize() if kind == "bool" else text)

    # To Python a bool is an int, too.
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool) != (kind == "bool"):
        raise TypeError
    if kind == "int" and value != int(value):
        raise ValueError
    if kind == "str":
        # A text that cannot be written to a file is refused here.
        value.encode()

    convert = _CONVERTERS.get(kind, type(value))
    return convert(value)


def _read_list(kind: str, value: Any) -> list[Any]:
    """Return the entries of a list, or of a text that says one; one entry needs no brackets."""
    if isinstance(value, str):
        text = value.strip()
        value = ast.literal_eval(text) if text.startswith("[") else [value]

    entries = []
    for entry in value:
        # A label such as 2020 needs no quotes.
        is_bare_label = kind == "str" and type(entry) is int
        entries.append(_read(kind, str(entry) if is_bare_label else entry))
    return entries


def declared_parameters(cell: str, where: str) -> tuple[Parameter, ...]:
    """Return the parameters that a cell declares, as papermill reads it.

    Parameters
    ----------
    cell : str
        Lines such as ``name: type = literal  # meaning, unit``.
    where : str
        The notebook, for messages.

    Returns
    -------
    tuple of Parameter
        The parameters in the order of their lines.

    Raises
    ------
    UsageError
        If one has no type that there is, no literal as its value, or no meaning.

    Examples
    --------
    >>> declared_parameters("epsilon: float = 1.0  # budget, nats", "example")
    (Parameter(name='epsilon', type='float', default=1.0, meaning='budget, nats'),)
    """
    from papermill.translators import PythonTranslator

    parameters = []
    for name, kind, text, meaning in PythonTranslator.inspect({"source": cell}):
        entry_kind = kind.removeprefix("list[").removesuffix("]")
        if entry_kind not in _TYPES or not meaning:
            raise UsageError(
                f"{where}: {name} needs a type among {', '.join(_TYPES)} or list[...], "
                "and a meaning"
            )
        try:
            default = ast.literal_eval(text)
        except UNREADABLE:
            raise UsageError(
                f"{where}: the value of {name} must be a literal, got {shown(text)}"
            ) from None
        parameters.append(Parameter(name, kind, default, meaning))
    return tuple(parameters)


def checked(
    parameters: Iterable[Parameter], given: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return the given values as the types of their parameters.

    Parameters
    ----------
    parameters : iterable of Parameter
        The parameters that are declared.
    given : mapping of str to object
        Values by name; parameters that are not named keep their defaults.
    where : str
        The notebook or experiment, for messages.

    Returns
    -------
    dict of str to object
        The given values, converted.

    Raises
    ------
    UsageError
        If a name is not declared (the nearest one is suggested), or a parameter does not take its
        value.
    """
    declared = {parameter.name: parameter for parameter in parameters}
    for name in given.keys() - declared.keys():
        suggestion = nearest(name, list(declared))
        has = f"it has {', '.join(declared) or 'none'}"
        raise UsageError(f"{where} has no parameter {shown(name)}{suggestion}; {has}")
    return {name: declared[name].convert(value) for name, value in given.items()}
