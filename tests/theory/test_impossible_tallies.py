"""Estimators refuse what cannot be tallies, before any work starts, and say what is wrong."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.arithmetic import Symbol
from ldpnb.estimators import frequency, gaps, likelihood, sampling
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020.formulas import bayes

KRR = KaryRandomisedResponse(1.0, 3)
GROUPS = DiscretisedMeans(1.0, 1.0)
RNG = np.random.default_rng(1)

GOOD = [5, 3, 2]
"""Reports of three values by ten users."""

Call = Callable[[Any], Any]

ESTIMATORS: dict[str, Call] = {
    "unbiased": lambda tallies: frequency.unbiased(tallies, 10, KRR),
    "krr_mle": lambda tallies: likelihood.krr_mle(tallies, epsilon=1.0),
    "mle": lambda tallies: likelihood.mle(KRR.channel(), tallies),
    "support_mle": lambda tallies: likelihood.support_mle(np.eye(3), tallies, KRR),
    "unadjusted": lambda tallies: sampling.unadjusted(tallies, users=10, mechanism=KRR),
    "rescaled": lambda tallies: sampling.rescaled(
        tallies, users=10, sampling_rate=0.5, mechanism=KRR
    ),
    "realised_size": lambda tallies: sampling.realised_size(
        tallies, sampling_rate=0.5, mechanism=KRR
    ),
    "personalised": lambda tallies: sampling.personalised(
        tallies, users=10, expected_reports=5.0, mechanism=KRR
    ),
    "reweighted_reports": lambda tallies: sampling.reweighted_reports(
        tallies, users=10, report_rates=[0.5, 0.5, 1.0], mechanism=KRR
    ),
    "certificate_gap": lambda tallies: likelihood.certificate_gap(
        KRR.channel(), tallies, [0.5, 0.3, 0.2]
    ),
    "posterior": lambda tallies: bayes.posterior(KRR.channel(), tallies, 0.5),
    "krr_posterior": lambda tallies: bayes.krr_posterior(tallies, 0.5, epsilon=1.0),
    "krr_posterior_saddle": lambda tallies: bayes.krr_posterior_saddle(tallies, 0.5, epsilon=1.0),
    "fitted_concentration": lambda tallies: bayes.fitted_concentration(tallies, epsilon=1.0),
    "support_posterior": lambda tallies: bayes.support_posterior(
        np.eye(3), tallies, KRR, 0.5, sweeps=40, rng=RNG
    ),
}
FINDS_ITS_DOMAIN = ("krr_mle", "krr_posterior", "krr_posterior_saddle", "fitted_concentration")
"""Estimators that take as many values as there are tallies."""

BY_GROUP: dict[str, Call] = {
    "hajek": lambda tallies: sampling.hajek(
        [tallies, tallies], users=20, rates=[0.5, 1.0], mechanism=KRR
    ),
    "horvitz_thompson": lambda tallies: sampling.horvitz_thompson(
        [tallies, tallies], rates=[0.5, 1.0], mechanism=KRR
    ),
}
DRAWS: dict[str, Call] = {
    f"sample_tallies of {name}": partial(make(1.0, 3).sample_tallies, rng=RNG)
    for name, make in FREQUENCY.items()
}
TAKES_TALLIES = ESTIMATORS | BY_GROUP | DRAWS

TAKES_OTHER_NUMBERS: dict[str, Call] = {
    "project_simplex": frequency.project_simplex,
    "scale_simplex": lambda vector: frequency.scale_simplex(vector, 10.0),
    "signed_gap": gaps.signed_gap,
    "absolute_interval": lambda gap: gaps.absolute_interval(gap, 1.0),
    "group_means": lambda sums: gaps.group_means(GROUPS, sums[:2], [5, 5]),
}
TAKES_AN_ARRAY = ESTIMATORS | DRAWS | TAKES_OTHER_NUMBERS

NO_NUMBERS = {
    "strings": np.array(["5", "3", "2"]),
    "dates": np.array([5, 3, 2], dtype="datetime64[D]"),
    "complex numbers": np.array([5, 3, 2 + 1j]),
    "truth values": np.array([True, False, True]),
    "None": np.array([5, None, 2], dtype=object),
    "a mask": np.ma.array([5, 3, 2], mask=[False, True, False]),
    "a mask that hides nothing": np.ma.array([5, 3, 2]),
    "records": np.array([(5, 3), (3, 1), (2, 1)], dtype=[("a", int), ("b", int)]),
}
IMPOSSIBLE = {
    "a negative tally": [5, -3, 8],
    "nan": [5.0, np.nan, 2.0],
    "infinity": [5.0, np.inf, 2.0],
}


@pytest.mark.parametrize("name", TAKES_TALLIES)
def test_possible_tallies_are_accepted(name: str) -> None:
    TAKES_TALLIES[name](GOOD)


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("name", TAKES_AN_ARRAY)
def test_what_is_no_plain_array_of_numbers_is_refused(name: str, kind: str) -> None:
    with pytest.raises(TypeError, match=r"must be numbers|must be an array without a mask"):
        TAKES_AN_ARRAY[name](NO_NUMBERS[kind])


def test_tallies_by_group_must_be_plain_numbers_too() -> None:
    masked = np.ma.array([GOOD, GOOD], mask=[[0, 1, 0], [0, 0, 0]])
    words = [["5", "3", "2"], ["5", "3", "2"]]
    rates = [0.5, 1.0]

    for tallies, message in ((masked, "an array without a mask"), (words, "numbers")):
        with pytest.raises(TypeError, match=f"tallies must be {message}"):
            sampling.hajek(tallies, users=20, rates=rates, mechanism=KRR)
        with pytest.raises(TypeError, match=f"tallies must be {message}"):
            sampling.horvitz_thompson(tallies, rates=rates, mechanism=KRR)


@pytest.mark.parametrize("name", TAKES_AN_ARRAY)
def test_lists_in_lists_without_end_are_refused(name: str) -> None:
    nested: list[Any] = [1]
    for _ in range(20_000):
        nested = [nested]

    with pytest.raises((ValueError, TypeError)):
        TAKES_AN_ARRAY[name](nested)


@pytest.mark.parametrize("kind", IMPOSSIBLE)
@pytest.mark.parametrize("name", TAKES_TALLIES)
def test_a_tally_is_finite_and_not_negative(name: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"must be (finite and|whole numbers) >= 0"):
        TAKES_TALLIES[name](IMPOSSIBLE[kind])


@pytest.mark.parametrize("name", TAKES_OTHER_NUMBERS)
def test_other_numbers_are_finite(name: str) -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite"):
            TAKES_OTHER_NUMBERS[name]([0.5, value, 0.2])


@pytest.mark.parametrize("name", [name for name in TAKES_TALLIES if name not in FINDS_ITS_DOMAIN])
def test_there_is_one_tally_for_each_value(name: str) -> None:
    for tallies in ([5, 5], [5, 3, 1, 1]):
        with pytest.raises(ValueError, match=r"one entry per|have 3 entries|shape"):
            TAKES_TALLIES[name](tallies)


def test_each_user_sends_one_report_of_a_value() -> None:
    with pytest.raises(ValueError, match="tallies must sum to 10, got sum 9"):
        frequency.unbiased([5, 3, 1], 10, KRR)
    with pytest.raises(ValueError, match="tallies must be at most 10 each, got tallies"):
        frequency.unbiased([11, 3, 1], 10, KRR)
    with pytest.raises(ValueError, match="tallies must have one entry per value"):
        frequency.unbiased(10, 10, KRR)
    with pytest.raises(TypeError, match="users must be a number"):
        frequency.unbiased(10, [5, 3, 2], KRR)


def test_each_report_of_subset_selection_supports_as_many_values() -> None:
    pairs = SubsetSelection(1.0, 3, 2)
    assert frequency.unbiased([9, 6, 5], 10, pairs).sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="tallies must sum to 20, got sum 21"):
        frequency.unbiased([10, 6, 5], 10, pairs)
    with pytest.raises(ValueError, match=r"outputs must support 2 of the values each, got 3 in"):
        likelihood.support_mle([[1, 1, 0], [1, 1, 1]], [5, 5], pairs)


@pytest.mark.parametrize(
    "name", ["unadjusted", "rescaled", "personalised", "reweighted_reports", "hajek"]
)
def test_there_are_no_more_reports_than_users(name: str) -> None:
    with pytest.raises(ValueError, match=r"tallies must sum to at most [12]0, got sum [12]"):
        TAKES_TALLIES[name]([6, 3, 2])


def test_sums_of_reports_belong_to_groups() -> None:
    with pytest.raises(ValueError, match="sums must have one entry per group"):
        gaps.group_means(GROUPS, [1.0, 2.0, 3.0], [5, 5])


def test_symbols_are_accepted() -> None:
    tally = Symbol("t")
    assert isinstance(frequency.unbiased(tally, 10, KRR), Symbol)
    assert frequency.unbiased([tally, 3, 2], 10, KRR).dtype == object
    assert sampling.unadjusted([tally, 3, 2], users=10, mechanism=KRR).dtype == object


def test_every_public_function_of_tallies_is_tried_here() -> None:
    of_tallies = set()
    for name in dir(ldp):
        function = getattr(ldp, name)
        if inspect.isfunction(function) and "tallies" in inspect.signature(function).parameters:
            of_tallies.add(name)

    assert of_tallies
    not_tried = of_tallies - TAKES_TALLIES.keys()
    assert not not_tried, f"add a call to ESTIMATORS or BY_GROUP of {__file__}"
