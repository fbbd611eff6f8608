"""Numbers of the committed figures are computed again from the definitions.

Nothing here imports the package, so a fault in its formulas cannot hide in both. Each case yields
pairs: a number that a figure shows, and the same number computed here.
"""

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
    """The rows of a figure's table that have these entries.

    The names of columns lose their units, and have underscores in place of blanks.
    """
    table = pd.read_csv(FIGURES / f"{figure}.csv")
    table.columns = table.columns.str.replace(r" \(.*\)", "", regex=True).str.replace(" ", "_")

    for column, entry in where.items():
        table = table[table[column] == entry]

    assert len(table)
    return table


def krr(epsilon: float, values: int) -> tuple[float, float]:
    """The chances that k-RR keeps a value, and that it reports any other one."""
    total = np.exp(epsilon) + values - 1
    return np.exp(epsilon) / total, 1 / total


@CASES.append
def estimates_of_sampled_counts() -> Pairs:
    p, q = krr(3.0, 101)
    users = 50_000

    for row in rows("1_biswas2022/01_sampling_bias/figure_1").itertuples():
        # The chances that a holder of the value, and that anybody else, is drawn and names it.
        holder = row.sampling_rate * p
        other = row.sampling_rate * q

        holders = row.truth
        others = users - holders
        naming = holders * holder + others * other
        variance = holders * holder * (1 - holder) + others * other * (1 - other)
        if row.estimator == "c_DE":
            yield row.expected, (naming - users * q) / (p - q)
            yield row.standard_deviation, np.sqrt(variance) / (p - q)
        if row.estimator == "g_DE":
            yield row.standard_deviation, np.sqrt(variance) / (p - q) / row.sampling_rate


@CASES.append
def distances_with_few_and_all_reports() -> Pairs:
    users = 50_000
    counts = rows("1_biswas2022/01_sampling_bias/figure_1", estimator="c_DE", sampling_rate=0.1)
    holders = counts.truth.to_numpy()

    for row in rows("1_biswas2022/02_tv_vs_communication/ends").itertuples():
        p, q = krr(row.epsilon, 101)
        for rate, shown in ((0.1, row[2]), (1.0, row[3])):
            variance = holders * variance_of_a_report(p, q, rate)
            variance += (users - holders) * variance_of_a_report(q, q, rate)
            deviations = np.sqrt(variance) / (rate * (p - q))
            yield shown, deviations.sum() / users / np.sqrt(2 * np.pi)


def variance_of_a_report(named: float, q: float, rate: float) -> float:
    """The variance of what one user adds to the estimate, times ``(rate (p - q))^2``.

    The user is drawn at this rate, and then names the value with chance `named`.
    """
    squared = named * (1 - q) ** 2 + (1 - named) * q * q
    return rate * squared - (rate * (named - q)) ** 2


@CASES.append
def losses_of_fixed_and_independent_samples() -> Pairs:
    for row in rows("2_bun2022/01c_several_releases/poisson_or_fixed").itertuples():
        epsilon = float(row.panel[4:])
        rate = row.sampling_rate
        left_out = 1 - rate

        if row.sample == "fixed size":
            loss = np.log(left_out + rate * np.exp(2 * epsilon))
        elif row.sample == "independent (Poisson)":
            likelier = left_out + rate * np.exp(epsilon)
            less_likely = left_out + rate * np.exp(-epsilon)
            loss = np.log(likelier / less_likely)
        else:
            assert row.sample == "no amplification"
            loss = 2 * epsilon

        yield row.loss, loss


@CASES.append
def bounds_of_random_sizes() -> Pairs:
    size = np.arange(1, 101)
    bounds = rows("2_bun2022/01_random_sample_size/figure_2", quantity="upper bound")

    for row in bounds[bounds.panel.str.startswith("n = 100,")].itertuples():
        logs = -((size - 20) ** 2) / (2 * row.deviation_of_the_size**2) + size
        tilted = np.exp(logs - logs.max())
        rate = (size / 100 * tilted).sum() / tilted.sum()
        yield row.loss, np.log1p(rate * np.expm1(2.0))


@CASES.append
def tests_for_a_size() -> Pairs:
    for row in rows("2_bun2022/02_data_dependent_sizes/advantage").itertuples():
        gap = row.difference_of_the_sizes
        if row.quantity == "upper bound":
            yield row.advantage, np.tanh(gap / 4)
        else:
            yield row.advantage, advantage_of_the_best_test(gap, epsilon=0.5)


def advantage_of_the_best_test(gap: int, epsilon: float) -> float:
    """The best private test of two sizes is a linear program.

    Its variables are the chances to say yes at the smaller size and at each larger one, up to `gap`
    more. At neighbouring sizes the chances of yes differ by a factor of at most ``e^epsilon``, and
    so do those of no.
    """
    factor = np.exp(epsilon)
    smaller = np.eye(gap + 1)[:-1]
    larger = np.eye(gap + 1)[1:]
    up = larger - factor * smaller
    down = smaller - factor * larger

    constraints = np.vstack([up, down, -up, -down])
    limits = np.concatenate([np.zeros(2 * gap), np.full(2 * gap, factor - 1)])
    goal = np.zeros(gap + 1)
    goal[0] = 1
    goal[-1] = -1
    solved = optimize.linprog(goal, constraints, limits, bounds=(0, 1))
    return -solved.fun


