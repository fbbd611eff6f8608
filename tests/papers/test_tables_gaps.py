"""Facts about the tables behind the notebooks of juarez2022."""

import sys

import numpy as np
import pytest

from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import clients
from ldpnb.papers.juarez2022 import printed as published
from ldpnb.papers.juarez2022.sessions import simulate_sessions
from ldpnb.papers.juarez2022.tables import gap_errors, gap_intervals, gap_privacy, gaps, sessions
from ldpnb.rng import stream


def test_all_thirty_cells_of_table_1_come_out_with_their_six_dashes() -> None:
    printed = published.table_1()
    users, alphas = sorted(set(printed["clients"])), sorted(set(printed["alpha"]))
    methods = [("M_R as published", "chebyshev"), ("M_L as published", "chebyshev")]
    table = gaps.epsilon_table(users, alphas, methods, failure=0.01)
    found = table.set_index(["mechanism", "clients", "alpha"])["epsilon"]
    agree = [
        gaps.prints_as(found[f"{m} as published", k, a], p, d)
        for m, k, a, p, d in printed[["mechanism", "clients", "alpha", "printed", "decimals"]].itertuples(index=False)
    ]
    assert len(agree) == 30
    assert all(agree)
    assert np.isinf(printed["printed"]).sum() == 6


def test_the_corrected_table_keeps_what_it_claims() -> None:
    methods = [(m, "chebyshev") for m in ("M_R as published", "M_R", "M_L as published", "M_L, k = 2")]
    wide = gaps.corrected_table(gaps.epsilon_table([10**5, 10**7], [0.1], methods, failure=0.01))
    assert wide["M_R kept"].round(3).tolist() == [2.065, 0.239]
    assert wide["M_R exact"].round(3).tolist() == [2.410, 0.336]
    assert wide["M_L kept"].round(3).tolist() == [2.460, 0.331]
    assert np.isinf(wide["M_L exact"]).all()


def test_simulated_failures_stay_below_what_is_allowed() -> None:
    methods = [("M_R", "exact"), ("M_L, k = 2", "chernoff"), ("signed bit", "chebyshev")]
    table = gaps.epsilon_table([10**9], [0.01], methods, failure=0.01)
    found = gaps.simulated_failures(table, repetitions=5000, seed=1).set_index("mechanism")["failures"]
    assert abs(found["M_R"] - 0.01) < 5 * np.sqrt(0.01 / 5000)
    assert found["M_L, k = 2"] < 0.006
    assert found["signed bit"] == 0


def test_curves_of_targets_pass_through_the_printed_cells() -> None:
    table = gaps.target_curves([1e3, 1e7], users=10**9, failure=0.01)
    claimed = table[table["way"] == "claimed, as published"]
    assert claimed["budget ε (nats)"].round(2).tolist() == [1.86, 0.02, 2.56, 0.02]


def test_the_bounds_of_table_2_come_out() -> None:
    table = gaps.alpha_table([0.01, 0.1, 1.0, 10.0], 10**7, failure=0.01).query("tail == 'chebyshev'")
    for short in ("M_R", "M_L"):
        found = table[table["mechanism"] == f"{short} as published"]["alpha"].round(4).tolist()
        assert found == published.table_2().query("mechanism == @short")["alpha"].tolist()


def test_an_attacker_guesses_groups_as_often_as_the_total_variation_allows() -> None:
    mechanisms = {"published": LaplaceMeans.published(0.05), "private": LaplaceMeans.calibrated(0.05)}
    table = gap_privacy.guessed_groups(mechanisms, users=100_000, seed=1).set_index("mechanism")
    z = (table["right"] - table["expected"]) / table["standard_error"]
    assert z.abs().max() < 5
    assert table.loc["published", "right"] > 0.73 > 0.52 > table.loc["private", "right"]


def test_claimed_budgets_of_the_optimal_mechanism_hide_a_delta() -> None:
    table = gap_privacy.published_laplace_losses([0.02, 2.0], delta=1e-6)
    assert table["delta"].round(4).tolist() == [0.4914, 0.0]
    assert table["guess"].iloc[0] > table["private_guess"].iloc[0] + 0.2
    assert table["epsilon_at_delta"].iloc[1] == pytest.approx(2.0, abs=1e-3)


def test_simulated_moments_agree_with_the_exact_ones() -> None:
    sample = clients.two_valued([500, 1500], [0.6, 0.2], [0.7, 0.3])
    mechanisms = {"R": DiscretisedMeans.calibrated(1.0), "L": LaplaceMeans.published(1.0)}
    table = gap_errors.simulated_moments(mechanisms, sample, repetitions=20_000, seed=1)
    assert ((table["simulated"] - table["exact"]) / table["standard_error"]).abs().max() < 5


def test_measured_errors_agree_with_their_expectation() -> None:
    table = gap_errors.measured_errors(clients.published(), [0.01, 1.0], runs=10, repetitions=400, failure=0.01, seed=1)
    assert ((table["mean"] - table["expected"]) / table["standard_error"]).abs().max() < 5
    assert (table["low"] < table["expected"]).all()
    assert (table["expected"] < table["high"]).all()
    assert (table["bound"] > 10 * table["expected"]).all()


