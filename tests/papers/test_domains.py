"""Outside the domain that a verdict states, what it says fails: a referee's counterexamples, from the public functions."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta

from ldpnb.accuracy.budgets import best_laplace
from ldpnb.accuracy.exact_risk import TwoValues, exact_risks
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.lopuhaa2020.proofs import section_4
from ldpnb.privacy import hockey_stick
from ldpnb.run.ledger import committed_ledger


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


def three_groups() -> float:
    return hockey_stick.laplace_means_delta(LaplaceMeans.published(0.001, 3), 0.001)


OUTSIDE: dict[str, tuple[str, Callable[[], float], tuple[float, float]]] = {
    "lopuhaa2020/theorem-4.5": ("symmetric Dirichlet", bound_under_a_skewed_prior, (1.1, 1.2)),
    "lopuhaa2020/theorem-4.2": ("at epsilon 1 and n = 400", lambda: distance_to_the_limit(0.5), (0.50, 0.52)),
    "juarez2022/theorem-4.3-allocation": ("values of 1 and -1", split_of_zeros, (1.0, 1.0)),
    "juarez2022/figure-1-crossings": ("largest variances", lambda: signs_over_noise(0.0), (1.05, 1.2)),
    "juarez2022/figure-2-small-groups": ("values of largest variance", growth_next_to_zeros, (0.9, 1.1)),
    "juarez2022/appendix-b-privacy": ("two groups", three_groups, (0.39, 0.401)),
}
"""Words that a verdict needs, and a value without them, between two numbers."""


@pytest.mark.parametrize("claim", OUTSIDE)
def test_a_verdict_states_the_domain_that_it_needs(claim: str) -> None:
    words, value, (low, high) = OUTSIDE[claim]
    row = committed_ledger().set_index("claim").loc[claim]
    assert words in f"{row['over']} {row['corrected']}"
    assert low <= value() <= high


def test_within_its_domain_signs_have_the_smaller_largest_variance() -> None:
    worst = [GroupGap.of_halves(family.calibrated(3.0), 100) for family in (DiscretisedMeans, LaplaceMeans)]
    assert worst[0].worst_variance() < worst[1].worst_variance()
    assert signs_over_noise(1.0) < 1


def test_four_values_need_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert section_4.pairs_of_four()
    pairs = [(0, 1), (0, 2), (0, 1), (2, 3), (1, 3), (2, 3)]
    monkeypatch.setattr(section_4, "combinations", lambda *_: pairs)
    assert not section_4.pairs_of_four()
