"""Unary encoding's channel and outputs, and what is refused of a mechanism's data and of a channel."""

import flint
import numpy as np
import pytest
import sympy

from ldpnb.arithmetic import Symbol
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import privacy_loss


def test_unary_channel_is_the_product_of_its_bits() -> None:
    mechanism = UnaryEncoding(0.6, 0.3, 3)
    for y, bits in enumerate(mechanism.outputs()):
        for x in range(3):
            ones = np.where(np.arange(3) == x, 0.6, 0.3)
            assert mechanism.channel()[y, x] == pytest.approx(np.prod(np.where(bits, ones, 1 - ones)), rel=1e-13)


def test_large_unary_outputs_are_the_users_bits_grouped() -> None:
    mechanism, counts = UnaryEncoding.optimised(3.0, 20), np.arange(20) * 50
    outputs, tallies = mechanism.sample_outputs(counts, rng=np.random.default_rng(1))
    bits = mechanism.randomize(np.repeat(np.arange(20), counts), rng=np.random.default_rng(1))
    assert (tallies @ outputs == bits.sum(axis=0)).all()
    assert len(outputs) == len(np.unique(bits, axis=0))


FORMS = {
    "OUE": lambda epsilon: UnaryEncoding.optimised(epsilon, 5),
    "SUE": lambda epsilon: UnaryEncoding.symmetric(epsilon, 5),
    "subsets": lambda epsilon: SubsetSelection(epsilon, 5, 2),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("formula", ["p", "q", "epsilon"])
def test_closed_forms_give_the_same_on_floats_balls_and_symbols(name: str, formula: str) -> None:
    x = sympy.symbols("x", positive=True)
    number, ball, symbol = (getattr(FORMS[name](e), formula) for e in (1.5, flint.arb("1.5"), Symbol(x)))
    assert abs(ball / number - 1) < 1e-14
    assert float(
        (symbol.expression if isinstance(symbol, Symbol) else sympy.Float(symbol)).subs(x, 1.5)
    ) == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize("epsilon", ["1.0", None, True])
def test_epsilon_must_be_a_number(epsilon) -> None:
    with pytest.raises(TypeError, match="epsilon must be a number"):
        KaryRandomisedResponse(epsilon, 3)


@pytest.mark.parametrize(
    ("counts", "rule"),
    [
        ([3, -1], r"whole numbers >= 0, got counts\[1\]=-1"),
        ([3, 0.5], r"whole numbers >= 0, got counts\[1\]=0.5"),
        ([0, 0], "positive sum, got all zeros"),
        ([], "at least 1 entries"),
        ([1, 2, 3], "one entry per value, 2, got 3"),
    ],
)
@pytest.mark.parametrize("mechanism", [KaryRandomisedResponse(1.0, 2), UnaryEncoding.optimised(1.0, 2)])
def test_bad_counts_are_refused(mechanism, counts: list, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        mechanism.sample_tallies(counts, rng=np.random.default_rng(0))


def test_an_excluded_input_has_infinite_loss_and_names_the_pair() -> None:
    loss = privacy_loss([[0.5, 0.0], [0.5, 1.0], [0.0, 0.0]])
    assert loss.epsilon == np.inf
    assert (loss.output, loss.inputs) == (0, (0, 1))


@pytest.mark.parametrize("channel", [[[0.5, 0.5]], [[1.0, -0.1], [0.0, 1.1]], [0.5, 0.5], []])
def test_a_matrix_that_is_no_channel_is_refused(channel) -> None:
    with pytest.raises(ValueError, match="channel must"):
        privacy_loss(channel)
