"""Errors of means: reference values, exact laws against brute force, and the numbers of users that follow from them."""

import json
from itertools import product
from math import comb
from pathlib import Path

import flint
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from ldpnb.accuracy import histograms, means
from ldpnb.arithmetic import Symbol
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.rng import stream

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
FAILURE = 0.01
NAMED = {
    "RR_mean_var": lambda n, eps: means.warner_variance(eps, n),
    "onebit_var_worst": lambda n, m, eps: means.worst_variance(OneBit(eps, m), n),
    "local_laplace_var": lambda n, m, eps: means.worst_variance(LocalLaplace(eps, m), n),
    "central_laplace_err_quantile": lambda n, m, eps, beta: means.certain_error(CentralLaplace(eps, m), n, beta),
    "local_laplace_n_normal": lambda m, eps, alpha: means.users_needed(LocalLaplace(eps, m), alpha, FAILURE),
    "onebit_n_normal": lambda m, eps, alpha: means.users_needed(OneBit(eps, m), alpha, FAILURE),
}


@pytest.mark.parametrize("case", [c for c in CASES if c["fn"] in NAMED], ids=lambda c: c["fn"])
def test_reference_values(case: dict) -> None:
    assert NAMED[case["fn"]](**case["inputs"]) == pytest.approx(float(case["value"]), rel=1e-9)


def test_every_reference_of_the_lectures_means_is_met() -> None:
    prefixes = ("RR_mean", "onebit_var", "onebit_n", "local_laplace", "central_laplace")
    assert {c["fn"] for c in CASES if c["fn"].startswith(prefixes)} == set(NAMED)


