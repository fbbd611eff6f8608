"""Mechanisms: the best channel for a gap, outputs and memory."""

import tracemalloc

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.mechanisms.frequency import UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection


@pytest.mark.parametrize("share", [0.5, 0.37, 0.05, 0.001])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.5, 9.0, 30.0])
def test_the_best_channel_is_certified_private_and_symmetric_in_the_groups(
    share: float, epsilon: float
) -> None:
    best, mirrored = (ldp.BestGapChannel(epsilon, first) for first in (share, 1 - share))
    assert best.variance == pytest.approx(best.bound, rel=1e-8)
    for channel in (best.channel(), mirrored.channel()):
        assert np.abs(channel.sum(axis=0) - 1).max() < 1e-14
        assert ldp.privacy_loss(channel).epsilon == pytest.approx(epsilon)
    assert mirrored.variance == pytest.approx(best.variance, rel=1e-8)


def test_large_unary_outputs_are_the_users_bits_grouped() -> None:
    mechanism, counts = UnaryEncoding.optimised(3.0, 20), np.arange(20) * 50
    outputs, tallies = mechanism.sample_outputs(counts, rng=np.random.default_rng(1))
    bits = mechanism.randomize(np.repeat(np.arange(20), counts), rng=np.random.default_rng(1))
    assert (tallies @ outputs == bits.sum(axis=0)).all()
    assert len(outputs) == len(np.unique(bits, axis=0))


@pytest.mark.parametrize(
    ("mechanism", "users", "megabytes"),
    [(SubsetSelection(1.0, 16, 3), 2**18, 56), (UnaryEncoding.optimised(1.0, 16), 2**19, 56)],
)
def test_users_are_randomised_in_blocks_of_bounded_memory(
    mechanism: SubsetSelection | UnaryEncoding, users: int, megabytes: int
) -> None:
    values, rng = np.arange(users) % 16, np.random.default_rng(2)
    tracemalloc.start()
    bits = mechanism.randomize(values, rng=rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < megabytes * 2**20
    expected = mechanism.p / 16 + mechanism.q * 15 / 16
    assert np.abs(bits.mean(axis=0) - expected).max() < 5 * np.sqrt(expected / users)
    assert bits[-8:].sum() > 0
    assert bits.dtype == np.uint8
