"""Second routes to the formulas of juarez2022, by which claims name what they rest on.

What they are made of comes first: printed formulas, and numbers from output laws alone.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import binom, foldnorm, laplace, norm

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Floats, Real, Symbol, read_only
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import groups, moves
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.papers.juarez2022.formulas import budgets
from ldpnb.privacy import channel, hockey_stick
from ldpnb.sections import Pairs, second_route

BUDGETS, GROUPS = (0.1, 0.5, 1.0, 2.0, 4.0), (2, 3, 5)
SIGNS = (DiscretisedMeans(1.0, 1.0), DiscretisedMeans(0.3, 2.0, 3))
NOISE = (LaplaceMeans(0.5, 1.0), LaplaceMeans(0.7, 0.4, 2 / 3, 3))
MECHANISMS: tuple[GroupMeans, ...] = SIGNS + NOISE
VALUES, HOLDERS = (
    np.array([-1.0, -0.2, 0.4, 1.0]),
    np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]]),
)
"""Values, and how many clients of each group hold them: sizes and means all differ."""
exact: Callable[[Any], Real] = Symbol
"""A number, exact if it is whole, a fraction or text, as formulas of symbols take it."""
INSIDE, FAR = np.linspace(-1, 1, 9), np.array([-9.0, -1.0, 0.0, 1.0, 9.0])
"""Reports that equation (1) looks at, and others: between them the log-ratios of `LaplaceMeans` are linear."""


def printed_keep(group_epsilon: Real, groups: Real = 2) -> Real:
    """Return ``a = e^eps1 / (e^eps1 + d - 1)``; for two values, so of ``eps2``, it is ``b``."""
    growth = np.exp(group_epsilon)
    return growth / (growth + groups - 1)


def printed_gain(mechanism: GroupMeans) -> float:
    """Return what Definition 5.1 divides by: ``a`` for ``M_L``, ``a (2b - 1)`` for ``M_R``."""
    gain = float(printed_keep(mechanism.group_epsilon, mechanism.groups))
    if isinstance(mechanism, DiscretisedMeans):
        gain *= 2 * printed_keep(mechanism.value_epsilon) - 1
    return gain


def printed_channel(mechanism: DiscretisedMeans, values: ArrayLike) -> Floats:
    """Return the channel of ``M_R``, in the order of `DiscretisedMeans.channel`, from the printed probabilities."""
    d, points, b = (
        mechanism.groups,
        np.asarray(values, dtype=float),
        printed_keep(mechanism.value_epsilon),
    )
    a = printed_keep(mechanism.group_epsilon, d)
    plus = b * (1 + points) / 2 + (1 - b) * (1 - points) / 2
    own = np.eye(d)[:, None, :, None]
    chances = own * a * np.stack([1 - plus, plus])[:, None, :] + (1 - own) * (1 - a) / (d - 1) / 2
    return np.asarray(chances.reshape(2 * d, d * points.size))


def printed_law(mechanism: LaplaceMeans, group: int, value: float) -> Floats:
    """Return the law of a report of ``M_L``, as `LaplaceMeans.law`, from the printed probabilities and scales."""
    d, keep = mechanism.groups, printed_keep(mechanism.group_epsilon, mechanism.groups)
    law = np.tile([(1 - keep) / (d - 1), 0.0, mechanism.k / mechanism.value_epsilon], (d, 1))
    law[group] = keep, value, 2 / mechanism.value_epsilon
    return law


def printed_variance_laplace(
    e1: Real, e2: Real, k: Real, size: Real, clients: Real, second_moment: Real
) -> Real:
    """Return equation (19) as printed, with noise of scale ``2 / eps2`` on kept and ``k / eps2`` on changed clients."""
    decay, kept, changed = np.exp(-e1), 2 * (2 / e2) ** 2, 2 * (k / e2) ** 2
    noise = (1 + decay) * (kept + (clients - size) / size * changed * decay)
    return (second_moment * decay + noise) / size


def printed_variance_signs(
    e1: Real, e2: Real, d: Real, size: Real, clients: Real, second_moment: Real
) -> Real:
    """Return equation (20) as printed; with more groups than two, only ``a`` changes."""
    a, t = printed_keep(e1, d), 2 * printed_keep(e2) - 1
    return (1 - a * t**2 * second_moment + (clients - size) / size * (1 - a) / a) / (
        a * t**2 * size
    )


def printed_variance(mechanism: GroupMeans, *group: Real) -> Real:
    """Return equation (19) or (20) for a mechanism, and a group's size, all clients and its second moment."""
    m = mechanism
    if isinstance(m, LaplaceMeans):
        return printed_variance_laplace(m.group_epsilon, m.value_epsilon, m.k, *group)
    return printed_variance_signs(m.group_epsilon, m.value_epsilon, m.groups, *group)


