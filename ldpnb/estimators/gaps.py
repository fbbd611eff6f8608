"""From summed reports to group means, gaps, and confidence intervals for the size of a gap.

The *signed* gap is unbiased. Its absolute value is not: near 0 it reports noise as a gap. `absolute_interval` gives a
confidence interval for the size of the gap that keeps its level everywhere, including at 0.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chndtrix, ndtr, ndtri

from ldpnb import checks
from ldpnb.arithmetic import Floats, read_only, real
from ldpnb.mechanisms.contrasts import Contrast
from ldpnb.mechanisms.groups import GroupMeans


def group_means(mechanism: GroupMeans, sums: ArrayLike, sizes: ArrayLike) -> Floats:
    """Return unbiased estimates ``(..., d)`` of the group means, ``sum / (gain n)`` (Definition 5.1 of juarez2022).

    - `sums`, (..., d) float: sums of the values reported for each group, as `sample_sums` draws them.
    - `sizes`, (d,) int: known sizes of the groups, ``>= 1``.
    """
    numbers = checks.counts(sizes, "sizes", minimum_size=2, least=1)
    return np.asarray(real(sums) / (mechanism.gain * numbers))


def signed_gap(means: ArrayLike) -> Floats:
    """Return the first group's mean minus the second's, for means ``(..., d)``.

    >>> signed_gap([0.75, 0.25]).tolist()
    0.5
    """
    array = real(means)
    if not array.ndim or array.shape[-1] < 2:
        raise ValueError(f"means must be those of two groups or more, got shape {array.shape}")
    return np.asarray(array[..., 0] - array[..., 1])


def contrast_gap(mechanism: Contrast, sums: ArrayLike) -> Floats:
    """Return the unbiased estimate of the signed gap from a sum of single numbers, ``sum / (gain n_min)``."""
    return np.asarray(np.asarray(sums, dtype=float) / (mechanism.gain * min(mechanism.sizes[:2])))


def acceptance_region(mean: ArrayLike, level: float) -> Floats:
    """Return, for each mean, the interval of ``|N(mean, 1)|`` of given probability with the largest likelihood ratio.

    Values are ranked by ``f(x; mean) / max_m f(x; m)`` (Feldman and Cousins 1998): near 0 the interval is one-sided,
    far away it is ``mean +- z``, with a smooth transition. It is found by bisection on its lower end.

    - `mean`, (m,) float: ``>= 0``.
    - `level`, float: in ``(0, 1)``.
    - Returns (m, 2) float.
    """
    centre, probability = (
        np.atleast_1d(np.asarray(mean, dtype=float)),
        checks.open_probability(level, "level"),
    )
    low, high = np.zeros(centre.size), centre + 40.0
    for _ in range(60):
        middle = (low + high) / 2
        right = _log_ratio(middle, centre) < _log_ratio(_upper(middle, centre, probability), centre)
        low, high = np.where(right, middle, low), np.where(right, high, middle)
    zero = np.zeros(centre.size)
    start = np.where(
        _log_ratio(zero, centre) >= _log_ratio(_upper(zero, centre, probability), centre), 0.0, low
    )
    return np.stack([start, _upper(start, centre, probability)], axis=1)


def absolute_interval(estimate: ArrayLike, sd: float, *, level: float = 0.99) -> Floats:
    """Return confidence intervals for ``|gap|`` from unbiased normal estimates of the signed gap.

    An interval consists of all gaps whose `acceptance_region` contains the estimate. The coverage is `level` whatever
    the gap; intervals are never empty, and start at 0 when the data do not exclude it.

    - `estimate`, (n,) float: signed estimates, or their absolute values.
    - `sd`, float: their standard deviation, ``> 0``; for `SignedBit` and ``M_R`` the one at values 0 is largest and
      hardly depends on them.
    - `level`, float: in ``(0, 1)``.
    - Returns (n, 2) float.

    >>> absolute_interval([0.0, 10.0], 1.0, level=0.95).round(2).tolist()
    [[0.0, 1.64], [8.04, 11.96]]
    """
    observed = np.abs(np.atleast_1d(real(estimate))) / checks.positive(sd, "sd")
    near, regions = _regions(level)
    width = regions[-1, 1] - near[-1]
    lower = np.interp(observed, np.maximum.accumulate(regions[:, 1]), near)
    upper = np.interp(observed, np.maximum.accumulate(regions[:, 0]), near)
    far = observed > near[-1] - 2 * width
    return (
        np.stack(
            [np.where(far, observed - width, lower), np.where(far, observed + width, upper)], axis=1
        )
        * sd
    )


@cache
def _regions(level: float) -> tuple[Floats, Floats]:
    near = np.linspace(0, 12, 1201)
    return read_only(near), read_only(acceptance_region(near, level))


def _upper(low: Floats, mean: Floats, probability: float) -> Floats:
    """Return where an interval from `low` on ends that ``|N(mean, 1)|`` meets with a given probability, if any does."""
    reached = ndtr(low - mean) - ndtr(-low - mean) + probability
    near, far = (
        np.sqrt(chndtrix(reached, 1, np.minimum(mean, 10.0) ** 2)),
        mean + ndtri(np.minimum(reached, 1.0)),
    )
    return np.fmin(np.where(mean < 10, near, far), mean + 40.0)


def _log_ratio(x: Floats, mean: Floats) -> Floats:
    """Return ``ln f(x; mean) - max_m ln f(x; m)`` for the folded normal density ``f``.

    The maximiser solves ``m = x tanh(x m)``, 0 for ``x <= 1``.
    """
    best = x
    for _ in range(30):
        slope = np.tanh(x * best)
        best = np.maximum(best - (best - x * slope) / (1 - x**2 * (1 - slope**2)), 0.0)
    return _log_folded(x, mean) - _log_folded(x, best)


def _log_folded(x: Floats, mean: Floats) -> Floats:
    return np.asarray(np.logaddexp(-((x - mean) ** 2) / 2, -((x + mean) ** 2) / 2))
