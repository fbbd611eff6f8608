"""Tables about the error of a gap: variances against budget, group shares, wrong sizes and noise parameters, and exact
simulations of them.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import gaps
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.contrasts import Contrast
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.papers.juarez2022.clients import Clients, resampled
from ldpnb.papers.juarez2022.tables.gaps import families
from ldpnb.rng import stream


def variance_bounds(epsilons: Sequence[float], group_size: int, names: Sequence[str]) -> pd.DataFrame:
    """Return the smallest and largest variance of the gap between two equal groups over all values, ``nu^2`` from 0 to
    1.

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, lower, upper``.
    """
    rows = []
    for name in names:
        family = families(2 * group_size)[name]
        for epsilon in epsilons:
            ends = [_variance(family(epsilon), group_size, nu2) for nu2 in (0.0, 1.0)]
            rows.append({"mechanism": name, "epsilon": epsilon, "lower": min(ends), "upper": max(ends)})
    return pd.DataFrame(rows)


def _variance(mechanism: GroupMeans | Contrast, size: int, nu2: float) -> float:
    if isinstance(mechanism, GroupMeans):
        return gaps.gap_variance(mechanism, (size, size), (nu2, nu2))
    return gaps.contrast_variance(mechanism, (nu2, nu2))


def minority_curves(epsilons: Sequence[float], clients: int, shares: Sequence[float]) -> pd.DataFrame:
    """Return the largest variance of the gap when one group is a minority, for ``M_R`` as published and ``M_L`` with
    ``k = 2``.

    Returns
    -------
    DataFrame
        Columns ``mechanism, share, label`` (the share as text), ``epsilon, variance, factor`` (over that of equal
        groups).
    """
    rows = []
    for name, family in (("M_R as published", DiscretisedMeans.published), ("M_L, k = 2", LaplaceMeans.calibrated)):
        for share in shares:
            small = round(clients * share)
            for epsilon in epsilons:
                mechanism = family(epsilon)
                variance = gaps.worst_gap_variance(mechanism, (small, clients - small))
                equal = gaps.worst_gap_variance(mechanism, (clients // 2, clients // 2))
                row = {"mechanism": name, "share": share, "label": f"{100 * share:g} %", "epsilon": epsilon}
                rows.append(row | {"variance": variance, "factor": variance / equal})
    return pd.DataFrame(rows)


def misestimated_curves(
    errors: Sequence[float], means: Sequence[float], *, epsilon: float, clients: int
) -> pd.DataFrame:
    """Return what wrong sizes do to the gap between two equal groups of the same mean, under ``M_R`` as published.

    One group is taken to be ``1 + error`` and the other ``1 - error`` times as large as it is.

    Returns
    -------
    DataFrame
        Columns ``error, mean, bias, sd, rmse`` of the gap, whose true value is 0, and ``rmse_known`` with known sizes.
    """
    mechanism, half, rows = DiscretisedMeans.published(epsilon), clients // 2, []
    for mean in means:
        moments = (mean**2, mean**2)
        known = float(np.sqrt(gaps.gap_variance(mechanism, (half, half), moments)))
        for error in errors:
            factors = (1 + error, 1 - error)
            bias = gaps.misestimated_gap_bias(factors, (mean, mean))
            variance = gaps.misestimated_gap_variance(mechanism, (half, half), factors, moments)
            row = {"error": error, "mean": mean, "bias": bias, "sd": float(np.sqrt(variance))}
            rows.append(row | {"rmse": float(np.hypot(bias, np.sqrt(variance))), "rmse_known": known})
    return pd.DataFrame(rows)


def noise_parameter_curves(epsilons: Sequence[float], ks: Sequence[float], clients: int) -> pd.DataFrame:
    """Return the largest variance of the gap against ``k`` at the largest ``eps1`` that equation (1) allows, equal
    groups.

    Returns
    -------
    DataFrame
        Columns ``epsilon`` (text), ``k, scaled`` (``K`` times the variance), ``chosen`` (whether it is the source's
        choice of ``k``).
    """
    rows = []
    for epsilon in epsilons:
        for k, chosen in [*((k, False) for k in ks), (LaplaceMeans.published(epsilon).k, True)]:
            first = float(np.log(2 / k) + epsilon * (1 - 1 / k))
            if first > 0:
                variance = gaps.worst_gap_variance(LaplaceMeans(first, epsilon, k), (clients // 2, clients // 2))
                rows.append({"epsilon": f"{epsilon:g}", "k": k, "scaled": clients * variance, "chosen": chosen})
    return pd.DataFrame(rows)


def simulated_moments(
    mechanisms: dict[str, GroupMeans], clients: Clients, *, repetitions: int, seed: int
) -> pd.DataFrame:
    """Simulate the group sums and compare mean and variance of the gap, and the correlation of the two means, with
    their exact values.

    Returns
    -------
    DataFrame
        Columns ``mechanism, quantity, exact, simulated, standard_error``.
    """
    rows = []
    truth = float(estimators.signed_gap(clients.means))
    for name, mechanism in mechanisms.items():
        rng = stream("moments", name, seed=seed)
        sums = mechanism.sample_sums(clients.counts, clients.values, repetitions=repetitions, rng=rng)
        means = estimators.group_means(mechanism, sums, clients.sizes)
        found = estimators.signed_gap(means)
        moments = (float(clients.second_moments[0]), float(clients.second_moments[1]))
        variance = gaps.gap_variance(mechanism, clients.sizes, moments)
        spread = float(np.var((found - found.mean()) ** 2))
        correlation = float(np.corrcoef(means[:, 0], means[:, 1])[0, 1])
        root = float(np.sqrt(repetitions))
        for quantity, exact, simulated, error in (
            ("gap", truth, float(found.mean()), float(found.std()) / root),
            ("variance of the gap", variance, float(found.var(ddof=1)), float(np.sqrt(spread)) / root),
            ("correlation of the means", 0.0, correlation, 1 / root),
        ):
            row = {"mechanism": name, "quantity": quantity, "exact": exact, "simulated": simulated}
            rows.append(row | {"standard_error": error})
    return pd.DataFrame(rows)


def mse_by_runs(mechanism: DiscretisedMeans, clients: Clients, runs: Sequence[int], *, seed: int) -> pd.DataFrame:
    """Return the empirical mean squared error over the first runs, of one group's mean and of the gap, beside the exact
    ones (Figure 4).

    Returns
    -------
    DataFrame
        Columns ``quantity, way, runs, mse, standard_error``; exact rows have no standard error.
    """
    sums = mechanism.sample_sums(
        clients.counts, clients.values, repetitions=max(runs), rng=stream("Figure 4", seed=seed)
    )
    means = estimators.group_means(mechanism, sums, clients.sizes)
    moments = [float(m) for m in clients.second_moments]
    total = int(clients.sizes.sum())
    exact = [gaps.mean_variance(mechanism, int(n), total, m) for n, m in zip(clients.sizes, moments, strict=True)]
    squares = {
        "mean of the first group": (means[:, 0] - clients.means[0]) ** 2,
        "gap": (estimators.signed_gap(means) - estimators.signed_gap(clients.means)) ** 2,
    }
    rows = []
    for (quantity, square), value in zip(squares.items(), (exact[0], exact[0] + exact[1]), strict=True):
        for number in runs:
            rows.append({"quantity": quantity, "way": "exact", "runs": number, "mse": value, "standard_error": np.nan})
        for number in runs:
            first = square[:number]
            error = float(first.std() / np.sqrt(number))
            row = {"quantity": quantity, "way": "empirical", "runs": number, "mse": float(first.mean())}
            rows.append(row | {"standard_error": error})
    return pd.DataFrame(rows)


MEASURED: dict[str, Callable[[float], GroupMeans]] = {
    "M_R as published": DiscretisedMeans.published,
    "M_L as published": LaplaceMeans.published,
    "M_L as in the code": LaplaceMeans.executed,
    "M_R": DiscretisedMeans.calibrated,
    "M_L, k = 2": LaplaceMeans.calibrated,
}
"""Mechanisms whose errors are measured on clients; the third has its two noise scales reversed."""


def measure(
    mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the errors of repeated measurements of the absolute gap, on the scale of rates (half that of values):
    ``(repetitions,)``.
    """
    sums = mechanism.sample_sums(clients.counts, clients.values, repetitions=repetitions, rng=rng)
    found = estimators.signed_gap(estimators.group_means(mechanism, sums, clients.sizes))
    return np.asarray(np.abs(np.abs(found) - abs(estimators.signed_gap(clients.means))) / 2)


