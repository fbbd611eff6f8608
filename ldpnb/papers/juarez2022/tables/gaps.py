"""The gap between two group means: losses, errors, what a target costs, and simulations.

Families of mechanisms have the same names as in the figures. ``M_R`` and ``M_L, k = 2`` keep the
budget that they are given. ``M_R as published`` and ``M_L as published`` are the allocations of
Juarez and Korolova, whose loss is larger than the budget that they claim.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.accuracy.gaps import GroupGap, absolute_gap_bias, absolute_gap_error
from ldpnb.arithmetic import Floats
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.contrasts import Contrast, SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.mechanisms.registry import GAP
from ldpnb.notebook import Rows, table
from ldpnb.papers.juarez2022.clients import Clients, resampled
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.privacy import hockey_stick
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

CLAIMED = "claimed budget ε (nats)"
BUDGET = "budget ε (nats)"

KEPT = ("M_R", "M_L, k = 2", "signed bit", "signed Laplace")
"""Mechanisms that keep their budgets."""

LARGEST = "largest variance of the gap"
RATIO = "largest variance of M_R / of M_L"
RELATIVE = "mean error / expected as published"

HALF = 5e-5
"""Half a unit of the last digit that Table 2 prints."""

# Lambdas look their mechanism up when they are called, so that a test can replace it.
MEASURED: Mapping[str, Callable[[Any], GroupMeans]] = MappingProxyType(
    {
        "M_R as published": lambda epsilon: DiscretisedMeans.published(epsilon),
        "M_L as published": lambda epsilon: LaplaceMeans.published(epsilon),
        "M_L as in the code": lambda epsilon: LaplaceMeans.executed(epsilon),
        "M_R": lambda epsilon: DiscretisedMeans.calibrated(epsilon),
        "M_L, k = 2": lambda epsilon: LaplaceMeans.calibrated(epsilon),
    }
)
"""Mechanisms whose errors are measured on clients. The third has its two noise scales reversed."""


# Privacy losses


@table
def discretised_losses(epsilons: Sequence[float], groups: Sequence[int]) -> Rows:
    """Tabulate the loss of ``M_R`` at ``eps1 = eps2``.

    It is given three times: as claimed, exactly by the formula, and exactly by enumerating the
    channel. ``ratio`` is the exact loss over the claimed one, and ``delta`` the exact delta at the
    claimed budget.
    """
    for number, epsilon in product(groups, epsilons):
        mechanism = DiscretisedMeans.published(epsilon, number)
        channel = mechanism.channel([-1.0, -0.5, 0.0, 0.5, 1.0])
        claimed = mechanism.claimed_epsilon

        yield {
            "groups": number,
            "claimed": claimed,
            "exact": mechanism.epsilon,
            "enumerated": privacy_loss(channel).epsilon,
            "ratio": mechanism.epsilon / claimed,
            "delta": hockey_stick.channel_delta(channel, claimed),
        }


@table
def laplace_trade_offs(
    group_epsilon: float, value_epsilon: float, ks: Sequence[float], epsilons: Sequence[float]
) -> Rows:
    """Tabulate the exact delta of ``M_L`` by epsilon and ``k``, with what equation (1) claims."""
    for k, epsilon in product(ks, epsilons):
        mechanism = LaplaceMeans(group_epsilon, value_epsilon, k)
        yield {
            "k": k,
            "ε (nats)": epsilon,
            "exact δ": hockey_stick.laplace_means_delta(mechanism, epsilon),
            "claimed": mechanism.claimed_epsilon,
        }


@table
def published_laplace_losses(epsilons: Sequence[float], *, delta: float | None = None) -> Rows:
    """Tabulate the delta of the source's "optimal" ``M_L`` at each claimed budget.

    The total variation distance is that between the reports of the two clients that are easiest to
    tell apart; ``allowed`` is the most that a mechanism could have which kept the budget. With
    `delta` there are more columns. ``guess`` is the probability of guessing which of two groups a
    client belongs to, and ``private_guess`` the most that would be allowed. ``epsilon_at_delta`` is
    the budget to be quoted with `delta`, and ``clipped`` the loss if reports were clipped to
    ``[-1, 1]``.
    """
    for epsilon in epsilons:
        mechanism = LaplaceMeans.published(epsilon)
        delta_at = partial(hockey_stick.laplace_means_delta, mechanism)
        distance = hockey_stick.total_variation(mechanism)
        allowed = np.tanh(epsilon / 2)
        row = {
            CLAIMED: epsilon,
            "delta": delta_at(epsilon),
            "total_variation": distance,
            "allowed": allowed,
        }
        if delta is not None:
            row["k"] = mechanism.k
            row["guess"] = (1 + distance) / 2
            row["private_guess"] = (1 + allowed) / 2
            row["epsilon_at_delta"] = hockey_stick.epsilon_at_delta(delta_at, delta)
            row["clipped"] = mechanism.clipped_epsilon
        yield row


# The budget that a target costs


def families(users: int) -> dict[str, Callable[[float], GroupMeans | Contrast]]:
    """Return the mechanisms for two equal groups by name. Each takes a budget in nats."""
    halves = (users // 2, users // 2)
    return {name: partial(make, sizes=halves) for name, make in GAP.items()}


@table
def epsilon_table(
    users: Sequence[int],
    alphas: Sequence[float],
    methods: Sequence[tuple[str, str]],
    *,
    failure: float,
) -> Rows:
    """Tabulate the smallest budget that meets each target, for equal groups.

    The exact loss of the mechanism at that budget is in the next column.

    Parameters
    ----------
    users : sequence of int
        Numbers of users ``K``, even.
    alphas : sequence of float
        Largest acceptable errors of the gap, on the scale of values in ``[-1, 1]``.
    methods : sequence of (str, str)
        Pairs of a family and a tail of `ldpnb.accuracy.gaps.TAILS`.
    failure : float
        Allowed probability of a larger error.
    """
    for (name, tail), total, alpha in product(methods, users, alphas):
        family = families(total)[name]
        budget = budgets.smallest_epsilon(family, total, alpha, failure=failure, tail=tail)
        loss = float(family(budget).epsilon) if np.isfinite(budget) else np.inf

        yield {
            "mechanism": name,
            "tail": tail,
            "clients": total,
            "alpha": alpha,
            "epsilon": budget,
            "exact_epsilon": loss,
        }


def simulated_failures(table: pd.DataFrame, *, repetitions: int, seed: int) -> pd.DataFrame:
    """Simulate the mechanisms of an `epsilon_table` at its budgets, and count failures.

    A failure is an estimated gap that is off by alpha or more. The true gap is 0. All values are 0
    for mechanisms that send signs, and 1 for those that add noise, where the variance is largest.
    The rows of the table with a finite budget get two more columns: ``failures``, the share of the
    repetitions that fail, and ``standard_error``, which is binomial and at least that of one
    failure.
    """
    rows = table[np.isfinite(table["epsilon"])]
    shares = []
    for name, tail, users, alpha, epsilon, *_ in rows.itertuples(index=False, name=None):
        half = users // 2
        mechanism = families(users)[name](epsilon)
        value = 1.0 if isinstance(mechanism, LaplaceMeans | SignedLaplace) else 0.0
        rng = stream("failures", name, tail, users, alpha, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], [value], repetitions=repetitions, rng=rng)

        difference = sums if sums.ndim == 1 else sums[:, 0] - sums[:, 1]
        failed = np.abs(difference) >= alpha * half * mechanism.gain
        shares.append(float(np.mean(failed)))

    errors = np.sqrt(np.maximum(shares, 1 / repetitions) / repetitions)
    return rows.assign(failures=shares, standard_error=errors)


# Variances of the gap


def largest_variance(name: str, epsilon: float, users: int, share: float = 0.5) -> float:
    """Return the largest variance, over all values, of a gap between two groups.

    The first group has the given share of the users, the second one has the rest.
    """
    sizes = (round(users * share), users - round(users * share))
    return float(GroupGap(GAP[name](epsilon, sizes=sizes), sizes).worst_variance())


@table
def by_share(epsilon: float, users: int, shares: Sequence[float]) -> Rows:
    """Tabulate the largest variance of the gap for groups of unequal size.

    All mechanisms have the same exact loss.
    """
    for share in shares:
        row = {"share": share}
        for name in KEPT:
            row[name] = largest_variance(name, epsilon, users, share)
        row["M_R over bit"] = row["M_R"] / row["signed bit"]
        yield row


@table
def minority_curves(epsilons: Sequence[float], users: int, shares: Sequence[float]) -> Rows:
    """Tabulate the largest variance of the gap if one group is a minority.

    ``factor`` is that variance over the one for equal groups.
    """
    for name, share, epsilon in product(("M_R as published", "M_L, k = 2"), shares, epsilons):
        variance = largest_variance(name, epsilon, users, share)
        yield {
            "mechanism": name,
            "share": share,
            "label": f"{100 * share:.3g}%",
            BUDGET: epsilon,
            LARGEST: variance,
            "factor": variance / largest_variance(name, epsilon, users),
        }


# Simulated gaps


@table
def simulated_coverage(
    true_gaps: Sequence[float],
    *,
    epsilon: float,
    users: int,
    repetitions: int,
    level: float,
    seed: int,
) -> Rows:
    """Measure gaps with `SignedBit` on two equal groups, and count how often intervals hold them.

    The first group's mean is half the gap, and the second's is the opposite. The intervals use the
    standard deviation at values 0, the largest. ``bias`` is that of the absolute estimate.
    """
    half = users // 2
    mechanism = SignedBit(epsilon, (half, half))
    of_halves = GroupGap.of_halves(mechanism, users)
    worst_deviation = float(np.sqrt(of_halves.worst_variance()))

    for gap in true_gaps:
        values = [[gap / 2], [-gap / 2]]
        rng = stream("coverage", gap, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], values, repetitions=repetitions, rng=rng)
        estimates = estimators.contrast_gap(mechanism, sums)
        intervals = estimators.absolute_interval(estimates, worst_deviation, level=level)
        low, high = intervals.T

        deviation = np.sqrt(of_halves.variance(((gap / 2) ** 2, (gap / 2) ** 2)))

        yield {
            "gap": gap,
            "coverage": float(np.mean((low <= gap) & (gap <= high))),
            "standard_error": float(np.sqrt(level * (1 - level) / repetitions)),
            "bias": float(np.mean(np.abs(estimates)) - gap),
            "bias_exact": float(absolute_gap_bias(deviation, gap)),
        }


def measured_means(
    mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator
) -> Floats:
    """Draw the estimated group means of repeated measurements, of shape (repetitions, d).

    They come from their exact joint distribution.
    """
    sums = mechanism.sample_sums(clients.counts, clients.values, repetitions=repetitions, rng=rng)
    return estimators.group_means(mechanism, sums, clients.sizes)


@table
def simulated_moments(
    mechanisms: dict[str, GroupMeans], clients: Clients, *, repetitions: int, seed: int
) -> Rows:
    """Tabulate simulated and exact mean and variance of the gap.

    A third quantity is the correlation of the two means, which is 0.
    """
    root = float(np.sqrt(repetitions))

    for name, mechanism in mechanisms.items():
        rng = stream("moments", name, seed=seed)
        means = measured_means(mechanism, clients, repetitions=repetitions, rng=rng)
        gaps = estimators.signed_gap(means)
        exact_variance = clients.gap(mechanism).variance(clients.second_moments)
        variance_deviation = float(np.std((gaps - gaps.mean()) ** 2))
        correlation = float(np.corrcoef(means[:, 0], means[:, 1])[0, 1])

        yield {
            "mechanism": name,
            "quantity": "gap",
            "exact": clients.true_gap,
            "simulated": float(gaps.mean()),
            "standard_error": float(gaps.std()) / root,
        }
        yield {
            "mechanism": name,
            "quantity": "variance of the gap",
            "exact": exact_variance,
            "simulated": float(gaps.var(ddof=1)),
            "standard_error": variance_deviation / root,
        }
        yield {
            "mechanism": name,
            "quantity": "correlation of the means",
            "exact": 0.0,
            "simulated": correlation,
            "standard_error": 1 / root,
        }


# Errors of the absolute gap, on the scale of rates


def measure(
    mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator
) -> Floats:
    """Draw the errors of repeated measurements of the absolute gap, on the scale of rates."""
    means = measured_means(mechanism, clients, repetitions=repetitions, rng=rng)
    gaps = estimators.signed_gap(means)
    return np.asarray(np.abs(np.abs(gaps) - abs(clients.true_gap)) / 2)


def expected_error(mechanism: GroupMeans, clients: Clients) -> float:
    """Return the exact expectation of the errors that `measure` draws."""
    deviation = np.sqrt(clients.gap(mechanism).variance(clients.second_moments))
    return float(absolute_gap_error(deviation, abs(clients.true_gap))) / 2


def ten_runs(
    clients: Clients, name: str, epsilon: float, *, runs: int, repetitions: int, seed: int
) -> Floats:
    """Draw the errors behind `measured_errors`, of shape (repetitions, runs)."""
    rng = stream("measured", name, epsilon, seed=seed)
    errors = measure(MEASURED[name](epsilon), clients, repetitions=runs * repetitions, rng=rng)
    return errors.reshape(repetitions, runs)


@table
def measured_errors(
    clients: Clients,
    epsilons: Sequence[float],
    *,
    runs: int,
    repetitions: int,
    failure: float,
    seed: int,
) -> Rows:
    """Tabulate simulated errors of the gap with their expectation and Chebyshev's bound.

    ``mean``, ``standard_error`` and ``sd`` are those of all simulated errors. Between ``low`` and
    ``high`` lie the central 95% of the means of `runs` errors.
    """
    for name, epsilon in product(MEASURED, epsilons):
        mechanism = MEASURED[name](epsilon)
        errors = ten_runs(clients, name, epsilon, runs=runs, repetitions=repetitions, seed=seed)
        low, high = np.quantile(errors.mean(axis=1), (0.025, 0.975)).tolist()

        yield {
            "mechanism": name,
            "epsilon": epsilon,
            "expected": expected_error(mechanism, clients),
            "mean": float(errors.mean()),
            "standard_error": float(errors.std() / np.sqrt(errors.size)),
            "sd": float(errors.std()),
            "low": low,
            "high": high,
            "bound": clients.gap(mechanism).error_bound(failure) / 2,
        }


@table
def printed_against_law(measured: pd.DataFrame, printed: pd.DataFrame) -> Rows:
    """Tabulate printed mean errors with the central 95% of those in `measured_errors`.

    All are divided by the expectation for the mechanism as published. The error of a printed one is
    half of its rounding.
    """
    columns = ["low", "expected", "high"]
    central = measured.set_index(["mechanism", "epsilon"])[columns]

    for row in printed.to_dict("records"):
        short_name = row["mechanism"]
        epsilon = row["epsilon"]
        candidates = [name for name in MEASURED if name.startswith(f"{short_name} as")]
        unit = central.loc[(candidates[0], epsilon), "expected"]
        place = {"panel": short_name, BUDGET: epsilon}

        for name in candidates:
            low, mean, high = central.loc[name, epsilon] / unit

            yield place | {
                "series": name.removeprefix(f"{short_name} "),
                RELATIVE: mean,
                "low": low,
                "high": high,
                "rounding": np.nan,
            }

        error = row["error"] / unit
        half = HALF / unit

        yield place | {
            "series": "printed",
            RELATIVE: error,
            "low": error - half,
            "high": error + half,
            "rounding": half / 2,
        }


@table
def chain(
    rates: pd.DataFrame,
    epsilons: Sequence[float],
    *,
    users: int,
    repetitions: int,
    failure: float,
    seed: int,
) -> Rows:
    """Draw clients from observed rates, and measure their gap with both mechanisms.

    The mechanisms keep their budgets. The probability that the bound is exceeded is at most
    `failure`.

    Parameters
    ----------
    rates : pandas.DataFrame
        A row of ``metric, group, rate`` for each observed client. Groups are drawn in proportion to
        their observed sizes.
    epsilons : sequence of float
        Privacy budgets in nats.
    users : int
        Number of clients that are drawn.
    repetitions : int
        Number of measurements.
    failure : float
        Probability in ``(0, 1)``.
    seed : int
        Seed of the random streams.
    """
    for metric, part in rates.groupby("metric", sort=False):
        observed = []
        for _, group in part.groupby("group", sort=False):
            observed.append(group["rate"].to_numpy())
        first = round(users * observed[0].size / len(part))
        rng = stream("chain", str(metric), seed=seed)
        drawn = resampled(observed, [first, users - first], rng=rng)

        for name, epsilon in product(("M_R", "M_L, k = 2"), epsilons):
            mechanism = MEASURED[name](epsilon)
            rng = stream("chain", str(metric), name, epsilon, seed=seed)
            errors = measure(mechanism, drawn, repetitions=repetitions, rng=rng)

            for way, value, error in (
                ("mean error", float(errors.mean()), float(errors.std() / np.sqrt(repetitions))),
                ("expected error", expected_error(mechanism, drawn), np.nan),
                ("bound", drawn.gap(mechanism).error_bound(failure) / 2, np.nan),
            ):
                yield {
                    "metric": metric,
                    "mechanism": name,
                    "way": way,
                    BUDGET: epsilon,
                    "error of the gap": value,
                    "standard_error": error,
                }
