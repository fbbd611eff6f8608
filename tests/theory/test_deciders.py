"""Every decider proves true statements, and refuses false ones that are close to them."""

from collections.abc import Callable
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
E = sympy.E
exp = sympy.exp
oo = sympy.oo
Rational = sympy.Rational


def test_a_formula_as_it_stands_is_decided_for_every_budget_and_domain() -> None:
    kary = KaryRandomisedResponse(Symbol(sympy.log(t)), Symbol(k))
    assert identity(kary.p - kary.q, kary.truthful_rate)
    assert not identity(kary.p - kary.q, kary.truthful_rate * Symbol("1.0001"))
    assert identity(kary.p + (Symbol(k) - 1) * kary.q, 1)

    every = {t: (1, oo), k: (2, oo)}
    assert positive(kary.truthful_rate, every)
    assert positive(1 / Symbol(k) - kary.q, every)
    assert not positive(1 / Symbol(k) - kary.p, every)


UNIT_SQUARE = {x: (0, 1), y: (0, 1)}


@pytest.mark.parametrize(
    ("value", "box", "answer"),
    [
        (x**2 - 3 * x + Rational(5, 2), {x: (2, oo)}, True),
        (x**2 - 3 * x + 2, {x: (0, oo)}, False),
        # touches 0
        (x**2 - 3 * x + Rational(9, 4), {x: (0, 5)}, None),
        (1 - x * y, UNIT_SQUARE, True),
        # fails in a corner that no point meets
        (1 - Rational(1001, 1000) * x * y, UNIT_SQUARE, None),
        (1 - 2 * x * y, UNIT_SQUARE, False),
        ((t - 1) / (t + 1), {t: (1, oo)}, True),
        # numerator and denominator are both negative
        ((x - 3) / (x - 2), {x: (0, 1)}, True),
        ((x - 1) / (x - 2), {x: (0, oo)}, False),
        (1 / (t - 2), {t: (1, oo)}, False),
        # is not defined at 2
        (1 / (t - 2) ** 2, {t: (1, oo)}, False),
        ((x - y) ** 2 + 1, {x: (0, oo), y: (0, oo)}, None),
    ],
)
def test_a_rational_function_is_proven_positive_refuted_or_left(
    value: sympy.Expr, box: dict, answer: bool | None
) -> None:
    assert positive(value, box) is answer


def test_positive_wants_the_interval_of_every_symbol() -> None:
    with pytest.raises(ValueError, match="box must name every symbol, got none for y"):
        positive(x + y, {x: (0, 1)})


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5))
def test_positive_never_contradicts_a_point(coefficients: list[int]) -> None:
    def value(point: Fraction | sympy.Expr) -> Fraction | sympy.Expr:
        return sum(c * point**power for power, c in enumerate(coefficients))

    answer = positive(value(x), {x: (0, 1)})
    least = min(value(Fraction(i, 97)) for i in range(1, 97))
    assert answer is not True or least > 0
    assert answer is not False or least <= Fraction(1, 4)


@pytest.mark.parametrize(
    ("function", "interval", "answer"),
    [
        pytest.param(lambda a: a * a - a + ball("0.2501"), (0, 10), True, id="above 0"),
        pytest.param(lambda a: a * a - a + ball("0.24"), (0, 10), False, id="below 0"),
        pytest.param(lambda a: (a - ball("1/3")) ** 2, (0, 1), None, id="touches 0"),
        pytest.param(
            lambda a: np.expm1(a) - a * ball("0.99"), ("1/100", 50), True, id="e^a - 1 > 0.99 a"
        ),
        pytest.param(
            lambda a: np.expm1(a) - a * ball("1.01"), ("1/100", 50), False, id="e^a - 1 > 1.01 a"
        ),
    ],
)
def test_a_function_of_a_ball_is_proven_positive_refuted_or_left(
    function: Callable, interval: tuple, answer: bool | None
) -> None:
    assert holds_on(function, interval) is answer


def test_zeros_are_where_a_function_changes_its_sign_and_none_is_guessed() -> None:
    roots = zeros(lambda a: (a - 1) * (a - 2) * (a - ball("2.2")), 0, 5)
    assert [round(float(root.mid()), 6) for root in roots] == [1.0, 2.0, 2.2]
    (in_the_middle,) = zeros(lambda a: a - 1, 0, 2)
    assert in_the_middle.contains(1)
    assert zeros(lambda a: a * a + ball("0.0001"), -1, 1) == []
    with pytest.raises(ArithmeticError, match="a sign is uncertain"):
        zeros(lambda a: a - a, 0, 1)


@pytest.mark.parametrize(
    ("value", "most"),
    [
        (exp(x) - 1 - x - x**2 / 2, 0),
        (exp(x) - 1 - Rational(101, 100) * x, 1),
        # is 0 at 0 and at ln 2
        (exp(2 * x) - 3 * exp(x) + 2, 1),
        (x**2 - 3 * x + 2, 2),
        # has constants that only cancel exactly
        (E * (exp(x) - 1 - x), 0),
        (exp(2 * x) * (1 + exp(-2) * x) - 2, 1),
        ((exp(x + 1) - E) / x - 3, 1),
        ((x - 2) * exp(x) + x + 2, 0),
        ((x - 2) * exp(x) + x + Rational(201, 100), 0),
        ((x - 2) * exp(x) + x + Rational(199, 100), 1),
    ],
)
def test_zeros_on_the_half_line_are_bounded_by_sign_changes(value: sympy.Expr, most: int) -> None:
    assert sign_changes(value, x) == most


@pytest.mark.parametrize(
    "value",
    [
        x - x,
        exp(x) * E - exp(x + 1),
        sympy.pi - x,
        exp(x * x) - 2,
        sympy.sqrt(E) - x,
    ],
)
def test_what_has_no_bound_on_its_zeros_is_refused(value: sympy.Expr) -> None:
    message = r"must (not be 0|be a rational function, got pi|have powers)"
    with pytest.raises(ValueError, match=message):
        sign_changes(value, x)


def test_a_printed_digit_is_proven_refuted_or_left() -> None:
    pi = arb.pi()
    assert digits(pi, "3.1416") is True
    assert digits(pi, "3.1415") is False
    assert digits(pi, "3e0") is True
    assert digits(pi, "31.4e-1") is True
    assert digits(arb("0.5", 0.1), "0.5") is None


@pytest.mark.parametrize(
    ("printed", "lowest", "highest"),
    [
        ("3.1416", "3.14155", "3.14165"),
        ("12", "11.5", "12.5"),
        ("1.2e3", "1150", "1250"),
        ("-7.50e-2", "-0.07505", "-0.07495"),
    ],
)
def test_a_printed_number_stands_for_half_a_unit_of_its_last_digit_either_way(
    printed: str, lowest: str, highest: str
) -> None:
    step = arb("1e-9")
    assert digits(arb(lowest) + step, printed) is True
    assert digits(arb(highest) - step, printed) is True
    assert digits(arb(lowest) - step, printed) is False
    assert digits(arb(highest) + step, printed) is False


def test_identities_of_other_functions_are_proven_or_refuted() -> None:
    growth = sympy.log(t)
    assert identity((exp(x) + growth) * (exp(x) - growth), exp(2 * x) - growth**2)
    assert not identity(exp(x) + growth, exp(x) + growth * Rational(1001, 1000))
    assert not identity(exp(x), growth)
