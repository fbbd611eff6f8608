"""A channel is stochastic and loses the stated epsilon, and what is drawn has its exact law.

Exact laws come from the channel, user by user; draws are compared with them by a chi-square test,
and Laplace noise by a Kolmogorov-Smirnov test.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ldpnb.accuracy.means import laplace_sum_tail
from ldpnb.mechanisms import moves
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream
from properties.strategies import (
    DRAWS,
    FALSE_ALARM,
    Vector,
    epsilons,
    examples,
    fits,
    inner_rates,
    law_of,
    law_of_reports,
    small_mechanisms,
    supports,
    users,
)

ROUNDING = 1e-14
"""What logarithms of nearly equal probabilities may be off, nats."""

unit_values = st.lists(st.sampled_from([-1.0, 0.0, 1.0]) | st.floats(-1, 1), min_size=1, max_size=4)
group_size = st.sampled_from([1, 10**12]) | st.integers(1, 1000)
group_sizes = st.lists(group_size, min_size=2, max_size=4).map(tuple)


def is_stochastic(channel: np.ndarray) -> bool:
    return bool(channel.min() >= 0 and np.abs(channel.sum(axis=0) - 1).max() < 1e-12)


def vectors(rows: np.ndarray) -> list[Vector]:
    """Return the rows of an array, or its entries as rows of one, as tuples."""
    return [tuple(row) for row in rows.reshape(len(rows), -1).tolist()]


def have_law(numbers: np.ndarray, cumulative) -> bool:
    return bool(stats.kstest(numbers, cumulative).pvalue > FALSE_ALARM)


@examples(10)
@given(small_mechanisms())
def test_a_channel_is_stochastic_and_loses_exactly_the_stated_epsilon(mechanism) -> None:
    channel = mechanism.channel()
    assert is_stochastic(channel)
    assert privacy_loss(channel).epsilon == pytest.approx(mechanism.epsilon, rel=1e-9, abs=ROUNDING)


@examples(10)
@given(small_mechanisms())
def test_p_and_q_are_the_chances_that_a_report_supports_a_value(mechanism) -> None:
    chances = supports(mechanism).T @ mechanism.channel()

    own = np.diag(chances)
    assert own == pytest.approx(np.full(own.size, mechanism.p), rel=1e-12)
    others = chances[~np.eye(mechanism.domain_size, dtype=bool)]
    assert others == pytest.approx(np.full(others.size, mechanism.q), rel=1e-9, abs=0)


@examples(10)
@given(epsilons, group_sizes, unit_values)
def test_one_number_for_a_gap_loses_exactly_its_budget(
    epsilon: float, sizes: tuple[int, ...], values: list[float]
) -> None:
    bit = SignedBit(epsilon, sizes)
    channel = bit.channel(values)
    assert is_stochastic(channel)
    assert privacy_loss(bit.channel()).epsilon == pytest.approx(epsilon, rel=1e-9, abs=ROUNDING)

    signal = bit.gain * np.outer(bit.weights, values).ravel()
    assert channel[1] - channel[0] == pytest.approx(signal, rel=1e-9, abs=1e-15)
    assert np.abs(bit.weights).max() == 1

    noisy = SignedLaplace(epsilon, sizes)
    assert 2 / noisy.scale == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("name", FREQUENCY)
def test_every_named_mechanism_loses_its_budget_and_has_tallies_by_p_and_q(name: str) -> None:
    mechanism = FREQUENCY[name](1.0, 3)
    holders = np.array([600_000, 300_000, 100_000])
    everybody = holders.sum()

    tallies = mechanism.sample_tallies(holders, rng=stream("named", name, seed=1))

    assert privacy_loss(mechanism.channel()).epsilon == pytest.approx(1.0, rel=1e-12)
    assert mechanism.miss_rate == pytest.approx(1 - mechanism.p, rel=1e-12)
    assert mechanism.truthful_rate == pytest.approx(mechanism.p - mechanism.q, rel=1e-12)

    expected = holders * mechanism.p + (everybody - holders) * mechanism.q
    largest_deviation = np.sqrt(everybody / 4)
    assert (np.abs(tallies - expected) < 5.5 * largest_deviation).all()


SAMPLED = [
    (KaryRandomisedResponse(0.8, 3), [2, 1, 1]),
    (KaryRandomisedResponse(3.0, 6), [0, 1, 1, 0, 0, 0]),
    (UnaryEncoding(0.7, 0.2, 2), [2, 1]),
    (UnaryEncoding.optimised(1.5, 3), [1, 0, 1]),
    (SubsetSelection(1.0, 4, 2), [1, 1, 1, 0]),
    (SignRandomiser(1.2, 2), [1, 3]),
]


@pytest.mark.parametrize(("mechanism", "counts"), SAMPLED)
def test_sampled_tallies_have_the_exact_joint_law(mechanism, counts: list[int]) -> None:
    rng = stream("joint law of tallies", repr(mechanism), seed=1)
    draws = [tuple(mechanism.sample_tallies(counts, rng=rng).tolist()) for _ in range(DRAWS)]
    assert fits(draws, law_of_reports(supports(mechanism), mechanism.channel(), counts))


@pytest.mark.parametrize(("mechanism", "counts"), SAMPLED)
def test_reports_one_by_one_have_the_channel_as_their_law(mechanism, counts: list[int]) -> None:
    rng = stream("reports", repr(mechanism), seed=1)
    channel = mechanism.channel()
    for value in range(len(counts)):
        reports = mechanism.randomize(np.full(DRAWS, value), rng=rng)
        if reports.ndim == 1:
            supported = np.eye(len(counts), dtype=int)[reports]
        else:
            supported = (reports > 0).astype(int)
        assert fits(vectors(supported), law_of(supports(mechanism), channel[:, value]))


LISTING_OUTPUTS = [mechanism for mechanism, _ in SAMPLED if hasattr(mechanism, "sample_outputs")]


@pytest.mark.parametrize("mechanism", LISTING_OUTPUTS)
def test_sampled_outputs_have_the_law_of_a_sum_of_reports(mechanism) -> None:
    rng = stream("outputs", repr(mechanism), seed=1)
    counts = np.zeros(mechanism.domain_size, dtype=int)
    counts[0] = DRAWS
    outputs, tallies = mechanism.sample_outputs(counts, rng=rng)
    assert tallies.sum() == DRAWS

    law = law_of(mechanism.outputs(), mechanism.channel()[:, 0])
    reports = np.repeat(outputs, tallies, axis=0)
    assert fits(vectors(reports), law)

    one_user = counts // DRAWS
    _, tallies = mechanism.sample_outputs(one_user, rng=rng)
    assert tallies.tolist() == [1]


@pytest.mark.parametrize("groups", [2, 3])
def test_sampled_group_tallies_have_the_exact_joint_law(groups: int) -> None:
    mechanism = DiscretisedMeans(0.7, 1.1, groups)
    values = [-0.5, 0.8]
    counts = np.array([[1, 1], [1, 0], [0, 1]])[:groups]

    rng = stream("group tallies", groups, seed=1)
    draws = mechanism.sample_tallies(counts, values, repetitions=DRAWS, rng=rng)
    law = law_of_reports(np.eye(2 * groups, dtype=int), mechanism.channel(values), counts)
    assert fits(vectors(draws), law)


def test_sampled_sums_of_signs_have_their_exact_law() -> None:
    mechanism = SignedBit(1.3, (2, 1, 1))
    counts = np.array([[1, 1], [0, 1], [1, 0]])
    values = [-1.0, 0.4]

    rng = stream("signs", seed=1)
    draws = mechanism.sample_sums(counts, values, repetitions=DRAWS, rng=rng)
    signs = np.array([[-1.0], [1.0]])
    assert fits(vectors(draws), law_of_reports(signs, mechanism.channel(values), counts))


def test_sampled_numbers_of_ones_have_their_exact_law() -> None:
    bit = OneBit(0.9, 5.0)
    values = [0.0, 1.0, 4.0]
    counts = [2, 0, 3]

    draws = bit.sample_sums(values, counts, rng=stream("ones", seed=1), repetitions=DRAWS)
    bits = np.array([[0.0], [1.0]])
    assert fits(vectors(draws), law_of_reports(bits, bit.channel(values), counts))


@pytest.mark.parametrize("clients", [1, 2, 7])
def test_sampled_sums_of_laplace_noise_have_their_exact_law(clients: int) -> None:
    repetitions = 500
    rng = stream("laplace sums", clients, seed=1)

    def chances_below(sums_of_noise: np.ndarray) -> np.ndarray:
        beyond = np.array([laplace_sum_tail(clients, abs(noise)) / 2 for noise in sums_of_noise])
        return np.where(sums_of_noise > 0, 1 - beyond, beyond)

    mechanism = LocalLaplace(0.5, 2.0)
    sums = mechanism.sample_sums([1.5], [clients], rng=rng, repetitions=repetitions)
    signed = SignedLaplace(0.5, (clients, clients))
    gaps = signed.sample_sums([[clients], [0]], [0.25], rng=rng, repetitions=repetitions)
    plain = moves.sum_of_laplace(np.full(repetitions, clients), rng=rng)

    assert have_law(chances_below((sums - 1.5 * clients) / mechanism.scale), "uniform")
    assert have_law(chances_below((gaps - 0.25 * clients) / signed.scale), "uniform")
    assert have_law(chances_below(plain), "uniform")


@pytest.mark.parametrize("swapped", [False, True])
def test_sums_of_the_laplace_mechanism_have_their_exact_law(swapped: bool) -> None:
    mechanism = LaplaceMeans(0.6, 1.4, 0.8, 3, swapped)
    value = 0.7
    law = mechanism.law(1, value)

    rng = stream("group sums", swapped, seed=1)
    sums = mechanism.sample_sums([[0], [1], [0]], [value], repetitions=DRAWS, rng=rng)
    rng = stream("group", seed=1)
    groups, numbers = mechanism.randomize(np.ones(DRAWS, int), np.full(DRAWS, value), rng=rng)
    reports = np.eye(3)[groups] * numbers[:, None]

    for reported in (sums, reports):
        assert (np.count_nonzero(reported, axis=1) == 1).all()
        reported_group = np.abs(reported).argmax(axis=1)
        assert fits(reported_group.tolist(), dict(enumerate(law[:, 0])))
        for group, (_, location, scale) in enumerate(law):
            in_group = reported[reported_group == group, group]
            assert have_law(in_group, stats.laplace(location, scale).cdf)


def test_released_sums_and_counts_have_independent_laplace_noise() -> None:
    mechanism = CentralLaplace(0.5, 3.0)
    rng = stream("central", seed=1)
    sums = mechanism.sample_sums([1.0, 2.0], [3, 4], rng=rng, repetitions=DRAWS)
    assert have_law(sums, stats.laplace(11.0, 6.0).cdf)

    copies = mechanism.release([10, 0], rng=stream("release", seed=1), repetitions=DRAWS)
    assert have_law(copies[:, 1], stats.laplace(0.0, 6.0).cdf)
    assert abs(np.corrcoef(copies.T)[0, 1]) < 5.5 / np.sqrt(DRAWS)

    log_densities = stats.laplace([10, 0], 6.0).logpdf(copies).sum(axis=1)
    assert mechanism.log_density(copies, [10, 0]) == pytest.approx(log_densities, rel=1e-12)


@examples(10)
@given(small_mechanisms(), st.data())
def test_a_trillion_users_send_a_trillion_reports(mechanism, data) -> None:
    size = mechanism.domain_size
    holders = data.draw(st.lists(users, min_size=size, max_size=size))

    tallies = mechanism.sample_tallies(holders, rng=stream("trillion", seed=1))
    assert tallies.dtype == np.int64
    assert ((tallies >= 0) & (tallies <= sum(holders))).all()
    if isinstance(mechanism, KaryRandomisedResponse):
        assert tallies.sum() == sum(holders)
    if isinstance(mechanism, SubsetSelection):
        assert tallies.sum() == mechanism.subset_size * sum(holders)

    of_each_group = [holders[:2], holders[:2]]
    rng = stream("trillion", seed=2)
    sums = LaplaceMeans(1.0, 1.0).sample_sums(of_each_group, [-1.0, 1.0], rng=rng)
    assert np.isfinite(sums).all()


@examples(12)
@example(1e-9, 1.0000000000000003e-09, 2)  # neighbours in floating point
@given(inner_rates, inner_rates, st.integers(2, 10**6))
def test_unary_encoding_takes_any_two_ordered_probabilities(
    one: float, other: float, size: int
) -> None:
    q, p = sorted((one, other))
    if q == p:
        with pytest.raises(ValueError, match="q must be < p"):
            UnaryEncoding(p, q, size)
    else:
        assert UnaryEncoding(p, q, size).epsilon > 0


def test_public_signs_times_the_bit_have_the_law_of_the_report() -> None:
    mechanism = SignRandomiser(1.5, 3)
    value = 2
    rng = stream("public signs", seed=1)
    public = 2 * rng.integers(0, 2, (DRAWS, 3)) - 1

    bits = mechanism.randomize_with_public_signs(np.full(DRAWS, value), public, rng=rng)
    assert bits.shape == (DRAWS,)
    assert bits.dtype == np.int8
    law = law_of(mechanism.outputs(), mechanism.channel()[:, value])
    assert fits(vectors(bits[:, None] * public), law)


def test_nobody_sends_nothing() -> None:
    rng = stream("nobody", seed=1)
    nobody = np.array([], dtype=int)
    for make in (KaryRandomisedResponse, UnaryEncoding.optimised, SignRandomiser):
        assert len(make(1.0, 4).randomize(nobody, rng=rng)) == 0

    groups, numbers = LaplaceMeans(1.0, 1.0).randomize(nobody, [], rng=rng)
    assert len(groups) == len(numbers) == 0
