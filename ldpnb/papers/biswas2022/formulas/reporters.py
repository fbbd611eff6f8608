"""Who reports: Poisson sampling of users, on counts.

Each user reports with a probability of their own, independently of all others. Users of equal value and rate are
exchangeable, so the number who report is binomial, and `poisson` draws those numbers for all groups at once. The same
function thins tallies, when a noisy report is sent with a probability that depends on the report.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Ints, Real, is_exact
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def poisson(counts: ArrayLike, rates: ArrayLike, *, rng: np.random.Generator) -> Ints:
    """Draw how many users of each group report (Sections 2 and 5 of biswas2022).

    - `counts`, int, any shape: users of each group, for example ``(k,)`` by value or ``(g, k)`` by rate and value.
    - `rates`, float, broadcast against `counts`: their sampling rates in ``(0, 1]``: a number for all, ``(k,)`` by
      value, ``(g, 1)`` by rate.
    - Returns int, of the shape of `counts` and `rates` broadcast together.
    """
    users, chance = np.asarray(counts), checks.numbers(rates, "rates", low=0, high=1, above=True)
    if users.dtype.kind not in "iu" or (users < 0).any():
        raise ValueError(
            f"counts must be whole numbers >= 0, got dtype {users.dtype}, minimum {users.min()!s}"
        )
    return np.asarray(rng.binomial(users, chance), dtype=np.int64)


def expected_reports(counts: ArrayLike, rates: ArrayLike) -> Real:
    """Return the expected number of reports, the communication cost of a collection; arguments as for `poisson`.

    It is ``n pi`` in Figure 3 of biswas2022 and the sum of the ``pi_j`` in its Section 5.
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
    """Draw the tallies of the users who report, from their exact joint law: all zero where nobody does.

    Arguments as for `poisson`, with counts by value, ``(k,)``, or by group and value, ``(g, k)``.
    """
    reporting = poisson(counts, rates, rng=rng)
    rows = [
        mechanism.sample_tallies(row, rng=rng) if row.any() else np.zeros_like(row)
        for row in np.atleast_2d(reporting)
    ]
    return np.asarray(rows).reshape(reporting.shape)
