"""Sentences of the notebook on own data about a channel and a column, with their names and numbers."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ldpnb.data.column import Column
from ldpnb.notebook import listed, literal, short
from ldpnb.privacy.channel import as_channel, privacy_loss

_NAMED = 5


def of_channel(channel: ArrayLike, path: str) -> str:
    """Describe what a channel loses, and where."""
    matrix = as_channel(channel)
    loss, (outputs, inputs) = privacy_loss(matrix), matrix.shape
    likely, unlikely = loss.inputs
    chances = [matrix[loss.output, i] for i in loss.inputs]
    name = (
        f"The channel in {literal(path)}" if path else "The sign vector of Lecture 20, printed with a loss of 0.5 nats,"
    )
    if not np.isfinite(loss.epsilon):
        return (
            f"{name} loses everything: output {loss.output} happens with input {likely} (chance {chances[0]:.4g}) and "
            f"never with input {unlikely}."
        )
    return (
        f"{name} has {inputs} inputs and {outputs} outputs and loses {loss.epsilon:.6g} nats: output {loss.output} "
        f"happens with chance {chances[0]:.4g} at input {likely} and {chances[1]:.4g} at input {unlikely}."
    )


def of_inputs(estimates: pd.DataFrame, counts: ArrayLike) -> str:
    """Describe the estimates of the most frequent input from one collection."""
    row = estimates.iloc[int(np.argmax(estimates["truth"]))]
    return (
        f"Of {np.sum(counts):,} users a share of {row['truth']:.4g}, the largest, holds input {row['input']:.0f}. "
        f"Least squares puts it at {row['least squares']:.4g} (standard deviation {row['sd, least squares']:.2g}), the "
        f"best linear estimate at {row['best linear']:.4g} ({row['sd, best linear']:.2g}), the MLE at {row['MLE']:.4g}."
    )


def of_column(column: Column) -> str:
    """Describe a column: its name, number of users, values, and what was left out."""
    order = np.argsort(-column.counts, kind="stable")
    shares = [f"{literal(column.labels[i])} ({column.counts[i] / column.users:.1%})" for i in order[:_NAMED]]
    more = [f"{len(order) - _NAMED:,} more"] if len(order) > _NAMED else []
    if column.scale == "category":
        values = f"{len(order):,} categories, by size {listed([*shares, *more])}"
    else:
        kind = "dates" if column.scale == "date" else "values"
        ends = " to ".join(literal(column.labels[i]) for i in (0, -1))
        values = f"{len(order):,} {kind} from {ends}, most often {shares[0]}"
    left = f" {column.missing:,} rows without an entry are left out." if column.missing else ""
    return f"**{literal(column.name)}**: {column.users:,} users hold {values}.{left}"


def rmse(table: pd.DataFrame) -> pd.Series:
    """Return the exact root mean squared error over all values of each mechanism's unbiased estimate, least first."""
    squares = table.assign(square=table["standard_deviation"] ** 2).groupby("mechanism", sort=False)["square"]
    return np.sqrt(squares.mean()).sort_values(kind="stable")


def finding(table: pd.DataFrame, column: Column) -> str:
    """Return which mechanism estimates the shares best, for a figure's title."""
    errors, what = rmse(table), column.attribute.partition(",")[0]
    if len(errors) == 1:
        return f"Shares of {what}: {errors.index[0]} errs by {errors.iloc[0]:.2g} (root mean square)"
    least, most = (f"by {error:.2g}" for error in (errors.iloc[0], errors.iloc[-1]))
    best, worst = errors.index[0], errors.index[-1]
    return f"Shares of {what}: {best} errs least, {least} (root mean square), {worst} most, {most}"


def of_errors(table: pd.DataFrame, column: Column, epsilon: float) -> str:
    """Describe which mechanism estimates the shares best, compared with a mean share."""
    errors, mean = rmse(table), 1 / len(column.labels)
    said = f"At ε = {epsilon:g} and {column.users:,} users {errors.index[0]} tells the shares of "
    said += f"{literal(column.name)} best, "
    said += f"off by {errors.iloc[0]:.3g} (root mean square over its {len(column.labels):,} values, whose mean share "
    said += f"is {mean:.3g})"
    if len(errors) == 1:
        return f"{said}."
    return f"{said}; {errors.index[-1]} errs {errors.iloc[-1] / errors.iloc[0]:.3g} times as much."


def of_mean(means: pd.DataFrame, column: Column, epsilon: float) -> str:
    """Describe the estimates of a column's mean by local reports and by a curator, or why it has none."""
    if means.empty:
        kind = "dates" if column.scale == "date" else "categories"
        return f"{literal(column.name)} has no mean: its values are {kind}."
    local = means[~means["mechanism"].str.startswith("central")].sort_values("standard_deviation", kind="stable")
    best, central = local.iloc[0], means[means["mechanism"].str.startswith("central")].iloc[0]
    return (
        f"The mean of {literal(column.name)} is {short(best['truth'], 4)}. "
        f"From {column.users:,} reports at ε = {epsilon:g} "
        f"{best['mechanism']} puts it at {short(best['estimate'], 4)}, with a standard deviation of "
        f"{best['standard_deviation']:.3g}; a curator's noise at the same budget has one of "
        f"{central['standard_deviation']:.3g}."
    )


def of_gap(gap: pd.DataFrame, column: Column | None) -> str:
    """Describe the estimate of the gap between two groups, or that there is none."""
    if column is None or gap.empty:
        return "So the table of the gap is empty."
    first, second = map(literal, column.groups[:2])
    means: Any = column.mean
    best = gap.sort_values("standard_deviation", kind="stable").iloc[0]
    found = "tells" if abs(best["truth"]) > 2 * best["standard_deviation"] else "does not tell"
    return (
        f"**{literal(column.name)}**: the mean is {short(means[0], 4)} among {column.sizes[0]:,} users of the group "
        f"{first} and "
        f"{short(means[1], 4)} among {column.sizes[1]:,} of the group {second}, a gap of {short(best['truth'], 3)}. "
        f"{best['mechanism']} has the least standard deviation, {best['standard_deviation']:.3g}: it {found} the gap "
        "from none at two standard deviations."
    )
