"""Identities and inequalities between rational functions, for all values of their symbols."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sympy
from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from ldpnb.arithmetic import Real, Symbol
from ldpnb.arithmetic import expression as expression

Box = Mapping[Any, tuple[Any, Any]]
"""Open intervals with exact ends by symbol; ``sympy.oo`` if there is no upper end."""

Interval = tuple[fmpq, Any]
"""The two ends of an open interval."""

oo = sympy.oo


class Ratio(NamedTuple):
    """A rational function."""

    numerator: fmpq_mpoly
    denominator: fmpq_mpoly


def symbols(names: str) -> tuple[Real, ...]:
    """Return positive symbols with the given names, which are separated by blanks.

    >>> n, f = symbols("n f")
    >>> n * f
    Symbol(f*n)
    """
    return tuple(Symbol(symbol) for symbol in sympy.symbols(names, positive=True, seq=True))


def budget(growth: Real) -> Real:
    """Return the epsilon with ``e^epsilon = growth``, in which formulas are rational functions.

    >>> (t,) = symbols("t")
    >>> budget(t).exp()
    Symbol(t)
    """
    return Symbol(sympy.log(growth.expression))


def identity(one: Any, other: Any = 0) -> bool:
    """Return whether two rational functions are the same, wherever both are defined.

    >>> x = sympy.Symbol("x")
    >>> identity((x**2 - 1) / (x - 1), x + 1), identity((x**2 - 1) / (x - 1), x + 1.01)
    (True, False)
    """
    difference = expression(one) - expression(other)
    names = sorted(difference.free_symbols, key=str)
    try:
        return bool(quotient(difference, names).numerator.is_zero())
    except _NotRationalError:
        numerator, _ = sympy.fraction(sympy.together(difference))
        return bool(sympy.expand(numerator) == 0)


def positive(value: Any, box: Box) -> bool | None:
    """Decide whether a rational function is positive everywhere in an open box.

    By continuity it is then ``>= 0`` at the edges. Every interval is mapped onto ``(0, oo)``, where
    a polynomial is positive if all its coefficients are. Numerator and denominator are treated
    alike.

    Parameters
    ----------
    value : Symbol or sympy.Expr
        A rational function.
    box : mapping from symbol to two numbers
        An open interval for each symbol of `value`; ``sympy.oo`` if it has no upper end.

    Returns
    -------
    bool or None
        True with a proof, False if it fails at a point of a coarse grid, and None otherwise. Then
        divide the box into smaller ones.

    Raises
    ------
    ValueError
        If `value` is not a rational function, or `box` lacks a symbol.

    Examples
    --------
    >>> x = sympy.Symbol("x")
    >>> positive(x**2 - 3 * x + 3, {x: (2, oo)}), positive(x**2 - 3 * x + 2, {x: (0, oo)})
    (True, False)
    """
    exact = expression(value)
    intervals = {expression(symbol): (_end(low), _end(high)) for symbol, (low, high) in box.items()}
    missing = exact.free_symbols - set(intervals)
    if missing:
        names = ", ".join(sorted(str(symbol) for symbol in missing))
        raise ValueError(f"box must name every symbol, got none for {names}")

    ratio = quotient(exact, list(intervals))
    sides = list(intervals.values())
    grid = itertools.product(*(_probes(low, high) for low, high in sides))
    if any(_at(ratio, point) <= 0 for point in grid):
        return False

    sign = _common_sign(ratio.numerator, sides) * _common_sign(ratio.denominator, sides)
    return True if sign > 0 else None


class _NotRationalError(ValueError):
    """An expression is no rational function of its symbols."""


def quotient(exact: Any, names: list[Any]) -> Ratio:
    """Return numerator and denominator of a rational function, over one common denominator."""
    ring = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(names))])
    generators = dict(zip(names, ring.gens(), strict=True))
    return _ratio(exact, ring.constant(1), generators)


def _ratio(exact: Any, one: fmpq_mpoly, generators: dict[Any, fmpq_mpoly]) -> Ratio:
    if exact in generators:
        return Ratio(generators[exact], one)
    if exact.is_Rational:
        return Ratio(one * fmpq(int(exact.p), int(exact.q)), one)
    if exact.is_Pow and exact.exp.is_Integer:
        return _power(_ratio(exact.base, one, generators), int(exact.exp))
    if not (exact.is_Add or exact.is_Mul):
        raise _NotRationalError(f"value must be a rational function, got {exact}")

    parts = [_ratio(part, one, generators) for part in exact.args]
    return functools.reduce(_sum if exact.is_Add else _product, parts)


def _power(base: Ratio, power: int) -> Ratio:
    if power > 0:
        return Ratio(base.numerator**power, base.denominator**power)
    return Ratio(base.denominator**-power, base.numerator**-power)


def _sum(first: Ratio, second: Ratio) -> Ratio:
    common = first.denominator.gcd(second.denominator)
    first_factor = second.denominator / common
    second_factor = first.denominator / common
    numerator = first.numerator * first_factor + second.numerator * second_factor
    return Ratio(numerator, first.denominator * first_factor)


def _product(first: Ratio, second: Ratio) -> Ratio:
    return Ratio(first.numerator * second.numerator, first.denominator * second.denominator)


def _end(value: Any) -> Any:
    exact = expression(value)
    return exact if exact == oo else fmpq(int(exact.p), int(exact.q))


def _probes(low: Any, high: Any) -> list[fmpq]:
    """Return points near both ends of an interval and in its middle."""
    shares = [fmpq(1, 1000), fmpq(1, 2), fmpq(999, 1000)]
    if high == oo:
        return [low + share / (1 - share) for share in shares]
    return [low + (high - low) * share for share in shares]


def _at(ratio: Ratio, point: tuple[fmpq, ...]) -> fmpq:
    numerator = ratio.numerator(*point)
    denominator = ratio.denominator(*point)
    return numerator / denominator if denominator != 0 else fmpq(0)


def _common_sign(polynomial: fmpq_mpoly, box: Sequence[Interval]) -> int:
    """Return the sign of all coefficients once the box is ``(0, oo)`` in every direction, or 0."""
    for side, (low, high) in enumerate(box):
        polynomial = _stretched(polynomial, side, low, high)

    are_positive = [coefficient > 0 for coefficient in polynomial.coeffs()]
    if not are_positive:
        return 0
    if all(are_positive):
        return 1
    return 0 if any(are_positive) else -1


def _stretched(polynomial: fmpq_mpoly, side: int, low: fmpq, high: Any) -> fmpq_mpoly:
    """Return a polynomial in ``s`` that has the sign of the given one, for ``s`` in ``(0, oo)``.

    The symbol of that side is ``low + s`` if the interval has no upper end, and else ``s/(1+s)`` of
    the way from `low` to `high`; then the result is multiplied by a power of ``1 + s``.
    """
    ring = polynomial.context()
    by_power: dict[int, dict[tuple[int, ...], fmpq]] = {}
    for powers, coefficient in polynomial.terms():
        rest = (*powers[:side], 0, *powers[side + 1 :])
        by_power.setdefault(powers[side], {})[rest] = coefficient

    s = ring.gen(side)
    if high == oo:
        place = s + low
        scale = ring.constant(1)
    else:
        place = high * s + low
        scale = s + 1

    # Horner's rule
    stretched = ring.constant(0)
    factor = ring.constant(1)
    for power in range(max(by_power, default=0), -1, -1):
        terms = ring.from_dict(by_power.get(power, {}))
        stretched = stretched * place + terms * factor
        factor = factor * scale
    return stretched


def replaced(value: Any, symbol: Any, by: Any) -> Real:
    """Return a formula with a symbol replaced by another formula or a number.

    >>> n, f = symbols("n f")
    >>> replaced(n * f, f, 1 / n)
    Symbol(1)
    """
    return Symbol(expression(value).subs(expression(symbol), expression(by)))


def derivative(value: Any, by: Any, order: int = 1) -> Real:
    """Return a derivative of a formula, by one of its symbols.

    >>> n, f = symbols("n f")
    >>> derivative(n * f * f, f)
    Symbol(2*f*n)
    """
    return Symbol(sympy.diff(expression(value), expression(by), order))


def limit(value: Any, symbol: Any, towards: Any) -> Any:
    """Return the limit of an expression in one symbol, from above.

    >>> x = sympy.Symbol("x", positive=True)
    >>> limit((sympy.exp(x) - 1) / x, x, 0)
    1
    """
    return sympy.limit(expression(value), symbol, towards, "+")