def published_laplace_budgets(epsilon: float) -> tuple[float, float]:
    """Return ``eps1`` and ``k`` of the "optimal" ``M_L`` as Appendix B prints them."""
    if epsilon >= 2 / 3:
        return float(np.log(2 / epsilon) + epsilon - 1), epsilon
    return float(np.log(3) - epsilon / 2), 2 / 3


def report_moments(mechanism: GroupMeans, group: int, value: float) -> tuple[Floats, Floats]:
    """Return mean and mean square ``(d,)`` of what one client adds to every group's sum, from its output law."""
    if isinstance(mechanism, DiscretisedMeans):
        chances = printed_channel(mechanism, [value])[:, group].reshape(-1, 2)
        return chances[:, 1] - chances[:, 0], chances.sum(axis=1)
    chance, location, scale = printed_law(mechanism, group, value).T
    return chance * location, chance * (location**2 + laplace(location, scale).var())


def gap_moments(
    mechanism: GroupMeans, counts: ArrayLike, values: Iterable[float], weights: Floats | None = None
) -> tuple[float, float]:
    """Return mean and variance of the gap between the first two groups, or of a weighted sum of estimated means.

    They add up over clients, of whom row g of `counts` says how many of group g hold each value. A client adds to one
    group's sum at most, so the mean square of its contribution is the sum of those to each group.
    """
    if weights is None:
        weights = np.eye(mechanism.groups)[0] - np.eye(mechanism.groups)[1]
    holders = np.asarray(counts)
    factors = weights / (printed_gain(mechanism) * holders.sum(axis=1))
    moments = np.array(
        [[report_moments(mechanism, group, v) for v in values] for group in range(mechanism.groups)]
    )
    means, squares = moments[:, :, 0] @ factors, moments[:, :, 1] @ factors**2
    return float((holders * means).sum()), float((holders * (squares - means**2)).sum())


@cache
def error_law(sd: float, gap: float) -> tuple[Floats, Floats]:
    """Return the law of ``||X| - gap|`` for normal ``X`` of mean `gap`, on a grid: cell centres and probabilities."""
    edges = np.linspace(0, 64 * sd, 2**14 + 1)
    low, high = np.maximum(gap - edges, 0), gap + edges
    below = [ndtr((x - gap) / sd) - ndtr((-x - gap) / sd) for x in (low, high)]
    return read_only((edges[:-1] + edges[1:]) / 2), read_only(np.diff(below[1] - below[0]))


def mean_error_cdf(x: float, sd: float, gap: float, runs: int) -> float:
    """Return the probability that a mean of `runs` errors is at most `x`: `error_law`, convolved by Fourier."""
    centres, mass = error_law(sd, gap)
    law = np.fft.irfft(np.fft.rfft(mass) ** runs, mass.size)
    step = centres[1] - centres[0]
    sums = step * (np.arange(mass.size) + runs / 2)
    return float(np.interp(x * runs, sums + step / 2, np.cumsum(law)))


def log_densities(mechanism: LaplaceMeans, reports: ArrayLike) -> Floats:
    """Return log-densities ``(d, 3, d, r)``: own group, value -1, 0 or 1, reported group, and reported value."""
    laws = np.array(
        [
            printed_law(mechanism, g, v)
            for g, v in product(range(mechanism.groups), (-1.0, 0.0, 1.0))
        ]
    )
    chance, location, scale = (laws[..., i, None] for i in range(3))
    logs = np.log(chance / (2 * scale)) - np.abs(np.asarray(reports) - location) / scale
    return np.asarray(logs.reshape(mechanism.groups, 3, mechanism.groups, -1))