CLOSED = {
    "worst variance of one bit": lambda e, n: means.worst_variance(OneBit(e, n), n),
    "of local noise": lambda e, n: means.worst_variance(LocalLaplace(e, n), n),
    "of a curator's": lambda e, n: means.worst_variance(CentralLaplace(e, n), n),
    "randomised response": means.warner_variance,
    "floor": means.one_bit_floor,
    "approximate": lambda e, n: means.approximate_bit_variance(e, 1 / n, n),
    "entropy": lambda e, n: means.laplace_report_bits(LocalLaplace(e, n), 1 / n),
    "Hoeffding's error": lambda e, n: means.certain_error(OneBit(e, n), n, 1 / n),
    "curator's error": lambda e, n: means.certain_error(CentralLaplace(e, n), n, 1 / n),
    "count of signs": lambda e, n: histograms.pure_variance(n / 3, users=n, mechanism=SignRandomiser(e, 5)),
    "as printed": lambda e, n: histograms.sign_variance(n / 3, users=n, bias=signs.calibrated_bias(e)),
    "loss of signs": lambda e, n: signs.exact_epsilon(1 / n) + signs.calibrated_bias(e),
    "curator's count": lambda e, n: histograms.central_laplace_count_variance(e, n),
    "worst count": lambda e, n: histograms.central_laplace_largest_error(e, n, 1 / n),
    "entropy of bits": lambda e, n: histograms.unary_report_bits(SignRandomiser(e, 5).p, 1 / n, n),
    "one bit": lambda e, n: OneBit(e).p - OneBit(e).q * OneBit(e).slope + OneBit(e, n).one_rate(n / 2),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_give_the_same_on_floats_balls_and_symbols(name: str) -> None:
    formula, (e, n) = CLOSED[name], sympy.symbols("e n", positive=True)
    number = formula(1.5, 7)
    assert abs(formula(flint.arb("1.5"), flint.arb(7)) - number) < 1e-12 * number
    symbol = formula(Symbol(e), Symbol(n)).expression
    assert float(symbol.subs({e: sympy.Rational(3, 2), n: 7})) == pytest.approx(float(number), rel=1e-12)


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


def test_the_worst_data_of_one_bit_lie_in_the_middle() -> None:
    for epsilon in (0.1, 1.0, 5.0, 50.0):
        middle = means.variance(OneBit(epsilon, 4.0), [2.0], [10])
        assert middle == pytest.approx(means.worst_variance(OneBit(epsilon, 4.0), 10), rel=1e-12)


def test_formulas_are_stable_at_both_ends() -> None:
    tiny, huge = 1e-6, 50.0
    assert means.warner_variance(tiny, 1) == pytest.approx(1e12, rel=1e-9)
    assert means.warner_variance(huge, 1) == pytest.approx(np.exp(-50), rel=1e-9)
    assert means.worst_variance(OneBit(tiny), 1) == pytest.approx(1e12, rel=1e-9)
    assert means.worst_variance(OneBit(huge), 1) == pytest.approx(0.25, rel=1e-12)
    assert means.approximate_bit_variance(tiny, 0.5, 1) == pytest.approx(0.25, rel=1e-9)


@pytest.mark.parametrize("users", [1, 2, 5, 30])
@pytest.mark.parametrize("threshold", [0.0, 0.4, 3.0, 12.0])
def test_tail_of_a_sum_of_laplace_noises_is_that_of_two_gammas(users: int, threshold: float) -> None:
    gamma = stats.gamma(users)
    tail, _ = integrate.quad(lambda x: gamma.pdf(x) * gamma.cdf(x - threshold), threshold, np.inf, epsabs=1e-13)
    assert means.laplace_sum_tail(users, threshold) == pytest.approx(2 * tail, rel=1e-7)


def test_tail_of_many_laplace_noises_is_normal_in_the_limit() -> None:
    users = 10**9
    exact = means.laplace_sum_tail(users, 2.0 * np.sqrt(2 * users))
    assert exact == pytest.approx(2 * stats.norm.sf(2.0), rel=1e-6)


def test_promised_success_is_met_in_simulation() -> None:
    mechanism = LocalLaplace(1.0, 1.0)
    users, runs = means.users_for_certain(mechanism, 0.1, FAILURE), 40_000
    sums = mechanism.sample_sums([0.3], [users], rng=stream("promise", seed=1), repetitions=runs)
    misses = (np.abs(mechanism.estimate(sums, users) - 0.3) > 0.1).mean()
    assert abs(misses - FAILURE) < 5.5 * np.sqrt(FAILURE / runs)


@pytest.mark.parametrize("users", [7, 40])
def test_worst_success_of_one_bit_counts_all_binomial_outcomes(users: int) -> None:
    bit = OneBit(0.9, 3.0)
    errors = np.abs(bit.estimate(np.arange(users + 1), users) - 1.5)
    for error in (0.2, 1.0, 2.0, errors[users // 2 + 3]):
        exact = sum(comb(users, ones) for ones in range(users + 1) if errors[ones] <= error * (1 + 1e-12)) / 2**users
        assert means.success(bit, users, error) == pytest.approx(exact, rel=1e-12)


def test_the_curators_number_of_users_leaves_the_failure_in_the_tails_of_its_noise() -> None:
    users = means.users_needed(CentralLaplace(0.5, 4.0), 0.01, FAILURE)
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
    assert means.laplace_report_bits(LocalLaplace(0.5, 4.0), resolution) == pytest.approx(entropy, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: means.warner_variance(0, 10), "epsilon must be > 0 and finite, got epsilon=0"),
        (lambda: means.warner_variance(1.0, 0), "users must be an integer >= 1, got users=0"),
        (lambda: means.worst_variance(LocalLaplace(1.0), 0.5), r"users must be an integer >= 1, got users=0\.5"),
        (lambda: means.one_bit_floor(-1.0, 4), r"upper must be > 0 and finite, got upper=-1\.0"),
        (lambda: means.approximate_bit_variance(1.0, 1.5, 4), r"delta must lie in \[0, 1\], got delta=1\.5"),
        (lambda: means.normal_quantile(0), r"failure must lie in \(0, 1\), got failure=0"),
        (lambda: means.laplace_sum_tail(3, -1.0), r"threshold must be >= 0 and finite, got threshold=-1\.0"),
        (lambda: means.users_needed(OneBit(1.0), 0.0, 0.01), r"error must be > 0 and finite, got error=0\.0"),
    ],
)
def test_bad_input_is_refused_by_name_rule_and_value(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
