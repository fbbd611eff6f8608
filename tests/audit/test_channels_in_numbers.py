"""What an exact channel tells about itself is right in every number.

The channels are small tables of fractions, so each number can be checked by hand.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ldpnb.audit import ExactChannel

Rows = list[list[Any]]


def channel_of(rows: Rows, lost: list[Any] | None = None, **names: Any) -> ExactChannel:
    """A channel of fractions, such as ``"1/3"``, whose inputs and outputs are 0, 1, ..."""
    fractions = tuple(tuple(map(Fraction, row)) for row in rows)
    inputs = names.get("inputs", tuple(range(len(rows[0]))))
    outputs = names.get("outputs", tuple(range(len(rows))))
    return ExactChannel(
        inputs, outputs, fractions, tuple(map(Fraction, lost or len(inputs) * [0])), 0
    )


THREE = channel_of([["1/2", "1/4", "1/8"], ["1/4", "1/2", "1/8"], ["1/4", "1/4", "3/4"]])


def test_the_loss_is_the_largest_ratio_of_two_entries_of_a_row() -> None:
    assert THREE.epsilon == math.log(4)
    assert THREE.pair == (0, 2)
    assert THREE.output == 0
    assert THREE.delta == 0
    assert THREE.lower_bound == THREE.epsilon


def test_the_loss_is_infinite_at_the_first_output_that_rules_an_input_out() -> None:
    channel = channel_of([["1/2", "1/2", "1/2"], ["1/2", "1/4", 0], [0, "1/4", "1/2"]])
    assert channel.epsilon == math.inf
    assert channel.output == 1
    assert channel.pair == (0, 2)
    assert "epsilon is infinite" in str(channel)


def test_an_output_that_no_input_has_costs_nothing() -> None:
    assert channel_of([["1/2", "1/2"], [0, 0], ["1/2", "1/2"]]).epsilon == 0


def test_a_pair_of_neighbours_counts_whichever_of_them_is_likelier() -> None:
    def next_to_each_other(one: int, other: int) -> bool:
        return other == one + 1

    loss = THREE.loss(next_to_each_other)
    assert loss.epsilon == pytest.approx(math.log(4))
    assert (loss.output, loss.inputs) == (1, (1, 2))

    backwards = THREE.loss(lambda one, other: other == one - 1)
    assert backwards.epsilon == pytest.approx(math.log(3))
    assert (backwards.output, backwards.inputs) == (2, (2, 1))


@pytest.mark.parametrize(
    ("ratio", "loss"),
    [
        (1 + Fraction(1, 10**15), 1e-15),
        (Fraction(4, 3), math.log(4 / 3)),
        (Fraction(2), math.log(2)),
        (Fraction(10**400), 400 * math.log(10)),
    ],
    ids=["1 + 1e-15", "4/3", "2", "1e400"],
)
def test_a_loss_has_all_its_digits_however_small_or_large_it_is(
    ratio: Fraction, loss: float
) -> None:
    low = 1 / (1 + ratio)
    channel = channel_of([[ratio * low, low], [low, ratio * low]])
    assert channel.epsilon == pytest.approx(loss, rel=1e-14)


def test_a_cut_channel_leaves_out_the_outputs_that_an_input_may_still_reach() -> None:
    channel = channel_of([["1/2", "1/4"], ["1/4", "1/2"], ["1/8", 0]], lost=["1/8", "1/4"])
    assert channel.epsilon == math.log(2)
    assert channel.delta == 1 / 4
    # With all that was lost given to it, the other entry of the first row would be 1/2, and that
    # of the second one 3/8; the third row has 1/8 against 1/4 at most.
    assert channel.lower_bound == pytest.approx(math.log(4 / 3))
    assert str(channel).splitlines()[1:] == [
        "epsilon is 0.69314718056 at delta 0.25, where any two inputs are neighbours",
        "output 0 has probability 0.5 from input 0 and 0.25 from input 1",
        "some paths were left out: at delta 0, epsilon is at least 0.287682072452",
    ]


def test_moments_are_those_of_the_channel() -> None:
    means, variances = THREE.moments(lambda output: output)
    assert means.tolist() == [3 / 4, 1, 13 / 8]
    assert variances.tolist() == [1 / 2 * 9 / 16 + 1 / 4 / 16 + 25 / 64, 1 / 2, 31 / 64]

    means, variances = THREE.moments(lambda output: np.eye(3)[output])
    assert means.tolist() == THREE.probabilities.T.tolist()
    assert variances == pytest.approx(means * (1 - means))


def test_an_estimate_is_unbiased_only_if_it_is_for_every_input() -> None:
    table = channel_of([["3/4", "1/4"], ["1/4", "3/4"]])
    assert table.is_unbiased(lambda output: 2 * output - 0.5)
    assert table.is_unbiased(lambda output: 2 * output - 0.5 + 9e-10)
    assert not table.is_unbiased(lambda output: 2 * output - 0.5 + 1.1e-9)
    assert not table.is_unbiased(lambda output: 2 * output - 0.5 - 1.1e-9)
    assert not table.is_unbiased(lambda output: output / 2 - 0.125)
    assert table.is_unbiased(lambda output: output, truth=[0.25, 0.75])


SUBSETS: Rows = [["1/2", "1/4"], ["1/4", "1/2"], ["1/4", "1/4"]]


@pytest.mark.parametrize(
    ("rows", "names", "marginals"),
    [
        ([["3/4", "1/4"], ["1/4", "3/4"]], {}, (0.75, 0.25)),
        ([["3/4", "1/4"], ["1/4", "3/4"]], {"outputs": ("no", "yes")}, None),
        (SUBSETS, {"outputs": (0, 1, 2)}, None),
        (
            SUBSETS,
            {"outputs": ((0,), (1,), ())},
            (0.5, 0.25),
        ),
        (
            SUBSETS,
            {"outputs": ((1, 0), (0, 1), (0, 0))},
            (0.5, 0.25),
        ),
        (
            SUBSETS,
            {"outputs": ((1, 0), (0, 1), (1, 1))},
            (0.75, 0.5),
        ),
        ([["1/2", "1/4"], ["1/2", "3/4"]], {}, None),
        ([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/8"], ["1/4", "1/4", "5/8"]], {}, None),
        ([["1/2", "1/4", "1/8"], ["1/4", "1/2", "3/8"], ["1/4", "1/4", "1/2"]], {}, None),
    ],
    ids=[
        "k-RR",
        "words that are no inputs",
        "a third word",
        "subsets",
        "bits",
        "bits with two ones",
        "two truths",
        "three truths",
        "unlike lies",
    ],
)
def test_a_pure_channel_has_one_probability_of_the_truth_and_one_of_each_lie(
    rows: Rows, names: dict[str, Any], marginals: tuple[float, float] | None
) -> None:
    assert channel_of(rows, **names).marginals() == marginals


@pytest.mark.parametrize("place", [(0, 1), (150, 3), (3, 150), (249, 248), (249, 249)])
def test_a_single_wrong_entry_of_a_large_channel_is_seen(place: tuple[int, int]) -> None:
    size = 250
    lie = Fraction(1, 2 * (size - 1))
    rows = [[Fraction(1, 2) if i == j else lie for j in range(size)] for i in range(size)]
    pure = channel_of(rows)
    assert pure.marginals() == pytest.approx((0.5, float(lie)))
    assert pure.epsilon == pytest.approx(math.log(size - 1))

    output, value = place
    rows[output][value] += Fraction(1, 10**6)
    assert channel_of(rows).marginals() is None


def test_a_budget_is_exceeded_by_more_than_the_tolerance_only() -> None:
    channel = channel_of([["3/4", "1/4"], ["1/4", "3/4"]])
    assert not channel.exceeds(math.log(3))
    assert not channel.exceeds(math.log(3) - 0.9e-9)
    assert channel.exceeds(math.log(3) - 1.1e-9)
    assert channel.exceeds(math.log(3) - 1e-15, tolerance=0.0)
    assert not channel.exceeds(1.0, tolerance=0.1)
    with pytest.raises(ValueError, match="tolerance must be >= 0"):
        channel.exceeds(1.0, tolerance=-0.1)


def test_a_channel_in_a_line_says_its_size_and_its_loss() -> None:
    assert repr(THREE) == "ExactChannel(3 inputs, 3 outputs, epsilon=1.38629436112)"
