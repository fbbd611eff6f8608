"""Shared by the mechanisms for a value and a group: signs, noise and moves between groups, tallied or one by one.

For simulation only: draws come from a statistical generator and noise is in floating point, so nothing here protects
real people (see `ldpnb.mechanisms` for what does).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

EXTREMES = (-1.0, 1.0)
"""The values at which output probabilities that are linear in the value are extreme."""


def sign_probabilities(values: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """Return the probabilities of ``-1`` and ``+1``, ``(2, m)``: values rounded to a sign, then randomised response.

    Written as a mixture of ``b = e^epsilon / (1 + e^epsilon)`` and ``1 - b``, which keeps small probabilities at large
    epsilon.
    """
    up, response = (1 + values) / 2, KaryRandomisedResponse(epsilon, 2)
    return np.stack([response.p * (1 - up) + response.q * up, response.p * up + response.q * (1 - up)])


def sum_of_laplace(terms: NDArray[np.int64], *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw sums of independent Laplace variables of scale 1, exactly: the difference of two Gamma variables.

    Parameters
    ----------
    terms : (...) int
        Numbers of summands, ``>= 0``; the cost does not depend on them.
    rng : numpy.random.Generator

    Returns
    -------
    (...) float
    """
    first, second = rng.standard_gamma(terms), rng.standard_gamma(terms)
    return np.asarray(first) - np.asarray(second)


def unit_values(values: ArrayLike) -> NDArray[np.float64]:
    """Return values checked to lie in ``[-1, 1]``.

    >>> unit_values([0.5, 1.5])
    Traceback (most recent call last):
    ValueError: values must lie in [-1, 1], got values[1]=1.5
    """
    return np.asarray(checks.numbers(values=values, low=-1, high=1))


def tallied(counts: ArrayLike, values: ArrayLike, groups: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return checked counts ``(d, m)`` of users by group and value, and values that broadcast against them."""
    array, numbers = np.asarray(counts), unit_values(values)
    if array.ndim != 2 or array.shape[0] != groups:
        raise ValueError(f"counts must have one row per group, {groups}, got shape {array.shape}")
    if numbers.shape not in ((array.shape[1],), array.shape):
        raise ValueError(f"values must match counts, got shapes {numbers.shape} and {array.shape}")
    return checks.counts(counts=array.ravel()).reshape(array.shape), np.broadcast_to(numbers, array.shape)


def listed(groups: ArrayLike, values: ArrayLike, number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every user's checked group ``(n,)`` in ``0 .. number - 1`` and value ``(n,)`` in ``[-1, 1]``."""
    own, numbers = np.asarray(groups), unit_values(values)
    if own.ndim != 1 or own.shape != numbers.shape or own.dtype.kind not in "iu":
        raise ValueError(f"groups must be integers, one per value, got shapes {own.shape} and {numbers.shape}")
    if own.size and not (own.min() >= 0 and own.max() < number):
        raise ValueError(f"groups must lie in 0 .. {number - 1}, got {own.min()} .. {own.max()}")
    return own, numbers


def sample_moves(
    held: NDArray[np.int64], keep: float, repetitions: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw how many users of each group and value keep their group, and how many others join it.

    Returns
    -------
    kept : (repetitions, d, m) int
    arrived : (repetitions, d) int
    """
    draws, groups = checks.whole(repetitions=repetitions, at_least=1), held.shape[0]
    kept = rng.binomial(held, keep, size=(draws, *held.shape))
    arrived = np.zeros((draws, groups), dtype=np.int64)
    for group, left in enumerate((held.sum(axis=1) - kept.sum(axis=2)).T):
        others = [g for g in range(groups) if g != group]
        arrived[:, others] += rng.multinomial(left, np.full(groups - 1, 1 / (groups - 1)))
    return kept, arrived


def randomize_groups(
    own: NDArray[np.int64], response: KaryRandomisedResponse, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return every user's reported group, and whether it is the user's own."""
    kept = rng.random(own.size) < response.p
    shift = rng.integers(1, response.domain_size, own.size)
    return np.where(kept, own, (own + shift) % response.domain_size).astype(np.int64), kept
