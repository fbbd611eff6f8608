"""Formulas behind the companion's own results: ends of their domains, refusals, and draws against exact values."""

import math

import numpy as np
import pytest

import ldpnb as ldp
from ldpnb.accuracy.exact_distances import report_law


@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 5.0, 40.0, 800.0])
@pytest.mark.parametrize("rate", [1e-6, 0.2, 0.9, 1.0])
def test_an_independent_sample_loses_at_most_what_the_mechanism_does(rate: float, epsilon: float) -> None:
    loss, both = ldp.poisson_loss(epsilon, rate), ldp.poisson_loss(epsilon, rate, neighbours="deletion")
    assert both <= loss <= min(2 * epsilon, float(ldp.srs_loss(2 * epsilon, rate))) * (1 + 1e-12)
    if rate == 1:
        assert loss == pytest.approx(2 * epsilon, rel=1e-12)


def test_unknown_relations_and_no_releases_are_refused() -> None:
    with pytest.raises(ValueError, match="neighbours"):
        ldp.poisson_loss(1.0, 0.1, neighbours="swap")
    with pytest.raises(ValueError, match="at least one release"):
        ldp.releases_loss([], abs)


@pytest.mark.parametrize(("users", "rate"), [(7, 0.5), (40, 1.0), (5_000, 0.01)])
def test_the_law_of_reports_is_one_and_has_their_mean(users: int, rate: float) -> None:
    survey = ldp.SampledCounts(users, rate, ldp.KaryRandomisedResponse(2.0, 5))
    law = report_law(users // 3, survey)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert law.min() > -1e-12
    assert law.sum(axis=1) @ np.arange(law.shape[0]) + law.sum(axis=0) @ np.arange(law.shape[1]) == pytest.approx(
        users * rate
    )


def test_the_exact_distance_nears_the_normal_one_with_many_reports() -> None:
    survey = ldp.SampledCounts(1_000, 0.9, ldp.KaryRandomisedResponse(1.0, 3))
    holders = np.array([500, 375, 125])
    normal = ldp.expected_total_variation(np.sqrt(survey.variance_realised_size(holders)), users=1_000)
    assert ldp.exact_total_variation(holders, survey) == pytest.approx(normal, rel=1e-4)


@pytest.mark.parametrize("share", [0.3, 0.02])
def test_drawn_gaps_of_the_best_channel_have_its_mean_and_variance(share: float) -> None:
    best, users, draws = ldp.BestGapChannel(1.0, share), 10_000, 4_000
    first = round(share * users)
    counts = [first, 0, 0, users - first]  # all +1 against all -1: a gap of 2
    drawn = best.sample_gaps(counts, repetitions=draws, rng=ldp.stream("best gap", seed=1))
    variance = (best.variance - best.target[[0, 3]] @ (1, 1)) / users
    assert abs(drawn.mean() - 2) < 5 * math.sqrt(variance / draws)
    assert abs(drawn.var() / variance - 1) < 5 * math.sqrt(2 / draws)


@pytest.mark.parametrize("share", [0.5, 0.37, 0.05, 0.001])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.5, 9.0, 30.0])
def test_the_best_channel_is_certified_private_and_symmetric_in_the_groups(share: float, epsilon: float) -> None:
    best, mirrored = (ldp.BestGapChannel(epsilon, first) for first in (share, 1 - share))
    assert best.variance == pytest.approx(best.bound, rel=1e-8)
    for channel in (best.channel(), mirrored.channel()):
        assert np.abs(channel.sum(axis=0) - 1).max() < 1e-14
        assert ldp.privacy_loss(channel).epsilon == pytest.approx(epsilon)
    assert mirrored.variance == pytest.approx(best.variance, rel=1e-8)


