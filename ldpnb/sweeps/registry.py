"""What can be swept, and over which values.

`ldpnb.sweeps.experiments` holds the companion's own experiments. Any other importable function of the same form can be
used as ``module:function``; this runs its module, so such a name must be trusted like code. Annotations (int, float,
str, bool or a Literal of words), defaults and the numpydoc docstring are an experiment's specification.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from ldpnb.checks import UsageError, docstring, nearest, shown
from ldpnb.notebook.parameters import Parameter

Value = str | int | float | bool

EXPERIMENTS = ("frequencies", "sampling", "gaps")
"""The companion's experiments, by the names of their functions."""

_TYPES = (int, float, str, bool)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment and its specification."""

    id: str
    title: str
    parameters: tuple[Parameter, ...]
    function: Callable[..., Any]

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name; if there is none, the nearest is suggested."""
        known = {parameter.name: parameter for parameter in self.parameters}
        if name not in known:
            has = ", ".join(known)
            raise UsageError(f"{self.id} has no parameter {shown(name)}{nearest(name, tuple(known))}; it has {has}")
        return known[name]


@cache
def find(identifier: str) -> Experiment:
    """Return an experiment by its name or as ``module:function``.

    Raises
    ------
    UsageError
        If there is none, or the function is not of the form of an experiment.

    Examples
    --------
    >>> [parameter.name for parameter in find("sampling").parameters]
    ['epsilon', 'sampling_rate', 'n', 'domain_size']
    """
    if identifier not in EXPERIMENTS and ":" not in identifier:
        near = nearest(identifier, EXPERIMENTS)
        raise UsageError(f"no experiment {shown(identifier)}{near}; `ldpnb sweep --list` shows all")
    module, _, name = identifier.rpartition(":")
    try:
        function = getattr(importlib.import_module(module or "ldpnb.sweeps.experiments"), name)
        hints, signature = get_type_hints(function), inspect.signature(function)
    except Exception as error:  # whatever a module raises that is not ours
        raise UsageError(f"no experiment {shown(identifier)}: {shown(str(error))}") from None
    documentation = docstring(function)
    meanings, parameters = _meanings(documentation), []
    for name, parameter in signature.parameters.items():
        if name in ("repetitions", "rng"):
            continue
        choices = get_args(hints.get(name)) if get_origin(hints.get(name)) is Literal else ()
        kind = str if choices else hints.get(name)
        if kind not in _TYPES or parameter.default is parameter.empty or name not in meanings:
            types = ", ".join(k.__name__ for k in _TYPES)
            needs = f"a type among {types}, a default and a line in the docstring"
            raise UsageError(f"{identifier}: parameter {name} needs {needs}")
        parameters.append(Parameter(name, kind.__name__, parameter.default, meanings[name], choices))
    return Experiment(identifier, documentation.partition("\n")[0], tuple(parameters), function)


def _meanings(documentation: str) -> dict[str, str]:
    """Return the descriptions in the Parameters section of a numpydoc docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", documentation, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\w+) : [^\n]*\n((?:[ ]+[^\n]*\n?)+)", section.group(1) if section else "", re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def listed(identifier: str | None = None) -> Iterator[str]:
    """Yield all experiments, or one, with types, defaults and meanings of parameters, line by line."""
    for name in [identifier] if identifier else EXPERIMENTS:
        experiment = find(name)
        yield f"{experiment.id}: {experiment.title}"
        for p in experiment.parameters:
            among = f" One of {' | '.join(p.choices)}." if p.choices else ""
            yield f"  -p {p.name}={p.default!r}  ({p.type}) {p.meaning}{among}"


def values(parameter: Parameter, text: str) -> tuple[Value, ...]:
    """Return the values that a text describes: ``low:high:count``, ``low:high:count:log`` or a list with commas.

    Numbers of a range are rounded to 12 digits, as one would write them, and to whole numbers for parameters of type
    int. Duplicates are dropped.

    Examples
    --------
    >>> epsilon, n = find("frequencies").parameter("epsilon"), find("frequencies").parameter("n")
    >>> values(epsilon, "0.1:0.5:5")
    (0.1, 0.2, 0.3, 0.4, 0.5)
    >>> values(n, "1e2:1e6:3:log"), values(n, "1e4,1e6")
    ((100, 10000, 1000000), (10000, 1000000))
    """
    items: list[Any]
    if ":" in text and parameter.type in ("int", "float"):
        numbers = _range(parameter.name, text)
        items = list(map(round, numbers)) if parameter.type == "int" else numbers
    else:  # words are separated by commas, and may hold some
        known = [re.escape(word) + r"(?=,|\Z)" for word in sorted(parameter.choices, key=len, reverse=True)]
        items = [word.strip() for word in re.findall("|".join([*known, "[^,]+"]), text)]
    if not items:
        raise UsageError(f"{parameter.name} must have a value, got {parameter.name}={text}")
    return tuple(dict.fromkeys(parameter.convert(item) for item in items))


def _range(name: str, text: str) -> list[float]:
    match = re.fullmatch(r"([^:]+):([^:]+):(\d{1,6})(:log)?", text)
    try:
        low, high, count = (float(match[1]), float(match[2]), int(match[3])) if match else (0.0, 0.0, 0)
    except ValueError:
        low, high, count = 0.0, 0.0, 0
    if not (match and low < high and np.isfinite(high - low) and count >= 2 and (low > 0 or not match[4])):
        rule = "low:high:count[:log] with low < high, count >= 2, and low > 0 for log"
        raise UsageError(f"{name} must be {rule}; got {name}={shown(text)}")
    return [float(f"{value:.12g}") for value in (np.geomspace if match[4] else np.linspace)(low, high, count)]
