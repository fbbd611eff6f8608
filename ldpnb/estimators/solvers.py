"""Maximise ``sum_y w_y log (A p)_y`` over the simplex and say how far from the maximum the result can be.

Use `interior_point` for a channel: it solves many data sets at once, to machine precision. Use `proximal_newton` for
the packed bits of many reports, `Supports`, when the parameter is long.

With ``G_x = sum_y w_y A_yx / (A p)_y`` and weights that sum to 1, ``sum_x p_x G_x = 1`` at every p of the simplex, and
concavity bounds the shortfall of the log-likelihood by ``max_x G_x - 1`` per user. Both solvers return this gap;
neither judges it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldpnb.arithmetic import Floats

_CHUNK, _PASSES = 2**15, 60
_MODEL_WORK = 4e10
_LARGE = 2**26
_LEAST = 1e-150
_RIDGE = 1e-11
_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(float)
"""The bits of every byte, ``(256, 8)``."""


@dataclass(frozen=True, slots=True)
class Supports:
    """The outputs seen of a support protocol, ``A = offset + contrast * bits`` with ``contrast / offset = e^eps - 1``.

    - `packed`, (ceil(k / 8), m) uint8: the bits, eight values a byte as `numpy.packbits` orders them.
    - `weights`, (m,) float: shares of the reports, summing to 1.
    - `size`, int: the number of values, k.
    """

    packed: NDArray[np.uint8]
    weights: Floats
    size: int
    offset: float
    contrast: float

    def evaluate(self, point: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood per user and ``G - 1`` at a point of the simplex."""
        fitted = self._fitted(point)
        pulled = self._sums(self.weights / fitted)
        return float(self.weights @ np.log(fitted)), self.contrast * (pulled - point @ pulled)

    def curvature(self, point: Floats) -> Floats:
        """Return the negative Hessian per user on directions that sum to zero.

        Where the rows are many it comes from an evenly spaced sample of them, with a diagonal that is at least the
        exact one: a rare value that the sample misses must not look free to move.
        """
        outputs, size = self.weights.size, self.size
        fitted = self._fitted(point)
        chosen = np.linspace(
            0, outputs - 1, min(outputs, max(20 * size, int(_MODEL_WORK / size**2)))
        ).astype(int)
        total: Floats = np.zeros((size, size))
        for some in np.array_split(chosen, max(1, chosen.size * size // 2**21)):
            bits = np.unpackbits(self.packed[:, some], axis=0, count=size).T
            block = (
                bits
                * (self.contrast * np.sqrt(self.weights[some]) / fitted[some]).astype(np.float32)[
                    :, None
                ]
            )
            total += block.T @ block
        if chosen.size < outputs:
            total /= self.weights[chosen].sum()
            own = self.contrast**2 * self._sums(self.weights / fitted**2)
            total += np.diag(np.maximum(own - np.diag(total), 0))
        return total

    def support(self) -> Floats:
        """Return the share of the reports that have each bit set."""
        return self._sums(self.weights)

    def _fitted(self, point: Floats) -> Floats:
        """Return ``A p``, ``(m,)``: a table says what each byte adds."""
        padded = np.zeros(8 * len(self.packed))
        padded[: self.size] = point
        table, fitted = padded.reshape(-1, 8) @ _BYTES.T, np.zeros(self.weights.size)
        for some in self._blocks():
            for row, column in zip(table, self.packed[:, some], strict=True):
                fitted[some] += row[column]
        return self.offset + self.contrast * fitted

    def _sums(self, numbers: Floats) -> Floats:
        """Return the sum of the outputs' numbers, ``(m,)``, over those that have each bit set, ``(k,)``."""
        totals = np.zeros((len(self.packed), 256))
        for some in self._blocks():
            for total, column in zip(totals, self.packed[:, some], strict=True):
                total += np.bincount(column, numbers[some], minlength=256)
        return (totals @ _BYTES).ravel()[: self.size]

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, self.weights.size, _CHUNK):
            yield slice(start, start + _CHUNK)


def interior_point(channel: Floats, weights: Floats, *, tolerance: float) -> tuple[Floats, Floats]:
    """Maximise many likelihoods of one channel by a primal-dual interior point with an active-set polish.

    Minimises ``-sum_y w_y log (A p)_y + sum_x p_x`` over ``p >= 0``, whose solution lies on the simplex by itself.

    - `channel`, (m, k) float: ``A``; every row has a positive entry.
    - `weights`, (draws, m) float: each row sums to 1.
    - `tolerance`, float: gap ``max G - 1`` per user at which to stop; the gaps reached come with the estimates.
    """
    rows = channel / channel.max(axis=1, keepdims=True)
    primal = np.full((len(weights), rows.shape[1]), 1 / rows.shape[1])
    dual, shrink = np.ones_like(primal), np.ones((len(weights), 1))
    for _ in range(61):
        gradient, curvature = _derivatives(rows, weights, primal)
        products = primal * dual
        if (
            _gaps(gradient, primal).max() <= tolerance
            and products.max() <= tolerance / rows.shape[1]
        ):
            break
        centre = products.mean(axis=1, keepdims=True) * shrink
        bend = curvature + np.eye(rows.shape[1]) * (dual / primal)[:, None, :]
        step = _solve(bend, gradient - 1 + centre / primal)
        dual_step = centre / primal - dual - dual / primal * step
        reach, dual_reach = _stay_positive(primal, step), _stay_positive(dual, dual_step)
        primal, dual = primal + reach * step, dual + dual_reach * dual_step
        shrink = np.clip((1 - np.minimum(reach, dual_reach)) ** 2, 0.01, 0.5)
    return _polish(rows, weights, primal, dual)


def proximal_newton(rows: Supports, start: Floats, *, tolerance: float) -> tuple[Floats, float]:
    """Maximise one likelihood with many coordinates by quadratic models on the simplex.

    Where the rows are many a model is kept while it serves.

    - `start`, (k,) float: a point of the simplex with positive entries.
    - `tolerance`, float: gap per user at which to stop.
    - Returns the estimate, (k,) float, and its gap, ``max G - 1``.
    """
    point, step, many = start, 1.0, rows.weights.size * start.size > _LARGE
    value, slope = rows.evaluate(point)
    bend = rows.curvature(point)
    for _ in range(1, _PASSES):
        if slope.max() <= tolerance:
            break
        target = point + step * (_simplex_quadratic(bend, slope, point) - point)
        reached, new_slope = rows.evaluate(target)
        if reached < value - 1e-14:
            step /= 2
            continue
        faithful = many and new_slope.max() < slope.max() / 2
        point, value, slope, step = target, reached, new_slope, min(1.0, 2 * step)
        bend = bend if faithful else rows.curvature(point)
    return point, float(slope.max())


def _simplex_quadratic(bend: Floats, slope: Floats, centre: Floats) -> Floats:
    """Return the point that maximises ``slope.d - d.bend.d / 2``, ``d = point - centre``, to a tenth of the gain."""
    size = centre.size
    point, dual, shrink = 0.9 * centre + 0.1 / size, np.full(size, float(np.abs(slope).max())), 0.1
    for _ in range(60):
        gradient = slope - bend @ (point - centre)
        gain = float((slope + gradient) @ (point - centre)) / 2
        if gradient.max() - point @ gradient < max(
            0.1 * gain, 1e-16
        ):  # more than any point gains over this one
            break
        aim = shrink * float(point @ dual) / size / point
        matrix = bend + np.diag(dual / point)
        solved, ones = np.linalg.solve(matrix, np.stack([gradient + aim, np.ones(size)], axis=1)).T
        move = solved - (solved.sum() + point.sum() - 1) / ones.sum() * ones
        dual_move = aim - dual / point * move - dual
        reach = float(_stay_positive(np.stack([point, dual]), np.stack([move, dual_move])).min())
        point, dual = point + reach * move, dual + reach * dual_move
        shrink = float(np.clip((1 - reach) ** 2, 0.01, 0.5))
    return point / point.sum()


def _derivatives(rows: Floats, weights: Floats, point: Floats) -> tuple[Floats, Floats]:
    """Return gradients and curvatures.

    A ridge far above rounding keeps noise from choosing where outputs leave a direction undetermined.
    """
    fitted = np.maximum(point @ rows.T, _LEAST)
    ratio = weights / fitted
    bent = ratio / fitted
    curvature = np.stack([(rows * one[:, None]).T @ rows for one in bent])
    ridge = _RIDGE * np.trace(curvature, axis1=1, axis2=2)
    return ratio @ rows, curvature + ridge[:, None, None] * np.eye(rows.shape[1])


def _gaps(gradient: Floats, point: Floats) -> Floats:
    """Return ``max G - 1`` at the normalised point; ``G`` is homogeneous of degree -1."""
    return gradient.max(axis=1) * point.sum(axis=1) - 1


def _solve(matrix: Floats, vector: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, vector[..., None])[..., 0], dtype=np.float64)


def _stay_positive(point: Floats, step: Floats) -> Floats:
    with np.errstate(over="ignore"):
        reach = np.divide(-point, step, out=np.full_like(step, np.inf), where=step < 0)
    return np.minimum(1, 0.995 * reach.min(axis=1, keepdims=True))


def _polish(rows: Floats, weights: Floats, primal: Floats, dual: Floats) -> tuple[Floats, Floats]:
    """Take Newton steps on the coordinates that stay positive, and keep the result where it is feasible and closer."""
    support, best = primal > dual, primal
    least = _gaps(_derivatives(rows, weights, best)[0], best)
    point = np.where(support, primal, 0)
    for _ in range(4):
        gradient, curvature = _derivatives(rows, weights, point)
        gaps = _gaps(gradient, point)
        closer = gaps < least
        best, least = np.where(closer[:, None], point, best), np.where(closer, gaps, least)
        bend = np.where(support[:, :, None] & support[:, None, :], curvature, np.eye(rows.shape[1]))
        moved = point + _solve(bend, np.where(support, gradient - 1, 0))
        point = np.where((moved >= 0).all(axis=1, keepdims=True), moved, point)
    return best / best.sum(axis=1, keepdims=True), least
