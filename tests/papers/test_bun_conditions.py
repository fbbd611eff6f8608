"""Claims of bun2022 say no more than holds: beyond the words tested here they fail on a small example."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.designs import strata
from ldpnb.designs.sizes import size_law, truncated_gaussian_size
from ldpnb.privacy import channel, lemmas, optimiser, random_size, rounding, subsampling, unequal
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.run.ledger import committed_ledger

EPSILON = np.log(2)
LEDGER = committed_ledger().set_index("claim").fillna("")


def mixtures_of_apart_components() -> bool:
    rare = 0.05 * np.exp([EPSILON, 0.0])
    mixed = np.vstack([[0.5, 0.5], rare, 0.5 - rare])
    return channel.privacy_loss(mixed).epsilon > lemmas.mixture_loss(0.5, common=0.0, other=EPSILON)


def a_mean_that_is_too_large() -> bool:
    """Return whether ``E~`` is beyond the bound of a law of 0 or 100 that obeys it for positive ``s`` only."""
    rare, mu, v, eps = np.exp(-20.0), 50.0, 62.5, 0.25
    s = np.geomspace(1e-4, 4, 400)
    assert (np.log1p(rare * np.expm1(100 * s)) <= s * mu + s**2 * v / 2).all()
    return 100 * random_size.tilted_rate(size_law({0: 1 - rare, 100: rare}), eps) > mu + 2 * eps * v


def one_record_or_none() -> bool:
    return random_size.random_size_loss(truncated_gaussian_size(1, 0.5, 1e3), EPSILON) * 1.1 < 2 * EPSILON


def an_emptied_cluster_that_goes() -> bool:
    lost = optimiser.largest_loss({(0,): 0.5, (1,): 0.5}, {(1,): 1.0}, epsilon=EPSILON).loss
    return lost > ClusterSample([1, 1], 1).upper_bound(EPSILON)


def an_event_that_tells_nothing_more() -> bool:
    event = unequal.Inclusion(0.25, 0.5, 0.02, 0.01, 1e-5, 1e-5)
    return event.inside > 1000 * event.outside and event.event_loss() < 0.01 * EPSILON


def an_event_of_drawn_records_only() -> bool:
    often, rare = (unequal.Inclusion(p, p, 0.2, 0.1, 0.0, 0.0).loss_lower_bound() for p in (0.9, 0.1))
    return bool(np.isclose(often, rare))


def others_that_change_places() -> bool:
    first, second = {("x",): 0.1, ("a",): 0.8, ("b",): 0.1}, {("y",): 0.1, ("a",): 0.1, ("b",): 0.8}
    return optimiser.largest_loss(first, second, epsilon=EPSILON).loss > unequal.one_draw_loss(0.1, 0.1, EPSILON)


def every_size_equally_mixed() -> bool:
    return unequal.poisson_loss([0.5, 0.0], [0.0, 0.5], EPSILON) < subsampling.srs_loss(2 * EPSILON, 0.5)


def a_single_cluster() -> bool:
    return unequal.pps_cluster_loss([9], EPSILON) == pytest.approx(EPSILON)


def a_constant_stratum() -> bool:
    return strata.Strata([2, 2], [0.0, 1.0]).neyman(2)[0] == 0


def variances_near_zero() -> bool:
    return all(2 / strata.Strata([2], [x * x / 2]).variance([1]) > 1 / x for x in (1.0, 1e-3, 1e-6))


def more_than_the_mechanism() -> bool:
    return rounding.random_rounding_loss(4, 0.75, 0.5) > 0.5


def rounded_shares() -> bool:
    large = strata.Strata([10**9, 9 * 10**9], [1.0, 0.0])
    return large.variance(strata.rounded_shares([1.2, 10.8])) > 10.9 * large.variance([11, 1])


NEEDED: dict[str, tuple[str, Callable[[], bool]]] = {
    "lemma-a.4": ("every other X, Y within epsilon_1", mixtures_of_apart_components),
    "section-3-tails": ("for all s, positive and negative", a_mean_that_is_too_large),
    "figure-2": ("n (e^s - 1) >=", one_record_or_none),
    "theorem-5.2": ("an emptied cluster stays", an_emptied_cluster_that_goes),
    "section-6-detectable-inclusion": ("can prevent", an_event_that_tells_nothing_more),
    "section-6-inclusion-near-1": ("mu_0' > 0", an_event_of_drawn_records_only),
    "section-6-data-dependent-inclusion": ("in the same proportions", others_that_change_places),
    "section-6.1-equal-sizes": ("if the size is fixed", every_size_equally_mixed),
    "section-6.2-pps-of-clusters": ("two or more clusters", a_single_cluster),
    "equation-6": ("positive variances", a_constant_stratum),
    "equation-7": ("positive lower bound", variances_near_zero),
    "theorem-7.2": ("has Theorem 4.3's bound", more_than_the_mechanism),
    "section-7.3-proportional-for-all-statistics": ("need no rounding", rounded_shares),
}


@pytest.mark.parametrize("claim", NEEDED)
def test_a_claim_keeps_to_the_words_beyond_which_it_fails(claim: str) -> None:
    words, fails = NEEDED[claim]
    row = LEDGER.loc[f"bun2022/{claim}"]
    assert words in " ".join(row[["says", "over", "corrected"]])
    assert fails()
