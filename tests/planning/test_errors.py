"""Bounds on how often an estimate is off, and on what is released, hold and are tight."""

from itertools import combinations, product

import numpy as np
import pytest
from ask import alone, answer, candidate
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.accuracy import gaps, histograms, means, sampling, tails
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.planning import binomials
from ldpnb.planning.design import Design, Draw
from ldpnb.planning.errors import Bits
from ldpnb.planning.questions import Frequency, Gap, Mean
from ldpnb.planning.solve import plan

FAILURE = 0.05


def two_binomials(first: int, p: float, second: int, q: float) -> np.ndarray:
    return np.convolve(
        stats.binom.pmf(np.arange(first + 1), first, p), stats.binom.pmf(np.arange(second + 1), second, q)
    )


def missed(law: np.ndarray, expected: float, reach: float) -> float:
    return law[np.abs(np.arange(law.size) - expected) >= reach - 1e-9].sum()


@pytest.mark.parametrize(
    ("p", "q", "deviation"), [(0.7, 0.2, 0.15), (0.5, 0.1, 0.11), (0.9, 0.1, 0.08), (0.9, 0.5, 0.12)]
)
def test_two_rates_bound_the_enumerated_law_within_a_lattice_step(p: float, q: float, deviation: float) -> None:
    bits = 60
    exact, looser = (
        np.array([missed(two_binomials(h, p, bits - h, q), h * p + (bits - h) * q, reach) for h in range(bits + 1)])
        for reach in (bits * deviation, bits * deviation - 1)
    )
    holders = np.arange(bits + 1.0)
    bound = binomials.two_rates_exact(bits, holders, p, q, deviation)
    assert (bound >= exact * (1 - 1e-9)).all()
    assert (bound <= looser).all()
    chernoff = np.exp(-bits * binomials.two_rates_exponents(holders / bits, p, q, deviation)).sum(axis=0)
    assert (chernoff > bound).all()
    assert Bits(p, q, deviation, ends=True).failure(Draw(bits, 1.0), "exact") == pytest.approx(max(bound), rel=0.02)


def test_a_sample_is_the_hypergeometric_mixture() -> None:
    population, bits, p, q, deviation = 90, 45, 0.8, 0.3, 0.2
    for holders in (0, 20, 54, 90):
        expected, total, looser = bits * (q + holders / population * (p - q)), 0.0, 0.0
        for drawn in range(max(0, bits - population + holders), min(holders, bits) + 1):
            chance = stats.hypergeom.pmf(drawn, population, holders, bits)
            law = two_binomials(drawn, p, bits - drawn, q)
            total += chance * missed(law, expected, bits * deviation)
            looser += chance * missed(law, expected, bits * deviation - 1)
        bound = binomials.sampled_two_rates_exact(population, np.array([float(holders)]), bits, p, q, deviation)
        assert total * (1 - 1e-9) <= bound[0] <= looser
        assert holders != 54 or bound[0] == pytest.approx(total, rel=1e-9)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.lists(st.floats(0.02, 0.98), min_size=5, max_size=40), st.floats(0.25, 0.45))
def test_no_bits_of_a_given_mean_stray_more_than_equal_ones(rates: list[float], deviation: float) -> None:
    law = np.ones(1)
    for rate in rates:
        law = np.convolve(law, [1 - rate, rate])
    bits, mean = len(rates), float(np.mean(rates))
    bound = binomials.one_rate_exact(bits, np.array([mean]), deviation)
    assert bound >= missed(law, bits * mean, bits * deviation) * (1 - 1e-9)
    chernoff = np.exp(-bits * binomials.one_rate_exponents(np.array([mean]), deviation)).sum()
    assert chernoff >= missed(law, bits * mean, bits * deviation)


@pytest.mark.parametrize("deviation", [0.004, 0.02])
def test_bounds_are_ordered_and_the_normal_tail_is_near_the_exact_one(deviation: float) -> None:
    law, draw = Bits(0.7, 0.3, deviation, ends=True), Draw(20_000, 1.0)
    exact, chernoff, bernstein, hoeffding, normal = (
        law.failure(draw, tail) for tail in ("exact", "chernoff", "bernstein", "hoeffding", "normal")
    )
    assert exact < chernoff < bernstein < hoeffding
    assert normal == pytest.approx(exact, rel=0.2)


def test_bernsteins_tail_takes_the_furthest_a_bit_can_be_from_its_rate() -> None:
    law, draw = Bits(0.7, 0.2, 0.02, ends=True), Draw(1000, 1.0)
    (found,) = law.chances(np.zeros(1), draw=draw, tail="bernstein")
    assert found == pytest.approx(tails.bernstein(1000 * 0.16, 0.8, 20.0), rel=1e-12)


