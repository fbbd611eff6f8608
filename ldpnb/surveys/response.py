"""Nonresponse: how many to invite, and what missing answers do to variance and bias.

What they do to privacy where response depends on the value is `ldpnb.privacy.participation.participation_loss`.
"""

import numpy as np
from scipy import stats

from ldpnb import checks
from ldpnb.surveys.variances import MOST


def invitations(needed: int, response: float, failure: float) -> int:
    """Return the fewest invitations that bring `needed` answers except with probability `failure`.

    Everybody answers independently with probability `response`, whatever their value, report and design. The guarantee
    of an error then fails with at most the sum of both probabilities.

    >>> invitations(1842, 0.6, 0.05)
    3145
    """
    needed, response = checks.whole(needed=needed, at_least=1), checks.rate(response=response)
    failure = checks.open_probability(failure=failure)
    low, high = needed, 2 * needed
    while stats.binom.cdf(needed - 1, high, response) > failure:
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"response must bring {needed:,} answers of {MOST:,} people, got response={response!r}")
    while low < high:
        middle = (low + high) // 2
        enough = stats.binom.cdf(needed - 1, middle, response) <= failure
        low, high = (low, middle) if enough else (middle + 1, high)
    return high


def invitations_of(answers: int, people: int, response: float, failure: float, whom: str) -> int:
    """Return how many people must be invited for so many answers, and refuse more than the `people` there are."""
    invited = answers if response == 1 else invitations(answers, response, failure)
    if invited > people:
        raise ValueError(f"{invited:,} would have to be invited for {answers:,} answers, got {people:,} {whom}")
    return invited


def bias_bound(lowest: float, highest: float, span: float = 1.0) -> float:
    """Return the largest bias of the mean if response rates depend on the value, between two known rates; attained.

    >>> round(bias_bound(0.4, 0.8), 6)
    0.171573
    """
    low, high = np.sqrt(checks.rate(lowest=lowest)), np.sqrt(checks.rate(highest=highest))
    return float(span * (high - low) / (high + low))
