"""Numbers that once lost their digits at the ends of their range, each against many digits or a
closed form.
"""

import itertools

import flint
import mpmath as mp
import numpy as np
import pytest

from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.histograms import pure_variance
from ldpnb.accuracy.means import largest_warner_constant
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.estimators.frequency import unbiased
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.biswas2022.formulas import hajek
from ldpnb.papers.biswas2022.formulas.distances import exact_total_variation
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.bun2022.formulas import clusters, rounding, sizes, unequal
from ldpnb.papers.bun2022.formulas.random_size import random_size_loss
from ldpnb.papers.lopuhaa2020.formulas.bayes import krr_posterior, krr_posterior_saddle
from ldpnb.papers.lopuhaa2020.formulas.information import unbiased_frequency_error
from ldpnb.privacy import hockey_stick, lemmas
from ldpnb.privacy.blanket import Blanket
from ldpnb.privacy.shuffling import closed_form


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 600.0])
@pytest.mark.parametrize("rates", [(1.0, 1e-12, 0.3), (1e-9, 3e-6, 2e-11), (1.0, 1.0, 1 - 1e-12)])
def test_moments_of_the_ratio_are_those_of_every_sample(
    rates: tuple[float, ...], epsilon: float
) -> None:
    holders, e = (1, 0, 1), mp.exp(epsilon)
    p, q = e / (e + 4), 1 / (e + 4)
    total = mean = square = mp.mpf(0)
    for sample in itertools.product((0, 1), repeat=3):
        if any(sample):
            chance = mp.fprod(r if s else 1 - mp.mpf(r) for s, r in zip(sample, rates, strict=True))
            weights = [s / mp.mpf(r) for s, r in zip(sample, rates, strict=True)]
            share = mp.fsum(w * h for w, h in zip(weights, holders, strict=True)) / mp.fsum(weights)
            noise = mp.fsum(
                w * w * (p * (1 - p) if h else q * (1 - q))
                for w, h in zip(weights, holders, strict=True)
            )
            total, mean = total + chance, mean + chance * 3 * share
            square += chance * 9 * (noise / (mp.fsum(weights) * (p - q)) ** 2 + share * share)
    mean, square = mean / total, square / total
    survey = PersonalRates([1, 1, 1], rates, KaryRandomisedResponse(epsilon, 5))
    with mp.workdps(700):
        assert hajek.mean_hajek(survey, holders) == pytest.approx(float(mean), rel=1e-11)
    assert hajek.variance_hajek(survey, holders) == pytest.approx(
        float(square - mean**2), rel=1e-11
    )


@pytest.mark.parametrize(
    ("share", "epsilon", "rate"),
    [
        (0.5, 1e-8, 0.3),
        (0.3, 1e-8, 0.3),
        (0.3 + 1e-12, 1e-3, 0.3),
        (0.3, 5.0, 0.3),
        (1 - 1e-9, 2.0, 1 - 2e-9),
    ],
)
def test_the_critical_cluster_keeps_its_digits_where_share_and_rate_are_close(
    share: float, epsilon: float, rate: float
) -> None:
    s, e, p = mp.mpf(share), mp.mpf(epsilon), mp.mpf(rate)
    exact = (1 - mp.log(mp.expm1((1 - s) * e) / -mp.expm1(-s * e) * p / (1 - p)) / e) / 2
    actual = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
    assert actual == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-4, 1.0, 50.0])
def test_total_variation_of_laplace_means_keeps_its_digits(epsilon: float) -> None:
    e, mechanism = mp.mpf(epsilon), LaplaceMeans.calibrated(epsilon)
    keep, near = mp.exp(e / 2) / (mp.exp(e / 2) + 1), mp.exp(-e / 2)
    # kept reports exceed those of the other value above 0, and moved ones nowhere, being e^(-eps/2)
    # of them below 0
    value, group = keep * (1 - near), keep * (1 - near / 2) - (1 - keep) / 2
    assert hockey_stick.total_variation(mechanism) == pytest.approx(
        float(max(value, group)), rel=1e-14
    )
    laws = [(1.0, 1.0, mechanism.kept_scale)], [(1.0, -1.0, mechanism.kept_scale)]
    assert hockey_stick.law_delta(*laws, 0.0) == pytest.approx(float(1 - near), rel=1e-14)


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 40.0, 120.0])
@pytest.mark.parametrize(
    "sizes", [(5, 5), (10**7, 10**7 + 1, 3), (10**12, 3_584_912_846)]
)  # with squares beyond 64 bits
def test_variances_of_gaps_keep_their_digits_where_all_values_are_extreme(
    sizes: tuple[int, ...], epsilon: float
) -> None:
    users, smaller, moments = sum(sizes), min(sizes[:2]), (1.0, 1 - 1e-9)
    with mp.workdps(150):
        t, own = mp.tanh(mp.mpf(epsilon) / 2), list(zip(sizes, map(mp.mpf, moments), strict=False))
        bit = (users / t**2 - sum(mp.mpf(smaller) ** 2 / n * nu2 for n, nu2 in own)) / smaller**2
        e = mp.exp(epsilon)
        a, moved = e / (e + len(sizes) - 1), 1 / (e + len(sizes) - 1)
        groups = sum(
            (1 - a * t**2 * nu2 + mp.mpf(users - n) / n * moved / a) / (a * t**2 * n)
            for n, nu2 in own
        )
    pairs = (
        (SignedBit(epsilon, sizes), bit),
        (DiscretisedMeans(epsilon, epsilon, len(sizes)), groups),
    )
    for mechanism, variance in pairs:
        assert GroupGap(mechanism, sizes).variance(moments) == pytest.approx(
            float(variance), rel=1e-14, abs=0
        )


