"""Subset selection: exact probabilities, exact joint law, refusal of bad parameters."""

from math import comb

import numpy as np
import pytest

from ldpnb.mechanisms import subsets
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import privacy_loss


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 50.0])
@pytest.mark.parametrize(("size", "subset"), [(2, 1), (5, 2), (6, 5)])
def test_the_channel_is_private_to_exactly_epsilon_and_has_the_stated_p_and_q(
    epsilon: float, size: int, subset: int
) -> None:
    mechanism = SubsetSelection(epsilon, size, subset)
    channel, bits = mechanism.channel(), mechanism.outputs()
    assert channel.shape == (comb(size, subset), size)
    assert channel.sum(axis=0) == pytest.approx(np.ones(size), rel=1e-12)
    assert privacy_loss(channel).epsilon == pytest.approx(epsilon, rel=1e-9)
    held = bits.T.astype(float) @ channel
    assert np.diag(held) == pytest.approx(np.full(size, mechanism.p), rel=1e-12)
    assert held[0, 1] == pytest.approx(mechanism.q, rel=1e-9)


def test_sets_of_one_are_k_ary_randomised_response() -> None:
    one, krr = SubsetSelection(1.0, 5, 1), KaryRandomisedResponse(1.0, 5)
    assert (one.p, one.q) == pytest.approx((krr.p, krr.q), rel=1e-12)
    assert one.channel() == pytest.approx(krr.channel(), rel=1e-12)


@pytest.mark.parametrize("limit", [5000, 1])
def test_tallies_have_their_exact_mean_whether_subsets_are_listed_or_not(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subsets, "EXPLICIT_LIMIT", limit)
    mechanism, counts = SubsetSelection(1.0, 5, 2), np.array([5000, 3000, 2000, 0, 0])
    tallies = mechanism.sample_tallies(counts, rng=np.random.default_rng(1))
    expected = counts * mechanism.p + (10_000 - counts) * mechanism.q
    assert tallies.sum() == 20_000
    assert np.abs(tallies - expected).max() < 6 * 50


def test_a_report_holds_as_many_values_as_stated() -> None:
    bits = SubsetSelection(2.0, 7, 3).randomize(np.arange(7).repeat(20), rng=np.random.default_rng(2))
    assert bits.dtype == np.uint8
    assert (bits.sum(axis=1) == 3).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 4, 2), "epsilon must be > 0"),
        ((1.0, 1, 1), "domain_size must be an integer >= 2"),
        ((1.0, 4, 0), "subset_size must be an integer >= 1"),
        ((1.0, 4, 4), "subset_size must be < domain_size, got 4 of 4"),
    ],
)
def test_bad_parameters_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SubsetSelection(*arguments)


def test_bad_data_are_refused() -> None:
    mechanism, rng = SubsetSelection(1.0, 4, 2), np.random.default_rng(3)
    with pytest.raises(ValueError, match="counts must have one entry per value, 4, got 3"):
        mechanism.sample_tallies([1, 2, 3], rng=rng)
    with pytest.raises(ValueError, match=r"values must lie in 0 .. 3, got 0 .. 4"):
        mechanism.randomize(np.array([0, 4]), rng=rng)
    with pytest.raises(TypeError, match="values must be a one-dimensional array of integers"):
        mechanism.randomize(np.array([0.5]), rng=rng)
    with pytest.raises(ValueError, match="subsets must be at most 5000"):
        SubsetSelection(1.0, 30, 10).outputs()
