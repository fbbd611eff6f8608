"""Mechanisms for a number in ``[-1, 1]`` together with a sensitive group, by Juarez and Korolova.

A user of group ``g`` with value ``v`` reports a group and a value. The group is randomised by
randomised response; if it changes, the value is replaced by 0. Then the value is randomised:
`DiscretisedMeans` sends a sign, `LaplaceMeans` a real number with Laplace noise. Both give their
*exact* privacy loss, when group and value of one user are replaced, which differs from the loss
that Juarez and Korolova (2022) state. For a gap alone, `ldpnb.mechanisms.contrasts` needs one
number instead of two.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms import moves
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, one_per_user

_MOST_GROUPS_LISTED = 2**24
"""Most groups for which the distribution of a report is listed."""


@dataclass(frozen=True, slots=True)
class DiscretisedMeans:
    """The mechanism ``M_R``: randomised response for the group, and for the value's sign.

    The value is rounded at random to a sign with the value as its mean; a user whose group changed
    has the value 0. Then the sign is randomised. `calibrated` divides a budget between group and
    sign.

    Parameters
    ----------
    group_epsilon : float
        Budget ``eps1`` of the group, in nats, ``> 0``.
    value_epsilon : float
        Budget ``eps2`` of the sign, in nats, ``> 0``.
    groups : int, default 2
        Number ``d`` of groups, at least 2.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Algorithm 1 of Juarez and Korolova (2022).

    Examples
    --------
    With eps1 = eps2 = ln 3, the group is true with probability 3/4, and a sign has the mean 1/2 for
    the value 1. The loss is ln 3 + ln(1 + 1/2).

    >>> mechanism = DiscretisedMeans(group_epsilon=np.log(3), value_epsilon=np.log(3))
    >>> round(float(mechanism.keep), 12), round(float(mechanism.sharpness), 12)
    (0.75, 0.5)
    >>> round(float(np.exp(mechanism.epsilon)), 12)
    4.5
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
        """Return the published allocation, ``eps1 = eps2 = epsilon``, which loses more than that.

        Parameters
        ----------
        epsilon : float
            Budget that Juarez and Korolova (2022, Appendix A.1) claim, in nats, ``> 0``.
        groups : int, default 2
            Number of groups, at least 2.

        Returns
        -------
        DiscretisedMeans
        """
        return cls(epsilon, epsilon, groups)

    @classmethod
    def calibrated(cls, epsilon: Real, groups: int = 2) -> "DiscretisedMeans":
        """Return the allocation of least variance whose exact loss is `epsilon`.

        It is ``eps2 = epsilon`` and ``eps1 = ln((1 + e^epsilon) / 2)``, for any sizes of the
        groups.

        Parameters
        ----------
        epsilon : float
            Exact privacy loss in nats, ``> 0``.
        groups : int, default 2
            Number of groups, at least 2.

        Returns
        -------
        DiscretisedMeans

        Examples
        --------
        >>> round(float(DiscretisedMeans.calibrated(epsilon=1.5).epsilon), 12)
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
        """Mean ``2b - 1 = tanh(eps2 / 2)`` of the sign per unit of value, if the group is kept."""
        return np.tanh(self.value_epsilon / 2)

    @property
    def gain(self) -> Real:
        """Expected sum ``a (2b - 1)`` that a user adds to its own group per unit of its value."""
        return self.keep * self.sharpness

    @property
    def group_loss(self) -> Real:
        """Largest loss of a kept group against a moved one, ``eps1 + ln(1 + tanh(eps2 / 2))``."""
        return self.group_epsilon + np.log1p(self.sharpness)

    @property
    def epsilon(self) -> Real:
        """Exact privacy loss in nats, ``max(eps2, group_loss)``, for every number of groups."""
        return max(self.value_epsilon, self.group_loss)

    @property
    def claimed_epsilon(self) -> Real:
        """Loss ``max(eps1, eps2)`` in nats that Juarez and Korolova (2022, Theorem 4.1) state."""
        return max(self.group_epsilon, self.value_epsilon)

    def channel(self, values: ArrayLike = moves.EXTREMES) -> Floats:
        """Return the matrix of ``Pr(report | group, value)``.

        It is linear in the value, so its ratios are extreme at the default values -1 and 1.

        Parameters
        ----------
        values : array_like, shape (m,), default (-1, 1)
            Values in ``[-1, 1]``.

        Returns
        -------
        ndarray, shape (2 * d, d * m)
            Its rows are the reports ``(0, -1), (0, +1), (1, -1), ...``; its columns are the inputs
            ``(0, values[0]), (0, values[1]), ...``.
        """
        numbers = moves.unit_values(values)
        kept = self.keep * moves.sign_probabilities(numbers, self.value_epsilon)

        matrix = np.full((self.groups, 2, self.groups, numbers.size), self.move / 2)
        for group in range(self.groups):
            matrix[group, :, group, :] = kept
        return matrix.reshape(2 * self.groups, self.groups * numbers.size)

    def sample_tallies(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Ints:
        """Draw how often each group and sign is reported, from the exact joint distribution.

        It takes O(d m) time for each repetition, however many users there are.

        Parameters
        ----------
        counts : array_like of int, shape (d, m)
            Number of users of each group who hold each value.
        values : array_like, shape (m,) or (d, m)
            Those values, in ``[-1, 1]``.
        repetitions : int, default 1
            Number of independent draws, at least 1.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int, shape (repetitions, d, 2)
            Number of reports with the signs -1 and +1, for every group.
        """
        users, numbers = moves.tallied(counts, values, self.groups)
        kept, arrived = moves.sample_moves(users, self.keep, repetitions, rng)

        plus_chance = moves.sign_probabilities(numbers, self.value_epsilon)[1]
        kept_plus = rng.binomial(kept, plus_chance)
        plus = kept_plus.sum(axis=2) + rng.binomial(arrived, 0.5)
        minus = kept.sum(axis=2) + arrived - plus
        return np.stack([minus, plus], axis=2)

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of the signs reported for each group, from the exact joint distribution.

        Parameters
        ----------
        counts : array_like of int, shape (d, m)
            Number of users of each group who hold each value.
        values : array_like, shape (m,) or (d, m)
            Those values, in ``[-1, 1]``.
        repetitions : int, default 1
            Number of independent draws, at least 1.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray, shape (repetitions, d)
            Sums of signs.
        """
        tallies = self.sample_tallies(counts, values, repetitions=repetitions, rng=rng)
        return (tallies[..., 1] - tallies[..., 0]).astype(float)


