"""Estimators refuse what cannot be tallies, before any work starts, and say what is wrong."""

import inspect
from collections.abc import Callable
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

ESTIMATORS: dict[str, Callable[[Any], Any]] = {
    "unbiased": lambda t: frequency.unbiased(t, 10, KRR),
    "krr_mle": lambda t: likelihood.krr_mle(t, epsilon=1.0),
    "mle": lambda t: likelihood.mle(KRR.channel(), t),
    "support_mle": lambda t: likelihood.support_mle(np.eye(3), t, KRR),
    "unadjusted": lambda t: sampling.unadjusted(t, users=10, mechanism=KRR),
    "rescaled": lambda t: sampling.rescaled(t, users=10, sampling_rate=0.5, mechanism=KRR),
    "realised_size": lambda t: sampling.realised_size(t, sampling_rate=0.5, mechanism=KRR),
    "personalised": lambda t: sampling.personalised(
        t, users=10, expected_reports=5.0, mechanism=KRR
    ),
    "reweighted_reports": lambda t: sampling.reweighted_reports(
        t, users=10, report_rates=[0.5, 0.5, 1.0], mechanism=KRR
    ),
    "certificate_gap": lambda t: likelihood.certificate_gap(KRR.channel(), t, [0.5, 0.3, 0.2]),
    "posterior": lambda t: bayes.posterior(KRR.channel(), t, 0.5),
    "krr_posterior": lambda t: bayes.krr_posterior(t, 0.5, epsilon=1.0),
    "krr_posterior_saddle": lambda t: bayes.krr_posterior_saddle(t, 0.5, epsilon=1.0),
    "fitted_concentration": lambda t: bayes.fitted_concentration(t, epsilon=1.0),
    "support_posterior": lambda t: bayes.support_posterior(
        np.eye(3), t, KRR, 0.5, sweeps=40, rng=RNG
    ),
}
BY_GROUP: dict[str, Callable[[Any], Any]] = {
    "hajek": lambda t: sampling.hajek([t, t], users=20, rates=[0.5, 1.0], mechanism=KRR),
    "horvitz_thompson": lambda t: sampling.horvitz_thompson(
        [t, t], rates=[0.5, 1.0], mechanism=KRR
    ),
}
DRAWS: dict[str, Callable[[Any], Any]] = {
    f"sample_tallies of {name}": lambda t, make=make: make(1.0, 3).sample_tallies(t, rng=RNG)
    for name, make in FREQUENCY.items()
}
OTHER_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "project_simplex": frequency.project_simplex,
    "scale_simplex": lambda v: frequency.scale_simplex(v, 10.0),
    "signed_gap": gaps.signed_gap,
    "absolute_interval": lambda v: gaps.absolute_interval(v, 1.0),
    "group_means": lambda v: gaps.group_means(GROUPS, v[:2], [5, 5]),
}

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


@pytest.mark.parametrize("name", ESTIMATORS | BY_GROUP | DRAWS)
def test_possible_tallies_are_accepted(name: str) -> None:
    (ESTIMATORS | BY_GROUP | DRAWS)[name](GOOD)


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("name", ESTIMATORS | DRAWS | OTHER_NUMBERS)
def test_what_is_no_plain_array_of_numbers_is_refused(name: str, kind: str) -> None:
    with pytest.raises(TypeError, match=r"must be numbers|must be an array without a mask"):
        (ESTIMATORS | DRAWS | OTHER_NUMBERS)[name](NO_NUMBERS[kind])


@pytest.mark.parametrize("name", BY_GROUP)
def test_tallies_by_group_must_be_plain_numbers_too(name: str) -> None:
    reports = np.ma.array([GOOD, GOOD], mask=[[0, 1, 0], [0, 0, 0]])
    arguments: dict[str, Any] = {"rates": [0.5, 1.0], "mechanism": KRR}
    if name == "hajek":
        arguments["users"] = 20
    with pytest.raises(TypeError, match="tallies must be an array without a mask"):
        getattr(sampling, name)(reports, **arguments)
    with pytest.raises(TypeError, match="tallies must be numbers"):
        getattr(sampling, name)([["5", "3", "2"]] * 2, **arguments)


@pytest.mark.parametrize("kind", IMPOSSIBLE)
@pytest.mark.parametrize("name", ESTIMATORS | BY_GROUP | DRAWS)
def test_a_tally_is_finite_and_not_negative(name: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"must be (finite and|whole numbers) >= 0"):
        (ESTIMATORS | BY_GROUP | DRAWS)[name](IMPOSSIBLE[kind])


@pytest.mark.parametrize("name", OTHER_NUMBERS)
def test_other_numbers_are_finite(name: str) -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite"):
            OTHER_NUMBERS[name]([0.5, value, 0.2])


KNOWS_ITS_DOMAIN = set(ESTIMATORS | BY_GROUP | DRAWS) - {
    "krr_mle",
    "krr_posterior",
    "krr_posterior_saddle",
    "fitted_concentration",
}


@pytest.mark.parametrize("name", sorted(KNOWS_ITS_DOMAIN))
def test_there_is_one_tally_for_each_value(name: str) -> None:
    for tallies in ([5, 5], [5, 3, 1, 1]):
        with pytest.raises(ValueError, match=r"one entry per|have 3 entries|shape"):
            (ESTIMATORS | BY_GROUP | DRAWS)[name](tallies)


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
        (ESTIMATORS | BY_GROUP)[name]([6, 3, 2])


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
    assert {"unbiased", "krr_mle", "hajek"} <= of_tallies
    assert of_tallies <= set(ESTIMATORS | BY_GROUP)
