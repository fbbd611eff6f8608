"""Local hashing: hash a value into one of a few cells by a public function, and randomise the cell.

If the function sends every value to an independent uniform cell, the values in the reported cell
are a set of independent bits. So local hashing *is* unary encoding (`LocalHashing.unary`), with the
same exact loss, tallies and errors, at ``log2(cells)`` bits per report. If the functions are only
pairwise independent, each single tally still has the same distribution.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
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
    """Report a public random function, and the cell of one's value by k-ary randomised response.

    A report supports all values that the function sends to the reported cell. `optimised` chooses
    the number of cells.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when one
        user's value is replaced by another.
    domain_size : int
        Number ``k`` of values, at least 2.
    cells : int
        Number ``g`` of cells, at least 2.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), who show that with ``g = e^epsilon + 1`` the variance of a
    count is that of optimised unary encoding.

    Examples
    --------
    At epsilon = ln 3 and 4 cells, the true cell is reported with probability 3 / (3 + 3), and
    another value is in the reported cell with probability 1/4.

    >>> hashing = LocalHashing(epsilon=np.log(3), domain_size=10, cells=4)
    >>> round(float(hashing.p), 12), round(float(hashing.q), 12)
    (0.5, 0.25)
    >>> round(float(np.exp(hashing.unary.epsilon)), 12)
    3.0
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
        """Return optimised local hashing (OLH), with the best number of cells for rare values.

        The number is near ``e^epsilon + 1``.

        Parameters
        ----------
        epsilon : float
            Privacy budget in nats, ``> 0``.
        domain_size : int
            Number ``k`` of values, at least 2.

        Returns
        -------
        LocalHashing

        Examples
        --------
        At epsilon = 1 the best number is 4, as e + 1 = 3.72.

        >>> LocalHashing.optimised(epsilon=1.0, domain_size=100).cells
        4
        """
        growth = float(np.exp(min(checks.positive(epsilon, "epsilon"), 40.0)))

        def relative_variance(cells: int) -> float:
            return (growth + cells - 1) ** 2 / (cells - 1)

        candidates = (int(growth) + 1, int(growth) + 2)
        return cls(epsilon, domain_size, min(candidates, key=relative_variance))

    @property
    def _response(self) -> KaryRandomisedResponse:
        return KaryRandomisedResponse(self.epsilon, self.cells)

    @property
    def p(self) -> Real:
        """Probability ``e^epsilon / (e^epsilon + g - 1)`` that a report supports its sender."""
        return self._response.p

    @property
    def q(self) -> Real:
        """Probability ``1 / g`` that a report supports a given other value."""
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
        """The unary encoding whose bits tell which values a report supports."""
        return UnaryEncoding(self.p, self.q, self.domain_size, self.miss_rate, self.truthful_rate)

    def functions(self) -> Ints:
        """Return all functions, a row of cells each, shape ``(g**k, k)``.

        More than 100,000 pairs of a function and a cell are refused.
        """
        factors = int(self.domain_size) + 1
        cells = int(self.cells)
        if 2**factors > EXPLICIT_LIMIT or cells**factors > EXPLICIT_LIMIT:
            got = f"got cells={self.cells:g}, domain_size={self.domain_size}"
            raise ValueError(
                f"outputs must be at most {EXPLICIT_LIMIT} to list them, g^(k + 1), {got}"
            )

        codes = np.arange(cells**self.domain_size)[:, None]
        return codes // cells ** np.arange(self.domain_size) % cells

    def channel(self) -> Floats:
        """Return the ``(g**k * g, k)`` matrix of ``Pr(function, cell | value)``.

        Its rows are all cells of the first of the `functions`, then those of the next.
        """
        functions = self.functions()
        by_cell_function_value = self._response.channel()[:, functions]
        by_output = by_cell_function_value.transpose(1, 0, 2).reshape(-1, self.domain_size)
        return np.asarray(by_output / len(functions))

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how many reports support each value, from the exact joint distribution.

        It takes O(k) time, however many users there are.

        Parameters
        ----------
        counts : array_like of int, shape (k,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int, shape (k,)
            Number of reports that support each value.
        """
        return self.unary.sample_tallies(counts, rng=rng)