@pytest.mark.parametrize("share", [0.25, 0.1, 0.01])
@pytest.mark.parametrize("epsilon", [0.5, 2.9, 6.0])
def test_no_discretised_means_beat_the_best_channel(epsilon: float, share: float) -> None:
    best = ldp.BestGapChannel(epsilon, share)
    sizes = best.sizes(10**6)
    own = ldp.GroupGap(ldp.DiscretisedMeans.calibrated(epsilon), sizes).worst_variance()
    assert best.variance <= 10**6 * own * (1 + 1e-12)


def test_no_group_of_the_best_channel_is_empty() -> None:
    assert [ldp.BestGapChannel(1.0, share).sizes(10) for share in (0.01, 0.3, 0.99)] == [(1, 9), (3, 7), (9, 1)]
    with pytest.raises(ValueError, match="users must lie in"):
        ldp.BestGapChannel(1.0, 0.3).sizes(2**63)


def test_hashed_reports_support_values_as_their_tallies_do() -> None:
    hashing, users = ldp.LocalHashing(1.0, 5, 3), 20_000
    sent = hashing.randomize(np.repeat([0, 3], users), rng=ldp.stream("hash", seed=1)).reshape(2, users, 5).mean(axis=1)
    drawn = hashing.sample_tallies([users, 0, 0, users, 0], rng=ldp.stream("tallies", seed=1)) / users
    assert np.abs(sent - np.where(np.eye(5)[[0, 3]] == 1, hashing.p, hashing.q)).max() < 5 * 0.5 / math.sqrt(users)
    sets, times = hashing.sample_outputs([users, 0, 0, users, 0], rng=ldp.stream("sets", seed=1))
    for supported in (drawn, times @ sets / users):
        assert np.abs(supported - sent.sum(axis=0)).max() < 10 / math.sqrt(users)


@pytest.mark.parametrize(
    ("users", "epsilon", "size", "rate"), [(60, 0.5, 3, 1.0), (5_000, 3.0, 20, 0.4), (10**6, 6.0, 50, 1.0)]
)
def test_the_blanket_of_k_rr_is_its_account(users: int, epsilon: float, size: int, rate: float) -> None:
    mechanism = ldp.KaryRandomisedResponse(epsilon, size)
    exact = ldp.ShuffledReports(users, rate, mechanism).epsilon_upper(1e-6)
    found = ldp.Blanket.of(mechanism).sampled(rate).epsilon_upper(1e-6, users=users)
    assert exact * (1 - 1e-6) <= found <= exact * 1.002


def test_a_channel_that_rules_a_value_out_has_no_blanket() -> None:
    with pytest.raises(ValueError, match="has no blanket"):
        ldp.Blanket.of_channel([[0.5, 0.0], [0.5, 1.0]])


def test_a_rule_of_too_large_a_family_is_refused() -> None:
    from ldpnb.accuracy.allocation import Family

    with pytest.raises(ValueError, match="at most 64 populations"):
        ldp.best_rule(Family((8, 8), (1.0, 1.0)), 4, 1.0)
    with pytest.raises(ValueError, match="a record from every stratum"):
        ldp.best_rule(Family((2, 2), (1.0, 1.0)), 1, 1.0)


@pytest.mark.parametrize("shares", [(0.05, 0.95), (0.5, 0.5)])
def test_a_plan_names_the_best_channel_where_groups_differ(shares: tuple[float, float]) -> None:
    found = ldp.plan(ldp.Gap(count=100_000, failure=0.01, epsilon=2.0, shares=shares, tail="normal"))
    values = {a.mechanism: a.value for a in found.answers}
    assert ("best channel" in values) == (shares[0] != shares[1])
    assert found.best.mechanism == ("best channel" if "best channel" in values else "signed bit")
    if "best channel" in values:
        assert (values["signed bit"] / values["best channel"]) ** 2 == pytest.approx(
            ldp.GroupGap(ldp.SignedBit(2.0, (5, 95)), (5, 95)).worst_variance()
            * 100
            / ldp.BestGapChannel(2.0, 0.05).variance
        )
