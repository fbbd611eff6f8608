"""Experiments of lecture20 and of the tour: simulated values agree with the exact ones in the same table."""

import numpy as np
import pandas as pd
import pytest

from ldpnb.guides import tour
from ldpnb.papers.lecture20.tables import histograms, means


def worst_deviation(table: pd.DataFrame, value: str, keys: list[str], error: str = "standard error") -> float:
    """Largest distance of simulated from exact values, in standard errors."""
    exact = table[table[error].isna()].set_index(keys)[value]
    simulated = table[table[error] > 0].set_index(keys)
    assert len(simulated) == len(exact)
    return float(((simulated[value] - exact).abs() / simulated[error]).max())


def test_errors_of_means_agree_with_simulation() -> None:
    table = means.errors_by_users([100, 10**6], epsilon=1.0, upper=24.0, runs=2000, seed=1)
    assert worst_deviation(table, "root mean squared error (hours)", ["mechanism", "users"]) < 5


def test_errors_of_counts_agree_with_simulation() -> None:
    counts = histograms.zipf_counts(50, 10_000, seed=1)
    table = histograms.count_errors(counts, [0.2, 2.0], 60, seed=1)
    assert worst_deviation(table, "root mean squared error (users)", ["mechanism", "epsilon (nats)"]) < 5.5


def test_variances_of_the_contest_agree_with_simulation() -> None:
    table = tour.variance_contest([0.1, 0.7, 1.0], holders=300, people=1000, epsilon=1.0, runs=4000, seed=1)
    assert worst_deviation(table, tour.VARIANCE, ["estimator", tour.RATE], "standard_error") < 5


def test_c_hat_has_the_smaller_variance_at_every_rate_below_one() -> None:
    table = tour.variance_contest([0.1, 0.9], holders=10, people=100, epsilon=2.0, runs=2, seed=1)
    exact = table[table["standard_error"].isna()].pivot_table(tour.VARIANCE, tour.RATE, "estimator")
    assert (exact["c-hat"] < exact["g_DE"]).all()


def test_a_bit_and_public_coins_are_worth_a_vector_of_signs() -> None:
    table = histograms.public_coin_counts(200, 8, 1.0, 2000, seed=1)
    assert (np.abs(table["mean"] - table["truth"]) < 5 * table["standard error"]).all()
    assert table["standard deviation"].to_numpy() == pytest.approx(table["exact"].to_numpy(), rel=5.5 / np.sqrt(4000))


def test_the_forming_estimate_ends_near_the_truth() -> None:
    truth = tour.yes_answers(5000, 0.3, seed=1)
    table = tour.forming_estimate(truth, 1.0, seed=1)
    last = table.groupby("series").last()
    spread = last.loc["truth", "high"] - last.loc["truth", "share of yes"]
    assert last.loc["truth", "share of yes"] == pytest.approx(truth.mean())
    assert abs(last.loc["unbiased", "share of yes"] - truth.mean()) < 2.75 * spread
    assert set(table["people asked"]) <= set(range(10, 5001))


def test_projection_leaves_a_distribution_nearer_to_the_truth() -> None:
    table = tour.histogram_estimates(np.array([700, 200, 100, 0, 0, 0]), 0.5, seed=1)
    shares = table.pivot_table(index="times", columns="estimator", values="share of people")
    assert shares["Norm-Sub"].min() >= 0
    assert shares["Norm-Sub"].sum() == pytest.approx(1)
    assert ((shares["Norm-Sub"] - shares["truth"]) ** 2).sum() < ((shares["unbiased"] - shares["truth"]) ** 2).sum()


def test_sampling_costs_accuracy_and_buys_privacy() -> None:
    table = tour.sampling_table([1.0, 0.5, 0.1], people=1000, share=0.2, epsilon=1.0)
    assert table["loss (nats)"].iloc[0] == pytest.approx(1.0)
    assert (np.diff(table["standard deviation"]) > 0).all()
    assert (np.diff(table["loss (nats)"]) < 0).all()


def test_the_tables_of_users_and_bits_agree_with_their_formulas() -> None:
    needed = means.users_needed([1.0], upper=1.0, error=0.1, failure=0.01).set_index("mechanism")
    assert needed.loc["local Laplace", "users"] == 1328
    assert needed.loc["1-bit", "users"] == 777
    assert needed.loc["central Laplace", "success at order"] == pytest.approx(1 - np.exp(-1))
    bits = means.bit_errors([1.0], 10_000, failure=0.01).iloc[0]
    assert bits["constant"] == pytest.approx(2.472, abs=5e-4)
    assert bits["randomised response"] < bits["guaranteed"] < bits["local Laplace"]
    prices = histograms.price_list([4, 1000], 1.0).set_index(["values", "mechanism"])["variance per user"]
    assert prices[1000, "OUE"] == pytest.approx(3.683, abs=5e-4)
    assert prices[1000, "signs"] == pytest.approx(4.683, abs=5e-4)
    assert prices[1000, "k-RR"] == pytest.approx(338.9, abs=0.05)


def test_printed_parameters_lose_more_than_they_say() -> None:
    table = histograms.sign_losses([0.2, 0.6], [0.6], domain_size=3).set_index(["loss", "printed parameter"])
    exact = table.loc["exact", "privacy loss (nats)"]
    assert exact[0.6].tolist() == pytest.approx([np.log(4), np.log(4)])
    cost = histograms.cost_of_calibration([0.5], 100).iloc[0]
    assert cost["exact loss (nats)"] == pytest.approx(np.log(3))
    assert cost["as printed (users)"] == pytest.approx(20)
    assert cost["calibrated (users)"] == pytest.approx(10 / np.tanh(0.25))
