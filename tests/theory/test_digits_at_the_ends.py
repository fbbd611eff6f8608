"""Formulas that once lost their digits at the ends of their ranges.

Each is compared with the same quantity computed by hand in many digits, by mpmath or in balls, or
with a closed form that holds at the end.
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


def moments_over_all_samples(
    holders: tuple[int, ...], rates: tuple[float, ...], epsilon: float
) -> tuple[mp.mpf, mp.mpf]:
    """Return mean and variance of Hajek's count of the holders, given that somebody reports.

    There are five values, and each of the users sends a report by k-RR at a rate of his own.
    """
    growth = mp.exp(epsilon)
    p = growth / (growth + 4)
    q = 1 / (growth + 4)
    users = len(holders)

    total = mean = square = mp.mpf(0)
    for sample in itertools.product((0, 1), repeat=users):
        if not any(sample):
            continue

        chance = mp.mpf(1)
        weight = mp.mpf(0)
        weighted_holders = mp.mpf(0)
        noise = mp.mpf(0)
        for sampled, rate, holds in zip(sample, rates, holders, strict=True):
            chance *= rate if sampled else 1 - mp.mpf(rate)
            own_weight = sampled / mp.mpf(rate)
            weight += own_weight
            weighted_holders += own_weight * holds
            noise += own_weight**2 * (p * (1 - p) if holds else q * (1 - q))

        share = weighted_holders / weight
        variance = noise / (weight * (p - q)) ** 2
        total += chance
        mean += chance * users * share
        square += chance * users**2 * (variance + share**2)

    mean /= total
    return mean, square / total - mean**2


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 600.0])
@pytest.mark.parametrize("rates", [(1.0, 1e-12, 0.3), (1e-9, 3e-6, 2e-11), (1.0, 1.0, 1 - 1e-12)])
def test_moments_of_the_ratio_are_those_of_every_sample(
    rates: tuple[float, ...], epsilon: float
) -> None:
    holders = (1, 0, 1)
    mean, variance = moments_over_all_samples(holders, rates, epsilon)

    survey = PersonalRates([1, 1, 1], rates, KaryRandomisedResponse(epsilon, 5))
    with mp.workdps(700):
        assert hajek.mean_hajek(survey, holders) == pytest.approx(float(mean), rel=1e-11)
    assert hajek.variance_hajek(survey, holders) == pytest.approx(float(variance), rel=1e-11)


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
    s = mp.mpf(share)
    e = mp.mpf(epsilon)
    p = mp.mpf(rate)
    exact = (1 - mp.log(mp.expm1((1 - s) * e) / -mp.expm1(-s * e) * p / (1 - p)) / e) / 2

    actual = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
    assert actual == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-4, 1.0, 50.0])
def test_total_variation_of_laplace_means_keeps_its_digits(epsilon: float) -> None:
    mechanism = LaplaceMeans.calibrated(epsilon)
    half = mp.mpf(epsilon) / 2
    keep = mp.exp(half) / (mp.exp(half) + 1)
    near = mp.exp(-half)

    # kept reports exceed those of the other value above 0; moved reports exceed kept ones nowhere,
    # and a share e^(-eps/2) of the kept ones lies below 0
    other_value = keep * (1 - near)
    other_group = keep * (1 - near / 2) - (1 - keep) / 2
    exact = float(max(other_value, other_group))
    assert hockey_stick.total_variation(mechanism) == pytest.approx(exact, rel=1e-14)

    one = [(1.0, 1.0, mechanism.kept_scale)]
    other = [(1.0, -1.0, mechanism.kept_scale)]
    delta = hockey_stick.law_delta(one, other, 0.0)
    assert delta == pytest.approx(float(1 - near), rel=1e-14)


def one_bit_gap_variance(
    epsilon: float, sizes: tuple[int, ...], moments: tuple[float, float]
) -> mp.mpf:
    """Return the variance of the gap of the first two groups from one signed bit a user."""
    signal = mp.tanh(mp.mpf(epsilon) / 2)
    smaller = mp.mpf(min(sizes[:2]))
    known = mp.mpf(0)
    for size, moment in zip(sizes[:2], moments, strict=True):
        known += smaller**2 / size * mp.mpf(moment)
    return (sum(sizes) / signal**2 - known) / smaller**2


def discretised_gap_variance(
    epsilon: float, sizes: tuple[int, ...], moments: tuple[float, float]
) -> mp.mpf:
    """Return the variance of the gap of the first two groups from discretised means."""
    growth = mp.exp(mp.mpf(epsilon))
    signal = mp.tanh(mp.mpf(epsilon) / 2)
    kept = growth / (growth + len(sizes) - 1)
    moved = 1 / (growth + len(sizes) - 1)

    variance = mp.mpf(0)
    for size, moment in zip(sizes[:2], moments, strict=True):
        others = mp.mpf(sum(sizes) - size) / size * moved / kept
        variance += (1 - kept * signal**2 * mp.mpf(moment) + others) / (kept * signal**2 * size)
    return variance


SQUARES_BEYOND_64_BITS = (10**12, 3_584_912_846)


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 40.0, 120.0])
@pytest.mark.parametrize("sizes", [(5, 5), (10**7, 10**7 + 1, 3), SQUARES_BEYOND_64_BITS])
def test_variances_of_gaps_keep_their_digits_where_all_values_are_extreme(
    sizes: tuple[int, ...], epsilon: float
) -> None:
    moments = (1.0, 1 - 1e-9)
    with mp.workdps(150):
        bit = float(one_bit_gap_variance(epsilon, sizes, moments))
        discretised = float(discretised_gap_variance(epsilon, sizes, moments))

    one_bit_gap = GroupGap(SignedBit(epsilon, sizes), sizes)
    assert one_bit_gap.variance(moments) == pytest.approx(bit, rel=1e-14, abs=0)
    discretised_gap = GroupGap(DiscretisedMeans(epsilon, epsilon, len(sizes)), sizes)
    assert discretised_gap.variance(moments) == pytest.approx(discretised, rel=1e-14, abs=0)


@pytest.mark.parametrize("epsilon", [300.0, 690.0, 700.0, 709.0])
@pytest.mark.parametrize("tallies", [[5, 0, 2], [1_000_000, 3, 3]])
def test_the_saddle_point_stands_at_the_largest_budgets(tallies: list[int], epsilon: float) -> None:
    nobody_lies = (np.array(tallies) + 0.5) / (sum(tallies) + 1.5)

    near = krr_posterior_saddle(tallies, 0.5, epsilon=epsilon).distribution
    assert near == pytest.approx(nobody_lies, rel=1e-9)
    if sum(tallies) < 100:
        exact = krr_posterior(tallies, 0.5, epsilon=epsilon).distribution
        assert exact == pytest.approx(nobody_lies, rel=1e-9)


def test_a_part_of_a_record_is_read_as_it_is_written() -> None:
    # 29 % of 50 are 14.5, in floats less
    assert rounding.nearest_rounding_loss(49, 0.29, 0.5) == 0.5
    assert rounding.nearest_rounding_loss(10, 4.57e-8, 700.0) == 0.0

    # the rate means half a record more than 25e13; the nearest float is less
    population = 5 * 10**14
    loss = lemmas.inserted_record_loss(population // 2 + 1, population, 0.5)
    actual = rounding.nearest_rounding_loss(population, 0.500000000000001, 0.5)
    assert actual == pytest.approx(float(loss), rel=1e-12)


def test_what_is_refused_beyond_its_limit_is_accepted_at_it() -> None:
    response = KaryRandomisedResponse(1.0, 3)
    assert random_size_loss(sizes.fixed_size(2, 2), 1e100) == 2e100
    assert Blanket.of(response).delta_upper(0.9, users=10**9) < 1e-9
    assert np.isnan(closed_form(1e-6, users=1, epsilon=1.0))
    assert largest_warner_constant(1, 0.5) > 0

    everybody = SampledCounts(2000, 1.0, KaryRandomisedResponse(9.0, 2))
    assert exact_total_variation([2000, 0], everybody) < 1e-3

    # half of the reports are true: the generating function is 0 at some of the roots of unity
    half_true = SampledCounts(3, 1.0, KaryRandomisedResponse(np.log(2), 3))
    assert exact_total_variation([3, 0, 0], half_true) == pytest.approx(43 / 32, rel=1e-12)


def test_chances_of_zero_and_one_are_chances() -> None:
    assert unequal.element_loss_floor([0.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert unequal.poisson_loss([1.0, 0.0], [1.0, 1.0], 0.7) == pytest.approx(0.7, rel=1e-12)
    assert clusters.log_symmetric_ratio([0.0, 0.0], 3) == np.inf
    assert clusters.log_symmetric_ratio([0.0, 0.0], 1) == pytest.approx(-np.log(2), rel=1e-12)


def subsets_of_three(epsilon: float | flint.arb, size: int | flint.arb) -> SubsetSelection:
    three = flint.arb(3) if isinstance(size, flint.arb) else 3
    return SubsetSelection(epsilon, size, three)


MAKERS = {
    "k-RR": KaryRandomisedResponse,
    "SUE": UnaryEncoding.symmetric,
    "OUE": UnaryEncoding.optimised,
    "signs": SignRandomiser,
    "subsets of 3": subsets_of_three,
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 40.0, 699.0])
def test_distances_of_rates_keep_their_digits(name: str, epsilon: float) -> None:
    mechanism = MAKERS[name](epsilon, 7)

    # three users hold and report the same value, or a subset with it
    alike = 3 if isinstance(mechanism, SubsetSelection) else 1
    tallies = [3] * alike + [0] * (7 - alike)

    with flint.ctx.workprec(2500):
        in_balls = MAKERS[name](flint.arb(epsilon), flint.arb(7))
        p = in_balls.p
        q = in_balls.q
        miss = 1 - p
        gap = p - q
        frequency_error = (6 * q * (1 - q) + p * (1 - p)) / gap**2
        variance = 5 * p * (1 - p) / gap**2
        estimate = (1 - q) / gap

    assert mechanism.p == nearly(p)
    assert mechanism.q == nearly(q)
    assert mechanism.miss_rate == nearly(miss)
    assert mechanism.truthful_rate == nearly(gap)
    assert unbiased_frequency_error(mechanism) == nearly(frequency_error)
    assert float(pure_variance(5, users=5, mechanism=mechanism)) == nearly(variance)
    assert unbiased(tallies, 3, mechanism)[0] == nearly(estimate)
    assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-12)


def nearly(ball: flint.arb) -> object:
    return pytest.approx(float(ball), rel=1e-12)


def test_rates_given_as_numbers_are_taken_at_their_word() -> None:
    given = UnaryEncoding(0.75, 0.25, 4)
    assert (given.miss_rate, given.truthful_rate) == (0.25, 0.5)
    assert repr(given) == "UnaryEncoding(p=0.75, q=0.25, domain_size=4)"
