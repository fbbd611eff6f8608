"""Formulas of juarez2022 as they are printed, and numbers from the laws of reports alone."""

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
NOISE = (LaplaceMeans(0.5, 1.0), LaplaceMeans(0.7, 0.4, 2 / 3, 3))
MECHANISMS: tuple[GroupMeans, ...] = SIGNS + NOISE
VALUES, HOLDERS = (
    np.array([-1.0, -0.2, 0.4, 1.0]),
    np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]]),
)
"""Values, and how many clients of each group hold them: sizes and means all differ."""
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
    """Return the law of a report of ``M_L`` from the printed probabilities and scales.

    It has the form of `LaplaceMeans.law`.
    """
    d, keep = mechanism.groups, printed_keep(mechanism.group_epsilon, mechanism.groups)
    law = np.tile([(1 - keep) / (d - 1), 0.0, mechanism.k / mechanism.value_epsilon], (d, 1))
    law[group] = keep, value, 2 / mechanism.value_epsilon
    return law


def printed_variance_laplace(
    e1: Real, e2: Real, k: Real, size: Real, clients: Real, second_moment: Real
) -> Real:
    """Return equation (19) as printed.

    The noise has the scale ``2 / eps2`` on clients that are kept and ``k / eps2`` on others.
    """
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
    """Return equation (19) or (20) for a mechanism.

    It takes the size of a group, the number of all clients, and the second moment of the group.
    """
    m = mechanism
    if isinstance(m, LaplaceMeans):
        return printed_variance_laplace(m.group_epsilon, m.value_epsilon, m.k, *group)
    return printed_variance_signs(m.group_epsilon, m.value_epsilon, m.groups, *group)


def report_moments(mechanism: GroupMeans, group: int, value: float) -> tuple[Floats, Floats]:
    """Return mean and mean square, of shape ``(d,)``, of what a client adds to each group's sum.

    They follow from the law of the client's report.
    """
    if isinstance(mechanism, DiscretisedMeans):
        chances = printed_channel(mechanism, [value])[:, group].reshape(-1, 2)
        return chances[:, 1] - chances[:, 0], chances.sum(axis=1)
    chance, location, scale = printed_law(mechanism, group, value).T
    return chance * location, chance * (location**2 + laplace(location, scale).var())


def gap_moments(
    mechanism: GroupMeans, counts: ArrayLike, values: Iterable[float], weights: Floats | None = None
) -> tuple[float, float]:
    """Return mean and variance of the gap between the first two groups.

    With weights they are those of a weighted sum of estimated means.

    They add up over clients. Row g of `counts` says how many of group g hold each value. A client
    adds to one group's sum at most, so the mean square of its contribution is the sum of those to
    each group.
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
    """Return the law of ``||X| - gap|`` for normal ``X`` of mean `gap`, on a grid.

    It is given by the centres of the cells and their probabilities.
    """
    edges = np.linspace(0, 64 * sd, 2**14 + 1)
    low, high = np.maximum(gap - edges, 0), gap + edges
    below = [ndtr((x - gap) / sd) - ndtr((-x - gap) / sd) for x in (low, high)]
    return read_only((edges[:-1] + edges[1:]) / 2), read_only(np.diff(below[1] - below[0]))


def mean_error_cdf(x: float, sd: float, gap: float, runs: int) -> float:
    """Return the probability that a mean of `runs` errors is at most `x`.

    It convolves `error_law` by a Fourier transform.
    """
    centres, mass = error_law(sd, gap)
    law = np.fft.irfft(np.fft.rfft(mass) ** runs, mass.size)
    step = centres[1] - centres[0]
    sums = step * (np.arange(mass.size) + runs / 2)
    return float(np.interp(x * runs, sums + step / 2, np.cumsum(law)))


def log_densities(mechanism: LaplaceMeans, reports: ArrayLike) -> Floats:
    """Return log-densities, of shape ``(d, 3, d, r)``.

    The axes are the own group, the value -1, 0 or 1, the reported group, and the reported value.
    """
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
    """Return the largest log-ratio of the densities of given reported values.

    It is the largest over all groups and the values -1, 0 and 1.
    """
    return float(np.ptp(log_densities(mechanism, reports), axis=(0, 1)).max())


def numbered(**lists: Iterable[float]) -> dict[str, float]:
    """Return numbers as the fields of a sentence, by their list's name and their place in it."""
    return {
        f"{name}_{i}": value for name, values in lists.items() for i, value in enumerate(values, 1)
    }


def group_examples(
    mechanism: GroupMeans,
) -> Iterator[tuple[tuple[int, int, float], float, tuple[float, float]]]:
    """Yield what the equations take of each group, its mean, and its estimate's moments.

    The equations take its size, the number of all clients and its second moment.
    """
    holders = HOLDERS[: mechanism.groups]
    for own, row in zip(np.eye(mechanism.groups), holders, strict=True):
        mean, second_moment = row @ np.column_stack([VALUES, VALUES**2]) / row.sum()
        group = int(row.sum()), int(holders.sum()), float(second_moment)
        yield group, float(mean), gap_moments(mechanism, holders, VALUES, own)


def sizes(mechanism: GroupMeans) -> tuple[int, ...]:
    """Return the sizes of those groups."""
    return tuple(HOLDERS[: mechanism.groups].sum(axis=1).tolist())