def expected_error(mechanism: GroupMeans, clients: Clients) -> float:
    """Return the exact expectation of the errors that `measure` returns."""
    moments = (float(clients.second_moments[0]), float(clients.second_moments[1]))
    sd = float(np.sqrt(gaps.gap_variance(mechanism, clients.sizes, moments)))
    return float(gaps.absolute_gap_error(sd, abs(float(estimators.signed_gap(clients.means))))) / 2


def error_bound(mechanism: GroupMeans, clients: Clients, *, failure: float) -> float:
    """Return Chebyshev's bound on the error of the gap in rates for groups of these sizes, at the values where it is
    largest.
    """
    return float(np.sqrt(gaps.worst_gap_variance(mechanism, clients.sizes) / failure)) / 2


def measured_errors(
    clients: Clients, epsilons: Sequence[float], *, runs: int, repetitions: int, failure: float, seed: int
) -> pd.DataFrame:
    """Measure the gap many times, `runs` at a time, and return the law of their mean error beside its exact expectation
    and Chebyshev's bound.

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, expected`` (exact), ``mean, standard_error, sd`` (simulated errors), ``low, high``
        (central 95 % of the mean of `runs` errors), ``bound``.
    """
    rows = []
    for name, family in MEASURED.items():
        for epsilon in epsilons:
            mechanism = family(epsilon)
            errors = ten_runs(clients, name, epsilon, runs=runs, repetitions=repetitions, seed=seed)
            low, high = np.quantile(errors.mean(axis=1), (0.025, 0.975))
            row = {"mechanism": name, "epsilon": epsilon, "expected": expected_error(mechanism, clients)}
            row |= {"mean": float(errors.mean()), "standard_error": float(errors.std() / np.sqrt(errors.size))}
            row |= {"sd": float(errors.std()), "low": float(low), "high": float(high)}
            rows.append(row | {"bound": error_bound(mechanism, clients, failure=failure)})
    return pd.DataFrame(rows)


