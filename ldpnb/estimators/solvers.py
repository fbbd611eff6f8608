"""Maximise a log-likelihood over the simplex, and say how far from the maximum the result can be.

The log-likelihood per user is ``sum_y w_y log (A p)_y`` with weights ``w`` that sum to 1. Use
`interior_point` for a channel: it solves many data sets at once, to machine precision. Use
`proximal_newton` for the packed bits of many reports, `Supports`, if there are many values.

With ``G_x = sum_y w_y A_yx / (A p)_y``, ``sum_x p_x G_x = 1`` at every point ``p`` of the simplex,
and concavity bounds the shortfall of the log-likelihood by ``max_x G_x - 1`` per user. Both solvers
return this gap; neither judges it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldpnb.arithmetic import Floats

_CHUNK = 2**15
"""Number of outputs that are looked at together."""

_PASSES = 60

MODEL_WORK = 4e10
"""Multiplications that a matrix of second derivatives may cost."""

_LARGE = 2**26
"""Number of bits beyond which such a matrix is kept while it serves."""

_LEAST = 1e-150
_RIDGE = 1e-11

_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(float)
"""The bits of every byte, of shape (256, 8)."""


# Outputs that each support a set of values


@dataclass(frozen=True, slots=True)
class Supports:
    """The outputs that were seen of a protocol whose reports support a set of values.

    The channel is ``A = offset + contrast * bits`` with ``contrast / offset = e^epsilon - 1``.

    Parameters
    ----------
    packed : ndarray of uint8, shape (ceil(k / 8), m)
        The bits, eight values in a byte as `numpy.packbits` orders them.
    weights : ndarray, shape (m,)
        Shares of the reports, which sum to 1.
    size : int
        Number ``k`` of values.
    offset, contrast : float
        The numbers above.
    """

    packed: NDArray[np.uint8]
    weights: Floats
    size: int
    offset: float
    contrast: float

    def evaluate(self, point: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood per user and ``G - 1`` at a point of the simplex."""
        fitted = self._fitted(point)
        ratios = self._sums(self.weights / fitted)
        value = float(self.weights @ np.log(fitted))
        return value, self.contrast * (ratios - point @ ratios)

    def curvature(self, point: Floats) -> Floats:
        """Return the negative Hessian per user on directions that sum to zero.

        If there are many outputs, it comes from an evenly spaced sample of them. Its diagonal is
        then at least the exact one: a rare value that the sample misses must not look free to move.
        """
        outputs = self.weights.size
        size = self.size
        fitted = self._fitted(point)

        number = min(outputs, max(20 * size, int(MODEL_WORK / size**2)))
        chosen = np.linspace(0, outputs - 1, number).astype(int)
        total: Floats = np.zeros((size, size))
        for some in np.array_split(chosen, max(1, chosen.size * size // 2**21)):
            bits = np.unpackbits(self.packed[:, some], axis=0, count=size).T
            scale = self.contrast * np.sqrt(self.weights[some]) / fitted[some]
            block = bits * scale.astype(np.float32)[:, None]
            total += block.T @ block

        if chosen.size < outputs:
            total /= self.weights[chosen].sum()
            diagonal = self.contrast**2 * self._sums(self.weights / fitted**2)
            total += np.diag(np.maximum(diagonal - np.diag(total), 0))
        return total

    def support(self) -> Floats:
        """Return the share of the reports that have each bit set."""
        return self._sums(self.weights)

    def _fitted(self, point: Floats) -> Floats:
        """Return ``A p``, of shape (m,). A table says what each byte adds."""
        padded = np.zeros(8 * len(self.packed))
        padded[: self.size] = point
        table = padded.reshape(-1, 8) @ _BYTES.T

        fitted = np.zeros(self.weights.size)
        for some in self._blocks():
            for row, column in zip(table, self.packed[:, some], strict=True):
                fitted[some] += row[column]
        return self.offset + self.contrast * fitted

    def _sums(self, numbers: Floats) -> Floats:
        """Add up numbers that belong to outputs, over the outputs that have each bit set."""
        totals = np.zeros((len(self.packed), 256))
        for some in self._blocks():
            for total, column in zip(totals, self.packed[:, some], strict=True):
                total += np.bincount(column, numbers[some], minlength=256)
        return (totals @ _BYTES).ravel()[: self.size]

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, self.weights.size, _CHUNK):
            yield slice(start, start + _CHUNK)


# A channel, for many data sets


def interior_point(channel: Floats, weights: Floats, *, tolerance: float) -> tuple[Floats, Floats]:
    """Maximise many likelihoods of one channel by a primal-dual interior point.

    It minimises ``-sum_y w_y log (A p)_y + sum_x p_x`` over ``p >= 0``, whose solution lies on the
    simplex by itself. Newton steps on the positive coordinates finish it.

    Parameters
    ----------
    channel : ndarray, shape (m, k)
        ``A``, each of whose rows has a positive entry.
    weights : ndarray, shape (draws, m)
        Shares of the outputs. Each row sums to 1.
    tolerance : float
        Gap ``max G - 1`` per user at which to stop.

    Returns
    -------
    estimates : ndarray, shape (draws, k)
        Points of the simplex.
    gaps : ndarray, shape (draws,)
        The gaps that were reached.
    """
    rows = channel / channel.max(axis=1, keepdims=True)
    size = rows.shape[1]
    primal = np.full((len(weights), size), 1 / size)
    dual = np.ones_like(primal)
    shrink = np.ones((len(weights), 1))

    for _ in range(61):
        gradient, curvature = _derivatives(rows, weights, primal)
        products = primal * dual
        is_near = _gaps(gradient, primal).max() <= tolerance
        if is_near and products.max() <= tolerance / size:
            break

        centre = products.mean(axis=1, keepdims=True) * shrink
        matrix = curvature + np.eye(size) * (dual / primal)[:, None, :]
        step = _solve(matrix, gradient - 1 + centre / primal)
        dual_step = centre / primal - dual - dual / primal * step

        reach = _stay_positive(primal, step)
        dual_reach = _stay_positive(dual, dual_step)
        primal = primal + reach * step
        dual = dual + dual_reach * dual_step
        shrink = np.clip((1 - np.minimum(reach, dual_reach)) ** 2, 0.01, 0.5)
    return _polish(rows, weights, primal, dual)


def _derivatives(rows: Floats, weights: Floats, point: Floats) -> tuple[Floats, Floats]:
    """Return gradients and curvatures.

    A ridge far above rounding is added to the curvatures, so that noise does not choose where the
    outputs leave a direction undetermined.
    """
    fitted = np.maximum(point @ rows.T, _LEAST)
    ratio = weights / fitted
    squared = ratio / fitted
    curvature = np.stack([(rows * one[:, None]).T @ rows for one in squared])
    ridge = _RIDGE * np.trace(curvature, axis1=1, axis2=2)
    return ratio @ rows, curvature + ridge[:, None, None] * np.eye(rows.shape[1])


def _gaps(gradient: Floats, point: Floats) -> Floats:
    """Return ``max G - 1`` at the normalised point; ``G`` is homogeneous of degree -1."""
    return gradient.max(axis=1) * point.sum(axis=1) - 1


def _solve(matrix: Floats, vector: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0], dtype=np.float64)


