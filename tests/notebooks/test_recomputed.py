"""Numbers of the figures, computed again from the definitions: nothing here imports the package."""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats

FIGURES = Path(__file__).parents[2] / "figures"
Pairs = Iterator[tuple[float, float]]
CASES: list[Callable[[], Pairs]] = []


def rows(figure: str, **where: object) -> pd.DataFrame:
    """Return the rows of a figure's table with these entries, columns named without blanks and
    units.
    """
    table = pd.read_csv(FIGURES / f"{figure}.csv")
    table.columns = table.columns.str.replace(r" \(.*\)", "", regex=True).str.replace(" ", "_")

    for column, entry in where.items():
        table = table[table[column] == entry]

    assert len(table)

    return table


def krr(epsilon: float, values: int) -> tuple[float, float]:
    """Return the chances that k-RR keeps a value, and that it reports any other one."""
    return np.exp(epsilon) / (np.exp(epsilon) + values - 1), 1 / (np.exp(epsilon) + values - 1)


@CASES.append
def estimates_of_sampled_counts() -> Pairs:
    p, q = krr(3.0, 101)
    for row in rows("1_biswas2022/01_sampling_bias/figure_1").itertuples():
        pi, holders = row.sampling_rate, row.truth
        groups = [(holders, p), (50_000 - holders, q)]
        named = sum(n * pi * s for n, s in groups)
        if row.estimator == "c_DE":
            yield row.expected, (named - 50_000 * q) / (p - q)
            yield (
                row.standard_deviation,
                np.sqrt(sum(n * pi * s * (1 - pi * s) for n, s in groups)) / (p - q),
            )

        if row.estimator == "g_DE":
            yield (
                row.standard_deviation,
                np.sqrt(sum(n * pi * s * (1 - pi * s) for n, s in groups)) / (p - q) / pi,
            )


@CASES.append
def distances_with_few_and_all_reports() -> Pairs:
    holders = rows(
        "1_biswas2022/01_sampling_bias/figure_1", estimator="c_DE", sampling_rate=0.1
    ).truth.to_numpy()
    for row in rows("1_biswas2022/02_tv_vs_communication/ends").itertuples():
        p, q = krr(row.epsilon, 101)
        for pi, shown in ((0.1, row[2]), (1.0, row[3])):
            each = [pi * (s * (1 - q) ** 2 + (1 - s) * q * q) - (pi * (s - q)) ** 2 for s in (p, q)]
            variance = (holders * each[0] + (50_000 - holders) * each[1]) / (pi * (p - q)) ** 2
            yield shown, np.sqrt(variance).sum() / 50_000 / np.sqrt(2 * np.pi)


@CASES.append
def losses_of_fixed_and_independent_samples() -> Pairs:
    for row in rows("2_bun2022/01c_several_releases/poisson_or_fixed").itertuples():
        epsilon, rate = float(row.panel[4:]), row.sampling_rate
        kept = 1 - rate
        yield (
            row.loss,
            {
                "fixed size": np.log(kept + rate * np.exp(2 * epsilon)),
                "independent (Poisson)": np.log(
                    (kept + rate * np.exp(epsilon)) / (kept + rate * np.exp(-epsilon))
                ),
                "no amplification": 2 * epsilon,
            }[row.sample],
        )


@CASES.append
def bounds_of_random_sizes() -> Pairs:
    m = np.arange(1, 101)
    for row in rows(
        "2_bun2022/01_random_sample_size/figure_2", quantity="upper bound"
    ).itertuples():
        if row.panel.startswith("n = 100,"):
            logs = -((m - 20) ** 2) / (2 * row.deviation_of_the_size**2) + m
            tilted = np.exp(logs - logs.max())
            rate = (m / 100 * tilted).sum() / tilted.sum()
            yield row.loss, np.log1p(rate * np.expm1(2.0))


@CASES.append
def tests_for_a_size() -> Pairs:
    """The best private test of two sizes is a linear program over its chances to say yes at each
    size between.
    """
    for row in rows("2_bun2022/02_data_dependent_sizes/advantage").itertuples():
        gap, e = row.difference_of_the_sizes, np.exp(0.5)
        if row.quantity == "upper bound":
            yield row.advantage, np.tanh(gap / 4)
            continue

        step = np.eye(gap + 1)[1:] - e * np.eye(gap + 1)[:-1]
        back = np.eye(gap + 1)[:-1] - e * np.eye(gap + 1)[1:]
        limits = np.concatenate([np.zeros(2 * gap), np.full(2 * gap, e - 1)])
        goal = np.zeros(gap + 1)
        goal[[0, -1]] = 1, -1
        solved = optimize.linprog(
            goal, np.vstack([step, back, -step, -back]), limits, bounds=(0, 1)
        )
        yield row.advantage, -solved.fun


@CASES.append
def losses_of_clusters() -> Pairs:
    odds, epsilon = 10 / 90, 0.1
    table = rows(
        "2_bun2022/03_cluster_lower_bounds/losses", design="equal sizes, deletion", quantity="exact"
    )

    for size, loss in zip(table.cluster_size, table.loss, strict=True):
        here, there = (1 + odds * np.exp(epsilon * far) for far in (2 * size, 2 * size - 1))
        yield loss, np.log(here / there)

    advantages = rows("2_bun2022/03_cluster_lower_bounds/identification", quantity="exact")
    for row in advantages[advantages.panel.str.startswith("advantage")].itertuples():
        yield row.value, -np.expm1(-epsilon * row.cluster_size)


