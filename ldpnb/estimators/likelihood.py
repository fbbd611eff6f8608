"""Maximum-likelihood estimates of the distribution behind locally private reports.

Use `krr_mle` for k-ary randomised response: it is exact, takes O(k log k), and solves many data
sets at once. Use `support_mle` for protocols whose reports support a set of values (unary encoding,
subset selection), and `mle` for any other finite channel.

The likelihood is concave, so these two come with a certificate, a bound on the distance from the
maximum. An estimate that misses its tolerance is an error, never a result. A fit that is stopped
early is a different estimator: it is shrunk towards its starting point, and may look better than
the maximum.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, real
from ldpnb.estimators.frequency import project_simplex, support_size, unbiased, water_filling
from ldpnb.estimators.solvers import Supports, interior_point, proximal_newton
from ldpnb.mechanisms.registry import FrequencyMechanism

_FEW_VALUES = 32
"""Up to so many values, `support_mle` writes the channel down and leaves the rest to `mle`."""

_LARGEST_EPSILON = 70.0
"""Beyond this epsilon the estimate has the same digits: e^70 > 10^30."""


class NotCertifiedError(RuntimeError):
    """An iteration ended without a certificate that its result is the maximum."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A certified maximum-likelihood estimate.

    Attributes
    ----------
    estimate : ndarray, shape (..., k)
        A distribution, or several.
    gap : ndarray, shape (...)
        The log-likelihood of all users together is within this many nats of its maximum.
    """

    estimate: Floats
    gap: Floats


def krr_mle(tallies: ArrayLike, *, epsilon: float) -> Floats:
    """Return the exact maximum-likelihood estimate under k-ary randomised response.

    With ``c = e^epsilon - 1`` the estimate is ``s_x / lambda - 1/c`` on the values with the largest
    tallies, and 0 elsewhere. Here ``lambda = c S / (c + K)``, where ``S`` is the sum of the ``K``
    largest tallies, and ``K`` is the last rank whose tally exceeds ``S / (c + K)``.

    Parameters
    ----------
    tallies : array_like of int, shape (..., k)
        Number of reports of each value, fewer than 2^53 in all. Each row is a data set.
    epsilon : float
        Local privacy budget in nats, ``> 0``.

    Returns
    -------
    ndarray, shape (..., k)
        Estimated shares, which are not negative and sum to 1 along the last axis.

    Raises
    ------
    ValueError
        If a tally is negative or not whole, if there are no reports or too many, or if `epsilon` is
        outside its range.
    TypeError
        If the tallies are not numbers, have a mask, or are empty.

    See Also
    --------
    unbiased : The estimate that this one replaces where shares must not be negative.

    References
    ----------
    Equation (110) and Algorithm 1 of Lopuhaä-Zwakenberg et al. (2020), with the stopping rule
    corrected: values are removed until (110) is nowhere negative. ``S - u_K (c + K)`` never falls
    as K grows, so one sort finds the optimum.

    Examples
    --------
    At epsilon = ln 3, c is 2. With 70 and 30 reports both values are kept: lambda is 2 * 100 / 4,
    and the shares are 70/50 - 1/2 and 30/50 - 1/2. With 90 and 10 only the first one is.

    >>> krr_mle([70, 30], epsilon=np.log(3)).round(9).tolist()
    [0.9, 0.1]
    >>> krr_mle([90, 10], epsilon=np.log(3)).tolist()
    [1.0, 0.0]
    """
    contrast = math.expm1(min(checks.positive(epsilon, "epsilon"), _LARGEST_EPSILON))
    reports = _whole_tallies(tallies)
    kept, _, total = water_filling(reports, 0, contrast)

    # The estimate is slope * (tally - whole) + offset with a whole number near the threshold, from
    # which tallies are subtracted without rounding.
    is_alone = kept == 1
    whole = (total / (contrast + kept) + 0.5) // 1
    whole = np.where(is_alone, total, whole)
    slope = (1 + kept / contrast) / total

    # If one value alone is kept, its share is then exactly 1, and all others must fall below 0.
    slope = np.where(is_alone, slope * (1 + 1e-15), slope)
    offset = (whole + (kept * whole - total) / contrast) / total

    estimate: Floats = reports - whole
    estimate *= slope
    estimate += offset
    return estimate.clip(0.0, 1.0, out=estimate)


def mle(channel: ArrayLike, tallies: ArrayLike, *, tolerance: float = 1e-3) -> Fit:
    """Return the maximum-likelihood estimate of a distribution, for any finite channel.

    The estimate comes with a certificate: a bound on how far its likelihood is from the maximum. If
    the outputs that were seen do not determine the maximum, the estimate is one of several.

    Parameters
    ----------
    channel : array_like, shape (m, k)
        ``Q[y, x]``, the probability of output ``y`` given value ``x``. Rows may be scaled, and rows
        of outputs that were not seen are ignored.
    tallies : array_like of int, shape (..., m)
        How often each output was seen. Several data sets of one channel are solved together.
    tolerance : float, default 1e-3
        Largest shortfall of the log-likelihood that is accepted, in nats.

    Returns
    -------
    Fit
        `estimate`, shape (..., k), on the simplex, and `gap`, shape (...), the certified shortfall.

    Raises
    ------
    NotCertifiedError
        If the optimum is not certified to the tolerance.
    ValueError
        If the shapes differ, a tally is negative or not whole, there are no reports, or an output
        was seen that no value allows.
    TypeError
        If the tallies are not numbers, or have a mask.

    See Also
    --------
    krr_mle : The exact estimate for k-ary randomised response.
    support_mle : For unary encoding and subset selection, whose channels are too large to write.

    References
    ----------
    Equation (22) of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    Reports are true with probability 3/4. If 90 of 100 users hold the first value, 70 reports of it
    are expected.

    >>> mle([[0.75, 0.25], [0.25, 0.75]], [70, 30]).estimate.round(9).tolist()
    [0.9, 0.1]
    """
    rows = _channel(channel)
    reports = _tallies(tallies)
    if reports.shape[-1] != len(rows):
        raise ValueError(
            f"tallies must have one entry per output, {len(rows)}, got {reports.shape[-1]}"
        )

    data_sets = reports.reshape(-1, len(rows))
    users = data_sets.sum(axis=1)
    seen = data_sets.any(axis=0)
    rows = rows[seen]
    data_sets = data_sets[:, seen]
    if rows.max(axis=1).min() == 0:
        raise ValueError(
            "channel must allow every output that was seen, "
            "got one of probability 0 for every value"
        )

    target = checks.positive(tolerance, "tolerance") / users.max()
    estimates, gaps = interior_point(rows, data_sets / users[:, None], tolerance=target)
    shape = reports.shape[:-1]
    return _certified(estimates.reshape(*shape, -1), (users * gaps).reshape(shape), tolerance)


def support_mle(
    outputs: ArrayLike,
    tallies: ArrayLike,
    mechanism: FrequencyMechanism,
    *,
    tolerance: float = 1e-3,
) -> Fit:
    """Return the maximum-likelihood estimate if each report supports a set of values.

    The probability of a report that supports the set ``y`` is proportional to
    ``1 + (e^epsilon - 1) P(y)``, as it is for unary encoding with any ``p`` and ``q``, for subset
    selection and for k-ary randomised response. One iteration costs one pass over the reports'
    bytes. Only outputs that were seen contribute, so the ``2^k`` possible ones of unary encoding
    are no obstacle.

    Parameters
    ----------
    outputs : array_like of bool, shape (m, k) or (m, ceil(k / 8))
        The reports, or the distinct ones: 1 at each value that a report supports, and 0 elsewhere.
        `numpy.packbits` of them along the last axis take an eighth of the memory.
    tallies : array_like of int, shape (m,)
        How often each of them was seen.
    mechanism : FrequencyMechanism
        The protocol, of which ``p``, ``q`` and ``epsilon`` are used.
    tolerance : float, default 1e-3
        Largest shortfall of the log-likelihood that is accepted, in nats.

    Returns
    -------
    Fit
        `estimate`, shape (k,), on the simplex, and `gap`, the certified shortfall.

    Raises
    ------
    NotCertifiedError
        If the optimum is not certified to the tolerance.
    ValueError
        If the shapes differ, an output has entries other than 0 and 1, or supports another number
        of values than the mechanism's reports do, or a tally is negative or not whole.
    TypeError
        If outputs or tallies are not numbers, or have a mask.

    See Also
    --------
    mle : For any other channel.

    References
    ----------
    Equation (22) of Lopuhaä-Zwakenberg et al. (2020), who stop at ten values.

    Examples
    --------
    Under k-ary randomised response a report supports one value. At epsilon = ln 3 and two values it
    is true with probability 3/4.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> fit = support_mle(np.eye(2), [70, 30], KaryRandomisedResponse(np.log(3), 2))
    >>> fit.estimate.round(9).tolist()
    [0.9, 0.1]
    """
    size = mechanism.domain_size
    reports = checks.counts(tallies, "tallies")
    packed = _packed(outputs, reports.size, size)
    _check_support(packed, mechanism)

    users = int(reports.sum())
    contrast = float(np.expm1(mechanism.epsilon))
    scale = max(1.0, contrast)
    if size <= _FEW_VALUES:
        bits = np.unpackbits(packed, axis=1, count=size)
        return mle(1 / scale + contrast / scale * bits, reports, tolerance=tolerance)

    rows = Supports(
        packed=np.ascontiguousarray(packed.T),
        weights=reports / users,
        size=size,
        offset=1 / scale,
        contrast=contrast / scale,
    )
    centre = project_simplex(unbiased(users * rows.support(), users, mechanism))
    start = 0.98 * centre + 0.02 / size
    target = checks.positive(tolerance, "tolerance") / users
    estimate, gap = proximal_newton(rows, start, tolerance=target)
    return _certified(estimate, np.array(users * gap), tolerance)


def certificate_gap(channel: ArrayLike, tallies: ArrayLike, estimate: ArrayLike) -> float:
    """Return by how many nats a log-likelihood may fall short of its maximum.

    It is ``n (max_x G_x - 1)`` with ``G_x = sum_y (s_y / n) Q[y, x] / (Q p)_y``. These average to 1
    under the estimate ``p``, and at a maximum none of them exceeds 1.

    >>> round(certificate_gap([[0.75, 0.25], [0.25, 0.75]], [70, 30], [0.5, 0.5]), 9)
    20.0
    """
    rows = _channel(channel)
    reports = checks.counts(tallies, "tallies")
    point = checks.distribution(estimate, "estimate")
    if rows.shape != (reports.size, point.size):
        raise ValueError(f"channel must have shape {(reports.size, point.size)}, got {rows.shape}")

    seen = reports > 0
    gradient = (reports[seen] / (rows[seen] @ point)) @ rows[seen]
    return float(gradient.max() - reports.sum())


# Checks


def _packed(outputs: ArrayLike, reports: int, size: int) -> NDArray[np.uint8]:
    """Return the bits of outputs, eight in a byte, after checking them."""
    given = checks.real_array(outputs, "outputs")
    width = -(-size // 8)
    if given.dtype == np.uint8 and given.shape == (reports, width):
        if size % 8 and (given[:, -1] & (0xFF >> size % 8)).any():
            raise ValueError(
                f"outputs must have no bits beyond the {size} values, got some in their last bytes"
            )
        return given

    if given.dtype != np.uint8:
        given = checks.numbers(given, "outputs", low=0, high=1)
    if given.shape != (reports, size):
        shapes = f"{(reports, size)}, or {(reports, width)} packed"
        raise ValueError(f"outputs must have shape {shapes}, got {given.shape}")

    wrong = given[(given != 0) & (given != 1)]
    if wrong.size:
        raise ValueError(f"outputs must be bits, 0 or 1, got {wrong[0]:g}")
    return np.packbits(given.astype(np.uint8, copy=False), axis=1)


def _check_support(packed: NDArray[np.uint8], mechanism: FrequencyMechanism) -> None:
    """Refuse outputs with another number of bits than each report of the mechanism has."""
    support = support_size(mechanism)
    if support is None:
        return

    bits = np.bitwise_count(packed).sum(axis=1)
    wrong = np.flatnonzero(bits != support)
    if wrong.size:
        raise ValueError(
            f"outputs must support {support} of the values each, "
            f"got {bits[wrong[0]]} in outputs[{wrong[0]}]"
        )


def _certified(estimate: Floats, gap: Floats, tolerance: float) -> Fit:
    """Return estimates as a `Fit`, if all of them are certified to the tolerance."""
    worst = float(gap.max())
    if not worst <= tolerance:
        raise NotCertifiedError(
            f"the log-likelihood may be {worst:.3g} nats below its maximum, tolerance={tolerance:g}"
        )
    return Fit(estimate, gap)


def _whole_tallies(tallies: ArrayLike) -> Ints:
    """Return checked tallies as integers, at once where they are a vector of integers already."""
    array = checks.real_array(tallies, "tallies")
    if array.dtype == np.int64 and array.ndim == 1 and array.size:
        # Read as unsigned, the negative ones are the greatest.
        largest = array.item(array.view(np.uint64).argmax())
        if 0 < largest < 2**53 // array.size:
            return array
    return _tallies(array).astype(np.int64)


def _tallies(tallies: ArrayLike) -> Floats:
    """Return checked tallies of one data set or several."""
    array = checks.real_array(tallies, "tallies")
    if array.ndim == 0 or array.shape[-1] == 0:
        raise TypeError(f"tallies must be an array of numbers, got shape {array.shape}")

    reports = array.astype(float)
    are_whole = np.isfinite(reports) & (reports >= 0) & (reports == np.floor(reports))
    if not are_whole.all():
        raise ValueError(f"tallies must be whole numbers >= 0, got minimum {reports.min()}")

    sums = reports.sum(axis=-1)
    if not 0 < sums.min(initial=1) <= sums.max(initial=1) < 2**53:
        raise ValueError(
            f"tallies must have a positive sum below 2^53, got {sums.min():g} to {sums.max():g}"
        )
    return reports


def _channel(channel: ArrayLike) -> Floats:
    """Return a checked channel, whose rows may be scaled and so need not be probabilities."""
    rows = real(channel)
    if rows.ndim != 2 or not np.isfinite(rows).all() or rows.min() < 0:
        raise ValueError(f"channel must be a matrix of numbers >= 0, got shape {rows.shape}")
    return rows
