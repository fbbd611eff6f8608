"""Distance of an estimated histogram from the data, and the sampling rate that makes it small.

`expected_total_variation` takes errors to be normal, which they are not if there are few reports.
For few reports there is `exact_total_variation`. It recovers the joint distribution of the reports
of one value and of all others from its generating function on a grid of roots of unity, so that the
mean absolute error is a finite sum.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ldpnb import checks
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Floats, Real, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

_LEAST = 1e-300

MOST_REPORTS = 2_000
"""Largest expected number of reports whose joint distribution is listed."""

_DEVIATIONS = 12
"""A grid covers this many standard deviations beyond the mean, and twice as many reports.

The rest has mass below 1e-15.
"""


def expected_total_variation(standard_deviations: ArrayLike, *, users: int) -> Real:
    """Return the mean total variation distance of an estimated histogram from the data.

    The estimate is taken to be unbiased and normal. Then the distance, half the sum of the mean
    absolute deviations ``sd sqrt(2/pi)`` divided by the number of users, has the mean
    ``sum(sd) / (n sqrt(2 pi))``.

    Parameters
    ----------
    standard_deviations : array_like, shape (k,)
        Standard deviation of each value's estimated count, in users.
    users : int
        Number of users ``n``, at least 1.

    Returns
    -------
    float
        The mean distance. It may exceed 1, because the estimate is not projected onto the simplex.

    Raises
    ------
    ValueError
        If `users` is less than 1.

    See Also
    --------
    exact_total_variation : Without the normal approximation.

    References
    ----------
    The quantity in Figure 3 of Biswas, Cormode and Maple (2022). The normal approximation is ours.

    Examples
    --------
    Two deviations of sqrt(pi) make a distance of 2 sqrt(pi) / sqrt(2 pi) = sqrt(2).

    >>> round(float(expected_total_variation([np.sqrt(np.pi), np.sqrt(np.pi)], users=1)) ** 2, 9)
    2.0
    """
    total = np.sum(real(standard_deviations))
    return total / (checks.whole(users, "users", at_least=1) * np.sqrt(2 * np.pi))


def smallest_rate(
    distance: float, holders: ArrayLike, *, users: int, mechanism: KaryRandomisedResponse
) -> float | None:
    """Find the smallest sampling rate at which ``c-hat`` is within a given mean distance.

    The distance is `expected_total_variation`. Biswas, Cormode and Maple (2022) ask in their
    Section 6 "where should we stop?".

    Parameters
    ----------
    distance : float
        Largest mean distance that is accepted, ``> 0``.
    holders : array_like, shape (k,)
        Number of users who hold each value.
    users : int
        Number of users, at least 1.
    mechanism : KaryRandomisedResponse
        The mechanism that makes the reports.

    Returns
    -------
    float or None
        The rate, or None if not even the reports of all users suffice.

    Examples
    --------
    >>> survey = {"holders": [600, 400], "users": 1000, "mechanism": KaryRandomisedResponse(1.0, 2)}
    >>> round(smallest_rate(0.05, **survey), 6), smallest_rate(0.01, **survey)
    (0.320705, None)
    """
    target = checks.positive(distance, "distance")

    def log_ratio(log_rate: float) -> float:
        """Return the logarithm of the distance over the target."""
        survey = SampledCounts(users, float(np.exp(log_rate)), mechanism)
        deviations = np.sqrt(survey.variance_realised_size(holders))
        reached = max(expected_total_variation(deviations, users=users), _LEAST)
        return float(np.log(reached) - np.log(target))

    if log_ratio(0.0) > 0:
        return None

    from scipy import optimize

    return float(np.exp(optimize.brentq(log_ratio, np.log(_LEAST), 0.0, xtol=1e-12)))


def exact_total_variation(holders: ArrayLike, survey: SampledCounts) -> float:
    """Compute the exact mean total variation distance of the estimate ``c-hat`` from the data.

    The distance is half the sum of absolute errors over the values, divided by the number of users.
    The users are fixed. Time and memory grow with the square of the number of reports.

    Parameters
    ----------
    holders : array_like of int, shape (k,)
        Number of users who hold each value. They add up to the users of the survey.
    survey : SampledCounts
        Number of users, sampling rate and mechanism, with at most 2,000 expected reports.

    Returns
    -------
    float
        The mean distance. It may exceed 1, because the estimate is not projected onto the simplex.

    Raises
    ------
    ValueError
        If the holders do not add up to the users, or too many reports are expected.

    See Also
    --------
    expected_total_variation : An approximation for many reports.

    References
    ----------
    The quantity in Figure 3 of Biswas, Cormode and Maple (2022).

    Examples
    --------
    One of two values is held by the only user, who always reports. The report is true with
    probability 3/4; then the estimate is off by ``q / (p - q) = 1/2`` at both values, and otherwise
    by 3/2. The distance is 3/4 * 1/2 + 1/4 * 3/2.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> survey = SampledCounts(1, 1.0, KaryRandomisedResponse(np.log(3), 2))
    >>> round(exact_total_variation([1, 0], survey), 9)
    0.75
    """
    counts = checks.counts(holders, "holders")
    if counts.sum() != survey.users:
        raise ValueError(f"holders must add up to the {survey.users} users, got {counts.sum()}")
    if survey.users * survey.rate > MOST_REPORTS:
        raise ValueError(
            f"rate must ask for at most {MOST_REPORTS} expected reports, "
            f"got {survey.users * survey.rate:g}"
        )

    q = survey.mechanism.q
    scale = survey.rate * survey.mechanism.truthful_rate
    numbers, repeats = np.unique(counts, return_counts=True)
    errors = []
    for number in numbers.tolist():
        chances = _report_chances(number, survey)
        reports, others = np.ogrid[: chances.shape[0], : chances.shape[1]]
        estimates = (reports * (1 - q) - others * q) / scale
        errors.append(np.sum(chances * np.abs(estimates - number)))
    return float(repeats @ errors) / (2 * survey.users)


def _report_chances(holders: int, survey: SampledCounts) -> Floats:
    """Return the probabilities of all numbers of reports, of one value (rows) and others (columns).

    So many users hold that value.
    """
    rate = survey.rate
    p = survey.mechanism.p
    q = survey.mechanism.q
    strangers = survey.users - holders

    rows = _grid_size(rate * (holders * p + strangers * q), survey)
    columns = _grid_size(rate * (holders * (1 - p) + strangers * (1 - q)), survey)

    # 1 less than the roots of unity, whose digits are needed if there are many users.
    u = special.expm1(-2j * np.pi * np.arange(rows) / rows)[:, None]
    v = special.expm1(-2j * np.pi * np.arange(columns // 2 + 1) / columns)

    logs = np.zeros((rows, columns // 2 + 1), dtype=complex)
    for number, chance in ((holders, p), (strangers, q)):
        # The small imaginary part keeps the logarithm finite at -1.
        one_user = rate * (chance * u + (1 - chance) * v) + 1j * _LEAST
        logs += number * special.log1p(one_user)
    return np.fft.irfft2(np.exp(logs), s=(rows, columns))


def _grid_size(mean: float, survey: SampledCounts) -> int:
    """Return how many numbers of reports, from 0 on, have a probability that is not negligible."""
    largest = int(mean + _DEVIATIONS * (np.sqrt(mean) + 2))
    return min(survey.users, largest) + 1
