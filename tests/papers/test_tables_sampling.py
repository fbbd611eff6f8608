import matplotlib.pyplot as plt
import numpy as np
import pytest

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import charts
from ldpnb.papers.biswas2022.tables import participation, personalised, sampling, shuffling

MECHANISM = KaryRandomisedResponse(3.0, 101)
COUNTS = sampling.data_sets(20_000, seed=5)["Bin(100, .5)"]


def test_estimates_scatter_around_their_exact_mean_by_their_exact_deviation() -> None:
    table = sampling.estimates(COUNTS, [0.1, 0.9], MECHANISM, seed=5)
    scores = (table["estimate"] - table["expected"]) / table["standard_deviation"]
    squares = (scores**2).groupby([table["sampling_rate"], table["estimator"]]).mean()
    assert len(table) == 2 * 3 * 101
    assert squares.between(0.4, 2).all()


def test_simulated_bias_lies_on_the_exact_line() -> None:
    table = sampling.bias_curve(COUNTS, [1.0, 3.0], [0.2, 1.0], 50, seed=5)
    line, points = (table[table["standard_error"].isna() == exact].reset_index() for exact in (True, False))
    assert ((points["bias (users)"] - line["bias (users)"]).abs() < 6 * points["standard_error"]).all()


def test_simulated_distances_meet_the_closed_form() -> None:
    table = sampling.distances(COUNTS, [2.0, 4.0], [0.1, 1.0], 40, seed=5)
    raw = table[table["estimate"] == sampling.RAW]
    line, points = (raw[raw["standard_error"].isna() == exact].reset_index() for exact in (True, False))
    gap = (points[sampling.DISTANCE] - line[sampling.DISTANCE]).abs()
    assert (gap < 6 * points["standard_error"] + 0.01 * line[sampling.DISTANCE]).all()
    ends = sampling.lowest_against_highest(table)
    assert (ends["raw ratio"] >= np.sqrt(10) * (1 - 1e-12)).all()
    assert (ends["projected at 0.1"] < ends["raw at 0.1"]).all()
    assert (table["expected_reports"] == 20_000 * table[sampling.RATE]).all()


def test_more_accuracy_needs_more_reports() -> None:
    needed = sampling.reports_needed(COUNTS, [3.0, 5.0], [0.3, 0.2])
    assert (needed["distance 0.2"] > needed["distance 0.3"]).all()
    assert needed["distance 0.3"].is_monotonic_decreasing


def test_personal_rates_give_the_errors_they_should() -> None:
    groups = personalised.split_by_rate(COUNTS, seed=5)
    assert all((held.sum(axis=0) == COUNTS).all() for held in groups.values())
    table = personalised.errors(groups, [0.2, 0.6], MECHANISM, [45, 55], 150, seed=5)
    assert ((table["simulated bias"] - table["bias"]).abs() < 6 * table["standard error"]).all()
    assert ((table["simulated sd"] / table["sd"] - 1).abs() < 6 * np.sqrt(0.5 / 150)).all()
    follow = table[(table["design"] == personalised.FOLLOWING) & (table["estimator"] == "T")]
    assert (follow["bias"].abs() > 2 * follow["sd"]).all()


def test_best_rates_save_until_everybody_is_asked() -> None:
    saved = personalised.savings([0.5, 3.0], [1.0, 1.0], 1000, 10, [0.1, 1.0])["saved"]
    assert saved[0] > 0.4
    assert saved[1] == pytest.approx(0, abs=1e-12)


def test_inverse_frequency_sampling_makes_everything_look_uniform() -> None:
    table = participation.inverse_frequency(
        participation.zipf_shares(10), 20_000, 0.8, KaryRandomisedResponse(1.0, 10), seed=5
    )
    pooled = table[table["estimator"] == participation.BY_VALUE]
    assert pooled["expected"].to_numpy() == pytest.approx(np.full(10, 2000), rel=1e-3)
    repaired = table[table["estimator"] == participation.BY_REPORT]
    scores = (repaired["estimate"] - repaired["truth"]) / repaired["standard_deviation"]
    assert scores.abs().max() < 5
    losses = participation.losses([1.0], 0.1, [0.1, 0.5], 4)
    assert losses["privacy loss (nats)"].to_numpy() == pytest.approx(losses["closed form"].to_numpy(), rel=1e-9)


def test_shuffled_reports_match_the_gaussian_at_rare_values() -> None:
    table = shuffling.accounting([3.0, 5.0], [1.0, 0.1], users=50_000, domain_size=101, delta=1e-6, share=0.05)
    ratios = shuffling.variance_ratios(table)
    assert ratios[ratios["value"] == "rare value"]["relative variance"].between(0.98, 1.02).all()
    assert (ratios[ratios["value"] == "common value"]["relative variance"] > 1).all()
    assert set(shuffling.budgets(table)["bound"]) == {"upper bound", "lower bound", "published"}


def test_charts_draw_a_panel_per_setting_and_estimator() -> None:
    figures = [
        charts.estimated_histograms(sampling.estimates(COUNTS, [0.1, 0.9], MECHANISM, seed=5)),
        charts.distance_and_cost(sampling.distances(COUNTS, [2.0], [0.5, 1.0], 2, seed=5)),
        charts.deviations(shuffling.accounting([3.0], [0.1], users=5000, domain_size=10, delta=1e-6, share=0.05)),
    ]
    assert [len(figure.axes) for figure in figures] == [6, 2, 1]
    for figure in figures:
        figure.canvas.draw()
        plt.close(figure)
