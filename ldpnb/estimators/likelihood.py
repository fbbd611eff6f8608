"""Maximum-likelihood estimates of the distribution behind locally private reports, each with a certificate.

Use `krr_mle` for k-ary randomised response (exact, O(k log k), many data sets at once), `support_mle` for protocols
whose reports support a set of values (unary encoding, subset selection), and `mle` for any other finite channel. The
likelihood is concave, so every estimate comes with a bound on its distance from the maximum, and one that misses its
tolerance is an error, never a result. A fit that is stopped early is a different estimator: it is shrunk towards its
starting point, and may look better than the maximum.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, real
from ldpnb.estimators.frequency import project_simplex, unbiased, water_filling
from ldpnb.estimators.solvers import Supports, interior_point, proximal_newton
from ldpnb.mechanisms.registry import FrequencyMechanism

_SHORT = 32
_PLAIN = 70.0
"""Beyond this epsilon no digit changes: e^70 > 10^30."""


class NotCertifiedError(RuntimeError):
    """An iteration ended without a certificate that its result is the maximum-likelihood estimate."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A certified maximum-likelihood estimate.

    - `estimate`, (..., k) float: on the simplex.
    - `gap`, (...) float: the log-likelihood of all users together is within this many nats of its maximum.
    """

    estimate: Floats
    gap: Floats


def krr_mle(tallies: ArrayLike, *, epsilon: float) -> Floats:
    """Return the exact maximum-likelihood estimate under k-ary randomised response, in O(k log k).

    With ``c = e^epsilon - 1`` the estimate is ``s_x / lambda - 1/c`` on the values with the largest tallies and 0
    elsewhere, where ``lambda = c S / (c + K)`` belongs to S, the sum of the K largest tallies, and K is the last rank
    whose tally exceeds ``S / (c + K)``.

    Equation (110) and Algorithm 1 of lopuhaa2020, with the stopping rule put right: values are removed until (110) is
    nonnegative everywhere. ``S - u_K (c + K)`` never falls as K grows, so one sort finds the optimum. Tallies,
    ``(..., k)``, are the reports of each value, fewer than 2^53 in all.

    >>> krr_mle([70, 30], epsilon=np.log(3)).round(9).tolist()
    [0.9, 0.1]
    >>> krr_mle([90, 10], epsilon=np.log(3)).tolist()
    [1.0, 0.0]
    """
    contrast = math.expm1(min(checks.positive(epsilon, "epsilon"), _PLAIN))
    reports = _whole_tallies(tallies)
    kept, _, total = water_filling(reports, 0, contrast)
    alone = kept == 1  # so that its share is 1 exactly, and all others fall below 0
    # near the threshold: beyond it little cancels, and that in whole numbers
    whole = (total / (contrast + kept) + 0.5) // 1
    whole += alone * (total - whole)
    slope = (1 + kept / contrast) / total * (1 + 1e-15 * alone)
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
        ``Q[y, x]``, the probability of output ``y`` given value ``x``. Rows may be scaled, and rows of
        outputs that were not seen are ignored.
    tallies : array_like of int, shape (..., m)
        How often each output was seen. Several data sets of one channel are solved together.
    tolerance : float, optional
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
        If the shapes differ, or an output was seen that no value allows.

    See Also
    --------
    krr_mle : The exact estimate for k-ary randomised response.
    support_mle : For unary encoding and subset selection, whose channels are too large to write down.

    References
    ----------
    Equation (22) of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    Reports are true with chance 3/4. If 90 of 100 users hold the first value, 70 of it are expected.

    >>> mle([[0.75, 0.25], [0.25, 0.75]], [70, 30]).estimate.round(9).tolist()
    [0.9, 0.1]
    """
    rows, reports = _channel(channel), _tallies(tallies)
    if reports.shape[-1] != len(rows):
        raise ValueError(
            f"tallies must have one entry per output, {len(rows)}, got {reports.shape[-1]}"
        )
    flat = reports.reshape(-1, len(rows))
    seen = flat.any(axis=0)
    rows, flat, users = rows[seen], flat[:, seen], flat.sum(axis=1)
    if rows.max(axis=1).min() == 0:
        raise ValueError(
            "channel must allow every output that was seen, got one of probability 0 for every value"
        )
    target = checks.positive(tolerance, "tolerance") / users.max()
    estimates, gaps = interior_point(rows, flat / users[:, None], tolerance=target)
    shape = reports.shape[:-1]
    return _certified(estimates.reshape(*shape, -1), (users * gaps).reshape(shape), tolerance)


