"""Pure from approximate local privacy.

Every (epsilon, delta)-LDP randomiser is within delta of a 2 epsilon-LDP one.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real
from ldpnb.privacy.channel import as_channel


def purified(channel: ArrayLike, epsilon: float) -> Floats:
    """Turn an (epsilon, delta)-LDP channel into a pure one that is within delta of it.

    Let ``rho`` be the law of the report at the first input. The law at every input is clipped to
    the band from ``e^-epsilon rho`` to ``e^epsilon rho``. If clipping removed more probability
    than it added, the difference is added again inside the band, and otherwise removed (`refill`).

    The loss is that of one report, which everybody may see, between any two inputs of one user.

    Parameters
    ----------
    channel : array_like, shape (outputs, inputs)
        ``channel[y, x]``, the probability of output ``y`` given input ``x``. Each column sums to 1.
    epsilon : float
        Budget in nats, ``> 0``.

    Returns
    -------
    ndarray, shape (outputs, inputs)
        A channel of loss at most ``2 epsilon``. At every input its total variation distance from
        `channel` is at most the delta of `channel` at `epsilon` (`channel_delta`).

    Raises
    ------
    ValueError
        If `channel` is not a channel, or `epsilon` is not positive.

    References
    ----------
    Bun, Nelson and Stemmer (2018), "Heavy hitters and the structure of local privacy"
    (arXiv 1711.04740), have the first such transformation, for protocols in which each user sends
    one report.

    Examples
    --------
    At epsilon = ln 2 the band around 0.4 and 0.6 reaches from 0.2 to 0.8 and from 0.3 to 1.2.

    >>> purified([[0.4, 0.9, 0.0], [0.6, 0.1, 1.0]], np.log(2)).round(12).tolist()
    [[0.4, 0.7, 0.2], [0.6, 0.3, 0.8]]
    """
    laws = as_channel(channel)
    growth = float(np.exp(checks.positive(epsilon, "epsilon")))

    centre = laws[:, [0]]
    low = centre / growth
    high = centre * growth
    clipped = np.clip(laws, low, high)

    excess = (laws - clipped).sum(axis=0)
    is_short = excess > 0
    share = refill(excess, np.where(is_short, growth, 1 / growth))
    return clipped + share * (np.where(is_short, high, low) - clipped)


def refill(excess: Real, end: Real) -> Real:
    """Return how far a law moves to the end of its band to have mass 1.

    The law has the mass ``1 - excess``, and the end of its band has the mass `end`.

    >>> refill(0.1, 2.0) * (2.0 - 0.9) + 0.9
    1.0
    """
    return excess / (end - 1 + excess)
