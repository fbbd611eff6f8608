"""Where a statement has an exception at an edge, the ledger says so, and a printed bound is rounded up."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from ldpnb import claims
from ldpnb.accuracy import dropouts, gaps, means, shrinkage
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.mechanisms.means import CentralLaplace, OneBit
from ldpnb.papers.biswas2022 import charts
from ldpnb.papers.biswas2022.tables import sampling
from ldpnb.privacy.participation import participation_loss
from ldpnb.privacy.rounding import nearest_rounding_loss, rounding_threshold
from ldpnb.run.ledger import committed_ledger

LEDGER = committed_ledger().set_index("claim").fillna("")
KRR, M_R, WEAK = KaryRandomisedResponse(1.0, 4), DiscretisedMeans(1.0, 1.0), DiscretisedMeans(0.01, 1.0)


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


EXCEPTIONS: dict[str, tuple[Callable[[], object], str]] = {
    "biswas2022/theorem-3.5": (lambda: SampledCounts(9, 1.0, KRR).variance_gain(3) == 0, "at every rate below 1"),
    "biswas2022/theorem-5.1-unbiasedness": (no_users_to_compare, "or nobody holds the value"),
    "biswas2022/section-6-ii-a-higher-epsilon": (
        lambda: SampledCounts(9, 1.0, KRR).bias_unadjusted(3) == 0,
        "at rates below 1 the size of c_DE's bias",
    ),
    "biswas2022/section-6-open-question-i": (
        lambda: participation_loss(1.0, lowest_rate=1.0, highest_rate=1.0) == 1.0,
        "a rate of 1 beside lower ones makes it infinite",
    ),
    "biswas2022/section-6-open-question-iii": (part_of_a_user, "if the sum is whole"),
    "lecture20/local-model-accuracy": (better_than_a_curator, "n >= 3 for numbers, at their worst"),
    "lecture20/sample-complexity-central": (
        lambda: means.users_needed(CentralLaplace(10.0), 1.0, 0.01) < 1,
        "users, rounded up",
    ),
    "companion/when-rounding-amplifies": (
        lambda: rounding_threshold(1.0) > 0.2 and nearest_rounding_loss(7, 0.2, 1.0) == 1.0,
        "exactly that where a size rounded down jumps",
    ),
    "companion/dropouts-with-estimated-group-sizes": (harmless_dropout, "is off by d' m' - d m however many"),
}


@pytest.mark.parametrize("claim", EXCEPTIONS)
def test_a_row_names_its_exception(claim: str) -> None:
    happens, words = EXCEPTIONS[claim]
    assert happens()
    row = LEDGER.loc[claim]
    assert words in " ".join((row["says"], row["over"], row["evidence"], row["corrected"]))


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_digits_of_a_bound_are_rounded_up(digits: int) -> None:
    for value in (1e-9, 0.1, 2.197224577, 14.1421356, 99.99, 123456.7):
        shown = claims.at_most(value, digits)
        assert Fraction(value) <= Fraction(shown) * (1 + Fraction(1, 10**15))
        assert float(shown) <= value * (1 + 10.0 ** (1 - digits))


@pytest.mark.parametrize(
    ("users", "rate", "words"),
    [
        (100, 1.0, "c_DE and g_DE err alike; "),
        (100, 0.1, "From 69 users on g_DE errs less than c_DE; "),
        (60, 0.1, "c_DE errs less than g_DE throughout; "),
        (100_000, 0.1, "From 69 users on g_DE errs less than c_DE; "),
    ],
)
def test_a_title_names_the_first_number_of_users_from_which_an_estimate_is_better(
    monkeypatch: pytest.MonkeyPatch, users: int, rate: float, words: str
) -> None:
    below = shrinkage.unscaled_below(SampledCounts(users, rate, KRR))
    monkeypatch.setattr(charts, "curves", lambda *table, **axes: axes)
    table = pd.DataFrame(sampling.rare_errors([10, users], rate, KRR))
    found = charts.bias_or_variance(table, below=below, setting="")
    assert found["title"].startswith(f"{words}the best point of their line errs up to")
    both = [SampledCounts(n, rate, KRR) for n in (68, 69)]
    unscaled = [shrinkage.rare_risk(one, 1 - rate) < shrinkage.rare_risk(one, 0.0) for one in both]
    assert unscaled == [below > 68, below > 69]
