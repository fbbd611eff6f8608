"""What a test on the sample's size can tell, if the size depends on the data.

These are Sections 4.1 and 4.2 of Bun et al. (2022). Budgets are in nats. The mechanisms on the
sample are epsilon-deletion-DP.
"""

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real


def size_count_loss(gap: int, epsilon: Real) -> Real:
    """Return ``epsilon |m - m'|``, the loss of a noisy count of the sample (Section 4.1).

    Neighbours give sizes that are `gap` apart. The count ``|S| + Lap(1/epsilon)`` is an
    epsilon-deletion-DP mechanism.
    """
    return checks.whole(gap, "gap") * checks.positive(epsilon, "epsilon")


def size_test_advantage(gap: int, epsilon: Real) -> Real:
    """Return the largest advantage of an epsilon-DP test between two sizes ``m`` and ``m + gap``.

    It is ``1 - e^(-epsilon D/2)`` for an even gap ``D``, and
    ``1 - 2 e^(-epsilon (D-1)/2) / (1 + e^epsilon)`` for an odd one: the acceptance probability
    rises by the factor ``e^epsilon`` per record up to the middle, and falls short of 1
    symmetrically beyond it. The bound `advantage_bound` at ``D epsilon`` is larger from a gap of 2
    on, since the sizes in between restrain the test as well.
    """
    steps, odd = divmod(checks.whole(gap, "gap"), 2)
    budget = checks.positive(epsilon, "epsilon")
    return -np.expm1(-budget * steps) + odd * np.exp(-budget * steps) * np.tanh(budget / 2)


def advantage_bound(epsilon: Real) -> Real:
    """Return ``(e^epsilon - 1)/(e^epsilon + 1)``, the largest advantage of a test (Section 4.2).

    The test sees a private output. Randomised response attains the bound, which is about
    ``epsilon / 2`` for small epsilon.
    """
    return np.tanh(checks.positive(epsilon, "epsilon") / 2)


def weak_advantage_bound(epsilon: Real) -> Real:
    """Return ``e^epsilon - 1``, the loose form of `advantage_bound`; it is vacuous above ln 2."""
    return np.expm1(checks.positive(epsilon, "epsilon"))


def size_error_lower_bound(estimation_error: Real, epsilon: Real) -> Real:
    """Return ``alpha - 1/epsilon``, a lower bound on how far a private random size errs.

    This is Proposition 4.2. On some data set every private estimate of the intended size errs by at
    least ``alpha`` on average. The noisy count of the sample is such an estimate, and it adds an
    error of ``1/epsilon``.
    """
    error = checks.non_negative(estimation_error, "estimation_error")
    return error - 1 / checks.positive(epsilon, "epsilon")


def size_squared_error_lower_bound(squared_estimation_error: Real, epsilon: Real) -> Real:
    """Return ``alpha_2 - 2/epsilon^2``, the same for mean squared errors (Proposition 4.2)."""
    error = checks.non_negative(squared_estimation_error, "squared_estimation_error")
    return error - 2 / np.square(checks.positive(epsilon, "epsilon"))


def two_point_error(gap: Real, epsilon: Real) -> Real:
    """Return ``gap / (1 + e^epsilon)``, an error that private estimates make (Appendix F).

    They make it on one of two neighbours. The gap is the difference of the estimated function
    between the two: its sensitivity if they are the worst neighbours. For two data sets it is
    exact: to answer one of the two values by randomised response errs by no more on either.
    """
    return checks.non_negative(gap, "gap") / (1 + np.exp(checks.positive(epsilon, "epsilon")))
