"""Second routes to the formulas of juarez2022: printed formulas, and numbers from output laws alone.

The pairs that a section alone needs stand in it.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.special import ndtr

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real, Symbol, read_only
from ldpnb.mechanisms import moves
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans
from ldpnb.sections import Pairs, second_route

Floats = NDArray[np.float64]
BUDGETS = (0.1, 0.5, 1.0, 2.0, 4.0)
SIGNS = (DiscretisedMeans(1.0, 1.0), DiscretisedMeans(0.3, 2.0, 3))
NOISE = (LaplaceMeans(0.5, 1.0), LaplaceMeans(0.7, 0.4, 2 / 3, 3))
MECHANISMS: tuple[GroupMeans, ...] = SIGNS + NOISE
VALUES, HOLDERS = np.array([-1.0, -0.2, 0.4, 1.0]), np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])
"""Values, and how many clients of each group hold them: sizes and means all differ."""
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
    d, points, b = mechanism.groups, np.asarray(values, dtype=float), printed_keep(mechanism.value_epsilon)
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
    group_epsilon: Real, value_epsilon: Real, k: Real, *, size: Real, clients: Real, second_moment: Real
) -> Real:
    """Return equation (19) as printed, with noise of scale ``2 / eps2`` on kept and ``k / eps2`` on changed clients."""
    decay = np.exp(-group_epsilon)
    kept, changed = 2 * (2 / value_epsilon) ** 2, 2 * (k / value_epsilon) ** 2
    noise = (1 + decay) * (kept + (clients - size) / size * changed * decay)
    return (second_moment * decay + noise) / size


def printed_variance_discretised(
    group_epsilon: Real, value_epsilon: Real, *, size: Real, clients: Real, second_moment: Real, groups: Real = 2
) -> Real:
    """Return equation (20) as printed; with more groups, only ``a`` changes."""
    a, t = printed_keep(group_epsilon, groups), 2 * printed_keep(value_epsilon) - 1
    return (1 - a * t**2 * second_moment + (clients - size) / size * (1 - a) / a) / (a * t**2 * size)


def printed_variance(mechanism: GroupMeans, size: Real, clients: Real, second_moment: Real) -> Real:
    """Return equation (19) or (20) for a mechanism."""
    m, group = mechanism, {"size": size, "clients": clients, "second_moment": second_moment}
    if isinstance(m, LaplaceMeans):
        return printed_variance_laplace(m.group_epsilon, m.value_epsilon, m.k, **group)
    return printed_variance_discretised(m.group_epsilon, m.value_epsilon, groups=m.groups, **group)


def published_laplace_budgets(epsilon: float) -> tuple[float, float]:
    """Return ``eps1`` and ``k`` of the "optimal" ``M_L`` as Appendix B prints them."""
    if epsilon >= 2 / 3:
        return float(np.log(2 / epsilon) + epsilon - 1), epsilon
    return float(np.log(3) - epsilon / 2), 2 / 3


def report_moments(mechanism: GroupMeans, group: int, value: float) -> tuple[Floats, Floats]:
    """Return mean and mean square ``(d,)`` of what one client adds to every group's sum, from its output law.

    Signs are summed over the channel; the Laplace law is integrated by Gauss-Laguerre quadrature, exact for
    polynomials.
    """
    if isinstance(mechanism, DiscretisedMeans):
        chances = printed_channel(mechanism, [value])[:, group].reshape(-1, 2)
        return chances[:, 1] - chances[:, 0], chances.sum(axis=1)
    nodes, weights = np.polynomial.laguerre.laggauss(4)
    chance, location, scale = printed_law(mechanism, group, value).T
    up, down = location[:, None] + np.outer(scale, nodes), location[:, None] - np.outer(scale, nodes)
    means = chance * ((up + down) @ weights) / 2
    return means, chance * ((up**2 + down**2) @ weights) / 2


def mean_moments(mechanism: GroupMeans, counts: ArrayLike, values: ArrayLike, group: int) -> tuple[float, float]:
    """Return the mean and the variance of one group's estimated mean; see `gap_moments`."""
    return gap_moments(mechanism, counts, values, np.eye(mechanism.groups)[group])


def gap_moments(
    mechanism: GroupMeans, counts: ArrayLike, values: ArrayLike, weights: Floats | None = None
) -> tuple[float, float]:
    """Return mean and variance of the gap between the first two groups, or of a weighted sum of estimated means.

    They add up over clients, of whom row g of `counts` says how many of group g hold each value. A client adds to one
    group's sum at most, so the mean square of its contribution is the sum of those to each group.
    """
    if weights is None:
        weights = np.eye(mechanism.groups)[0] - np.eye(mechanism.groups)[1]
    holders = np.asarray(counts)
    numbers = np.broadcast_to(np.asarray(values, dtype=float), holders.shape)
    factors = weights / (printed_gain(mechanism) * holders.sum(axis=1))
    mean = variance = 0.0
    for (group, place), clients in np.ndenumerate(holders):
        first, second = report_moments(mechanism, group, float(numbers[group, place]))
        own = float(factors @ first)
        mean += clients * own
        variance += clients * (float(factors**2 @ second) - own**2)
    return float(mean), float(variance)


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
    laws = np.array([printed_law(mechanism, g, v) for g, v in product(range(mechanism.groups), (-1.0, 0.0, 1.0))])
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
        densities = (law[:, 0] / (2 * law[:, 2]) * np.exp(-np.abs(x - law[:, 1]) / law[:, 2]) for law in (one, other))
        return float(np.maximum(next(densities) - np.exp(epsilon) * next(densities), 0).sum())

    reach = 1 + 45 * max(mechanism.kept_scale, mechanism.moved_scale)
    cells = list(pairwise([-reach, -20.0, -3.0, -1.0, 0.0, 1.0, 3.0, 20.0, reach]))
    laws = [(printed_law(mechanism, 0, 1.0), printed_law(mechanism, *other)) for other in ((0, -1.0), (1, 1.0))]
    return max(
        sum(quad(advantage, *cell, pair, limit=400, epsabs=1e-14, epsrel=1e-10)[0] for cell in cells) for pair in laws
    )