def support_mle(
    outputs: ArrayLike,
    tallies: ArrayLike,
    mechanism: FrequencyMechanism,
    *,
    tolerance: float = 1e-3,
) -> Fit:
    """Return the maximum-likelihood estimate for reports that each support a set of values, with its certificate.

    The probability of a report that supports the set ``y`` is proportional to ``1 + (e^epsilon - 1) P(y)``, as for
    unary encoding with any p and q, subset selection and k-ary randomised response. One iteration costs one pass over
    the reports' bytes. Equation (22) of lopuhaa2020, whose authors stop at ten values because of the ``2^k`` possible
    outputs of unary encoding; only those that were seen contribute.

    - `outputs`, (m, k) bits: reports, or the distinct ones: which values each supports. In an eighth of the memory,
      `numpy.packbits` of them along their last axis, ``(m, ceil(k / 8))``.
    - `tallies`, (m,) int: how often each was seen.
    - `mechanism`, FrequencyMechanism: its ``p``, ``q`` and ``epsilon``.
    - `tolerance`, and NotCertifiedError: as for `mle`.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> support_mle(np.eye(2), [70, 30], KaryRandomisedResponse(np.log(3), 2)).estimate.round(9).tolist()
    [0.9, 0.1]
    """
    size, reports = mechanism.domain_size, checks.counts(tallies, "tallies")
    packed = _packed(outputs, reports.size, size)
    users, contrast = int(reports.sum()), float(np.expm1(mechanism.epsilon))
    scale = max(1.0, contrast)
    if size <= _SHORT:
        bits = np.unpackbits(packed, axis=1, count=size)
        return mle(1 / scale + contrast / scale * bits, reports, tolerance=tolerance)
    rows = Supports(
        np.ascontiguousarray(packed.T), reports / users, size, 1 / scale, contrast / scale
    )
    centre = project_simplex(unbiased(users * rows.support(), users, mechanism))
    start = 0.98 * centre + 0.02 / size
    target = checks.positive(tolerance, "tolerance") / users
    estimate, gap = proximal_newton(rows, start, tolerance=target)
    return _certified(estimate, np.array(users * gap), tolerance)


def certificate_gap(channel: ArrayLike, tallies: ArrayLike, estimate: ArrayLike) -> float:
    """Return by how many nats the log-likelihood may fall short of its maximum: ``n (max_x G_x - 1)``.

    ``G_x = sum_y (s_y / n) Q[y, x] / (Q p)_y`` averages to 1 under p, and equals 1 at most at a maximum.

    >>> round(certificate_gap([[0.75, 0.25], [0.25, 0.75]], [70, 30], [0.5, 0.5]), 9)
    20.0
    """
    rows, reports, point = (
        _channel(channel),
        checks.counts(tallies, "tallies"),
        checks.distribution(estimate, "estimate"),
    )
    seen = reports > 0
    gradient = (reports[seen] / (rows[seen] @ point)) @ rows[seen]
    return float(gradient.max() - reports.sum())


def _packed(outputs: ArrayLike, reports: int, size: int) -> NDArray[np.uint8]:
    """Return the bits of outputs, eight a byte, after checking them."""
    given, width = np.asarray(outputs), -(-size // 8)
    if given.dtype == np.uint8 and given.shape == (reports, width):
        if size % 8 and (given[:, -1] & (0xFF >> size % 8)).any():
            raise ValueError(
                f"outputs must have no bits beyond the {size} values, got some in their last bytes"
            )
        return given
    numbers = (
        given if given.dtype == np.uint8 else checks.numbers(outputs, "outputs", low=0, high=1)
    )
    if numbers.shape != (reports, size):
        shapes = f"{(reports, size)}, or {(reports, width)} packed"
        raise ValueError(f"outputs must have shape {shapes}, got {numbers.shape}")
    wrong = numbers[(numbers != 0) & (numbers != 1)]
    if wrong.size:
        raise ValueError(f"outputs must be bits, 0 or 1, got {wrong[0]:g}")
    return np.packbits(numbers.astype(np.uint8, copy=False), axis=1)


def _certified(estimate: Floats, gap: Floats, tolerance: float) -> Fit:
    worst = float(gap.max())
    if not worst <= tolerance:
        raise NotCertifiedError(
            f"the log-likelihood may be {worst:.3g} nats below its maximum, tolerance={tolerance:g}"
        )
    return Fit(estimate, gap)


def _whole_tallies(tallies: ArrayLike) -> Ints:
    reports = np.asarray(tallies)
    if reports.dtype == np.int64 and reports.ndim == 1 and reports.size:
        most = reports.item(
            reports.view(np.uint64).argmax()
        )  # where negative ones are the greatest
        if 0 < most < 2**53 // reports.size:
            return reports
    return _tallies(tallies).astype(np.int64)


def _tallies(tallies: ArrayLike) -> Floats:
    array = np.asarray(tallies)
    if array.dtype.kind not in "iuf" or array.ndim == 0 or array.shape[-1] == 0:
        raise TypeError(
            f"tallies must be an array of numbers, got dtype {array.dtype}, shape {array.shape}"
        )
    reports = array.astype(float)
    if not ((reports >= 0) & (reports == np.floor(reports))).all():
        raise ValueError(f"tallies must be whole numbers >= 0, got minimum {reports.min()}")
    sums = reports.sum(axis=-1)
    if not 0 < sums.min(initial=1) <= sums.max(initial=1) < 2**53:
        raise ValueError(
            f"tallies must have a positive sum below 2^53, got {sums.min():g} to {sums.max():g}"
        )
    return reports


def _channel(channel: ArrayLike) -> Floats:
    rows = real(channel)
    if rows.ndim != 2 or not np.isfinite(rows).all() or rows.min() < 0:
        raise ValueError(f"channel must be a matrix of numbers >= 0, got shape {rows.shape}")
    return rows
