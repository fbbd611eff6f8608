"""What taking part reveals if the probability of reporting depends on the value."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def value_dependent_channel(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Floats:
    """Return the channel of users who report with a probability that depends on their value.

    It answers open question (i) in Section 6 of Biswas, Cormode and Maple (2022).

    Parameters
    ----------
    rates : array_like, shape (k,)
        Probability in ``[0, 1]`` of reporting, for users with each value.
    mechanism : KaryRandomisedResponse
        How a user randomises.

    Returns
    -------
    ndarray, shape (k + 1, k)
        The last output is silence. Columns sum to 1.

    Examples
    --------
    A user with the first value reports with probability 0.4, and then truthfully with
    probability 3/4.

    >>> value_dependent_channel([0.4, 0.8], KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [[0.3, 0.2], [0.1, 0.6], [0.6, 0.2]]
    """
    chances = _one_per_value(rates, mechanism)
    return np.vstack([mechanism.channel() * chances, 1 - chances])


def report_dependent_channel(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Floats:
    """Return the channel of users who randomise, and then send some reports more often than others.

    The decision depends on the randomised report alone. So the channel is never less private than
    the mechanism.

    Parameters
    ----------
    rates : array_like, shape (k,)
        Probability in ``[0, 1]`` that a report of each value is sent.
    mechanism : KaryRandomisedResponse
        How a user randomises.

    Returns
    -------
    ndarray, shape (k + 1, k)
        The last output is silence. Columns sum to 1.

    Examples
    --------
    A user with the first value reports it with probability 3/4, and sends this report
    with probability 0.4.

    >>> report_dependent_channel([0.4, 0.8], KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [[0.3, 0.1], [0.2, 0.6], [0.5, 0.3]]
    """
    chances = _one_per_value(rates, mechanism)
    sent = mechanism.channel() * chances[:, None]
    return np.vstack([sent, 1 - sent.sum(axis=0)])


def participation_loss(epsilon: float, *, lowest_rate: float, highest_rate: float) -> float:
    """Return the exact privacy loss if the probability of reporting depends on the true value.

    It is ``max(epsilon + ln(h/l), ln((1-l)/(1-h)))`` for rates from ``l`` to ``h``. The first is
    the largest loss of a report, the second that of silence. If the rates are equal, silence says
    nothing and epsilon remains.

    Parameters
    ----------
    epsilon : float
        Privacy loss of a user's report alone, in nats, ``> 0``, when the user's value is replaced.
    lowest_rate : float
        Lowest probability ``l`` of reporting, in ``(0, 1]``.
    highest_rate : float
        Highest probability ``h`` of reporting, in ``(0, 1]`` and at least `lowest_rate`.

    Returns
    -------
    float
        Loss in nats to somebody who sees whether a user reports, and what. It is infinite if ``h =
        1 > l``, since silence then rules a value out.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    Rates of 0.2 and 0.6 add ln 3 to the loss of a report.

    >>> loss = participation_loss(np.log(2), lowest_rate=0.2, highest_rate=0.6)
    >>> round(float(np.exp(loss)), 12)
    6.0
    >>> participation_loss(1.0, lowest_rate=0.5, highest_rate=1.0)
    inf
    """
    low = checks.rate(lowest_rate, "lowest_rate")
    high = checks.rate(highest_rate, "highest_rate")
    if low > high:
        raise ValueError(f"lowest_rate must be <= highest_rate={high}, got lowest_rate={low}")
    budget = checks.positive(epsilon, "epsilon")

    if low == high:
        return float(budget)
    report = budget + float(np.log(high / low))
    silence = float("inf") if high == 1 else float(np.log1p(-low) - np.log1p(-high))
    return max(report, silence)


def _one_per_value(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Floats:
    chances = checks.numbers(rates, "rates", low=0, high=1)
    return checks.entries(chances, "rates", mechanism.domain_size)