@dataclass(frozen=True, slots=True)
class LaplaceMeans:
    """The mechanism ``M_L``: randomised response for the group, Laplace noise for the value.

    A user whose group is kept adds noise of scale ``2 / eps2`` to the value. A user whose group
    changed sends only noise, of scale ``k / eps2``. `calibrated` divides a budget between group and
    value.

    Parameters
    ----------
    group_epsilon : float
        Budget ``eps1`` of the group, in nats, ``> 0``.
    value_epsilon : float
        Budget ``eps2`` of the value, in nats, ``> 0``.
    k : float, default 2
        Numerator of the noise scale of users whose group changed, ``> 0``. The privacy loss is
        finite only for ``k = 2``.
    groups : int, default 2
        Number ``d`` of groups, at least 2.
    reversed_noise : bool, default False
        Whether the two scales are exchanged, as in the code that Juarez and Korolova published.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Section 4, equations (11) and (12), of Juarez and Korolova (2022).

    Examples
    --------
    With equal noise for all, the loss is the larger of eps2 = 1 and eps1 + eps2 / 2 = 1.1.

    >>> LaplaceMeans(group_epsilon=0.6, value_epsilon=1.0).epsilon
    1.1

    With unequal noise, a large enough report gives the group away.

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
        """Return the mechanism with the largest ``eps1`` that the published equation (1) allows.

        Parameters
        ----------
        epsilon : float
            Budget ``eps2`` of the value, in nats, ``> 0``.
        k : float
            Numerator of the noise scale of users whose group changed, ``> 0``.
        groups : int, default 2
            Number of groups, at least 2.

        Returns
        -------
        LaplaceMeans

        See Also
        --------
        largest_group_epsilon : The formula for ``eps1``.
        """
        return cls(largest_group_epsilon(epsilon, k), epsilon, k, groups)

    @classmethod
    def published(cls, epsilon: float, groups: int = 2) -> "LaplaceMeans":
        """Return the mechanism that is published as optimal, which is private only at epsilon = 2.

        It is the `allowed` one with ``k = max(2/3, epsilon)``.

        Parameters
        ----------
        epsilon : float
            Budget that Juarez and Korolova (2022, Appendix B) claim, in nats, ``> 0``.
        groups : int, default 2
            Number of groups, at least 2.

        Returns
        -------
        LaplaceMeans
        """
        budget = checks.positive(epsilon, "epsilon")
        return cls.allowed(budget, max(2 / 3, epsilon), groups)

    @classmethod
    def executed(cls, epsilon: float) -> "LaplaceMeans":
        """Return what the published code runs for Table 2 of Juarez and Korolova (2022).

        Compared with `published`, ``k`` is at most 2 and the two noise scales are exchanged.

        Parameters
        ----------
        epsilon : float
            Budget that is claimed, in nats, ``> 0``.

        Returns
        -------
        LaplaceMeans
            For two groups.
        """
        stated = cls.published(epsilon)
        return cls(stated.group_epsilon, epsilon, min(2.0, stated.k), reversed_noise=True)

    @classmethod
    def calibrated(cls, epsilon: Real, groups: int = 2) -> "LaplaceMeans":
        """Return the mechanism whose exact loss is `epsilon`.

        It is ``k = 2``, ``eps2 = epsilon`` and ``eps1 = epsilon / 2``, by Theorem 4.3 of Juarez and
        Korolova (2022).

        Parameters
        ----------
        epsilon : float
            Exact privacy loss in nats, ``> 0``.
        groups : int, default 2
            Number of groups, at least 2.

        Returns
        -------
        LaplaceMeans
        """
        budget = checks.positive(epsilon, "epsilon")
        return cls(budget / 2, epsilon, 2.0, groups)

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
        """Expected sum ``a`` that a user adds to its own group per unit of its value."""
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
        """Exact privacy loss in nats, for every number of groups.

        It is ``max(eps2, group_loss)`` if ``k = 2``, and infinite otherwise.
        """
        return max(self.value_epsilon, self.group_loss) if self.k == 2.0 else float("inf")

    @property
    def group_loss(self) -> Real:
        """Largest loss of a kept group against a moved one if ``k = 2``, ``eps1 + eps2 / 2``."""
        return self.group_epsilon + self.value_epsilon / 2

    @property
    def claimed_epsilon(self) -> Real:
        """Loss in nats that equation (1) of Juarez and Korolova (2022) states."""
        flipped = np.log(2 / self.k) + self.value_epsilon / 2 - self.group_epsilon
        kept = np.log(self.k / 2) + self.value_epsilon / self.k + self.group_epsilon
        return max(self.value_epsilon, flipped, kept)

    @property
    def clipped_epsilon(self) -> float:
        """Exact privacy loss in nats if reports are clipped to ``[-1, 1]``, which biases them.

        Clipped reports have probability masses at the ends and densities between them. A kept
        report of a user at an end loses ``eps1 + eps2/k`` in the mass at that end, and just inside
        it the third term of `claimed_epsilon`. The other two terms are lost as claimed.
        """
        if self.reversed_noise:
            raise ValueError(
                "clipped_epsilon is for the mechanism as stated, got reversed_noise=True"
            )

        at_an_end = self.group_epsilon + self.value_epsilon / self.k
        return float(max(self.claimed_epsilon, at_an_end))

    def law(self, group: int, value: float) -> Floats:
        """Return the distribution of a user's report.

        Parameters
        ----------
        group : int
            The user's group, from 0 to ``d - 1``.
        value : float
            The user's value, in ``[-1, 1]``.

        Returns
        -------
        ndarray, shape (d, 3)
            For each reported group its probability, and the location and scale of the Laplace
            distribution of the reported value.

        Examples
        --------
        The group is true with probability 3/4, and all noise has the scale 2 / 4.

        >>> LaplaceMeans(np.log(3), 4.0).law(0, -1.0).round(12).tolist()
        [[0.75, -1.0, 0.5], [0.25, 0.0, 0.5]]
        """
        (number,) = moves.unit_values([value])
        row = checks.whole(group, "group", at_most=self.groups - 1)
        checks.whole(self.groups, "groups", at_least=2, at_most=_MOST_GROUPS_LISTED)

        by_group = np.tile([self.move, 0.0, self.moved_scale], (self.groups, 1))
        by_group[row] = self.keep, number, self.kept_scale
        return by_group

    def sample_sums(
        self,
        counts: ArrayLike,
        values: ArrayLike,
        *,
        repetitions: int = 1,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the sum of the values reported for each group, from the exact joint distribution.

        It takes O(d m) time for each repetition, however many users there are.

        Parameters
        ----------
        counts : array_like of int, shape (d, m)
            Number of users of each group who hold each value.
        values : array_like, shape (m,) or (d, m)
            Those values, in ``[-1, 1]``.
        repetitions : int, default 1
            Number of independent draws, at least 1.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray, shape (repetitions, d)
            Sums of the reported values.
        """
        users, numbers = moves.tallied(counts, values, self.groups)
        kept, arrived = moves.sample_moves(users, self.keep, repetitions, rng)

        noise = self.kept_scale * moves.sum_of_laplace(kept.sum(axis=2), rng=rng)
        noise += self.moved_scale * moves.sum_of_laplace(arrived, rng=rng)
        return np.asarray((kept * numbers).sum(axis=2) + noise, dtype=np.float64)

    def randomize(
        self, groups: ArrayLike, values: ArrayLike, *, rng: np.random.Generator
    ) -> tuple[Ints, Floats]:
        """Randomise the groups and values of users one by one.

        Parameters
        ----------
        groups : array_like of int, shape (n,)
            Each user's group, from 0 to ``d - 1``.
        values : array_like, shape (n,)
            Each user's value, in ``[-1, 1]``.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        groups : ndarray of int, shape (n,)
            The reported groups.
        values : ndarray, shape (n,)
            The reported values.
        """
        true_groups = one_per_user(groups, "groups", self.groups)
        numbers = checks.entries(moves.unit_values(values), "values", true_groups.size)

        is_kept = rng.random(true_groups.size) < self.keep
        shift = rng.integers(1, self.groups, true_groups.size)
        reported_groups = np.where(is_kept, true_groups, (true_groups + shift) % self.groups)

        scale = np.where(is_kept, self.kept_scale, self.moved_scale)
        noise = scale * rng.laplace(size=numbers.size)
        return reported_groups, numbers * is_kept + noise


GroupMeans = DiscretisedMeans | LaplaceMeans
"""Either mechanism for group means."""


def largest_group_epsilon(epsilon: Real, k: Real) -> Real:
    """Return the largest ``eps1`` that the published equation (1) allows at ``eps2 = epsilon``.

    It is ``ln(2 / k) + epsilon - epsilon / k``, equation (21) of Juarez and Korolova (2022). Their
    Appendix B takes ``k = max(2/3, epsilon)``, which gives ``ln(2 / epsilon) + epsilon - 1``, or
    ``ln 3 - epsilon / 2`` if epsilon is below 2/3.
    """
    budget = checks.positive(epsilon, "epsilon")
    numerator = checks.positive(k, "k")
    return np.log(2 / numerator) + budget - budget / numerator
