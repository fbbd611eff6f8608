"""The error of a gap: variances against budget, group shares, wrong sizes and noise parameters, and simulations."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.accuracy import dropouts, gaps
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans, largest_group_epsilon
from ldpnb.notebook import Rows, table
from ldpnb.papers.juarez2022.clients import Clients, resampled
from ldpnb.papers.juarez2022.tables.gaps import BUDGET, families
from ldpnb.rng import stream

Floats = NDArray[np.float64]

LARGEST = "largest variance of the gap"
RATIO = "largest variance of M_R / of M_L"
RELATIVE = "mean error / expected as published"
HALF = 5e-5
"""Half a unit of the last digit that Table 2 prints."""


def _largest_variance(name: str, epsilon: float, users: int) -> float:
    return float(gaps.GroupGap.of_halves(families(users)[name](epsilon), users).worst_variance())


@table
def variance_bounds(epsilons: Sequence[float], group_size: int, names: Sequence[str]) -> Rows:
    """Yield the largest variance of the gap between two equal groups over all values."""
    for name, epsilon in product(names, epsilons):
        yield {"mechanism": name, BUDGET: epsilon, LARGEST: _largest_variance(name, epsilon, 2 * group_size)}


@table
def variance_ratios(epsilons: Sequence[float], group_size: int, pairs: dict[str, tuple[str, str]]) -> Rows:
    """Yield the largest variances of the gap under ``M_R`` and under ``M_L``, and their ratio, by panel."""
    for (panel, names), epsilon in product(pairs.items(), epsilons):
        signs, noise = (_largest_variance(name, epsilon, 2 * group_size) for name in names)
        yield {"panel": panel, BUDGET: epsilon, RATIO: signs / noise, "M_R": signs, "M_L": noise}


@table
def minority_curves(epsilons: Sequence[float], users: int, shares: Sequence[float]) -> Rows:
    """Yield the largest variance of the gap when one group is a minority; `factor` is over that of equal groups."""
    for name, share, epsilon in product(("M_R as published", "M_L, k = 2"), shares, epsilons):
        small = round(users * share)
        variance = gaps.GroupGap(families(users)[name](epsilon), (small, users - small)).worst_variance()
        row = {"mechanism": name, "share": share, "label": f"{100 * share:.3g}%", BUDGET: epsilon}
        yield row | {LARGEST: variance, "factor": variance / _largest_variance(name, epsilon, users)}


@table
def misestimated_curves(errors: Sequence[float], means: Sequence[float], *, epsilon: float, users: int) -> Rows:
    """Yield what wrong sizes do to the gap between two equal groups of the same mean, under ``M_R`` as published.

    One group is taken to be ``1 + error`` and the other ``1 - error`` times as large as it is. The true gap is 0.
    """
    gap = gaps.GroupGap.of_halves(DiscretisedMeans.published(epsilon), users)
    for mean, error in product(means, errors):
        factors, moments = (1 + error, 1 - error), (mean**2, mean**2)
        bias = gaps.misestimated_gap_bias(factors, (mean, mean))
        sd, known = (float(np.sqrt(v)) for v in (gap.misestimated_variance(factors, moments), gap.variance(moments)))
        row = {"relative error of the assumed sizes": error, "mean": mean, "bias": bias, "sd": sd}
        yield row | {"root mean squared error of the gap": float(np.hypot(bias, sd)), "with known sizes": known}


@table
def noise_parameter_curves(epsilons: Sequence[float], ks: Sequence[float], users: int) -> Rows:
    """Yield the largest variance of the gap against ``k``, at the largest ``eps1`` that equation (1) allows.

    For two equal groups; `chosen` marks the source's choice of ``k``.
    """
    for epsilon in epsilons:
        for k, chosen in [*((k, False) for k in ks), (LaplaceMeans.published(epsilon).k, True)]:
            if largest_group_epsilon(epsilon, k) > 0:
                variance = gaps.GroupGap.of_halves(LaplaceMeans.allowed(epsilon, k), users).worst_variance()
                row = {"budget": f"ε = {epsilon:g}", "noise parameter k": k, "chosen": chosen}
                yield row | {"variance of the gap times K": users * variance}


def measured_means(mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator) -> Floats:
    """Return the group means of repeated measurements, ``(repetitions, d)``, from their exact joint law."""
    sums = mechanism.sample_sums(clients.counts, clients.values, repetitions=repetitions, rng=rng)
    return estimators.group_means(mechanism, sums, clients.sizes)


@table
def simulated_moments(mechanisms: dict[str, GroupMeans], clients: Clients, *, repetitions: int, seed: int) -> Rows:
    """Yield simulated and exact mean and variance of the gap, and the correlation of the two means, which is 0."""
    root = float(np.sqrt(repetitions))
    for name, mechanism in mechanisms.items():
        means = measured_means(mechanism, clients, repetitions=repetitions, rng=stream("moments", name, seed=seed))
        shown, exact = estimators.signed_gap(means), clients.gap(mechanism).variance(clients.second_moments)
        spread = float(np.std((shown - shown.mean()) ** 2))
        correlation = float(np.corrcoef(means[:, 0], means[:, 1])[0, 1])
        for quantity, *numbers in (
            ("gap", clients.true_gap, float(shown.mean()), float(shown.std()) / root),
            ("variance of the gap", exact, float(shown.var(ddof=1)), spread / root),
            ("correlation of the means", 0.0, correlation, 1 / root),
        ):
            row = dict(zip(("exact", "simulated", "standard_error"), numbers, strict=True))
            yield {"mechanism": name, "quantity": quantity} | row


@table
def mse_by_runs(mechanism: DiscretisedMeans, clients: Clients, runs: Sequence[int], *, seed: int) -> Rows:
    """Yield the empirical mean squared error over the first runs, of one mean and of the gap (Figure 4).

    Beside it stand the exact ones, which have no standard error.
    """
    means = measured_means(mechanism, clients, repetitions=max(runs), rng=stream("Figure 4", seed=seed))
    users = int(clients.sizes.sum())
    moments = zip(clients.sizes, clients.second_moments, strict=True)
    first, second = (gaps.mean_variance(mechanism, int(size), users, float(nu2)) for size, nu2 in moments)
    for quantity, error, exact in (
        ("mean of the first group", means[:, 0] - clients.means[0], first),
        ("gap", estimators.signed_gap(means) - clients.true_gap, first + second),
    ):
        for way, number in product(("exact", "empirical"), runs):
            squares = error[:number] ** 2
            shown = (exact, np.nan) if way == "exact" else (float(squares.mean()), squares.std() / np.sqrt(number))
            row = {"quantity": quantity, "way": way, "runs": number, "mean squared error": shown[0]}
            yield row | {"standard_error": float(shown[1])}


MEASURED: Mapping[str, Callable[[Any], GroupMeans]] = MappingProxyType(
    {
        "M_R as published": lambda epsilon: DiscretisedMeans.published(epsilon),
        "M_L as published": lambda epsilon: LaplaceMeans.published(epsilon),
        "M_L as in the code": lambda epsilon: LaplaceMeans.executed(epsilon),
        "M_R": lambda epsilon: DiscretisedMeans.calibrated(epsilon),
        "M_L, k = 2": lambda epsilon: LaplaceMeans.calibrated(epsilon),
    }
)
"""Mechanisms whose errors are measured on clients; the third has its two noise scales reversed."""


def measure(mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator) -> Floats:
    """Return the errors of repeated measurements of the absolute gap, on the scale of rates: ``(repetitions,)``."""
    shown = estimators.signed_gap(measured_means(mechanism, clients, repetitions=repetitions, rng=rng))
    return np.asarray(np.abs(np.abs(shown) - abs(clients.true_gap)) / 2)


def expected_error(mechanism: GroupMeans, clients: Clients) -> float:
    """Return the exact expectation of the errors that `measure` returns."""
    sd = np.sqrt(clients.gap(mechanism).variance(clients.second_moments))
    return float(gaps.absolute_gap_error(sd, abs(clients.true_gap))) / 2


def ten_runs(clients: Clients, name: str, epsilon: float, *, runs: int, repetitions: int, seed: int) -> Floats:
    """Return the errors behind `measured_errors`: sets of `runs` measurements, ``(repetitions, runs)``."""
    rng = stream("measured", name, epsilon, seed=seed)
    return measure(MEASURED[name](epsilon), clients, repetitions=runs * repetitions, rng=rng).reshape(repetitions, runs)


@table
def measured_errors(
    clients: Clients, epsilons: Sequence[float], *, runs: int, repetitions: int, failure: float, seed: int
) -> Rows:
    """Yield the law of the mean of `runs` errors beside its exact expectation and Chebyshev's bound.

    ``mean, standard_error, sd`` are of simulated errors; ``low, high`` hold the central 95% of the means of `runs`.
    """
    for name, epsilon in product(MEASURED, epsilons):
        mechanism = MEASURED[name](epsilon)
        errors = ten_runs(clients, name, epsilon, runs=runs, repetitions=repetitions, seed=seed)
        low, high = np.quantile(errors.mean(axis=1), (0.025, 0.975)).tolist()
        row = {"mechanism": name, "epsilon": epsilon, "expected": expected_error(mechanism, clients)}
        row |= {"mean": float(errors.mean()), "standard_error": float(errors.std() / np.sqrt(errors.size))}
        row |= {"sd": float(errors.std()), "low": low, "high": high}
        yield row | {"bound": clients.gap(mechanism).error_bound(failure) / 2}


def _ways(mechanism: str) -> list[str]:
    """Return the names of the ways to run a mechanism that may be behind its printed errors."""
    return [name for name in MEASURED if name.startswith(f"{mechanism} as")]


@table
def against_printed(clients: Clients, printed: pd.DataFrame, *, runs: int, repetitions: int, seed: int) -> Rows:
    """Rank the printed means and standard deviations of `runs` errors among those behind `measured_errors`.

    A rank is the share of simulated values at most the printed one, within half of its last digit.
    """
    for row in printed.to_dict("records"):
        for name in _ways(row["mechanism"]):
            errors = ten_runs(clients, name, row["epsilon"], runs=runs, repetitions=repetitions, seed=seed)
            ranked = {"mechanism": name, "epsilon": row["epsilon"], "printed": row["error"]}
            ranked |= {"rank": float(np.mean(errors.mean(axis=1) <= row["error"] + HALF)), "printed_sd": row["sd"]}
            yield ranked | {"rank_sd": float(np.mean(errors.std(axis=1) <= row["sd"] + HALF))}


@table
def printed_against_law(measured: pd.DataFrame, printed: pd.DataFrame) -> Rows:
    """Yield printed means beside the central 95% of those in `measured_errors`.

    All are over the expectation for the mechanism as published; a printed one has half of its rounding as its error.
    """
    laws = measured.set_index(["mechanism", "epsilon"])[["low", "expected", "high"]]
    for row in printed.to_dict("records"):
        names = _ways(row["mechanism"])
        _, unit, _ = laws.loc[names[0], row["epsilon"]]
        point, error, half = {"panel": row["mechanism"], BUDGET: row["epsilon"]}, row["error"] / unit, HALF / unit
        for name in names:
            low, mean, high = laws.loc[name, row["epsilon"]] / unit
            series = name.removeprefix(f"{row['mechanism']} ")
            yield point | {"series": series, RELATIVE: mean, "low": low, "high": high, "rounding": np.nan}
        point |= {"series": "printed", RELATIVE: error, "low": error - half, "high": error + half}
        yield point | {"rounding": half / 2}


@table
def chain(
    rates: pd.DataFrame, epsilons: Sequence[float], *, users: int, repetitions: int, failure: float, seed: int
) -> Rows:
    """Draw clients from observed rates and measure their gap with both mechanisms, budgets kept.

    `rates` has a row of ``metric, group, rate`` per observed client; groups are drawn in proportion to them. The bound
    is exceeded with the probability `failure` at most.
    """
    for metric, part in rates.groupby("metric", sort=False):
        observed = [group["rate"].to_numpy() for _, group in part.groupby("group", sort=False)]
        first = round(users * observed[0].size / len(part))
        drawn = resampled(observed, [first, users - first], rng=stream("chain", str(metric), seed=seed))
        for name, epsilon in product(("M_R", "M_L, k = 2"), epsilons):
            mechanism, rng = MEASURED[name](epsilon), stream("chain", str(metric), name, epsilon, seed=seed)
            errors = measure(mechanism, drawn, repetitions=repetitions, rng=rng)
            for way, value, error in (
                ("mean error", float(errors.mean()), float(errors.std() / np.sqrt(repetitions))),
                ("expected error", expected_error(mechanism, drawn), np.nan),
                ("bound", drawn.gap(mechanism).error_bound(failure) / 2, np.nan),
            ):
                row = {"metric": metric, "mechanism": name, "way": way, BUDGET: epsilon}
                yield row | {"error of the gap": value, "standard_error": error}


@table
def dropout_errors(group_size: int, shares: Sequence[float], epsilon: float, *, repetitions: int, seed: int) -> Rows:
    """Yield root mean squared errors of M_R's gap if a share of the first group does not answer; means .8 and .6.

    By the sizes of the whole groups, and by sizes estimated from the reported groups: delta method, and simulated.
    """
    signs, means, squares = DiscretisedMeans.calibrated(epsilon), (0.8, 0.6), (0.64, 0.36)
    for share in shares:
        answer, dropped = (round(group_size * (1 - share)), group_size), (share, 0.0)
        whole = dropouts.dropout_error(signs, answer, dropped, means, squares)
        repaired = dropouts.estimated_sizes_variance(signs, answer, means, squares)
        rng = stream("dropouts", share, seed=seed)
        tallies = signs.sample_tallies(np.diag(answer), np.array(means), repetitions=repetitions, rng=rng)
        drawn = np.square(estimators.self_sized_means(signs, tallies) @ (1, -1) - (means[0] - means[1]))
        rows = (("Definition 5.1", whole, None), ("estimated sizes", repaired, None))
        error = drawn.std() / np.sqrt(repetitions) / (2 * np.sqrt(drawn.mean()))
        for name, square, bar in (*rows, ("estimated sizes", drawn.mean(), error)):
            row = {"share of the first group that drops out": share, "sizes": name}
            yield row | {"root mean squared error": float(np.sqrt(square)), "standard error": bar}
