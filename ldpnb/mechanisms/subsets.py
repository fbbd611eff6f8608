"""Subset selection: report a set of values, more often one that contains the user's own.

With subsets of ``k`` values, ``k`` between 1 (which is k-ary randomised response) and half of all
values, it is the best channel known for frequency estimation at every epsilon. If all values are
equally frequent it is optimal (see `ldpnb.papers.lopuhaa2020.formulas.best_channel`).

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms.frequency import one_per_user, users_by_value

EXPLICIT_LIMIT = 5000
"""Most subsets for which every output is listed."""

_BITS_IN_A_BLOCK = 2**21
"""Bits that are drawn at once, so that memory stays small however many users there are."""


@dataclass(frozen=True, slots=True)
class SubsetSelection:
    """Report a random subset of the values, of a fixed size.

    A given subset that contains the user's value is ``e^epsilon`` times as likely as a given subset
    that does not. `optimal` chooses the size.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when one
        user's value is replaced by another.
    domain_size : int
        Number ``a`` of values, at least 2.
    subset_size : int
        Number ``k`` of values in a report, from 1 to ``a - 1``.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Ye and Barg (2018). Lopuhaä-Zwakenberg et al. (2020, Section 6) ask for optimal protocols for
    more than two values.

    Examples
    --------
    Of the 6 pairs among 4 values, 3 contain the user's own. At epsilon = ln 3 one of these is
    reported with probability 3 * 3 / (3 * 3 + 3 * 1).

    >>> round(float(SubsetSelection(epsilon=np.log(3), domain_size=4, subset_size=2).p), 12)
    0.75
    """

    epsilon: Real
    domain_size: Real
    subset_size: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2, subset_size=1)
        checks.positive(self.epsilon, "epsilon")
        checks.whole(self.subset_size, "subset_size", at_least=1, at_most=self.domain_size - 1)

    @classmethod
    def optimal(cls, epsilon: float, domain_size: int) -> "SubsetSelection":
        """Return the subset size with the least error if all values are equally frequent.

        The size is near ``a / (e^epsilon + 1)``.

        Parameters
        ----------
        epsilon : float
            Privacy budget in nats, ``> 0``.
        domain_size : int
            Number ``a`` of values, at least 2.

        Returns
        -------
        SubsetSelection

        Examples
        --------
        At epsilon = ln 4 and 10 values the size is 10 / (4 + 1).

        >>> SubsetSelection.optimal(epsilon=np.log(4), domain_size=10).subset_size
        2
        """
        size = checks.whole(domain_size, "domain_size", at_least=2)
        decay = float(np.exp(-checks.positive(epsilon, "epsilon")))

        near = size * decay / (1 + decay)
        candidates = sorted({max(int(k), 1) for k in (np.floor(near), np.ceil(near))})
        errors = [(k + (size - k) * decay) ** 2 / (k * (size - k)) for k in candidates]
        return cls(epsilon, size, candidates[int(np.argmin(errors))])

    @property
    def p(self) -> Real:
        """Probability that the subset contains the sender's value."""
        return self.subset_size / (self.subset_size + self._discounted_others)

    @property
    def q(self) -> Real:
        """Probability that the subset contains a given other value."""
        return self.p * (self.subset_size - 1 + self._discounted_others) / (self.domain_size - 1)

    @property
    def miss_rate(self) -> Real:
        """Probability ``1 - p`` that the subset does not contain the sender's value."""
        return self._discounted_others / (self.subset_size + self._discounted_others)

    @property
    def truthful_rate(self) -> Real:
        """Difference ``p - q = p (a - k) (1 - e^-epsilon) / (a - 1)``."""
        outside = self.domain_size - self.subset_size
        return -self.p * outside * np.expm1(-self.epsilon) / (self.domain_size - 1)

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``, where ``q = (k - (p - q)) / a``."""
        scale = self.q / self.truthful_rate
        excess = self.domain_size * tallies - self.subset_size * reports
        return (tallies + excess * scale) / self.subset_size

    @property
    def _discounted_others(self) -> Real:
        """Number of values outside the subset, times ``e^-epsilon``."""
        return (self.domain_size - self.subset_size) * np.exp(-self.epsilon)

    def outputs(self) -> NDArray[np.uint8]:
        """Return all subsets in lexicographic order, a row of bits each, shape ``(subsets, a)``.

        More than 5000 subsets are refused.
        """
        number = comb(self.domain_size, self.subset_size)
        if number > EXPLICIT_LIMIT:
            raise ValueError(
                f"subsets must be at most {EXPLICIT_LIMIT} to list them all, got {number}"
            )

        bits = np.zeros((number, self.domain_size), dtype=np.uint8)
        chosen = np.array(list(combinations(range(self.domain_size), self.subset_size)))
        np.put_along_axis(bits, chosen, 1, axis=1)
        return bits

    def channel(self) -> Floats:
        """Return the ``(subsets, a)`` matrix of ``Pr(subset | value)``, ordered as `outputs`."""
        bits = self.outputs()
        likely = self.p / comb(self.domain_size - 1, self.subset_size - 1)
        return np.where(bits == 1, likely, likely * np.exp(-self.epsilon))

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how many reports support each value, from the exact joint distribution.

        If there are at most 5000 subsets, it takes one multinomial draw per value, however many
        users there are. If there are more, it draws a report for each user.

        Parameters
        ----------
        counts : array_like of int, shape (a,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int, shape (a,)
            Number of subsets that contain each value.
        """
        holders = users_by_value(counts, self.domain_size)
        if comb(self.domain_size, self.subset_size) > EXPLICIT_LIMIT:
            reports = self.randomize(np.repeat(np.arange(self.domain_size), holders), rng=rng)
            return reports.sum(axis=0, dtype=np.int64)

        by_value = self.channel().T
        probabilities = by_value / by_value.sum(axis=1, keepdims=True)
        times_drawn = rng.multinomial(holders, probabilities).sum(axis=0)
        return times_drawn @ self.outputs().astype(np.int64)

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Randomise the values of users one by one.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Each user's value, from 0 to ``a - 1``.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of uint8, shape (n, a)
            Each user's subset, a bit for each value.
        """
        true_values = one_per_user(values, "values", self.domain_size)
        bits = np.zeros((true_values.size, self.domain_size), dtype=np.uint8)

        users_in_a_block = max(1, _BITS_IN_A_BLOCK // self.domain_size)
        for start in range(0, true_values.size, users_in_a_block):
            block = true_values[start : start + users_in_a_block]

            # The subset is the values of the lowest ranks; the user's own comes first or last.
            ranks = rng.random((block.size, self.domain_size))
            is_truthful = rng.random(block.size) < self.p
            ranks[np.arange(block.size), block] = np.where(is_truthful, -1.0, 2.0)

            chosen = np.argpartition(ranks, self.subset_size - 1, axis=1)[:, : self.subset_size]
            np.put_along_axis(bits[start : start + users_in_a_block], chosen, 1, axis=1)
        return bits
