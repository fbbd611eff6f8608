"""Identities and inequalities between rational functions, for every value of their symbols in a box."""

import itertools
from collections.abc import Mapping
from typing import Any

from ldpnb.arithmetic import Real, Symbol
from ldpnb.checks import needed_for

with needed_for("a decider"):
    import sympy

Box = Mapping[Any, tuple[Any, Any]]
"""Open intervals with exact ends by symbol; ``sympy.oo`` for no upper end."""


oo = sympy.oo


def symbols(names: str) -> tuple[Real, ...]:
    """Return positive symbols of these names, separated by blanks.

    >>> n, f = symbols("n f")
    >>> n * f
    Symbol(f*n)
    """
    return tuple(Symbol(s) for s in sympy.symbols(names, positive=True, seq=True))


def budget(growth: Real) -> Real:
    """Return the epsilon with ``e^epsilon = growth``, so that formulas of epsilon become rational functions of it."""
    return Symbol(sympy.log(growth.expression))


def expression(value: Any) -> Any:
    """Return the sympy expression of a `Symbol` or an exact number, and of a float the fraction it prints as."""
    if isinstance(value, Symbol):
        return value.expression
    return sympy.nsimplify(value, rational=True) if isinstance(value, float) else sympy.sympify(value)


def identity(one: Any, other: Any = 0) -> bool:
    """Return whether two rational functions are the same, wherever both are defined.

    >>> x = sympy.Symbol("x")
    >>> identity((x**2 - 1) / (x - 1), x + 1), identity((x**2 - 1) / (x - 1), x + 1.01)
    (True, False)
    """
    return _parts(expression(one) - expression(other))[0] == 0


def positive(value: Any, box: Box, *, depth: int = 3) -> bool | None:
    """Decide whether a rational function is positive everywhere in an open box; by continuity ``>= 0`` at its edges.

    Every interval is mapped onto ``(0, oo)``. A polynomial is positive there if all its coefficients are, and numerator
    and denominator are treated alike. Where signs are mixed the box is cut in two, at most `depth` times in each
    direction; the cut itself is decided as a box with one symbol less.

    Returns
    -------
    bool or None
        None if no certificate was found, nor a point of a coarse grid where it fails.

    Examples
    --------
    >>> x = sympy.Symbol("x")
    >>> positive(x**2 - 3 * x + 3, {x: (0, sympy.oo)}), positive(x**2 - 3 * x + 2, {x: (0, sympy.oo)})
    (True, False)
    """
    exact = expression(value)
    box = {expression(s): (expression(low), expression(high)) for s, (low, high) in box.items()}
    missing = exact.free_symbols - set(box)
    if missing:
        raise ValueError(f"box must name every symbol, lacks {', '.join(sorted(map(str, missing)))}")
    top, bottom = _parts(exact)
    points = itertools.product(*(_probes(low, high) for low, high in box.values()))
    if any(_ratio_at(top, bottom, dict(zip(box, point, strict=True))) <= 0 for point in points):
        return False
    return True if _certified(top, bottom, dict(box), dict.fromkeys(box, depth)) else None


def _parts(exact: Any) -> tuple[Any, Any]:
    top, bottom = sympy.fraction(sympy.together(exact))
    return sympy.expand(top), sympy.expand(bottom)


def _probes(low: Any, high: Any) -> list[Any]:
    """Return points near both ends of an interval and in its middle."""
    shares = [sympy.Rational(1, 1000), sympy.Rational(1, 2), sympy.Rational(999, 1000)]
    return [low + s / (1 - s) if high == sympy.oo else low + (high - low) * s for s in shares]


def _ratio_at(top: Any, bottom: Any, point: dict[Any, Any]) -> Any:
    below = bottom.subs(point)
    return top.subs(point) / below if below != 0 else sympy.Integer(0)


def _certified(top: Any, bottom: Any, box: dict[Any, tuple[Any, Any]], cuts: dict[Any, int]) -> bool:
    product = _common_sign(top, box) * _common_sign(bottom, box)
    if product != 0 or not box:
        return product > 0
    symbol = max(box, key=lambda s: cuts[s])
    if cuts[symbol] == 0:
        return False
    (low, high), fewer = box[symbol], {**cuts, symbol: cuts[symbol] - 1}
    middle = 2 * low + 1 if high == sympy.oo else (low + high) / sympy.Integer(2)
    others = {s: interval for s, interval in box.items() if s != symbol}
    return (
        _certified(top, bottom, {**box, symbol: (low, middle)}, fewer)
        and _certified(sympy.expand(top.subs(symbol, middle)), sympy.expand(bottom.subs(symbol, middle)), others, fewer)
        and _certified(top, bottom, {**box, symbol: (middle, high)}, fewer)
    )


def _common_sign(polynomial: Any, box: Mapping[Any, tuple[Any, Any]]) -> int:
    """Return the sign that all coefficients share once the box is ``(0, oo)`` in every direction, or 0."""
    for symbol, (low, high) in box.items():
        by_power = sympy.Poly(polynomial, symbol).all_coeffs()[::-1]
        degree = len(by_power) - 1
        if high == sympy.oo:
            terms = (c * (low + symbol) ** i for i, c in enumerate(by_power))
        else:
            terms = (c * (low + high * symbol) ** i * (1 + symbol) ** (degree - i) for i, c in enumerate(by_power))
        polynomial = sympy.expand(sympy.Add(*terms))
    coefficients = sympy.Poly(polynomial, *box).coeffs() if box else [polynomial]
    signs = {int(sympy.sign(c)) for c in coefficients if c != 0}
    return signs.pop() if len(signs) == 1 else 0


def replaced(value: Any, symbol: Any, by: Any) -> Real:
    """Return a formula with a symbol replaced by another formula or a number.

    >>> n, f = symbols("n f")
    >>> replaced(n * f, f, 1 / n)
    Symbol(1)
    """
    return Symbol(expression(value).subs(expression(symbol), expression(by)))


def derivative(value: Any, by: Any, order: int = 1) -> Real:
    """Return a derivative of a formula by one of its symbols.

    >>> n, f = symbols("n f")
    >>> derivative(n * f * f, f)
    Symbol(2*f*n)
    """
    return Symbol(sympy.diff(expression(value), expression(by), order))


def limit(value: Any, symbol: Any, towards: Any, *, side: str = "+") -> Any:
    """Return a limit of an expression in one symbol, from above by default.

    >>> x = sympy.Symbol("x", positive=True)
    >>> limit((sympy.exp(x) - 1) / x, x, 0)
    1
    """
    return sympy.limit(expression(value), symbol, towards, side)
