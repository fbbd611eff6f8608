"""Every decider proves true statements, and refuses false ones that are close to them."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.arithmetic import Symbol
from ldpnb.deciders.algebra import identity, positive
from ldpnb.deciders.balls import ball, digits, holds_on, sign_changes, zeros
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

t, k, x, y = sympy.symbols("t k x y", positive=True)
oo = sympy.oo


def test_a_formula_as_it_stands_is_decided_for_every_budget_and_domain() -> None:
    kary = KaryRandomisedResponse(Symbol(sympy.log(t)), Symbol(k))
    assert identity(kary.p - kary.q, kary.truthful_rate)
    assert not identity(kary.p - kary.q, kary.truthful_rate * Symbol("1.0001"))
    assert identity(kary.p + (Symbol(k) - 1) * kary.q, 1)
    every = {t: (1, oo), k: (2, oo)}
    assert positive(kary.truthful_rate, every)
    assert positive(1 / Symbol(k) - kary.q, every)
    assert not positive(1 / Symbol(k) - kary.p, every)


@pytest.mark.parametrize(
    ("value", "box", "answer"),
    [
        (x**2 - 3 * x + sympy.Rational(5, 2), {x: (2, oo)}, True),
        (x**2 - 3 * x + 2, {x: (0, oo)}, False),
        (x**2 - 3 * x + sympy.Rational(9, 4), {x: (0, 5)}, None),  # touches 0
        (1 - x * y, {x: (0, 1), y: (0, 1)}, True),
        (
            1 - sympy.Rational(1001, 1000) * x * y,
            {x: (0, 1), y: (0, 1)},
            None,
        ),  # fails in a corner that no point meets
        (1 - 2 * x * y, {x: (0, 1), y: (0, 1)}, False),
        ((t - 1) / (t + 1), {t: (1, oo)}, True),
        (1 / (t - 2), {t: (1, oo)}, False),
        ((x - y) ** 2 + 1, {x: (0, oo), y: (0, oo)}, None),
    ],
)
def test_a_rational_function_is_proven_positive_refuted_or_left(
    value: sympy.Expr, box: dict, answer: bool | None
) -> None:
    assert positive(value, box) is answer


def test_positive_wants_the_interval_of_every_symbol() -> None:
    with pytest.raises(ValueError, match="box must name every symbol, lacks y"):
        positive(x + y, {x: (0, 1)})


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5))
def test_positive_never_contradicts_a_point(coefficients: list[int]) -> None:
    polynomial = sum(c * x**i for i, c in enumerate(coefficients))
    answer = positive(polynomial, {x: (0, 1)})
    values = [
        sum(c * Fraction(i, 97) ** power for power, c in enumerate(coefficients))
        for i in range(1, 97)
    ]
    assert answer is not True or min(values) > 0
    assert answer is not False or min(values) <= Fraction(1, 4)


@pytest.mark.parametrize(
    ("function", "interval", "answer"),
    [
        (lambda a: a * a - a + ball("0.2501"), (0, 10), True),
        (lambda a: a * a - a + ball("0.24"), (0, 10), False),
        (lambda a: (a - ball("1/3")) * (a - ball("1/3")), (0, 1), None),
        (lambda a: np.expm1(a) - a * ball("0.99"), ("1/100", 50), True),
        (lambda a: np.expm1(a) - a * ball("1.01"), ("1/100", 50), False),
    ],
    ids=["above 0", "below 0", "touches 0", "e^a - 1 > 0.99 a", "e^a - 1 > 1.01 a"],
)
def test_a_function_of_a_ball_is_proven_positive_refuted_or_left(
    function, interval, answer: bool | None
) -> None:
    assert holds_on(function, interval) is answer


def test_zeros_are_where_a_function_changes_its_sign_and_none_is_guessed() -> None:
    roots = zeros(lambda a: (a - 1) * (a - 2) * (a - ball("2.2")), 0, 5)
    assert [round(float(z.mid()), 6) for z in roots] == [1.0, 2.0, 2.2]
    assert zeros(lambda a: a * a + ball("0.0001"), -1, 1) == []
    with pytest.raises(ArithmeticError, match="a sign is uncertain"):
        zeros(lambda a: a - a, 0, 1)


@pytest.mark.parametrize(
    ("value", "most"),
    [
        (sympy.exp(x) - 1 - x - x**2 / 2, 0),
        (sympy.exp(x) - 1 - sympy.Rational(101, 100) * x, 1),
        (sympy.exp(2 * x) - 3 * sympy.exp(x) + 2, 1),  # 0 at 0 and at ln 2
        (x**2 - 3 * x + 2, 2),
        (sympy.E * (sympy.exp(x) - 1 - x), 0),  # constants that only cancel exactly
        (sympy.exp(2 * x) * (1 + sympy.exp(-2) * x) - 2, 1),
        ((sympy.exp(x + 1) - sympy.E) / x - 3, 1),
        ((x - 2) * sympy.exp(x) + x + 2, 0),
        ((x - 2) * sympy.exp(x) + x + sympy.Rational(201, 100), 0),
        ((x - 2) * sympy.exp(x) + x + sympy.Rational(199, 100), 1),
    ],
)
def test_zeros_on_the_half_line_are_bounded_by_sign_changes(value: sympy.Expr, most: int) -> None:
    assert sign_changes(value, x) == most


@pytest.mark.parametrize(
    "value",
    [
        x - x,
        sympy.exp(x) * sympy.E - sympy.exp(x + 1),
        sympy.pi - x,
        sympy.exp(x * x) - 2,
        sympy.sqrt(sympy.E) - x,
    ],
)
def test_what_has_no_bound_on_its_zeros_is_refused(value: sympy.Expr) -> None:
    with pytest.raises(
        ValueError, match=r"must (not be 0|be a rational function, has pi|have powers)"
    ):
        sign_changes(value, x)


def test_a_printed_digit_is_proven_refuted_or_left() -> None:
    pi = arb.pi()
    assert [digits(pi, shown) for shown in ("3.1416", "3.1415", "3e0", "31.4e-1")] == [
        True,
        False,
        True,
        True,
    ]
    assert digits(arb("0.5", 0.1), "0.5") is None
