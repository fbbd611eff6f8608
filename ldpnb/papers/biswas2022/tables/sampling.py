"""Experiments of biswas2022 on synthetic data: estimates, bias and distance when only some nodes report."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import distances as accuracy_distances
from ldpnb.accuracy import sampling as accuracy
from ldpnb.accuracy.sampling import Setting
from ldpnb.data import synthetic
from ldpnb.designs.reporters import expected_reports, sampled_tallies
from ldpnb.estimators import sampling as estimators
from ldpnb.estimators.frequency import project_simplex
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.rng import stream

Counts = NDArray[np.int64]


def data_sets(nodes: int, *, seed: int) -> dict[str, Counts]:
    """Draw the two data sets of Section 4 of biswas2022, as nodes per value ``0 .. 100``.

    Parameters
    ----------
    nodes : int
        Number of nodes, 50,000 in the source.
    seed : int

    Returns
    -------
    dict of str to (101,) int
        By name: ``Bin(100, .5)`` and ``Bin(50, .6) | Bin(50, .4)``, read as a mixture (see
        `ldpnb.data.synthetic.binomial_mixture`).
    """
    distributions = {
        "Bin(100, .5)": synthetic.binomial(100, 0.5),
        "Bin(50, .6) | Bin(50, .4)": synthetic.binomial_mixture(50, (0.6, 0.4), largest=100),
    }
    return {
        name: synthetic.sample_counts(distribution, nodes, rng=stream("data set", name, seed=seed))
        for name, distribution in distributions.items()
    }


def estimates(
    counts: Counts, sampling_rates: Sequence[float], mechanism: KaryRandomisedResponse, *, seed: int
) -> pd.DataFrame:
    """Estimate a histogram once per sampling rate with c_DE, g_DE and c-hat, beside the exact mean and standard
    deviation.

    Parameters
    ----------
    counts : (k,) int
        Nodes that hold each value.
    sampling_rates : sequence of float
    mechanism : KaryRandomisedResponse
    seed : int

    Returns
    -------
    DataFrame
        Columns ``sampling_rate, estimator, value, truth, expected, standard_deviation, estimate``; all three estimators
        see the same reports.
    """
    nodes, parts = int(counts.sum()), []
    for rate in sampling_rates:
        rng = stream("estimates", rate, mechanism.epsilon, seed=seed)
        tallies = sampled_tallies(counts, rate, mechanism, rng=rng)
        shared = {"sampling_rate": rate, "value": np.arange(counts.size), "truth": counts}
        for name, (estimate, mean, variance) in _with_moments(tallies, counts, nodes, rate, mechanism).items():
            rows = {"estimator": name, "expected": mean, "standard_deviation": np.sqrt(variance), "estimate": estimate}
            parts.append(pd.DataFrame(shared | rows))
    return pd.concat(parts, ignore_index=True)


def _with_moments(
    tallies: Counts, counts: Counts, nodes: int, rate: float, mechanism: KaryRandomisedResponse
) -> Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """Return estimate, exact mean and exact variance by estimator."""
    known: Setting = {"nodes": nodes, "sampling_rate": rate, "mechanism": mechanism}
    truth = counts.astype(float)
    return {
        "c_DE": (
            estimators.unadjusted(tallies, nodes=nodes, mechanism=mechanism),
            accuracy.mean_unadjusted(counts, **known),
            accuracy.variance_unadjusted(counts, **known),
        ),
        "g_DE": (estimators.rescaled(tallies, **known), truth, accuracy.variance_rescaled(counts, **known)),
        "c-hat": (
            estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism),
            truth,
            accuracy.variance_realised_size(counts, **known),
        ),
    }


def bias_curve(
    counts: Counts, epsilons: Sequence[float], sampling_rates: Sequence[float], runs: int, *, seed: int
) -> pd.DataFrame:
    """Compute the bias of c_DE at the most frequent value against the sampling rate, exactly and by simulation.

    Parameters
    ----------
    counts : (k,) int
        Nodes that hold each value.
    epsilons, sampling_rates : sequence of float
    runs : int
        Simulated collections per point.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``budget``, ``sampling rate π``, ``bias, nodes`` and ``standard_error``; the exact line has no standard
        error.
    """
    nodes, top = int(counts.sum()), int(counts.argmax())
    rows = []
    for epsilon in epsilons:
        mechanism = KaryRandomisedResponse(epsilon, counts.size)
        for rate in sampling_rates:
            exact = accuracy.bias_unadjusted(counts[top], nodes=nodes, sampling_rate=rate, mechanism=mechanism)
            rng = stream("bias", epsilon, rate, seed=seed)
            tallies = np.array([sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(runs)])
            errors = estimators.unadjusted(tallies, nodes=nodes, mechanism=mechanism)[:, top] - counts[top]
            rows.append((f"ε = {epsilon:g}", rate, float(exact), np.nan))
            rows.append((f"ε = {epsilon:g}", rate, errors.mean(), errors.std(ddof=1) / np.sqrt(runs)))
    return pd.DataFrame(rows, columns=["budget", "sampling rate π", "bias, nodes", "standard_error"])


def standard_deviations(counts: Counts, epsilons: Sequence[float], sampling_rates: Sequence[float]) -> pd.DataFrame:
    """Compute the exact standard deviations of g_DE, c-hat and the ratio estimate at a value nobody holds and at the
    most frequent one.

    Parameters
    ----------
    counts : (k,) int
        Nodes that hold each value.
    epsilons, sampling_rates : sequence of float

    Returns
    -------
    DataFrame
        Columns ``epsilon, sampling_rate, holders, g_DE, c-hat, ratio``, standard deviations in nodes, and ``gain``, the
        share by which c-hat lowers the variance of g_DE.
    """
    nodes, rows = int(counts.sum()), []
    for epsilon in epsilons:
        mechanism = KaryRandomisedResponse(epsilon, counts.size)
        for rate in sampling_rates:
            for holders in (0, int(counts.max())):
                known: Setting = {"nodes": nodes, "sampling_rate": rate, "mechanism": mechanism}
                g = float(accuracy.variance_rescaled(holders, **known))
                c = float(accuracy.variance_realised_size(holders, **known))
                ratio = float(accuracy.variance_ratio(holders, **known))
                rows.append((epsilon, rate, holders, np.sqrt(g), np.sqrt(c), np.sqrt(ratio), 1 - c / g))
    return pd.DataFrame(rows, columns=["epsilon", "sampling_rate", "holders", "g_DE", "c-hat", "ratio", "gain"])


RAW, PROJECTED = "as it is", "projected onto the simplex"


def distances(
    counts: Counts, epsilons: Sequence[float], sampling_rates: Sequence[float], runs: int, *, seed: int
) -> pd.DataFrame:
    """Measure the total variation distance between c-hat and the data against the sampling rate, and what it costs.

    Parameters
    ----------
    counts : (k,) int
        Nodes that hold each value.
    epsilons, sampling_rates : sequence of float
    runs : int
        Simulated collections per point.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``estimate`` (as it is, or projected onto the simplex), ``budget``, ``epsilon``, ``sampling_rate``,
        ``expected_reports``, ``distance``, ``standard_error``; the closed form has no standard error.
    """
    nodes, rows = int(counts.sum()), []
    for epsilon in epsilons:
        mechanism = KaryRandomisedResponse(epsilon, counts.size)
        for rate in sampling_rates:
            variance = accuracy.variance_realised_size(counts, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
            closed = accuracy_distances.expected_total_variation(np.sqrt(variance), nodes=nodes)
            rng = stream("distances", epsilon, rate, seed=seed)
            tallies = np.array([sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(runs)])
            shares = estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism) / nodes
            label = (f"ε = {epsilon:g}", epsilon, rate, expected_reports(counts, rate))
            rows.append((RAW, *label, closed, np.nan))
            for name, estimate in ((RAW, shares), (PROJECTED, project_simplex(shares))):
                drawn = np.abs(estimate - counts / nodes).sum(axis=1) / 2
                rows.append((name, *label, drawn.mean(), drawn.std(ddof=1) / np.sqrt(runs)))
    columns = ["budget", "epsilon", "sampling_rate", "expected_reports", "distance", "standard_error"]
    return pd.DataFrame(rows, columns=["estimate", *columns])


def lowest_against_highest(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the distances at the lowest and the highest sampling rate of `distances`.

    Parameters
    ----------
    table : DataFrame
        From `distances`.

    Returns
    -------
    DataFrame
        A row per epsilon: distances at both rates (raw: closed form; projected: simulated mean), their ratios and
        differences.
    """
    ends = table["sampling_rate"].min(), table["sampling_rate"].max()
    closed, projected = table[table["standard_error"].isna()], table[table["estimate"] == PROJECTED]
    out = pd.DataFrame(index=pd.Index(dict.fromkeys(table["epsilon"]), name="epsilon"))
    for name, rows in (("raw", closed), ("projected", projected)):
        low, high = (rows[rows["sampling_rate"] == rate].set_index("epsilon")["distance"] for rate in ends)
        out[f"{name} at {ends[0]:g}"], out[f"{name} at {ends[1]:g}"] = low, high
        out[f"{name} ratio"], out[f"{name} difference"] = low / high, low - high
    return out.reset_index()


def reports_needed(counts: Counts, epsilons: Sequence[float], targets: Sequence[float]) -> pd.DataFrame:
    """Compute how many reports, in expectation, bring the distance of c-hat down to some targets.

    Parameters
    ----------
    counts : (k,) int
        Nodes that hold each value.
    epsilons, targets : sequence of float

    Returns
    -------
    DataFrame
        A row per epsilon, a column per target; missing where all nodes do not suffice.
    """
    nodes = int(counts.sum())
    rows = []
    for epsilon in epsilons:
        mechanism = KaryRandomisedResponse(epsilon, counts.size)
        rates = [
            accuracy_distances.smallest_rate(target, counts, nodes=nodes, mechanism=mechanism) for target in targets
        ]
        rows.append([epsilon, *(np.nan if rate is None else nodes * rate for rate in rates)])
    return pd.DataFrame(rows, columns=["epsilon", *(f"distance {target:g}" for target in targets)])
