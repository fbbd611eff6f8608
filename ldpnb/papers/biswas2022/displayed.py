"""Variances under sampling as biswas2022 displays them, where they differ from the exact ones.

Use them to see by how much; for anything else use `ldpnb.accuracy.sampling` and `ldpnb.accuracy.personalised`. As
there, ``holders`` is the number of users with the value.
"""

from typing import Any

from numpy.typing import ArrayLike

from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real


def variance_unadjusted(survey: SampledCounts, holders: Real) -> Real:
    """Return the variance of ``c_DE`` as displayed in the proof of Theorem 3.2.

    ``(n pi f p (1-p) + n pi (1-f) q (1-q) + r^2 n pi (1-pi)) / (p - q)^2``. It mixes the two models of the data and is
    exact in neither: too small by ``n pi (1-pi) f (1-f)`` for fixed and by ``n pi f (1-f)`` for iid data, and right in
    the limit ``f -> 0``.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> import numpy as np
    >>> round(float(variance_unadjusted(SampledCounts(100, 1.0, KaryRandomisedResponse(np.log(3), 2)), 50)), 9)
    75.0
    """
    noise, mean_report = _average_user(survey.mechanism, holders / survey.users)
    per_user = survey.rate * (noise + (1 - survey.rate) * mean_report * mean_report)
    return survey.users * per_user / (survey.mechanism.truthful_rate * survey.mechanism.truthful_rate)


def variance_personalised(survey: PersonalRates, holders: ArrayLike) -> Real:
    """Return the variance of ``T`` as displayed in the proof of Theorem 5.1, its missing indices put in.

    ``n^2 sum_j [pi_j (1-pi_j) (v + r^2) + pi_j^2 v] / ((sum_j pi_j)^2 (p-q)^2)`` with ``v = f p(1-p) + (1-f) q(1-q)``,
    ``r = f p + (1-f) q``: every user is taken for an average one, and the spread of ``s_j`` between users is lost.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> import numpy as np
    >>> round(float(variance_personalised(PersonalRates([100], [0.5], KaryRandomisedResponse(np.log(3), 2)), [0])), 9)
    175.0
    """
    size, rate = survey.sizes, survey.rates
    noise, mean_report = _average_user(survey.mechanism, survey.split(holders)[0].sum(axis=0) / survey.users)
    total = size @ (rate * (1 - rate)) * (noise + mean_report * mean_report) + size @ (rate * rate) * noise
    scale = survey.users / (survey.reports * survey.mechanism.truthful_rate)
    return total * scale * scale


def _average_user(mechanism: Any, share: Real) -> tuple[Real, Real]:
    """Return ``f p (1-p) + (1-f) q (1-q)``, the mean noise of a report, and ``f p + (1-f) q``, its mean."""
    p, q, rest = mechanism.p, mechanism.q, (mechanism.domain_size - 1) * mechanism.q
    return share * p * rest + (1 - share) * q * (1 - q), share * p + (1 - share) * q
