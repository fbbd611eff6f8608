"""Pure from approximate local privacy: any (epsilon, delta)-LDP randomiser is within delta of a 2 epsilon-LDP one."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real
from ldpnb.privacy.channel import as_channel


def purified(channel: ArrayLike, epsilon: float) -> Floats:
    """Return a channel of loss at most ``2 epsilon``, as near to a given one as its delta at epsilon.

    With ``rho`` the law at the first input, every law is clipped to the band from ``e^-epsilon rho`` to ``e^epsilon
    rho``; what is cut off beyond what was filled up is given back inside the band (`refill`), or the other way round.
    The total variation distance to the law given is the larger of both, at most `channel_delta` at epsilon. For
    protocols with one report per user; Bun, Nelson and Stemmer (2018) have the first such transformation.

    - `channel`, (outputs, inputs) float: columns sum to 1.
    - `epsilon`, float: nats, ``> 0``.

    >>> purified([[0.4, 0.9, 0.0], [0.6, 0.1, 1.0]], np.log(2)).round(12).tolist()
    [[0.4, 0.7, 0.2], [0.6, 0.3, 0.8]]
    """
    laws, growth = as_channel(channel), float(np.exp(checks.positive(epsilon, "epsilon")))
    centre = laws[:, [0]]
    low, high = centre / growth, centre * growth
    clipped = np.clip(laws, low, high)
    excess = (laws - clipped).sum(axis=0)
    share = refill(excess, np.where(excess > 0, growth, 1 / growth))
    return clipped + share * (np.where(excess > 0, high, low) - clipped)


def refill(excess: Real, end: Real) -> Real:
    """Return how far a law of mass ``1 - excess`` moves to the end of its band, of mass `end`, to have mass 1.

    >>> refill(0.1, 2.0) * (2.0 - 0.9) + 0.9
    1.0
    """
    return excess / (end - 1 + excess)
