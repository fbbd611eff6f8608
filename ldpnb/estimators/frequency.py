"""The unbiased frequency estimate of a pure protocol, and two ways onto the simplex: Norm-Sub and scaling."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Real, real
from ldpnb.mechanisms.frequency import FrequencyMechanism

SHORT = 256
"""Rows up to here are looked at whole, and many at once."""
_BLOCK = 128
"""Of longer ones, so many of the largest first."""


def unbiased(tallies: Real, users: Real, mechanism: FrequencyMechanism) -> Real:
    """Return the unbiased estimate ``(tallies/users - q) / (p - q)`` of the users' frequencies.

    The tallies, ``(..., k)``, say how many of the users' reports support each value. Estimates may leave ``[0, 1]``.
    Equation (2) of biswas2022 divided by the number of users; Section 2 of lopuhaa2020.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> unbiased([70, 30], 100, KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [0.9, 0.1]
    """
    reports = checks.numbers(users=users, low=1)
    return mechanism._holders(real(tallies), reports) / reports


def project_simplex(vector: ArrayLike) -> NDArray[np.float64]:
    """Return the point of the probability simplex nearest to a vector (Euclidean), in O(k log k).

    This is Norm-Sub: subtract the constant that, after clipping at zero, leaves a sum of 1, along the last axis.
    Section 5 of lopuhaa2020 compares against it; the sort-and-threshold form is Held, Wolfe and Crowder (1974).

    >>> project_simplex([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    point, rising = _sorted(vector)
    kept, least, _ = kept_largest(rising, 0.0, 1)
    if isinstance(kept, int):
        above = np.add.accumulate(rising[-kept:] - least).item(-1)
    else:
        above = np.add.accumulate(np.maximum(rising - least, 0.0), axis=-1)[..., -1:]
    estimate: NDArray[np.float64] = point - least
    estimate += (1 - above) / kept
    return np.maximum(estimate, 0.0, out=estimate)


def normal_offset(mechanism: FrequencyMechanism) -> Real:
    """Return ``q (1-q) / ((p-q) (1-p-q))``, for ``p + q < 1``: see `scale_simplex`.

    ``n`` times the variance of an unbiased estimate is proportional to the frequency plus this.
    """
    q, miss, gap = mechanism.q, mechanism.miss_rate, mechanism.truthful_rate
    return q * (miss + gap) / gap / (miss - q)


def scale_simplex(vector: ArrayLike, offset: float) -> NDArray[np.float64]:
    """Return ``max(gamma (f + offset) - offset, 0)`` with the gamma that makes the sum 1, along the last axis.

    The vectors are nowhere below ``-offset``, and the offset is ``> 0``. With `normal_offset` this is the approximate
    maximum-likelihood estimate of Wang et al., "Locally differentially private frequency estimation with consistency"
    (2020), [25] in lopuhaa2020: normal errors whose variance depends on the frequency. With ``1 / (e^epsilon - 1)`` it
    is the exact one under k-ary randomised response, and as the offset grows it tends to Norm-Sub.

    >>> scale_simplex([0.75, 0.5, -0.25], 1.0).round(12).tolist()
    [0.615384615385, 0.384615384615, 0.0]
    """
    given, rising = _sorted(vector)
    point, falling = given + checks.positive(offset=offset), rising[..., ::-1] + offset
    # 1 / gamma rises as long as entries are kept, and falls thereafter
    level = (np.cumsum(falling, axis=-1) / (1 + offset * np.arange(1, point.shape[-1] + 1))).max(axis=-1, keepdims=True)
    estimate: NDArray[np.float64] = np.maximum((point - offset * level) / level, 0)
    return estimate


def _sorted(vector: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the vector, checked to be finite, and a sorted copy, whose ends suffice to check a single row."""
    point = real(vector)
    if point.shape[-1:] not in ((), (0,)):
        rising = point.copy()
        rising.sort(axis=-1)
        alone = point.ndim == 1 and -np.inf < rising.item(0) <= rising.item(-1) < np.inf
        if alone or np.count_nonzero(np.isfinite(point)) == point.size:
            return point, rising
    raise ValueError(f"vector must be finite with at least one entry, got shape {point.shape}")


def kept_largest(rising: NDArray[Any], extra: float, lack: int) -> tuple[Any, Any, Any]:
    """Return the last rank K from above with ``(K + extra) v_K > S_K - lack``, ``v_K``, and the sum of the K largest.

    The difference of the two sides falls as K grows, so bisection finds it. For one long row, ``(k,)``, the results are
    numbers; otherwise they are ``(..., 1)``.
    """
    if rising.shape[-1] <= SHORT:
        top = rising[..., -1:]
        falling = rising[..., ::-1] - top  # so that large numbers keep their digits
        sums, ranks = np.cumsum(falling, axis=-1), np.arange(1, falling.shape[-1] + 1)
        kept = (extra * (falling + top) > sums - ranks * falling - lack).sum(axis=-1, keepdims=True)
        least, total = (np.take_along_axis(each, kept - 1, axis=-1) for each in (falling, sums))
        return kept, least + top, total + kept * top
    if rising.ndim == 1:
        return bisected(rising, extra, lack, rising.size)
    found = zip(*[bisected(row, extra, lack, row.size) for row in rising.reshape(-1, rising.shape[-1])], strict=True)
    kept, least, total = (np.reshape(each, (*rising.shape[:-1], 1)) for each in found)
    return kept, least, total


def bisected(rising: NDArray[Any], extra: float, lack: int, ordered: int) -> tuple[int, Any, Any]:
    """Sum one row block by block, up to the first block whose last value is not kept, and bisect that one.

    Only so many of the largest are in order yet; the others are put in order as far as they are looked at.
    """
    size, done, before, end = rising.size, 0, 0, min(_BLOCK, rising.size)
    top = rising.item(-1) if rising.dtype.kind == "f" else 0
    while True:
        if end > ordered:
            unseen = rising[: size - done]
            if end < size:
                unseen.partition(size - end)
            unseen[done - end :].sort()
        falling = rising[size - end : size - done][::-1]
        if top:
            falling = falling - top  # so that large numbers keep their digits
        values, sums = falling.data, np.add.accumulate(falling).data  # much quicker to index than arrays
        total = before + sums[-1]
        if end == size or extra * (values[-1] + top) <= total - end * values[-1] - lack:
            break
        done, before, end = end, total, min(8 * end, size)
    low, high, after, lack = 0, end - done, done + 1, before - lack
    while low < high:
        middle = (low + high) >> 1
        value = values[middle]
        if extra * (value + top) > lack + sums[middle] - (after + middle) * value:
            low = middle + 1
        else:
            high = middle
    kept = done + low
    return kept, rising.item(-kept), before + (sums[low - 1] if low else 0) + kept * top
