"""The public formulas of the package, found by introspection, with the arguments that they need.

A new formula joins the tests that use this module by itself, unless it needs an argument that is no
number, such as a list or a generator. An argument that is a number, but of a name that a test does
not know, is no reason to leave a formula out in silence: `unknown_arguments` names it.
"""

import importlib
import inspect
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import formulas
from numpydoc.docscrape import NumpyDocString

ROOMS = ("mechanisms", "accuracy", "privacy")

NOT_A_NUMBER = (
    "ArrayLike",
    "Callable",
    "Generator",
    "NDArray",
    "Sequence",
    "_SupportsArray",  # how the annotation ArrayLike of numpy is printed before numpy 2.5
    "bool",
    "ldpnb.",
    "ndarray",
    "str",
    "tuple",
)
"""Words in the annotation of an argument that is something other than one number."""

LIST = "it is a list of numbers"
TIED = "it must suit the other arguments"
INNER = "it is a quantity within a larger formula"
WORK = "it says how much to compute"

LEFT_OUT = {
    **dict.fromkeys(("exact", "law", "means", "rates", "released", "reports"), LIST),
    **dict.fromkeys(("second_moments", "size_factors", "sizes", "sums", "values"), LIST),
    **dict.fromkeys(("budget", "cells", "chosen", "expected_size", "group", "mean"), TIED),
    **dict.fromkeys(("inside", "neighbour_inside", "outside", "neighbour_outside"), TIED),
    **dict.fromkeys(("ones", "order", "parts", "record_rate", "replaced"), TIED),
    **dict.fromkeys(("replacement", "total", "value"), TIED),
    **dict.fromkeys(("contrast", "end", "entropy", "excess", "exponent", "log_odds"), INNER),
    **dict.fromkeys(("log_frequencies", "log_information", "log_z", "mu", "nu", "part"), INNER),
    **dict.fromkeys(("repetitions", "sweeps"), WORK),
}
"""Why no number can be chosen for an argument by its name alone."""


def public_formulas(rooms: Sequence[str] = ROOMS) -> Iterator[tuple[str, Any]]:
    """Yield every public function and dataclass of the rooms, after a name for it.

    The name is short: ``bun2022.clusters`` stands for ``ldpnb.papers.bun2022.formulas.clusters``.
    """
    for module_name in formulas.modules(rooms):
        module = importlib.import_module(module_name)
        short_name = module_name.removeprefix("ldpnb.").removeprefix("papers.")
        short_name = short_name.replace(".formulas.", ".")
        for name, thing in list(vars(module).items()):
            is_own = getattr(thing, "__module__", "") == module_name
            is_formula = inspect.isfunction(thing) or is_kind(thing)
            if is_own and is_formula and not name.startswith("_"):
                yield f"{short_name}.{name}", thing


def is_kind(thing: Any) -> bool:
    return inspect.isclass(thing) and is_dataclass(thing)


def public_members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield every public method and property of a dataclass, after its name."""
    own_fields = {field.name for field in fields(kind)}
    for name, member in list(vars(kind).items()):
        is_value = inspect.isfunction(member) or isinstance(member, property)
        if is_value and name not in own_fields and not name.startswith("_"):
            yield name, member


class Documented(NamedTuple):
    """What a docstring says of an argument: its type, and the sentences below it."""

    type: str
    text: str


def documented(function: Callable[..., Any]) -> dict[str, Documented]:
    """Return what the docstring of a function, a method or a class says of its arguments."""
    entries = {}
    for names, kind, lines in NumpyDocString(inspect.getdoc(function) or "")["Parameters"]:
        for name in names.split(", "):
            entries[name] = Documented(kind, " ".join(lines))
    return entries


def needed(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the arguments that a function, a method or a class cannot do without."""
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.default is p.empty and p.name != "self"]


def is_number(argument: inspect.Parameter) -> bool:
    annotation = str(argument.annotation)
    return not any(word in annotation for word in NOT_A_NUMBER)


def unknown_arguments(known: Collection[str], *, where: str) -> list[str]:
    """Say which arguments of formulas are numbers without a range, and what to do about it.

    A class without ``__post_init__`` checks nothing: it is a result, and nobody chooses its
    fields.
    """
    callables: dict[str, Callable[..., Any]] = {}
    for name, thing in public_formulas():
        if inspect.isfunction(thing) or hasattr(thing, "__post_init__"):
            callables[name] = thing
        if is_kind(thing):
            methods = [pair for pair in public_members(thing) if inspect.isfunction(pair[1])]
            callables |= {f"{name}.{method}": function for method, function in methods}

    sentences = []
    for name, function in callables.items():
        for argument in needed(function):
            if is_number(argument) and argument.name not in {*known, *LEFT_OUT}:
                sentences.append(
                    f"{name} has an argument `{argument.name}` that no range is known for: "
                    f"add it to {where}, or to LEFT_OUT in tests/theory/arguments.py with a reason"
                )
    return sentences
