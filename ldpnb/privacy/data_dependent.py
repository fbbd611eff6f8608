"""When the sample's size depends on the data: what a test on the size can tell, and what that costs (Sections 4.1 and
4.2 of bun2022).
"""

import numpy as np

from ldpnb import checks


def size_count_loss(gap: int, epsilon: float) -> float:
    """Return ``epsilon |m - m'|``, the loss of a noisy count of the sample if neighbours give sizes `gap` apart
    (Section 4.1 of bun2022).

    The count is ``|S| + Lap(1/epsilon)``, an epsilon-deletion-DP mechanism.

    >>> size_count_loss(4, 0.5)
    2.0
    """
    return checks.whole(gap=gap) * checks.positive(epsilon=epsilon)


def size_test_advantage(gap: int, epsilon: float) -> float:
    r"""Return the largest advantage of an epsilon-DP test between samples of sizes ``m`` and ``m + gap``.

    ``1 - e^(-epsilon D/2)`` for an even gap ``D`` and ``1 - 2 e^(-epsilon (D-1)/2) / (1 + e^epsilon)`` for an odd one:
    the acceptance probability rises by the factor ``e^epsilon`` per record up to the middle and falls short of 1
    symmetrically beyond. The bound `advantage_bound` at ``D epsilon`` is larger from a gap of 2 on, since the sizes in
    between restrain the test as well.

    Parameters
    ----------
    gap : int
        Difference ``D >= 0`` of the sizes.
    epsilon : float
        Nats.

    Examples
    --------
    >>> round(size_test_advantage(19, 0.1), 9)
    0.6137419
    """
    steps, budget = checks.whole(gap=gap), checks.positive(epsilon=epsilon)
    if steps % 2 == 0:
        return float(-np.expm1(-budget * steps / 2))
    half = np.exp(-budget * (steps - 1) / 2)
    return float(-np.expm1(-budget * (steps - 1) / 2) + half * np.tanh(budget / 2))


def advantage_bound(epsilon: float) -> float:
    """Return ``(e^epsilon - 1)/(e^epsilon + 1)``, the largest advantage of a test on the output of an epsilon-DP
    mechanism (Section 4.2 of bun2022).

    Randomised response attains it. About ``epsilon / 2`` for small epsilon.

    >>> round(advantage_bound(float(np.log(3))), 12)
    0.5
    """
    return float(np.tanh(checks.positive(epsilon=epsilon) / 2))


def weak_advantage_bound(epsilon: float) -> float:
    """Return ``e^epsilon - 1``, the loose form of `advantage_bound`; vacuous from ``ln 2`` on.

    >>> round(weak_advantage_bound(0.5), 9)
    0.648721271
    """
    return float(np.expm1(checks.positive(epsilon=epsilon)))


def size_error_lower_bound(estimation_error: float, epsilon: float) -> float:
    """Return ``alpha - 1/epsilon``, how far a privacy-preserving random size stays from the intended one (Proposition
    4.2 of bun2022).

    Parameters
    ----------
    estimation_error : float
        ``alpha``: on some data set every private estimate of the intended size errs by at least this much on average.
    epsilon : float
        Budget of the deletion-DP mechanisms on the sample, nats; their noisy count adds an error of ``1/epsilon``.
    """
    return checks.non_negative(estimation_error=estimation_error) - 1 / checks.positive(epsilon=epsilon)


def size_squared_error_lower_bound(squared_estimation_error: float, epsilon: float) -> float:
    """Return ``alpha_2 - 2/epsilon^2``, the same for mean squared errors (Proposition 4.2 of bun2022)."""
    error = checks.non_negative(squared_estimation_error=squared_estimation_error)
    return error - 2 / checks.positive(epsilon=epsilon) ** 2


def two_point_error(gap: float, epsilon: float) -> float:
    """Return ``gap / (1 + e^epsilon)``, an error that no epsilon-DP estimate avoids on one of two neighbours (Appendix
    F of bun2022).

    Parameters
    ----------
    gap : float
        Difference of the estimated function between the neighbours: its sensitivity if they are the worst ones.
    epsilon : float
        Nats.

    Notes
    -----
    Exact for two data sets: answering one of the two values by randomised response errs by no more on either.

    Examples
    --------
    >>> round(two_point_error(10, 0.5), 8)
    3.77540669
    """
    return float(checks.non_negative(gap=gap) / (1 + np.exp(checks.positive(epsilon=epsilon))))
