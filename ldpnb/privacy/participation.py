"""What taking part reveals when the probability of reporting depends on the value."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


def value_dependent_channel(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Floats:
    """Return the channel of users who report with a probability ``pi(x)`` in ``[0, 1]`` that depends on the value.

    The last of its ``k + 1`` outputs is silence; columns sum to 1. Open question (i) of biswas2022, Section 6.

    >>> value_dependent_channel([0.4, 0.8], KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [[0.3, 0.2], [0.1, 0.6], [0.6, 0.2]]
    """
    chance = checks.entries(
        checks.numbers(rates, "rates", low=0, high=1), "rates", mechanism.domain_size
    )
    return np.vstack([mechanism.channel() * chance, 1 - chance])


def report_dependent_channel(rates: ArrayLike, mechanism: KaryRandomisedResponse) -> Floats:
    """Return the channel of users who randomise, then send the report ``y`` with probability ``pi(y)`` in ``[0, 1]``.

    The last of its ``k + 1`` outputs is silence; columns sum to 1. As post-processing of the report it is never less
    private than the mechanism.

    >>> report_dependent_channel([0.4, 0.8], KaryRandomisedResponse(np.log(3), 2)).round(9).tolist()
    [[0.3, 0.1], [0.2, 0.6], [0.5, 0.3]]
    """
    chance = checks.entries(
        checks.numbers(rates, "rates", low=0, high=1), "rates", mechanism.domain_size
    )
    sent = mechanism.channel() * chance[:, None]
    return np.vstack([sent, 1 - sent.sum(axis=0)])


def participation_loss(epsilon: float, *, lowest_rate: float, highest_rate: float) -> float:
    """Return the exact loss when rates follow the true values, ``max(epsilon + ln(h/l), ln((1-l)/(1-h)))``, in nats.

    The first is the largest ratio of a report, the second that of silence; where the rates are equal, silence says
    nothing and ``epsilon`` remains.

    - `epsilon`, float: loss of the mechanism, ``> 0``, nats.
    - `lowest_rate`, `highest_rate`, float: extreme sampling rates ``0 < l <= h <= 1``. At ``h = 1 > l`` silence
      excludes a value and the loss is infinite.

    >>> round(participation_loss(1.0, lowest_rate=0.08, highest_rate=0.8), 9)
    3.302585093
    >>> participation_loss(1.0, lowest_rate=0.5, highest_rate=1.0)
    inf
    """
    low, high = checks.rate(lowest_rate, "lowest_rate"), checks.rate(highest_rate, "highest_rate")
    if low > high:
        raise ValueError(f"lowest_rate must be <= highest_rate={high}, got lowest_rate={low}")
    budget = checks.positive(epsilon, "epsilon")
    if low == high:
        return float(budget)
    silence = float("inf") if high == 1 else float(np.log1p(-low) - np.log1p(-high))
    return max(budget + float(np.log(high / low)), silence)
