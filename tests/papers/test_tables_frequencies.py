"""The Monte Carlo of lopuhaa2020: reproducible, paired, from the exact law; and the tables of its other notebooks."""

import joblib
import numpy as np
import pandas as pd
import pytest

from ldpnb.accuracy.information import unbiased_frequency_error
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020.tables import frequencies, optimality
from ldpnb.papers.lopuhaa2020.tables.frequencies import FixedCounts, FromDistribution, FromPrior, compare


def test_the_numbers_do_not_depend_on_the_number_of_workers() -> None:
    truth, settings = FromPrior(8, 500), {"draws": 6, "seed": 3}
    alone = compare("OUE", truth, [0.5, 2.0], **settings)
    with joblib.parallel_config(backend="threading"):
        pd.testing.assert_frame_equal(alone, compare("OUE", truth, [0.5, 2.0], workers=2, **settings))


def test_a_point_is_the_same_whatever_other_points_are_computed() -> None:
    truth, settings = FromPrior(8, 500), {"draws": 6, "seed": 3}
    both = compare("k-RR", truth, [0.5, 2.0], **settings).query("`epsilon (nats)` == 2.0").reset_index(drop=True)
    pd.testing.assert_frame_equal(both, compare("k-RR", truth, [2.0], **settings))


@pytest.mark.parametrize(("name", "make"), [("k-RR", KaryRandomisedResponse), ("OUE", UnaryEncoding.optimised)])
def test_the_unbiased_error_is_the_exact_one(name: str, make: type) -> None:
    table = compare(name, FixedCounts("few", (300, 200, 100, 0)), [1.0], draws=2000, seed=1).set_index("estimator")
    row = table.loc["unbiased"]
    expected = unbiased_frequency_error(make(1.0, 4)) / 600
    assert abs(row["mean squared error"] - expected) < 5 * row["standard error"]
    assert row["standard error"] < 0.05 * expected


def test_projection_never_loses_and_the_baseline_has_no_difference_to_itself() -> None:
    table = compare("SUE", FromPrior(5, 200), [1.0], draws=20, seed=1)
    assert set(table["target"]) == {"distribution", "frequency"}
    own = table[table["estimator"] == "Norm-Sub"]
    assert (own["ratio"] == 1).all()
    assert own["z"].isna().all()
    assert (table.loc[table["estimator"] == "unbiased", "ratio"] > 1).all()


def test_a_given_data_set_has_no_distribution_to_estimate() -> None:
    table = compare("k-RR", FixedCounts("few", (30, 20)), [1.0], draws=3, seed=1)
    assert set(table["target"]) == {"frequency"}


def test_norm_sub_beats_the_mle_on_a_long_tail_and_loses_under_jeffreys_prior() -> None:
    tail = compare("k-RR", FromDistribution("Zipf", frequencies.zipf(256, 1.5), 100_000), [4.0], draws=30, seed=2)
    jeffreys = compare("k-RR", FromPrior(256, 10_000), [2.0], draws=30, seed=2)
    worse, better = (t.query("estimator == 'MLE' and target == 'distribution'").iloc[0] for t in (tail, jeffreys))
    assert worse["ratio"] > 1.1
    assert worse["z"] > 5
    assert better["ratio"] < 0.97
    assert better["z"] < -5


def test_a_fit_that_stops_early_is_shrunk_and_says_how_far_it_is_from_the_maximum() -> None:
    table = frequencies.early_stopping("OUE", FromPrior(10, 100), 0.5, [10, 1000], draws=20, seed=2022).set_index(
        "estimate"
    )
    assert table.loc["certified MLE", "shortfall (nats)"] < 1e-3
    assert table.loc["EM, 10 steps", "shortfall (nats)"] > 1
    assert table.loc["EM, 10 steps", "mean squared error"] < 0.7 * table.loc["certified MLE", "mean squared error"]
    assert table.loc["EM, 1000 steps", "mean squared error"] == pytest.approx(
        table.loc["certified MLE", "mean squared error"], rel=0.05
    )


def test_one_run_is_one_collection() -> None:
    table = frequencies.one_run("k-RR", np.array([70, 20, 10]), [1.0, 5.0], seed=1)
    assert table.groupby(["epsilon (nats)", "estimator"])["estimate"].sum().to_numpy() == pytest.approx(np.ones(6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mechanism": "RAPPOR"}, "mechanism must be one of k-RR, OUE, SUE"),
        ({"draws": 1}, "draws must be an integer >= 2"),
        ({"baseline": "EM"}, "baseline must be one of unbiased, Norm-Sub, MLE"),
        ({"epsilons": [0.0]}, "epsilon must be > 0"),
    ],
)
def test_bad_settings_are_refused(arguments: dict, message: str) -> None:
    settings = {"mechanism": "k-RR", "truth": FromPrior(4, 10), "epsilons": [1.0], "draws": 2, "seed": 1} | arguments
    with pytest.raises(ValueError, match=message):
        compare(settings.pop("mechanism"), settings.pop("truth"), settings.pop("epsilons"), **settings)


def test_limit_statements_are_marked_where_an_error_lies_below_them() -> None:
    table = optimality.binary_errors_and_bounds([10, 100], [0.5]).set_index(["users", "quantity"])
    assert not table.loc[(10, "(59)"), "valid"]
    assert table.loc[(100, "(59)"), "valid"]
    assert table.loc[(10, "entropy, any n"), optimality.SCALED] < table.loc[(10, "Bayes"), optimality.SCALED]


def test_subset_selection_is_the_best_channel_of_all_compared() -> None:
    table = optimality.channel_errors(4, [0.5, 2.0], np.full((1, 4), 0.25))
    selection = table.loc[table["channel"] == "subset selection", optimality.RELATIVE]
    assert selection.to_numpy() == pytest.approx(np.ones(2), abs=1e-8)
    assert (table[optimality.RELATIVE] > 1 - 1e-9).all()


def test_the_best_channel_uses_one_set_size() -> None:
    shares = optimality.best_subset_sizes(6, [0.1, 2.0]).set_index(["epsilon (nats)", "subset size"])["share"]
    assert shares[0.1, 3] == pytest.approx(1, abs=1e-6)
    assert shares[2.0, 1] == pytest.approx(1, abs=1e-6)