def density_loss(mechanism: LaplaceMeans, reports: ArrayLike) -> float:
    """Return the largest log-ratio of the densities of given reported values, over all groups and values -1, 0, 1."""
    return float(np.ptp(log_densities(mechanism, reports), axis=(0, 1)).max())


def kept_over_moved(mechanism: LaplaceMeans, reports: ArrayLike) -> float:
    """Return the largest log-ratio of a report of one's own group to the same report by a member of another."""
    logs = log_densities(mechanism, reports)
    return float((logs[0, :, 0] - logs[1, 0, 0]).max())


def worst_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the delta of ``M_L`` over the two pairs of clients easiest to tell apart, by quadrature."""

    def advantage(x: float, one: Floats, other: Floats) -> float:
        densities = (
            law[:, 0] / (2 * law[:, 2]) * np.exp(-np.abs(x - law[:, 1]) / law[:, 2])
            for law in (one, other)
        )
        return float(np.maximum(next(densities) - np.exp(epsilon) * next(densities), 0).sum())

    laws = [
        (printed_law(mechanism, 0, 1.0), printed_law(mechanism, *other))
        for other in ((0, -1.0), (1, 1.0))
    ]
    reach, inside = 1 + 45 * np.max(laws[1]), [-20.0, -3.0, -1.0, 0.0, 1.0, 3.0, 20.0]
    return max(
        quad(advantage, -reach, reach, pair, points=inside, limit=400, epsabs=1e-14, epsrel=1e-10)[
            0
        ]
        for pair in laws
    )


def numbered(**lists: Iterable[float]) -> dict[str, float]:
    """Return numbers by their list's name and their place in it, from 1 on, as the fields of a sentence."""
    return {
        f"{name}_{i}": value for name, values in lists.items() for i, value in enumerate(values, 1)
    }


def group_examples(
    mechanism: GroupMeans,
) -> Iterator[tuple[tuple[int, int, float], float, tuple[float, float]]]:
    """Yield each group's size, all clients and second moment; its mean; its estimate's mean and variance."""
    holders = HOLDERS[: mechanism.groups]
    for own, row in zip(np.eye(mechanism.groups), holders, strict=True):
        mean, second_moment = row @ np.column_stack([VALUES, VALUES**2]) / row.sum()
        group = int(row.sum()), int(holders.sum()), float(second_moment)
        yield group, float(mean), gap_moments(mechanism, holders, VALUES, own)


def sizes(mechanism: GroupMeans) -> tuple[int, ...]:
    """Return the sizes of those groups."""
    return tuple(HOLDERS[: mechanism.groups].sum(axis=1).tolist())


def worst_moment(mechanism: GroupMeans) -> float:
    """Return the largest variance of the gap over clients who all hold one value."""
    clients, ones = np.diag(sizes(mechanism)), np.ones(mechanism.groups)
    return max(gap_moments(mechanism, clients, value * ones)[1] for value in (-1.0, -0.5, 0.0, 1.0))


@second_route(DiscretisedMeans.keep, DiscretisedMeans.move, LaplaceMeans.keep, LaplaceMeans.move)
@second_route(DiscretisedMeans.gain, LaplaceMeans.gain, moves.sign_probabilities)
def _shares() -> Pairs:
    for m in (*MECHANISMS, DiscretisedMeans(6.0, 9.0), LaplaceMeans(6.0, 9.0)):
        yield (m.keep + (m.groups - 1) * m.move, np.log(m.keep / m.move)), (1.0, m.group_epsilon)
        yield m.gain, report_moments(m, 1, 0.4)[0][1] / 0.4
    for epsilon in (1.0, 2.0):
        coins, truth = np.stack([1 - VALUES, 1 + VALUES]) / 2, printed_keep(epsilon)
        yield moves.sign_probabilities(VALUES, epsilon), truth * coins + (1 - truth) * coins[::-1]


