"""Symbols and balls pass through numpy and the validators, as numbers do."""

import flint
import numpy as np
import pytest
import sympy

from ldpnb import checks
from ldpnb.arithmetic import Symbol, is_exact


def test_numpy_functions_take_symbols() -> None:
    x = sympy.symbols("x", positive=True)
    for name in ("exp", "expm1", "log", "log1p", "sqrt", "square", "tanh", "sinh", "cosh"):
        value = getattr(np, name)(Symbol(x)).expression.subs(x, 2)
        assert float(value) == pytest.approx(float(getattr(np, name)(2.0)), rel=1e-14)
    both = (2 - Symbol(x)) / 4 * Symbol(x) ** 2 + 1
    assert float(both.expression.subs(x, 3)) == pytest.approx(-1.25)
    assert (-Symbol(x)).expression == abs(-Symbol(-x)).expression * -1 == -x


def test_validators_let_exact_numbers_pass_and_nothing_else() -> None:
    assert is_exact(flint.arb(1))
    assert not is_exact(np.float64(1))
    ball = flint.arb(-1)
    assert checks.positive(epsilon=ball) is ball
    with pytest.raises(TypeError, match="epsilon must be a number"):
        checks.positive(epsilon="1")
