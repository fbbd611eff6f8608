"""Errors of the estimated counts of ``k`` values when everybody reports, and what a report costs in bits.

Use `pure_variance` for any local mechanism with its ``p`` and ``q`` (k-RR, unary encodings, sign vectors), the
``central_laplace`` functions for a curator's histogram, and `unary_report_bits` for communication. Counts and errors
are in users; budgets in nats. When only some users report, see `ldpnb.accuracy.sampling`.
"""

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real, is_exact
from ldpnb.mechanisms.registry import FrequencyMechanism


def pure_variance(holders: Real, *, users: Real, mechanism: FrequencyMechanism) -> Real:
    """Return the variance ``(f p (1-p) + (n-f) q (1-q)) / (p-q)^2`` of the unbiased count of a pure protocol.

    It has the shape of `holders` (proof of Theorem 3.2 of biswas2022, at sampling rate 1).

    - `holders`, float, any shape: number ``f`` of users with the value, in ``[0, users]``.
    - `users`, int: number ``n >= 1`` of users.
    """
    number = checks.whole(users, "users", at_least=1)
    own = checks.numbers(holders, "holders", low=0, high=number)
    p, q, miss, gap = mechanism.p, mechanism.q, mechanism.miss_rate, mechanism.truthful_rate
    return (own * p * miss + (number - own) * q * (miss + gap)) / gap / gap


def central_laplace_count_variance(epsilon: Real, sensitivity: Real = 2.0) -> Real:
    """Return the variance ``2 (sensitivity / epsilon)^2`` of a count released by a curator, for any number of users.

    The sensitivity of a histogram is 2 for replacing a user's value (lecture20, "Frequency estimation", central model).
    """
    scale = checks.positive(sensitivity, "sensitivity") / checks.positive(epsilon, "epsilon")
    return 2 * (scale * scale)


def central_laplace_largest_error(
    epsilon: Real, domain_size: Real, failure: Real, sensitivity: Real = 2.0
) -> Real:
    """Return the error that the worst of ``k`` noisy counts exceeds with exactly probability `failure`.

    ``-(sensitivity / epsilon) ln(1 - (1 - failure)^(1/k))``, since the ``k`` noises are independent; in lecture20,
    "Frequency estimation", ``|f(x) - f-hat(x)| <= alpha`` for all x.
    """
    every = np.log1p(-checks.open_probability(failure, "failure")) / checks.whole(
        domain_size, "domain_size", at_least=1
    )
    scale = checks.positive(sensitivity, "sensitivity") / checks.positive(epsilon, "epsilon")
    return -scale * np.log(-np.expm1(every))


def unary_report_bits(p: Real, q: Real, domain_size: Real) -> Real:
    """Return the entropy ``h(p) + (k-1) h(q)``, in bits, of a report of ``k`` independent bits given the value.

    No code without shared randomness sends such reports in fewer bits on average, so the cost is linear in ``k`` for
    fixed ``q`` (lecture20, "Communication: Omega(d) bits"). `p` and `q` are the probabilities of a one at the sender's
    value and at another; sign vectors have ``q = 1/2``.
    """
    others = checks.whole(domain_size, "domain_size", at_least=1) - 1
    return _binary_entropy(checks.probability(p, "p")) + others * _binary_entropy(
        checks.probability(q, "q")
    )


def _binary_entropy(chance: Real) -> Real:
    if not is_exact(chance) and chance in (0, 1):
        return 0.0
    return -(chance * np.log(chance) + (1 - chance) * np.log1p(-chance)) / np.log(2)