@second_route(
    DiscretisedMeans.channel, LaplaceMeans.law, LaplaceMeans.kept_scale, LaplaceMeans.moved_scale
)
def _reports() -> Pairs:
    yield from ((m.channel(VALUES), printed_channel(m, VALUES)) for m in SIGNS)
    for m in NOISE:
        yield m.law(1, -0.3), printed_law(m, 1, -0.3)
        yield (2 / m.kept_scale, 2 * m.moved_scale / m.kept_scale), (m.value_epsilon, m.k)


@second_route(gaps.mean_variance, gaps.variance_discretised_mean, gaps.variance_laplace_mean)
@second_route(gaps.GroupGap.variance, gaps.GroupGap.worst_variance)
def _variances() -> Pairs:
    for m in MECHANISMS:
        formula: Any = gaps.variance_discretised_mean if m in SIGNS else gaps.variance_laplace_mean
        for group, _, (_, variance) in group_examples(m):
            yield (formula(m, *group), gaps.mean_variance(m, *group)), (variance, variance)
        holders, gap = HOLDERS[: m.groups], gaps.GroupGap(m, sizes(m))
        moments = (holders @ VALUES**2 / holders.sum(axis=1))[:2]
        yield gap.variance(tuple(moments)), gap_moments(m, holders, VALUES)[1]
        yield gap.worst_variance(), worst_moment(m)


@second_route(estimators.group_means, estimators.signed_gap)
@second_route(gaps.GroupGap.misestimated_variance, gaps.misestimated_gap_bias)
def _estimates() -> Pairs:
    for m in MECHANISMS:  # sums as large as expected, of clients who all hold one value
        means, counts = np.linspace(1, 0.25, m.groups), np.array(sizes(m))
        yield estimators.group_means(m, means * counts * printed_gain(m), counts), means
        yield estimators.signed_gap(means), -np.diff(means[:2])[0]
        (one, _, (_, own)), (two, _, (_, other)), *_ = group_examples(m)
        gap = gaps.GroupGap(m, sizes(m))
        variance = gap.misestimated_variance((1.5, 0.7), (one[2], two[2]))
        yield variance, own / 1.5**2 + other / 0.7**2
    yield gaps.misestimated_gap_bias((1.25, 0.8), (0.8, 0.8)), 0.8 / 1.25 - 0.8 / 0.8


@second_route(gaps.absolute_gap_bias, gaps.absolute_gap_mse, gaps.absolute_gap_error)
def _errors() -> Pairs:
    for sd, gap in product((1.0, 0.3), (0.0, 0.5, 1.0, 2.0)):
        law = foldnorm(gap, scale=sd)
        first, second = law.mean(), law.var() + law.mean() ** 2
        below = sd * gap * law.cdf(sd * gap) - law.expect(
            ub=sd * gap
        )  # mean of the error's negative part
        yield gaps.absolute_gap_bias(sd, sd * gap), first - sd * gap
        yield gaps.absolute_gap_mse(sd, sd * gap), second - 2 * sd * gap * first + (sd * gap) ** 2
        yield gaps.absolute_gap_error(sd, sd * gap), first - sd * gap + 2 * below


@second_route(
    DiscretisedMeans.epsilon, DiscretisedMeans.group_loss, DiscretisedMeans.claimed_epsilon
)
@second_route(channel.privacy_loss, hockey_stick.channel_delta)
def _losses_of_signs() -> Pairs:
    for first, second, number in product(BUDGETS, BUDGETS, GROUPS):
        m = DiscretisedMeans(first, second, number)
        logs = np.log(printed_channel(m, (-1.0, 0.5, 1.0)).reshape(number, 2, number, 3))
        yield m.epsilon, np.ptp(logs, axis=(2, 3)).max()
        yield m.group_loss, (logs[0, :, 0] - logs[0, :, 1]).max()
        odds = [keep / (1 - keep) for keep in (printed_keep(first), printed_keep(second))]
        yield m.claimed_epsilon, np.log(max(odds))
    matrix = printed_channel(SIGNS[0], (-1.0, 1.0))
    yield (
        channel.privacy_loss(matrix).epsilon,
        max(np.log(p / q) for row in matrix for p, q in product(row, row)),
    )
    events = [list(event) for event in chain(*(combinations(range(4), size) for size in (1, 2, 3)))]
    chances = np.array([matrix[event].sum(axis=0) for event in events])
    for epsilon in (0.3, 1.0):
        gains = chances.max(axis=1) - np.exp(epsilon) * chances.min(axis=1)
        yield hockey_stick.channel_delta(matrix, epsilon), gains.max()


