"""Distance of an estimated histogram from the data, and the sampling rate that makes it small enough."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Real, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

_LEAST = 1e-300


def expected_total_variation(standard_deviations: ArrayLike, *, users: int) -> Real:
    """Return ``sum(sd) / (n sqrt(2 pi))``, the mean total variation distance of an unbiased normal estimate.

    Half the sum of mean absolute deviations ``sd sqrt(2/pi)``, divided by the number of users: the quantity in Figure 3
    of biswas2022, in our normal approximation. The estimate is not projected, so the value may exceed 1.

    - `standard_deviations`, (k,) float: of each value's estimated count.

    >>> round(float(expected_total_variation([np.sqrt(np.pi), np.sqrt(np.pi)], users=1)) ** 2, 9)
    2.0
    """
    return np.sum(real(standard_deviations)) / (checks.whole(users=users, at_least=1) * np.sqrt(2 * np.pi))


def smallest_rate(
    distance: float, holders: ArrayLike, *, users: int, mechanism: KaryRandomisedResponse
) -> float | None:
    """Return the smallest sampling rate at which `expected_total_variation` of ``c-hat`` is at most a given distance.

    None if not even all users suffice. "Where should we stop?", Section 6 of biswas2022.

    - `distance`, float: target, ``> 0``.
    - `holders`, (k,) float: users who hold each value.
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
