"""What mechanisms refuse, by name, rule and value; numbers out of range: properties/test_extremes."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit, histogram_sensitivity
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.rng import stream

RNG = stream("refused", seed=1)
SIGNS, BIT, PAIR = DiscretisedMeans(1.0, 1.0), OneBit(1.0, 2.0), SignedBit(1.0, (3, 4))
WARNER, UNARY, SUBSETS = KaryRandomisedResponse(1.0, 2), UnaryEncoding.optimised(1.0, 2), SubsetSelection(1.0, 3, 1)
COIN = SignRandomiser(1.0, 2)

PARAMETERS = [
    (lambda: UnaryEncoding(0.3, 0.6, 3), "q must be < p, got p=0.3, q=0.6"),
    (lambda: UnaryEncoding(0.2, 0.2, 2), "q must be < p, got p=0.2, q=0.2"),
    (lambda: UnaryEncoding(0.5, 0.0, 3), r"q must lie in \(0, 1\), got q=0.0"),
    (lambda: UnaryEncoding(1.0, 0.5, 3), r"p must lie in \(0, 1\), got p=1.0"),
    (lambda: UnaryEncoding.optimised(-1.0, 3), "epsilon must be > 0 and finite, got epsilon=-1.0"),
    (lambda: UnaryEncoding(0.6, 0.3, 3, truthful_rate=1.5), r"truthful_rate must lie in \(0, 1\]"),
    (lambda: LaplaceMeans(1.0, 1.0).law(2, 0.0), "group must be < 2, got group=2"),
    (lambda: SubsetSelection.optimal(1.0, 1), "domain_size must be an integer >= 2, got domain_size=1"),
    (lambda: SubsetSelection(1.0, 4, 0), "subset_size must be an integer >= 1, got subset_size=0"),
    (lambda: SubsetSelection(1.0, 4, 4), "subset_size must be < domain_size, got 4 of 4"),
    (lambda: SubsetSelection(1.0, 30, 10).outputs(), "subsets must be at most 5000"),
    (lambda: SignRandomiser.as_printed(0.0, 3), r"bias must lie in \(0, 1\), got bias=0\.0"),
    (lambda: SignRandomiser(1.0, 13).channel(), "domain_size must be <= 12 to list every output, got domain_size=13"),
    (lambda: UnaryEncoding.optimised(1.0, 13).outputs(), "domain_size must be <= 12"),
    (lambda: LocalHashing(1.0, 17, 2).channel(), r"outputs must be at most 100000 to list them, g\^\(k \+ 1\)"),
    (lambda: BestGapChannel(1.0, 0.5).sizes(1), "users must be an integer >= 2, got users=1"),
    (lambda: BestGapChannel(1.0, 0.5).sizes(2**63), r"users must lie in \[2, 9223372036854775807\]"),
    (lambda: histogram_sensitivity("swap"), "neighbours must be one of replacement, deletion"),
    (lambda: LaplaceMeans.executed(1.0).clipped_epsilon, "reversed_noise=True"),
    (lambda: LaplaceMeans(1.0, 1.0, 2.0, 2**24 + 1).law(0, 0.0), "groups must be at most 16,777,216 to list a law"),
    (lambda: SignedBit(1.0, (1, 1), (0, 0)), r"pair must be two different groups in 0 .. 1, got pair=\(0, 0\)"),
    (lambda: SignedLaplace(1.0, (0, 3)), "sizes must be >= 1"),
    (lambda: SignedLaplace(1.0, (3,)), "sizes"),
]
DATA = [
    (lambda: COIN.sample_tallies([1, 2, 3], rng=RNG), "counts must have one entry per value, 2, got 3"),
    (lambda: COIN.randomize_with_public_signs([0], [[0, 1]], rng=RNG), r"public must be signs -1 and \+1"),
    (lambda: SUBSETS.randomize([0, 3], rng=RNG), r"values must lie in 0 .. 2, got 0 .. 3"),
    (lambda: SUBSETS.sample_tallies([1, 2], rng=RNG), "counts must have one entry per value, 3, got 2"),
    (lambda: BIT.one_rate([1.0, 3.0]), r"values must lie in \[0, 2.0\], got values\[1\]=3.0"),
    (lambda: BIT.one_rate([-0.5, 1.0]), r"values must lie in \[0, 2.0\], got values\[0\]=-0.5"),
    (lambda: BIT.one_rate([0.5, np.nan]), "values must lie in"),
    (lambda: BIT.channel([-0.5]), r"values must lie in \[0, 2.0\], got values\[0\]=-0.5"),
    (lambda: CentralLaplace(1.0).sample_sums([-0.5], [3], rng=RNG), r"values must lie in \[0, 1.0\], got values\[0\]"),
    (lambda: LocalLaplace(1.0).randomize([-1], rng=RNG), r"values must lie in \[0, 1\.0\], got values\[0\]=-1"),
    (lambda: BIT.sample_sums([0, 1], [3], rng=RNG), "counts must have one entry per value"),
    (lambda: BIT.sample_sums([0, 1], [3, -1], rng=RNG), r"got counts\[1\]=-1"),
    (lambda: BIT.sample_sums([1], [3], rng=RNG, repetitions=0), "repetitions must be an integer >= 1, got repetitions"),
    (lambda: SIGNS.sample_tallies([[1], [1]], [1.2], rng=RNG), r"values must lie in \[-1, 1\], got values\[0\]=1.2"),
    (lambda: SIGNS.sample_tallies([[1, 2]], [0.0, 1.0], rng=RNG), "counts must have one row per group, 2"),
    (lambda: SIGNS.sample_tallies([[1, 2], [1, 1]], [0.0], rng=RNG), "values must match counts, got shapes"),
    (lambda: SIGNS.sample_tallies([[1, -2], [1, 1]], [0, 1], rng=RNG), "counts must be whole numbers >= 0"),
    (lambda: SIGNS.sample_sums([[1], [1]], [0], repetitions=0, rng=RNG), "repetitions must be an integer >= 1"),
    (lambda: SIGNS.randomize([0, 2], [0.0, 0.0], rng=RNG), r"groups must lie in 0 .. 1, got 0 .. 2"),
    (lambda: SIGNS.randomize([-1, 1], [0.0, 0.0], rng=RNG), r"groups must lie in 0 .. 1, got -1 .. 1"),
    (lambda: PAIR.randomize([0], [2.0], rng=RNG), r"values must lie in \[-1, 1\]"),
    *(
        (lambda m=m: m.sample_sums([[3], [4]], [0.5], repetitions=0, rng=RNG), "repetitions must be an integer >= 1")
        for m in (PAIR, SignedLaplace(1.0, (3, 4)))
    ),
]


@pytest.mark.parametrize(("call", "message"), [*PARAMETERS, *DATA])
def test_bad_input_is_refused_by_name_rule_and_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


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
@pytest.mark.parametrize("mechanism", [WARNER, UNARY])
def test_bad_counts_are_refused(mechanism, counts: list, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        mechanism.sample_tallies(counts, rng=RNG)


@pytest.mark.parametrize(
    "randomize", [m.randomize for m in (PAIR, SIGNS, SignedLaplace(1.0, (3, 3)), LaplaceMeans(1.0, 1.0))]
)
@pytest.mark.parametrize("groups", [[[0]], [0, 1], [0.0], [True], [-1], [2]], ids=repr)
def test_groups_must_be_one_whole_number_per_value(randomize, groups: list) -> None:
    with pytest.raises(ValueError, match="groups must"):
        randomize(groups, [0.5], rng=RNG)


@pytest.mark.parametrize("values", [[[0]], [0.0], [True], [-1], [4]], ids=repr)
def test_values_must_be_whole_numbers_of_the_domain(values: list) -> None:
    for mechanism in (KaryRandomisedResponse(1.0, 4), UnaryEncoding.optimised(1.0, 4), SubsetSelection(1.0, 4, 2)):
        with pytest.raises((ValueError, TypeError), match="values must"):
            mechanism.randomize(values, rng=RNG)
