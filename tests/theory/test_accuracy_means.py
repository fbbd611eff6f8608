"""Errors of means and counts: exact laws against brute force, and the limits of their arguments."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from ldpnb.accuracy import histograms, means
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.means import LocalLaplace, OneBit


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(1e-3, 30), st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_one_bit_variance_is_that_of_all_reports(epsilon: float, shares: list[float]) -> None:
    bit = OneBit(epsilon, 3.0)
    values = np.array(shares) * 3.0
    rates = bit.one_rate(values)
    bits = np.array(list(product((0, 1), repeat=len(shares))))
    chances = np.where(bits == 1, rates, 1 - rates).prod(axis=1)
    estimates = bit.estimate(bits.sum(axis=1), len(shares))
    variance = chances @ (estimates - values.mean()) ** 2
    assert means.variance(bit, values, np.ones(len(shares), int)) == pytest.approx(variance, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("users", [1, 2, 5, 30])
@pytest.mark.parametrize("threshold", [0.0, 0.4, 3.0, 12.0])
def test_tail_of_a_sum_of_laplace_noises_is_that_of_two_gammas(users: int, threshold: float) -> None:
    gamma = stats.gamma(users)
    tail, _ = integrate.quad(lambda x: gamma.pdf(x) * gamma.cdf(x - threshold), threshold, np.inf, epsabs=1e-13)
    assert means.laplace_sum_tail(users, threshold) == pytest.approx(2 * tail, rel=1e-7)


@pytest.mark.parametrize("users", [7, 40])
def test_worst_success_of_one_bit_counts_all_binomial_outcomes(users: int) -> None:
    bit = OneBit(0.9, 3.0)
    errors = np.abs(bit.estimate(np.arange(users + 1), users) - 1.5)
    for error in (0.2, 1.0, 2.0, errors[users // 2 + 3]):
        exact = sum(comb(users, ones) for ones in range(users + 1) if errors[ones] <= error * (1 + 1e-12)) / 2**users
        assert means.success(bit, users, error) == pytest.approx(exact, rel=1e-12)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(0.05, 4), st.floats(0, 0.9))
def test_no_unbiased_weights_beat_the_approximate_variance(epsilon: float, delta: float) -> None:
    kept = 1 / (1 + np.exp(-epsilon))
    zero = np.array([delta, (1 - delta) * kept, (1 - delta) * (1 - kept), 0.0])
    channel = np.stack([zero, zero[::-1]])
    t = np.tanh(epsilon / 2)
    best = np.array([-1, -t, t, 1]) / (2 * (delta + (1 - delta) * t**2)) + 0.5
    assert channel @ best == pytest.approx([0, 1])
    worst = (channel @ best**2 - np.array([0, 1])).max()
    assert means.approximate_bit_variance(epsilon, delta, 1) == pytest.approx(worst, rel=1e-9, abs=1e-12)
    free = np.linalg.svd(channel)[2][2:]
    for direction in (*free, *-free):
        assert (channel @ (best + 0.01 * direction) ** 2 - np.array([0, 1])).max() >= worst - 1e-12


def test_laplace_report_entropy_is_that_of_the_rounded_report() -> None:
    noise, resolution = stats.laplace(0, 8.0), 0.125
    edges = (np.arange(-4000, 4001) - 0.5) * resolution
    chances = np.diff(noise.cdf(edges))
    entropy = special.entr(chances).sum() / np.log(2)
    assert means.laplace_report_bits(LocalLaplace(0.5, 4.0), resolution) == pytest.approx(entropy, abs=1e-4)


def test_the_variance_of_counts_is_that_of_sampling_everybody() -> None:
    mechanism, counts = KaryRandomisedResponse(0.7, 5), np.array([0, 10, 60, 20, 10])
    everybody = SampledCounts(100, 1.0, mechanism).variance_realised_size(counts)
    assert histograms.pure_variance(counts, users=100, mechanism=mechanism) == pytest.approx(everybody, rel=1e-12)


@pytest.mark.parametrize(("users", "ones"), [(1, 0), (4, 1), (7, 7), (8, 4)])
def test_the_error_of_randomised_response_is_exceeded_as_seldom_as_asked(users: int, ones: int) -> None:
    for epsilon, failure in product((0.3, 2.0, 6.0), (0.3, 0.01)):
        bit, lies = OneBit(epsilon), np.arange(users + 1)
        kept = stats.binom.pmf(lies[: ones + 1], ones, bit.p)
        wrong = stats.binom.pmf(lies[: users - ones + 1], users - ones, bit.q)
        errors = np.abs(bit.estimate(np.arange(users + 1), users) - ones / users)
        law, error = np.convolve(kept, wrong), means.warner_error(epsilon, users, ones, failure)
        assert law[errors > error * (1 + 1e-9)].sum() <= failure + 1e-12
        assert law[errors >= error * (1 - 1e-9)].sum() > failure


@pytest.mark.parametrize("users", [1, 2, 5, 20])
def test_the_largest_constant_of_randomised_response_is_above_those_tried(users: int) -> None:
    largest, budgets = means.largest_warner_constant(users, 0.05), np.linspace(0.03, 11, 3000)
    tried = max(
        (budgets * np.sqrt(users) * means.warner_error(budgets, users, n, 0.05)).max() for n in range(users + 1)
    )
    assert tried <= largest <= tried * 1.01


def test_the_largest_constant_is_for_few_users() -> None:
    with pytest.raises(ValueError, match="users must be at most 200, got users=201"):
        means.largest_warner_constant(201, 0.01)
