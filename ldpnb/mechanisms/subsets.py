"""Subset selection: report a set of k values, more likely one that contains one's own.

With k between 1 (k-ary randomised response) and half of all values it is the best channel known for frequency
estimation at every epsilon; at the uniform distribution it is optimal (see
`ldpnb.papers.lopuhaa2020.formulas.best_channel`).

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms.frequency import counts_of_users, of_users

EXPLICIT_LIMIT = 5000
"""Most subsets for which every output is listed."""


@dataclass(frozen=True, slots=True)
class SubsetSelection:
    """Report a random subset of values: one that contains one's own is ``e^epsilon`` times likelier than any other.

    Ye and Barg (2018). lopuhaa2020 asks for optimal protocols beyond two values (Section 6).

    - `epsilon`, float: privacy budget in nats, ``> 0``; also the exact privacy loss.
    - `domain_size`, int: number ``a >= 2`` of values.
    - `subset_size`, int: between 1 and ``domain_size - 1``.

    >>> round(float(SubsetSelection(np.log(3), domain_size=4, subset_size=2).p), 12)
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
        """Return the subset size of least error at the uniform distribution, near ``a / (e^epsilon + 1)``."""
        size = checks.whole(domain_size, "domain_size", at_least=2)
        decay = float(np.exp(-checks.positive(epsilon, "epsilon")))
        near = size * decay / (1 + decay)
        sizes = sorted({max(int(k), 1) for k in (np.floor(near), np.ceil(near))})
        errors = [(k + (size - k) * decay) ** 2 / (k * (size - k)) for k in sizes]
        return cls(epsilon, size, sizes[int(np.argmin(errors))])

    @property
    def p(self) -> Real:
        """Probability that the subset contains the sender's value."""
        return self.subset_size / (self.subset_size + self._others)

    @property
    def q(self) -> Real:
        """Probability that the subset contains another given value."""
        return self.p * (self.subset_size - 1 + self._others) / (self.domain_size - 1)

    @property
    def miss_rate(self) -> Real:
        """Probability ``1 - p`` that the subset does not contain the sender's value."""
        return self._others / (self.subset_size + self._others)

    @property
    def truthful_rate(self) -> Real:
        """Difference ``p - q = p (a - k) (1 - e^-epsilon) / (a - 1)``."""
        return (
            -self.p
            * (self.domain_size - self.subset_size)
            * np.expm1(-self.epsilon)
            / (self.domain_size - 1)
        )

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``; here ``q = (k - (p - q)) / a``."""
        scale = self.q / self.truthful_rate
        return (
            tallies + (self.domain_size * tallies - self.subset_size * reports) * scale
        ) / self.subset_size

    @property
    def _others(self) -> Real:
        """Number of values outside the subset, times ``e^-epsilon``."""
        return (self.domain_size - self.subset_size) * np.exp(-self.epsilon)

    def outputs(self) -> NDArray[np.uint8]:
        """Return all subsets as rows of bits, in lexicographic order; at most 5000."""
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
        """Return the ``(subsets, a)`` matrix of ``Pr(subset y | value x)``, rows in the order of `outputs`."""
        bits = self.outputs()
        likely = self.p / comb(self.domain_size - 1, self.subset_size - 1)
        return np.where(bits == 1, likely, likely * np.exp(-self.epsilon))

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how many reports support each value, from the exact joint law.

        Where all subsets can be listed, one multinomial over them per value, whatever the number of users; otherwise a
        report per user.
        """
        holders = counts_of_users(counts, self.domain_size)
        if comb(self.domain_size, self.subset_size) > EXPLICIT_LIMIT:
            reports = self.randomize(np.repeat(np.arange(self.domain_size), holders), rng=rng)
            return reports.sum(axis=0, dtype=np.int64)
        laws = self.channel().T
        tallies = rng.multinomial(holders, laws / laws.sum(axis=1, keepdims=True)).sum(axis=0)
        return tallies @ self.outputs().astype(np.int64)

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Randomize users one by one: values in ``0 .. a-1``, ``(n,)``, to subsets as bits, ``(n, a)``."""
        own = of_users(self.domain_size, values=values)
        bits = np.zeros((own.size, self.domain_size), dtype=np.uint8)
        rows = max(1, 2**21 // self.domain_size)
        for start in range(0, own.size, rows):
            block = own[start : start + rows]
            order = rng.random((block.size, self.domain_size))
            order[np.arange(block.size), block] = np.where(
                rng.random(block.size) < self.p, -1.0, 2.0
            )
            chosen = np.argpartition(order, self.subset_size - 1, axis=1)[:, : self.subset_size]
            np.put_along_axis(bits[start : start + rows], chosen, 1, axis=1)
        return bits
