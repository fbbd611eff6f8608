"""Verdicts name the domain and the exceptions that they need: at these edges more would be false."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from ldpnb import claims
from ldpnb.accuracy import dropouts, gaps, means
from ldpnb.accuracy.budgets import best_laplace
from ldpnb.accuracy.exact_risk import TwoValues, compositions, exact_risks
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.designs import strata
from ldpnb.designs.sizes import size_law, truncated_gaussian_size
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, OneBit
from ldpnb.papers.lopuhaa2020 import section_4
from ldpnb.privacy import (
    channel,
    hockey_stick,
    lemmas,
    optimiser,
    random_size,
    rounding,
    shuffling,
    subsampling,
    unequal,
)
from ldpnb.privacy.clusters import ClusterSample
from ldpnb.privacy.participation import participation_loss
from ldpnb.run.ledger import committed_ledger

EPSILON = np.log(2)
KRR, M_R, WEAK = KaryRandomisedResponse(1.0, 4), DiscretisedMeans(1.0, 1.0), DiscretisedMeans(0.01, 1.0)
LEDGER = committed_ledger().set_index("claim").fillna("")


def shuffled_over_laplace(epsilon: float) -> float:
    """Return the variance of shuffled reports at a rare value over that of a curator's Laplace noise."""
    local = shuffling.local_budget(epsilon, 1e-6, users=50_000, rate=0.2, domain_size=101)
    q = 1 / (np.exp(local) + 100)
    return float(50_000 * q * (1 - q) / (0.2 * (np.expm1(local) * q) ** 2) / (2 * (2 / epsilon) ** 2))


def no_users_to_compare() -> bool:
    """T is unbiased at a value that nobody holds, whose holders have no mean rate."""
    return PersonalRates([2, 3], [0.8, 0.2], KRR).mean([0, 0]) == 0


def part_of_a_user() -> bool:
    """Of 1.5 expected reports from two users no rates leave the size of the sample without variance."""
    floor = SampledCounts(2, 0.75, KRR).rare_variance_realised_size
    return bool(PersonalRates([1, 1], [1.0, 0.5], KRR).rare_variance > floor * (1 + 1e-9))


def harmless_dropout() -> bool:
    """Equal shares of two groups with one mean leave the gap without bias, and estimated sizes can cost a lot."""
    unbiased = gaps.misestimated_gap_bias((1 / 0.7, 1 / 0.7), (0.5, 0.5)) == 0
    known = gaps.GroupGap(WEAK, (500, 500)).variance((1.0, 1.0))
    dear = dropouts.estimated_sizes_variance(WEAK, (500, 500), (1.0, 1.0), (1.0, 1.0))
    return unbiased and bool(dear > 100 * known)


def better_than_a_curator() -> bool:
    """At values 0 and m three users at epsilon 4 do better by one bit each than a curator with Laplace noise."""
    bits = means.variance(OneBit(4.0), np.array([0.0, 1.0]), np.array([2, 1]))
    return bool(bits < means.worst_variance(CentralLaplace(4.0), 3))


def jump_of_a_size_rounded_down() -> bool:
    return rounding.rounding_threshold(1.0) > 0.2 and rounding.nearest_rounding_loss(7, 0.2, 1.0) == 1.0


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


def bound_under_a_skewed_prior() -> float:
    """Return the bound of Theorem 4.5 for every n over the least error, two values under Beta(1, 99)."""
    users, prior = 200, np.array([1.0, 99.0])
    law, bounds = beta(*prior), EntropyBounds(2)
    told = users * 2 * law.var() / LowerBounds(2, 12.0).uniform_optimum()
    least = exact_risks(KaryRandomisedResponse(12.0, 2).channel(), users, prior, {})["Bayes"].distribution
    return float(bounds.distribution(law.entropy() - told) / least)


def split_of_zeros() -> float:
    """Return the least variance of splits of 4.65 over that at ``eps2 = epsilon``: all values 0, a share of 3.2 %."""
    sizes = (32_000, 968_000)
    splits = [LaplaceMeans(4.65 - second / 2, second) for second in 4.65 * np.linspace(0.5, 1, 101)]
    assert best_laplace(4.65, sizes).value_epsilon < 4.6  # at the worst values
    variances = [float(GroupGap(split, sizes).variance((0.0, 0.0))) for split in splits]
    return min(variances) / variances[-1]


