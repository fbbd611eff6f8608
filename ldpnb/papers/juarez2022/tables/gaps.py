"""The gap between two group means: what its two mechanisms lose, what a target costs and a budget buys, and intervals.

Families of mechanisms carry the names they have in every figure: ``M_R`` and ``M_L, k = 2`` keep the budget they are
given; ``M_R as published`` and ``M_L as published`` are the allocations of juarez2022, whose loss is larger than the
budget they claim.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ldpnb.accuracy import budgets
from ldpnb.accuracy.gaps import GroupGap, absolute_gap_bias
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms.contrasts import Contrast, SignedBit, SignedLaplace
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.mechanisms.registry import GAP
from ldpnb.notebook import Rows, table
from ldpnb.privacy import hockey_stick
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

Family = Callable[[float], GroupMeans | Contrast]
CLAIMED, BUDGET = "claimed budget ε (nats)", "budget ε (nats)"
KEPT = ("M_R", "M_L, k = 2", "signed bit", "signed Laplace")
"""Mechanisms that keep their budgets."""


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
        delta_at, distance = (
            partial(hockey_stick.laplace_means_delta, mechanism),
            hockey_stick.total_variation(mechanism),
        )
        row = {CLAIMED: epsilon, "delta": delta_at(epsilon), "total_variation": distance, "allowed": kept}
        if delta is not None:
            row |= {"k": mechanism.k, "guess": (1 + distance) / 2, "private_guess": (1 + kept) / 2}
            row |= {"epsilon_at_delta": hockey_stick.epsilon_at_delta(delta_at, delta)}
            row |= {"clipped": mechanism.clipped_epsilon}
        yield row


def families(users: int) -> dict[str, Family]:
    """Return the mechanisms for two equal groups by name, each from a budget in nats."""
    halves = (users // 2, users // 2)
    return {name: partial(make, sizes=halves) for name, make in GAP.items()}


@table
def epsilon_table(
    users: Sequence[int], alphas: Sequence[float], methods: Sequence[tuple[str, str]], *, failure: float
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


@table
def target_curves(targets: Sequence[float], *, users: int, failure: float) -> Rows:
    """Yield the smallest finite budgets against what they depend on by Chebyshev's inequality, ``K alpha^2``.

    By other tails they nearly do; only the exact binomial one notices `users`.
    """
    alphas = np.sqrt(np.asarray(targets, dtype=float) / users).tolist()
    for mechanism, way, family, tail, column in (
        ("M_R", "claimed", "M_R as published", "chebyshev", "epsilon"),
        ("M_R", "lost", "M_R as published", "chebyshev", "exact_epsilon"),
        ("M_R", "kept", "M_R", "chebyshev", "epsilon"),
        ("M_R", "kept, sharper tail", "M_R", "exact", "epsilon"),
        ("M_L", "claimed", "M_L as published", "chebyshev", "epsilon"),
        ("M_L", "kept", "M_L, k = 2", "chebyshev", "epsilon"),
        ("M_L", "kept, sharper tail", "M_L, k = 2", "chernoff", "epsilon"),
    ):
        table_of = epsilon_table([users], alphas, [(family, tail)], failure=failure)
        for target, budget in zip(targets, table_of[column], strict=True):
            if np.isfinite(budget):
                yield {"mechanism": mechanism, "way": way, "target K α²": target, BUDGET: budget}


def simulated_failures(table: pd.DataFrame, *, repetitions: int, seed: int) -> pd.DataFrame:
    """Simulate the mechanisms of an `epsilon_table` at its budgets and count how often the gap is off by alpha or more.

    All values are 0 for mechanisms that send signs and 1 for those that add noise, where the variance is largest; the
    gap is 0 either way. Its finite rows get columns ``failures`` (share of the repetitions) and ``standard_error``
    (binomial, at least that of one failure).
    """
    rows: pd.DataFrame = table.loc[np.isfinite(table["epsilon"])].copy()
    columns = (rows[key].tolist() for key in ("mechanism", "tail", "clients", "alpha", "epsilon"))
    shares = []
    for name, tail, users, alpha, epsilon in zip(*columns, strict=True):
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
        sizes = (round(users * share), users - round(users * share))
        variances = {name: GroupGap(GAP[name](epsilon, sizes=sizes), sizes).worst_variance() for name in KEPT}
        yield {"share": share} | variances | {"M_R over bit": variances["M_R"] / variances["signed bit"]}


@table
def interval_coverage(true_gaps: Sequence[float], *, level: float) -> Rows:
    """Yield exact coverage and expected length of two intervals for ``|gap|``, estimates normal of deviation 1."""
    points, half = ndtri((np.arange(20_000) + 0.5) / 20_000), -float(ndtri((1 - level) / 2))
    for gap in true_gaps:
        for way, (low, high) in (
            ("likelihood ratio", estimators.absolute_interval(gap + points, 1.0, level=level).T),
            ("clipped", (np.maximum(np.abs(gap + points) - half, 0), np.abs(gap + points) + half)),
        ):
            coverage, length = float(np.mean((low <= gap) & (gap <= high))), float(np.mean(high - low))
            yield {"way": way, "true gap (standard deviations)": gap, "coverage": coverage, "length": length}


@table
def simulated_coverage(
    true_gaps: Sequence[float], *, epsilon: float, users: int, repetitions: int, level: float, seed: int
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
        low, high = estimators.absolute_interval(shown, float(np.sqrt(of_halves.worst_variance())), level=level).T
        row = {"gap": gap, "coverage": float(np.mean((low <= gap) & (gap <= high)))}
        row |= {"standard_error": float(np.sqrt(level * (1 - level) / repetitions))}
        sd = np.sqrt(of_halves.variance(((gap / 2) ** 2,) * 2))
        yield row | {"bias": float(np.mean(np.abs(shown)) - gap), "bias_exact": float(absolute_gap_bias(sd, gap))}


@table
def typical_intervals(epsilons: Sequence[float], group_size: int, gap: float, *, level: float) -> Rows:
    """Yield each mechanism's standard deviation on two equal groups, and the interval if the estimate hits the gap."""
    for name, epsilon in product(KEPT, epsilons):
        mechanism = families(2 * group_size)[name](epsilon)
        sd = float(np.sqrt(GroupGap.of_halves(mechanism, 2 * group_size).worst_variance()))
        low, high = estimators.absolute_interval([gap], sd, level=level)[0].tolist()
        yield {"mechanism": name, BUDGET: epsilon, "standard deviation of the gap": sd, "low": low, "high": high}
