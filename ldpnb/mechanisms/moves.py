"""What the group-mean mechanisms share: randomised response of the group, and signs and noise, on tallies and client by
client.

For simulation only: draws come from a statistical generator and noise is in floating point, so nothing here protects
real people (what does: `ldpnb.mechanisms`).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from ldpnb import checks

EXTREMES = (-1.0, 1.0)
"""The values at which every output probability that is linear in the value is extreme."""


def keep_probability(group_epsilon: float, groups: int) -> float:
    """Return ``e^eps1 / (e^eps1 + d - 1)``, the probability that randomised response over ``d`` groups keeps the own
    one.
    """
    return float(expit(group_epsilon - np.log(groups - 1)))


def move_probability(group_epsilon: float, groups: int) -> float:
    """Return ``1 / (e^eps1 + d - 1)``, the probability of a given other group."""
    return float(expit(np.log(groups - 1) - group_epsilon)) / (groups - 1)


def sign_probabilities(values: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return the probabilities of the signs ``-1`` and ``+1``, shape ``(2, m)``: values rounded to a sign, then
    randomised response.

    Written as a mixture of ``b = e^epsilon / (1 + e^epsilon)`` and ``1 - b``, which keeps small probabilities at large
    epsilon.

    Examples
    --------
    >>> sign_probabilities(np.array([0.0, 1.0]), np.log(3)).round(12).tolist()
    [[0.5, 0.25], [0.5, 0.75]]
    """
    up = (1 + values) / 2
    truth, lie = float(expit(epsilon)), float(expit(-epsilon))
    return np.stack([truth * (1 - up) + lie * up, truth * up + lie * (1 - up)])


def sum_of_laplace(terms: NDArray[np.int64], *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw sums of independent Laplace variables of scale 1, exactly and in constant time: the difference of two Gamma
    variables.

    Parameters
    ----------
    terms : (...) int
        Numbers of summands, ``>= 0``.
    rng : numpy.random.Generator

    Returns
    -------
    (...) float
    """
    first, second = rng.standard_gamma(terms), rng.standard_gamma(terms)
    return np.asarray(first) - np.asarray(second)


def unit_values(values: ArrayLike) -> NDArray[np.float64]:
    """Return values checked to lie in ``[-1, 1]``.

    Examples
    --------
    >>> unit_values([0.5, 1.5])
    Traceback (most recent call last):
    ValueError: values must lie in [-1, 1], got 1.5
    """
    numbers = np.asarray(values, dtype=np.float64)
    outside = ~(np.abs(numbers) <= 1)
    if outside.any():
        raise ValueError(f"values must lie in [-1, 1], got {numbers[outside][0]!s}")
    return numbers


def tallied(counts: ArrayLike, values: ArrayLike, groups: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return checked counts of shape ``(d, m)`` and values that broadcast against them."""
    array, numbers = np.asarray(counts), unit_values(values)
    if array.ndim != 2 or array.shape[0] != groups:
        raise ValueError(f"counts must have one row per group, {groups}, got shape {array.shape}")
    if numbers.shape not in ((array.shape[1],), array.shape):
        raise ValueError(f"values must match counts, got shapes {numbers.shape} and {array.shape}")
    return checks.counts(counts=array.ravel()).reshape(array.shape), np.broadcast_to(numbers, array.shape)


def sample_moves(
    held: NDArray[np.int64], keep: float, repetitions: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw how many clients of each group and value keep their group ``(repetitions, d, m)``, and how many others join
    it ``(repetitions, d)``.
    """
    draws = checks.whole(repetitions=repetitions, at_least=1)
    groups = held.shape[0]
    kept = rng.binomial(held, keep, size=(draws, *held.shape))
    arrived = np.zeros((draws, groups), dtype=np.int64)
    for group, left in enumerate((held.sum(axis=1) - kept.sum(axis=2)).T):
        others = [g for g in range(groups) if g != group]
        arrived[:, others] += rng.multinomial(left, np.full(groups - 1, 1 / (groups - 1)))
    return kept, arrived


def randomize_groups(
    groups: ArrayLike, values: ArrayLike, keep: float, number: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return each client's reported group, whether it is the own one, and the checked values."""
    own, numbers = np.asarray(groups), unit_values(values)
    if own.ndim != 1 or own.shape != numbers.shape or own.dtype.kind not in "iu":
        raise ValueError(f"groups must be integers, one per value, got shapes {own.shape} and {numbers.shape}")
    if own.size and not (own.min() >= 0 and own.max() < number):
        raise ValueError(f"groups must lie in 0 .. {number - 1}, got {own.min()} .. {own.max()}")
    kept = rng.random(own.size) < keep
    shift = rng.integers(1, number, own.size)
    return np.where(kept, own, (own + shift) % number).astype(np.int64), kept, numbers
