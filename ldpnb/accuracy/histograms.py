"""Errors of the estimated counts of ``k`` values when everybody reports, locally or to a curator, and what a report
costs in bits.

Use `pure_variance` for any local mechanism with its ``p`` and ``q`` (k-RR, unary encodings, sign vectors), the
``central_laplace`` functions for the curator's histogram, and `unary_report_bits` for communication. Counts and errors
are in users; budgets in nats. When only some users report, see `ldpnb.accuracy.sampling`.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import FrequencyMechanism


def pure_variance(holders: ArrayLike, *, clients: int, mechanism: FrequencyMechanism) -> NDArray[np.float64]:
    """Return the variance ``(f p (1-p) + (n-f) q (1-q)) / (p-q)^2`` of the unbiased count of a pure protocol.

    Parameters
    ----------
    holders : float, any shape
        Number ``f`` of users with the value, in ``[0, clients]``.
    clients : int
        Number ``n >= 1`` of users.
    mechanism : FrequencyMechanism
        Its ``p`` and ``q``; 1 - ``p`` must not vanish in floating point for accurate results at holders.

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    Proof of Theorem 3.2 of biswas2022 at sampling rate 1.

    Examples
    --------
    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> round(float(pure_variance(40, clients=100, mechanism=KaryRandomisedResponse(np.log(3), 2))), 9)
    75.0
    """
    users, held = _users(clients, holders)
    p, q = mechanism.p, mechanism.q
    variance: NDArray[np.float64] = (held * p * (1 - p) + (users - held) * q * (1 - q)) / (p - q) ** 2
    return variance


def sign_variance(holders: ArrayLike, *, clients: int, bias: float) -> NDArray[np.float64]:
    """Return the variance ``(n - f bias^2) / bias^2`` of the lecture's count ``sum of signs / bias``.

    A fair sign contributes 1, a holder's ``1 - bias^2``.

    Parameters
    ----------
    holders : float, any shape
        Number ``f`` of users with the value, in ``[0, clients]``.
    clients : int
        Number ``n >= 1`` of users.
    bias : float
        Expectation of a holder's sign, in ``(0, 1]``.

    Returns
    -------
    float, shape of `holders`

    References
    ----------
    lecture20, "Frequency estimation", local model, which gives the expectation only.

    Examples
    --------
    >>> float(sign_variance(5000, clients=20000, bias=0.5))
    75000.0
    """
    users, held = _users(clients, holders)
    variance: NDArray[np.float64] = users / checks.rate(bias=bias) ** 2 - held
    return variance


def central_laplace_count_variance(epsilon: float, sensitivity: float = 2.0) -> float:
    """Return the variance ``2 (sensitivity / epsilon)^2`` of a count released by a curator, whatever the number of
    users.

    Parameters
    ----------
    epsilon : float
        Budget, ``> 0``.
    sensitivity : float
        Of the histogram: 2 for replacing a user's value.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Frequency estimation", central model.

    Examples
    --------
    >>> central_laplace_count_variance(1.0)
    8.0
    """
    return 2 * (checks.positive(sensitivity=sensitivity) / checks.positive(epsilon=epsilon)) ** 2


def central_laplace_largest_error(epsilon: float, domain_size: int, failure: float, sensitivity: float = 2.0) -> float:
    """Return the error that the worst of ``k`` noisy counts exceeds with exactly probability `failure`.

    ``-(sensitivity / epsilon) ln(1 - (1 - failure)^(1/k))``, since the ``k`` noises are independent.

    Parameters
    ----------
    epsilon : float
        Budget, ``> 0``.
    domain_size : int
        Number ``k >= 1`` of counts.
    failure : float
        In ``(0, 1)``.
    sensitivity : float
        Of the histogram: 2 for replacing a user's value.

    Returns
    -------
    float

    References
    ----------
    lecture20, "Frequency estimation": ``|f(x) - f-hat(x)| <= alpha`` for all x.

    Examples
    --------
    >>> round(central_laplace_largest_error(2.0, 1, np.exp(-3)), 12)
    3.0
    """
    every = np.log1p(-checks.open_probability(failure=failure)) / checks.whole(domain_size=domain_size, at_least=1)
    scale = checks.positive(sensitivity=sensitivity) / checks.positive(epsilon=epsilon)
    return float(-scale * np.log(-np.expm1(every)))


def unary_report_bits(p: float, q: float, domain_size: int) -> float:
    """Return the entropy ``h(p) + (k-1) h(q)`` of a report of ``k`` independent bits, given its sender's value.

    No code without shared randomness sends such reports in fewer bits on average, so it is linear in ``k`` for fixed
    ``q``.

    Parameters
    ----------
    p, q : float
        Chance of a one at the own value and at another, in ``[0, 1]``; sign vectors have ``q = 1/2``.
    domain_size : int
        Number ``k >= 1`` of values.

    Returns
    -------
    float
        Bits.

    References
    ----------
    lecture20, "Communication: Omega(d) bits".

    Examples
    --------
    >>> unary_report_bits(0.5, 0.5, 10)
    10.0
    """
    others = checks.whole(domain_size=domain_size, at_least=1) - 1
    return _binary_entropy(checks.probability(p=p)) + others * _binary_entropy(checks.probability(q=q))


def _binary_entropy(chance: float) -> float:
    from scipy import special

    return float(special.entr(chance) + special.entr(1 - chance)) / float(np.log(2))


def _users(clients: int, holders: ArrayLike) -> tuple[int, NDArray[np.float64]]:
    users, held = checks.whole(clients=clients, at_least=1), np.asarray(holders, dtype=float)
    if not ((held >= 0) & (held <= users)).all():
        raise ValueError(f"holders must lie in [0, clients={users}], got {held.min()!s} .. {held.max()!s}")
    return users, held