def test_normal_tails_have_the_audited_variances() -> None:
    users, error, epsilon = 10_000, 0.02, 1.0
    mechanism = KaryRandomisedResponse(epsilon, 5)
    for rate, design in ((1.0, Design()), (0.3, Design("srs", 0.3))):
        question = Frequency(users=users, epsilon=epsilon, error=error, values=5, failure=0.5, design=design)
        law = candidate(question, "k-RR").errors(mechanism, question)
        shares = np.array([0.0, 0.25, 1.0])
        own = law.variances(shares, design.draw(users)) / (users * rate * (mechanism.p - mechanism.q) ** 2)
        audited = sampling.SampledCounts(users, rate, mechanism).variance_ratio(shares * users) / users**2
        # of the sampled shares' variance the audited one leaves out N / (N - 1)
        left_out = shares * (1 - shares) * (1 / rate - 1) / users / (users - 1)
        assert own == pytest.approx(audited + left_out, rel=1e-12)
    pure = histograms.pure_variance([0, users], users=users, mechanism=mechanism) / users**2
    worst = float(stats.norm.isf(FAILURE / 2) * np.sqrt(pure.max()))
    found = plan(Frequency(users=users, epsilon=epsilon, values=5, failure=FAILURE), tail="normal")
    assert answer(found, "k-RR").value == pytest.approx(worst, rel=1e-6)


def test_means_agree_with_the_audited_numbers_of_users() -> None:
    known, asked = {"epsilon": 0.7, "error": 0.3, "failure": 0.01, "low": 2.0, "high": 10.0}, (0.3, 0.01)
    bit, noise, curator = (kind(0.7, 8.0) for kind in (OneBit, LocalLaplace, CentralLaplace))
    best, hoeffding, normal = (plan(Mean(**known), tail=tail) for tail in ("best", "hoeffding", "normal"))
    assert answer(best, "local Laplace").value == means.users_for_certain(noise, *asked)
    assert answer(best, "central Laplace").value == np.ceil(means.users_needed(curator, *asked))
    assert answer(hoeffding, "1-bit").value == np.ceil(means.users_for_certain(bit, *asked))
    assert answer(normal, "1-bit").value == np.ceil(means.users_needed(bit, *asked))
    assert answer(normal, "local Laplace").value == np.ceil(means.users_needed(noise, *asked))


@pytest.mark.parametrize(
    ("name", "tail", "audited"),
    [
        *(("M_R", tail, DiscretisedMeans.calibrated) for tail in ("hoeffding", "bernstein", "normal")),
        *(("M_L, k = 2", tail, LaplaceMeans.calibrated) for tail in ("chernoff", "normal")),
        ("signed bit", "bernstein", SignedBit),
    ],
)
def test_gaps_agree_with_the_audited_bounds_for_equal_groups(name: str, tail: str, audited) -> None:
    question = Gap(users=40_000, epsilon=1.2, error=0.04)
    mechanism = audited(1.2, (20_000, 20_000)) if audited is SignedBit else audited(1.2)
    gap = gaps.GroupGap.of_halves(mechanism, 40_000)
    assert alone(question, name, tail).value == pytest.approx(gap.failure(0.08, tail), rel=1e-6)
    if name != "M_L, k = 2":  # the lattice of fair signs
        exact = gap.failure(0.08, "exact")
        assert exact <= alone(question, name).value <= 1.05 * exact


def moments(mechanism, weights: np.ndarray, values: np.ndarray, tilt: float) -> np.ndarray:
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
    question = Gap(sizes=(300, 700), epsilon=1.5, error=0.1, failure=0.5)
    one = candidate(question, name)
    mechanism = one.mechanism(1.5, question)
    law, shares, weights = one.errors(mechanism, question), sizes / sizes.sum(), sizes.min() / sizes
    complete, drawn = [], []
    for values in map(np.array, product(np.linspace(-1, 1, 41), repeat=2)):
        sent, centre = moments(mechanism, weights, values, tilt), tilt * shares @ (values * weights) * mechanism.gain
        complete.append(shares @ np.log(sent) - centre)
        drawn.append(np.log(shares @ sent) - centre)
    for found, everyone in ((max(complete), True), (max(drawn), False)):
        assert found <= law.cumulant(tilt, everyone) * (1 + 1e-12)
        assert found == pytest.approx(law.cumulant(tilt, everyone), rel=1e-3)


def released(population: tuple[int, ...], drawn: int, mechanism: KaryRandomisedResponse) -> np.ndarray:
    """Law of the number of ones reported by a simple random sample of given size."""
    samples = list(combinations(population, drawn))
    return sum(two_binomials(sum(s), mechanism.p, drawn - sum(s), mechanism.q) for s in samples) / len(samples)


def test_what_a_secret_sample_releases_loses_no_more_than_said_under_either_relation() -> None:
    mechanism, users, drawn = KaryRandomisedResponse(1.7, 2), 5, 2
    everyone = list(product((0, 1), repeat=users))
    laws = {p: released(p, drawn, mechanism) for p in [*everyone, *product((0, 1), repeat=users - 1)]}

    def loss(neighbours: str) -> float:
        pairs = [
            (p, p[:i] + other + p[i + 1 :])
            for p in everyone
            for i in range(users)
            for other in ([(0,), (1,)] if neighbours == "replacement" else [()])
        ]
        return max(float(np.abs(np.log(laws[one] / laws[other])).max()) for one, other in pairs)

    for neighbours in ("replacement", "deletion"):
        said = Design("srs", drawn / users, neighbours=neighbours).release_loss(epsilon=1.7, users=users)
        assert loss(neighbours) <= said * (1 + 1e-12)
    assert loss("replacement") > 0.75 * said
