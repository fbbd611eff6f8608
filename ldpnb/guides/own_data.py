"""The user's own channel and column: audited, and collected under any mechanism."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.accuracy import histograms
from ldpnb.accuracy import means as mean_errors
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.data import files
from ldpnb.data.column import Column
from ldpnb.data.public import adult
from ldpnb.data.reading import Reading
from ldpnb.estimators import frequency, gaps, likelihood, linear
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.registry import FREQUENCY, GAP, MEAN
from ldpnb.notebook import Rows, table
from ldpnb.notebook.charts import Chart, Layer
from ldpnb.papers.juarez2022 import clients
from ldpnb.privacy.channel import as_channel, privacy_loss
from ldpnb.rng import stream


@table
def audit(channel: ArrayLike) -> Rows:
    """Tabulate a channel's loss, where it is attained, and whether reports determine the distribution of the inputs."""
    matrix = as_channel(channel)
    loss, (outputs, inputs) = privacy_loss(matrix), matrix.shape
    (likely, unlikely), rank = loss.inputs, int(np.linalg.matrix_rank(matrix))
    chances = [f"{matrix[loss.output, i]:.6g}" for i in (likely, unlikely)]
    yield {"what": "outputs, inputs", "value": f"{outputs}, {inputs}"}
    yield {"what": "exact privacy loss, nats", "value": f"{loss.epsilon:.6g}"}
    yield {"what": "attained at output", "value": str(loss.output)}
    yield {
        "what": "between inputs",
        "value": f"{likely} (chance {chances[0]}) and {unlikely} ({chances[1]})",
    }
    yield {
        "what": "reports determine the distribution",
        "value": "yes" if rank == inputs else f"no, rank {rank}",
    }


def channel_estimates(channel: ArrayLike, counts: ArrayLike, *, seed: int) -> pd.DataFrame:
    """Estimate the shares of the inputs from one simulated collection: linearly, and by certified maximum likelihood.

    `counts` are the users per input. Linear estimates come with their exact standard deviations.
    """
    matrix = as_channel(channel)
    users = checks.entries(checks.counts(counts, "counts"), "counts", matrix.shape[1])
    # the generator branches at 1/2, so the last bits, which differ between processors, are rounded off
    laws = np.round(matrix.T / matrix.T.sum(axis=1, keepdims=True), 14)
    tallies = stream("own channel", seed=seed).multinomial(users, laws).sum(axis=0)
    columns = {"input": np.arange(users.size), "truth": users / users.sum()}
    for name, solve in {
        "least squares": linear.least_squares_weights,
        "best linear": linear.best_weights,
    }.items():
        weights = solve(matrix)
        sds = linear.deviations(weights, matrix, users)
        columns |= {name: weights @ (tallies / users.sum()), f"sd, {name}": sds}
    return pd.DataFrame(columns | {"MLE": likelihood.mle(matrix, tallies).estimate})


def shares(column: Column, names: Sequence[str], epsilon: float, *, seed: int) -> pd.DataFrame:
    """Estimate the shares of a column's values once per mechanism of `ldpnb.mechanisms.registry.FREQUENCY`.

    Returns a row per mechanism and value, the commonest categories first, with the exact standard deviation of the
    unbiased estimate.
    """
    counts, users, parts = column.counts, column.users, []
    if counts.size < 2:
        raise ValueError(
            f"column {column.attribute!r} must have two values or more, got {column.labels[0]!r} only"
        )
    order = np.argsort(-counts, kind="stable") if column.scale == "category" else slice(None)
    for name in names:
        mechanism = FREQUENCY[checks.choice(name, "mechanism", among=tuple(FREQUENCY))](
            epsilon, counts.size
        )
        tallies = mechanism.sample_tallies(
            counts, rng=stream("own column", name, epsilon, seed=seed)
        )
        unbiased = frequency.unbiased(tallies, users, mechanism)
        exact = np.sqrt(histograms.pure_variance(counts, users=users, mechanism=mechanism)) / users
        rows = {
            "mechanism": name,
            "place": np.arange(counts.size),
            "value": column.numbers,
            "label": column.labels,
        }
        rows |= {"truth": counts / users, "unbiased": unbiased, "standard_deviation": exact}
        parts.append(
            pd.DataFrame(rows | {"Norm-Sub": frequency.project_simplex(unbiased)}).iloc[order]
        )
    return pd.concat(parts, ignore_index=True)


def rmse(table: pd.DataFrame) -> pd.Series:
    """Return the exact root mean squared error over all values of each mechanism's unbiased estimate, least first."""
    squares = table.assign(square=table["standard_deviation"] ** 2).groupby(
        "mechanism", sort=False
    )["square"]
    return np.sqrt(squares.mean()).sort_values(kind="stable")


