"""Every mechanism: its channel is stochastic, its loss is the stated epsilon, what it draws has its exact law."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ldpnb.accuracy.means import laplace_sum_tail
from ldpnb.mechanisms import moves
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace, contrast_weights
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser, calibrated_bias, exact_epsilon
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream
from properties.strategies import (
    DRAWS,
    FALSE_ALARM,
    domain_sizes,
    epsilons,
    examples,
    fits,
    inner_rates,
    law_of,
    logarithmic,
    small_mechanisms,
    sum_law,
    supports,
    users,
)

ROUNDING = 1e-14
"""What logarithms of nearly equal probabilities may be off, nats."""

unit_values = st.lists(st.sampled_from([-1.0, 0.0, 1.0]) | st.floats(-1, 1), min_size=1, max_size=4)
group_sizes = st.lists(st.sampled_from([1, 10**12]) | st.integers(1, 1000), min_size=2, max_size=4).map(tuple)


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
    held = supports(mechanism).T @ mechanism.channel()
    assert np.diag(held) == pytest.approx(np.full(mechanism.domain_size, mechanism.p), rel=1e-12)
    others = held[~np.eye(mechanism.domain_size, dtype=bool)]
    assert others == pytest.approx(np.full(others.size, mechanism.q), rel=1e-9, abs=0)


@examples(10)
@given(epsilons, domain_sizes)
def test_randomised_response_is_exact_for_a_million_values_and_any_epsilon(epsilon: float, size: int) -> None:
    mechanism = KaryRandomisedResponse(epsilon, size)
    assert mechanism.p + (size - 1) * mechanism.q == pytest.approx(1, rel=1e-12)
    assert np.log(mechanism.p) - np.log(mechanism.q) == pytest.approx(epsilon, rel=1e-9, abs=ROUNDING)
    assert mechanism.truthful_rate == pytest.approx(mechanism.q * np.expm1(epsilon), rel=1e-12)
    assert 0 < mechanism.truthful_rate <= 1


@examples(10)
@given(epsilons, domain_sizes)
def test_subset_selection_is_exact_for_a_million_values_and_any_epsilon(epsilon: float, size: int) -> None:
    mechanism = SubsetSelection.optimal(epsilon, size)
    count, decay = mechanism.subset_size, np.exp(-epsilon)
    assert mechanism.p + (size - 1) * mechanism.q == pytest.approx(count, rel=1e-12)
    assert mechanism.q == pytest.approx(mechanism.p * (count - 1 + (size - count) * decay) / (size - 1), rel=1e-12)
    assert 0 < mechanism.q < mechanism.p <= 1


@examples(10)
@given(logarithmic(1e-8, 60.0), st.integers(2, 10**6))
def test_unary_encodings_have_the_budget_they_are_made_for(epsilon: float, size: int) -> None:
    for make in (UnaryEncoding.symmetric, UnaryEncoding.optimised):
        mechanism = make(epsilon, size)
        # 1 - p of the symmetric one is rounded to 1e-16
        assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-9, abs=1e-15 * (1 + np.exp(epsilon / 2)) + ROUNDING)
        assert 0 < mechanism.q < mechanism.p < 1


@examples(15)
@given(epsilons)
def test_signs_have_the_bias_of_their_budget(epsilon: float) -> None:
    assert SignRandomiser(epsilon, 2).bias == pytest.approx(2 * SignRandomiser(epsilon, 2).p - 1, rel=1e-7, abs=1e-15)
    if epsilon < 30:
        bias = calibrated_bias(epsilon)
        assert exact_epsilon(bias) == pytest.approx(epsilon, rel=1e-9 + 1e-15 * np.exp(epsilon))
        assert SignRandomiser.as_printed(bias, 2).epsilon == exact_epsilon(bias)


@examples(10)
@given(epsilons, epsilons, st.integers(2, 5), unit_values)
def test_group_mechanisms_send_groups_by_randomised_response(
    first: float, second: float, groups: int, values: list[float]
) -> None:
    signs = DiscretisedMeans(first, second, groups)
    channel = signs.channel(values)
    assert stochastic(channel)
    loss = privacy_loss(signs.channel()).epsilon
    assert loss == pytest.approx(signs.epsilon, rel=1e-9, abs=10 * ROUNDING)
    krr = KaryRandomisedResponse(first, groups)
    assert (signs.keep, signs.move) == pytest.approx((krr.p, krr.q), rel=1e-12)
    mean = channel.reshape(groups, 2, groups, len(values))
    gains = np.einsum("gsgv,s->gv", mean, [-1, 1])
    assert gains == pytest.approx(signs.gain * np.tile(values, (groups, 1)), rel=1e-9, abs=1e-12)


@examples(10)
@given(epsilons, st.integers(2, 10**6))
def test_calibrated_group_mechanisms_lose_exactly_their_budget(epsilon: float, groups: int) -> None:
    for make in (DiscretisedMeans.calibrated, LaplaceMeans.calibrated):
        mechanism = make(epsilon, groups)
        assert mechanism.epsilon == pytest.approx(epsilon, rel=1e-12)
        assert mechanism.keep + (groups - 1) * mechanism.move == pytest.approx(1, rel=1e-12)
        assert mechanism.claimed_epsilon <= epsilon * (1 + 1e-12)
        assert 0 < mechanism.gain <= 1


@examples(12)
@given(epsilons, epsilons, st.integers(2, 5))
def test_the_density_of_the_laplace_mechanism_has_the_stated_loss(first: float, second: float, groups: int) -> None:
    mechanism = LaplaceMeans(first, second, 2.0, groups)
    places = np.array([-30.0, -1.0, 0.0, 1.0, 30.0])
    laws = [mechanism.law(g, v) for g in range(groups) for v in (-1.0, 1.0)]
    logs = np.array(
        [[np.log(w / (2 * s)) - np.abs(places - m) / s for w, m, s in law] for law in laws]
    )  # piecewise linear: extreme at the locations
    assert (logs.max(axis=0) - logs.min(axis=0)).max() == pytest.approx(mechanism.epsilon, rel=1e-9, abs=1e-13)
    assert np.array(laws)[:, :, 0].sum(axis=1) == pytest.approx(np.ones(2 * groups), rel=1e-12)


@examples(10)
@given(epsilons, group_sizes, unit_values)
def test_one_number_for_a_gap_loses_exactly_its_budget(
    epsilon: float, sizes: tuple[int, ...], values: list[float]
) -> None:
    bit, noisy = SignedBit(epsilon, sizes), SignedLaplace(epsilon, sizes)
    channel = bit.channel(values)
    assert stochastic(channel)
    assert privacy_loss(bit.channel()).epsilon == pytest.approx(epsilon, rel=1e-9, abs=ROUNDING)
    weights = contrast_weights(sizes, (0, 1))
    assert channel[1] - channel[0] == pytest.approx(bit.gain * np.outer(weights, values).ravel(), rel=1e-9, abs=1e-15)
    assert np.abs(weights).max() == 1
    assert 2 / noisy.scale == pytest.approx(epsilon, rel=1e-12)


@examples(10)
@given(epsilons, logarithmic(1e-6, 1e9), st.floats(0, 1))
def test_mechanisms_for_means_lose_exactly_epsilon(epsilon: float, upper: float, share: float) -> None:
    bit = OneBit(epsilon, upper)
    assert stochastic(bit.channel([0.0, share * upper, upper]))
    assert privacy_loss(bit.channel()).epsilon == pytest.approx(epsilon, rel=1e-9, abs=ROUNDING)
    assert bit.slope == pytest.approx(bit.p - bit.q, rel=1e-7)
    assert bit.estimate(bit.one_rate(share * upper), 1) == pytest.approx(share * upper, abs=1e-15 * upper / bit.slope)
    for density in (
        lambda x, v: LocalLaplace(epsilon, upper).log_density(x, v),
        lambda x, v: CentralLaplace(epsilon, upper).log_density(x[:, None], np.array([v])),
    ):
        places = np.array([-upper, 0.0, share * upper, upper, 2 * upper])
        losses = density(places, 0.0) - density(places, upper)
        assert np.abs(losses).max() == pytest.approx(epsilon, rel=1e-9, abs=1e-13)


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
    rows, channel = supports(mechanism), mechanism.channel()
    users = [law_of(rows, channel[:, value]) for value in np.repeat(range(len(counts)), counts)]
    rng = stream("joint law of tallies", repr(mechanism), seed=1)
    draws = (tuple(mechanism.sample_tallies(counts, rng=rng).tolist()) for _ in range(DRAWS))
    assert fits(draws, sum_law(*users))


@pytest.mark.parametrize(("mechanism", "counts"), SAMPLED, ids=repr)
def test_reports_one_by_one_have_the_channel_as_their_law(mechanism, counts: list[int]) -> None:
    rng, channel = stream("reports", repr(mechanism), seed=1), mechanism.channel()
    for value in range(len(counts)):
        reports = mechanism.randomize(np.full(DRAWS, value), rng=rng)
        rows = np.eye(len(counts), dtype=int)[reports] if reports.ndim == 1 else (reports > 0).astype(int)
        assert fits(map(tuple, rows.tolist()), law_of(supports(mechanism), channel[:, value]))


@pytest.mark.parametrize("mechanism", [m for m, _ in SAMPLED if hasattr(m, "sample_outputs")], ids=repr)
def test_sampled_outputs_have_the_law_of_a_sum_of_reports(mechanism) -> None:
    rng, counts = stream("outputs", repr(mechanism), seed=1), np.zeros(mechanism.domain_size, dtype=int)
    counts[0] = DRAWS
    outputs, tallies = mechanism.sample_outputs(counts, rng=rng)
    assert tallies.sum() == DRAWS
    law = law_of(mechanism.outputs(), mechanism.channel()[:, 0])
    assert fits((tuple(o) for o, t in zip(outputs.tolist(), tallies.tolist(), strict=True) for _ in range(t)), law)


@pytest.mark.parametrize("groups", [2, 3])
def test_sampled_group_tallies_have_the_exact_joint_law(groups: int) -> None:
    mechanism, values = DiscretisedMeans(0.7, 1.1, groups), [-0.5, 0.8]
    counts = np.array([[1, 1], [1, 0], [0, 1]])[:groups]
    channel = mechanism.channel(values).reshape(2 * groups, groups, 2)
    clients = [
        law_of(np.eye(2 * groups, dtype=int), channel[:, g, v])
        for g, v in product(range(groups), range(2))
        for _ in range(counts[g, v])
    ]
    rng = stream("group tallies", groups, seed=1)
    draws = mechanism.sample_tallies(counts, values, repetitions=DRAWS, rng=rng).reshape(DRAWS, -1)
    assert fits(map(tuple, draws.tolist()), sum_law(*clients))


def test_groups_one_by_one_have_the_channel_as_their_law() -> None:
    mechanism, rng = DiscretisedMeans(0.7, 1.1, 3), stream("group reports", seed=1)
    channel = mechanism.channel([0.6])
    for group in range(3):
        found, signs = mechanism.randomize(np.full(DRAWS, group), np.full(DRAWS, 0.6), rng=rng)
        law = {(g, s): channel[2 * g + (s > 0), group] for g in range(3) for s in (-1, 1)}
        assert fits(zip(found.tolist(), signs.tolist(), strict=True), law)


@pytest.mark.parametrize("pair", [(0, 1), (2, 0)])
def test_sampled_sums_of_signs_have_their_exact_law(pair: tuple[int, int]) -> None:
    mechanism, counts, values = SignedBit(1.3, (2, 1, 1), pair), np.array([[1, 1], [0, 1], [1, 0]]), [-1.0, 0.4]
    channel = mechanism.channel(values).reshape(2, 3, 2)
    clients = [
        law_of(np.array([[-1.0], [1.0]]), channel[:, g, v])
        for g, v in product(range(3), range(2))
        for _ in range(counts[g, v])
    ]
    draws = mechanism.sample_sums(counts, values, repetitions=DRAWS, rng=stream("signs", *pair, seed=1))
    assert fits(((x,) for x in draws.tolist()), sum_law(*clients))
    one = mechanism.randomize(np.zeros(DRAWS, int), np.full(DRAWS, 0.4), rng=stream("sign", *pair, seed=1))
    assert fits(one.tolist(), {-1: channel[0, 0, 1], 1: channel[1, 0, 1]})


def test_sampled_numbers_of_ones_have_their_exact_law() -> None:
    bit, counts = OneBit(0.9, 5.0), [2, 0, 3]
    channel = bit.channel([0.0, 1.0, 4.0])
    users = [law_of(np.array([[0.0], [1.0]]), channel[:, i]) for i in np.repeat(range(3), counts)]
    draws = bit.sample_sums([0.0, 1.0, 4.0], counts, rng=stream("ones", seed=1), repetitions=DRAWS)
    assert fits(((x,) for x in draws.tolist()), sum_law(*users))
    bits = bit.randomize(np.full(DRAWS, 4.0), rng=stream("bit", seed=1))
    assert fits(bits.tolist(), dict(enumerate(channel[:, 2])))


@pytest.mark.parametrize("clients", [1, 2, 7])
def test_sampled_sums_of_laplace_noise_have_their_exact_law(clients: int) -> None:
    rng, number = stream("laplace sums", clients, seed=1), 500
    mechanism, signed = LocalLaplace(0.5, 2.0), SignedLaplace(0.5, (clients, clients))
    sums = mechanism.sample_sums([1.5], [clients], rng=rng, repetitions=number) - 1.5 * clients
    gaps = signed.sample_sums([[clients], [0]], [0.25], rng=rng, repetitions=number) - 0.25 * clients
    reports = mechanism.randomize(np.full(number * clients, 1.5), rng=rng) - 1.5
    groups = np.tile([0, 1], number * clients // 2)
    signs = signed.randomize(groups, np.full(groups.size, 0.05), rng=rng) - np.where(groups, -0.05, 0.05)
    for noise in (
        sums / mechanism.scale,
        gaps / signed.scale,
        reports.reshape(number, clients).sum(axis=1) / mechanism.scale,
        signs.reshape(number, clients).sum(axis=1) / signed.scale,
        moves.sum_of_laplace(np.full(number, clients), rng=rng),
    ):
        beyond = np.array([laplace_sum_tail(clients, abs(x)) / 2 for x in noise])
        assert stats.kstest(np.where(noise > 0, 1 - beyond, beyond), "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize("swapped", [False, True])
def test_sums_of_the_laplace_mechanism_have_their_exact_law(swapped: bool) -> None:
    mechanism, value = LaplaceMeans(0.6, 1.4, 0.8, 3, swapped), 0.7
    sums = mechanism.sample_sums([[0], [1], [0]], [value], repetitions=DRAWS, rng=stream("group sums", swapped, seed=1))
    groups, numbers = mechanism.randomize(np.ones(DRAWS, int), np.full(DRAWS, value), rng=stream("group", seed=1))
    for found in (sums, np.eye(3)[groups] * numbers[:, None]):
        assert (np.count_nonzero(found, axis=1) == 1).all()
        where = found.argmax(axis=1) + (found.max(axis=1) == 0) * (found.argmin(axis=1) - found.argmax(axis=1))
        law = mechanism.law(1, value)
        assert fits(where.tolist(), dict(enumerate(law[:, 0])))
        for group, (_, location, scale) in enumerate(law):
            own = found[where == group, group]
            assert stats.kstest(own, stats.laplace(location, scale).cdf).pvalue > FALSE_ALARM


def test_released_sums_and_counts_have_independent_laplace_noise() -> None:
    mechanism = CentralLaplace(0.5, 3.0)
    sums = mechanism.sample_sums([1.0, 2.0], [3, 4], rng=stream("central", seed=1), repetitions=DRAWS)
    assert stats.kstest(sums, stats.laplace(11.0, 6.0).cdf).pvalue > FALSE_ALARM
    copies = mechanism.release([10, 0], rng=stream("release", seed=1), repetitions=DRAWS)
    assert stats.kstest(copies[:, 1], stats.laplace(0.0, 6.0).cdf).pvalue > FALSE_ALARM
    assert abs(np.corrcoef(copies.T)[0, 1]) < 5.5 / np.sqrt(DRAWS)
    densities = stats.laplace([10, 0], 6.0).logpdf(copies).sum(axis=1)
    assert mechanism.log_density(copies, [10, 0]) == pytest.approx(densities, rel=1e-12)


@examples(10)
@given(small_mechanisms(), st.data())
def test_a_trillion_users_send_a_trillion_reports(mechanism, data) -> None:
    held = data.draw(st.lists(users, min_size=mechanism.domain_size, max_size=mechanism.domain_size))
    tallies = mechanism.sample_tallies(held, rng=stream("trillion", seed=1))
    assert tallies.dtype == np.int64
    assert ((tallies >= 0) & (tallies <= sum(held))).all()
    per_report = {KaryRandomisedResponse: 1, SubsetSelection: getattr(mechanism, "subset_size", 0)}
    if type(mechanism) in per_report:
        assert tallies.sum() == per_report[type(mechanism)] * sum(held)
    sums = LaplaceMeans(1.0, 1.0).sample_sums([held[:2], held[:2]], [-1.0, 1.0], rng=stream("trillion", seed=2))
    assert np.isfinite(sums).all()


def test_a_million_values_take_a_trillion_users() -> None:
    counts = np.full(10**6, 10**6)
    tallies = KaryRandomisedResponse(60.0, 10**6).sample_tallies(counts, rng=stream("million", seed=1))
    assert (tallies == counts).all()


@examples(12)
@example(1e-9, 1.0000000000000003e-09, 2)  # neighbours in floating point
@given(inner_rates, inner_rates, st.integers(2, 10**6))
def test_unary_encoding_takes_any_two_ordered_probabilities(one: float, other: float, size: int) -> None:
    q, p = sorted((one, other))
    if q == p:
        with pytest.raises(ValueError, match="q must be < p"):
            UnaryEncoding(p, q, size)
    else:
        assert UnaryEncoding(p, q, size).epsilon > 0


def test_every_set_size_up_to_half_is_best_somewhere() -> None:
    sizes = [SubsetSelection.optimal(float(e), 9).subset_size for e in np.linspace(0.01, 4, 400)]
    assert sorted(set(sizes)) == [1, 2, 3, 4]
    assert all(b <= a for a, b in pairwise(sizes))


def test_public_signs_times_the_bit_have_the_law_of_the_report() -> None:
    mechanism, rng = SignRandomiser(1.5, 3), stream("public signs", seed=1)
    public = 2 * rng.integers(0, 2, (DRAWS, 3)) - 1
    bits = mechanism.randomize_with_public_signs(np.full(DRAWS, 2), public, rng=rng)
    assert (bits.shape, bits.dtype) == ((DRAWS,), np.int8)
    assert fits(map(tuple, (bits[:, None] * public).tolist()), law_of(mechanism.outputs(), mechanism.channel()[:, 2]))


def test_nobody_sends_nothing() -> None:
    rng, nobody = stream("nobody", seed=1), np.array([], dtype=int)
    for make in (KaryRandomisedResponse, UnaryEncoding.optimised, SignRandomiser):
        assert len(make(1.0, 4).randomize(nobody, rng=rng)) == 0
    for family in (SignedBit, SignedLaplace):
        assert len(family(1.0, (3, 3)).randomize(nobody, [], rng=rng)) == 0
    for family in (DiscretisedMeans, LaplaceMeans):
        groups, numbers = family(1.0, 1.0).randomize(nobody, [], rng=rng)
        assert len(groups) == len(numbers) == 0


def test_one_repetition_is_drawn_unless_more_are_asked_for() -> None:
    rng = stream("once", seed=1)
    assert CentralLaplace(1.0).release([1.0, 2.0], rng=rng).shape == (1, 2)
    for mechanism in (OneBit(1.0), LocalLaplace(1.0), CentralLaplace(1.0)):
        assert mechanism.sample_sums([1.0], [3], rng=rng).shape == (1,)
    for grouped in (
        SignedBit(1.0, (1, 1)),
        SignedLaplace(1.0, (1, 1)),
        DiscretisedMeans(1.0, 1.0),
        LaplaceMeans(1.0, 1.0),
    ):
        assert len(grouped.sample_sums([[1], [1]], [0.5], rng=rng)) == 1
    assert len(DiscretisedMeans(1.0, 1.0).sample_tallies([[1], [1]], [0.5], rng=rng)) == 1


def test_outputs_are_listed_up_to_twelve_values() -> None:
    for make in (SignRandomiser, UnaryEncoding.optimised):
        assert make(1.0, 12).outputs().shape == (4096, 12)
