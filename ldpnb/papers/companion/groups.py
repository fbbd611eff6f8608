"""What decides gaps between groups: second routes, and a check for the claim of ``groups.toml``; ``t = e^epsilon``."""

from itertools import product
from typing import Any

import numpy as np

from ldpnb.accuracy import gaps
from ldpnb.claims import Evidence
from ldpnb.deciders import budget, identity, symbols
from ldpnb.mechanisms import best_gap
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.groups import DiscretisedMeans
from ldpnb.privacy import channel
from ldpnb.sections import Numbers, Pairs, second_route

(t,) = symbols("t")
eps = budget(t)
SHARES, BUDGETS = (0.5, 0.25, 0.1, 0.05, 0.01, 0.001), (0.1, 0.5, 1.0, 2.0, 3.0, 6.0)


def best(share: float, epsilon: float) -> best_gap.BestGapChannel:
    return best_gap.BestGapChannel(epsilon, share)


@second_route(
    best_gap.BestGapChannel.channel,
    best_gap.BestGapChannel.variance,
    best_gap.BestGapChannel.target,
)
def _channels() -> Pairs:
    for a_share, epsilon in product(SHARES, BUDGETS):
        least = best(a_share, epsilon)
        matrix, inputs = least.channel(), np.repeat([a_share, 1 - a_share], 2) / 2
        yield matrix.sum(axis=0), np.ones(4)
        yield channel.privacy_loss(matrix).epsilon, epsilon
        sent = matrix[matrix.max(axis=1) > 0]
        yield np.log(sent.max(axis=1) / sent.min(axis=1)).max(), epsilon
        yield least.scores @ matrix / least.target, np.ones(4)
        yield least.scores**2 @ matrix @ inputs, least.variance


def one_sign_for_equal_groups() -> bool | None:
    """Decide that no channel beats the sign's ``4/tanh^2(eps/2)`` for equal groups: the dual bound at ``y = T``.

    With ``high`` and ``low`` the chances of an output summed over inputs that raise and lower the gap, prices of ``4
    ((t-1)/(t+1))^2`` per input cover ``(high - low)^2 / ((high + low)/4)``, since ``high/low`` lies in ``[1/t, t]``.
    """
    high, low = symbols("high low")
    price = 4 * ((t - 1) / (t + 1)) * ((t - 1) / (t + 1))
    slack = (price * (high + low) - 4 * (high - low) * (high - low) / (high + low)) * (high + low) * (t + 1) * (t + 1)
    covered = identity(slack, 16 * (t * low - high) * (t * high - low))
    sign = gaps.GroupGap(SignedBit(eps, (1, 1)), (1, 1)).worst_variance() * 2
    return covered and identity(sign, 64 / (4 * price))


def ratio(mechanism: Any, a_share: float, epsilon: float) -> float:
    """Return the variance of another mechanism over the least one, values 0 being the worst for both."""
    sizes = (round(1000 * a_share), 1000 - round(1000 * a_share))
    return float(1000 * gaps.GroupGap(mechanism(sizes), sizes).worst_variance() / best(a_share, epsilon).variance)


def the_best_channel_for_a_gap(e: Evidence) -> Numbers:
    e.proven(one_sign_for_equal_groups())
    cells = list(product(SHARES, BUDGETS))
    e.sure(max(abs(best(*cell).variance / best(*cell).bound - 1) for cell in cells) < 1e-6)
    sign = {(s, b): ratio(lambda sizes, b=b: SignedBit(b, sizes), s, b) for s, b in cells}
    moved = {(s, b): ratio(lambda _, b=b: DiscretisedMeans.calibrated(b), s, b) for s, b in cells}
    e.needs(all(min(sign[s, b], moved[s, b]) > 1 + 1e-6 for s, b in cells if s < 0.5 and b <= 2))
    e.needs(all(abs(moved[s, b] - 1) < 1e-6 for s, b in product((0.1, 0.25), (3.0, 6.0))))
    shown = {"sign": sign[0.25, 1.0], "moved": moved[0.25, 1.0]}
    return shown | {"rare_sign": sign[0.01, 1.0], "rare_moved": moved[0.01, 1.0], "channels": len(cells)}
