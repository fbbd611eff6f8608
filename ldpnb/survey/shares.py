"""Shares of several answers that are not negative and sum to 1, beside the unbiased ones."""

from typing import Any

import numpy as np

from ldpnb.arithmetic import Floats
from ldpnb.estimators.frequency import project_simplex, scale_simplex
from ldpnb.survey.device import Device
from ldpnb.survey.reports import Said

_MOST_BITS = 2_000_000
"""Up to so many bits in different reports of unary encoding the likelihood is maximised."""


def norm_sub(unbiased: Floats) -> Floats:
    """Return the shares nearest to unbiased ones."""
    return project_simplex(unbiased)


def most_likely(
    device: Device, said: Said, unbiased: Floats, weight: Floats, members: Any
) -> Floats:
    """Return the shares under which the reports are most likely, nan where that is not computed.

    For k-ary randomised response it is in closed form, with weights the pseudo-likelihood. For
    unary encoding it needs reports of equal weight, bit by bit, and is certified to 1e-3 nats.
    """
    unknown = np.full(unbiased.size, np.nan)
    if not 0 < device.q < device.p < 1:
        return unknown
    if device.mechanism == "k-RR":
        return scale_simplex(unbiased, device.q / device.gap)

    of_members = weight if members is None else weight[members]
    if said.words is None or np.ptp(of_members) > 0:
        return unknown
    bits, sent = said.words(members)
    if bits.size > _MOST_BITS:
        return unknown

    from ldpnb.estimators.likelihood import support_mle
    from ldpnb.mechanisms.frequency import UnaryEncoding

    encoding = UnaryEncoding(device.p, device.q, unbiased.size)
    return support_mle(bits.astype(np.uint8), sent, encoding).estimate
