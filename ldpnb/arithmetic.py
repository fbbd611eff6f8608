"""Formulas on three kinds of numbers: floats (and arrays), balls, and symbols.

A closed form of this package runs on all three unchanged, because numpy's functions call the method of the same name on
objects that they do not know: ``np.expm1(x)`` is ``x.expm1()``. Balls (`flint.arb`) have these methods; `Symbol` adds
them to sympy's expressions. Balls need python-flint, and symbols sympy.

>>> import sympy
>>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
>>> t, k = sympy.symbols("t k", positive=True)
>>> sympy.simplify(KaryRandomisedResponse(Symbol(sympy.log(t)), Symbol(k)).p.expression)
t/(k + t - 1)
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = Any
"""A number of any of these kinds, or an array of floats."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Symbol:
    """A sympy expression that numpy's functions and formulas of this package accept."""

    __slots__ = ("expression",)
    __array_priority__ = 100

    def __init__(self, expression: Any) -> None:
        import sympy

        self.expression = sympy.sympify(expression)

    def __repr__(self) -> str:
        return f"Symbol({self.expression})"


def _function(name: str) -> Callable[[Symbol], Symbol]:
    def apply(self: Symbol) -> Symbol:
        import sympy

        x = self.expression
        values = {
            "expm1": lambda: sympy.exp(x) - 1,
            "log1p": lambda: sympy.log(1 + x),
            "square": lambda: x**2,
            "tanh": lambda: 1 - 2 / (sympy.exp(2 * x) + 1),
            "sinh": lambda: (sympy.exp(x) - sympy.exp(-x)) / 2,
        }
        return Symbol(values[name]() if name in values else getattr(sympy, name)(x))

    return apply


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: Symbol, *others: Any) -> Any:
        if others and isinstance(others[0], np.ndarray):
            return np.frompyfunc(lambda entry: apply(self, entry), 1, 1)(others[0])
        return Symbol(getattr(self.expression, name)(*map(expression, others)))

    return apply


def expression(value: Any) -> Any:
    """Return the sympy expression of a `Symbol` or an exact number, and of a float the fraction it prints as.

    >>> expression(Symbol(1) / 3), expression(0.1)
    (1/3, 1/10)
    """
    import sympy

    if isinstance(value, Symbol):
        return value.expression
    return _as_printed(value) if isinstance(value, float) else sympy.sympify(value)


@lru_cache
def _as_printed(number: float) -> Any:
    import sympy

    return sympy.nsimplify(number, rational=True)


for _name in ("exp", "expm1", "log", "log1p", "sqrt", "square", "tanh", "sinh"):
    setattr(Symbol, _name, _function(_name))
for _name in ("neg", "abs", "add", "sub", "mul", "truediv", "pow", "radd", "rsub", "rmul", "rtruediv", "rpow"):
    setattr(Symbol, f"__{_name}__", _operator(f"__{_name}__"))


def is_exact(value: Any) -> bool:
    """Return whether a value is a ball or a symbol, whose domain is up to the caller."""
    kind = type(value)
    if kind is float or kind is int:  # as most are
        return False
    return kind is Symbol or kind.__module__.partition(".")[0] == "flint"


def real(value: Any) -> Real:
    """Return a ball, a symbol or an array that holds one as it is, and everything else as an array of floats.

    >>> real([1, 2]), real([1, Symbol(2)])
    (array([1., 2.]), array([1, Symbol(2)], dtype=object))
    """
    if is_exact(value):
        return value
    array = np.asarray(value)
    if array.dtype == object and any(map(is_exact, array.flat)):
        return array
    try:
        return array.astype(float, copy=False)
    except OverflowError:
        raise ValueError("numbers must be within the range of a float, got a larger integer") from None


def read_only(values: Any) -> Floats:
    """Return freshly computed floats that are kept for later, such that nobody can write to them."""
    array = np.asarray(values, dtype=float)
    array.flags.writeable = False
    return array
