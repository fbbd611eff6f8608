"""Local hashing: each user hashes their value into a few cells with a public hash function, and randomises the cell.

With functions that send every value to an independent uniform cell, membership in the reported cell is a set of
independent bits: local hashing *is* unary encoding (`LocalHashing.unary`), with the same exact loss, tallies and errors
at ``log2(cells)`` bits per report. With functions that are only pairwise independent, each single tally has the same
law.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding

EXPLICIT_LIMIT = 100_000
"""Most pairs of a hash function and a cell for which every output is listed."""


@dataclass(frozen=True, slots=True)
class LocalHashing:
    """Report a public random function and the cell of one's value, randomised by k-ary randomised response.

    A report supports all values in its cell. Wang, Blocki, Li and Jha (2017) show that at ``g = e^epsilon + 1`` a
    count's variance is that of OUE.

    - `epsilon`, float: privacy budget in nats, ``> 0``; also the exact privacy loss.
    - `domain_size`, int: number ``k >= 2`` of values.
    - `cells`, int: number ``g >= 2`` of cells.

    >>> hashing = LocalHashing(np.log(3), domain_size=10, cells=4)
    >>> round(float(hashing.p), 12), round(float(hashing.q), 12), round(float(hashing.unary.epsilon / np.log(3)), 12)
    (0.5, 0.25, 1.0)
    """

    epsilon: Real
    domain_size: int
    cells: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2, cells=2)
        checks.positive(self.epsilon, "epsilon")
        checks.numbers(self.cells, "cells", low=2, high=1e305)

    @classmethod
    def optimised(cls, epsilon: float, domain_size: int) -> "LocalHashing":
        """Return optimised local hashing (OLH): the number of cells best at rare values, near ``e^epsilon + 1``.

        >>> LocalHashing.optimised(1.0, 100).cells
        4
        """
        growth = float(np.exp(min(checks.positive(epsilon, "epsilon"), 40.0)))
        near = (int(growth) + 1, int(growth) + 2)
        return cls(epsilon, domain_size, min(near, key=lambda g: (growth + g - 1) ** 2 / (g - 1)))

    @property
    def _response(self) -> KaryRandomisedResponse:
        return KaryRandomisedResponse(self.epsilon, self.cells)

    @property
    def p(self) -> Real:
        """Probability ``e^epsilon / (e^epsilon + g - 1)`` that a report supports its sender's value."""
        return self._response.p

    @property
    def q(self) -> Real:
        """Probability ``1 / g`` that a report supports another given value."""
        return 1 / self.cells

    @property
    def miss_rate(self) -> Real:
        """Probability ``1 - p`` that a report does not support its sender's value."""
        return self._response.miss_rate

    @property
    def truthful_rate(self) -> Real:
        """Difference ``p - q = p (g - 1) (1 - e^-epsilon) / g``."""
        return -self.p * (self.cells - 1) * np.expm1(-self.epsilon) / self.cells

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``, where ``q = 1 / g``."""
        return (self.cells * tallies - reports) * (self.q / self.truthful_rate)

    @property
    def unary(self) -> UnaryEncoding:
        """The unary encoding whose bits are the supported values: ``p`` for one's own, ``1/g`` for any other."""
        return UnaryEncoding(self.p, self.q, self.domain_size, self.miss_rate, self.truthful_rate)

    def functions(self) -> Ints:
        """Return all ``(g^k, k)`` functions, a cell per value; at most 100,000 pairs of function and cell."""
        if (self.domain_size + 1) * np.log(float(self.cells)) > np.log(EXPLICIT_LIMIT):
            got = f"got cells={self.cells:g}, domain_size={self.domain_size:g}"
            raise ValueError(
                f"outputs must be at most {EXPLICIT_LIMIT} to list them, g^(k + 1), {got}"
            )
        count = int(self.cells) ** self.domain_size
        return (
            np.arange(count)[:, None]
            // int(self.cells) ** np.arange(self.domain_size)
            % int(self.cells)
        )

    def channel(self) -> Floats:
        """Return ``Pr(function, cell | value)``, ``(g^k g, k)``: all cells of the first function, then the next."""
        functions = self.functions()
        response = self._response.channel()[:, functions]  # cell, function, value
        return np.asarray(
            response.transpose(1, 0, 2).reshape(-1, self.domain_size) / len(functions)
        )

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how many reports support each value, from the exact joint law, in O(k) whatever the number of users."""
        return self.unary.sample_tallies(counts, rng=rng)