def signs_over_noise(second_moment: float) -> float:
    """Return the variance of ``M_R`` over that of ``M_L``, both keeping a budget of 3, of two equal groups."""
    gaps = [GroupGap.of_halves(family.calibrated(3.0), 100) for family in (DiscretisedMeans, LaplaceMeans)]
    first, second = (float(gap.variance((second_moment, second_moment))) for gap in gaps)
    return first / second


def growth_next_to_zeros() -> float:
    """Return the variance at a share of 2.5 % over that at 5 %: values 1 and -1 in the small group, 0 in the other."""
    gaps = [GroupGap(DiscretisedMeans(10.0, 10.0), (size, 1000 - size)) for size in (25, 50)]
    first, second = (float(gap.variance((1.0, 0.0))) for gap in gaps)
    return first / second


def distance_to_the_limit(epsilon: float) -> float:
    """Return how far ``h(P|Y) + ln(n) / 2`` is from its limit under Jeffreys' prior, 400 users, two values."""
    contrast, held = np.expm1(epsilon), np.sin((np.arange(4000) + 0.5) * np.pi / 8000) ** 2
    variance = (1 + contrast * held) * (1 + contrast * (1 - held)) / contrast**2
    limit = 0.5 * np.log(2 * np.pi * np.e * variance).mean()
    return float(limit - TwoValues(400, epsilon).entropies()[0] - np.log(400) / 2)


def more_tallies_than_terms() -> bool:
    """Four users send one of four outputs for one of two values: an estimate has five terms, the error 35 tallies."""
    return len(compositions(4, 4)) > len(compositions(4, 2))


def a_single_group() -> bool:
    """Nobody can be moved out of the only group: what is left is randomised response on the sign."""
    kept = 1 / (1 + np.exp(-M_R.value_epsilon))
    return channel.privacy_loss([[kept, 1 - kept], [1 - kept, kept]]).epsilon < M_R.epsilon - 0.3


def numbers_as_they_are() -> bool:
    """Laplace noise at epsilon 6 leaves less than a third of the least variance that any channel of signs has."""
    noise = GroupGap.of_halves(LaplaceMeans.calibrated(6.0), 100)
    return bool(3 * 100 * noise.worst_variance() < BestGapChannel(6.0, 0.5).variance)


def three_groups() -> float:
    return hockey_stick.laplace_means_delta(LaplaceMeans.published(0.001, 3), 0.001)