def exact(value: Any) -> Real:
    """Return a number, exact if it is whole, a fraction or text, as formulas of symbols take it."""
    return Symbol(value)


def numbered(**lists: Iterable[float]) -> dict[str, float]:
    """Return numbers by their list's name and their place in it, from 1 on, as the fields of a sentence."""
    return {f"{name}_{i}": value for name, values in lists.items() for i, value in enumerate(values, 1)}


def group_examples(mechanism: GroupMeans) -> Iterator[tuple[dict[str, Any], float, tuple[float, float]]]:
    """Yield each group's size, all clients and second moment; its mean; its estimate's mean and variance."""
    holders = HOLDERS[: mechanism.groups]
    for group, row in enumerate(holders):
        words = {
            "size": int(row.sum()),
            "clients": int(holders.sum()),
            "second_moment": float(row @ VALUES**2 / row.sum()),
        }
        yield words, float(row @ VALUES / row.sum()), mean_moments(mechanism, holders, VALUES, group)


def sizes(mechanism: GroupMeans) -> tuple[int, ...]:
    """Return the sizes of those groups."""
    return tuple(HOLDERS[: mechanism.groups].sum(axis=1).tolist())


@second_route(KaryRandomisedResponse.p, KaryRandomisedResponse.q)
def _response() -> Pairs:
    for epsilon, d in product(BUDGETS, (2, 3, 5)):
        kary = KaryRandomisedResponse(epsilon, d)
        yield (kary.p + (d - 1) * kary.q, np.log(kary.p / kary.q)), (1.0, epsilon)


@second_route(DiscretisedMeans.keep, DiscretisedMeans.move, LaplaceMeans.keep, LaplaceMeans.move)
def _kept() -> Pairs:
    for m in MECHANISMS:
        yield (m.keep + (m.groups - 1) * m.move, np.log(m.keep / m.move)), (1.0, m.group_epsilon)


@second_route(DiscretisedMeans.gain, LaplaceMeans.gain)
def _gains() -> Pairs:
    for m in MECHANISMS:
        yield m.gain, report_moments(m, 1, 0.4)[0][1] / 0.4


@second_route(moves.sign_probabilities)
def _sign_probabilities() -> Pairs:
    for epsilon in (1.0, 2.0):
        coins, truth = np.stack([1 - VALUES, 1 + VALUES]) / 2, printed_keep(epsilon)
        yield moves.sign_probabilities(VALUES, epsilon), truth * coins + (1 - truth) * coins[::-1]


@second_route(DiscretisedMeans.channel)
def _channel() -> Pairs:
    yield from ((m.channel(VALUES), printed_channel(m, VALUES)) for m in SIGNS)


@second_route(LaplaceMeans.law, LaplaceMeans.kept_scale, LaplaceMeans.moved_scale)
def _noise() -> Pairs:
    for m in NOISE:
        yield m.law(1, -0.3), printed_law(m, 1, -0.3)
        yield (2 / m.kept_scale, 2 * m.moved_scale / m.kept_scale), (m.value_epsilon, m.k)


@second_route(gaps.mean_variance, gaps.variance_discretised_mean, gaps.variance_laplace_mean)
def _variances() -> Pairs:
    for m in MECHANISMS:
        formula: Any = gaps.variance_discretised_mean if m in SIGNS else gaps.variance_laplace_mean
        for group, _, (_, variance) in group_examples(m):
            yield (formula(m, *group.values()), gaps.mean_variance(m, *group.values())), (variance, variance)


def worst_moment(mechanism: GroupMeans) -> float:
    """Return the largest variance of the gap over clients who all hold one value."""
    clients, ones = np.diag(sizes(mechanism)), np.ones(mechanism.groups)
    return max(gap_moments(mechanism, clients, value * ones)[1] for value in (-1.0, -0.5, 0.0, 1.0))


@second_route(gaps.GroupGap.variance, gaps.GroupGap.worst_variance)
def _gap_variances() -> Pairs:
    for m in MECHANISMS:
        holders, gap = HOLDERS[: m.groups], gaps.GroupGap(m, sizes(m))
        moments = (holders @ VALUES**2 / holders.sum(axis=1))[:2]
        yield gap.variance(tuple(moments)), gap_moments(m, holders, VALUES)[1]
        yield gap.worst_variance(), worst_moment(m)
