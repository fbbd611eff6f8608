"""Distance of an estimated histogram from the data, and the sampling rate that makes it small enough.

`expected_total_variation` takes errors for normal, which they are far from with few reports; for these there is
`exact_total_variation`. It recovers the joint law of the reports of one value and of all others from its generating
function on a grid of roots of unity, so that the mean absolute error is a finite sum.
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
"""Most expected reports whose joint law is listed."""

_SPREADS = 12
"""Standard deviations beyond the mean that a grid covers, plus as many reports; the rest has mass below 1e-15."""


def expected_total_variation(standard_deviations: ArrayLike, *, users: int) -> Real:
    """Return ``sum(sd) / (n sqrt(2 pi))``, the mean total variation distance of an unbiased normal estimate.

    Half the sum of mean absolute deviations ``sd sqrt(2/pi)``, divided by the number of users: the quantity in Figure 3
    of biswas2022, in our normal approximation. The estimate is not projected, so the value may exceed 1.

    - `standard_deviations`, (k,) float: of each value's estimated count.

    >>> round(float(expected_total_variation([np.sqrt(np.pi), np.sqrt(np.pi)], users=1)) ** 2, 9)
    2.0
    """
    return np.sum(real(standard_deviations)) / (
        checks.whole(users, "users", at_least=1) * np.sqrt(2 * np.pi)
    )


def smallest_rate(
    distance: float, holders: ArrayLike, *, users: int, mechanism: KaryRandomisedResponse
) -> float | None:
    """Return the smallest sampling rate at which `expected_total_variation` of ``c-hat`` is at most a given distance.

    None if not even all users suffice. "Where should we stop?", Section 6 of biswas2022.

    - `distance`, float: target, ``> 0``.
    - `holders`, (k,) float: users who hold each value.

    >>> survey = {"holders": [600, 400], "users": 1000, "mechanism": KaryRandomisedResponse(1.0, 2)}
    >>> round(smallest_rate(0.05, **survey), 6), smallest_rate(0.01, **survey)
    (0.320705, None)
    """
    target = checks.positive(distance, "distance")

    def excess(log_rate: float) -> float:
        variance = SampledCounts(users, float(np.exp(log_rate)), mechanism).variance_realised_size(
            holders
        )
        return float(
            np.log(max(expected_total_variation(np.sqrt(variance), users=users), _LEAST))
            - np.log(target)
        )

    if excess(0.0) > 0:
        return None
    from scipy import optimize

    return float(np.exp(optimize.brentq(excess, np.log(_LEAST), 0.0, xtol=1e-12)))


def exact_total_variation(holders: ArrayLike, survey: SampledCounts) -> float:
    """Return the exact mean total variation distance of ``c-hat`` from the data of fixed users.

    Half the sum of mean absolute errors over values, divided by the users. The estimate is not projected. Time and
    memory grow with the square of the number of reports.

    - `holders`, (k,) int: users who hold each value; they add up to the survey's.

    One user of two values who always reports: truly with chance 3/4, else off by ``1 / (p - q) = 2`` at both values.

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
            f"rate must ask for at most {MOST_REPORTS} expected reports, got {survey.users * survey.rate:g}"
        )
    numbers, repeats = np.unique(counts, return_counts=True)
    q, scale, errors = survey.mechanism.q, survey.rate * survey.mechanism.truthful_rate, []
    for number in numbers.tolist():
        law = _report_law(number, survey)
        own, other = np.ogrid[: law.shape[0], : law.shape[1]]
        errors.append(np.sum(law * np.abs((own * (1 - q) - other * q) / scale - number)))
    return float(repeats @ errors) / (2 * survey.users)


def _report_law(holders: int, survey: SampledCounts) -> Floats:
    """Return the joint probabilities of the numbers of reports of one value (rows) and of all others (columns)."""
    rate, p, q = survey.rate, survey.mechanism.p, survey.mechanism.q
    strangers = survey.users - holders
    means = rate * (holders * p + strangers * q), rate * (holders * (1 - p) + strangers * (1 - q))
    rows, columns = (
        min(survey.users, int(mean + _SPREADS * (np.sqrt(mean) + 2))) + 1 for mean in means
    )
    # 1 less than the roots of unity, whose digits many users need
    own = special.expm1(-2j * np.pi * np.arange(rows) / rows)[:, None]
    other = special.expm1(-2j * np.pi * np.arange(columns // 2 + 1) / columns)
    logs = np.zeros((rows, columns // 2 + 1), dtype=complex)
    for number, truth in ((holders, p), (strangers, q)):
        logs += number * special.log1p(
            rate * (truth * own + (1 - truth) * other) + 1j * _LEAST
        )  # finite at -1 too
    return np.fft.irfft2(np.exp(logs), s=(rows, columns))
