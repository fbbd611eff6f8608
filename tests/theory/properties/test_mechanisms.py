"""Every mechanism: its channel is stochastic, its loss is the stated epsilon, what it draws has
its exact law.
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
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream
from properties.strategies import (
    DRAWS,
    FALSE_ALARM,
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
group_sizes = st.lists(
    st.sampled_from([1, 10**12]) | st.integers(1, 1000), min_size=2, max_size=4
).map(tuple)


def stochastic(channel: np.ndarray) -> bool:
    return bool(channel.min() >= 0 and np.abs(channel.sum(axis=0) - 1).max() < 1e-12)


@examples(10)
@given(small_mechanisms())
def test_a_channel_is_stochastic_and_loses_exactly_the_stated_epsilon(mechanism) -> None:
    channel = mechanism.channel()
    assert stochastic(channel)
    assert privacy_loss(channel).epsilon == pytest.approx(mechanism.epsilon, rel=1e-9, abs=ROUNDING)


@examples(10)
@given(small_mechanisms())
def test_p_and_q_are_the_chances_that_a_report_supports_a_value(mechanism) -> None:
    chances = supports(mechanism).T @ mechanism.channel()
    assert np.diag(chances) == pytest.approx(np.full(mechanism.domain_size, mechanism.p), rel=1e-12)
    others = chances[~np.eye(mechanism.domain_size, dtype=bool)]
    assert others == pytest.approx(np.full(others.size, mechanism.q), rel=1e-9, abs=0)


@examples(10)
@given(epsilons, group_sizes, unit_values)
def test_one_number_for_a_gap_loses_exactly_its_budget(
    epsilon: float, sizes: tuple[int, ...], values: list[float]
) -> None:
    bit, noisy = SignedBit(epsilon, sizes), SignedLaplace(epsilon, sizes)
    channel = bit.channel(values)
    assert stochastic(channel)
    assert privacy_loss(bit.channel()).epsilon == pytest.approx(epsilon, rel=1e-9, abs=ROUNDING)
    signal = bit.gain * np.outer(bit.weights, values).ravel()
    assert channel[1] - channel[0] == pytest.approx(signal, rel=1e-9, abs=1e-15)
    assert np.abs(bit.weights).max() == 1
    assert 2 / noisy.scale == pytest.approx(epsilon, rel=1e-12)


SAMPLED = [
    (KaryRandomisedResponse(0.8, 3), [2, 1, 1]),
    (KaryRandomisedResponse(3.0, 6), [0, 1, 1, 0, 0, 0]),
    (UnaryEncoding(0.7, 0.2, 2), [2, 1]),
    (UnaryEncoding.optimised(1.5, 3), [1, 0, 1]),
    (SubsetSelection(1.0, 4, 2), [1, 1, 1, 0]),
    (SignRandomiser(1.2, 2), [1, 3]),
]


@pytest.mark.parametrize(("mechanism", "counts"), SAMPLED, ids=repr)
def test_sampled_tallies_have_the_exact_joint_law(mechanism, counts: list[int]) -> None:
    rng = stream("joint law of tallies", repr(mechanism), seed=1)
    draws = (tuple(mechanism.sample_tallies(counts, rng=rng).tolist()) for _ in range(DRAWS))
    assert fits(draws, law_of_reports(supports(mechanism), mechanism.channel(), counts))


@pytest.mark.parametrize(("mechanism", "counts"), SAMPLED, ids=repr)
def test_reports_one_by_one_have_the_channel_as_their_law(mechanism, counts: list[int]) -> None:
    rng, channel = stream("reports", repr(mechanism), seed=1), mechanism.channel()
    for value in range(len(counts)):
        reports = mechanism.randomize(np.full(DRAWS, value), rng=rng)
        rows = (
            np.eye(len(counts), dtype=int)[reports]
            if reports.ndim == 1
            else (reports > 0).astype(int)
        )
        assert fits(map(tuple, rows.tolist()), law_of(supports(mechanism), channel[:, value]))


@pytest.mark.parametrize(
    "mechanism", [m for m, _ in SAMPLED if hasattr(m, "sample_outputs")], ids=repr
)
def test_sampled_outputs_have_the_law_of_a_sum_of_reports(mechanism) -> None:
    rng, counts = (
        stream("outputs", repr(mechanism), seed=1),
        np.zeros(mechanism.domain_size, dtype=int),
    )
    counts[0] = DRAWS
    outputs, tallies = mechanism.sample_outputs(counts, rng=rng)
    assert tallies.sum() == DRAWS
    assert (
        mechanism.sample_outputs(counts // DRAWS, rng=rng)[1] == [1]
    ).all()  # of one user, one output
    law = law_of(mechanism.outputs(), mechanism.channel()[:, 0])
    assert fits(
        (
            tuple(o)
            for o, t in zip(outputs.tolist(), tallies.tolist(), strict=True)
            for _ in range(t)
        ),
        law,
    )


@pytest.mark.parametrize("groups", [2, 3])
def test_sampled_group_tallies_have_the_exact_joint_law(groups: int) -> None:
    mechanism, values = DiscretisedMeans(0.7, 1.1, groups), [-0.5, 0.8]
    counts = np.array([[1, 1], [1, 0], [0, 1]])[:groups]
    rng = stream("group tallies", groups, seed=1)
    draws = mechanism.sample_tallies(counts, values, repetitions=DRAWS, rng=rng).reshape(DRAWS, -1)
    law = law_of_reports(np.eye(2 * groups, dtype=int), mechanism.channel(values), counts)
    assert fits(map(tuple, draws.tolist()), law)


def test_sampled_sums_of_signs_have_their_exact_law() -> None:
    mechanism, counts, values = (
        SignedBit(1.3, (2, 1, 1)),
        np.array([[1, 1], [0, 1], [1, 0]]),
        [-1.0, 0.4],
    )
    law = law_of_reports(np.array([[-1.0], [1.0]]), mechanism.channel(values), counts)
    draws = mechanism.sample_sums(counts, values, repetitions=DRAWS, rng=stream("signs", seed=1))
    assert fits(((x,) for x in draws.tolist()), law)


def test_sampled_numbers_of_ones_have_their_exact_law() -> None:
    bit, counts = OneBit(0.9, 5.0), [2, 0, 3]
    law = law_of_reports(np.array([[0.0], [1.0]]), bit.channel([0.0, 1.0, 4.0]), counts)
    draws = bit.sample_sums([0.0, 1.0, 4.0], counts, rng=stream("ones", seed=1), repetitions=DRAWS)
    assert fits(((x,) for x in draws.tolist()), law)


@pytest.mark.parametrize("clients", [1, 2, 7])
def test_sampled_sums_of_laplace_noise_have_their_exact_law(clients: int) -> None:
    rng, number = stream("laplace sums", clients, seed=1), 500
    mechanism, signed = LocalLaplace(0.5, 2.0), SignedLaplace(0.5, (clients, clients))
    sums = mechanism.sample_sums([1.5], [clients], rng=rng, repetitions=number) - 1.5 * clients
    gaps = (
        signed.sample_sums([[clients], [0]], [0.25], rng=rng, repetitions=number) - 0.25 * clients
    )
    for noise in (
        sums / mechanism.scale,
        gaps / signed.scale,
        moves.sum_of_laplace(np.full(number, clients), rng=rng),
    ):
        beyond = np.array([laplace_sum_tail(clients, abs(x)) / 2 for x in noise])
        assert stats.kstest(np.where(noise > 0, 1 - beyond, beyond), "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize("swapped", [False, True])
def test_sums_of_the_laplace_mechanism_have_their_exact_law(swapped: bool) -> None:
    mechanism, value = LaplaceMeans(0.6, 1.4, 0.8, 3, swapped), 0.7
    sums = mechanism.sample_sums(
        [[0], [1], [0]], [value], repetitions=DRAWS, rng=stream("group sums", swapped, seed=1)
    )
    groups, numbers = mechanism.randomize(
        np.ones(DRAWS, int), np.full(DRAWS, value), rng=stream("group", seed=1)
    )
    for reported in (sums, np.eye(3)[groups] * numbers[:, None]):
        assert (np.count_nonzero(reported, axis=1) == 1).all()
        where = np.abs(reported).argmax(axis=1)
        law = mechanism.law(1, value)
        assert fits(where.tolist(), dict(enumerate(law[:, 0])))
        for group, (_, location, scale) in enumerate(law):
            own = reported[where == group, group]
            assert stats.kstest(own, stats.laplace(location, scale).cdf).pvalue > FALSE_ALARM


def test_released_sums_and_counts_have_independent_laplace_noise() -> None:
    mechanism = CentralLaplace(0.5, 3.0)
    sums = mechanism.sample_sums(
        [1.0, 2.0], [3, 4], rng=stream("central", seed=1), repetitions=DRAWS
    )
    assert stats.kstest(sums, stats.laplace(11.0, 6.0).cdf).pvalue > FALSE_ALARM
    copies = mechanism.release([10, 0], rng=stream("release", seed=1), repetitions=DRAWS)
    assert stats.kstest(copies[:, 1], stats.laplace(0.0, 6.0).cdf).pvalue > FALSE_ALARM
    assert abs(np.corrcoef(copies.T)[0, 1]) < 5.5 / np.sqrt(DRAWS)
    densities = stats.laplace([10, 0], 6.0).logpdf(copies).sum(axis=1)
    assert mechanism.log_density(copies, [10, 0]) == pytest.approx(densities, rel=1e-12)


@examples(10)
@given(small_mechanisms(), st.data())
def test_a_trillion_users_send_a_trillion_reports(mechanism, data) -> None:
    holders = data.draw(
        st.lists(users, min_size=mechanism.domain_size, max_size=mechanism.domain_size)
    )
    tallies = mechanism.sample_tallies(holders, rng=stream("trillion", seed=1))
    assert tallies.dtype == np.int64
    assert ((tallies >= 0) & (tallies <= sum(holders))).all()
    per_report = {KaryRandomisedResponse: 1, SubsetSelection: getattr(mechanism, "subset_size", 0)}
    if type(mechanism) in per_report:
        assert tallies.sum() == per_report[type(mechanism)] * sum(holders)
    sums = LaplaceMeans(1.0, 1.0).sample_sums(
        [holders[:2], holders[:2]], [-1.0, 1.0], rng=stream("trillion", seed=2)
    )
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
    mechanism, rng = SignRandomiser(1.5, 3), stream("public signs", seed=1)
    public = 2 * rng.integers(0, 2, (DRAWS, 3)) - 1
    bits = mechanism.randomize_with_public_signs(np.full(DRAWS, 2), public, rng=rng)
    assert (bits.shape, bits.dtype) == ((DRAWS,), np.int8)
    assert fits(
        map(tuple, (bits[:, None] * public).tolist()),
        law_of(mechanism.outputs(), mechanism.channel()[:, 2]),
    )


def test_nobody_sends_nothing() -> None:
    rng, nobody = stream("nobody", seed=1), np.array([], dtype=int)
    for make in (KaryRandomisedResponse, UnaryEncoding.optimised, SignRandomiser):
        assert len(make(1.0, 4).randomize(nobody, rng=rng)) == 0
    groups, numbers = LaplaceMeans(1.0, 1.0).randomize(nobody, [], rng=rng)
    assert len(groups) == len(numbers) == 0
