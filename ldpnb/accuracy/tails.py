"""How likely a sum is to miss its mean by a given deviation: certain bounds, exact laws, the normal approximation.

Two-sided throughout: the probability (or its bound) of ``|S - E S| >= deviation``, a number ``> 0``. Use `chebyshev`
when only the variance is known; `hoeffding` and `bernstein` for sums of bounded variables; `symmetric_binomial` for
sums of fair signs, exactly; `kept_laplace_chernoff` for the sums of the Laplace group-mean mechanism; `normal`
where an approximation will do, and `normal_laplace` for that plus a curator's noise.
"""

import math

import numpy as np
from scipy.special import betainc, erfcx, ndtr

from ldpnb import checks

MOST_SIGNS = 10**12
"""Most terms of a `symmetric_binomial`, up to which the incomplete beta function is right to nine digits."""


def chebyshev(variance: float, deviation: float) -> float:
    """Return Chebyshev's bound ``min(1, variance / deviation^2)``."""
    spread, distance = (
        checks.non_negative(variance, "variance"),
        checks.positive(deviation, "deviation"),
    )
    return spread / (distance * distance) if spread < distance * distance else 1.0


def hoeffding(terms: int, deviation: float) -> float:
    """Return Hoeffding's ``min(1, 2 exp(-deviation^2 / (2 terms)))`` for independent variables in ``[-1, 1]``."""
    number = checks.whole(terms, "terms", at_least=1)
    distance = checks.positive(deviation, "deviation")
    return min(1.0, 2 * float(np.exp(-(distance * distance) / (2 * number))))


def bernstein(variance: float, bound: float, deviation: float) -> float:
    """Return Bernstein's bound ``min(1, 2 exp(-deviation^2 / (2 variance + 2 bound deviation / 3)))``.

    `variance` is that of the sum, `bound` the largest distance of a summand from its mean.
    """
    distance, most = checks.positive(deviation, "deviation"), checks.positive(bound, "bound")
    spread = checks.non_negative(variance, "variance")
    return min(
        1.0, 2 * float(np.exp(-(distance * distance) / (2 * spread + 2 * most * distance / 3)))
    )


def symmetric_binomial(terms: int, deviation: float) -> float:
    """Return the exact probability that a sum of fair signs is at least `deviation` away from 0.

    There are at most ``10^12`` terms; up to there the result is right to a relative 1e-9 within thirty deviations.

    >>> symmetric_binomial(4, 4.0), symmetric_binomial(4, 2.1)
    (0.125, 0.125)
    """
    distance, number = (
        checks.positive(deviation, "deviation"),
        checks.whole(terms, "terms", at_least=1, at_most=MOST_SIGNS),
    )
    if distance > number * (1 + 1e-12) + 1:
        return 0.0
    # a sum differs from the number of terms by an even number; one equal to the deviation up to rounding counts
    positive = (number + int(np.ceil(distance * (1 - 1e-12) - 2e-9)) + 1) // 2
    return (
        0.0
        if positive > number
        else min(1.0, 2 * float(betainc(positive, number - positive + 1, 0.5)))
    )


def normal(sd: float, deviation: float) -> float:
    """Return the two-sided normal tail ``2 Phi(-deviation / sd)``."""
    return float(2 * ndtr(-checks.positive(deviation, "deviation") / checks.positive(sd, "sd")))


def normal_laplace(sd: float, scale: float, deviation: float) -> float:
    """Return the two-sided tail of a normal variable of standard deviation `sd` plus Laplace noise of that `scale`."""
    spread, width = checks.positive(sd, "sd"), checks.positive(scale, "scale")
    far, tilt = checks.positive(deviation, "deviation") / spread, spread / width
    peak = math.exp(-far * far / 2) / 2
    # e^(tilt^2/2 -+ far tilt) Phi(+-far - tilt), without an overflow
    above = (
        peak * erfcx((tilt - far) / math.sqrt(2))
        if tilt >= far
        else math.exp(tilt * (tilt / 2 - far)) * ndtr(far - tilt)
    )
    return min(1.0, float(2 * ndtr(-far) + above - peak * erfcx((far + tilt) / math.sqrt(2))))


def kept_laplace_chernoff(terms: int, keep: float, scale: float, deviation: float) -> float:
    """Return Chernoff's bound for a sum of reports of ``M_L``: ``B v + Y`` with any ``v`` in ``[-1, 1]``.

    ``B`` is one with probability ``a``, `keep`, and ``Y`` Laplace noise of that `scale`. The centred moment generating
    function of a summand is ``(1 - a + a e^(l v)) e^(-a l v) / (1 - l^2 scale^2)``, largest at ``v = 1`` for ``a <=
    1/2`` and at ``-1`` else. Its logarithm is convex in ``l``; the bound is the least for an ``l`` below ``1 / scale``.
    """
    from scipy.optimize import minimize_scalar

    number, width = checks.whole(terms, "terms", at_least=1), checks.positive(scale, "scale")
    share, chance = checks.positive(deviation, "deviation") / number, checks.rate(keep, "keep")
    rare, often = sorted((chance, 1 - chance))

    last = min((1 - 1e-12) / width, share / width / width / 2)

    def exponent(part: float) -> float:
        rate = part * last
        if rate < 1:
            kept = math.log1p(rare * math.expm1(rate)) - rare * rate
        else:
            kept = math.log(rare + often * math.exp(-rate)) + often * rate if rare else 0.0
        return kept - math.log1p(-((width * rate) ** 2)) - rate * share

    least = minimize_scalar(
        exponent, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12}
    ).fun
    return min(1.0, 2 * math.exp(number * min(float(least), 0.0)))
