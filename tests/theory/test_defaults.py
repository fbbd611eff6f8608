"""What a caller may leave out has the value that the documentation says.

Functions, classes and methods are found by introspection. In a docstring a default stands after the
type, as in ``repetitions : int, default 1``.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sympy
from arguments import is_kind, public_formulas
from formulas import SHARED


def callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, class and method of the theory, after a name for it."""
    for name, thing in public_formulas(SHARED):
        yield name, thing
        if is_kind(thing):
            for member in vars(thing):
                method = getattr(thing, member)
                if callable(method) and not member.startswith("_"):
                    yield f"{name}.{member}", method


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what arguments are when they are left out, unless that is None."""
    parameters = inspect.signature(function).parameters.values()
    values = {parameter.name: parameter.default for parameter in parameters}
    return {
        name: value
        for name, value in values.items()
        if value is not inspect.Parameter.empty and value is not None
    }


def documented(function: Callable[..., Any], argument: str) -> Any:
    """Return the default that a docstring says: Python's way to write it, or an expression."""
    stated = re.search(rf"^ *{argument} : .*, default (.+)$", inspect.getdoc(function) or "", re.M)
    assert stated, f"the docstring must say the default of `{argument}`"
    try:
        return ast.literal_eval(stated[1])
    except ValueError:
        return float(sympy.sympify(stated[1]))


WITH_DEFAULTS = {name: function for name, function in callables() if defaults(function)}


@pytest.mark.parametrize("name", WITH_DEFAULTS)
def test_a_default_is_the_one_that_is_documented(name: str) -> None:
    function = WITH_DEFAULTS[name]
    for argument, value in defaults(function).items():
        assert documented(function, argument) == value
