"""Shared by the mechanisms for a value and a group: signs, noise and moves between groups.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

EXTREMES = (-1.0, 1.0)
"""The values at which output probabilities that are linear in the value are extreme."""


def sign_probabilities(values: Floats, epsilon: float) -> Floats:
    """Return the probabilities of ``-1`` and ``+1``, ``(2, m)``: values rounded to a sign, then randomised response."""
    # as mixtures, which keep small probabilities at large epsilon
    up, response = (1 + values) / 2, KaryRandomisedResponse(epsilon, 2)
    return np.stack(
        [response.p * (1 - up) + response.q * up, response.p * up + response.q * (1 - up)]
    )


def sum_of_laplace(terms: Ints, *, rng: np.random.Generator) -> Floats:
    """Draw sums of independent Laplace variables of scale 1, exactly: the difference of two Gamma variables.

    - `terms`, (...) int: numbers of summands, ``>= 0``; the cost does not depend on them.
    """
    first, second = rng.standard_gamma(terms), rng.standard_gamma(terms)
    return np.asarray(first) - np.asarray(second)


def unit_values(values: ArrayLike) -> Floats:
    """Return values checked to lie in ``[-1, 1]``."""
    return np.asarray(checks.numbers(values, "values", low=-1, high=1))


def tallied(counts: ArrayLike, values: ArrayLike, groups: int) -> tuple[Ints, Floats]:
    """Return checked counts ``(d, m)`` of users by group and value, and values that broadcast against them."""
    array, numbers = np.asarray(counts), unit_values(values)
    if array.ndim != 2 or array.shape[0] != groups:
        raise ValueError(f"counts must have one row per group, {groups}, got shape {array.shape}")
    if numbers.shape not in ((array.shape[1],), array.shape):
        raise ValueError(f"values must match counts, got shapes {numbers.shape} and {array.shape}")
    return checks.counts(array.ravel(), "counts").reshape(array.shape), np.broadcast_to(
        numbers, array.shape
    )


def sample_moves(
    users: Ints, keep: float, repetitions: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw how many users of each group and value keep their group, and how many others join it.

    - Returns `kept`, (repetitions, d, m) int.
    - Returns `arrived`, (repetitions, d) int.
    """
    draws, groups = checks.whole(repetitions, "repetitions", at_least=1), users.shape[0]
    kept = rng.binomial(users, keep, size=(draws, *users.shape))
    arrived = np.zeros((draws, groups), dtype=np.int64)
    for group, left in enumerate((users.sum(axis=1) - kept.sum(axis=2)).T):
        others = [g for g in range(groups) if g != group]
        arrived[:, others] += rng.multinomial(left, np.full(groups - 1, 1 / (groups - 1)))
    return kept, arrived
