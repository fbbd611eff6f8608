"""Second routes to the mechanisms and estimates under the claims of Lopuhaä-Zwakenberg et al.

Mechanisms are compared with their channels, written out report by report. Unbiased estimates are
compared with solutions of linear equations. Estimates of maximum likelihood and projections meet
the conditions that only the optimum meets.
"""

from typing import Any

import numpy as np
from compared import Pairs, compared
from numpy.typing import NDArray

from ldpnb.arithmetic import Floats
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020.written_out import (
    bits,
    drawn_tallies,
    krr_channel,
    loss,
    oue_channel,
    steepest,
    unary_channel,
)

CASES = ((0.3, 2), (1.0, 3), (4.0, 6))
"""Budgets and numbers of values."""

UNARY = ((0.5, 0.2, 2), (0.7, 0.1, 4))
"""Chances of a set bit, at one's own value and elsewhere, and numbers of values."""


def levelled(heights: NDArray[Any], offset: float) -> Floats:
    """Return ``max(heights / level - offset, 0)`` of sum 1, with the level found by bisection.

    From tallies, with offset ``1/c``, it is the maximum-likelihood estimate under k-RR, by the
    KKT conditions.
    """
    high = heights.sum(axis=1, keepdims=True) / offset
    low = np.zeros_like(high)
    for _ in range(200):
        middle = (low + high) / 2
        shares = np.maximum(heights / middle - offset, 0)
        is_too_low = shares.sum(axis=1, keepdims=True) > 1
        low = np.where(is_too_low, middle, low)
        high = np.where(is_too_low, high, middle)
    return np.maximum(heights / high - offset, 0)


# Mechanisms


@compared
def test_randomised_response_has_the_chances_of_equation_103() -> Pairs:
    for epsilon, size in CASES:
        mechanism = KaryRandomisedResponse(epsilon, size)
        keep, switch = krr_channel(epsilon, size)[0, :2]
        yield mechanism.p, keep
        yield mechanism.q, switch
        yield mechanism.truthful_rate, keep - switch


@compared
def test_unary_encoding_is_bit_by_bit() -> Pairs:
    for p, q, size in UNARY:
        mechanism = UnaryEncoding(p, q, size)
        rows = unary_channel(p, q, size)
        yield mechanism.channel(), rows
        yield mechanism.epsilon, loss(rows)


@compared
def test_optimised_unary_encoding_loses_its_budget() -> Pairs:
    for epsilon, size in CASES[:2]:
        mechanism = UnaryEncoding.optimised(epsilon, size)
        yield loss(unary_channel(mechanism.p, mechanism.q, size)), epsilon
        yield mechanism.p, 0.5
        yield mechanism.domain_size, size


@compared
def test_symmetric_unary_encoding_keeps_and_switches_alike() -> Pairs:
    for epsilon, size in ((0.3, 2), (1.0, 3), (4.0, 10)):
        mechanism = UnaryEncoding.symmetric(epsilon, size)
        kept = np.exp(epsilon / 2) / (1 + np.exp(epsilon / 2))
        yield mechanism.p, kept
        yield mechanism.q, 1 - kept
        yield mechanism.miss_rate, 1 - kept


# Unbiased estimates