@CASES.append
def neyman_allocation_of_the_establishments() -> Pairs:
    table = rows("2_bun2022/05_neyman_sensitivity/allocation")
    weight = table.establishments * table.deviation
    share = 10_000 * weight / weight.sum()
    whole = np.floor(share)
    whole[(share - whole).nlargest(int(10_000 - whole.sum())).index] += 1
    yield from zip(table.before, whole, strict=True)


@CASES.append
def errors_of_two_values() -> Pairs:
    """Averages over Jeffreys' prior are finite sums: 400 angles are exact for polynomials below
    degree 800.
    """
    share = np.sin(np.pi * (np.arange(400) + 0.5) / 800) ** 2

    for row in rows("3_lopuhaa2020/02_mse_lower_bounds/two_values").itertuples():
        p, q = krr(float(row.budget[4:]), 2)
        says = np.arange(row.users + 1)
        like = stats.binom.pmf(says[:, None], row.users, q + (p - q) * share)
        guess = {
            "Bayes": (like @ share) / like.sum(axis=1),
            "MLE": np.clip((says / row.users - q) / (p - q), 0, 1),
        }.get(row.quantity)

        if guess is not None and row.users <= 120:
            squared = 2 * (like * (guess[:, None] - share) ** 2).sum() / share.size
            yield row.n_times_the_mean_squared_error, row.users * squared


@CASES.append
def least_errors_of_three_values() -> Pairs:
    """Under Jeffreys' prior values come from Polya's urn: all of them are listed, with all their
    reports.
    """
    p, q = krr(1.0, 3)
    table = rows(
        "3_lopuhaa2020/03_optimal_estimators/few_users", prior="Jeffreys' prior", estimator="Bayes"
    )

    for row in table[table.users_n <= 4].itertuples():
        n, second = row.users_n, (1.5 * 0.5) / (1.5 * 2.5) * 3
        held = np.array(list(product(range(3), repeat=n)))
        times = (held[:, :, None] == np.arange(3)).sum(axis=1)
        urn = special.poch(0.5, times).prod(axis=1) / special.poch(1.5, n)
        chances = np.where(held[:, None] == held, p, q).prod(axis=2) * urn
        means = chances @ ((0.5 + times) / (1.5 + n)) / chances.sum(axis=1, keepdims=True)
        yield row.error, second - (chances.sum(axis=1) * (means**2).sum(axis=1)).sum()


@CASES.append
def errors_of_channels_at_the_uniform_distribution() -> Pairs:
    table = rows("3_lopuhaa2020/05_best_protocol/channels", case="uniform, a = 6")
    for row in table[table.channel.isin(["k-RR", "OUE", "SUE"])].itertuples():
        epsilon = row.epsilon
        truth = np.full(6, 1 / 6)
        if row.channel == "k-RR":
            channel = np.where(np.eye(6) == 1, *krr(epsilon, 6))
        else:
            p, q = (0.5, krr(epsilon, 2)[1]) if row.channel == "OUE" else krr(epsilon / 2, 2)
            words = np.array(list(product([0, 1], repeat=6)))[:, None, :]
            one = np.where(np.eye(6) == 1, p, q)
            channel = np.where(words == 1, one, 1 - one).prod(axis=2)

        across = np.linalg.svd(np.ones((1, 6)))[2][1:].T
        information = across.T @ (channel.T / (channel @ truth)) @ channel @ across
        yield row.error, np.trace(np.linalg.inv(information))


@CASES.append
def losses_of_the_discretised_means() -> Pairs:
    for row in rows("4_juarez2022/01_privacy_audit/discretised").itertuples():
        claim = row.claimed_budget_ε
        kept, changed = krr(claim, 2)
        own, moved = (
            [kept * np.array(sign) for sign in ([kept, changed], [changed, kept])],
            np.full(2, changed / 2),
        )
        inputs = [np.concatenate([one, moved]) for one in own] + [
            np.concatenate([moved, one]) for one in own
        ]
        pairs = list(product(inputs, inputs))

        if row.what.startswith("loss"):
            yield row.value, max(np.log(one / other).max() for one, other in pairs) / claim - 1
        else:
            yield (
                row.value,
                max(np.maximum(one - np.exp(claim) * other, 0).sum() for one, other in pairs),
            )


@CASES.append
def largest_variances_of_a_gap() -> Pairs:
    n = 10_000
    for row in rows("4_juarez2022/02_gap_error/figure_1", panel="budgets as claimed").itertuples():
        a, t = krr(row.budget_ε, 2)[0], np.tanh(row.budget_ε / 2)
        yield row.M_R, 2 / (n * (a * t) ** 2)

    for row in rows(
        "4_juarez2022/05_better_mechanisms/variances", mechanism="signed bit"
    ).itertuples():
        yield row.largest_variance_of_the_gap, 2 / (n * np.tanh(row.budget_ε / 2) ** 2)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_every_such_number_is_right(case: Callable[[], Pairs]) -> None:
    shown, computed = np.array(list(case())).T
    np.testing.assert_allclose(shown, computed, rtol=2e-8)
