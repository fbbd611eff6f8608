"""Exact mean and variance of the Hájek (ratio) estimate, for any rates and any number of users.

Write the estimate's ratio as ``A / B``: ``A = sum_j (1{j reports i} - r) S_j / pi_j`` and ``B = sum_j S_j / pi_j``,
with ``S_j`` whether user ``j`` is sampled and ``r`` the mean chance of reporting ``i``. Since ``1/B = int e^{-tB} dt``
and ``1/B^2 = int t e^{-tB} dt``, both moments are integrals over ``t`` of products over users, in which groups of equal
users are powers. Without a single report there is no estimate: moments are those given that somebody reports. In each
function `holders` are the users of each group with the value, ``(g,)``.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.arithmetic import Real

_STEP, _FIRST, _LAST = 0.03125, -4.75, 7.0
"""Nodes of the double-exponential rule ``t = e^{x - e^{-x}}``; halving the step changes nothing beyond the twelfth
digit.
"""


def mean_hajek(survey: PersonalRates, holders: ArrayLike) -> float:
    """Return the exact mean; with rates that follow the values it differs from the count by ``O(1)`` users.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> survey = PersonalRates([100, 100], [0.5, 0.5], KaryRandomisedResponse(np.log(3), 2))
    >>> round(mean_hajek(survey, [50, 10]), 9)
    60.0
    """
    held = survey.split(holders)[0].sum()
    return float(held + survey.users * _ratio(survey, holders)[0] / survey.mechanism.truthful_rate)


def variance_hajek(survey: PersonalRates, holders: ArrayLike) -> float:
    """Return the exact variance.

    Of two users, one holder, the second is always sampled and nobody lies: 4/3 or 0 holders are estimated, as the first
    is sampled or not.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> survey = PersonalRates([1, 1], [0.5, 1.0], KaryRandomisedResponse(60.0, 2))
    >>> round(variance_hajek(survey, [1, 0]) - (4 / 3) ** 2 / 4, 9)
    0.0
    """
    mean, square = _ratio(survey, holders)
    return float((square - mean**2) * (survey.users / survey.mechanism.truthful_rate) ** 2)


def leading_variance_hajek(survey: PersonalRates, holders: ArrayLike) -> Real:
    """Return the leading term of the variance, exact as the number of reports grows.

    It is the variance of Horvitz-Thompson with ``s_j - r`` for ``s_j - q``.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> survey = PersonalRates([100], [0.5], KaryRandomisedResponse(np.log(3), 2))
    >>> round(float(leading_variance_hajek(survey, [50])), 9)
    175.0
    """
    return survey.inverse_rate_variance(holders, survey.split(holders)[0].sum() / survey.users)


def _ratio(survey: PersonalRates, holders: ArrayLike) -> tuple[float, float]:
    """Return the first two moments of ``A / B`` given that somebody reports."""
    size, rate, mechanism = survey.sizes, survey.rates, survey.mechanism
    truth, chances = np.stack(survey.split(holders)), np.array([[mechanism.p], [mechanism.q]])
    r = mechanism.q + truth[0].sum() / survey.users * mechanism.truthful_rate
    x = np.arange(_FIRST, _LAST, _STEP)[:, None]
    t = np.exp(x - np.exp(-x)) / survey.users
    # of a user's weight S/pi: the logarithm of its transform, and what is left of that when the user is known to report
    silence = np.where(rate < 1, rate * np.expm1(-t / rate), 0)
    log_transform = np.where(rate < 1, np.log1p(silence), -t)
    sampled = np.exp(-t / rate - log_transform)
    weights = (_STEP * t * (1 + np.exp(-x)))[:, 0] * np.exp(log_transform @ size)
    first, second = ((truth * (chances - r) ** power).sum(axis=0) for power in (1, 2))
    alone = (truth * (chances * (1 - r) ** 2 + (1 - chances) * r**2)).sum(axis=0) / rate
    mean = weights @ (sampled @ first)
    square = (weights * t[:, 0]) @ ((sampled @ first) ** 2 + sampled @ alone - sampled**2 @ second)
    somebody = -np.expm1(float(size @ np.log1p(-rate))) if (rate < 1).all() else 1.0
    return float(mean / somebody), float(square / somebody)
