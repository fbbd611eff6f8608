"""Identities and inequalities between rational functions, for every value of their symbols in a box."""

import itertools
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from ldpnb.arithmetic import Real, Symbol
from ldpnb.checks import needed_for

with needed_for("a decider"):
    import flint
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
    difference = expression(one) - expression(other)
    parts = _parts(difference, tuple(difference.free_symbols))
    if parts is None:  # with roots or exponentials, which sympy knows
        return bool(sympy.expand(sympy.fraction(sympy.together(difference))[0]) == 0)
    return bool(parts[0] == 0)


def positive(value: Any, box: Box, *, depth: int = 3) -> bool | None:
    """Decide whether a rational function is positive everywhere in an open box; by continuity ``>= 0`` at its edges.

    Every interval is mapped onto ``(0, oo)``. A polynomial is positive there if all its coefficients are, and numerator
    and denominator are treated alike. Where signs are mixed the box is cut in two, at most `depth` times in each
    direction; the cut itself is decided as a box with one symbol less.

    Returns
    -------
    bool or None
        None if no certificate was found, nor a point of a coarse grid where it fails, or the function is not rational.

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
    parts = _parts(exact, tuple(box))
    if parts is None:
        return None
    (top, bottom), ends = parts, [(_number(low), None if high == oo else _number(high)) for low, high in box.values()]
    for point in itertools.product(*(_probes(low, high) for low, high in ends)):
        below = bottom(*point)
        if below == 0 or top(*point) / below <= 0:
            return False
    return True if _certified(top, bottom, dict(enumerate(ends)), dict.fromkeys(range(len(ends)), depth)) else None


Interval = tuple[Any, Any]
"""Ends as `flint.fmpq`, None for no upper end."""


def _number(exact: Any) -> Any:
    return flint.fmpq(int(exact.p), int(exact.q))


def _parts(exact: Any, among: Sequence[Any]) -> tuple[Any, Any] | None:
    """Return numerator and denominator in lowest terms, polynomials in the symbols, or None of what is not rational."""
    ring = flint.fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(among))])
    known = {symbol: (x, ring.constant(1)) for symbol, x in zip(among, ring.gens(), strict=True)}

    def parts(node: Any) -> tuple[Any, Any]:
        if node not in known:
            if node.is_Rational:
                known[node] = ring.constant(_number(node)), ring.constant(1)
            elif node.is_Add or node.is_Mul:
                known[node] = reduce(_added if node.is_Add else _multiplied, map(parts, node.args))
            elif node.is_Pow and node.exp.is_Integer:
                top, bottom = parts(node.base) if node.exp > 0 else parts(node.base)[::-1]
                known[node] = top ** abs(int(node.exp)), bottom ** abs(int(node.exp))
            if node not in known or not known[node][1]:
                raise ArithmeticError
        return known[node]

    try:
        return parts(exact)
    except ArithmeticError:
        return None


def _multiplied(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    (a, b), (c, d) = one, other
    first, second = a.gcd(d), c.gcd(b)
    return (a / first) * (c / second), (b / second) * (d / first)


def _added(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    (a, b), (c, d) = one, other
    shared = b.gcd(d)
    top, bottom = a * (d / shared) + c * (b / shared), b * (d / shared)
    common = top.gcd(bottom)
    return top / common, bottom / common


def _probes(low: Any, high: Any) -> list[Any]:
    """Return points near both ends of an interval and in its middle."""
    shares = [flint.fmpq(1, 1000), flint.fmpq(1, 2), flint.fmpq(999, 1000)]
    return [low + s / (1 - s) if high is None else low + (high - low) * s for s in shares]


def _certified(top: Any, bottom: Any, box: dict[int, Interval], cuts: dict[int, int]) -> bool:
    """Return whether a certificate is found over a box of the symbols of these numbers."""
    product = _common_sign(top, box) * _common_sign(bottom, box)
    if product != 0 or not box:
        return product > 0
    symbol = max(box, key=lambda s: cuts[s])
    if cuts[symbol] == 0:
        return False
    (low, high), fewer = box[symbol], {**cuts, symbol: cuts[symbol] - 1}
    middle = 2 * low + 1 if high is None else (low + high) / 2
    others = {s: interval for s, interval in box.items() if s != symbol}
    return (
        _certified(top, bottom, {**box, symbol: (low, middle)}, fewer)
        and _certified(_put(top, symbol, middle), _put(bottom, symbol, middle), others, fewer)
        and _certified(top, bottom, {**box, symbol: (middle, high)}, fewer)
    )


def _common_sign(polynomial: Any, box: Mapping[int, Interval]) -> int:
    """Return the sign that all coefficients share once the box is ``(0, oo)`` in every direction, or 0.

    With ``x = low + (high - low) / (1 + z)`` a polynomial in ``x`` becomes one in ``z``, over a power of ``1 + z``.
    """
    for symbol, (low, high) in box.items():
        x = polynomial.context().gens()[symbol]
        if high is None:
            polynomial = _put(polynomial, symbol, low + x)
        else:
            polynomial = _put(_reversed(_put(polynomial, symbol, low + (high - low) * x), symbol), symbol, 1 + x)
    signs = {1 if c > 0 else -1 for c in polynomial.coeffs()}
    return signs.pop() if len(signs) == 1 else 0


def _put(polynomial: Any, symbol: int, value: Any) -> Any:
    gens = list(polynomial.context().gens())
    gens[symbol] = value + 0 * gens[symbol]
    return polynomial.compose(*gens)


def _reversed(polynomial: Any, symbol: int) -> Any:
    """Return ``x^degree`` times the polynomial at ``1/x``."""
    degree = polynomial.degrees()[symbol]
    turned = {(*e[:symbol], degree - e[symbol], *e[symbol + 1 :]): c for e, c in polynomial.to_dict().items()}
    return polynomial.context().from_dict(turned)


def limit(value: Any, symbol: Any, towards: Any, *, side: str = "+") -> Any:
    """Return a limit of an expression in one symbol, from above by default.

    >>> x = sympy.Symbol("x", positive=True)
    >>> limit((sympy.exp(x) - 1) / x, x, 0)
    1
    """
    return sympy.limit(expression(value), symbol, towards, side)
