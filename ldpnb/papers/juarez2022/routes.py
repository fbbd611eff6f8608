"""Second routes to the deciding values of juarez2022: printed formulas, and numbers from output laws alone."""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtr

from ldpnb.arithmetic import Real, read_only
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans

Floats = NDArray[np.float64]
PAIRS = (((0, 1.0), (0, -1.0)), ((0, 1.0), (1, 1.0)))
"""The two pairs of clients ``(group, value)`` among which those of ``M_L`` easiest to tell apart are."""


def printed_keep(group_epsilon: Real, groups: Real = 2) -> Real:
    """Return ``a = e^eps1 / (e^eps1 + d - 1)``."""
    growth = np.exp(group_epsilon)
    return growth / (growth + groups - 1)


def printed_truth(value_epsilon: Real) -> Real:
    """Return ``b = e^eps2 / (1 + e^eps2)``."""
    return printed_keep(value_epsilon)


def printed_gain(mechanism: GroupMeans) -> float:
    """Return what Definition 5.1 divides by: ``a`` for ``M_L``, ``a (2b - 1)`` for ``M_R``."""
    gain = float(printed_keep(mechanism.group_epsilon, mechanism.groups))
    if isinstance(mechanism, DiscretisedMeans):
        gain *= 2 * printed_truth(mechanism.value_epsilon) - 1
    return gain


def printed_channel(mechanism: DiscretisedMeans, values: ArrayLike) -> Floats:
    """Return the channel of ``M_R``, in the order of `DiscretisedMeans.channel`, from the printed probabilities."""
    d, held, b = mechanism.groups, np.asarray(values, dtype=float), printed_truth(mechanism.value_epsilon)
    a = printed_keep(mechanism.group_epsilon, d)
    plus = b * (1 + held) / 2 + (1 - b) * (1 - held) / 2
    own = np.eye(d)[:, None, :, None]
    chances = own * a * np.stack([1 - plus, plus])[:, None, :] + (1 - own) * (1 - a) / (d - 1) / 2
    return np.asarray(chances.reshape(2 * d, d * held.size))


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
    a, t = printed_keep(group_epsilon, groups), 2 * printed_truth(value_epsilon) - 1
    return (1 - a * t**2 * second_moment + (clients - size) / size * (1 - a) / a) / (a * t**2 * size)


def kept_group_epsilon(epsilon: Real) -> Real:
    """Return the ``eps1 = ln((1 + e^epsilon) / 2)`` that makes ``M_R`` lose exactly ``epsilon = eps2``."""
    return np.log((1 + np.exp(epsilon)) / 2)


def published_laplace_budgets(epsilon: float) -> tuple[float, float]:
    """Return ``eps1`` and ``k`` of the "optimal" ``M_L`` as Appendix B prints them."""
    if epsilon >= 2 / 3:
        return float(np.log(2 / epsilon) + epsilon - 1), epsilon
    return float(np.log(3) - epsilon / 2), 2 / 3


def printed_bound(mechanism: str, epsilon: float, clients: float) -> float:
    """Return the printed variance of the gap between equal groups at its largest: M_R, M_L, "M_R kept", "k = 2"."""
    size = clients / 2
    if mechanism.startswith("M_R"):
        first = epsilon if mechanism == "M_R" else kept_group_epsilon(epsilon)
        return 2 * printed_variance_discretised(first, epsilon, size=size, clients=clients, second_moment=0)
    first, k = published_laplace_budgets(epsilon) if mechanism == "M_L" else (epsilon / 2, 2.0)
    return 2 * printed_variance_laplace(first, epsilon, k, size=size, clients=clients, second_moment=1)


