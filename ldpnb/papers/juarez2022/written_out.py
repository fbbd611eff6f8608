"""Formulas of Juarez and Korolova as they are printed, and numbers from the laws of reports alone.

The channel and the law of a report are those that the paper prints. Means, variances and losses
follow from them by sums over every report, with none of the package's closed forms.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import laplace

from ldpnb.arithmetic import Floats, Real, Symbol, read_only
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans

SIGNS = (DiscretisedMeans(1.0, 1.0), DiscretisedMeans(0.3, 2.0, 3))
"""The mechanism ``M_R``, for two and for three groups."""

NOISE = (LaplaceMeans(0.5, 1.0), LaplaceMeans(0.7, 0.4, 2 / 3, 3))
"""The mechanism ``M_L``, for two groups with the noise parameter 2, and for three with 2/3."""

MECHANISMS: tuple[GroupMeans, ...] = SIGNS + NOISE

VALUES = np.array([-1.0, -0.2, 0.4, 1.0])
"""Values of clients."""

HOLDERS = np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])
"""How many clients of each group hold each value; the groups differ in size and in mean."""

exact: Callable[[Any], Real] = Symbol
"""A number, exact if it is whole, a fraction or text, as formulas of symbols take it."""


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
    """Return the channel of ``M_R`` from the printed probabilities.

    Its rows are in the order of `DiscretisedMeans.channel`.
    """
    d = mechanism.groups
    points = np.asarray(values, dtype=float)
    a = printed_keep(mechanism.group_epsilon, d)
    b = printed_keep(mechanism.value_epsilon)

    plus = b * (1 + points) / 2 + (1 - b) * (1 - points) / 2
    signs = np.stack([1 - plus, plus])
    kept = a * signs[:, None, :]
    moved = (1 - a) / (d - 1) / 2

    # The axes are the reported group, the reported sign, the client's group, and its value.
    is_own_group = np.eye(d)[:, None, :, None]
    chances = is_own_group * kept + (1 - is_own_group) * moved
    return np.asarray(chances.reshape(2 * d, d * points.size))


def printed_law(mechanism: LaplaceMeans, group: int, value: float) -> Floats:
    """Return the law of a report of ``M_L`` from the printed probabilities and scales.

    It has the form of `LaplaceMeans.law`.
    """
    d = mechanism.groups
    keep = printed_keep(mechanism.group_epsilon, d)

    # Chance, location and scale of a report about another group, and about the client's own.
    law = np.tile([(1 - keep) / (d - 1), 0.0, mechanism.k / mechanism.value_epsilon], (d, 1))
    law[group] = [keep, value, 2 / mechanism.value_epsilon]
    return law


def printed_variance_laplace(
    e1: Real, e2: Real, k: Real, size: Real, clients: Real, second_moment: Real
) -> Real:
    """Return equation (19) as printed.

    The noise has the scale ``2 / eps2`` on clients that are kept and ``k / eps2`` on others.
    """
    decay = np.exp(-e1)
    of_kept = 2 * (2 / e2) ** 2
    of_others = 2 * (k / e2) ** 2
    noise = (1 + decay) * (of_kept + (clients - size) / size * of_others * decay)
    return (second_moment * decay + noise) / size


def printed_variance_signs(
    e1: Real, e2: Real, d: Real, size: Real, clients: Real, second_moment: Real
) -> Real:
    """Return equation (20) as printed; with more groups than two, only ``a`` changes."""
    a = printed_keep(e1, d)
    t = 2 * printed_keep(e2) - 1
    of_others = (clients - size) / size * (1 - a) / a
    return (1 - a * t**2 * second_moment + of_others) / (a * t**2 * size)


def printed_variance(mechanism: GroupMeans, size: Real, clients: Real, second_moment: Real) -> Real:
    """Return the variance of a group's estimated mean by equation (19) or (20) as printed.

    Parameters
    ----------
    mechanism : LaplaceMeans or DiscretisedMeans
        The mechanism: equation (19) is for the former, and (20) for the latter.
    size, clients : float or Symbol
        The number of clients in the group, and in all groups.
    second_moment : float or Symbol
        The mean of the squared values in the group.
    """
    m = mechanism
    group = (size, clients, second_moment)
    if isinstance(m, LaplaceMeans):
        return printed_variance_laplace(m.group_epsilon, m.value_epsilon, m.k, *group)
    return printed_variance_signs(m.group_epsilon, m.value_epsilon, m.groups, *group)


def report_moments(mechanism: GroupMeans, group: int, value: float) -> tuple[Floats, Floats]:
    """Return mean and mean square, of shape ``(d,)``, of what a client adds to each group's sum.

    They follow from the law of the client's report.
    """
    if isinstance(mechanism, DiscretisedMeans):
        chances = printed_channel(mechanism, [value])[:, group].reshape(-1, 2)
        means = chances[:, 1] - chances[:, 0]
        mean_squares = chances.sum(axis=1)
        return means, mean_squares

    chance, location, scale = printed_law(mechanism, group, value).T
    means = chance * location
    mean_squares = chance * (location**2 + laplace(location, scale).var())
    return means, mean_squares


def gap_moments(
    mechanism: GroupMeans, counts: ArrayLike, values: Iterable[float], weights: Floats | None = None
) -> tuple[float, float]:
    """Return mean and variance of the gap between the first two groups.

    They add up over clients. A client adds to one group's sum at most, so the mean square of its
    contribution is the sum of those to each group.

    Parameters
    ----------
    mechanism : DiscretisedMeans or LaplaceMeans
        How clients report.
    counts : array_like of int, shape (d, number of values)
        How many clients of each group hold each value.
    values : iterable of float
        The values, in ``[-1, 1]``.
    weights : ndarray, shape (d,), optional
        Weights of the estimated means in a sum, instead of 1 and -1 for the first two groups.
    """
    d = mechanism.groups
    if weights is None:
        weights = np.eye(d)[0] - np.eye(d)[1]
    holders = np.asarray(counts)
    factors = weights / (printed_gain(mechanism) * holders.sum(axis=1))

    # The axes are the client's group, its value, mean or mean square, and the group it adds to.
    cells = list(product(range(d), values))
    moments = np.array([report_moments(mechanism, group, value) for group, value in cells])
    moments = moments.reshape(d, -1, 2, d)
    means = moments[:, :, 0] @ factors
    mean_squares = moments[:, :, 1] @ factors**2

    mean = (holders * means).sum()
    variance = (holders * (mean_squares - means**2)).sum()
    return float(mean), float(variance)


@cache
def error_law(sd: float, gap: float) -> tuple[Floats, Floats]:
    """Return the law of ``||X| - gap|`` for normal ``X`` of mean `gap`, on a grid.

    It is given by the centres of the cells and their probabilities.
    """
    # Wide enough for the sum of the errors of all runs, which `mean_error_cdf` convolves.
    edges = np.linspace(0, 64 * sd, 2**14 + 1)
    centres = (edges[:-1] + edges[1:]) / 2

    at_most_high = _below(gap + edges, sd, gap)
    at_most_low = _below(np.maximum(gap - edges, 0), sd, gap)
    probabilities = np.diff(at_most_high - at_most_low)
    return read_only(centres), read_only(probabilities)


def _below(x: Floats, sd: float, gap: float) -> Floats:
    """Return the probability that ``|X| <= x`` for normal ``X`` of mean `gap`."""
    return np.asarray(ndtr((x - gap) / sd) - ndtr((-x - gap) / sd))


def mean_error_cdf(x: float, sd: float, gap: float, runs: int) -> float:
    """Return the probability that a mean of `runs` errors is at most `x`.

    It convolves `error_law` by a Fourier transform.
    """
    centres, probabilities = error_law(sd, gap)
    of_sum = np.fft.irfft(np.fft.rfft(probabilities) ** runs, probabilities.size)
    step = centres[1] - centres[0]
    sums = step * (np.arange(probabilities.size) + runs / 2)
    return float(np.interp(x * runs, sums + step / 2, np.cumsum(of_sum)))


def log_densities(mechanism: LaplaceMeans, reports: ArrayLike) -> Floats:
    """Return log-densities, of shape ``(d, 3, d, r)``.

    The axes are the client's group, its value -1, 0 or 1, the reported group, and the reported
    value.
    """
    d = mechanism.groups
    clients = product(range(d), (-1.0, 0.0, 1.0))
    laws = np.array([printed_law(mechanism, group, value) for group, value in clients])
    chance = laws[..., 0, None]
    location = laws[..., 1, None]
    scale = laws[..., 2, None]
    logs = np.log(chance / (2 * scale)) - np.abs(np.asarray(reports) - location) / scale
    return np.asarray(logs.reshape(d, 3, d, -1))


def density_loss(mechanism: LaplaceMeans, reports: ArrayLike) -> float:
    """Return the largest log-ratio of the densities of given reported values.

    It is the largest over all groups and the values -1, 0 and 1.
    """
    return float(np.ptp(log_densities(mechanism, reports), axis=(0, 1)).max())


def numbered(**lists: Iterable[float]) -> dict[str, float]:
    """Return numbers as the fields of a sentence, by their list's name and their place in it.

    Examples
    --------
    >>> numbered(bias=[0.5, 0.25])
    {'bias_1': 0.5, 'bias_2': 0.25}
    """
    fields = {}
    for name, values in lists.items():
        for place, value in enumerate(values, start=1):
            fields[f"{name}_{place}"] = value
    return fields


def group_examples(
    mechanism: GroupMeans,
) -> Iterator[tuple[tuple[int, int, float], float, tuple[float, float]]]:
    """Yield each group of `HOLDERS` with its mean and the mean and variance of its estimate.

    A group is given as `printed_variance` takes it: its size, the number of all clients, and its
    second moment.
    """
    holders = HOLDERS[: mechanism.groups]
    for weights, row in zip(np.eye(mechanism.groups), holders, strict=True):
        size = int(row.sum())
        mean, second_moment = row @ np.column_stack([VALUES, VALUES**2]) / size
        group = (size, int(holders.sum()), float(second_moment))
        yield group, float(mean), gap_moments(mechanism, holders, VALUES, weights)


def sizes(mechanism: GroupMeans) -> tuple[int, ...]:
    """Return the sizes of the groups of `HOLDERS`, as many as the mechanism has."""
    return tuple(HOLDERS[: mechanism.groups].sum(axis=1).tolist())