def test_printed_errors_rank_low_for_the_stated_mechanism_and_in_the_middle_for_the_reversed_one() -> None:
    ranks = gap_errors.against_printed(
        clients.published(), published.table_2(), runs=10, repetitions=1000, seed=1
    ).set_index(["mechanism", "epsilon"])
    assert ranks.loc[("M_L as published", 0.01), "rank"] < 0.1 < ranks.loc[("M_L as in the code", 0.01), "rank"]
    assert ranks.loc[("M_R as published", 0.01), "rank_sd"] > 0.99


def test_the_whole_chain_serves_the_groups_differently_and_keeps_its_bound() -> None:
    recorded = simulate_sessions(12, 30, readings=300, rng=stream("chain", seed=1))
    tested = sessions.client_rates(recorded, runs=2, training_share=0.7, l1_ratio=0.99, seed=1)
    assert len(tested) == 2 * 42
    assert tested["positives"].sum() / recorded.lying.sum() == pytest.approx(2 * 0.3, abs=0.02)
    scores = sessions.hold_out_scores(tested).groupby("metric")["value"].mean()
    assert 0.7 < scores["accuracy"] < 0.95
    rates = sessions.rates_by_client(tested)
    measures = gap_errors.chain(rates, [1.0], users=10**6, repetitions=200, failure=0.01, seed=1)
    wide = measures.pivot_table(index=["metric", "mechanism"], columns="way", values="error of the gap")
    assert wide["mean error"].to_numpy() == pytest.approx(wide["expected error"].to_numpy(), rel=0.3)
    assert (wide["bound"] > wide["mean error"]).all()


def test_a_missing_scikit_learn_is_named_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(ImportError, match=r"scikit-learn is missing; install the extra: pip install ldpnb\[learning\]"):
        sessions.fit(np.zeros((4, 8)), np.array([True, False, True, False]), l1_ratio=0.99, seed=1)


def test_a_split_takes_the_same_share_of_every_client_and_label() -> None:
    recorded = simulate_sessions(3, 4, readings=200, rng=stream("split", seed=2))
    training = sessions.split(recorded, 0.7, rng=stream("split", seed=3))
    for client in range(7):
        for lying in (True, False):
            cell = (recorded.session == client) & (recorded.lying == lying)
            assert training[cell].sum() == np.rint(0.7 * cell.sum())


def test_the_bit_keeps_its_budget_and_intervals_their_level_in_the_tables() -> None:
    losses = gap_intervals.bit_losses([1e-6, 1.0, 50.0], (10, 30))
    assert losses["enumerated"].to_numpy() == pytest.approx(losses["epsilon"].to_numpy(), rel=1e-9)
    exact = gap_intervals.interval_coverage([0.0, 0.4, 1.5, 3.0], level=0.95)
    ratio = exact[exact["way"] == "likelihood ratio"]
    assert ratio["coverage"].to_numpy() == pytest.approx(np.full(4, 0.95), abs=1e-3)
    measured = {"epsilon": 1.0, "users": 10**5, "repetitions": 20_000, "level": 0.99, "seed": 1}
    found = gap_intervals.simulated_coverage([0.0, 0.01], **measured)
    assert ((found["coverage"] - 0.99) / found["standard_error"]).abs().max() < 5
    assert found["bias"].to_numpy() == pytest.approx(found["bias_exact"].to_numpy(), abs=5e-4)


def test_tables_of_errors_show_the_numbers_the_text_quotes() -> None:
    table = gap_errors.variance_bounds([1.0], 100, ["M_R", "M_L, k = 2", "signed bit", "signed Laplace"])
    assert (table[gap_errors.SMALLEST] <= table[gap_errors.LARGEST]).all()
    shares = gap_errors.minority_curves([1.0], 20_000, [0.5, 0.1]).set_index(["mechanism", "share"])["factor"]
    assert shares["M_R as published", 0.1] == pytest.approx(8.09, abs=0.01)
    wrong = gap_errors.misestimated_curves([0.0, 0.5], [0.8], epsilon=1.0, users=20_000)
    assert wrong["bias"].round(4).tolist() == [0.0, -1.0667]
    chosen = gap_errors.noise_parameter_curves([1.0], [0.763], 20_000)
    assert chosen["variance of the gap times K"].round(2).tolist() == [54.42, 56.0]


def test_the_empirical_error_of_appendix_c_settles_on_the_exact_one() -> None:
    ten = clients.two_valued([10, 10], [0.0, 0.1], [0.2, 0.1])
    table = gap_errors.mse_by_runs(DiscretisedMeans.published(0.5), ten, [100, 20_000], seed=1)
    last = table[table["runs"] == 20_000].set_index(["quantity", "way"])
    for quantity in ("mean of the first group", "gap"):
        simulated, exact = last.loc[(quantity, "empirical")], last.loc[(quantity, "exact")]
        assert abs(simulated["mean squared error"] - exact["mean squared error"]) < 5 * simulated["standard_error"]
