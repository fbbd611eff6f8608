"""Identities and inequalities between rational functions, for every value of their symbols in a box."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from ldpnb.arithmetic import Real, Symbol
from ldpnb.arithmetic import expression as expression

Box = Mapping[Any, tuple[Any, Any]]
"""Open intervals with exact ends by symbol; ``sympy.oo`` for no upper end."""

Interval = tuple[fmpq, Any]
Ratio = tuple[fmpq_mpoly, fmpq_mpoly]


oo = sympy.oo


def symbols(names: str) -> tuple[Real, ...]:
    """Return positive symbols with the given names, separated by blanks.

    >>> n, f = symbols("n f")
    >>> n * f
    Symbol(f*n)
    """
    return tuple(Symbol(s) for s in sympy.symbols(names, positive=True, seq=True))


def budget(growth: Real) -> Real:
    """Return the epsilon with ``e^epsilon = growth``, so that formulas of epsilon become rational functions of it."""
    return Symbol(sympy.log(growth.expression))


def identity(one: Any, other: Any = 0) -> bool:
    """Return whether two rational functions are the same, wherever both are defined.

    >>> x = sympy.Symbol("x")
    >>> identity((x**2 - 1) / (x - 1), x + 1), identity((x**2 - 1) / (x - 1), x + 1.01)
    (True, False)
    """
    difference = expression(one) - expression(other)
    try:
        return bool(quotient(difference, sorted(difference.free_symbols, key=str))[0].is_zero())
    except _NotRationalError:
        return bool(sympy.expand(sympy.fraction(sympy.together(difference))[0]) == 0)


def positive(value: Any, box: Box) -> bool | None:
    """Decide whether a rational function is positive everywhere in an open box; by continuity ``>= 0`` at its edges.

    Every interval is mapped onto ``(0, oo)``. A polynomial is positive there if all its coefficients are, and numerator
    and denominator are treated alike. Where signs are mixed, say what to prove in smaller boxes.

    - Returns bool or None: None if no certificate was found, nor a point of a coarse grid where it fails.

    >>> x = sympy.Symbol("x")
    >>> positive(x**2 - 3 * x + 3, {x: (2, sympy.oo)}), positive(x**2 - 3 * x + 2, {x: (0, sympy.oo)})
    (True, False)
    """
    exact = expression(value)
    ends = {expression(s): (_end(low), _end(high)) for s, (low, high) in box.items()}
    missing = exact.free_symbols - set(ends)
    if missing:
        raise ValueError(
            f"box must name every symbol, lacks {', '.join(sorted(map(str, missing)))}"
        )
    ratio, intervals = quotient(exact, list(ends)), list(ends.values())
    if any(
        _at(ratio, point) <= 0
        for point in itertools.product(*itertools.starmap(_probes, intervals))
    ):
        return False
    return (
        True if _common_sign(ratio[0], intervals) * _common_sign(ratio[1], intervals) > 0 else None
    )


class _NotRationalError(ValueError):
    """An expression is no rational function of its symbols."""


def quotient(exact: Any, names: list[Any]) -> Ratio:
    """Return numerator and denominator of a rational function, over the common multiple of its denominators."""
    ring = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(names))])
    return _parts(exact, ring.constant(1), dict(zip(names, ring.gens(), strict=True)))


def _parts(exact: Any, one: fmpq_mpoly, gens: dict[Any, fmpq_mpoly]) -> Ratio:
    if exact in gens:
        return gens[exact], one
    if exact.is_Rational:
        return one * fmpq(int(exact.p), int(exact.q)), one
    if exact.is_Pow and exact.exp.is_Integer:
        power, (top, bottom) = int(exact.exp), _parts(exact.base, one, gens)
        return (top**power, bottom**power) if power > 0 else (bottom**-power, top**-power)
    if not (exact.is_Add or exact.is_Mul):
        raise _NotRationalError(f"value must be a rational function, has {exact}")
    parts = [_parts(part, one, gens) for part in exact.args]
    return functools.reduce(_sum if exact.is_Add else _product, parts)


def _sum(first: Ratio, second: Ratio) -> Ratio:
    common = first[1].gcd(second[1])
    widened, factor = second[1] / common, first[1] / common
    return first[0] * widened + second[0] * factor, first[1] * widened


def _product(first: Ratio, second: Ratio) -> Ratio:
    return first[0] * second[0], first[1] * second[1]


def _end(value: Any) -> Any:
    exact = expression(value)
    return exact if exact == oo else fmpq(int(exact.p), int(exact.q))


def _probes(low: Any, high: Any) -> list[fmpq]:
    """Return points near both ends of an interval and in its middle."""
    shares = [fmpq(1, 1000), fmpq(1, 2), fmpq(999, 1000)]
    return [low + s / (1 - s) if high == oo else low + (high - low) * s for s in shares]


def _at(ratio: Ratio, point: tuple[fmpq, ...]) -> fmpq:
    top, bottom = (part(*point) for part in ratio)
    return top / bottom if bottom != 0 else fmpq(0)


def _common_sign(polynomial: fmpq_mpoly, box: Sequence[Interval]) -> int:
    """Return the sign that all coefficients share once the box is ``(0, oo)`` in every direction, or 0."""
    for side, (low, high) in enumerate(box):
        polynomial = _stretched(polynomial, side, low, high)
    signs = {c > 0 for c in polynomial.coeffs()}
    return 0 if len(signs) != 1 else 1 if signs.pop() else -1


def _stretched(polynomial: fmpq_mpoly, side: int, low: fmpq, high: Any) -> fmpq_mpoly:
    """Return a polynomial in ``s/(1+s)`` of the way from `low` to `high` (``low + s``), times a power of ``1 + s``."""
    ring = polynomial.context()
    by_power: dict[int, dict[tuple[int, ...], fmpq]] = {}
    for powers, coefficient in polynomial.terms():
        rest = (*powers[:side], 0, *powers[side + 1 :])
        by_power.setdefault(powers[side], {})[rest] = coefficient
    s = ring.gen(side)
    place, spread = (s + low, ring.constant(1)) if high == oo else (high * s + low, s + 1)
    stretched, factor = ring.constant(0), ring.constant(1)
    for power in range(max(by_power, default=0), -1, -1):
        stretched = stretched * place + ring.from_dict(by_power.get(power, {})) * factor
        factor = factor * spread
    return stretched


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


def limit(value: Any, symbol: Any, towards: Any) -> Any:
    """Return a limit of an expression in one symbol, from above.

    >>> x = sympy.Symbol("x", positive=True)
    >>> limit((sympy.exp(x) - 1) / x, x, 0)
    1
    """
    return sympy.limit(expression(value), symbol, towards, "+")