def _stay_positive(point: Floats, step: Floats) -> Floats:
    """Return how much of a step, at most 1, leaves all coordinates positive."""
    with np.errstate(over="ignore"):
        reach = np.divide(-point, step, out=np.full_like(step, np.inf), where=step < 0)
    return np.minimum(1, 0.995 * reach.min(axis=1, keepdims=True))


def _polish(rows: Floats, weights: Floats, primal: Floats, dual: Floats) -> tuple[Floats, Floats]:
    """Take Newton steps on the coordinates that stay positive.

    The result is kept where it is feasible and closer to the maximum.
    """
    support = primal > dual
    best = primal
    gradient, _ = _derivatives(rows, weights, best)
    least = _gaps(gradient, best)

    point = np.where(support, primal, 0)
    for _ in range(4):
        gradient, curvature = _derivatives(rows, weights, point)
        gaps = _gaps(gradient, point)
        closer = gaps < least
        best = np.where(closer[:, None], point, best)
        least = np.where(closer, gaps, least)

        both_positive = support[:, :, None] & support[:, None, :]
        matrix = np.where(both_positive, curvature, np.eye(rows.shape[1]))
        moved = point + _solve(matrix, np.where(support, gradient - 1, 0))
        point = np.where((moved >= 0).all(axis=1, keepdims=True), moved, point)
    return best / best.sum(axis=1, keepdims=True), least


# One likelihood with many coordinates


def proximal_newton(rows: Supports, start: Floats, *, tolerance: float) -> tuple[Floats, float]:
    """Maximise one likelihood with many coordinates by quadratic models on the simplex.

    If there are many outputs, a model is kept while it serves.

    Parameters
    ----------
    rows : Supports
        The outputs that were seen.
    start : ndarray, shape (k,)
        A point of the simplex with positive entries.
    tolerance : float
        Gap ``max G - 1`` per user at which to stop.

    Returns
    -------
    estimate : ndarray, shape (k,)
        A point of the simplex.
    gap : float
        The gap that was reached.
    """
    is_large = rows.weights.size * start.size > _LARGE
    point = start
    step = 1.0
    value, slope = rows.evaluate(point)
    curvature = rows.curvature(point)

    for _ in range(1, _PASSES):
        if slope.max() <= tolerance:
            break

        target = point + step * (_simplex_quadratic(curvature, slope, point) - point)
        reached, new_slope = rows.evaluate(target)
        if reached < value - 1e-14:
            step /= 2
            continue

        model_serves = is_large and new_slope.max() < slope.max() / 2
        point = target
        value = reached
        slope = new_slope
        step = min(1.0, 2 * step)
        if not model_serves:
            curvature = rows.curvature(point)
    return point, float(slope.max())


def _simplex_quadratic(curvature: Floats, slope: Floats, centre: Floats) -> Floats:
    """Maximise ``slope.d - d.curvature.d / 2`` over points of the simplex, ``d = point - centre``.

    The result is within a tenth of the gain.
    """
    size = centre.size
    point = 0.9 * centre + 0.1 / size
    dual = np.full(size, float(np.abs(slope).max()))
    shrink = 0.1

    for _ in range(60):
        gradient = slope - curvature @ (point - centre)
        gain = float((slope + gradient) @ (point - centre)) / 2
        most_to_gain = gradient.max() - point @ gradient
        if most_to_gain < max(0.1 * gain, 1e-16):
            break

        aim = shrink * float(point @ dual) / size / point
        matrix = curvature + np.diag(dual / point)
        sides = np.stack([gradient + aim, np.ones(size)], axis=1)
        solved, ones = np.linalg.solve(matrix, sides).T
        move = solved - (solved.sum() + point.sum() - 1) / ones.sum() * ones
        dual_move = aim - dual / point * move - dual

        both = np.stack([point, dual])
        moves = np.stack([move, dual_move])
        reach = float(_stay_positive(both, moves).min())
        point = point + reach * move
        dual = dual + reach * dual_move
        shrink = float(np.clip((1 - reach) ** 2, 0.01, 0.5))
    return point / point.sum()
