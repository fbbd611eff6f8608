"""Errors of estimates refuse bad arguments by name, rule and value; numbers out of range: properties/test_extremes."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.accuracy import (
    best_allocation,
    budgets,
    distances,
    dropouts,
    exact_risk,
    gaps,
    histograms,
    information,
    lower_bounds,
    means,
    personalised,
)
from ldpnb.accuracy.allocation import Family
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.lower_bounds import LowerBounds
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import LocalLaplace
from ldpnb.mechanisms.signs import SignRandomiser

WARNER = KaryRandomisedResponse(1.0, 2)
SIGNS = DiscretisedMeans(1.0, 1.0)
LAPLACE = GroupGap.of_halves(LaplaceMeans.published(1.0), 4)
CONTRAST = GroupGap.of_halves(SignedLaplace(1.0, (2, 2)), 4)
FAMILY = Family((2, 2), (1.0, 1.0))
BEST = {"noises": [1], "costs": [1], "sizes": [1], "budget": 1}
EVERYBODY = {"users": 0, "report_rates": [0.5], "mechanism": WARNER}

REFUSED = [
    (lambda: SampledCounts(10, 0.5, WARNER, "random"), "data must be one of fixed, iid"),
    (lambda: SampledCounts(1, 0.5, WARNER).variance_rescaled(2), r"holders must lie in \[0, 1\], got holders=2"),
    (lambda: PersonalRates([2], [0.0], WARNER), r"rates must lie in \(0, 1\], got rates=\[0.0\]"),
    (lambda: PersonalRates([2, 2], [0.5], WARNER), "rates must have one entry per group"),
    (lambda: PersonalRates([0], [0.5], WARNER), "sizes must be > 0"),
    (lambda: PersonalRates([2], [0.5], WARNER).mean([-1]), "holders must lie between 0 and the group's size"),
    (lambda: PersonalRates([2], [0.5], WARNER).mean(3), "holders must have one row per group"),
    (lambda: personalised.optimal_rates(**BEST | {"noises": [0]}), "noises must be > 0"),
    (lambda: personalised.optimal_rates(**BEST | {"costs": [1, 1]}), "one entry per group"),
    (lambda: personalised.optimal_rates(**BEST | {"budget": 0}), "budget must be > 0"),
    (
        lambda: personalised.variance_reweighted_reports([0.0], **EVERYBODY),
        "users must be an integer >= 1, got users=0",
    ),
    (lambda: GroupGap(SIGNS, (5, 5, 5)), "sizes must be >= 1, one per group, 2"),
    (lambda: GroupGap(SIGNS, (5, 0)), "sizes must be >= 1, one per group"),
    (lambda: GroupGap(SignedBit(1.0, (5, 5)), (5, 6)), "sizes and pair must be the mechanism's"),
    (lambda: GroupGap.of_halves(SIGNS, 0), "users must be an integer >= 2, got users=0"),
    (lambda: GroupGap.of_halves(SIGNS, 5), "users must be even for two equal groups, got users=5"),
    (
        lambda: GroupGap(SIGNS, (5, 5)).variance((0.0, 1.2)),
        r"second_moment must lie in \[0, 1\], got second_moment=1.2",
    ),
    (lambda: GroupGap(SIGNS, (5, 5)).variance((0.0, 0.0, 0.0)), "second_moments must have 2 entries"),
    (lambda: GroupGap(SIGNS, (5, 5)).misestimated_variance((1.0,), (0.0, 0.0)), "size_factors must have 2 entries"),
    (lambda: gaps.misestimated_gap_bias((1.5, 0.0), (0.1, 0.1)), "size_factors must be > 0"),
    (lambda: LAPLACE.failure(0.1, "markov"), "tail must be one of chebyshev"),
    (lambda: LAPLACE.failure(0.1, "chernoff"), "needs equal noise scales"),
    (lambda: LAPLACE.failure(0.0, "hoeffding"), "alpha must be > 0"),
    (lambda: LAPLACE.error_bound(0.1, "hoeffding"), "tail must be one of chebyshev, normal"),
    (lambda: GroupGap.of_halves(SIGNS, 4).failure(0.1, "chernoff"), "tail='chernoff' for DiscretisedMeans"),
    (lambda: CONTRAST.failure(0.1, "exact"), "tail must fit the mechanism, got tail='exact' for SignedLaplace"),
    (lambda: GroupGap(SIGNS, (2, 3)).failure(0.1, "exact"), "sizes must be those of two equal groups"),
    (lambda: budgets.smallest_epsilon(DiscretisedMeans.calibrated, 4, 0.1, failure=1.0), "failure must lie in"),
    (lambda: budgets.required_gain(1, 0.5), "users must be an integer >= 2, got users=1"),
    (
        lambda: histograms.pure_variance([5, 11], users=10, mechanism=SignRandomiser(1.0, 2)),
        r"holders must lie in \[0, 10\], got holders\[1\]=11",
    ),
    (lambda: histograms.sign_variance(0, users=10, bias=0.0), r"bias must lie in \(0, 1\], got bias=0\.0"),
    (lambda: LowerBounds(3, 1.0).frequency("sharpest"), "form must be one of published, sharp"),
    (lambda: information.fisher_information(np.eye(2), [0.5, 0.6]), "distribution must sum to 1"),
    (lambda: lower_bounds.any_channel_bound_at([0.5, 0.6], 1.0), "distribution must sum to 1"),
    (lambda: exact_risk.exact_risks(np.full((8, 3), 1 / 8), 40, np.ones(3), {}), "users must be few for 8 outputs"),
    (lambda: information.fisher_information(np.eye(2), [1.0, 0.0]), "distribution must be positive, got a zero"),
    (lambda: histograms.central_laplace_largest_error(1.0, 0, 0.1), "domain_size must be an integer >= 1, got domain"),
    (lambda: means.users_for_certain(LocalLaplace(1e-8), 1e-6, 1e-9), "exact count of at most 1e\\+10 users"),
    (lambda: means.users_for_certain(LocalLaplace(1.0), 1e-160, 0.1), "error must allow an exact count of at most"),
    (lambda: distances.smallest_rate(1e300, [5, 5], users=10, mechanism=WARNER), "distance must be so small"),
    (lambda: distances.expected_total_variation([1.0], users=0), "users must be an integer >= 1, got users=0"),
    (
        lambda: dropouts.dropout_error(SIGNS, (5, 5), (1.0, 0.0), (0, 0), (0, 0)),
        r"dropped must lie in \[0, 1\), got dropped=1\.0",
    ),
    (
        lambda: best_allocation.best_rule(FAMILY, 3, 1.5, precision=9e-5),
        r"precision must lie in \[0\.0001, 1\], got precision=9e-05",
    ),
    (
        lambda: best_allocation.deterministic_rule_below(FAMILY, 3, 176.0, 1.0),
        r"epsilon must lie in \[0, 175\.0\], got epsilon=176\.0",
    ),
    (lambda: exact_risk.exact_risks(np.eye(2), 0, [0.5, 0.5], {}), "users must be an integer >= 1, got users=0"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_bad_arguments_are_refused_by_name_rule_and_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
