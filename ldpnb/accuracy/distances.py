"""How far an estimated histogram is from the data, in expected total variation, and the sampling rate that brings it
near enough.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.accuracy.sampling import variance_realised_size
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def expected_total_variation(standard_deviations: ArrayLike, *, nodes: int) -> float:
    """Return ``sum(sd) / (n sqrt(2 pi))``, the mean total variation distance between an unbiased normal estimate and
    the truth.

    Half the sum of mean absolute deviations ``sd sqrt(2/pi)``, divided by the number of nodes. The estimate is not
    projected, so the value may exceed 1.

    Parameters
    ----------
    standard_deviations : (k,) float
        Of each value's estimated count.
    nodes : int
        Number of nodes.

    Returns
    -------
    float

    References
    ----------
    The quantity of Figure 3 of biswas2022; the normal approximation is ours.

    Examples
    --------
    >>> round(expected_total_variation([np.sqrt(np.pi), np.sqrt(np.pi)], nodes=1) ** 2, 9)
    2.0
    """
    deviations = np.asarray(standard_deviations, dtype=float)
    return float(deviations.sum() / (checks.whole(nodes=nodes, at_least=1) * np.sqrt(2 * np.pi)))


def smallest_rate(
    distance: float, holders: ArrayLike, *, nodes: int, mechanism: KaryRandomisedResponse
) -> float | None:
    """Return the smallest sampling rate at which the expected total variation of ``c-hat`` is at most a given distance.

    Parameters
    ----------
    distance : float
        Target, ``> 0``.
    holders : (k,) float
        Nodes that hold each value.
    nodes : int
        Number of nodes.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    float or None
        None if not even all nodes suffice.

    References
    ----------
    "Where should we stop?", Section 6 of biswas2022.

    Examples
    --------
    >>> mechanism = KaryRandomisedResponse(np.log(3), 2)
    >>> smallest_rate(0.01, [50, 50], nodes=100, mechanism=mechanism) is None
    True
    """
    target = checks.positive(distance=distance)

    def excess(log_rate: float) -> float:
        rate = float(np.exp(log_rate))
        variance = variance_realised_size(holders, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
        return float(np.log(expected_total_variation(np.sqrt(variance), nodes=nodes) / target))

    if excess(0.0) > 0:
        return None
    from scipy import optimize

    low = -1.0
    while excess(low) < 0:
        low *= 2
    return float(np.exp(optimize.brentq(excess, low, 0.0, xtol=1e-12)))