@second_route(
    LaplaceMeans.epsilon,
    LaplaceMeans.group_loss,
    LaplaceMeans.claimed_epsilon,
    LaplaceMeans.clipped_epsilon,
)
@second_route(hockey_stick.laplace_means_delta, hockey_stick.total_variation)
def _losses_of_noise() -> Pairs:
    for first, second, number in product((0.05, 0.5, 1.5), (0.1, 1.0, 4.0), GROUPS):
        m = LaplaceMeans(first, second, 2.0, number)
        yield (m.epsilon, m.group_loss), (density_loss(m, FAR), kept_over_moved(m, FAR))
    for first, second, other in (
        (0.5, 1.0, 2 / 3),
        (0.5, 1.0, 3.0),
        (1.0, 3.0, 2 / 3),
        (0.1, 6.0, 1.0),
    ):
        m = LaplaceMeans(first, second, other)
        laws = np.array([printed_law(m, g, v) for g, v in product((0, 1), (-1.0, 0.0, 1.0))])
        atoms = np.log(laws[..., 0] / 2) - (1 - laws[..., 1]) / laws[..., 2]
        inside = density_loss(m, INSIDE)
        yield (
            (m.claimed_epsilon, m.clipped_epsilon),
            (inside, max(inside, np.ptp(atoms, axis=0).max())),
        )
    for other, epsilon in ((2 / 3, 0.98), (1.0, 1.3), (2.0, 0.98), (3.0, 0.2)):
        m = LaplaceMeans(0.5, 1.0, other)
        stated = hockey_stick.laplace_means_delta(m, epsilon), hockey_stick.total_variation(m)
        yield stated, (worst_delta(m, epsilon), worst_delta(m, 0.0)), 1e-8


@second_route(groups.largest_group_epsilon, LaplaceMeans.allowed, LaplaceMeans.published)
@second_route(LaplaceMeans.calibrated, DiscretisedMeans.published, DiscretisedMeans.calibrated)
def _allocations() -> Pairs:
    for epsilon, other in ((0.3, 2 / 3), (0.9, 0.9), (0.9, 1.2), (1.7, 1.1), (5.0, 5.0)):
        most = 1 + epsilon - kept_over_moved(LaplaceMeans(1.0, epsilon, other), INSIDE)
        m = LaplaceMeans.allowed(epsilon, other)
        yield (groups.largest_group_epsilon(epsilon, other), m.group_epsilon), (most, most)
        yield (m.value_epsilon, m.k, m.groups), (epsilon, other, 2)
    for epsilon in (0.1, 0.9, 2.0, 6.3):
        m, (first, other) = LaplaceMeans.published(epsilon), published_laplace_budgets(epsilon)
        yield (m.group_epsilon, m.k, m.value_epsilon, m.groups), (first, other, epsilon, 2)
    group = 1, 3, 0.5
    for epsilon in BUDGETS:
        m, grid = LaplaceMeans.calibrated(epsilon), np.linspace(0.05, 1, 39) * epsilon
        own = np.ptp(log_densities(m, FAR)[0, :, 0], axis=0).max()
        yield (own, kept_over_moved(m, FAR), m.k, m.groups), (epsilon, epsilon, 2, 2)
        claimed, kept = DiscretisedMeans.published(epsilon), DiscretisedMeans.calibrated(epsilon)
        least = printed_variance_signs(
            grid[:, None], grid, 2, *group
        ).min()  # of all budgets up to epsilon
        yield (printed_variance(claimed, *group), claimed.groups), (least, 2)
        line = epsilon - np.log(2 / (1 + np.exp(-grid))), grid  # of one loss
        lost = np.ptp(np.log(printed_channel(kept, (-1.0, 1.0))), axis=1).max()
        least = printed_variance_signs(*line, 2, *group).min()
        yield (lost, printed_variance(kept, *group), kept.groups), (epsilon, least, 2)


