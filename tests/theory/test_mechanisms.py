"""Mechanisms: the best channel for a gap, outputs that users share, and memory."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection


@pytest.mark.parametrize("share", [0.5, 0.37, 0.05, 0.001])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.5, 9.0, 30.0])
def test_the_best_channel_is_certified_private_and_symmetric_in_the_groups(
    share: float, epsilon: float
) -> None:
    best = ldp.BestGapChannel(epsilon, share)
    mirrored = ldp.BestGapChannel(epsilon, 1 - share)

    assert best.variance == pytest.approx(best.bound, rel=1e-8)
    assert mirrored.variance == pytest.approx(best.variance, rel=1e-8)
    for channel in (best.channel(), mirrored.channel()):
        assert np.abs(channel.sum(axis=0) - 1).max() < 1e-14
        assert ldp.privacy_loss(channel).epsilon == pytest.approx(epsilon)


def test_large_unary_outputs_are_the_users_bits_grouped() -> None:
    mechanism = UnaryEncoding.optimised(3.0, 20)
    counts = np.arange(20) * 50
    values = np.repeat(np.arange(20), counts)

    outputs, tallies = mechanism.sample_outputs(counts, rng=np.random.default_rng(1))
    bits = mechanism.randomize(values, rng=np.random.default_rng(1))
    assert (tallies @ outputs == bits.sum(axis=0)).all()
    assert len(outputs) == len(np.unique(bits, axis=0))


@pytest.mark.parametrize(
    ("mechanism", "outputs"),
    [
        (LocalHashing(1.0, 4, 10), 100_000),
        (SignRandomiser(1.0, 12), 2**12),
        (SubsetSelection(1.0, 5000, 1), 5000),
        (UnaryEncoding.optimised(1.0, 12), 2**12),
    ],
)
def test_as_many_outputs_as_the_limit_are_listed(mechanism: Any, outputs: int) -> None:
    channel = mechanism.channel()
    assert channel.shape == (outputs, mechanism.domain_size)
    assert ldp.privacy_loss(channel).epsilon == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "users"),
    [(SubsetSelection(1.0, 16, 3), 2**18), (UnaryEncoding.optimised(1.0, 16), 2**19)],
)
def test_users_are_randomised_in_blocks_of_bounded_memory(
    mechanism: SubsetSelection | UnaryEncoding, users: int
) -> None:
    values = np.arange(users) % 16
    rng = np.random.default_rng(2)
    tracemalloc.start()
    bits = mechanism.randomize(values, rng=rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 56 * 2**20

    expected = mechanism.p / 16 + mechanism.q * 15 / 16
    assert np.abs(bits.mean(axis=0) - expected).max() < 5 * np.sqrt(expected / users)
    assert bits[-8:].sum() > 0
    assert bits.dtype == np.uint8
