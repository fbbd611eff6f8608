"""Closed forms run on floats, balls and symbols alike."""

import flint
import numpy as np
import pytest
import sympy

from ldpnb import checks
from ldpnb.arithmetic import Symbol, is_exact
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def test_one_formula_gives_the_same_on_floats_balls_and_symbols() -> None:
    t, k = sympy.symbols("t k", positive=True)
    for name in ("p", "q", "truthful_rate"):
        number = getattr(KaryRandomisedResponse(1.5, 7), name)
        ball = getattr(KaryRandomisedResponse(flint.arb("1.5"), flint.arb(7)), name)
        symbol = getattr(KaryRandomisedResponse(Symbol(sympy.log(t)), Symbol(k)), name).expression
        assert abs(ball - number) < 1e-15
        assert float(symbol.subs({t: sympy.exp(sympy.Rational(3, 2)), k: 7})) == pytest.approx(number, rel=1e-14)


def test_numpy_functions_take_symbols() -> None:
    x = sympy.symbols("x", positive=True)
    for name in ("exp", "expm1", "log", "log1p", "sqrt", "square", "tanh"):
        value = getattr(np, name)(Symbol(x)).expression.subs(x, 2)
        assert float(value) == pytest.approx(float(getattr(np, name)(2.0)), rel=1e-14)
    both = (2 - Symbol(x)) / 4 * Symbol(x) ** 2 + 1
    assert float(both.expression.subs(x, 3)) == pytest.approx(-1.25)
    assert (-Symbol(x)).expression == -x


def test_validators_let_exact_numbers_pass_and_nothing_else() -> None:
    assert is_exact(flint.arb(1))
    assert not is_exact(np.float64(1))
    ball = flint.arb(-1)
    assert checks.positive(epsilon=ball) is ball
    with pytest.raises(TypeError, match="epsilon must be a number"):
        checks.positive(epsilon="1")