@pytest.mark.parametrize("epsilon", [300.0, 690.0, 700.0, 709.0])
@pytest.mark.parametrize("tallies", [[5, 0, 2], [1_000_000, 3, 3]])
def test_the_saddle_point_stands_at_the_largest_budgets(tallies: list[int], epsilon: float) -> None:
    actual = krr_posterior_saddle(tallies, 0.5, epsilon=epsilon).distribution
    share = (np.array(tallies) + 0.5) / (sum(tallies) + 1.5)  # nobody lies
    assert actual == pytest.approx(share, rel=1e-9)
    if sum(tallies) < 100:
        assert krr_posterior(tallies, 0.5, epsilon=epsilon).distribution == pytest.approx(
            share, rel=1e-9
        )


def test_a_part_of_a_record_is_read_as_it_is_written() -> None:
    assert (
        rounding.nearest_rounding_loss(49, 0.29, 0.5) == 0.5
    )  # 29 % of 50 are 14.5, in floats less
    assert rounding.nearest_rounding_loss(10, 4.57e-8, 700.0) == 0.0
    half = 5 * 10**14  # of which that is half a record more than 25e13; the nearest float is less
    loss = lemmas.inserted_record_loss(half // 2 + 1, half, 0.5)
    assert rounding.nearest_rounding_loss(half, 0.500000000000001, 0.5) == pytest.approx(
        float(loss), rel=1e-12
    )


RESPONSE = KaryRandomisedResponse(1.0, 3)


def test_what_is_refused_beyond_its_limit_is_accepted_at_it() -> None:
    assert random_size_loss(sizes.fixed_size(2, 2), 1e100) == 2e100
    assert Blanket.of(RESPONSE).delta_upper(0.9, users=10**9) < 1e-9
    assert np.isnan(closed_form(1e-6, users=1, epsilon=1.0))
    assert largest_warner_constant(1, 0.5) > 0
    assert (
        exact_total_variation([2000, 0], SampledCounts(2000, 1.0, KaryRandomisedResponse(9.0, 2)))
        < 1e-3
    )
    # half of the reports are true: the generating function is 0 at some of the roots of unity
    survey = SampledCounts(3, 1.0, KaryRandomisedResponse(np.log(2), 3))
    assert exact_total_variation([3, 0, 0], survey) == pytest.approx(43 / 32, rel=1e-12)


def test_chances_of_zero_and_one_are_chances() -> None:
    assert unequal.element_loss_floor([0.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert unequal.poisson_loss([1.0, 0.0], [1.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert clusters.log_symmetric_ratio([0.0, 0.0], 3) == np.inf
    assert clusters.log_symmetric_ratio([0.0, 0.0], 1) == pytest.approx(-np.log(2), rel=1e-12)


MAKERS = {
    "k-RR": KaryRandomisedResponse,
    "SUE": UnaryEncoding.symmetric,
    "OUE": UnaryEncoding.optimised,
    "signs": SignRandomiser,
    "subsets of 3": lambda epsilon, size: SubsetSelection(
        epsilon, size, flint.arb(3) if type(size) is flint.arb else 3
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 40.0, 699.0])
def test_distances_of_rates_keep_their_digits(make, epsilon: float) -> None:
    flint.ctx.prec, before = 2500, flint.ctx.prec
    try:
        exact, mechanism = make(flint.arb(epsilon), flint.arb(7)), make(epsilon, 7)
        p, q = exact.p, exact.q
        # three users hold and report the same value, or a subset with it
        alike = 3 if isinstance(mechanism, SubsetSelection) else 1
        tallies = [3] * alike + [0] * (7 - alike)
        pairs = {
            mechanism.p: p,
            mechanism.q: q,
            mechanism.miss_rate: 1 - p,
            mechanism.truthful_rate: p - q,
            unbiased_frequency_error(mechanism): (6 * q * (1 - q) + p * (1 - p))
            / (p - q)
            / (p - q),
            float(pure_variance(5, users=5, mechanism=mechanism)): 5
            * p
            * (1 - p)
            / (p - q)
            / (p - q),
            unbiased(tallies, 3, mechanism)[0]: (1 - q) / (p - q),
        }
        for number, ball in pairs.items():
            assert number == pytest.approx(float(ball), rel=1e-12)
        assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-12)
    finally:
        flint.ctx.prec = before


def test_rates_given_as_numbers_are_taken_at_their_word() -> None:
    given = UnaryEncoding(0.75, 0.25, 4)
    assert (given.miss_rate, given.truthful_rate) == (0.25, 0.5)
    assert repr(given) == "UnaryEncoding(p=0.75, q=0.25, domain_size=4)"
