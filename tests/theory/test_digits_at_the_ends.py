"""Numbers that once lost their digits at the ends of their range, each against mpmath or a clear refusal."""

import itertools

import flint
import mpmath as mp
import numpy as np
import pytest

from ldpnb.accuracy import hajek
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.estimators import saddle
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.privacy import best_channel, clusters, hockey_stick, shuffling


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("part", ["variance_rescaled", "variance_realised_size", "variance_ratio"])
def test_independent_data_keep_their_digits(part: str, monkeypatch) -> None:
    def value(cast, epsilon: float, holders: int):
        survey = SampledCounts(10**12, cast(0.3), KaryRandomisedResponse(cast(epsilon), 1000), data="iid")
        return getattr(survey, part)(cast(holders))

    monkeypatch.setattr(flint.ctx, "prec", 2000)
    for case in itertools.product((1e-8, 1.0, 50.0, 300.0), (0, 1, 10**12 - 1, 10**12)):
        exact = value(flint.arb, *case)
        assert float(abs(flint.arb(float(value(lambda x: x, *case))) - exact)) <= 1e-12 * float(abs(exact)), case


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 600.0])
@pytest.mark.parametrize("rates", [(1.0, 1e-12, 0.3), (1e-9, 3e-6, 2e-11), (1.0, 1.0, 1 - 1e-12)])
def test_moments_of_the_ratio_are_those_of_every_sample(rates: tuple[float, ...], epsilon: float) -> None:
    held, e = (1, 0, 1), mp.exp(epsilon)
    p, q = e / (e + 4), 1 / (e + 4)
    total = mean = square = mp.mpf(0)
    for sample in itertools.product((0, 1), repeat=3):
        if any(sample):
            chance = mp.fprod(r if s else 1 - mp.mpf(r) for s, r in zip(sample, rates, strict=True))
            weights = [s / mp.mpf(r) for s, r in zip(sample, rates, strict=True)]
            share = mp.fsum(w * h for w, h in zip(weights, held, strict=True)) / mp.fsum(weights)
            noise = mp.fsum(w * w * (p * (1 - p) if h else q * (1 - q)) for w, h in zip(weights, held, strict=True))
            total, mean = total + chance, mean + chance * 3 * share
            square += chance * 9 * (noise / (mp.fsum(weights) * (p - q)) ** 2 + share * share)
    mean, square = mean / total, square / total
    survey = PersonalRates([1, 1, 1], rates, KaryRandomisedResponse(epsilon, 5))
    with mp.workdps(700):
        assert hajek.mean_hajek(survey, held) == pytest.approx(float(mean), rel=1e-11)
    assert hajek.variance_hajek(survey, held) == pytest.approx(float(square - mean**2), rel=1e-11)


@pytest.mark.parametrize(
    ("share", "epsilon", "rate"),
    [(0.5, 1e-8, 0.3), (0.3, 1e-8, 0.3), (0.3 + 1e-12, 1e-3, 0.3), (0.3, 5.0, 0.3), (1 - 1e-9, 2.0, 1 - 2e-9)],
)
def test_the_critical_cluster_keeps_its_digits_where_share_and_rate_are_close(
    share: float, epsilon: float, rate: float
) -> None:
    s, e, p = mp.mpf(share), mp.mpf(epsilon), mp.mpf(rate)
    exact = (1 - mp.log(mp.expm1((1 - s) * e) / -mp.expm1(-s * e) * p / (1 - p)) / e) / 2
    found = clusters.critical_cluster_size(share, epsilon=epsilon, sampling_rate=rate)
    assert found == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-4, 1.0, 50.0])
def test_total_variation_of_laplace_means_keeps_its_digits(epsilon: float) -> None:
    e, mechanism = mp.mpf(epsilon), LaplaceMeans.calibrated(epsilon)
    keep, near = mp.exp(e / 2) / (mp.exp(e / 2) + 1), mp.exp(-e / 2)
    # kept reports exceed those of the other value above 0, and moved ones nowhere, being e^(-eps/2) of them below 0
    value, group = keep * (1 - near), keep * (1 - near / 2) - (1 - keep) / 2
    assert hockey_stick.total_variation(mechanism) == pytest.approx(float(max(value, group)), rel=1e-14)
    laws = (1.0, 1.0, mechanism.kept_scale), (1.0, -1.0, mechanism.kept_scale)
    assert hockey_stick.laplace_delta(*laws, 0.0)[0] == pytest.approx(float(1 - near), rel=1e-14)


def test_a_law_that_the_other_excludes_counts_in_full() -> None:
    assert hockey_stick.laplace_delta((0.25, 1.0, 2.0), (0.0, 0.0, 1.0), 3.0)[0] == 0.25


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6, 1e-3])
def test_the_best_channel_is_certified_at_small_budgets(epsilon: float) -> None:
    best = best_channel.best_channel([0.2, 0.3, 0.5], epsilon)
    assert best.error * (1 - 1e-9) <= best.lower_bound <= best.error
    assert best.error * epsilon**2 == pytest.approx(6, rel=2 * epsilon)
    assert best.channel.sum(axis=0) == pytest.approx([1, 1, 1], abs=1e-9)


def test_the_best_channel_for_a_gap_is_refused_where_floats_leave_none() -> None:
    with pytest.raises(ValueError, match=r"share and epsilon must leave digits .*share=1e-10, epsilon=1\.1e-08"):
        _ = BestGapChannel(1.1e-8, 1e-10).variance


def test_a_saddle_point_that_is_not_found_is_reported(monkeypatch) -> None:
    stuck = (np.zeros(2), np.array([0.7, 0.7]), np.ones(2))
    monkeypatch.setattr(saddle, "_coordinate_moments", lambda *_: stuck)
    with pytest.raises(ValueError, match="tallies must be few enough for a saddle point"):
        saddle.saddle_point(np.array([[3.0, 1.0], [0.0, 1.0]]), np.array([1, 1]), 1.0)


def test_the_bounds_of_a_billion_shuffled_reports_take_seconds() -> None:
    reports = shuffling.ShuffledReports(10**9, 1.0, KaryRandomisedResponse(3.0, 3))
    upper, lower = reports.delta_upper(7e-4), reports.delta_lower(7e-4)
    assert lower <= upper <= lower * (1 + 1e-5)
