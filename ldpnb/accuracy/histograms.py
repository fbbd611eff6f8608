"""Errors of the estimated counts of ``k`` values if all users report, and the bits of a report.

Use `pure_variance` for any local mechanism with its ``p`` and ``q`` (k-RR, unary encodings, sign
vectors), the ``central_laplace`` functions for a curator's histogram, and `unary_report_bits` for
communication. Counts and errors are in users; budgets are in nats. If only some users report, see
`ldpnb.accuracy.sampling`.
"""

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real, is_exact
from ldpnb.mechanisms.registry import FrequencyMechanism


def pure_variance(holders: Real, *, users: Real, mechanism: FrequencyMechanism) -> Real:
    """Return the variance of the unbiased count, ``(f p (1-p) + (n-f) q (1-q)) / (p-q)^2``.

    The proof of Theorem 3.2 of Biswas, Cormode and Maple (2022) has it, at sampling rate 1.

    Parameters
    ----------
    holders : array_like
        Number ``f`` of users with the value, in ``[0, users]``. The result has its shape.
    users : int
        Number ``n`` of users, at least 1.
    mechanism : FrequencyMechanism
        A protocol whose reports support a set of values.
    """
    number = checks.whole(users, "users", at_least=1)
    with_value = checks.numbers(holders, "holders", low=0, high=number)
    p = mechanism.p
    q = mechanism.q
    miss = mechanism.miss_rate
    gap = mechanism.truthful_rate
    return (with_value * p * miss + (number - with_value) * q * (miss + gap)) / gap / gap


def central_laplace_count_variance(epsilon: Real, sensitivity: Real = 2.0) -> Real:
    """Return the variance of a count that a curator releases, ``2 (sensitivity / epsilon)^2``.

    It does not depend on the number of users. The lecture has it in "Frequency estimation", central
    model.

    Parameters
    ----------
    epsilon : float
        Budget in nats, ``> 0``.
    sensitivity : float, default 2
        By how much the counts change in all if one user's value is replaced.
    """
    scale = checks.positive(sensitivity, "sensitivity") / checks.positive(epsilon, "epsilon")
    return 2 * (scale * scale)


def central_laplace_largest_error(
    epsilon: Real, domain_size: Real, failure: Real, sensitivity: Real = 2.0
) -> Real:
    """Return the error that the worst of ``k`` noisy counts exceeds with probability `failure`.

    It is exactly ``-(sensitivity / epsilon) ln(1 - (1 - failure)^(1/k))``, since the ``k`` noises
    are independent. The lecture, in "Frequency estimation", has ``|f(x) - f-hat(x)| <= alpha`` for
    all x.

    Parameters
    ----------
    epsilon : float
        Budget in nats, ``> 0``.
    domain_size : int
        Number ``k`` of counts, at least 1.
    failure : float
        The probability, in ``(0, 1)``.
    sensitivity : float, default 2
        By how much the counts change in all if one user's value is replaced.
    """
    chance = checks.open_probability(failure, "failure")
    every = np.log1p(-chance) / checks.whole(domain_size, "domain_size", at_least=1)
    scale = checks.positive(sensitivity, "sensitivity") / checks.positive(epsilon, "epsilon")
    return -scale * np.log(-np.expm1(every))


def unary_report_bits(p: Real, q: Real, domain_size: Real) -> Real:
    """Return the entropy of a report of ``k`` independent bits, ``h(p) + (k-1) h(q)``, in bits.

    No code without shared randomness sends such reports in fewer bits on average, so the cost is
    linear in ``k`` for fixed ``q`` (the lecture's "Communication: Omega(d) bits").

    Parameters
    ----------
    p, q : float
        Probability of a one at the sender's value, and at another value. Sign vectors have
        ``q = 1/2``.
    domain_size : int
        Number ``k`` of values.
    """
    others = checks.whole(domain_size, "domain_size", at_least=1) - 1
    of_value = _binary_entropy(checks.probability(p, "p"))
    return of_value + others * _binary_entropy(checks.probability(q, "q"))


def _binary_entropy(chance: Real) -> Real:
    if not is_exact(chance) and chance in (0, 1):
        return 0.0
    return -(chance * np.log(chance) + (1 - chance) * np.log1p(-chance)) / np.log(2)
