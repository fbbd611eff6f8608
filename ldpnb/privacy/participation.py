"""What taking part reveals when the probability of reporting depends on the value."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def value_dependent_channel(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> NDArray[np.float64]:
    """Return the channel of nodes that report with a probability depending on their *true* value; the last output is
    silence.

    Parameters
    ----------
    rates : (k,) float
        Probability ``pi(x)`` in ``[0, 1]`` that a node with value ``x`` reports.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (k + 1, k) float
        Columns sum to 1.

    References
    ----------
    Open question (i) of biswas2022, Section 6.

    Examples
    --------
    >>> value_dependent_channel([0.4, 0.8], KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [[0.3, 0.2], [0.1, 0.6], [0.6, 0.2]]
    """
    chance = _rates(rates, mechanism)
    return np.vstack([mechanism.channel() * chance, 1 - chance])


def report_dependent_channel(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> NDArray[np.float64]:
    """Return the channel of nodes that randomise first and send the report ``y`` with probability ``pi(y)``; the last
    output is silence.

    Post-processing of the report, so never less private than the mechanism.

    Parameters
    ----------
    rates : (k,) float
        Probability ``pi(y)`` in ``[0, 1]`` of sending the report ``y``.
    mechanism : KaryRandomisedResponse

    Returns
    -------
    (k + 1, k) float
        Columns sum to 1.

    Examples
    --------
    >>> report_dependent_channel([0.4, 0.8], KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [[0.3, 0.1], [0.2, 0.6], [0.5, 0.3]]
    """
    chance = _rates(rates, mechanism)
    sent = mechanism.channel() * chance[:, None]
    return np.vstack([sent, 1 - sent.sum(axis=0)])


def participation_loss(epsilon: float, *, lowest_rate: float, highest_rate: float) -> float:
    """Return the exact loss when sampling rates follow the true values, ``max(epsilon + ln(h/l), ln((1-l)/(1-h)))``.

    The first is the largest ratio of a report, the second that of silence.

    Parameters
    ----------
    epsilon : float
        Loss of the mechanism, ``> 0``, nats.
    lowest_rate, highest_rate : float
        Extreme sampling rates ``0 < l <= h <= 1``.

    Returns
    -------
    float
        Nats; infinite at ``h = 1 > l``, where silence excludes a value.

    Examples
    --------
    >>> round(participation_loss(1.0, lowest_rate=0.08, highest_rate=0.8), 9)
    3.302585093
    >>> participation_loss(1.0, lowest_rate=0.5, highest_rate=1.0)
    inf
    """
    low, high = checks.rate(lowest_rate=lowest_rate), checks.rate(highest_rate=highest_rate)
    if low > high:
        raise ValueError(f"lowest_rate must be <= highest_rate={high}, got lowest_rate={low}")
    budget = checks.positive(epsilon=epsilon)
    if low == high:
        return budget
    silence = float("inf") if high == 1 else float(np.log1p(-low) - np.log1p(-high))
    return max(budget + float(np.log(high / low)), silence)


def _rates(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> NDArray[np.float64]:
    chance = np.asarray(rates, dtype=float)
    if chance.shape != (mechanism.domain_size,) or not ((chance >= 0) & (chance <= 1)).all():
        raise ValueError(f"rates must be {mechanism.domain_size} numbers in [0, 1], got rates={chance.tolist()!r}")
    return chance
