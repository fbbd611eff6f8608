"""Errors of means: reference values, exact laws against brute force, and the numbers of users that follow from them."""

import json
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from ldpnb.accuracy import mean_tails, means
from ldpnb.mechanisms.means import LocalLaplace, OneBit
from ldpnb.rng import stream

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
FAILURE = 0.01
NAMED = {
    "RR_mean_var": lambda n, eps: means.warner_variance(eps, n),
    "onebit_var_worst": lambda n, m, eps: means.one_bit_worst_variance(eps, m, n),
    "local_laplace_var": lambda n, m, eps: means.local_laplace_variance(eps, m, n),
    "central_laplace_err_quantile": lambda n, m, eps, beta: mean_tails.central_laplace_error(eps, m, n, beta),
    "local_laplace_n_normal": lambda m, eps, alpha: mean_tails.local_laplace_clients(eps, m, alpha, FAILURE),
    "onebit_n_normal": lambda m, eps, alpha: mean_tails.one_bit_clients(eps, m, alpha, FAILURE),
}


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] in NAMED], ids=lambda c: c["fn"])
def test_reference_values(case: dict) -> None:
    assert NAMED[case["fn"]](**case["inputs"]) == pytest.approx(float(case["value"]), rel=1e-9)


def test_every_reference_of_the_lectures_means_is_met() -> None:
    prefixes = ("RR_mean", "onebit_var", "onebit_n", "local_laplace", "central_laplace")
    assert {c["fn"] for c in CASES if c["fn"].startswith(prefixes)} == set(NAMED)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.floats(1e-3, 30), st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_one_bit_variance_is_that_of_all_reports(epsilon: float, shares: list[float]) -> None:
    upper, bit = 3.0, OneBit(epsilon, 3.0)
    values = np.array(shares) * upper
    rates = bit.one_rate(values)
    bits = np.array(list(product((0, 1), repeat=len(shares))))
    chances = np.where(bits == 1, rates, 1 - rates).prod(axis=1)
    estimates = bit.estimate(bits.sum(axis=1), len(shares))
    variance = chances @ (estimates - values.mean()) ** 2
    assert means.one_bit_variance(values, np.ones(len(shares), int), epsilon=epsilon, upper=upper) == pytest.approx(
        variance, rel=1e-6, abs=1e-12
    )


def test_one_bit_on_the_ends_has_warners_variance_and_never_exceeds_its_worst() -> None:
    for epsilon in (0.1, 1.0, 5.0, 50.0):
        ends = means.one_bit_variance([0, 4.0], [3, 7], epsilon=epsilon, upper=4.0)
        assert ends == pytest.approx(16 * means.warner_variance(epsilon, 10), rel=1e-9)
        middle = means.one_bit_variance([2.0], [10], epsilon=epsilon, upper=4.0)
        assert middle == pytest.approx(means.one_bit_worst_variance(epsilon, 4.0, 10), rel=1e-12)
        assert ends <= middle


def test_formulas_are_stable_at_both_ends() -> None:
    tiny, huge = 1e-6, 50.0
    assert means.warner_variance(tiny, 1) == pytest.approx(1e12, rel=1e-9)
    assert means.warner_variance(huge, 1) == pytest.approx(np.exp(-50), rel=1e-9)
    assert means.one_bit_worst_variance(tiny, 1.0, 1) == pytest.approx(1e12, rel=1e-9)
    assert means.one_bit_worst_variance(huge, 1.0, 1) == pytest.approx(0.25, rel=1e-12)
    assert means.approximate_bit_variance(tiny, 0.5, 1) == pytest.approx(0.25, rel=1e-9)


def test_the_floor_is_the_limit_of_the_worst_error() -> None:
    assert means.one_bit_floor(3.0, 900) ** 2 == pytest.approx(means.one_bit_worst_variance(50.0, 3.0, 900), rel=1e-12)


def test_one_bit_beats_laplace_exactly_below_the_crossing() -> None:
    root = optimize.brentq(
        lambda e: means.one_bit_worst_variance(e, 1.0, 1) - means.local_laplace_variance(e, 1.0, 1), 0.5, 5, xtol=1e-13
    )
    assert means.one_bit_crossing() == pytest.approx(root, rel=1e-11)
    assert means.one_bit_crossing() == pytest.approx(2.3242, abs=5e-5)


@pytest.mark.parametrize("users", [1, 2, 5, 30])
@pytest.mark.parametrize("threshold", [0.0, 0.4, 3.0, 12.0])
def test_tail_of_a_sum_of_laplace_noises_is_that_of_two_gammas(users: int, threshold: float) -> None:
    gamma = stats.gamma(users)
    tail, _ = integrate.quad(lambda x: gamma.pdf(x) * gamma.cdf(x - threshold), threshold, np.inf, epsabs=1e-13)
    assert mean_tails.laplace_sum_tail(users, threshold) == pytest.approx(2 * tail, rel=1e-7)


