"""The user's own channel and the user's own column: audited, and collected under any mechanism."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.accuracy import gaps, histograms
from ldpnb.accuracy import means as mean_errors
from ldpnb.data import files
from ldpnb.data.column import Column
from ldpnb.data.public import adult
from ldpnb.estimators import frequency, likelihood, linear
from ldpnb.estimators import gaps as gap_estimators
from ldpnb.mechanisms.contrasts import Contrast, SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import FrequencyMechanism
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.juarez2022 import clients
from ldpnb.papers.lecture20.tables import means
from ldpnb.papers.lopuhaa2020.tables import frequencies
from ldpnb.privacy.channel import as_channel, privacy_loss
from ldpnb.rng import stream

Counts = NDArray[np.int64]

MECHANISMS: Mapping[str, Callable[[float, int], FrequencyMechanism]] = {
    **frequencies.MECHANISMS,
    "subset selection": SubsetSelection.optimal,
    "signs": SignRandomiser,
}
"""For shares of values, by name: epsilon and number of values to mechanism."""

_PUBLISHED_CLIENTS = (25_000, 62_000)


def audit(channel: ArrayLike) -> pd.DataFrame:
    """Say of a channel what it loses, where, and whether its reports determine the distribution of the inputs.

    Returns
    -------
    DataFrame
        Columns ``what, value`` as text.
    """
    matrix = as_channel(channel)
    loss = privacy_loss(matrix)
    likely, unlikely = loss.inputs
    rank = int(np.linalg.matrix_rank(matrix))
    rows = {
        "outputs, inputs": f"{matrix.shape[0]}, {matrix.shape[1]}",
        "exact privacy loss, nats": f"{loss.epsilon:.6g}",
        "attained at output": str(loss.output),
        "between inputs": f"{likely} (chance {matrix[loss.output, likely]:.6g}) and {unlikely} ({matrix[loss.output, unlikely]:.6g})",
        "reports determine the distribution": "yes" if rank == matrix.shape[1] else f"no, rank {rank}",
    }
    return pd.DataFrame({"what": rows.keys(), "value": rows.values()})


def channel_estimates(channel: ArrayLike, counts: ArrayLike, *, seed: int) -> pd.DataFrame:
    """Estimate the shares of the inputs from one simulated collection, by both linear estimates and certified maximum
    likelihood.

    Parameters
    ----------
    channel : (m, k) float
    counts : (k,) int
        Users per input.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``input, truth``, ``least squares`` and ``best linear`` with their exact standard deviations, and
        ``MLE``.
    """
    matrix, held = as_channel(channel), checks.counts(counts=counts)
    if held.size != matrix.shape[1]:
        raise ValueError(f"counts must have one entry per input, {matrix.shape[1]}, got {held.size}")
    rng = stream("own channel", seed=seed)
    # the generator takes another way on either side of 1/2: without the last bits, which differ between processors, all take the same
    laws = np.round(matrix.T / matrix.T.sum(axis=1, keepdims=True), 14)
    tallies = rng.multinomial(held, laws).sum(axis=0)
    table = {"input": np.arange(held.size), "truth": held / held.sum()}
    for name, weights in (
        ("least squares", linear.least_squares_weights(matrix)),
        ("best linear", linear.best_weights(matrix)),
    ):
        table[name] = weights @ (tallies / held.sum())
        table[f"sd, {name}"] = linear.deviations(weights, matrix, held)
    return pd.DataFrame(table | {"MLE": likelihood.mle(matrix, tallies).estimate})


def shares(counts: Counts, names: list[str], epsilon: float, *, seed: int) -> pd.DataFrame:
    """Estimate the shares of a column's values once per mechanism.

    Parameters
    ----------
    counts : (k,) int
    names : list of str
        Keys of `MECHANISMS`.
    epsilon : float
        Exact privacy loss of a report, nats.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``mechanism, value`` (its place), ``truth, unbiased, standard_deviation`` (exact, of the unbiased
        estimate), ``Norm-Sub``.
    """
    users, parts = int(counts.sum()), []
    for name in names:
        mechanism = MECHANISMS[checks.choice(mechanism=name, among=tuple(MECHANISMS))](epsilon, counts.size)
        tallies = mechanism.sample_tallies(counts, rng=stream("own column", name, epsilon, seed=seed))
        estimate = frequency.unbiased(tallies, users, mechanism)
        exact = np.sqrt(histograms.pure_variance(counts, users=users, mechanism=mechanism)) / users
        rows = {"mechanism": name, "value": np.arange(counts.size), "truth": counts / users, "unbiased": estimate}
        parts.append(
            pd.DataFrame(rows | {"standard_deviation": exact, "Norm-Sub": frequency.project_simplex(estimate)})
        )
    return pd.concat(parts, ignore_index=True)


def load_column(data: str, column: str, *, low: float, high: float, bins: int) -> Column:
    """Return a column as `ldpnb.data.files.load_counts` does; without a file, the ages of UCI Adult."""
    return files.load_counts(data, column, low=low, high=high, bins=bins) or adult("age")


def load_groups(data: str, column: str, group: str, *, low: float, high: float, bins: int) -> Column | None:
    """Return a number with a group, None without a group column; without a file, the rates printed in juarez2022."""
    if data:
        return files.load_groups(data, column, group, low=low, high=high, bins=bins) if group else None
    rates = clients.published_rates("true_positive_rate")
    hits = [round(size * rate) for size, rate in zip(_PUBLISHED_CLIENTS, rates, strict=True)]
    counts = np.array([[size - hit, hit] for size, hit in zip(_PUBLISHED_CLIENTS, hits, strict=True)])
    name, values = "true positives among simulated clients", np.array([0.0, 1.0])
    return Column(name, ("missed", "hit"), counts, values, groups=clients.GROUPS, low=0, high=1)


def mean_estimates(column: Column, epsilon: float, *, seed: int) -> pd.DataFrame:
    """Estimate a column's mean once per mechanism.

    Parameters
    ----------
    column : Column
    epsilon : float
        Nats.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``mechanism, truth, estimate, standard_deviation`` (exact); no rows for categories, which have no mean.
    """
    above, upper, rows = column.numbers - column.low, column.high - column.low, []
    for name, make in means.MECHANISMS.items() if upper > 0 else ():
        mechanism = make(epsilon, upper)
        sums = mechanism.sample_sums(above, column.counts, rng=stream("own mean", name, epsilon, seed=seed))
        exact = float(np.sqrt(mean_errors.variance(mechanism, above, column.counts)))
        rows.append((name, column.mean, column.low + float(mechanism.estimate(sums, column.users)[0]), exact))
    return pd.DataFrame(rows, columns=["mechanism", "truth", "estimate", "standard_deviation"])


def gap_estimates(column: Column | None, epsilon: float, *, seed: int) -> pd.DataFrame:
    """Estimate the gap between the means of the first two groups once per mechanism.

    Parameters
    ----------
    column : Column, optional
    epsilon : float
        Exact privacy loss of a report in group and value, nats.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``mechanism, truth, estimate, standard_deviation`` (exact); no rows without a column.
    """
    rows: list[tuple[str, float, float, float]] = []
    columns = ["mechanism", "truth", "estimate", "standard_deviation"]
    if column is None:
        return pd.DataFrame(columns=columns)
    for name, mechanism in _gap_mechanisms(column, epsilon).items():
        held, unit = np.broadcast_to(column.unit_values, column.counts.shape), (column.high - column.low) / 2
        moments = (column.counts * held**2).sum(axis=1) / column.counts.sum(axis=1)
        pair = float(moments[0]), float(moments[1])
        sums = mechanism.sample_sums(column.counts, held, rng=stream("own gap", name, epsilon, seed=seed))
        if isinstance(mechanism, SignedBit | SignedLaplace):
            estimate = gap_estimators.contrast_gap(mechanism, sums)
        else:
            estimate = gap_estimators.signed_gap(gap_estimators.group_means(mechanism, sums, column.sizes))
        variance = gaps.GroupGap(mechanism, column.sizes).variance(pair)
        truth = float(column.mean[0] - column.mean[1])
        rows.append((name, truth, unit * float(estimate[0]), unit * float(np.sqrt(variance))))
    return pd.DataFrame(rows, columns=columns)


def _gap_mechanisms(column: Column, epsilon: float) -> dict[str, Contrast | GroupMeans]:
    groups = len(column.groups)
    return {
        "signed bit": SignedBit(epsilon, column.sizes),
        "signed Laplace": SignedLaplace(epsilon, column.sizes),
        "M_R": DiscretisedMeans.calibrated(epsilon, groups),
        "M_L, k = 2": LaplaceMeans.calibrated(epsilon, groups),
    }
