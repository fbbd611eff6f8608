"""Tables about the privacy of the two group-mean mechanisms: claimed, exact, and what an attacker makes of the
difference.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.privacy import hockey_stick
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream


def discretised_losses(epsilons: Sequence[float], groups: Sequence[int]) -> pd.DataFrame:
    """Return the loss of ``M_R`` at ``eps1 = eps2``: claimed, by the exact formula, and the largest ratio of the whole
    channel.

    Returns
    -------
    DataFrame
        Columns ``groups, claimed, exact, enumerated, ratio`` (exact over claimed), ``delta`` (left at the claimed
        budget).
    """
    rows = []
    for number in groups:
        for epsilon in epsilons:
            mechanism = DiscretisedMeans.published(epsilon, number)
            channel = mechanism.channel([-1.0, -0.5, 0.0, 0.5, 1.0])
            rows.append(
                {"groups": number, "claimed": mechanism.claimed_epsilon, "exact": mechanism.epsilon}
                | {"enumerated": privacy_loss(channel).epsilon, "ratio": mechanism.epsilon / mechanism.claimed_epsilon}
                | {"delta": hockey_stick.channel_delta(channel, mechanism.claimed_epsilon)}
            )
    return pd.DataFrame(rows)


def laplace_trade_offs(
    group_epsilon: float, value_epsilon: float, ks: Sequence[float], epsilons: Sequence[float]
) -> pd.DataFrame:
    """Return the exact delta of ``M_L`` against epsilon for several ``k``: columns ``k, epsilon, delta, claimed`` (by
    equation (1)).
    """
    rows = []
    for k in ks:
        mechanism = LaplaceMeans(group_epsilon, value_epsilon, k)
        for epsilon in epsilons:
            delta = hockey_stick.laplace_means_delta(mechanism, epsilon)
            rows.append({"k": k, "epsilon": epsilon, "delta": delta, "claimed": mechanism.claimed_epsilon})
    return pd.DataFrame(rows)


def published_laplace_losses(epsilons: Sequence[float], *, delta: float) -> pd.DataFrame:
    """Return what the source's "optimal" ``M_L`` offers at each claimed budget.

    Returns
    -------
    DataFrame
        Columns ``claimed, k, delta`` (at the claimed budget), ``total_variation``, ``guess`` (chance of guessing which
        of two groups a client is from), ``private_guess`` (the most a mechanism that kept the budget would allow),
        ``epsilon_at_delta`` (the budget to be quoted with the given delta), ``clipped`` (loss if reports were clipped
        to ``[-1, 1]``).
    """
    rows = []
    for epsilon in epsilons:
        mechanism = LaplaceMeans.published(epsilon)
        distance = hockey_stick.total_variation(mechanism)
        at_delta = hockey_stick.epsilon_at_delta(partial(hockey_stick.laplace_means_delta, mechanism), delta)
        rows.append(
            {"claimed": epsilon, "k": mechanism.k, "delta": hockey_stick.laplace_means_delta(mechanism, epsilon)}
            | {
                "total_variation": distance,
                "guess": (1 + distance) / 2,
                "private_guess": (1 + np.tanh(epsilon / 2)) / 2,
            }
            | {"epsilon_at_delta": at_delta, "clipped": mechanism.clipped_epsilon}
        )
    return pd.DataFrame(rows)


def guessed_groups(mechanisms: dict[str, LaplaceMeans], *, clients: int, seed: int) -> pd.DataFrame:
    """Attack single reports: half the clients are of either group, all of value 1, and the likelier group is guessed
    from each report.

    Likelihoods within 1e-9 of each other count as a tie, half right: rounding would break it by the last bits of the
    report, and these tell whether 1 was added to the noise (Mironov 2012). Floating-point Laplace noise is for studies,
    not for deployment.

    Returns
    -------
    DataFrame
        Columns ``mechanism, right`` (share of right guesses), ``standard_error, expected`` (``(1 + TV) / 2`` for this
        pair of clients).
    """
    rows = []
    own = np.repeat([0, 1], clients // 2)
    for name, mechanism in mechanisms.items():
        groups, values = mechanism.randomize(own, np.ones(own.size), rng=stream("guess", name, seed=seed))
        ratio = _log_density(mechanism, 1, groups, values) - _log_density(mechanism, 0, groups, values)
        tie = np.abs(ratio) < 1e-9
        right = float(np.mean(np.where(tie, 0.5, (ratio > 0) == (own == 1))))
        distance = hockey_stick.law_delta(mechanism.law(0, 1.0), mechanism.law(1, 1.0), 0.0)
        error = float(np.sqrt(np.mean(~tie) * 0.25 / own.size))
        rows.append({"mechanism": name, "right": right, "standard_error": error, "expected": (1 + distance) / 2})
    return pd.DataFrame(rows)


def _log_density(
    mechanism: LaplaceMeans, group: int, groups: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log-density of reports of a client of a given group with value 1."""
    chance, location, scale = mechanism.law(group, 1.0)[groups].T
    return np.asarray(np.log(chance / (2 * scale)) - np.abs(values - location) / scale)
