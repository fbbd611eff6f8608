"""The gap between two group means: what its mechanisms lose and err by, what a target costs, and simulations of it.

Families of mechanisms carry the names they have in every figure: ``M_R`` and ``M_L, k = 2`` keep the budget they are
given; ``M_R as published`` and ``M_L as published`` are the allocations of juarez2022, whose loss is larger than the
budget they claim.
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

CLAIMED, BUDGET = "claimed budget ε (nats)", "budget ε (nats)"
KEPT = ("M_R", "M_L, k = 2", "signed bit", "signed Laplace")
"""Mechanisms that keep their budgets."""
LARGEST = "largest variance of the gap"
RATIO = "largest variance of M_R / of M_L"
RELATIVE = "mean error / expected as published"
HALF = 5e-5
"""Half a unit of the last digit that Table 2 prints."""
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


@table
def discretised_losses(epsilons: Sequence[float], groups: Sequence[int]) -> Rows:
    """Yield the loss of ``M_R`` at ``eps1 = eps2``: claimed, by the exact formula, and enumerated by its channel.

    ``ratio`` is exact over claimed, ``delta`` what is left at the claimed budget.
    """
    for number, epsilon in product(groups, epsilons):
        mechanism = DiscretisedMeans.published(epsilon, number)
        channel, claimed = mechanism.channel([-1.0, -0.5, 0.0, 0.5, 1.0]), mechanism.claimed_epsilon
        row = {"groups": number, "claimed": claimed, "exact": mechanism.epsilon}
        row |= {"enumerated": privacy_loss(channel).epsilon, "ratio": mechanism.epsilon / claimed}
        yield row | {"delta": hockey_stick.channel_delta(channel, claimed)}


@table
def laplace_trade_offs(
    group_epsilon: float, value_epsilon: float, ks: Sequence[float], epsilons: Sequence[float]
) -> Rows:
    """Yield the exact delta of ``M_L`` against epsilon for several ``k``, beside what equation (1) claims."""
    for k, epsilon in product(ks, epsilons):
        mechanism = LaplaceMeans(group_epsilon, value_epsilon, k)
        delta = hockey_stick.laplace_means_delta(mechanism, epsilon)
        yield {"k": k, "ε (nats)": epsilon, "exact δ": delta, "claimed": mechanism.claimed_epsilon}


@table
def published_laplace_losses(epsilons: Sequence[float], *, delta: float | None = None) -> Rows:
    """Yield the delta of the source's "optimal" ``M_L`` at each claimed budget, and its total variation distance.

    The distance is between the reports of the two clients that are easiest to tell apart; ``allowed`` is the most
    that a mechanism which kept the budget would leave. With `delta`, ``guess`` is the chance of guessing which of two
    groups a client is from, ``private_guess`` the most that would be allowed, ``epsilon_at_delta`` the budget to be
    quoted with it, and ``clipped`` the loss if reports were clipped to ``[-1, 1]``.
    """
    for epsilon in epsilons:
        mechanism, kept = LaplaceMeans.published(epsilon), np.tanh(epsilon / 2)
        delta_at = partial(hockey_stick.laplace_means_delta, mechanism)
        distance = hockey_stick.total_variation(mechanism)
        row = {
            CLAIMED: epsilon,
            "delta": delta_at(epsilon),
            "total_variation": distance,
            "allowed": kept,
        }
        if delta is not None:
            row |= {"k": mechanism.k, "guess": (1 + distance) / 2, "private_guess": (1 + kept) / 2}
            row |= {"epsilon_at_delta": hockey_stick.epsilon_at_delta(delta_at, delta)}
            row |= {"clipped": mechanism.clipped_epsilon}
        yield row


def families(users: int) -> dict[str, Callable[[float], GroupMeans | Contrast]]:
    """Return the mechanisms for two equal groups by name, each from a budget in nats."""
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
    """Yield the smallest budget that meets each target, and the exact loss of the mechanism there, for equal groups.

    `users` are numbers of users K, even; `alphas` the largest acceptable errors of the gap, on the scale of values in
    ``[-1, 1]``; `methods` pairs of a family and a tail of `ldpnb.accuracy.gaps.TAILS`; `failure` the allowed
    probability of a larger error.
    """
    for (name, tail), total, alpha in product(methods, users, alphas):
        family = families(total)[name]
        budget = budgets.smallest_epsilon(family, total, alpha, failure=failure, tail=tail)
        loss = float(family(budget).epsilon) if np.isfinite(budget) else np.inf
        row = {"mechanism": name, "tail": tail, "clients": total, "alpha": alpha}
        yield row | {"epsilon": budget, "exact_epsilon": loss}


def simulated_failures(table: pd.DataFrame, *, repetitions: int, seed: int) -> pd.DataFrame:
    """Simulate the mechanisms of an `epsilon_table` at its budgets and count how often the gap is off by alpha or more.

    All values are 0 for mechanisms that send signs and 1 for those that add noise, where the variance is largest; the
    gap is 0 either way. Its finite rows get columns ``failures`` (share of the repetitions) and ``standard_error``
    (binomial, at least that of one failure).
    """
    rows, shares = table[np.isfinite(table["epsilon"])], []
    for name, tail, users, alpha, epsilon, *_ in rows.itertuples(index=False, name=None):
        half, mechanism = users // 2, families(users)[name](epsilon)
        value = 1.0 if isinstance(mechanism, LaplaceMeans | SignedLaplace) else 0.0
        rng = stream("failures", name, tail, users, alpha, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], [value], repetitions=repetitions, rng=rng)
        difference = sums if sums.ndim == 1 else sums[:, 0] - sums[:, 1]
        shares.append(float(np.mean(np.abs(difference) >= alpha * half * mechanism.gain)))
    errors = np.sqrt(np.maximum(shares, 1 / repetitions) / repetitions)
    return rows.assign(failures=shares, standard_error=errors)


@table
def by_share(epsilon: float, users: int, shares: Sequence[float]) -> Rows:
    """Yield the largest variance of the gap for groups of unequal size, all mechanisms at the same exact loss."""
    for share in shares:
        variances = {name: largest_variance(name, epsilon, users, share) for name in KEPT}
        yield (
            {"share": share}
            | variances
            | {"M_R over bit": variances["M_R"] / variances["signed bit"]}
        )


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
    """Measure gaps with `SignedBit` on two equal groups and count how often the interval holds the gap.

    The first group's mean is half the gap and the second's the opposite. The standard deviation used is the one at
    values 0, the largest. ``bias`` is of the absolute estimate.
    """
    half = users // 2
    mechanism = SignedBit(epsilon, (half, half))
    of_halves = GroupGap.of_halves(mechanism, users)
    for gap in true_gaps:
        values = [[gap / 2], [-gap / 2]]
        rng = stream("coverage", gap, seed=seed)
        sums = mechanism.sample_sums([[half], [half]], values, repetitions=repetitions, rng=rng)
        shown = estimators.contrast_gap(mechanism, sums)
        low, high = estimators.absolute_interval(
            shown, float(np.sqrt(of_halves.worst_variance())), level=level
        ).T
        row = {"gap": gap, "coverage": float(np.mean((low <= gap) & (gap <= high)))}
        row |= {"standard_error": float(np.sqrt(level * (1 - level) / repetitions))}
        sd = np.sqrt(of_halves.variance(((gap / 2) ** 2,) * 2))
        yield row | {
            "bias": float(np.mean(np.abs(shown)) - gap),
            "bias_exact": float(absolute_gap_bias(sd, gap)),
        }


def largest_variance(name: str, epsilon: float, users: int, share: float = 0.5) -> float:
    """Return the largest variance over all values of the gap between a group of that share and the rest."""
    sizes = (round(users * share), users - round(users * share))
    return float(GroupGap(GAP[name](epsilon, sizes=sizes), sizes).worst_variance())


@table
def minority_curves(epsilons: Sequence[float], users: int, shares: Sequence[float]) -> Rows:
    """Yield the largest variance of the gap when one group is a minority; `factor` is over that of equal groups."""
    for name, share, epsilon in product(("M_R as published", "M_L, k = 2"), shares, epsilons):
        variance = largest_variance(name, epsilon, users, share)
        row = {"mechanism": name, "share": share, "label": f"{100 * share:.3g}%", BUDGET: epsilon}
        yield row | {LARGEST: variance, "factor": variance / largest_variance(name, epsilon, users)}


def measured_means(
    mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator
) -> Floats:
    """Return the group means of repeated measurements, ``(repetitions, d)``, from their exact joint law."""
    sums = mechanism.sample_sums(clients.counts, clients.values, repetitions=repetitions, rng=rng)
    return estimators.group_means(mechanism, sums, clients.sizes)


@table
def simulated_moments(
    mechanisms: dict[str, GroupMeans], clients: Clients, *, repetitions: int, seed: int
) -> Rows:
    """Yield simulated and exact mean and variance of the gap, and the correlation of the two means, which is 0."""
    root = float(np.sqrt(repetitions))
    for name, mechanism in mechanisms.items():
        means = measured_means(
            mechanism, clients, repetitions=repetitions, rng=stream("moments", name, seed=seed)
        )
        shown, exact = (
            estimators.signed_gap(means),
            clients.gap(mechanism).variance(clients.second_moments),
        )
        spread = float(np.std((shown - shown.mean()) ** 2))
        correlation = float(np.corrcoef(means[:, 0], means[:, 1])[0, 1])
        for quantity, value, simulated, error in (
            ("gap", clients.true_gap, float(shown.mean()), float(shown.std()) / root),
            ("variance of the gap", exact, float(shown.var(ddof=1)), spread / root),
            ("correlation of the means", 0.0, correlation, 1 / root),
        ):
            row = {"exact": value, "simulated": simulated, "standard_error": error}
            yield {"mechanism": name, "quantity": quantity} | row


def measure(
    mechanism: GroupMeans, clients: Clients, *, repetitions: int, rng: np.random.Generator
) -> Floats:
    """Return the errors of repeated measurements of the absolute gap, on the scale of rates: ``(repetitions,)``."""
    shown = estimators.signed_gap(
        measured_means(mechanism, clients, repetitions=repetitions, rng=rng)
    )
    return np.asarray(np.abs(np.abs(shown) - abs(clients.true_gap)) / 2)


def expected_error(mechanism: GroupMeans, clients: Clients) -> float:
    """Return the exact expectation of the errors that `measure` returns."""
    sd = np.sqrt(clients.gap(mechanism).variance(clients.second_moments))
    return float(absolute_gap_error(sd, abs(clients.true_gap))) / 2


def ten_runs(
    clients: Clients, name: str, epsilon: float, *, runs: int, repetitions: int, seed: int
) -> Floats:
    """Return the errors behind `measured_errors`: sets of `runs` measurements, ``(repetitions, runs)``."""
    rng = stream("measured", name, epsilon, seed=seed)
    return measure(
        MEASURED[name](epsilon), clients, repetitions=runs * repetitions, rng=rng
    ).reshape(repetitions, runs)


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
    """Yield the law of the mean of `runs` errors beside its exact expectation and Chebyshev's bound.

    ``mean, standard_error, sd`` are of simulated errors; ``low, high`` hold the central 95% of the means of `runs`.
    """
    for name, epsilon in product(MEASURED, epsilons):
        mechanism = MEASURED[name](epsilon)
        errors = ten_runs(clients, name, epsilon, runs=runs, repetitions=repetitions, seed=seed)
        low, high = np.quantile(errors.mean(axis=1), (0.025, 0.975)).tolist()
        row = {
            "mechanism": name,
            "epsilon": epsilon,
            "expected": expected_error(mechanism, clients),
        }
        row |= {
            "mean": float(errors.mean()),
            "standard_error": float(errors.std() / np.sqrt(errors.size)),
        }
        row |= {"sd": float(errors.std()), "low": low, "high": high}
        yield row | {"bound": clients.gap(mechanism).error_bound(failure) / 2}


@table
def printed_against_law(measured: pd.DataFrame, printed: pd.DataFrame) -> Rows:
    """Yield printed means beside the central 95% of those in `measured_errors`.

    All are over the expectation for the mechanism as published; a printed one has half of its rounding as its error.
    """
    laws = measured.set_index(["mechanism", "epsilon"])[["low", "expected", "high"]]
    for row in printed.to_dict("records"):
        names = [
            name for name in MEASURED if name.startswith(f"{row['mechanism']} as")
        ]  # that may be behind it
        _, unit, _ = laws.loc[names[0], row["epsilon"]]
        point, error, half = (
            {"panel": row["mechanism"], BUDGET: row["epsilon"]},
            row["error"] / unit,
            HALF / unit,
        )
        for name in names:
            low, mean, high = laws.loc[name, row["epsilon"]] / unit
            series = name.removeprefix(f"{row['mechanism']} ")
            yield point | {
                "series": series,
                RELATIVE: mean,
                "low": low,
                "high": high,
                "rounding": np.nan,
            }
        point |= {"series": "printed", RELATIVE: error, "low": error - half, "high": error + half}
        yield point | {"rounding": half / 2}


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
    """Draw clients from observed rates and measure their gap with both mechanisms, budgets kept.

    `rates` has a row of ``metric, group, rate`` per observed client; groups are drawn in proportion to them. The bound
    is exceeded with the probability `failure` at most.
    """
    for metric, part in rates.groupby("metric", sort=False):
        observed = [group["rate"].to_numpy() for _, group in part.groupby("group", sort=False)]
        first = round(users * observed[0].size / len(part))
        drawn = resampled(
            observed, [first, users - first], rng=stream("chain", str(metric), seed=seed)
        )
        for name, epsilon in product(("M_R", "M_L, k = 2"), epsilons):
            mechanism, rng = (
                MEASURED[name](epsilon),
                stream("chain", str(metric), name, epsilon, seed=seed),
            )
            errors = measure(mechanism, drawn, repetitions=repetitions, rng=rng)
            for way, value, error in (
                ("mean error", float(errors.mean()), float(errors.std() / np.sqrt(repetitions))),
                ("expected error", expected_error(mechanism, drawn), np.nan),
                ("bound", drawn.gap(mechanism).error_bound(failure) / 2, np.nan),
            ):
                row = {"metric": metric, "mechanism": name, "way": way, BUDGET: epsilon}
                yield row | {"error of the gap": value, "standard_error": error}
