"""How far an estimated histogram is from the data, and the sampling rate that brings it near enough."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

_MOST_REPORTS = 2_000
_LEAST = 1e-300


def expected_total_variation(standard_deviations: ArrayLike, *, users: int) -> Real:
    """Return ``sum(sd) / (n sqrt(2 pi))``, the mean total variation distance of an unbiased normal estimate.

    Half the sum of mean absolute deviations ``sd sqrt(2/pi)``, divided by the number of users: the quantity of Figure 3
    of biswas2022, the normal approximation being ours. The estimate is not projected, so the value may exceed 1.

    Parameters
    ----------
    standard_deviations : (k,) float
        Of each value's estimated count.
    users : int

    Examples
    --------
    >>> round(float(expected_total_variation([np.sqrt(np.pi), np.sqrt(np.pi)], users=1)) ** 2, 9)
    2.0
    """
    return np.sum(real(standard_deviations)) / (checks.whole(users=users, at_least=1) * np.sqrt(2 * np.pi))


def exact_total_variation(survey: SampledCounts, holders: ArrayLike) -> float:
    """Return the exact mean total variation distance of ``c-hat``, for fixed data: where reports are few.

    With ``N`` reports of the value and ``M`` others a count is wrong by ``((1-q) N - q M) / (pi (p-q)) - n f``. Their
    joint law is read off its characteristic function, on a grid that leaves out less than 1e-17 of it; time and memory
    grow with the square of the expected reports.

    Parameters
    ----------
    survey : SampledCounts
        With at most 2,000 expected reports.
    holders : (k,) int
        Users who hold each value, of whom there are as many as `survey` says.

    Examples
    --------
    >>> one = SampledCounts(1, 0.5, KaryRandomisedResponse(np.log(3), 2))
    >>> round(exact_total_variation(one, [1, 0]), 9)
    1.125
    """
    p, q, rate, counts = survey.mechanism.p, survey.mechanism.q, survey.rate, checks.counts(holders=holders)
    if counts.sum() != survey.users:
        raise ValueError(f"holders must sum to users={survey.users}, got {counts.sum()}")
    if survey.users * rate > _MOST_REPORTS:
        raise ValueError(f"rate must ask for at most {_MOST_REPORTS} expected reports, got {survey.users * rate:g}")
    size, total = _room(survey.users * rate), 0.0
    for held, values in zip(*np.unique(counts, return_counts=True), strict=True):
        own = _room(rate * (held * p + (survey.users - held) * q))
        one, other = (np.exp(-2j * np.pi * np.arange(n) / length) for n, length in ((own, own), (size // 2 + 1, size)))
        user = [1 - rate + rate * (s * one[:, None] + (1 - s) * other) for s in (p, q)]
        law = np.fft.irfft(np.fft.ifft(user[0] ** held * user[1] ** (survey.users - held), axis=0), size, axis=1)
        error = (1 - q) * np.arange(own)[:, None] - q * np.arange(size) - rate * (p - q) * held
        total += values * (law * np.abs(error)).sum()
    return float(total / (2 * survey.users * rate * survey.mechanism.truthful_rate))


def _room(mean: float) -> int:
    """Return a length that a sum of independent indicators with this mean all but never reaches."""
    return int(mean + 9 * np.sqrt(mean) + 20)


def smallest_rate(
    distance: float, holders: ArrayLike, *, users: int, mechanism: KaryRandomisedResponse
) -> float | None:
    """Return the smallest sampling rate at which `expected_total_variation` of ``c-hat`` is at most a given distance.

    Parameters
    ----------
    distance : float
        Target, ``> 0``.
    holders : (k,) float
        Users who hold each value.
    users : int
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float or None
        None if not even all users suffice.

    References
    ----------
    "Where should we stop?", Section 6 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> smallest_rate(0.01, [50, 50], users=100, mechanism=mechanism) is None
    True
    """
    target = checks.positive(distance=distance)

    def excess(log_rate: float) -> float:
        variance = SampledCounts(users, float(np.exp(log_rate)), mechanism).variance_realised_size(holders)
        return float(np.log(max(expected_total_variation(np.sqrt(variance), users=users), _LEAST)) - np.log(target))

    if excess(0.0) > 0:
        return None
    from scipy import optimize

    lowest = float(np.log(_LEAST))
    if excess(lowest) <= 0:
        raise ValueError(f"distance must be so small that a rate of {_LEAST} exceeds it, got distance={distance!r}")
    return float(np.exp(optimize.brentq(excess, lowest, 0.0, xtol=1e-12)))
