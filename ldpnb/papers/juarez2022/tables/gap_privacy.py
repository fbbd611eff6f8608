"""The privacy of the two group-mean mechanisms: claimed, exact, and what an attacker makes of the difference."""

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.notebook import Rows, table
from ldpnb.privacy import hockey_stick
from ldpnb.privacy.channel import privacy_loss
from ldpnb.rng import stream

CLAIMED = "claimed budget ε (nats)"


@table
def discretised_losses(epsilons: Sequence[float], groups: Sequence[int]) -> Rows:
    """Yield the loss of ``M_R`` at ``eps1 = eps2``: claimed, by the exact formula, and enumerated by its channel.

    ``ratio`` is exact over claimed, ``delta`` what is left at the claimed budget.
    """
    for number, epsilon in product(groups, epsilons):
        mechanism = DiscretisedMeans.published(epsilon, number)
        channel, claimed = mechanism.channel([-1.0, -0.5, 0.0, 0.5, 1.0]), mechanism.claimed_epsilon
        row = {"groups": number, "claimed": claimed, "exact": mechanism.epsilon}
        row |= {"enumerated": privacy_loss(channel).epsilon, "ratio": mechanism.epsilon / claimed}
        yield row | {"delta": hockey_stick.channel_delta(channel, claimed)}


@table
def laplace_trade_offs(
    group_epsilon: float, value_epsilon: float, ks: Sequence[float], epsilons: Sequence[float]
) -> Rows:
    """Yield the exact delta of ``M_L`` against epsilon for several ``k``, beside what equation (1) claims."""
    for k, epsilon in product(ks, epsilons):
        mechanism = LaplaceMeans(group_epsilon, value_epsilon, k)
        delta = hockey_stick.laplace_means_delta(mechanism, epsilon)
        yield {"k": k, "ε (nats)": epsilon, "exact δ": delta, "claimed": mechanism.claimed_epsilon}


@table
def published_laplace_losses(epsilons: Sequence[float], *, delta: float | None = None) -> Rows:
    """Yield the delta of the source's "optimal" ``M_L`` at each claimed budget, and its total variation distance.

    The distance is between the reports of the two clients that are easiest to tell apart; ``allowed`` is the most
    that a mechanism which kept the budget would leave. With `delta`, ``guess`` is the chance of guessing which of two
    groups a client is from, ``private_guess`` the most that would be allowed, ``epsilon_at_delta`` the budget to be
    quoted with it, and ``clipped`` the loss if reports were clipped to ``[-1, 1]``.
    """
    for epsilon in epsilons:
        mechanism, kept = LaplaceMeans.published(epsilon), np.tanh(epsilon / 2)
        delta_at, distance = (
            partial(hockey_stick.laplace_means_delta, mechanism),
            hockey_stick.total_variation(mechanism),
        )
        row = {CLAIMED: epsilon, "delta": delta_at(epsilon), "total_variation": distance, "allowed": kept}
        if delta is not None:
            row |= {"k": mechanism.k, "guess": (1 + distance) / 2, "private_guess": (1 + kept) / 2}
            row |= {"epsilon_at_delta": hockey_stick.epsilon_at_delta(delta_at, delta)}
            row |= {"clipped": mechanism.clipped_epsilon}
        yield row


@table
def guessed_groups(mechanisms: dict[str, LaplaceMeans], *, users: int, seed: int) -> Rows:
    """Attack single reports: half the users are of either group, all of value 1, and the likelier group is guessed.

    ``expected`` is ``(1 + TV) / 2`` for this pair of users. Likelihoods within 1e-9 of each other count as a tie, half
    right: rounding would break it by the last bits of the report, and these tell whether 1 was added to the noise
    (Mironov 2012). Floating-point Laplace noise is for studies, not for deployment.
    """
    own = np.repeat([0, 1], users // 2)
    for name, mechanism in mechanisms.items():
        groups, values = mechanism.randomize(own, np.ones(own.size), rng=stream("guess", name, seed=seed))
        laws = [mechanism.law(group, 1.0) for group in (0, 1)]
        parts = [law[groups].T for law in laws]
        logs = [np.log(chance / (2 * scale)) - np.abs(values - centre) / scale for chance, centre, scale in parts]
        ratio = logs[1] - logs[0]
        tie = np.abs(ratio) < 1e-9
        right = float(np.mean(np.where(tie, 0.5, (ratio > 0) == (own == 1))))
        row = {"mechanism": name, "right": right, "standard_error": float(np.sqrt(np.mean(~tie) * 0.25 / own.size))}
        yield row | {"expected": (1 + hockey_stick.law_delta(laws[0], laws[1], 0.0)) / 2}
