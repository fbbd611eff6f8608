"""What can be swept, and over which values.

An experiment is one of `ldpnb.sweeps.experiments`, or any importable function of the same form as ``module:function``.
Its module is then run, so such a name must be trusted like code.
"""

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from ldpnb.checks import UsageError, nearest, shown
from ldpnb.notebook.parameters import Parameter
from ldpnb.sweeps import experiments

Value = str | int | float | bool


def find(name: str) -> Callable[..., Any]:
    """Return an experiment of the companion by its name, or any other as ``module:function``."""
    if name not in experiments.EXPERIMENTS and ":" not in name:
        raise UsageError(
            f"no experiment {shown(name)}{nearest(name, experiments.EXPERIMENTS)}; `ldpnb sweep` shows all"
        )
    module, _, function = name.rpartition(":")
    try:
        chosen: Callable[..., Any] = getattr(importlib.import_module(module or experiments.__name__), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"no experiment {shown(name)}: {shown(str(error))}") from None
    return chosen


def parameters(name: str) -> dict[str, Parameter]:
    """Return the parameters of an experiment: type, default and, by `typing.Annotated`, meaning.

    >>> list(parameters("frequencies"))
    ['mechanism', 'epsilon', 'domain_size', 'n', 'concentration']
    """
    function, known = find(name), {}
    hints = get_type_hints(function, include_extras=True)
    for key, parameter in inspect.signature(function).parameters.items():
        if key in ("repetitions", "rng"):
            continue
        hint = hints.get(key)
        kind, meaning = get_args(hint) if get_origin(hint) is Annotated else (hint, "")
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        kind = str if choices else kind
        if kind not in (int, float, str, bool) or parameter.default is parameter.empty:
            raise UsageError(f"{name}: {key} needs a default and a type among int, float, str, bool and Literal")
        known[key] = Parameter(key, kind.__name__, parameter.default, meaning, choices)
    return known


def values(parameter: Parameter, text: str) -> tuple[Value, ...]:
    """Return the values that a text describes: ``low:high:count``, ``low:high:count:log`` or a list with commas.

    Commas within a word are followed by a blank. Numbers of a range are rounded to 12 digits, or to whole ones.

    >>> known = parameters("gaps")
    >>> values(known["epsilon"], "0.1:0.5:3"), values(known["n"], "1e2:1e4:2:log")
    ((0.1, 0.3, 0.5), (100, 10000))
    """
    if parameter.type not in ("int", "float"):
        items = re.split(r",(?! )", text)
    elif ":" not in text:
        items = text.split(",")
    else:
        try:
            low, high, count, *scale = text.split(":")
            if not (
                float(low) < float(high) < np.inf and re.fullmatch(r"[1-9]\d{0,5}", count) and scale in ([], ["log"])
            ):
                raise ValueError
            spaced = (np.geomspace if scale else np.linspace)(float(low), float(high), int(count))
        except ValueError:
            rule = "low:high:count with low < high, low:high:count:log with low > 0 too, or a list with commas"
            raise UsageError(f"{parameter.name} must be {rule}, got {parameter.name}={shown(text)}") from None
        items = [str(round(v)) if parameter.type == "int" else f"{v:.12g}" for v in spaced]
    return tuple(dict.fromkeys(map(parameter.convert, items)))