@compared
def test_unbiased_estimates_invert_the_channel_of_randomised_response() -> Pairs:
    more = ((1.0, 3, 60), (1.0, 4, 10**4), (1.0, 6, 10**6))
    for epsilon, size, reports in (*((*case, 60) for case in CASES), *more):
        mechanism = KaryRandomisedResponse(epsilon, size)
        tallies = drawn_tallies(size) * (reports // 60)
        total = int(tallies[0].sum())

        shares = tallies.T / total
        solved = np.linalg.solve(krr_channel(epsilon, size), shares).T
        yield frequency.unbiased(tallies, total, mechanism), solved


@compared
def test_the_mean_estimate_from_one_user_is_what_the_user_holds() -> Pairs:
    optimised = [UnaryEncoding.optimised(epsilon, size) for epsilon, size in CASES[:2]]
    for mechanism in (*(UnaryEncoding(*case) for case in UNARY), *optimised):
        size = mechanism.domain_size
        estimates = frequency.unbiased(bits(size), 1, mechanism)
        rows = unary_channel(mechanism.p, mechanism.q, size)
        yield rows.T @ estimates, np.eye(size)


@compared
def test_the_offset_of_an_estimate_fits_the_noise_of_its_reports() -> Pairs:
    for epsilon, size in ((0.5, 3), (1.0, 5), (3.0, 40)):
        p, q = krr_channel(epsilon, size)[0, :2]
        offset = q * (1 - q) / ((p - q) * (1 - p - q))
        yield frequency.normal_offset(KaryRandomisedResponse(epsilon, size)), offset


# Estimates that are distributions


@compared
def test_the_columns_above_the_water_are_found_by_trying_all_numbers_of_them() -> Pairs:
    heights = [0.5, 3.0, -2.0, 1.5, 1.4]
    falling = sorted(heights, reverse=True)
    for water, extra in ((0.25, 0.0), (2.0, 0.0), (9.0, 0.0), (0.0, 0.5), (0.0, 4.0)):
        sticking_out = []
        for number in range(1, len(heights) + 1):
            if (number + extra) * falling[number - 1] > sum(falling[:number]) - water:
                sticking_out.append(number)

        most = max(sticking_out)
        kept, lowest, total = frequency.water_filling(heights, water, extra)
        yield kept.item(), most
        yield lowest.item(), falling[most - 1]
        yield total.item(), sum(falling[:most])


@compared
def test_the_projection_is_the_nearest_distribution() -> Pairs:
    for spread, size in ((0.2, 3), (1.0, 5), (0.1, 400)):
        vectors = np.random.default_rng(2022).normal(1 / size, spread, (50, size))
        nearest = frequency.project_simplex(vectors)
        yield nearest.sum(axis=1), np.ones(50)
        yield np.minimum(nearest.min(axis=1), 0), np.zeros(50)

        # Seen from the projection, no vertex lies further towards the vector.
        away = vectors - nearest
        farthest_vertex = away.max(axis=1)
        yield farthest_vertex - (away * nearest).sum(axis=1), np.zeros(50)


@compared
def test_estimates_are_scaled_about_their_offset() -> Pairs:
    for epsilon, size, offset in ((3.0, 40, 0.1), (1.0, 5, 0.6), (0.5, 3, 2.0)):
        vectors = np.linalg.solve(krr_channel(epsilon, size), drawn_tallies(size).T / 60).T
        offset = max(offset, 0.01 - vectors.min())
        yield frequency.scale_simplex(vectors, offset), levelled(vectors + offset, offset)


# Estimates of maximum likelihood


@compared
def test_the_likeliest_distribution_under_randomised_response_is_found_by_bisection() -> Pairs:
    for epsilon, size in (*CASES, (1e-6, 2), (0.5, 300)):
        for factor in (1, 10**6):
            tallies = factor * drawn_tallies(size)
            likeliest = levelled(tallies, 1 / np.expm1(epsilon))
            yield likelihood.krr_mle(tallies, epsilon=epsilon), likeliest


@compared
def test_no_direction_raises_the_likelihood_of_a_channel_at_its_maximum() -> Pairs:
    tally = np.array([53, 52, 22, 14, 25, 19, 7, 8])
    rows = oue_channel(1.0, 3)
    estimate = likelihood.mle(rows, tally).estimate
    yield estimate.sum(), 1, 1e-6
    yield steepest(rows, tally, estimate), tally.sum(), 1e-6


@compared
def test_no_direction_raises_the_likelihood_of_reported_sets_at_its_maximum() -> Pairs:
    epsilon = 2.0
    users = 400
    once = np.ones(users, dtype=int)
    rng = np.random.default_rng(2022)
    for size in (6, 40):
        sent = (rng.random((users, size)) < np.linspace(0.2, 0.6, size)).astype(int)
        mechanism = UnaryEncoding(0.5, 1 / (np.exp(epsilon) + 1), size)
        estimate = likelihood.support_mle(sent, once, mechanism).estimate
        yield estimate.sum(), 1, 1e-5

        likelihoods = 1 + np.expm1(epsilon) * sent
        yield steepest(likelihoods, once, estimate), users, 1e-5


@compared
def test_the_gap_of_an_estimate_is_the_slope_of_the_likelihood_towards_the_best_vertex() -> Pairs:
    rows = krr_channel(1.0, 5)
    uniform = np.full(5, 0.2)
    step = 1e-4
    for tally in drawn_tallies(5)[:3]:
        slopes = []
        for vertex in np.eye(5):
            way = step * (vertex - uniform)
            above = np.log(rows @ (uniform + way)) @ tally
            below = np.log(rows @ (uniform - way)) @ tally
            slopes.append((above - below) / (2 * step))
        yield likelihood.certificate_gap(rows, tally, uniform), max(slopes), 1e-7
