"""Mechanisms for categorical answers: channels and outputs, what they reduce to, and memory."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.mechanisms.means import OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.rng import stream


def test_unary_channel_is_the_product_of_its_bits() -> None:
    mechanism = UnaryEncoding(0.6, 0.3, 3)
    for y, bits in enumerate(mechanism.outputs()):
        for x in range(3):
            ones = np.where(np.arange(3) == x, 0.6, 0.3)
            assert mechanism.channel()[y, x] == pytest.approx(np.prod(np.where(bits, ones, 1 - ones)), rel=1e-13)


def test_large_unary_outputs_are_the_users_bits_grouped() -> None:
    mechanism, counts = UnaryEncoding.optimised(3.0, 20), np.arange(20) * 50
    outputs, tallies = mechanism.sample_outputs(counts, rng=np.random.default_rng(1))
    bits = mechanism.randomize(np.repeat(np.arange(20), counts), rng=np.random.default_rng(1))
    assert (tallies @ outputs == bits.sum(axis=0)).all()
    assert len(outputs) == len(np.unique(bits, axis=0))


def test_equal_reports_beyond_the_listed_sizes_are_counted() -> None:
    held = [2, 1, *[0] * 11]
    outputs, tallies = UnaryEncoding.symmetric(60.0, 13).sample_outputs(held, rng=np.random.default_rng(1))
    assert dict(zip(outputs.argmax(axis=1).tolist(), tallies.tolist(), strict=True)) == {0: 2, 1: 1}
    assert (outputs.sum(axis=1) == 1).all()


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 20.0])
def test_one_bit_subsets_of_one_and_signs_are_older_mechanisms(epsilon: float) -> None:
    krr, signs = KaryRandomisedResponse(epsilon, 5), SignRandomiser(epsilon, 4)
    assert SubsetSelection(epsilon, 5, 1).channel() == pytest.approx(krr.channel(), rel=1e-12)
    assert OneBit(epsilon).channel() == pytest.approx(KaryRandomisedResponse(epsilon, 2).channel(), rel=1e-14)
    assert signs.channel() == pytest.approx(UnaryEncoding(signs.p, 0.5, 4).channel(), rel=1e-12)
    assert (signs.outputs() == 2 * UnaryEncoding(0.6, 0.5, 4).outputs().astype(int) - 1).all()


def test_sign_vectors_are_drawn_from_their_channel() -> None:
    """Whole vectors against the exact law of each value; false alarms at most 3e-6 (their chi-squares at 1e-6 each)."""
    mechanism, users = SignRandomiser(1.0, 3), 40_000
    values = np.repeat(np.arange(3), users)
    signs = mechanism.randomize(values, rng=stream("sign vectors", seed=1))
    assert set(np.unique(signs)) == {-1, 1}
    for x, law in enumerate(mechanism.channel().T):
        tallies = [(signs[values == x] == vector).all(axis=1).sum() for vector in mechanism.outputs()]
        assert stats.chisquare(tallies, users * law).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 0.8, 1.05, 2.0])
def test_optimised_hashing_has_the_cells_of_least_variance_at_rare_values(epsilon: float) -> None:
    hashes = [LocalHashing(epsilon, 100, cells) for cells in range(2, 20)]
    best = min(hashes, key=lambda one: one.q * (1 - one.q) / one.truthful_rate**2)
    assert LocalHashing.optimised(epsilon, 100) == best


@pytest.mark.parametrize("limit", [5000, 1])
def test_subsets_have_their_exact_mean_whether_they_are_listed_or_not(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ldpnb.mechanisms.subsets.EXPLICIT_LIMIT", limit)
    mechanism, counts = SubsetSelection(1.0, 5, 2), np.array([5000, 3000, 2000, 0, 0])
    tallies = mechanism.sample_tallies(counts, rng=np.random.default_rng(1))
    assert tallies.sum() == 20_000
    assert np.abs(tallies - counts * mechanism.p - (10_000 - counts) * mechanism.q).max() < 6 * 50


def test_as_many_subsets_as_allowed_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldpnb.mechanisms.subsets.EXPLICIT_LIMIT", 10)
    assert SubsetSelection(1.0, 5, 2).outputs().shape == (10, 5)
    _, tallies = SubsetSelection(1.0, 5, 2).sample_outputs([900, 0, 0, 0, 100], rng=np.random.default_rng(5))
    assert tallies.size <= 10
    with pytest.raises(ValueError, match="subsets must be at most 10 to list them all, got 15"):
        SubsetSelection(1.0, 6, 2).outputs()


@pytest.mark.parametrize("form", [UnaryEncoding.optimised, LocalHashing.optimised])
def test_one_user_may_have_more_values_than_a_block_holds(form: Callable[..., UnaryEncoding | LocalHashing]) -> None:
    mechanism = form(1.0, 2**22 + 1)
    bits = mechanism.randomize([2**22], rng=np.random.default_rng(1))
    assert bits.mean() == pytest.approx(mechanism.q, rel=0.01)


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
