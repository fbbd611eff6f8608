"""From summed reports to group means, gaps, and confidence intervals for the size of a gap.

The *signed* gap is unbiased. Its absolute value is not: near 0 it reports noise as a gap.
`absolute_interval` gives a confidence interval for the size of the gap that keeps its level
everywhere, including at 0.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chndtrix, ndtr, ndtri

from ldpnb import checks
from ldpnb.arithmetic import Floats, read_only
from ldpnb.mechanisms.contrasts import Contrast
from ldpnb.mechanisms.groups import GroupMeans

# Means and gaps


def group_means(mechanism: GroupMeans, sums: ArrayLike, sizes: ArrayLike) -> Floats:
    """Estimate the mean value of each group, without bias.

    The estimate is ``sum / (gain n)``, where the mechanism's gain is the mean report of a user per
    unit of the value.

    Parameters
    ----------
    mechanism : DiscretisedMeans or LaplaceMeans
        The mechanism that made the reports.
    sums : array_like, shape (..., groups)
        Sum of the values that were reported for each group, as `sample_sums` draws them.
    sizes : array_like of int, shape (groups,)
        Known number ``n`` of users of each group, at least 1.

    Returns
    -------
    ndarray, shape (..., groups)
        Estimated means. True means lie in ``[-1, 1]``; estimates may leave that range.

    Raises
    ------
    ValueError
        If the sums are not finite, or there is not one for each group.
    TypeError
        If the sums are not numbers, or have a mask.

    See Also
    --------
    signed_gap : The gap between the first two means.

    References
    ----------
    Definition 5.1 of Juarez and Korolova (2022).

    Examples
    --------
    At ``eps1 = eps2 = ln 3`` a user keeps the group with probability 3/4, and the sign of a value 1
    is reported as 1 with probability 3/4. The gain is 3/4 (2 * 3/4 - 1) = 3/8.

    >>> from ldpnb.mechanisms.groups import DiscretisedMeans
    >>> mechanism = DiscretisedMeans(np.log(3), np.log(3))
    >>> group_means(mechanism, [30.0, -15.0], [100, 80]).round(9).tolist()
    [0.8, -0.5]
    """
    numbers = checks.counts(sizes, "sizes", minimum_size=2, least=1)
    reported = checks.finite(sums, "sums")
    if reported.shape[-1:] != numbers.shape:
        raise ValueError(
            f"sums must have one entry per group on the last axis, {numbers.size}, "
            f"got shape {reported.shape}"
        )
    return np.asarray(reported / (mechanism.gain * numbers))


def signed_gap(means: ArrayLike) -> Floats:
    """Return the gap between two groups: the first group's mean minus the second's.

    Parameters
    ----------
    means : array_like, shape (..., groups)
        Means of two groups or more, such as `group_means` returns.

    Returns
    -------
    ndarray, shape (...)
        The gap, between -2 and 2 for means in ``[-1, 1]``. It is unbiased if the means are.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or a mean is not finite.
    TypeError
        If the means are not numbers, or have a mask.

    See Also
    --------
    absolute_interval : A confidence interval for the size of the gap.

    References
    ----------
    Section 5 of Juarez and Korolova (2022).

    Examples
    --------
    >>> signed_gap([0.75, 0.25]).tolist()
    0.5
    """
    array = checks.finite(means, "means")
    if not array.ndim or array.shape[-1] < 2:
        raise ValueError(f"means must be those of two groups or more, got shape {array.shape}")
    return np.asarray(array[..., 0] - array[..., 1])


def contrast_gap(mechanism: Contrast, sums: ArrayLike) -> Floats:
    """Return the unbiased estimate of the signed gap from a sum of single numbers.

    It is ``sum / (gain n_min)``, where ``n_min`` is the size of the smaller of the two groups.
    """
    return np.asarray(checks.finite(sums, "sums") / (mechanism.gain * min(mechanism.sizes[:2])))


# Intervals


def acceptance_region(mean: ArrayLike, level: float) -> Floats:
    """Return, for each mean, which values of ``|N(mean, 1)|`` do not speak against it.

    It is an interval of given probability. Values are ranked by the likelihood ratio
    ``f(x; mean) / max_m f(x; m)`` (Feldman and Cousins 1998): near 0 the interval is one-sided, far
    away it is ``mean +- z``, with a smooth transition. It is found by bisection on its lower end.

    Parameters
    ----------
    mean : array_like, shape (m,)
        Means ``>= 0``.
    level : float
        The probability, in ``(0, 1)``.

    Returns
    -------
    ndarray, shape (m, 2)
        Lower and upper ends.
    """
    centre = np.atleast_1d(np.asarray(mean, dtype=float))
    probability = checks.open_probability(level, "level")

    low = np.zeros(centre.size)
    high = centre + 40.0
    for _ in range(60):
        middle = (low + high) / 2
        end = _upper(middle, centre, probability)
        is_too_low = _log_ratio(middle, centre) < _log_ratio(end, centre)
        low = np.where(is_too_low, middle, low)
        high = np.where(is_too_low, high, middle)

    zero = np.zeros(centre.size)
    end = _upper(zero, centre, probability)
    starts_at_zero = _log_ratio(zero, centre) >= _log_ratio(end, centre)
    start = np.where(starts_at_zero, 0.0, low)
    return np.stack([start, _upper(start, centre, probability)], axis=1)


def absolute_interval(estimate: ArrayLike, sd: float, *, level: float = 0.99) -> Floats:
    """Return confidence intervals for the size of a gap, from normal estimates of the signed gap.

    An interval consists of all gaps whose `acceptance_region` contains the estimate. The coverage
    is `level` for every gap. Intervals are never empty, and start at 0 if the data do not exclude
    it.

    Parameters
    ----------
    estimate : array_like, shape (n,)
        Unbiased estimates of the signed gap, or their absolute values.
    sd : float
        Their standard deviation, ``> 0``. Under `SignedBit` and `DiscretisedMeans` it depends
        little on the users' values, and is largest if all of them are 0.
    level : float, default 0.99
        The coverage, in ``(0, 1)``.

    Returns
    -------
    ndarray, shape (n, 2)
        Lower and upper ends, ``>= 0``, in the unit of `estimate`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or an estimate is not finite.
    TypeError
        If the estimates are not numbers, or have a mask.

    See Also
    --------
    signed_gap : The estimate.

    References
    ----------
    Feldman and Cousins (1998), "Unified approach to the classical statistical analysis of small
    signals". Juarez and Korolova (2022) have no interval.

    Examples
    --------
    Far from 0 the interval is the usual one, 10 - 1.96 to 10 + 1.96. At 0 it is one-sided.

    >>> absolute_interval([0.0, 10.0], 1.0, level=0.95).round(2).tolist()
    [[0.0, 1.64], [8.04, 11.96]]
    """
    observed = np.abs(np.atleast_1d(checks.finite(estimate, "estimate"))) / checks.positive(
        sd, "sd"
    )
    near, regions = _regions(level)
    width = regions[-1, 1] - near[-1]
    lower = np.interp(observed, np.maximum.accumulate(regions[:, 1]), near)
    upper = np.interp(observed, np.maximum.accumulate(regions[:, 0]), near)

    is_far = observed > near[-1] - 2 * width
    lower = np.where(is_far, observed - width, lower)
    upper = np.where(is_far, observed + width, upper)
    return np.stack([lower, upper], axis=1) * sd


@cache
def _regions(level: float) -> tuple[Floats, Floats]:
    """Return means up to 12, and their acceptance regions."""
    near = np.linspace(0, 12, 1201)
    return read_only(near), read_only(acceptance_region(near, level))


def _upper(low: Floats, mean: Floats, probability: float) -> Floats:
    """Return the upper end of an interval that ``|N(mean, 1)|`` meets with a given probability.

    There is none if too little of the distribution lies above `low`.
    """
    reached = ndtr(low - mean) - ndtr(-low - mean) + probability
    near = np.sqrt(chndtrix(reached, 1, np.minimum(mean, 10.0) ** 2))
    far = mean + ndtri(np.minimum(reached, 1.0))
    return np.fmin(np.where(mean < 10, near, far), mean + 40.0)


def _log_ratio(x: Floats, mean: Floats) -> Floats:
    """Return ``ln f(x; mean) - max_m ln f(x; m)`` for the folded normal density ``f``.

    The maximiser solves ``m = x tanh(x m)``; it is 0 for ``x <= 1``.
    """
    best = x
    for _ in range(30):
        slope = np.tanh(x * best)
        best = np.maximum(best - (best - x * slope) / (1 - x**2 * (1 - slope**2)), 0.0)
    return _log_folded(x, mean) - _log_folded(x, best)


def _log_folded(x: Floats, mean: Floats) -> Floats:
    return np.asarray(np.logaddexp(-((x - mean) ** 2) / 2, -((x + mean) ** 2) / 2))
