"""Mechanisms for a number in ``[-1, 1]`` together with a sensitive group: the two group-mean mechanisms of juarez2022.

A user of group ``g`` with value ``v`` reports a group and a value. The group is randomised by randomised response; if
it changes, the value is replaced by 0. Then the value is randomised: `DiscretisedMeans` sends a sign, `LaplaceMeans` a
real number with Laplace noise. Both give their *exact* privacy loss, which differs from the one in the source. For a
gap alone, `ldpnb.mechanisms.contrasts` needs one number instead of two.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms import moves
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, of_users


@dataclass(frozen=True, slots=True)
class DiscretisedMeans:
    """The mechanism ``M_R``: randomised response for the group, and for the value, rounded at random to a sign.

    Algorithm 1 of juarez2022.

    - `group_epsilon`, float: budget ``eps1 > 0`` of the group, nats.
    - `value_epsilon`, float: budget ``eps2 > 0`` of the sign, nats.
    - `groups`, int: number ``d >= 2`` of groups.

    >>> mechanism = DiscretisedMeans(group_epsilon=np.log(3), value_epsilon=np.log(3))
    >>> [round(float(x), 12) for x in (mechanism.keep, mechanism.sharpness, np.exp(mechanism.epsilon))]
    [0.75, 0.5, 4.5]
    """

    group_epsilon: float
    value_epsilon: float
    groups: int = 2

    def __post_init__(self) -> None:
        checks.plain(self, groups=2)
        checks.positive(self.group_epsilon, "group_epsilon")
        checks.positive(self.value_epsilon, "value_epsilon")

    @classmethod
    def published(cls, epsilon: Real, groups: int = 2) -> "DiscretisedMeans":
        """Return the source's allocation ``eps1 = eps2 = epsilon`` (Appendix A.1), whose loss exceeds `epsilon`."""
        return cls(epsilon, epsilon, groups)

    @classmethod
    def calibrated(cls, epsilon: Real, groups: int = 2) -> "DiscretisedMeans":
        """Return the allocation of least variance whose exact loss is `epsilon`.

        It is ``eps2 = epsilon``, ``eps1 = ln((1 + e^epsilon) / 2)``, for any sizes of the groups.

        >>> round(float(DiscretisedMeans.calibrated(1.5).epsilon), 12)
        1.5
        """
        budget = checks.positive(epsilon, "epsilon")
        return cls(budget + np.log1p(np.expm1(-budget) / 2), budget, groups)

    @property
    def keep(self) -> Real:
        """Probability ``a = e^eps1 / (e^eps1 + d - 1)`` of reporting one's own group."""
        return KaryRandomisedResponse(self.group_epsilon, self.groups).p

    @property
    def move(self) -> Real:
        """Probability ``(1 - a) / (d - 1)`` of reporting a given other group."""
        return KaryRandomisedResponse(self.group_epsilon, self.groups).q

    @property
    def sharpness(self) -> Real:
        """Mean ``2b - 1 = tanh(eps2 / 2)`` of a kept user's sign per unit of its value."""
        return np.tanh(self.value_epsilon / 2)

    @property
    def gain(self) -> Real:
        """Expected sum that a user adds to its own group per unit of its value, ``a (2b - 1)``."""
        return self.keep * self.sharpness

    @property
    def group_loss(self) -> Real:
        """Largest loss in nats of a kept group against a moved one, ``eps1 + ln(1 + tanh(eps2 / 2))``."""
        return self.group_epsilon + np.log1p(self.sharpness)

    @property
    def epsilon(self) -> Real:
        """Exact privacy loss in nats, for every number of groups: ``max(eps2, group_loss)``."""
        return max(self.value_epsilon, self.group_loss)

    @property
    def claimed_epsilon(self) -> Real:
        """Loss ``max(eps1, eps2)`` that Theorem 4.1 of juarez2022 states, in nats."""
        return max(self.group_epsilon, self.value_epsilon)

    def channel(self, values: ArrayLike = moves.EXTREMES) -> Floats:
        """Return ``Pr(report | group, value)``, linear in the value, so that it is extreme at ``-1`` and ``1``.

        - `values`, (m,) float: in ``[-1, 1]``.
        - Returns (2 d, d m) float: reports in the order ``(0, -1), (0, +1), (1, -1), ...``; inputs ``(0, values[0]),
          (0, values[1]), ...``.
        """
        numbers = moves.unit_values(values)
        own = self.keep * moves.sign_probabilities(numbers, self.value_epsilon)
        matrix = np.full((self.groups, 2, self.groups, numbers.size), self.move / 2)
        for group in range(self.groups):
            matrix[group, :, group, :] = own
        return matrix.reshape(2 * self.groups, self.groups * numbers.size)

    def sample_tallies(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Ints:
        """Draw the reports of each group and sign from their exact joint law, in O(d m) whatever the number of users.

        - `counts`, (d, m) int: how many users of each group hold each value.
        - `values`, (m,) or (d, m) float: those values, in ``[-1, 1]``.
        - `repetitions`, int: independent draws.
        - Returns (repetitions, d, 2) int: reports of sign ``-1`` and ``+1`` for every group.
        """
        users, numbers = moves.tallied(counts, values, self.groups)
        kept, arrived = moves.sample_moves(users, self.keep, repetitions, rng)
        truthful = rng.binomial(kept, moves.sign_probabilities(numbers, self.value_epsilon)[1])
        plus = truthful.sum(axis=2) + rng.binomial(arrived, 0.5)
        return np.stack([kept.sum(axis=2) + arrived - plus, plus], axis=2)

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of the values reported for each group, shape ``(repetitions, d)``; see `sample_tallies`."""
        tallies = self.sample_tallies(counts, values, repetitions=repetitions, rng=rng)
        return (tallies[..., 1] - tallies[..., 0]).astype(float)


@dataclass(frozen=True, slots=True)
class LaplaceMeans:
    """The mechanism ``M_L``: randomised response for the group, Laplace noise for the value.

    A user who keeps the group adds noise of scale ``2 / eps2``; one who does not sends only noise, of scale ``k /
    eps2`` (Section 4, equations (11) and (12) of juarez2022).

    - `group_epsilon`, float: budget ``eps1 > 0`` of the group, nats.
    - `value_epsilon`, float: budget ``eps2 > 0`` of the value, nats.
    - `k`, float: numerator ``k > 0`` of the noise scale of users whose group changed. Only ``k = 2`` has a finite
      privacy loss.
    - `groups`, int: number ``d >= 2`` of groups.
    - `reversed_noise`, bool: whether the two scales are exchanged, as in the code published with the source.

    >>> LaplaceMeans(group_epsilon=0.6, value_epsilon=1.0).epsilon
    1.1
    >>> LaplaceMeans(group_epsilon=0.6, value_epsilon=1.0, k=1.0).epsilon
    inf
    """

    group_epsilon: float
    value_epsilon: float
    k: float = 2.0
    groups: int = 2
    reversed_noise: bool = False

    def __post_init__(self) -> None:
        checks.plain(self, groups=2)
        checks.positive(self.group_epsilon, "group_epsilon")
        checks.positive(self.value_epsilon, "value_epsilon")
        checks.positive(self.k, "k")

    @classmethod
    def allowed(cls, epsilon: Real, k: Real, groups: int = 2) -> "LaplaceMeans":
        """Return the mechanism with ``eps2 = epsilon`` and the largest ``eps1`` that equation (1) allows for a `k`."""
        return cls(largest_group_epsilon(epsilon, k), epsilon, k, groups)

    @classmethod
    def published(cls, epsilon: float, groups: int = 2) -> "LaplaceMeans":
        """Return the source's "optimal" mechanism for a claimed budget (Appendix B): private at ``epsilon = 2`` only.

        It is the `allowed` one with ``k = max(2/3, epsilon)``.
        """
        return cls.allowed(checks.positive(epsilon, "epsilon"), max(2 / 3, epsilon), groups)

    @classmethod
    def executed(cls, epsilon: float) -> "LaplaceMeans":
        """Return what the source's code runs for its Table 2: ``k`` capped at 2 and the two noise scales reversed."""
        stated = cls.published(epsilon)
        return cls(stated.group_epsilon, epsilon, min(2.0, stated.k), reversed_noise=True)

    @classmethod
    def calibrated(cls, epsilon: Real, groups: int = 2) -> "LaplaceMeans":
        """Return the mechanism of exact loss `epsilon`, ``k = 2, eps2 = epsilon, eps1 = epsilon / 2`` (Theorem 4.3)."""
        return cls(checks.positive(epsilon, "epsilon") / 2, epsilon, 2.0, groups)

    @property
    def keep(self) -> Real:
        """Probability ``a = e^eps1 / (e^eps1 + d - 1)`` of reporting one's own group."""
        return KaryRandomisedResponse(self.group_epsilon, self.groups).p

    @property
    def move(self) -> Real:
        """Probability ``(1 - a) / (d - 1)`` of reporting a given other group."""
        return KaryRandomisedResponse(self.group_epsilon, self.groups).q

    @property
    def gain(self) -> Real:
        """Expected sum that a user adds to its own group per unit of its value, ``a``."""
        return self.keep

    @property
    def kept_scale(self) -> Real:
        """Laplace scale of users who report their own group."""
        return (self.k if self.reversed_noise else 2.0) / self.value_epsilon

    @property
    def moved_scale(self) -> Real:
        """Laplace scale of users who report another group."""
        return (2.0 if self.reversed_noise else self.k) / self.value_epsilon

    @property
    def epsilon(self) -> Real:
        """Exact privacy loss in nats, for any number of groups: infinite unless ``k = 2``.

        There it is ``max(eps2, group_loss)``.
        """
        return max(self.value_epsilon, self.group_loss) if self.k == 2.0 else float("inf")

    @property
    def group_loss(self) -> Real:
        """Largest loss in nats of a kept group against a moved one if ``k = 2``: ``eps1 + eps2 / 2``."""
        return self.group_epsilon + self.value_epsilon / 2

    @property
    def claimed_epsilon(self) -> Real:
        """Loss that equation (1) of juarez2022 states, in nats."""
        flipped = np.log(2 / self.k) + self.value_epsilon / 2 - self.group_epsilon
        kept = np.log(self.k / 2) + self.value_epsilon / self.k + self.group_epsilon
        return max(self.value_epsilon, flipped, kept)

    @property
    def clipped_epsilon(self) -> float:
        """Exact privacy loss in nats if reports are clipped to ``[-1, 1]``, which biases them.

        Clipped reports have atoms at the ends and densities between. A kept report at its own end loses ``eps1 +
        eps2/k`` in the atom there and `claimed_epsilon`'s third term just inside; the other two are lost as claimed.
        """
        if self.reversed_noise:
            raise ValueError(
                "clipped_epsilon is for the mechanism as stated, got reversed_noise=True"
            )
        return float(max(self.claimed_epsilon, self.group_epsilon + self.value_epsilon / self.k))

    def law(self, group: int, value: float) -> Floats:
        """Return the law of a report ``(d, 3)``: each group's probability, and its value's Laplace location and scale.

        >>> LaplaceMeans(np.log(3), 4.0).law(0, -1.0).round(12).tolist()
        [[0.75, -1.0, 0.5], [0.25, 0.0, 0.5]]
        """
        (number,), group = (
            moves.unit_values([value]),
            checks.whole(group, "group", at_most=self.groups - 1),
        )
        checks.whole(self.groups, "groups", at_least=2, at_most=2**24)  # to list them
        law = np.tile([self.move, 0.0, self.moved_scale], (self.groups, 1))
        law[group] = self.keep, number, self.kept_scale
        return law

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of the values reported for each group from their exact joint law, ``(repetitions, d)``.

        Arguments and cost are those of `DiscretisedMeans.sample_tallies`.
        """
        users, numbers = moves.tallied(counts, values, self.groups)
        kept, arrived = moves.sample_moves(users, self.keep, repetitions, rng)
        noise = self.kept_scale * moves.sum_of_laplace(kept.sum(axis=2), rng=rng)
        noise += self.moved_scale * moves.sum_of_laplace(arrived, rng=rng)
        return np.asarray((kept * numbers).sum(axis=2) + noise, dtype=np.float64)

    def randomize(
        self, groups: ArrayLike, values: ArrayLike, *, rng: np.random.Generator
    ) -> tuple[Ints, Floats]:
        """Randomize users one by one: groups ``(n,)`` in ``0 .. d-1`` and values ``(n,)`` in ``[-1, 1]`` to reports."""
        own = of_users(self.groups, groups=groups)
        numbers = checks.entries(moves.unit_values(values), "values", own.size)
        kept, shift = rng.random(own.size) < self.keep, rng.integers(1, self.groups, own.size)
        scale = np.where(kept, self.kept_scale, self.moved_scale)
        noise = scale * rng.laplace(size=numbers.size)
        return np.where(kept, own, (own + shift) % self.groups), numbers * kept + noise


GroupMeans = DiscretisedMeans | LaplaceMeans
"""Either mechanism for group means."""


def largest_group_epsilon(epsilon: Real, k: Real) -> Real:
    """Return the largest ``eps1`` that equation (1) of juarez2022 allows at ``eps2 = epsilon``, equation (21).

    Appendix B takes ``k = max(2/3, epsilon)``: ``ln(2 / epsilon) + epsilon - 1``, or ``ln 3 - epsilon / 2`` below 2/3.
    """
    budget, noise = checks.positive(epsilon, "epsilon"), checks.positive(k, "k")
    return np.log(2 / noise) + budget - budget / noise
