"""The unbiased frequency estimate of a pure protocol, and two ways onto the simplex: Norm-Sub and scaling."""

from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real, real
from ldpnb.mechanisms.registry import FrequencyMechanism

_SHORT = 256
"""Rows up to here are looked at whole, and many at once."""
_BLOCK = 128
"""Of longer ones, so many of the greatest heights first."""


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


def project_simplex(vector: ArrayLike) -> Floats:
    """Return the point of the probability simplex nearest to a vector (Euclidean), in O(k log k).

    This is Norm-Sub: subtract the constant that, after clipping at zero, leaves a sum of 1, along the last axis.
    Section 5 of lopuhaa2020 compares against it; the sort-and-threshold form is Held, Wolfe and Crowder (1974).

    >>> project_simplex([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
    """
    point = _finite(vector)
    heights = point.copy()
    kept, lowest, _ = filled(heights, 1)
    if isinstance(kept, int):
        above = np.add.accumulate(heights[-kept:] - lowest).item(-1)
    else:
        above = np.add.accumulate(np.maximum(heights - lowest, 0.0), axis=-1)[..., -1:]
    estimate: Floats = np.subtract(point, lowest, out=heights)
    estimate += (1 - above) / kept
    return np.maximum(estimate, 0.0, out=estimate)


def normal_offset(mechanism: FrequencyMechanism) -> Real:
    """Return ``q (1-q) / ((p-q) (1-p-q))``, for ``p + q < 1``: see `scale_simplex`.

    ``n`` times the variance of an unbiased estimate is proportional to the frequency plus this.
    """
    q, miss, gap = mechanism.q, mechanism.miss_rate, mechanism.truthful_rate
    return q * (miss + gap) / gap / (miss - q)


def scale_simplex(vector: ArrayLike, offset: float) -> Floats:
    """Return ``max(gamma (f + offset) - offset, 0)`` with the gamma that makes the sum 1, along the last axis.

    The vectors are nowhere below ``-offset``, and the offset is ``> 0``. With `normal_offset` this is the approximate
    maximum-likelihood estimate of Wang et al., "Locally differentially private frequency estimation with consistency"
    (2020), [25] in lopuhaa2020: normal errors whose variance depends on the frequency. With ``1 / (e^epsilon - 1)`` it
    is the exact one under k-ary randomised response, and as the offset grows it tends to Norm-Sub.

    >>> scale_simplex([0.75, 0.5, -0.25], 1.0).round(12).tolist()
    [0.615384615385, 0.384615384615, 0.0]
    """
    point = _finite(vector) + checks.positive(offset=offset)
    falling = np.sort(point, axis=-1)[..., ::-1]
    # 1 / gamma rises as long as entries are kept, and falls thereafter
    level = (np.cumsum(falling, axis=-1) / (1 + offset * np.arange(1, point.shape[-1] + 1))).max(axis=-1, keepdims=True)
    return np.maximum((point - offset * level) / level, 0)


def _finite(vector: ArrayLike) -> Floats:
    point = real(vector)
    entries = point.shape[-1:] not in ((), (0,))
    # where nan counts as the least; a search takes less than a minimum
    if entries and (not point.size or -np.inf < point.item(point.argmin()) <= point.item(point.argmax()) < np.inf):
        return point
    raise ValueError(f"vector must be finite with at least one entry, got shape {point.shape}")


def filled(heights: NDArray[Any], spare: Any, extra: float = 0.0) -> tuple[Any, Any, Any]:
    """Return the last rank K with ``(K + extra) h_K > S_K - spare``, ``h_K`` and ``S_K``, the sum of the K greatest.

    Puts these heights last, in order. For one long row, ``(k,)``, the results are numbers; otherwise ``(..., 1)``.
    """
    if heights.shape[-1] <= _SHORT or not heights.size:
        heights.sort(axis=-1)
        top = heights[..., -1:]
        falls = (top - heights)[..., ::-1]  # so that large numbers keep their digits
        sums, ranks = np.cumsum(falls, axis=-1), np.arange(1, heights.shape[-1] + 1)
        kept = ((ranks + extra) * falls < sums + (spare + extra * top)).sum(axis=-1, keepdims=True)
        fall, below = (np.take_along_axis(each, kept - 1, axis=-1) for each in (falls, sums))
        return kept, top - fall, kept * top - below
    if heights.ndim == 1:
        return _filled_row(heights, spare, extra)
    each = np.broadcast_to(spare, (*heights.shape[:-1], 1))
    filled_rows = map(_filled_row, heights.reshape(-1, heights.shape[-1]), each.flat, [extra] * each.size)
    kept, lowest, total = (np.reshape(some, each.shape) for some in zip(*filled_rows, strict=True))
    return kept, lowest, total


def _filled_row(row: NDArray[Any], spare: float, extra: float) -> tuple[int, Any, Any]:
    """Order a row block by block, up to the first whose last height is below the level, and take such heights off it.

    Without them the level is higher; the last rank is found where it leaves out none.
    """
    size, done, before, end = row.size, 0, 0, _BLOCK
    while True:
        if end < size:
            row[: size - done].partition(size - end)
        block = row[size - end : size - done]
        block.sort()
        top = row.item(-1)
        differences = (top - block)[::-1]  # so that large numbers keep their digits, and small `extra` counts
        falls, sums = differences.data, np.add.accumulate(differences).data  # much quicker to index than arrays
        below, poured = before + sums[-1], spare + extra * top
        if end == size or (end + extra) * falls[-1] >= below + poured:
            break
        done, before, end = end, below, min(8 * end, size)
    kept = end
    while (fewer := done + bisect_left(falls, (below + poured) / (kept + extra))) < kept:
        kept, below = fewer, before + (sums[fewer - done - 1] if fewer > done else 0)
    return kept, row.item(-kept), kept * top - below
