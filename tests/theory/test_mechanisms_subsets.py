"""Subset selection: exact probabilities, exact joint law, refusal of bad parameters."""

import numpy as np
import pytest

from ldpnb.mechanisms import subsets
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.subsets import SubsetSelection


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
