"""Exact privacy loss of a finite channel, and the pair of inputs that attains it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats

SUM_TOLERANCE = 1e-6
"""How far the sum of a column may lie from 1, so that probabilities may be 32-bit floats."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The largest log-likelihood ratio of a channel, and where it occurs."""

    epsilon: float
    """The ratio's logarithm in nats; infinite if the output rules an input out."""
    output: int
    """Row of the channel."""
    inputs: tuple[int, int]
    """Columns of the inputs under which the output is likeliest and least likely."""


def privacy_loss(channel: ArrayLike) -> Loss:
    """Return the privacy loss of a finite channel, and where it occurs.

    The loss is the largest ``ln(Q[y, x] / Q[y, x'])`` over all outputs ``y`` and pairs of inputs.
    If the inputs are one user's data, it is the smallest epsilon for which the channel is locally
    private.

    Parameters
    ----------
    channel : array_like, shape (outputs, inputs)
        ``Q[y, x]``, the probability of output ``y`` given input ``x``. Each column sums to 1.
        Outputs that no input can produce do not count.

    Returns
    -------
    Loss
        The loss `epsilon` in nats, and the `output` and the two `inputs` that attain it. It is
        infinite if an output rules an input out.

    Raises
    ------
    ValueError
        If a column is not a probability vector.

    Examples
    --------
    A report that is true with probability 3/4 loses ln(0.75 / 0.25) = ln 3.

    >>> loss = privacy_loss([[0.75, 0.25], [0.25, 0.75]])
    >>> round(loss.epsilon, 12), loss.inputs
    (1.098612288668, (0, 1))

    The first output below is possible only for the first input.

    >>> privacy_loss([[0.5, 0.0], [0.5, 1.0]]).epsilon
    inf
    """
    matrix = as_channel(channel)
    possible = np.flatnonzero(matrix.max(axis=1) > 0)
    largest = matrix[possible].max(axis=1)
    smallest = matrix[possible].min(axis=1)
    with np.errstate(divide="ignore"):
        losses = np.log(largest) - np.log(smallest)

    worst = int(np.argmax(losses))
    output = int(possible[worst])
    likeliest = int(matrix[output].argmax())
    least_likely = int(matrix[output].argmin())
    return Loss(float(losses[worst]), output, (likeliest, least_likely))


def as_channel(channel: ArrayLike) -> Floats:
    """Return a checked channel: a matrix of numbers ``>= 0`` whose columns sum to 1 up to 1e-6."""
    matrix = checks.numbers(channel, "channel", low=0)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"channel must be a matrix of outputs by inputs, got shape {matrix.shape}")

    sums = matrix.sum(axis=0)
    if np.abs(sums - 1).max() > SUM_TOLERANCE:
        worst = int(np.abs(sums - 1).argmax())
        got = f"column {worst} with sum {sums[worst]:.10g}"
        raise ValueError(f"channel must have columns that sum to 1, got {got}")
    return matrix