@second_route(LaplaceMeans.executed)
def _executed() -> Pairs:
    for epsilon in (0.01, 0.1, 1.0, 10.0):
        first, k = published_laplace_budgets(epsilon)
        keep = printed_keep(first)
        rows = [[keep, 0.5, min(k, 2.0) / epsilon], [1 - keep, 0.0, 2 / epsilon]]
        yield LaplaceMeans.executed(epsilon).law(0, 0.5), np.array(rows)


def _binomial_tail(terms: int, deviation: float) -> float:
    """Return ``P(|S| >= deviation)`` for a sum of fair signs, adding up the binomial law around its mode."""
    least = int(np.ceil((terms + deviation) / 2 - 1e-9))
    heads = np.arange(least, min(least + int(40 * np.sqrt(terms)), terms + 1))
    return float(2 * binom(terms, 0.5).pmf(heads).sum())


def _kept(epsilon: float) -> DiscretisedMeans:
    """Return ``M_R`` with the ``eps1 = ln((1 + e^epsilon) / 2)`` that makes it lose exactly ``epsilon = eps2``."""
    return DiscretisedMeans(float(np.logaddexp(0.0, epsilon) - np.log(2)), epsilon)


@second_route(gaps.GroupGap.error_bound, gaps.GroupGap.failure)
def _bounds() -> Pairs:
    for m in MECHANISMS:
        gap, sd = gaps.GroupGap(m, sizes(m)), np.sqrt(worst_moment(m))
        for tail, far, chance in (
            ("chebyshev", 1 / np.sqrt(0.02), 1 / 9),
            ("normal", norm.isf(0.01), 2 * norm.sf(3)),
        ):
            yield (gap.error_bound(0.02, tail), gap.failure(3 * sd, tail)), (sd * far, chance)


@second_route(
    budgets.required_gain, budgets.published_epsilon_for_gain, budgets.calibrated_epsilon_for_gain
)
@second_route(budgets.smallest_epsilon)
def _targets() -> Pairs:
    for clients, half in ((10**6, 5e4), (10**5, 5e3)):
        gain, sharper = (
            budgets.required_gain(clients, 0.1, failure=0.01, tail=tail)
            for tail in ("chebyshev", "hoeffding")
        )
        yield clients / (half * gain) ** 2, 0.01
        yield 2 * np.exp(-((half * sharper) ** 2) / (2 * clients)), 0.01
    for gain in (0.01, 0.5, 0.9):
        claimed, kept = (
            budgets.published_epsilon_for_gain(gain),
            budgets.calibrated_epsilon_for_gain(gain),
        )
        yield (
            [printed_gain(m) for m in (DiscretisedMeans(claimed, claimed), _kept(kept))],
            [gain, gain],
        )
    for family, second_moment in (
        (lambda epsilon: DiscretisedMeans(epsilon, epsilon), 0),
        (_kept, 0),
        (lambda epsilon: LaplaceMeans(epsilon / 2, epsilon), 1),
    ):
        for tail, deviations in (("chebyshev", 10.0), ("normal", norm.isf(0.005))):
            enough = family(budgets.smallest_epsilon(family, 10**6, 0.1, tail=tail))
            variance = 2 * printed_variance(enough, 5 * 10**5, 10**6, second_moment)
            yield np.sqrt(variance) * deviations, 0.1
        if second_moment == 0:  # signs, of which the binomial law has steps
            gain = printed_gain(family(budgets.smallest_epsilon(family, 10**6, 0.1, tail="exact")))
            yield (
                [_binomial_tail(10**6, 5e4 * gain * f) <= 0.01 for f in (1, 1 - 1e-3)],
                [True, False],
            )
