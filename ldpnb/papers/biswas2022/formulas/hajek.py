"""Exact mean and variance of the Hájek (ratio) estimate, for any rates and any number of users.

The ratio of the estimate is ``A / B`` with ``A = sum_j (1{j reports i} - r) S_j / pi_j`` and
``B = sum_j S_j / pi_j``. Here ``S_j`` is 1 if user ``j`` is sampled and 0 otherwise, and ``r`` is
such that the mean of the ratio is 0, so that nothing cancels. Since ``1/B = int e^{-tB} dt`` and
``1/B^2 = int t e^{-tB} dt``, both moments are integrals over ``t`` of products over users, in which
groups of equal users are powers.

Without a single report there is no estimate. The moments are those given that somebody reports.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from ldpnb.arithmetic import Floats
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates

# Nodes of the double-exponential rule ``t = e^{x - e^{-x}}``. Half the step changes nothing in the
# first twelve digits.
_FIRST = -4.75
_LAST = 7.0
_STEP = 0.0078125


def mean_hajek(survey: PersonalRates, holders: ArrayLike) -> float:
    """Return the exact mean of the estimated count, in users.

    It differs from the true count by ``O(1)`` users if the rates depend on the values. The holders
    are the users of each group with the value, of shape (groups,).
    """
    _, weights, sampled = _nodes(survey)
    counts = np.stack(survey.split(holders))
    return float(survey.users * (counts @ (weights @ sampled))[0])


def variance_hajek(survey: PersonalRates, holders: ArrayLike) -> float:
    """Return the exact variance of the estimated count, in users squared.

    The holders are the users of each group with the value, of shape (groups,).
    """
    p = survey.mechanism.p
    q = survey.mechanism.q
    rate = survey.rates
    counts = np.stack(survey.split(holders))

    t, weights, sampled = _nodes(survey)
    share, other = counts @ (weights @ sampled)

    # The square of a sum over users around its mean, without anything that cancels.
    report_variance = np.array([p * survey.mechanism.miss_rate, q * (1 - q)]) @ counts
    deviation = np.array([other, -share]) @ counts
    squares = np.array([other * other, share * share]) @ counts

    unsampled = expit(t / rate - logit(rate))
    square = (sampled @ deviation) ** 2 + (sampled * unsampled) @ (squares / rate)
    square += sampled @ (report_variance / rate) / survey.mechanism.truthful_rate**2
    return float((weights * t[:, 0]) @ square * survey.users**2)


def _nodes(survey: PersonalRates) -> tuple[Floats, Floats, Floats]:
    """Return the nodes ``t``, their weights, and each group's tilt.

    They have shapes (nodes, 1), (nodes,) and (nodes, groups). The weights are those of the integral
    given that somebody reports. The tilt is the factor of ``E[e^{-tB}]`` if a user is known to
    report.
    """
    size = survey.sizes
    rate = survey.rates
    x = np.arange(_FIRST, _LAST, _STEP)[:, None]
    t = np.exp(x - np.exp(-x)) / survey.users

    unreported = np.where(rate < 1, rate * np.expm1(-t / rate), 0)
    log_transform = np.where(rate < 1, np.log1p(unreported), -t)
    somebody = -np.expm1(float(size @ np.log1p(-rate))) if (rate < 1).all() else 1.0

    weights = (_STEP * t * (1 + np.exp(-x)))[:, 0] * np.exp(log_transform @ size) / somebody
    return t, weights, expit(logit(rate) - t / rate) / rate
