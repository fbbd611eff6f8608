"""How likely a sum is to miss its mean by a given deviation.

Everything is two-sided: the probability, or a bound on it, of ``|S - E S| >= deviation``, with a
deviation ``> 0``.

- `chebyshev` needs the variance only;
- `hoeffding` and `bernstein` are for sums of bounded variables;
- `symmetric_binomial` is exact, for sums of fair signs;
- `kept_laplace_chernoff` is for the sums of the Laplace mechanism for group means;
- `normal` is an approximation.
"""

import math

import numpy as np
from scipy.special import betainc, ndtr

from ldpnb import checks

MOST_SIGNS = 10**12
"""Most terms of a `symmetric_binomial`.

Up to there the incomplete beta function is right to nine digits.
"""


def chebyshev(variance: float, deviation: float) -> float:
    """Return Chebyshev's bound ``min(1, variance / deviation^2)``."""
    checked = checks.non_negative(variance, "variance")
    distance = checks.positive(deviation, "deviation")
    square = distance * distance
    return checked / square if checked < square else 1.0


def hoeffding(terms: int, deviation: float) -> float:
    """Return Hoeffding's bound ``min(1, 2 exp(-deviation^2 / (2 terms)))``.

    The terms are independent variables in ``[-1, 1]``.
    """
    number = checks.whole(terms, "terms", at_least=1)
    distance = checks.positive(deviation, "deviation")
    return min(1.0, 2 * float(np.exp(-(distance * distance) / (2 * number))))


def bernstein(variance: float, bound: float, deviation: float) -> float:
    """Return Bernstein's bound.

    It is ``min(1, 2 exp(-deviation^2 / (2 variance + 2 bound deviation / 3)))``. The variance is
    that of the sum, and `bound` is the largest distance of a summand from its mean.
    """
    distance = checks.positive(deviation, "deviation")
    most = checks.positive(bound, "bound")
    checked = checks.non_negative(variance, "variance")
    divisor = 2 * checked + 2 * most * distance / 3
    return min(1.0, 2 * float(np.exp(-(distance * distance) / divisor)))


def symmetric_binomial(terms: int, deviation: float) -> float:
    """Return the exact probability that a sum of fair signs is at least `deviation` away from 0.

    There are at most ``10^12`` terms. Up to there the result is right to a relative 1e-9 within
    thirty standard deviations.

    >>> symmetric_binomial(4, 4.0), symmetric_binomial(4, 2.1)
    (0.125, 0.125)
    """
    distance = checks.positive(deviation, "deviation")
    number = checks.whole(terms, "terms", at_least=1, at_most=MOST_SIGNS)
    if distance > number * (1 + 1e-12) + 1:
        return 0.0

    # A sum differs from the number of terms by an even number. One that equals the deviation up to
    # rounding counts.
    smallest = int(np.ceil(distance * (1 - 1e-12) - 2e-9))
    positive = (number + smallest + 1) // 2
    if positive > number:
        return 0.0
    return min(1.0, 2 * float(betainc(positive, number - positive + 1, 0.5)))


def normal(sd: float, deviation: float) -> float:
    """Return the two-sided normal tail ``2 Phi(-deviation / sd)``."""
    return float(2 * ndtr(-checks.positive(deviation, "deviation") / checks.positive(sd, "sd")))


def kept_laplace_chernoff(terms: int, keep: float, scale: float, deviation: float) -> float:
    """Return Chernoff's bound for a sum of reports of ``M_L``.

    A report is ``B v + Y`` with any ``v`` in ``[-1, 1]``, where ``B`` is 1 with probability ``a``
    and 0 otherwise, and ``Y`` is Laplace noise. The centred moment generating function of a summand
    is ``(1 - a + a e^(l v)) e^(-a l v) / (1 - l^2 scale^2)``; it is largest at ``v = 1`` for
    ``a <= 1/2``, and at ``-1`` otherwise. Its logarithm is convex in ``l``. The bound is the
    smallest one for any ``l`` below ``1 / scale``.

    Parameters
    ----------
    terms : int
        Number of reports, at least 1.
    keep : float
        The probability ``a``, in ``(0, 1]``.
    scale : float
        Scale of the noise, ``> 0``.
    deviation : float
        Distance of the sum from its mean, ``> 0``.
    """
    from scipy.optimize import minimize_scalar

    number = checks.whole(terms, "terms", at_least=1)
    width = checks.positive(scale, "scale")
    share = checks.positive(deviation, "deviation") / number
    chance = checks.rate(keep, "keep")
    rare, often = sorted((chance, 1 - chance))

    last = min((1 - 1e-12) / width, share / width / width / 2)

    def exponent(part: float) -> float:
        rate = part * last
        if rate < 1:
            kept = math.log1p(rare * math.expm1(rate)) - rare * rate
        elif rare:
            kept = math.log(rare + often * math.exp(-rate)) + often * rate
        else:
            kept = 0.0
        return kept - math.log1p(-((width * rate) ** 2)) - rate * share

    best = minimize_scalar(exponent, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
    return min(1.0, 2 * math.exp(number * min(float(best.fun), 0.0)))