def ten_runs(
    clients: Clients, name: str, epsilon: float, *, runs: int, repetitions: int, seed: int
) -> NDArray[np.float64]:
    """Return the errors behind `measured_errors`: `repetitions` sets of `runs` measurements, ``(repetitions, runs)``."""
    rng = stream("measured", name, epsilon, seed=seed)
    return measure(MEASURED[name](epsilon), clients, repetitions=runs * repetitions, rng=rng).reshape(repetitions, runs)


def against_printed(clients: Clients, printed: pd.DataFrame, *, runs: int, repetitions: int, seed: int) -> pd.DataFrame:
    """Rank printed means and standard deviations of `runs` errors among simulated ones.

    Parameters
    ----------
    clients : Clients
    printed : DataFrame
        Columns ``mechanism`` (``M_R`` or ``M_L``), ``epsilon, error, sd``.
    runs, repetitions, seed : int
        As in `measured_errors`, whose simulations are the same.

    Returns
    -------
    DataFrame
        Columns ``mechanism, epsilon, printed, rank`` (share of simulated means at most the printed one, within half of
        its last digit), ``printed_sd, rank_sd``.
    """
    rows = []
    for short, epsilon, error, sd in printed[["mechanism", "epsilon", "error", "sd"]].itertuples(index=False):
        for name in [n for n in MEASURED if n.startswith(f"{short} as")]:
            errors = ten_runs(clients, name, epsilon, runs=runs, repetitions=repetitions, seed=seed)
            ranks = [float(np.mean(x <= p + 5e-5)) for x, p in ((errors.mean(axis=1), error), (errors.std(axis=1), sd))]
            row = {"mechanism": name, "epsilon": epsilon, "printed": error, "rank": ranks[0]}
            rows.append(row | {"printed_sd": sd, "rank_sd": ranks[1]})
    return pd.DataFrame(rows)


