"""What a caller may leave out has the value that the documentation says.

Functions, classes and methods are found by introspection. In a docstring a default stands after the
type, as in ``repetitions : int, default 1``.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sympy
from arguments import documented, is_kind, public_formulas
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


def value_of(words: str) -> Any:
    """Return a documented value: Python's way to write it, or an expression such as `sqrt(2)`."""
    try:
        return ast.literal_eval(words)
    except ValueError:
        return float(sympy.sympify(words))


WITH_DEFAULTS = {name: function for name, function in callables() if defaults(function)}


@pytest.mark.parametrize("name", WITH_DEFAULTS)
def test_a_default_is_the_one_that_is_documented(name: str) -> None:
    function = WITH_DEFAULTS[name]
    entries = documented(function)
    for argument, value in defaults(function).items():
        assert argument in entries, f"the docstring must describe `{argument}`"
        _, _, words = entries[argument].type.partition(", default ")
        assert words, f"the docstring must say the default of `{argument}`"
        assert value_of(words) == value
