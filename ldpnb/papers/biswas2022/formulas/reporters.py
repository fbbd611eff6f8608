"""Who reports: Poisson sampling of users, on counts.

Each user reports with some probability, independently of all others. Users of the same value and
rate are exchangeable, so the number of them who report is binomial, and `poisson` draws these
numbers for all groups at once. The same function thins tallies, if a noisy report is sent with a
probability that depends on the report.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Ints, Real, is_exact
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def poisson(counts: ArrayLike, rates: ArrayLike, *, rng: np.random.Generator) -> Ints:
    """Draw how many users of each group report.

    This is the sampling of Sections 2 and 5 of Biswas, Cormode and Maple (2022).

    Parameters
    ----------
    counts : array_like of int
        Number of users of each group, of any shape: for example (k,) by value, or (groups, k) by
        rate and value.
    rates : array_like
        Sampling rates in ``(0, 1]``, broadcast against `counts`: a number for all, shape (k,) by
        value, shape (groups, 1) by rate.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int
        Numbers of reports, of the shape of `counts` and `rates` broadcast together.
    """
    users = np.asarray(counts)
    chance = checks.numbers(rates, "rates", low=0, high=1, above=True)
    if users.dtype.kind not in "iu" or (users < 0).any():
        raise ValueError(
            f"counts must be whole numbers >= 0, got dtype {users.dtype}, minimum {users.min()!s}"
        )
    return np.asarray(rng.binomial(users, chance), dtype=np.int64)


def expected_reports(counts: ArrayLike, rates: ArrayLike) -> Real:
    """Return the expected number of reports, the communication cost of a collection.

    It is ``n pi`` in Figure 3 of Biswas, Cormode and Maple (2022), and the sum of the ``pi_j`` in
    their Section 5. The arguments are those of `poisson`.
    """
    total = np.sum(np.multiply(counts, rates))
    return total if is_exact(total) else float(total)


def sampled_tallies(
    counts: ArrayLike,
    rates: ArrayLike,
    mechanism: KaryRandomisedResponse,
    *,
    rng: np.random.Generator,
) -> Ints:
    """Draw the tallies of the users who report, from their exact joint distribution.

    They are all zero if nobody reports. The arguments are those of `poisson`, with counts by value,
    of shape (k,), or by group and value, of shape (groups, k).
    """
    reporting = poisson(counts, rates, rng=rng)
    tallies = []
    for row in np.atleast_2d(reporting):
        if row.any():
            tallies.append(mechanism.sample_tallies(row, rng=rng))
        else:
            tallies.append(np.zeros_like(row))
    return np.asarray(tallies).reshape(reporting.shape)
