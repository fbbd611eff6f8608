"""Numbers that referees computed by programs of their own, from the public functions behind the verdicts."""

from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.accuracy.budgets import best_laplace
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.estimators.frequency import normal_offset, project_simplex, scale_simplex, unbiased
from ldpnb.estimators.likelihood import krr_mle
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.papers.lopuhaa2020.tables.optimality import errors_over_limit
from ldpnb.privacy import shuffling

TALLIES = np.array([500, 300, 150, 40, 10])
KRR = KaryRandomisedResponse(1.0, 5)


def saved_by_the_best_split(share: float) -> float:
    """Return by how much the best split of a budget of 6 lowers the variance of the gap next to a small group."""
    sizes = (round(share * 10**6), round((1 - share) * 10**6))
    least = GroupGap(best_laplace(6.0, sizes), sizes).worst_variance()
    return float(1 - least / GroupGap(LaplaceMeans(3.0, 6.0), sizes).worst_variance())


def over_gaussian(rate: float) -> float:
    """Return the variance of shuffled reports at a rare value over that of central Gaussian noise."""
    krr = KaryRandomisedResponse(9.0, 101)
    central = shuffling.ShuffledReports(50_000, rate, krr).epsilon_upper(1e-6)
    noise = shuffling.gaussian_deviation(central, 1e-6) ** 2
    return float(SampledCounts(50_000, rate, krr).variance_realised_size(0)) / noise


EXAMPLES: dict[str, tuple[Callable[[], float], float]] = {
    "the MLE": (lambda: krr_mle(TALLIES, epsilon=1.0)[0], 0.7705),
    "the MLE of [25]": (lambda: scale_simplex(unbiased(TALLIES, 1000, KRR), normal_offset(KRR))[0], 0.8009),
    "Norm-Sub": (lambda: project_simplex(unbiased(TALLIES, 1000, KRR))[0], 0.8910),
    "what a better split saves at 1 %": (lambda: saved_by_the_best_split(0.01), 0.060),
    "what a better split saves at .1 %": (lambda: saved_by_the_best_split(0.001), 0.173),
    "what a better split saves at 10 %": (lambda: saved_by_the_best_split(0.1), 0.0),
    "rare reports under sampling": (lambda: over_gaussian(0.3), 0.71),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_numbers_of_the_referees(name: str) -> None:
    compute, expected = EXAMPLES[name]
    digits = len(f"{expected:.10g}".partition(".")[2])
    assert compute() == pytest.approx(expected, abs=0.51 * 10.0**-digits)


def test_errors_over_their_limit_are_those_of_the_referees_thousand_draws() -> None:
    table = errors_over_limit(10, 10**6, [0.5, 4.0], draws=60, seed=1)
    for row, (mean, error) in zip(table.to_dict("records"), ((0.911, 0.006), (0.996, 0.009)), strict=True):
        assert abs(row["MLE"] - mean) < 4 * np.hypot(error, row["s.e. of MLE"])
        assert row["s.e. of MLE"] < 0.04
