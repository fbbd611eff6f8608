"""Exact mean and variance of the Hájek (ratio) estimate, for any rates and any number of users.

Write the estimate's ratio as ``A / B``: ``A = sum_j (1{j reports i} - r) S_j / pi_j`` and ``B = sum_j S_j / pi_j``,
with ``S_j`` whether user ``j`` is sampled and ``r`` such that the ratio's mean is 0, so that nothing cancels. Since
``1/B = int e^{-tB} dt`` and ``1/B^2 = int t e^{-tB} dt``, both moments are integrals over ``t`` of products over users,
in which groups of equal users are powers. Without a single report there is no estimate: moments are those given that
somebody reports. In each function `holders` are the users of each group with the value, ``(g,)``.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from ldpnb.arithmetic import Floats
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates

_STEP, _FIRST, _LAST = 0.0078125, -4.75, 7.0
"""Nodes of the double-exponential rule ``t = e^{x - e^{-x}}``; halving the step changes nothing beyond the twelfth
digit.
"""


def mean_hajek(survey: PersonalRates, holders: ArrayLike) -> float:
    """Return the exact mean; with rates that follow the values it differs from the count by ``O(1)`` users."""
    _, weights, sampled = _nodes(survey)
    return float(survey.users * (np.stack(survey.split(holders)) @ (weights @ sampled))[0])


def variance_hajek(survey: PersonalRates, holders: ArrayLike) -> float:
    """Return the exact variance."""
    mechanism, rate, counts = survey.mechanism, survey.rates, np.stack(survey.split(holders))
    t, weights, sampled = _nodes(survey)
    share, other = counts @ (weights @ sampled)
    # the square of a sum over users around its mean, without anything that cancels
    spread = np.array([mechanism.p * mechanism.miss_rate, mechanism.q * (1 - mechanism.q)]) @ counts
    pull, squares = (
        np.array([other, -share]) @ counts,
        np.array([other * other, share * share]) @ counts,
    )
    unsampled = expit(t / rate - logit(rate))
    square = (sampled @ pull) ** 2 + (sampled * unsampled) @ (squares / rate)
    square += sampled @ (spread / rate) / mechanism.truthful_rate**2
    return float((weights * t[:, 0]) @ square * survey.users**2)


def _nodes(survey: PersonalRates) -> tuple[Floats, Floats, Floats]:
    """Return the nodes ``t``, ``(nodes, 1)``, their weights, and each group's tilt, ``(nodes, groups)``.

    The weights are those of the integral given that somebody reports. The tilt is what ``E[e^{-tB}]`` is multiplied by
    when a user is known to have a weight in ``B``.
    """
    size, rate = survey.sizes, survey.rates
    x = np.arange(_FIRST, _LAST, _STEP)[:, None]
    t = np.exp(x - np.exp(-x)) / survey.users
    silence = np.where(rate < 1, rate * np.expm1(-t / rate), 0)
    log_transform = np.where(rate < 1, np.log1p(silence), -t)
    somebody = -np.expm1(float(size @ np.log1p(-rate))) if (rate < 1).all() else 1.0
    weights = (_STEP * t * (1 + np.exp(-x)))[:, 0] * np.exp(log_transform @ size) / somebody
    return t, weights, expit(logit(rate) - t / rate) / rate
