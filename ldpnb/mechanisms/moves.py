"""What the mechanisms for a value and a group share: signs, noise and moves between groups.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

EXTREMES = (-1.0, 1.0)
"""The values at which output probabilities that are linear in the value are extreme."""


def sign_probabilities(values: Floats, epsilon: float) -> Floats:
    """Return the probabilities of the reported signs -1 and +1, shape ``(2, m)``.

    A value in ``[-1, 1]`` is rounded at random to a sign with the value as its mean. The sign is
    reported by randomised response.
    """
    rounded_up = (1 + values) / 2
    response = KaryRandomisedResponse(epsilon, 2)

    # Written as mixtures, which keep the digits of small probabilities at a large epsilon.
    minus = response.p * (1 - rounded_up) + response.q * rounded_up
    plus = response.p * rounded_up + response.q * (1 - rounded_up)
    return np.stack([minus, plus])


def sum_of_laplace(terms: Ints, *, rng: np.random.Generator) -> Floats:
    """Draw sums of independent Laplace variables of scale 1, from their exact distribution.

    Each is the difference of two Gamma variables, so the time does not depend on `terms`, the
    numbers of summands, each at least 0.
    """
    first = rng.standard_gamma(terms)
    second = rng.standard_gamma(terms)
    return np.asarray(first) - np.asarray(second)


def unit_values(values: ArrayLike) -> Floats:
    """Return values, checked to lie in ``[-1, 1]``."""
    return np.asarray(checks.numbers(values, "values", low=-1, high=1))


def tallied(counts: ArrayLike, values: ArrayLike, groups: int) -> tuple[Ints, Floats]:
    """Return checked counts of users by group and value, and a value for each, both ``(d, m)``."""
    array = np.asarray(counts)
    numbers = unit_values(values)
    if array.ndim != 2 or array.shape[0] != groups:
        raise ValueError(f"counts must have one row per group, {groups}, got shape {array.shape}")
    if numbers.shape not in ((array.shape[1],), array.shape):
        raise ValueError(f"values must match counts, got shapes {numbers.shape} and {array.shape}")

    users = checks.counts(array.ravel(), "counts").reshape(array.shape)
    return users, np.broadcast_to(numbers, array.shape)


def sample_moves(
    users: Ints, keep: float, repetitions: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Draw how many users keep their group, and how many users of other groups arrive in it.

    Parameters
    ----------
    users : ndarray of int, shape (d, m)
        Users of each group with each value.
    keep : float
        Probability of reporting one's own group; all other groups are equally likely.
    repetitions : int
        Number of independent draws.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    kept : ndarray of int, shape (repetitions, d, m)
        Users of each group and value who report their own group.
    arrived : ndarray of int, shape (repetitions, d)
        Users of other groups who report the group.
    """
    draws = checks.whole(repetitions, "repetitions", at_least=1)
    groups = users.shape[0]
    kept = rng.binomial(users, keep, size=(draws, *users.shape))

    left = users.sum(axis=1) - kept.sum(axis=2)
    equally_likely = np.full(groups - 1, 1 / (groups - 1))
    arrived = np.zeros((draws, groups), dtype=np.int64)
    for group in range(groups):
        others = [other for other in range(groups) if other != group]
        arrived[:, others] += rng.multinomial(left[:, group], equally_likely)
    return kept, arrived
