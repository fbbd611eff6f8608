"""Inequalities, zeros and printed digits by ball arithmetic: every number is an interval that contains the true one.

Formulas are called with balls (`flint.arb`). To square, multiply: a power of a ball around 0 is not a number.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy
from flint import arb, arb_poly, fmpq, fmpq_poly

from ldpnb.arithmetic import Real, expression
from ldpnb.deciders.algebra import quotient

Terms = dict[tuple[int, int], fmpq_poly]
"""Coefficients of a polynomial in a variable and an exponential, by their powers, themselves polynomials in e."""

_SMALLEST, _CELLS, _WIDTH = Fraction(1, 2**20), 61, Fraction(1, 10**9)
"""Least share of an interval that a cell is of, cells in which zeros are sought, and width of a zero's enclosure."""


def ball(low: Any, high: Any = None) -> arb:
    """Return a ball around an interval with rational ends; text such as ``"0.1"`` is exact, a float its value.

    >>> ball("0.1", "0.3").contains(arb("0.2")), ball("0.1").contains(arb("0.2"))
    (True, False)
    """
    first, last = (
        arb(fmpq(*Fraction(end).as_integer_ratio())) for end in (low, low if high is None else high)
    )
    return first.union(last)


def holds_on(function: Callable[[Any], Real], interval: tuple[Any, Any]) -> bool | None:
    """Decide whether a function of a ball is positive on a closed interval with rational ends, by subdivision.

    A cell is settled by the function's enclosure there; otherwise it is halved, and all is given up at one below a
    millionth of the interval, whose ends are whole numbers, fractions, or text such as ``"0.1"``.

    >>> holds_on(lambda x: x * x - x + 1, (0, 5)), holds_on(lambda x: x * x - x + ball("0.24"), (0, 5))
    (True, False)
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
        if b - a < _SMALLEST * (high - low):
            return None
        cells += [(a, middle), (middle, b)]
    return True


def zeros(function: Callable[[Any], Real], low: Any, high: Any) -> list[arb]:
    """Return, in order, balls that hold a zero of a continuous function each: where it changes its sign on a grid.

    That there are no more is for `sign_changes` to prove.

    - ArithmeticError where a sign is uncertain, as at a zero on the grid.

    >>> [round(float(z.mid()), 6) for z in zeros(lambda x: x * x - 2, 0, 3)]
    [1.414214]
    """
    grid = [
        Fraction(low) + (Fraction(high) - Fraction(low)) * i / _CELLS for i in range(_CELLS + 1)
    ]
    signs = [_sign(function(ball(place))) for place in grid]
    enclosures = []
    for (a, sign), (b, other) in pairwise(zip(grid, signs, strict=True)):
        if sign == other:
            continue
        while b - a > _WIDTH:
            cut = a + (b - a) * Fraction(15, 31)  # off the middle, where zeros like to be
            a, b = (cut, b) if _sign(function(ball(cut))) == sign else (a, cut)
        enclosures.append(ball(a, b))
    return enclosures


def _sign(value: arb) -> int:
    if value > 0:
        return 1
    if value < 0:
        return -1
    raise ArithmeticError("a sign is uncertain at this precision")


def sign_changes(value: Any, x: Any) -> int:
    """Return how many zeros a rational function of `x` and ``e^x`` has on ``(0, oo)`` at most.

    Descartes' rule for the power series of its numerator, whose n-th coefficient times ``n!`` is the sum of
    ``c_ij n (n-1) .. (n-i+1) j^(n-i)``: signs are read off one by one, up to a number from which on the fastest
    exponential provably decides. Both ends of the half line are covered, which no subdivision reaches. A ValueError
    refuses the function that is 0 everywhere, and constants other than rational numbers and whole powers of e.

    >>> x = sympy.Symbol("x")
    >>> sign_changes(sympy.exp(x) - 1 - x, x), sign_changes(sympy.exp(x) - 2 - x, x)
    (0, 1)
    """
    terms = _exponential(expression(value), x)
    if not terms:
        raise ValueError("value must not be 0 everywhere")
    degree, fastest = (max(powers[d] for powers in terms) for d in (0, 1))
    last = degree
    if fastest:
        last = next(n for n in range(degree + 1, 10_000) if _decided_from(terms, n, fastest))
    series = [
        sum(
            (c * (math.perm(n, i) * j ** (n - i)) for (i, j), c in terms.items() if n >= i),
            fmpq_poly(),
        )
        for n in range(last + 1)
    ]
    return sum(one != other for one, other in pairwise(_sign(_at_e(c)) for c in series if c))


def _exponential(exact: Any, x: Any) -> Terms:
    """Return a numerator's coefficients by the powers of `x` and ``e^x``: polynomials in e, which is transcendental."""
    growth, e = sympy.symbols("growth e", cls=sympy.Dummy)
    exact = exact.xreplace({number: sympy.Rational(number) for number in exact.atoms(sympy.Float)})
    powers = {
        part: sympy.expand(part.as_base_exp()[1]) for part in exact.atoms(sympy.exp, type(sympy.E))
    }
    slopes = {part: power.coeff(x) for part, power in powers.items()}
    rest = {part: powers[part] - slope * x for part, slope in slopes.items()}
    if not all(number.is_Integer for number in rest.values()):
        raise ValueError(f"value must have powers e^(a x + b) with whole b, has {exact}")
    parts = {part: growth**slope * e ** rest[part] for part, slope in slopes.items()}
    terms: Terms = {}
    for (i, j, k), number in quotient(exact.xreplace(parts), [x, growth, e])[0].terms():
        terms[i, j] = terms.get((i, j), fmpq_poly()) + fmpq_poly([*[0] * k, number])
    return terms


def _at_e(polynomial: fmpq_poly) -> arb:
    return arb_poly(polynomial)(arb(1).exp())


def _decided_from(terms: Terms, n: int, fastest: int) -> bool:
    """Return whether from the n-th term on the fastest exponential has one sign and outweighs all others.

    Divided by ``fastest^n``, its own part is a polynomial in n: in powers of ``n' - n`` all of one sign. Every other
    part shrinks from one term to the next.
    """
    lead = {i: c * fmpq(1, fastest**i) for (i, j), c in terms.items() if j == fastest}
    rest = {powers: c for powers, c in terms.items() if powers[1] < fastest}
    if not all((n + 1) * j <= fastest * (n + 1 - i) for i, j in rest):
        return False
    falls = {
        i: math.prod((fmpq_poly([n - down, 1]) for down in range(i)), start=fmpq_poly([1]))
        for i in lead
    }
    ahead = (
        sum((lead[i] * falls[i][power] for i in lead), fmpq_poly())
        for power in range(max(lead) + 1)
    )
    own = abs(_at_e(sum((c * math.perm(n, i) for i, c in lead.items()), fmpq_poly())))
    others = (
        abs(_at_e(c)) * math.perm(n, i) * arb(j) ** (n - i) / arb(fastest) ** n
        for (i, j), c in rest.items()
    )
    return len({_sign(_at_e(c)) for c in ahead if c}) == 1 and bool(own > sum(others, arb(0)))


def digits(value: arb, printed: str) -> bool | None:
    """Decide whether a ball proves a printed number: within half a unit of its last digit.

    >>> digits(arb(2).sqrt(), "1.414"), digits(arb(2).sqrt(), "1.415")
    (True, False)
    """
    mantissa, _, exponent = printed.partition("e")
    half = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2])) / 2
    low, high = ball(Fraction(printed) - half), ball(Fraction(printed) + half)
    return True if low < value < high else False if value < low or value > high else None
