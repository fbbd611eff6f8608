"""Nonresponse: how many to invite, and what missing answers do to variance and bias.

What they do to privacy where response depends on the value is `ldpnb.privacy.participation.participation_loss`.
"""

import numpy as np
from scipy import stats

from ldpnb import checks


def invitations(needed: int, response: float, failure: float) -> int:
    """Return the fewest invitations that bring `needed` answers except with probability `failure`.

    Everybody answers independently with probability `response`, whatever their value, report and design. The guarantee
    of an error then fails with at most the sum of both probabilities.

    >>> invitations(1842, 0.6, 0.05)
    3145
    """
    checks.whole(needed=needed, at_least=1)
    checks.rate(response=response)
    checks.open_probability(failure=failure)
    low, high = needed, 2 * needed
    while stats.binom.cdf(needed - 1, high, response) > failure:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        enough = stats.binom.cdf(needed - 1, middle, response) <= failure
        low, high = (low, middle) if enough else (middle + 1, high)
    return high


def answers_variance(s2: float, noise: float, *, population: int, invited: int, response: float) -> float:
    """Return the variance of the mean of the answers to a simple random sample, given that there is one.

    ``(s2 + v) E[1/K | K >= 1] - s2 / N`` with ``K ~ Bin(invited, response)``.
    """
    number = np.arange(1, invited + 1)
    chance = stats.binom.pmf(number, invited, checks.rate(response=response))
    inverse = float(np.sum(chance / number)) / -float(np.expm1(stats.binom.logpmf(0, invited, response)))
    return (s2 + noise) * inverse - s2 / population


def known_rate_variance(
    s2: float, noise: float, square: float, *, population: int, invited: int, response: float
) -> float:
    """Return the variance of the answers weighted by ``1 / (invited response)`` around a public centre.

    Parameters
    ----------
    s2, noise : float
        Of the values, and the mean variance of a report.
    square : float
        Mean squared distance of the values from the centre.
    population, invited : int
    response : float
    """
    complete = (1 - invited / population) * s2 / invited + noise / invited
    return complete + (1 - response) / (response * invited) * (square + noise)


def bias_bound(lowest: float, highest: float, span: float = 1.0) -> float:
    """Return the largest bias of the mean if response rates depend on the value, between two known rates; attained.

    >>> round(bias_bound(0.4, 0.8), 6)
    0.171573
    """
    low, high = np.sqrt(checks.rate(lowest=lowest)), np.sqrt(checks.rate(highest=highest))
    return float(span * (high - low) / (high + low))
