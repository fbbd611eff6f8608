"""Unbiased linear estimates of the distribution behind the reports of any finite channel.

With shares ``s`` of the reports, a linear estimate is ``A s``. It is unbiased for all data if
``A Q = I``, so that ``A`` is a left inverse of the channel ``Q``. Least squares uses nothing else.
`best_weights` has the smallest variance at the uniform distribution, where it equals that of the
maximum-likelihood estimate with many users. Estimates may leave the simplex.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats

_LEAST = 1e-12


def least_squares_weights(channel: ArrayLike) -> Floats:
    """Return the left inverse ``(Q^T Q)^-1 Q^T`` of a channel, of shape (k, m).

    A channel ``Q[y, x] = Pr(y | x)`` whose reports do not determine the distribution is refused.

    >>> (least_squares_weights([[0.75, 0.25], [0.25, 0.75]]) @ [0.7, 0.3]).round(9).tolist()
    [0.9, 0.1]
    """
    rows = _injective(channel)
    return np.linalg.pinv(rows).astype(float)


def best_weights(channel: ArrayLike) -> Floats:
    """Return the left inverse of least variance at the uniform distribution, of shape (k, m).

    It is ``(Q^T D^-1 Q)^-1 Q^T D^-1``, where ``D`` has the probabilities of the outputs on its
    diagonal. By the theorem of Gauss, Markov and Aitken it has the smallest variance of every
    contrast among all unbiased linear estimates; ``Q^T D^-1 Q`` is the information of a report,
    equation (36) of Lopuhaä-Zwakenberg et al. (2020). Outputs that nobody can send have weight 0.

    >>> best_weights([[0.5, 0.5], [0.5, 0.0], [0.0, 0.5]]).round(9).tolist()
    [[0.5, 1.5, -0.5], [0.5, -0.5, 1.5]]
    """
    rows = _injective(channel)
    chances = rows @ np.full(rows.shape[1], 1 / rows.shape[1])
    scaled = np.divide(
        rows, chances[:, None], out=np.zeros_like(rows), where=chances[:, None] > _LEAST
    )
    return np.linalg.solve(scaled.T @ rows, scaled.T).astype(float)


def deviations(weights: ArrayLike, channel: ArrayLike, counts: ArrayLike) -> Floats:
    """Return the exact standard deviations of estimated shares, of shape (k,).

    All users report; the counts say how many hold each value.

    >>> channel = [[0.75, 0.25], [0.25, 0.75]]
    >>> (deviations(least_squares_weights(channel), channel, [60, 40]) ** 2).round(9).tolist()
    [0.0075, 0.0075]
    """
    rows = np.asarray(channel, dtype=float)
    holders = checks.counts(counts, "counts")
    matrix = np.asarray(weights, dtype=float)
    variance = (matrix**2 @ rows - (matrix @ rows) ** 2) @ holders / holders.sum() ** 2
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _injective(channel: ArrayLike) -> Floats:
    rows = np.asarray(channel, dtype=float)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"channel must be a matrix of outputs by inputs, got shape {rows.shape}")

    rank = int(np.linalg.matrix_rank(rows))
    if rank < rows.shape[1]:
        raise ValueError(
            f"channel must tell its {rows.shape[1]} inputs apart, got rank {rank}: "
            "no estimate of their distribution is unbiased"
        )
    return rows
