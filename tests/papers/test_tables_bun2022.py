import numpy as np
import pytest

from ldpnb.accuracy.allocation import Family
from ldpnb.papers.bun2022.tables import allocation, clusters, private_allocation, sample_sizes, unequal


def test_cluster_table_keeps_the_bounds_around_the_optimum() -> None:
    table = clusters.losses_by_cluster_size(12, count=20, chosen=3, epsilon=0.2, spread=0.5)
    wide = table.pivot(index=["design", "cluster size (records)"], columns="quantity", values="loss (nats)")
    assert (wide["lower bound"] <= wide["exact"] + 1e-12).all()
    assert (wide["exact"] <= wide["upper bound"] + 1e-12).all()
    assert (wide["exact"] <= wide["no amplification"] + 1e-12).all()
    equal = wide.loc["equal sizes, deletion"]
    assert equal["exact"].to_numpy() == pytest.approx(equal["upper bound"].to_numpy(), rel=1e-9)


def test_right_reading_never_exceeds_the_optimum_and_the_wrong_one_often_does() -> None:
    table = clusters.misread_bounds(200, seed=1).set_index("reading")
    assert table.loc["n_1 in the larger population", "exceeds"] == 0
    assert table.loc["off by one", "exceeds"] > 20


def test_identification_rises_to_the_whole_budget() -> None:
    table = clusters.identification_by_cluster_size(80, count=50, chosen=5, epsilon=0.1)
    last = table[table["cluster size (records)"] == 80].set_index(["panel", "quantity"])["value"]
    assert last["privacy loss (nats)", "exact"] == pytest.approx(0.1, rel=1e-3)
    assert last["advantage of the best test", "exact"] > 0.999


def test_drawn_sizes_estimate_the_reweighted_rate_where_the_weights_are_even() -> None:
    table = sample_sizes.simulated_tilted_rates(100, 20.0, [0.1, 0.15], 1.0, draws=100_000, seed=3)
    assert (np.abs(table["estimate"] - table["exact"]) < 5.5 * table["standard error"] + 1e-12).all()
    starved = sample_sizes.simulated_tilted_rates(100, 20.0, [0.9], 1.0, draws=100_000, seed=3)
    assert starved["effective draws"].iloc[0] < 50


def test_drawn_roundings_keep_the_intended_size() -> None:
    table = sample_sizes.simulated_rounding([7, 25], 0.1, draws=20_000, seed=3)
    assert (np.abs(table["mean size"] - table["intended"]) < 5.5 * table["standard error"]).all()


def test_both_methods_include_records_at_their_rates() -> None:
    table = unequal.inclusion_shares([1, 2, 3, 4], 2, draws=2000, seed=3)
    for method in ("independent", "systematic"):
        assert (np.abs(table[method] - table["probability"]) < 5.5 * table["standard error"]).all()


def test_three_terms_sum_to_equation_4_and_equation_5_is_exact() -> None:
    table = unequal.cluster_terms([2, 5, 9], 0.5)
    terms = table["ln(mu_1/mu_1')"] + table["ln(p/p')"] + table["identification"]
    assert terms.to_numpy() == pytest.approx(table["equation (4)"].to_numpy())
    assert table["equation (5)"].to_numpy() == pytest.approx(table["exact"].to_numpy(), rel=1e-12)


def test_drawn_weighted_means_scatter_as_they_should() -> None:
    tally, _ = allocation.population("", top_code=10_000)
    table = allocation.drawn_means(tally, [1, 10, 100], 5000, repetitions=40, seed=3).set_index("design")
    bias = (table["mean of estimates"] - table["population mean"]).abs()
    assert (bias < 6 * table["standard error of that mean"]).all()
    assert table.loc["Neyman", "deviation of estimates"] == pytest.approx(table.loc["Neyman", "exact"], rel=0.5)


def test_drawn_private_means_have_the_exact_variance() -> None:
    tables = private_allocation.candidates(Family((6, 4), (1.0, 3.0)), 4)
    solved = private_allocation.variances(tables, [0.5])
    table = private_allocation.simulated_variances(tables, solved, 0.5, draws=50_000, seed=3)
    assert len(table) == 3
    assert (np.abs(table["simulated"] - table["exact"]) < 5.5 * table["standard error"]).all()
    assert set(private_allocation.by_population(solved)["panel"]) == {"worst population", "mean over populations"}


def test_budgets_grow_from_rounding_to_the_exact_supremum() -> None:
    table = sample_sizes.rounding_budgets([0.01, 0.1], 0.5)
    order = ["rounded to nearest", "Theorem 4.3", "tight lemma", "exact supremum"]
    assert (table[order].diff(axis=1).iloc[:, 1:] > 0).all().all()
