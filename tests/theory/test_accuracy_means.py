"""Errors of means and counts: exact laws against brute force, and the limits of their arguments."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import integrate, stats

from ldpnb.accuracy import means
from ldpnb.mechanisms.means import OneBit


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