def printed_against_law(measured: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return printed means beside the central 95 % of simulated ones, all over the expectation for the mechanism as
    published.

    Parameters
    ----------
    measured : DataFrame
        From `measured_errors`.
    printed : DataFrame
        Columns ``mechanism`` (``M_R`` or ``M_L``), ``epsilon, error``.

    Returns
    -------
    DataFrame
        Columns ``panel`` (the mechanism), ``label`` (the budget), ``series, low, middle, high, printed``.
    """
    laws = measured.set_index(["mechanism", "epsilon"])
    rows = []
    for short, epsilon, error in printed[["mechanism", "epsilon", "error"]].itertuples(index=False):
        unit = float(laws["expected"][f"{short} as published", epsilon])
        for name in [n for n in MEASURED if n.startswith(f"{short} as")]:
            low, middle, high = (float(laws[column][name, epsilon]) / unit for column in ("low", "expected", "high"))
            row = {"panel": short, "label": f"{epsilon:g}", "series": name.removeprefix(f"{short} "), "low": low}
            rows.append(row | {"middle": middle, "high": high, "printed": error / unit})
    return pd.DataFrame(rows)


def chain(
    rates: pd.DataFrame, epsilons: Sequence[float], *, clients: int, repetitions: int, failure: float, seed: int
) -> pd.DataFrame:
    """Draw clients from observed rates and measure their gap with both mechanisms, budgets kept.

    Parameters
    ----------
    rates : DataFrame
        Columns ``metric, group, rate``: a row per observed client.
    epsilons : sequence of float
    clients : int
        Clients to draw, groups in the proportion of the observed ones.
    repetitions : int
        Measurements per budget.
    failure : float
        Probability with which the bound may be exceeded.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``metric, mechanism, way, epsilon, value, standard_error``; ways are ``mean error``, ``expected error``
        and ``bound``.
    """
    rows = []
    for metric, part in rates.groupby("metric", sort=False):
        observed = [group["rate"].to_numpy() for _, group in part.groupby("group", sort=False)]
        shares = np.array([group.size for group in observed]) / len(part)
        first = round(clients * shares[0])
        drawn = resampled(observed, [first, clients - first], rng=stream("chain", str(metric), seed=seed))
        for name in ("M_R", "M_L, k = 2"):
            for epsilon in epsilons:
                mechanism = MEASURED[name](epsilon)
                rng = stream("chain", str(metric), name, epsilon, seed=seed)
                errors = measure(mechanism, drawn, repetitions=repetitions, rng=rng)
                spread = float(errors.std() / np.sqrt(repetitions))
                for way, value, error in (
                    ("mean error", float(errors.mean()), spread),
                    ("expected error", expected_error(mechanism, drawn), np.nan),
                    ("bound", error_bound(mechanism, drawn, failure=failure), np.nan),
                ):
                    row = {"metric": metric, "mechanism": name, "way": way, "epsilon": epsilon}
                    rows.append(row | {"value": value, "standard_error": error})
    return pd.DataFrame(rows)