def finding(table: pd.DataFrame, column: Column) -> str:
    """Return which mechanism estimates the shares best, for a figure's title."""
    errors, what = rmse(table), column.attribute.partition(",")[0]
    if len(errors) == 1:
        return (
            f"Shares of {what}: {errors.index[0]} errs by {errors.iloc[0]:.2g} (root mean square)"
        )
    best, worst = errors.index[0], errors.index[-1]
    return f"Shares of {what}: {best} errs least, {worst} {errors.iloc[-1] / errors.iloc[0]:.2g} times as much"


def estimated_shares(table: pd.DataFrame, column: Column, epsilon: float) -> Chart:
    """Draw what `shares` returns, a panel each if several: a column's true shares and one estimate.

    Numbers and dates are in their order, categories by size.
    """
    panel = "mechanism" if len(set(table["mechanism"])) > 1 else None
    words: dict[str, Any] = {
        "x": "value",
        "y": "share of users",
        "panel": panel,
        "xlabel": column.attribute,
    }
    if column.scale == "category":
        estimate = Layer(
            name="estimate ± 2 sd", y="unbiased", mark="points", error="standard_deviation"
        )
        layers: tuple[Layer, ...] = (Layer(name="truth", y="truth", mark="bars"), estimate)
        words |= {"x": "label", "xscale": "category"}
    else:
        band = Layer(name="truth ± 2 sd", y="truth", error="standard_deviation")
        layers = (
            band,
            Layer(name="estimate", y="unbiased", mark="points"),
            Layer(name="truth", y="truth"),
        )
        if column.scale == "date":
            words["xlabel"] = f"place in the dates from {column.labels[0]} to {column.labels[-1]}"
    setting = (
        f"{column.name}: {column.users:,} users, {len(column.labels):,} values; ε = {epsilon:g}"
    )
    return Chart(table, **words, layers=layers, title=finding(table, column), setting=setting)


def ages() -> Column:
    """Return the column that stands for the user's own: the ages of UCI Adult."""
    return replace(adult("age"), attribute="age, years")


def groups(
    data: str,
    name: str,
    column: Column,
    group: str,
    *,
    low: float,
    high: float,
    bins: int,
    reading: Reading,
) -> Column | None:
    """Return a number with a group, or None if there is no gap; without a file, the rates printed in juarez2022."""
    if data and not (group and column.scale == "number"):
        print("There is no gap between means without a column of numbers and a group.")
        return None
    if data:
        return files.load_counts(data, name, group, low=low, high=high, bins=bins, reading=reading)
    sizes, rates = np.array([25_000, 62_000]), clients.published_rates("true_positive_rate")
    hits = np.rint(sizes * rates).astype(int)
    title, counts, values = (
        "true positives among simulated clients",
        np.stack([sizes - hits, hits], 1),
        np.arange(2.0),
    )
    return Column(title, ("missed", "hit"), counts, values, groups=clients.GROUPS, low=0, high=1)


@table
def mean_estimates(column: Column, epsilon: float, *, seed: int) -> Rows:
    """Estimate a column's mean once per mechanism, with the exact deviation; there are no rows for categories."""
    above, upper = column.numbers - column.low, column.high - column.low
    for name, make in MEAN.items() if upper > 0 else ():
        mechanism = make(epsilon, upper)
        sums = mechanism.sample_sums(
            above, column.counts, rng=stream("own mean", name, epsilon, seed=seed)
        )
        exact = float(np.sqrt(mean_errors.variance(mechanism, above, column.counts)))
        estimate = column.low + float(mechanism.estimate(sums, column.users)[0])
        yield {
            "mechanism": name,
            "truth": column.mean,
            "estimate": estimate,
            "standard_deviation": exact,
        }


@table
def gap_estimates(column: Column | None, epsilon: float, *, seed: int) -> Rows:
    """Estimate the gap between the means of the first two groups once per mechanism, with the exact deviation.

    The budget, in nats, is the exact privacy loss of a report in group and value. Without a column there are no rows.
    """
    if column is None:
        return
    users = clients.Clients(column.counts, np.broadcast_to(column.unit_values, column.counts.shape))
    for name in ("signed bit", "signed Laplace", "M_R", "M_L, k = 2"):
        mechanism, unit = GAP[name](epsilon, column.sizes), (column.high - column.low) / 2
        sums = mechanism.sample_sums(
            users.counts, users.values, rng=stream("own gap", name, epsilon, seed=seed)
        )
        if isinstance(mechanism, SignedBit | SignedLaplace):
            estimate = gaps.contrast_gap(mechanism, sums)
        else:
            estimate = gaps.signed_gap(gaps.group_means(mechanism, sums, column.sizes))
        exact = np.sqrt(
            GroupGap(mechanism, column.sizes).variance(users.second_moments[:2].tolist())
        )
        truth, row = float(column.mean[0] - column.mean[1]), {"estimate": unit * float(estimate[0])}
        yield (
            {"mechanism": name, "truth": truth} | row | {"standard_deviation": unit * float(exact)}
        )
