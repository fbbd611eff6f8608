"""Unbiased linear estimates of the distribution behind the reports of any finite channel.

With shares ``s`` of the reports a linear estimate is ``A s``, and unbiased whatever the data if ``A Q = I``: any left
inverse of the channel. Least squares uses nothing else; `best_weights` has the smallest variance at the uniform
distribution, where it equals that of the maximum-likelihood estimate with many users. Estimates may leave the simplex.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats

_LEAST = 1e-12


def least_squares_weights(channel: ArrayLike) -> Floats:
    """Return the left inverse ``(Q^T Q)^-1 Q^T``, ``(k, m)``, of a channel ``Q[y, x] = Pr(y | x)``.

    Refused if the reports do not determine the distribution.

    >>> (least_squares_weights([[0.75, 0.25], [0.25, 0.75]]) @ [0.7, 0.3]).round(9).tolist()
    [0.9, 0.1]
    """
    rows = _injective(channel)
    return np.linalg.pinv(rows).astype(float)


def best_weights(channel: ArrayLike) -> Floats:
    """Return the left inverse of least variance at the uniform distribution, ``(Q^T D^-1 Q)^-1 Q^T D^-1``.

    ``D`` has the chances of the outputs on its diagonal. Gauss, Markov and Aitken: among unbiased linear estimates it
    has the smallest variance of every contrast; ``Q^T D^-1 Q`` is the information of a report (equation (36) of
    lopuhaa2020). Outputs that nobody can send have weight 0.

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
    """Return the exact standard deviations, ``(k,)``, of the estimated shares for given users per value, all reporting.

    >>> channel = [[0.75, 0.25], [0.25, 0.75]]
    >>> (deviations(least_squares_weights(channel), channel, [60, 40]) ** 2).round(9).tolist()
    [0.0075, 0.0075]
    """
    rows, holders = np.asarray(channel, dtype=float), checks.counts(counts, "counts")
    shares = np.asarray(weights, dtype=float)
    variance = (shares**2 @ rows - (shares @ rows) ** 2) @ holders / holders.sum() ** 2
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
