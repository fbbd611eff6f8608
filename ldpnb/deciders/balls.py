"""Inequalities, zeros and printed digits by ball arithmetic: numbers with rigorous error bounds.

Every number is an interval that contains the true one. Formulas are called with balls
(`flint.arb`). To square, multiply: a power of a ball around 0 is not a number.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy
from flint import arb, arb_poly, fmpq, fmpq_poly

from ldpnb.arithmetic import Real, expression
from ldpnb.deciders.algebra import quotient

Terms = dict[tuple[int, int], fmpq_poly]
"""A polynomial in ``x`` and an exponential of ``x``: the coefficient of each pair of powers.

The coefficients are polynomials in e.
"""

_SMALLEST_SHARE = Fraction(1, 2**20)
"""An interval is divided into cells of at least this share of its length."""

_CELLS = 61
"""Number of cells in each of which a zero is sought."""

_WIDTH = Fraction(1, 10**9)
"""Largest width of a ball around a zero."""


def ball(low: Any, high: Any = None) -> arb:
    """Return a ball around an interval with rational ends.

    Text such as ``"0.1"`` is exact, a float is the binary fraction that it stores.

    >>> ball("0.1", "0.3").contains(arb("0.2")), ball("0.1").contains(arb("0.2"))
    (True, False)
    """
    first = arb(fmpq(*Fraction(low).as_integer_ratio()))
    last = arb(fmpq(*Fraction(low if high is None else high).as_integer_ratio()))
    return first.union(last)


def holds_on(function: Callable[[Any], Real], interval: tuple[Any, Any]) -> bool | None:
    """Decide whether a function is positive on a closed interval, by subdivision.

    The function is called with a ball around a cell of the interval. If the result does not settle
    the cell, it is halved.

    Parameters
    ----------
    function : callable
        A formula that takes a ball.
    interval : tuple of two ends
        Whole numbers, fractions, or text such as ``"0.1"``.

    Returns
    -------
    bool or None
        True with a proof, False if the function fails in the middle of a cell, and None if a cell
        of less than a millionth of the interval remains unsettled.

    Examples
    --------
    >>> holds_on(lambda x: x * x - x + 1, (0, 5))
    True
    >>> holds_on(lambda x: x * x - x + ball("0.24"), (0, 5))
    False
    """
    low, high = map(Fraction, interval)
    cells = [(low, high)]
    while cells:
        a, b = cells.pop()
        middle = (a + b) / 2
        if function(ball(middle)) <= 0:
            return False
        if function(ball(a, b)) > 0:
            continue
        if b - a < _SMALLEST_SHARE * (high - low):
            return None
        cells += [(a, middle), (middle, b)]
    return True


def zeros(function: Callable[[Any], Real], low: Any, high: Any) -> list[arb]:
    """Return balls around zeros of a continuous function, in order.

    Each is between two points of a grid at which the function has different signs. `sign_changes`
    proves that there are no more.

    Parameters
    ----------
    function : callable
        A formula that takes a ball.
    low, high : int, fractions.Fraction or str
        Ends of the interval that is searched.

    Returns
    -------
    list of flint.arb

    Raises
    ------
    ArithmeticError
        If a sign is uncertain, for example at a zero on the grid.

    Examples
    --------
    >>> [round(float(zero.mid()), 6) for zero in zeros(lambda x: x * x - 2, 0, 3)]
    [1.414214]
    """
    start = Fraction(low)
    length = Fraction(high) - start
    grid = [start + length * i / _CELLS for i in range(_CELLS + 1)]
    signs = [_sign(function(ball(place))) for place in grid]

    enclosures = []
    for (a, sign), (b, other_sign) in pairwise(zip(grid, signs, strict=True)):
        if sign != other_sign:
            enclosures.append(_enclosed(function, a, b, sign))
    return enclosures


def _enclosed(function: Callable[[Any], Real], a: Fraction, b: Fraction, sign_at_a: int) -> arb:
    """Return a ball around a zero between `a` and `b`, where the signs differ."""
    while b - a > _WIDTH:
        # Not in the middle, where zeros often are.
        cut = a + (b - a) * Fraction(15, 31)
        if _sign(function(ball(cut))) == sign_at_a:
            a = cut
        else:
            b = cut
    return ball(a, b)


def _sign(value: arb) -> int:
    if value > 0:
        return 1
    if value < 0:
        return -1
    raise ArithmeticError("a sign is uncertain at this precision")


def sign_changes(value: Any, x: Any) -> int:
    """Return how many zeros a rational function of `x` and ``e^x`` has on ``(0, oo)`` at most.

    This is Descartes' rule for the power series of its numerator. The n-th coefficient times ``n!``
    is the sum of ``c_ij n (n-1) .. (n-i+1) j^(n-i)``. Signs are read off one by one, up to a number
    from which on the fastest exponential provably decides. So both ends of the half line are
    covered, which no subdivision reaches.

    Parameters
    ----------
    value : Symbol or sympy.Expr
        Its constants are rational numbers and whole powers of e.
    x : Symbol or sympy.Symbol
        The variable.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the function is 0 everywhere, or has other constants.

    Examples
    --------
    >>> x = sympy.Symbol("x")
    >>> sign_changes(sympy.exp(x) - 1 - x, x), sign_changes(sympy.exp(x) - 2 - x, x)
    (0, 1)
    """
    terms = _terms(expression(value), x)
    if not terms:
        raise ValueError("value must not be 0 everywhere")

    degree = max(power for power, _ in terms)
    fastest = max(rate for _, rate in terms)
    last = degree
    if fastest:
        last = next(n for n in range(degree + 1, 10_000) if _decided_from(terms, n, fastest))

    coefficients = [_coefficient(terms, n) for n in range(last + 1)]
    signs = [_sign(_at_e(coefficient)) for coefficient in coefficients if coefficient]
    return sum(one != other for one, other in pairwise(signs))


def _coefficient(terms: Terms, n: int) -> fmpq_poly:
    """Return ``n!`` times the n-th coefficient of the power series."""
    total = fmpq_poly()
    for (i, j), c in terms.items():
        if n >= i:
            total += c * (math.perm(n, i) * j ** (n - i))
    return total


def _terms(exact: Any, x: Any) -> Terms:
    """Return a numerator's coefficients by the powers of `x` and ``e^x``.

    They are polynomials in e, which may stand for a symbol because e is transcendental.
    """
    growth, e = sympy.symbols("growth e", cls=sympy.Dummy)
    exact = exact.xreplace({number: sympy.Rational(number) for number in exact.atoms(sympy.Float)})

    # Write every e^(a x + b) as growth^a e^b.
    replacements = {}
    for exponential in exact.atoms(sympy.exp, type(sympy.E)):
        exponent = sympy.expand(exponential.as_base_exp()[1])
        slope = exponent.coeff(x)
        constant = exponent - slope * x
        if not constant.is_Integer:
            raise ValueError(f"value must have powers e^(a x + b) with whole b, got {exact}")
        replacements[exponential] = growth**slope * e**constant

    terms: Terms = {}
    numerator = quotient(exact.xreplace(replacements), [x, growth, e]).numerator
    for (i, j, power), number in numerator.terms():
        monomial = fmpq_poly([0] * power + [number])
        terms[i, j] = terms.get((i, j), fmpq_poly()) + monomial
    return terms


def _at_e(polynomial: fmpq_poly) -> arb:
    return arb_poly(polynomial)(arb(1).exp())


def _decided_from(terms: Terms, n: int, fastest: int) -> bool:
    """Return whether from the n-th coefficient on the fastest exponential decides the sign.

    Divided by ``fastest^n``, its own part is a polynomial in ``n``. It has one sign from there on
    if its coefficients in powers of ``n' - n`` have one sign. Every other part shrinks from one
    coefficient to the next, so it is enough that they are smaller together at ``n``.
    """
    leading = {i: c * fmpq(1, fastest**i) for (i, j), c in terms.items() if j == fastest}
    others = {powers: c for powers, c in terms.items() if powers[1] < fastest}
    if not all((n + 1) * j <= fastest * (n + 1 - i) for i, j in others):
        return False

    signs = {_sign(_at_e(c)) for c in _ahead(leading, n) if c}
    if len(signs) != 1:
        return False

    size = abs(_at_e(_added(c * math.perm(n, i) for i, c in leading.items())))
    size_of_others = arb(0)
    for (i, j), c in others.items():
        size_of_others += abs(_at_e(c)) * math.perm(n, i) * arb(j) ** (n - i) / arb(fastest) ** n
    return bool(size > size_of_others)


def _ahead(leading: dict[int, fmpq_poly], n: int) -> list[fmpq_poly]:
    """Return ``sum_i c_i n' (n'-1) .. (n'-i+1)`` by powers of ``n' - n``."""
    falling = {}
    for i in leading:
        factors = (fmpq_poly([n - down, 1]) for down in range(i))
        falling[i] = math.prod(factors, start=fmpq_poly([1]))

    ahead = []
    for power in range(max(leading) + 1):
        ahead.append(_added(c * falling[i][power] for i, c in leading.items()))
    return ahead


def _added(polynomials: Iterable[fmpq_poly]) -> fmpq_poly:
    return sum(polynomials, fmpq_poly())


def digits(value: arb, printed: str) -> bool | None:
    """Decide whether a printed number is the value, to half a unit of its last digit.

    >>> digits(arb(2).sqrt(), "1.414"), digits(arb(2).sqrt(), "1.415")
    (True, False)
    """
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = Fraction(10) ** (int(exponent or 0) - decimals) / 2

    low = ball(Fraction(printed) - half)
    high = ball(Fraction(printed) + half)
    if low < value < high:
        return True
    return False if value < low or value > high else None