def report_moments(mechanism: GroupMeans, group: int, value: float) -> tuple[Floats, Floats]:
    """Return mean and mean square ``(d,)`` of what one client adds to every group's sum, from its output law.

    Signs are summed over the channel; the Laplace law is integrated by Gauss-Laguerre quadrature, exact for
    polynomials.
    """
    if isinstance(mechanism, DiscretisedMeans):
        chances = mechanism.channel([value])[:, group].reshape(-1, 2)
        return chances[:, 1] - chances[:, 0], chances.sum(axis=1)
    nodes, weights = np.polynomial.laguerre.laggauss(4)
    chance, location, scale = mechanism.law(group, value).T
    up, down = location[:, None] + np.outer(scale, nodes), location[:, None] - np.outer(scale, nodes)
    means = chance * ((up + down) @ weights) / 2
    return means, chance * ((up**2 + down**2) @ weights) / 2


def gap_moments(
    mechanism: GroupMeans, counts: ArrayLike, values: ArrayLike, *, pair: tuple[int, int] = (0, 1)
) -> tuple[float, float]:
    """Return the mean and the variance of the estimated gap between two groups."""
    weights = np.zeros(mechanism.groups)
    weights[list(pair)] = 1.0, -1.0
    return _weighted_moments(mechanism, counts, values, weights)


def mean_moments(mechanism: GroupMeans, counts: ArrayLike, values: ArrayLike, group: int) -> tuple[float, float]:
    """Return the mean and the variance of one group's estimated mean."""
    return _weighted_moments(mechanism, counts, values, np.eye(mechanism.groups)[group])


def _weighted_moments(
    mechanism: GroupMeans, counts: ArrayLike, values: ArrayLike, weights: Floats
) -> tuple[float, float]:
    """Return mean and variance of a weighted sum of the estimated group means, adding up what every client contributes.

    A client adds to one group's sum at most, so the mean square of its contribution is the sum of those to each group.

    Parameters
    ----------
    mechanism : DiscretisedMeans or LaplaceMeans
    counts : (d, m) int
        Clients of each group holding each value.
    values : (m,) or (d, m) float
    weights : (d,) float
    """
    held = np.asarray(counts)
    numbers = np.broadcast_to(np.asarray(values, dtype=float), held.shape)
    factors = weights / (printed_gain(mechanism) * held.sum(axis=1))
    mean = variance = 0.0
    for group, (row, own_values) in enumerate(zip(held, numbers, strict=True)):
        for clients, value in zip(row, own_values, strict=True):
            first, second = report_moments(mechanism, group, float(value))
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


def integrated_delta(
    mechanism: LaplaceMeans, inputs: tuple[tuple[int, float], tuple[int, float]], epsilon: float
) -> float:
    """Return the hockey-stick divergence between the reports of two clients ``(group, value)``, by quadrature.

    Sign changes of the integrand are found by bisection from a fine grid; between them it is smooth and Gauss-Legendre
    panels integrate it.
    """
    first, second = (mechanism.law(group, value) for group, value in inputs)
    return sum(_integral(p, q, epsilon) for p, q in zip(first, second, strict=True))


def worst_delta(mechanism: LaplaceMeans, epsilon: float) -> float:
    """Return the delta of ``M_L`` over its worst `PAIRS`, by quadrature."""
    return max(integrated_delta(mechanism, pair, epsilon) for pair in PAIRS)


def log_binomials(draws: ArrayLike, hits: ArrayLike) -> Floats:
    """Return the logarithms of binomial coefficients."""
    n, k = np.asarray(draws), np.asarray(hits)
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _integral(first: Floats, second: Floats, epsilon: float) -> float:
    def advantage(x: Floats) -> Floats:
        one, other = (w / (2 * s) * np.exp(-np.abs(x - m) / s) for w, m, s in (first, second))
        return np.asarray(one - np.exp(epsilon) * other)

    reach = 1 + 45 * max(first[2], second[2])
    points = np.unique([*np.linspace(-reach, reach, 1501), first[1], second[1]])
    signs = advantage(points) > 0
    turns = np.flatnonzero(signs[1:] != signs[:-1])
    low, high = points[turns], points[turns + 1]
    for _ in range(60):
        middle = (low + high) / 2
        left = (advantage(middle) > 0) == signs[turns]
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    ends = np.unique([*points, *high])
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(ends) / 2
    values = advantage((ends[:-1] + half)[:, None] + np.outer(half, nodes))
    return float((np.maximum(values, 0) @ weights) @ half)
