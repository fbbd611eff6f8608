"""Laws and bounds of errors hold at the worst data, and are tight."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from ask import alone, answer, estimates, sampled
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.accuracy import gaps, means
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.registry import GAP
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.laws import Linear, curator_failure
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Gap, Mean
from ldpnb.planning.reports import Reports
from ldpnb.rng import stream
from ldpnb.surveys import binomials


def law_of_ones(population: int, holders: int, bits: int, p: float, q: float) -> np.ndarray:
    """Chances of 0 to `bits` ones in a sample, by an inverse Fourier transform over all numbers of holders in it."""
    number = np.arange(max(0, bits + holders - population), min(bits, holders) + 1)
    masses = stats.hypergeom.pmf(number, population, holders, bits)
    number, masses = number[masses > 1e-18], masses[masses > 1e-18]
    turn = np.exp(-2j * np.pi * np.arange(bits + 1) / (bits + 1))[:, None]
    logs = number * np.log(1 - p + p * turn) + (bits - number) * np.log(1 - q + q * turn)
    return np.fft.ifft((masses * np.exp(logs)).sum(axis=1)).real


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 5.0, 6.0, 8.0, 20.0])
@pytest.mark.parametrize(("population", "bits"), [(50_000, 2_000), (2_400, 2_000)])
def test_the_tail_of_a_sample_is_exact_however_little_its_reports_are_randomised(
    population: int, bits: int, epsilon: float
) -> None:
    p, q, holders = 1 / (1 + np.exp(-epsilon)), 1 / (1 + np.exp(epsilon)), population // 3
    law = law_of_ones(population, holders, bits, p, q)
    number = np.arange(bits + 1)
    spread = np.sqrt(law @ number**2 - (law @ number) ** 2)
    for least in (int(bits * (q + (p - q) / 3) + z * spread) for z in (1.0, 2.6, 4.0)):
        tail = binomials.sampled_tail(least, bits, population, holders, p, q)
        assert tail == pytest.approx(law[least:].sum(), rel=1e-8)


def missed(law: np.ndarray, expected: float, reach: float) -> float:
    return law[np.abs(np.arange(law.size) - expected) >= reach - 1e-9].sum()


@pytest.mark.parametrize(("population", "bits"), [(60, 60), (90, 45)])
@pytest.mark.parametrize(
    ("p", "q", "deviation"),
    [(0.7, 0.2, 0.15), (0.5, 0.1, 0.11), (0.9, 0.1, 0.08), (0.9, 0.5, 0.12), (0.8, 0.3, 0.2)],
)
def test_two_rates_bound_the_law_of_a_sample_within_a_lattice_step(
    population: int, bits: int, p: float, q: float, deviation: float
) -> None:
    holders = np.arange(population + 1.0)
    bound = binomials.two_rates_exact(population, holders, bits, p, q, deviation)
    for held, chance in enumerate(bound):
        law, expected = (
            law_of_ones(population, held, bits, p, q),
            bits * (q + held / population * (p - q)),
        )
        exact, looser = (
            missed(law, expected, reach) for reach in (bits * deviation, bits * deviation - 1)
        )
        assert exact * (1 - 1e-9) <= chance <= looser
    reports = Reports(p, q, p - q, 1 - p, ends=True)
    whole = Linear(reports).failure(
        sampled((population,), (bits,)), deviation / (p - q), "guaranteed"
    )
    assert whole == (pytest.approx(max(bound), rel=0.02), "exact")


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.lists(st.floats(0.02, 0.98), min_size=5, max_size=40), st.floats(0.25, 0.45))
def test_no_bits_of_a_given_mean_stray_more_than_equal_ones(
    rates: list[float], deviation: float
) -> None:
    sent = np.ones(1)
    for rate in rates:
        sent = np.convolve(sent, [1 - rate, rate])
    bits, mean = len(rates), float(np.mean(rates))
    bound = binomials.one_rate_exact(bits, np.array([mean]), deviation)
    assert bound >= missed(sent, bits * mean, bits * deviation) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("population", "drawn", "scale"), [(12, 5, 0.8), (60, 20, 0.1), (60, 20, 3.0)]
)
def test_a_curators_error_is_the_mixture_over_all_samples(
    population: int, drawn: int, scale: float
) -> None:
    holders, error = np.arange(population + 1.0), 0.23
    found = binomials.sampled_noisy_exact(population, holders, drawn, error, scale)
    ones = np.arange(drawn + 1)
    for held, chance in zip(holders, found, strict=True):
        away = ones - drawn * held / population
        sent = stats.hypergeom.pmf(ones, population, int(held), drawn)
        tail = stats.laplace.sf(drawn * error - away, 0, scale) + stats.laplace.cdf(
            -drawn * error - away, 0, scale
        )
        assert chance == pytest.approx(sent @ tail, rel=1e-9)
    assert curator_failure(population, drawn, error, scale / drawn)[0] == pytest.approx(found.max())


def test_a_wide_law_is_thinned_to_the_safe_side() -> None:
    population, drawn, error = 10**7, 4 * 10**6, 0.0004
    for scale in (1.0, 500.0):
        (found,) = binomials.sampled_noisy_exact(population, np.array([5e6]), drawn, error, scale)
        rng = stream("thinned", scale, seed=1)
        sums = rng.normal(0, math.sqrt(drawn * 0.25 * 0.6), 200_000) + rng.laplace(
            0, scale, 200_000
        )
        simulated = float(np.mean(np.abs(sums) >= drawn * error))
        slack = 5 * math.sqrt(simulated / 200_000)
        assert simulated - slack <= found <= simulated * 1.03 + slack


BIT = Reports.of(KaryRandomisedResponse(1.5, 2), ends=False)
SAMPLES = [
    sampled((300, 200), (60, 40)),
    sampled((300, 20), (300, 4)),
    ClusterDesign(12, 6).at(5, BIT),
    ClusterDesign(12, 6, take=4).at(11, BIT),
    ClusterDesign(12, 6, take=4).at(5, BIT, response=0.8),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@pytest.mark.parametrize(
    "reports", [BIT, Reports(scale=0.5), Reports()], ids=["bits", "Laplace", "values"]
)
def test_exponents_bound_the_moments_of_the_worst_estimates(sample: Any, reports: Reports) -> None:
    """At large tilts, over values at an end in some of the parts, or of the people in each."""
    rng = stream("exponents", seed=3)
    for kind in (
        lambda size: np.arange(size) % 2,
        lambda size: np.full(size, 0.5),
        lambda size: np.arange(size) < size / 3,
    ):
        if isinstance(sample, ClusterDesign):
            values = np.array(
                [kind(6) if g % 3 else np.full(6, g % 2) for g in range(12)], dtype=float
            )
        else:
            values = np.concatenate([kind(size) for size in sample.sizes]).astype(float)
        found = estimates(sample, reports, values, rng, 1000) - values.mean()
        for tilt in (3.0, 10.0):
            moment = np.exp(tilt * found)
            slack = 4 * moment.std() / math.sqrt(found.size)
            assert moment.mean() - slack <= math.exp(sample.exponent(np.array([tilt]), reports)[0])


def test_means_agree_with_the_audited_numbers_of_users() -> None:
    known, asked = (
        {"epsilon": 0.7, "error": 0.3, "failure": 0.01, "low": 2.0, "high": 10.0},
        (0.3, 0.01),
    )
    bit, noise, curator = (kind(0.7, 8.0) for kind in (OneBit, LocalLaplace, CentralLaplace))
    best, normal = (plan(Mean(**known, tail=tail)) for tail in ("guaranteed", "normal"))
    assert answer(best, "local Laplace").value == means.users_for_certain(noise, *asked)
    assert answer(best, "central Laplace").value == np.ceil(means.users_needed(curator, *asked))
    assert answer(normal, "1-bit").value == np.ceil(means.users_needed(bit, *asked))
    assert answer(normal, "local Laplace").value == np.ceil(means.users_needed(noise, *asked))


@pytest.mark.parametrize(
    ("name", "tail", "audited"),
    [
        ("M_R", "normal", DiscretisedMeans.calibrated),
        *(("M_L, k = 2", tail, LaplaceMeans.calibrated) for tail in ("chernoff", "normal")),
        ("signed bit", "normal", SignedBit),
    ],
)
def test_gaps_agree_with_the_audited_bounds_for_equal_groups(
    name: str, tail: str, audited: Any
) -> None:
    question = Gap(
        count=40_000, epsilon=1.2, error=0.04, tail="normal" if tail == "normal" else "guaranteed"
    )
    mechanism = audited(1.2, (20_000, 20_000)) if audited is SignedBit else audited(1.2)
    gap = gaps.GroupGap.of_halves(mechanism, 40_000)
    assert alone(question, name).value == pytest.approx(gap.failure(0.08, tail), rel=1e-6)
    if name != "M_L, k = 2":  # the lattice of fair signs
        exact = gap.failure(0.08, "exact")
        assert (
            exact <= alone(Gap(count=40_000, epsilon=1.2, error=0.04), name).value <= 1.05 * exact
        )


def moments(mechanism: Any, weights: np.ndarray, values: np.ndarray, tilt: float) -> np.ndarray:
    """Moment generating functions of a report of each group, by listing what may be sent."""
    if isinstance(mechanism, DiscretisedMeans):
        up = (1 + mechanism.sharpness * values) / 2
        kept = up * np.exp(tilt * weights) + (1 - up) * np.exp(-tilt * weights)
        noise = np.cosh(tilt * weights)
    else:
        noise = 1 / (1 - (tilt * weights * mechanism.kept_scale) ** 2)
        kept = np.exp(tilt * weights * values) * noise
    return mechanism.keep * kept + mechanism.move * noise[::-1]


@pytest.mark.parametrize("name", ["M_R", "M_L, k = 2"])
def test_no_values_have_larger_moments_than_the_cumulants_say(name: str) -> None:
    sizes, tilt = np.array([300, 700]), 0.2
    question = Gap(count=1000, shares=(0.3, 0.7), epsilon=1.5, error=0.1, failure=0.5)
    mechanism = GAP[name](1.5, (300, 700))
    found = question.with_value("mechanism", name).law
    shares, weights = sizes / sizes.sum(), sizes.min() / sizes
    centred = []
    for values in map(np.array, product(np.linspace(-1, 1, 41), repeat=2)):
        sent, centre = (
            moments(mechanism, weights, values, tilt),
            tilt * shares @ (values * weights) * mechanism.gain,
        )
        centred.append(shares @ np.log(sent) - centre)
    assert max(centred) == pytest.approx(found.cumulant(tilt), rel=1e-3)
    assert max(centred) <= found.cumulant(tilt) * (1 + 1e-12)


def test_no_number_of_holders_is_worse_for_a_curator_than_those_that_are_tried() -> None:
    rng = np.random.default_rng(2)
    for _ in range(25):
        people, epsilon = int(rng.integers(601, 4000)), float(np.exp(rng.uniform(-1, 4)))
        number = int(rng.integers(5, people))
        sd = math.sqrt(0.25 / number * (1 - number / people))
        error = float(sd * rng.uniform(1.3, 4) + rng.uniform(0.5, 4) / (number * epsilon))
        all_ = binomials.sampled_noisy_exact(
            people, np.arange(people + 1.0), number, error, 1 / epsilon
        )
        assert curator_failure(people, number, error, 1 / epsilon / number)[0] == pytest.approx(
            all_.max(), rel=1e-4
        )


@pytest.mark.parametrize(
    ("people", "number", "epsilon", "error"), [(10**6, 4, 20, 0.595), (50_000, 32, 20, 0.407)]
)
def test_a_curator_s_worst_share_is_below_a_half_where_the_error_is_large(
    people: int, number: int, epsilon: float, error: float
) -> None:
    holders = np.unique(np.linspace(0, people // 2, 20_001).astype(int)).astype(float)
    worst = binomials.sampled_noisy_exact(people, holders, number, error, 1 / epsilon).max()
    assert curator_failure(people, number, error, 1 / epsilon / number)[0] >= worst * (1 - 1e-9)