EDGES: dict[str, tuple[str, Callable[[], object]]] = {
    "biswas2022/theorem-3.5": ("at every rate below 1", lambda: SampledCounts(9, 1.0, KRR).variance_gain(3) == 0),
    "biswas2022/theorem-5.1-unbiasedness": ("0 where nobody holds $i$", no_users_to_compare),
    "biswas2022/section-6-ii-a-higher-epsilon": (
        "at rates below 1 the size of $c_{DE}$'s bias",
        lambda: SampledCounts(9, 1.0, KRR).bias_unadjusted(3) == 0,
    ),
    "biswas2022/section-6-open-question-i": (
        "a rate of 1 beside lower ones makes it infinite",
        lambda: participation_loss(1.0, lowest_rate=1.0, highest_rate=1.0) == 1.0,
    ),
    "biswas2022/section-6-open-question-iii": ("if the sum is whole", part_of_a_user),
    "bun2022/lemmas-a.2-to-a.4": (r"every other pair within $\varepsilon_1$", mixtures_of_apart_components),
    "bun2022/section-3-tails": ("for all $s$, positive and negative", a_mean_that_is_too_large),
    "bun2022/figure-2": (r"$n(e^s - 1) \ge", one_record_or_none),
    "bun2022/theorem-5.2": ("an emptied cluster stays", an_emptied_cluster_that_goes),
    "bun2022/section-6-detectable-inclusion": ("can prevent", an_event_that_tells_nothing_more),
    "bun2022/proposition-6.1": (r"$\mu_0' > 0$", an_event_of_drawn_records_only),
    "bun2022/section-6-data-dependent-inclusion": ("in the same proportions", others_that_change_places),
    "bun2022/section-6.1-equal-sizes": ("if the size is fixed", every_size_equally_mixed),
    "bun2022/section-6.2-pps-of-clusters": ("two or more clusters", a_single_cluster),
    "bun2022/equation-6": ("positive variances", a_constant_stratum),
    "bun2022/equation-7": ("positive lower bound", variances_near_zero),
    "bun2022/theorem-7.2": ("has Theorem 4.3's bound", more_than_the_mechanism),
    "bun2022/section-7.3-proportional-for-all-statistics": ("need no rounding", rounded_shares),
    "lopuhaa2020/theorem-4.5": ("symmetric Dirichlet", lambda: bound_under_a_skewed_prior() > 1.1),
    "lopuhaa2020/theorem-4.2": (
        r"at $\varepsilon = 1$ and $n = 400$",
        lambda: 0.50 < distance_to_the_limit(0.5) < 0.52,
    ),
    "lopuhaa2020/proposition-3.2": ("for the error as many for each tally", more_tallies_than_terms),
    "juarez2022/theorem-4.1": ("two or more groups", a_single_group),
    "juarez2022/theorem-4.3-allocation": ("values of $1$ and $-1$", lambda: split_of_zeros() == 1),
    "juarez2022/figure-1": (
        "largest variances",
        lambda: signs_over_noise(0.0) > 1.05 > 1 > signs_over_noise(1.0),
    ),
    "juarez2022/figure-2-small-groups": ("values of largest variance", lambda: 0.9 < growth_next_to_zeros() < 1.1),
    "juarez2022/appendix-b-privacy": ("two groups", lambda: 0.39 < three_groups() < 0.401),
    "lecture20/local-model-accuracy": (r"$n \ge 3$ for numbers, at their worst", better_than_a_curator),
    "lecture20/mean-central-laplace": (
        "users are enough, rounded up",
        lambda: means.users_needed(CentralLaplace(10.0), 1.0, 0.01) < 1,
    ),
    "companion/shuffled-reports-against-central-gaussian-noise": (
        "A curator's Laplace noise, which needs no $\\delta$, has less variance than either",
        lambda: shuffled_over_laplace(1.0) > 3 and shuffled_over_laplace(4.0) < 1,
    ),
    "companion/the-best-channel-for-a-gap": ("a channel that takes numbers unrounded", numbers_as_they_are),
    "companion/when-rounding-amplifies": ("exactly that where a size rounded down jumps", jump_of_a_size_rounded_down),
    "companion/dropouts-with-estimated-group-sizes": ("is off by $d'm' - dm$ however many", harmless_dropout),
}
"""Words that a verdict needs, and what happens where they do not hold."""


@pytest.mark.parametrize("claim", EDGES)
def test_a_verdict_names_the_edge_beyond_which_it_fails(claim: str) -> None:
    words, happens = EDGES[claim]
    assert words in " ".join(LEDGER.loc[claim, ["says", "over", "evidence", "corrected"]])
    assert happens()


def test_within_its_domain_signs_have_the_smaller_largest_variance() -> None:
    worst = [GroupGap.of_halves(family.calibrated(3.0), 100) for family in (DiscretisedMeans, LaplaceMeans)]
    assert worst[0].worst_variance() < worst[1].worst_variance()


def test_four_values_need_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert section_4.pairs_of_four()
    pairs = [(0, 1), (0, 2), (0, 1), (2, 3), (1, 3), (2, 3)]
    monkeypatch.setattr(section_4, "combinations", lambda *_: pairs)
    assert not section_4.pairs_of_four()


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_digits_of_a_bound_are_rounded_up(digits: int) -> None:
    for value in (1e-9, 0.1, 2.197224577, 14.1421356, 99.99, 123456.7):
        shown = claims.at_most(value, digits)
        assert Fraction(value) <= Fraction(shown) * (1 + Fraction(1, 10**15))
        assert float(shown) <= value * (1 + 10.0 ** (1 - digits))