def test_tail_of_many_laplace_noises_is_normal_in_the_limit() -> None:
    users = 10**9
    exact = mean_tails.laplace_sum_tail(users, 2.0 * np.sqrt(2 * users))
    assert exact == pytest.approx(2 * stats.norm.sf(2.0), rel=1e-6)


def test_weights_of_the_tail_are_the_stated_binomials() -> None:
    users, threshold = 6, 2.5
    terms = [
        comb(2 * users - k - 1, users - 1) * 2.0 ** (k - 2 * users) * stats.gamma(k).sf(threshold)
        for k in range(1, users + 1)
    ]
    assert mean_tails.laplace_sum_tail(users, threshold) == pytest.approx(2 * sum(terms), rel=1e-12)


def test_exact_number_of_users_is_the_smallest() -> None:
    for epsilon, upper, error in ((1.0, 1.0, 0.1), (0.5, 2.0, 1.0), (3.0, 1.0, 5.0), (1.0, 1.0, 3.0)):
        users = mean_tails.local_laplace_clients_exact(epsilon, upper, error, FAILURE)
        assert mean_tails.local_laplace_success(epsilon, upper, users, error) >= 1 - FAILURE
        assert users == 1 or mean_tails.local_laplace_success(epsilon, upper, users - 1, error) < 1 - FAILURE


def test_promised_success_is_met_in_simulation() -> None:
    mechanism, users = LocalLaplace(1.0, 1.0), mean_tails.local_laplace_clients_exact(1.0, 1.0, 0.1, FAILURE)
    runs = 40_000
    sums = mechanism.sample_sums([0.3], [users], rng=stream("promise", seed=1), repetitions=runs)
    misses = (np.abs(mechanism.estimate(sums, users) - 0.3) > 0.1).mean()
    assert abs(misses - FAILURE) < 5.5 * np.sqrt(FAILURE / runs)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_hoeffding_guarantees_what_the_exact_law_confirms(epsilon: float) -> None:
    for users in (10, 400, 10_001):
        error = mean_tails.one_bit_hoeffding_error(epsilon, 2.0, users, FAILURE)
        assert mean_tails.one_bit_worst_success(epsilon, 2.0, users, error) >= 1 - FAILURE
        assert mean_tails.normal_error(means.one_bit_worst_variance(epsilon, 2.0, users), FAILURE) < error
    clients = mean_tails.one_bit_clients_hoeffding(epsilon, 2.0, 0.1, FAILURE)
    assert mean_tails.one_bit_hoeffding_error(epsilon, 2.0, int(np.ceil(clients)), FAILURE) <= 0.1


@pytest.mark.parametrize("users", [7, 40])
def test_worst_success_of_one_bit_counts_all_binomial_outcomes(users: int) -> None:
    bit = OneBit(0.9, 3.0)
    errors = np.abs(bit.estimate(np.arange(users + 1), users) - 1.5)
    for error in (0.2, 1.0, 2.0, errors[users // 2 + 3]):
        exact = sum(comb(users, ones) for ones in range(users + 1) if errors[ones] <= error * (1 + 1e-12)) / 2**users
        assert mean_tails.one_bit_worst_success(0.9, 3.0, users, error) == pytest.approx(exact, rel=1e-12)


def test_error_of_central_laplace_and_its_number_of_users_invert_each_other() -> None:
    users = mean_tails.central_laplace_clients(0.5, 4.0, 0.01, FAILURE)
    error = mean_tails.central_laplace_error(0.5, 4.0, int(np.ceil(users)), FAILURE)
    assert error == pytest.approx(0.01, rel=1 / users)
    assert stats.laplace(0, 4.0 / 0.5).sf(users * 0.01) * 2 == pytest.approx(FAILURE, rel=1e-9)


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
    assert means.laplace_report_bits(0.5, 4.0, resolution) == pytest.approx(entropy, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: means.warner_variance(0, 10), "epsilon must be > 0 and finite, got epsilon=0"),
        (lambda: means.warner_variance(1.0, 0), "clients must be an integer >= 1, got clients=0"),
        (lambda: means.one_bit_floor(-1.0, 4), r"upper must be > 0 and finite, got upper=-1\.0"),
        (lambda: means.approximate_bit_variance(1.0, 1.5, 4), r"delta must lie in \[0, 1\], got delta=1\.5"),
        (lambda: mean_tails.normal_quantile(0), r"failure must lie in \(0, 1\), got failure=0"),
        (lambda: mean_tails.laplace_sum_tail(3, -1.0), r"threshold must be >= 0 and finite, got threshold=-1\.0"),
        (lambda: mean_tails.one_bit_clients(1.0, 1.0, 0.0, 0.01), r"error must be > 0 and finite, got error=0\.0"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