@CASES.append
def losses_of_clusters() -> Pairs:
    odds = 10 / 90
    epsilon = 0.1

    folder = "2_bun2022/03_cluster_lower_bounds"
    table = rows(f"{folder}/losses", design="equal sizes, deletion", quantity="exact")
    for size, loss in zip(table.cluster_size, table.loss, strict=True):
        with_the_record = 1 + odds * np.exp(epsilon * 2 * size)
        without_it = 1 + odds * np.exp(epsilon * (2 * size - 1))
        yield loss, np.log(with_the_record / without_it)

    advantages = rows(f"{folder}/identification", quantity="exact")
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
    """Averages over Jeffreys' prior are finite sums.

    Sums over 400 angles are exact for polynomials of a degree below 800.
    """
    share = np.sin(np.pi * (np.arange(400) + 0.5) / 800) ** 2
    table = rows("3_lopuhaa2020/02_mse_lower_bounds/two_values")
    table = table[table.quantity.isin(["Bayes", "MLE"]) & (table.users <= 120)]

    for row in table.itertuples():
        p, q = krr(float(row.budget[4:]), 2)
        tally = np.arange(row.users + 1)
        likelihood = stats.binom.pmf(tally[:, None], row.users, q + (p - q) * share)

        if row.quantity == "Bayes":
            estimate = (likelihood @ share) / likelihood.sum(axis=1)
        else:
            estimate = np.clip((tally / row.users - q) / (p - q), 0, 1)

        errors = (estimate[:, None] - share) ** 2
        of_both_shares = 2 * (likelihood * errors).sum() / share.size
        yield row.n_times_the_mean_squared_error, row.users * of_both_shares


@CASES.append
def least_errors_of_three_values() -> Pairs:
    """Under Jeffreys' prior the users' values come from Polya's urn.

    All that users may hold is listed, with all that they may report.
    """
    p, q = krr(1.0, 3)
    few = "3_lopuhaa2020/03_optimal_estimators/few_users"
    table = rows(few, prior="Jeffreys' prior", estimator="Bayes")

    for row in table[table.users_n <= 4].itertuples():
        users = row.users_n
        held = np.array(list(product(range(3), repeat=users)))
        counts = (held[:, :, None] == np.arange(3)).sum(axis=1)

        # The chance of each list of values, and of each list of reports together with it.
        urn = special.poch(0.5, counts).prod(axis=1) / special.poch(1.5, users)
        chances = np.where(held[:, None] == held, p, q).prod(axis=2) * urn
        of_reports = chances.sum(axis=1)

        # The error is the mean square of the frequencies less that of their posterior means.
        means = chances @ ((0.5 + counts) / (1.5 + users)) / of_reports[:, None]
        mean_square = 3 * (0.5 * 1.5) / (1.5 * 2.5)
        yield row.error, mean_square - (of_reports * (means**2).sum(axis=1)).sum()


@CASES.append
def errors_of_channels_at_the_uniform_distribution() -> Pairs:
    table = rows("3_lopuhaa2020/05_best_protocol/channels", case="uniform, a = 6")
    truth = np.full(6, 1 / 6)
    along_the_simplex = np.linalg.svd(np.ones((1, 6)))[2][1:].T

    for row in table[table.channel.isin(["k-RR", "OUE", "SUE"])].itertuples():
        if row.channel == "k-RR":
            channel = np.where(np.eye(6) == 1, *krr(row.epsilon, 6))
        elif row.channel == "OUE":
            channel = unary_encoding(0.5, krr(row.epsilon, 2)[1])
        else:
            channel = unary_encoding(*krr(row.epsilon / 2, 2))

        fisher = (channel.T / (channel @ truth)) @ channel
        information = along_the_simplex.T @ fisher @ along_the_simplex
        yield row.error, np.trace(np.linalg.inv(information))


def unary_encoding(p: float, q: float) -> np.ndarray:
    """The channel of a unary encoding of six values, a row for each of its 64 words."""
    words = np.array(list(product([0, 1], repeat=6)))[:, None, :]
    one = np.where(np.eye(6) == 1, p, q)
    return np.where(words == 1, one, 1 - one).prod(axis=2)


@CASES.append
def losses_of_the_discretised_means() -> Pairs:
    for row in rows("4_juarez2022/01_privacy_audit/discretised").itertuples():
        epsilon = row.claimed_budget_ε
        kept, changed = krr(epsilon, 2)

        # A report is a group and a sign. The sign is random if the group is not one's own.
        positive = kept * np.array([kept, changed])
        negative = kept * np.array([changed, kept])
        other_group = np.full(2, changed / 2)
        inputs = [
            np.concatenate([positive, other_group]),
            np.concatenate([negative, other_group]),
            np.concatenate([other_group, positive]),
            np.concatenate([other_group, negative]),
        ]
        pairs = list(product(inputs, inputs))

        if row.what.startswith("loss"):
            loss = max(np.log(one / other).max() for one, other in pairs)
            yield row.value, loss / epsilon - 1
        else:
            excesses = [np.maximum(one - np.exp(epsilon) * other, 0) for one, other in pairs]
            yield row.value, max(excess.sum() for excess in excesses)


@CASES.append
def largest_variances_of_a_gap() -> Pairs:
    users = 10_000

    as_claimed = rows("4_juarez2022/02_gap_error/figure_1", panel="budgets as claimed")
    for row in as_claimed.itertuples():
        kept, _ = krr(row.budget_ε, 2)
        yield row.M_R, 2 / (users * (kept * np.tanh(row.budget_ε / 2)) ** 2)

    signed_bits = rows("4_juarez2022/05_better_mechanisms/variances", mechanism="signed bit")
    for row in signed_bits.itertuples():
        yield row.largest_variance_of_the_gap, 2 / (users * np.tanh(row.budget_ε / 2) ** 2)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_every_such_number_is_right(case: Callable[[], Pairs]) -> None:
    shown, computed = np.array(list(case())).T
    np.testing.assert_allclose(shown, computed, rtol=2e-8)
