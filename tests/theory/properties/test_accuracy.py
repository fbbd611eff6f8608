"""Bounds on errors are on their side of the exact error, and budgets buy what they promise."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ldpnb.accuracy import (
    gaps,
    information,
    lower_bounds,
    means,
    personalised,
    sampling,
    tails,
)
from ldpnb.accuracy.lower_bounds import LowerBounds
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import LocalLaplace
from ldpnb.papers.biswas2022 import displayed
from properties.strategies import (
    distributions,
    domain_sizes,
    epsilons,
    examples,
    logarithmic,
    moderate,
    rates,
    small_mechanisms,
    users,
)

SLACK = 1 + 1e-9

shares = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)


@examples(12)
@given(epsilons, domain_sizes, users, rates, shares)
def test_variances_under_sampling_keep_their_order_at_the_ends_of_every_range(
    epsilon: float, size: int, number: int, rate: float, share: float
) -> None:
    survey, iid = (
        sampling.SampledCounts(number, rate, KaryRandomisedResponse(epsilon, size), d) for d in ("fixed", "iid")
    )
    holders = share * number
    realised = survey.variance_realised_size(holders)
    assert 0 <= survey.variance_ratio(holders) <= realised * SLACK + 1e-9
    assert realised <= survey.variance_rescaled(holders) * SLACK
    assert realised <= iid.variance_realised_size(holders) * SLACK + 1e-9
    assert survey.variance_gain(holders) >= 0
    assert displayed.variance_unadjusted(survey, holders) <= survey.variance_unadjusted(holders) * SLACK + 1e-9
    assert survey.rare_variance_realised_size == pytest.approx(survey.variance_realised_size(0), rel=1e-9)
    assert survey.rare_variance_realised_size <= survey.rare_variance_rescaled * SLACK


@examples(12)
@given(
    st.lists(st.tuples(logarithmic(1e-6, 1e6), logarithmic(1e-3, 1e3), st.integers(1, 10**6)), min_size=1, max_size=5),
    st.floats(0.001, 2),
)
def test_no_shift_between_two_groups_improves_the_optimal_rates(groups: list, part: float) -> None:
    noises, costs, sizes = (np.array(column, dtype=float) for column in zip(*groups, strict=True))
    budget = part * float(sizes @ costs)
    best = personalised.optimal_rates(noises=noises, costs=costs, sizes=sizes, budget=budget)
    assert ((best > 0) & (best <= 1)).all()
    assert sizes @ (costs * best) == pytest.approx(min(budget, float(sizes @ costs)), rel=1e-9)
    price = noises / (costs * best**2)
    free = best < 1
    if free.any():
        assert np.ptp(price[free]) <= 1e-7 * price[free].max()
        assert (price[~free] >= price[free].max() * (1 - 1e-7)).all()


@examples(12)
@given(small_mechanisms(moderate, largest=5), st.data())
def test_the_error_of_the_unbiased_estimate_is_above_every_bound(mechanism, data) -> None:
    size = mechanism.domain_size
    point, channel = data.draw(distributions(size, least=0.01)), mechanism.channel()
    epsilon = mechanism.epsilon
    plain = information.unbiased_frequency_error(mechanism)
    best = information.frequency_error(channel, point)
    assert best <= plain * SLACK + 1e-9
    assert information.distribution_error(channel, point) == pytest.approx(best + 1 - point @ point, rel=1e-7)
    bound, fewer = lower_bounds.any_channel_bound_at(point, epsilon)
    assert fewer <= best * (1 + 1e-7) + 1e-7
    limits = LowerBounds(size, epsilon)
    assert limits.any_channel() <= bound * SLACK
    assert limits.distribution() <= limits.any_channel() * SLACK
    forms = [limits.frequency(f) for f in ("published", "sharp")]
    assert forms[0] <= forms[1] * SLACK <= limits.distribution() * SLACK**2


@examples(15)
@given(st.integers(1, 10**6), logarithmic(1e-3, 1e6))
def test_tail_bounds_lie_above_the_exact_tail(terms: int, deviation: float) -> None:
    exact = tails.symmetric_binomial(terms, deviation)
    assert 0 <= exact <= tails.hoeffding(terms, deviation) * SLACK
    assert tails.hoeffding(terms, deviation) == pytest.approx(min(1.0, 2 * np.exp(-(deviation**2) / 2 / terms)))
    assert exact <= tails.bernstein(float(terms), 1.0, deviation) * SLACK
    assert exact <= tails.chebyshev(float(terms), deviation) * SLACK


@examples(5)
@given(logarithmic(0.3, 3), logarithmic(0.05, 0.5) | logarithmic(0.5, 8), st.floats(0.005, 0.2))
def test_the_exact_number_of_users_is_the_smallest(epsilon: float, error: float, failure: float) -> None:
    mechanism = LocalLaplace(epsilon)
    least = means.users_for_certain(mechanism, error, failure)
    assert means.success(mechanism, least, error) >= 1 - failure
    assert least == 1 or means.success(mechanism, least - 1, error) < 1 - failure


@examples(12)
@example(1e-8, (10**12, 3_584_912_846), (0.0, 0.0), 0.0)  # whose squares leave 64 bits
@given(epsilons, st.tuples(users, users), st.tuples(shares, shares), shares)
def test_the_worst_gap_variance_is_the_worst(
    epsilon: float, sizes: tuple[int, int], moments: tuple[float, float], factor: float
) -> None:
    for mechanism in (DiscretisedMeans.calibrated(epsilon), LaplaceMeans.calibrated(epsilon)):
        gap = gaps.GroupGap(mechanism, sizes)
        variance = gap.variance(moments)
        assert 0 < variance <= gap.worst_variance() * SLACK
        wrong = gap.misestimated_variance((1 + factor, 1.0), moments)
        assert wrong <= variance * SLACK
    for one in (SignedBit(epsilon, sizes), SignedLaplace(epsilon, sizes)):
        gap = gaps.GroupGap(one, sizes)
        assert -1e-9 <= gap.variance(moments) <= gap.worst_variance() * SLACK
