"""Check the tables behind the figures.

Where a table has simulated values and exact ones, each simulated value must lie within 5.5 standard
errors of the exact one. The other tests are about settings: a notebook runs at the scale of its
source, and data that stand in for a source's data add up as the source says.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.biswas2022.tables import sampling
from ldpnb.papers.biswas2022.written_out import published
from ldpnb.papers.bun2022 import establishments
from ldpnb.papers.bun2022.formulas.allocation import Family
from ldpnb.papers.bun2022.tables import allocation, private_allocation, sample_sizes, unequal
from ldpnb.papers.juarez2022 import clients
from ldpnb.papers.juarez2022.tables import gaps
from ldpnb.papers.lecture20.tables import histograms, means
from ldpnb.papers.lopuhaa2020.tables.frequencies import (
    ESTIMATORS,
    RATIO_ERROR,
    RepeatedReports,
    Truth,
    compare,
)
from ldpnb.run.catalogue import find

# Simulated and exact values


def distances(
    table: pd.DataFrame, simulated: str, exact: str, error: str = "standard error"
) -> pd.Series:
    """Return how far simulated values are from exact ones in the same row, in standard errors."""
    return (table[simulated] - table[exact]) / table[error]


def distances_between_rows(
    table: pd.DataFrame, value: str, error: str = "standard error"
) -> pd.Series:
    """Return the same, where the exact values have rows of their own, without a standard error."""
    keys = [column for column in table if column not in (value, error)]
    is_exact = table[error].isna()
    exact = table[is_exact].set_index(keys)
    simulated = table[~is_exact].set_index(keys)
    assert len(simulated) == len(exact)
    return (simulated[value] - exact[value]) / simulated[error]


def errors_of_means() -> pd.Series:
    table = means.errors_by_users([100, 10**6], epsilon=1.0, upper=24.0, runs=2000, seed=1)
    return distances_between_rows(table, "root mean squared error (hours)")


def errors_of_counts() -> pd.Series:
    counts = histograms.zipf_counts(50, 10_000, seed=1)
    table = histograms.count_errors(counts, [0.2, 2.0], 60, seed=1)
    return distances_between_rows(table, "root mean squared error (users)")


def sampling_bias() -> pd.Series:
    counts = sampling.data_sets(20_000, seed=5)["Bin(100, .5)"]
    table = sampling.bias_curve(counts, [1.0, 3.0], [0.2, 1.0], 50, seed=5)
    return distances_between_rows(table, "bias (users)", "standard_error")


def reweighted_rates() -> pd.Series:
    table = sample_sizes.simulated_tilted_rates(100, 20.0, [0.1, 0.15], 1.0, draws=100_000, seed=3)
    return distances(table, "estimate", "exact")


def independent_inclusions() -> pd.Series:
    table = unequal.inclusion_shares([1, 2, 3, 4], 2, draws=2000, seed=3)
    return distances(table, "independent", "probability")


def systematic_inclusions() -> pd.Series:
    table = unequal.inclusion_shares([1, 2, 3, 4], 2, draws=2000, seed=3)
    return distances(table, "systematic", "probability")


def stratified_means() -> pd.Series:
    tally = establishments.simulate(top_code=10_000)
    table = allocation.drawn_means(tally, [1, 10, 100], 5000, repetitions=40, seed=3)
    return distances(table, "mean of estimates", "population mean", "standard error of that mean")


def private_means() -> pd.Series:
    tables = private_allocation.candidates(Family((6, 4), (1.0, 3.0)), 4)
    solved = private_allocation.variances(tables, [0.5])
    table = private_allocation.simulated_variances(tables, solved, 0.5, draws=50_000, seed=3)
    return distances(table, "simulated", "exact")


def moments_of_gaps() -> pd.Series:
    sample = clients.two_valued([500, 1500], [0.6, 0.2], [0.7, 0.3])
    mechanisms = {"R": DiscretisedMeans.calibrated(1.0), "L": LaplaceMeans.published(1.0)}
    table = gaps.simulated_moments(mechanisms, sample, repetitions=20_000, seed=1)
    return distances(table, "simulated", "exact", "standard_error")


def errors_of_gaps() -> pd.Series:
    table = gaps.measured_errors(
        clients.published(), [0.01, 1.0], runs=10, repetitions=400, failure=0.01, seed=1
    )
    assert (table["low"] < table["expected"]).all()
    assert (table["expected"] < table["high"]).all()
    return distances(table, "mean", "expected", "standard_error")


def coverage_of_intervals() -> pd.Series:
    table = gaps.simulated_coverage(
        [0.0, 0.01], epsilon=1.0, users=10**5, repetitions=20_000, level=0.99, seed=1
    )
    return distances(table.assign(level=0.99), "coverage", "level", "standard_error")


def failures_of_targets() -> pd.Series:
    failure = 0.01
    repetitions = 5000
    budgets = gaps.epsilon_table([10**9], [0.01], [("M_R", "exact")], failure=failure)
    table = gaps.simulated_failures(budgets, repetitions=repetitions, seed=1)

    standard_error = np.sqrt(failure * (1 - failure) / repetitions)
    return (table["failures"] - failure) / standard_error


@pytest.mark.parametrize(
    "simulation",
    [
        errors_of_means,
        errors_of_counts,
        sampling_bias,
        reweighted_rates,
        independent_inclusions,
        systematic_inclusions,
        stratified_means,
        private_means,
        moments_of_gaps,
        errors_of_gaps,
        coverage_of_intervals,
        failures_of_targets,
    ],
)
def test_simulated_values_lie_around_the_exact_ones(simulation: Callable[[], pd.Series]) -> None:
    found = simulation()
    assert found.size
    assert (found.abs() < 5.5).all()


# Settings


def test_a_point_does_not_depend_on_the_other_points() -> None:
    truth = Truth.from_prior(8, 500)
    both = compare("k-RR", truth, [0.5, 2.0], draws=6, seed=3)
    alone = compare("k-RR", truth, [2.0], draws=6, seed=3)

    of_both = both[both["epsilon (nats)"] == 2.0].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_both, alone)


def test_a_ratio_of_errors_that_is_the_same_in_every_draw_has_no_standard_error() -> None:
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    unbiased = ESTIMATORS["unbiased"]

    def three_times_as_far(reports: RepeatedReports) -> np.ndarray:
        return shares + 3 * (unbiased(reports) - shares)

    estimators = {
        "unbiased": unbiased,
        "farther": three_times_as_far,
        "guess": ESTIMATORS["uniform guess"],
    }
    truth = Truth.from_distribution("fixed", shares, 1000)
    table = compare(
        "k-RR", truth, [1.0], draws=20, seed=5, estimators=estimators, baseline="unbiased"
    )
    rows = table[table["target"] == "distribution"].set_index("estimator")

    assert rows.loc["farther", "ratio"] == pytest.approx(9)
    assert rows.loc["farther", RATIO_ERROR] == pytest.approx(0, abs=1e-12)

    # The guess errs by the same in every draw, so only the baseline's mean error is uncertain.
    guess = rows.loc["guess"]
    baseline = rows.loc["unbiased"]
    relative = baseline["standard error"] / baseline["mean squared error"]
    assert guess[RATIO_ERROR] == pytest.approx(guess["ratio"] * relative)


@pytest.mark.parametrize("name", ["01_sampling_bias", "02_tv_vs_communication"])
def test_notebooks_run_at_the_scale_of_the_source(name: str) -> None:
    parameters = find(f"1_biswas2022/{name}").parameters
    defaults = {parameter.name: parameter.default for parameter in parameters}
    assert defaults["users"] == published()["nodes"] == 50_000
    assert {published()["rate_low"], published()["rate_high"]} <= set(defaults["sampling_rates"])


# Establishments


def test_establishments_agree_exactly_with_their_classes_and_the_total() -> None:
    tally = establishments.simulate(top_code=50_000)
    employed = tally["employees"] * tally["establishments"]
    assert employed.sum() == establishments.EMPLOYED

    for low, high, count in establishments.CLASSES:
        in_class = tally["employees"].between(low, high)
        assert tally.loc[in_class, "establishments"].sum() == count


def test_establishments_are_the_same_every_time() -> None:
    tally = establishments.simulate(top_code=50_000)
    assert not tally["employees"].duplicated().any()
    assert tally.equals(establishments.simulate(top_code=50_000))


def test_no_establishment_is_larger_than_the_top_code() -> None:
    assert establishments.simulate(top_code=10_000)["employees"].max() == 10_000
