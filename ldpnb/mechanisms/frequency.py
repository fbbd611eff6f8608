"""Mechanisms for a categorical answer: k-ary randomised response and unary encoding.

Both are *pure* protocols: a report supports the value ``x`` with probability ``p`` if its sender holds ``x`` and ``q``
otherwise, and ``p > q``. An unbiased estimate needs only these two; privacy loss, likelihood and information need the
exact channel.

For simulation only: a statistical generator and noise in floating point protect nobody (see `ldpnb.mechanisms`).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real, is_exact

EXPLICIT_UNARY_LIMIT = 12
"""Largest domain for which the ``2**domain_size`` outputs of unary encoding are enumerated."""

EXPLICIT_RESPONSE_LIMIT = 10_000
"""Largest domain for which the ``k * k`` channel of randomised response is listed."""


@dataclass(frozen=True, slots=True)
class KaryRandomisedResponse:
    """Report the true value with probability ``p``, and any other value with probability ``q``.

    ``p = e^epsilon / (e^epsilon + k - 1)`` and ``q = 1 / (e^epsilon + k - 1)``. For two values it is
    Warner's randomised response.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss.
    domain_size : int
        Number ``k`` of values, at least 2.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Definition 2.4 of Biswas, Cormode and Maple (2022); equation (103) of Lopuhaä-Zwakenberg et al.
    (2020); Definition 2.2 of Juarez and Korolova (2022), where an index is wrong.

    Examples
    --------
    At epsilon = ln 3 and two values, p = 3 / (3 + 1) and q = 1 / (3 + 1).

    >>> warner = KaryRandomisedResponse(epsilon=np.log(3), domain_size=2)
    >>> round(float(warner.p), 12), round(float(warner.q), 12)
    (0.75, 0.25)
    """

    epsilon: float
    domain_size: int

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)
        checks.positive(self.epsilon, "epsilon")

    @property
    def p(self) -> Real:
        """Probability of reporting the truth, ``e^epsilon / (e^epsilon + k - 1)``."""
        return 1 / (1 + (self.domain_size - 1) * np.exp(-self.epsilon))

    @property
    def q(self) -> Real:
        """Probability of reporting a given other value, ``1 / (e^epsilon + k - 1)``."""
        return np.exp(-self.epsilon) * self.p

    @property
    def miss_rate(self) -> Real:
        """Probability ``1 - p = (k - 1) q`` of reporting another value."""
        return (self.domain_size - 1) * self.q

    @property
    def truthful_rate(self) -> Real:
        """Probability ``p - q`` of answering truthfully in the mixture "truth, else uniform over all k values"."""
        return -np.expm1(-self.epsilon) * self.p

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``; here ``q = (1 - (p - q)) / k``."""
        return tallies + (self.domain_size * tallies - reports) * (self.q / self.truthful_rate)

    def channel(self) -> Floats:
        """Return the ``(k, k)`` matrix of ``Pr(report y | value x)``, ``k <= 10,000``; its columns sum to 1."""
        checks.whole(self.domain_size, "domain_size", at_least=2, at_most=EXPLICIT_RESPONSE_LIMIT)
        matrix = np.full((self.domain_size, self.domain_size), self.q)
        np.fill_diagonal(matrix, self.p)
        return matrix

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw the number of reports of each value from their exact joint law, in O(k) whatever the number of users."""
        holders = counts_of_users(counts, self.domain_size)
        truthful = rng.binomial(holders, self.truthful_rate)
        return truthful + _spread(int(holders.sum() - truthful.sum()), self.domain_size, rng)

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Randomize users one by one: values in ``0 .. k-1``, ``(n,)``, to reports, ``(n,)``."""
        own = of_users(self.domain_size, values=values)
        uniform = rng.integers(0, self.domain_size, own.size)
        return np.where(rng.random(own.size) < self.truthful_rate, own, uniform)


@dataclass(frozen=True, slots=True)
class UnaryEncoding:
    """Unary encoding: a bit per value, set with probability ``p`` for the sender's own and ``q`` for every other.

    The bits are independent. Section 2 of lopuhaa2020, after Wang et al. (2017), who optimise ``p`` and ``q``.

    - `p`, `q`, float: ``0 < q < p < 1``.
    - `domain_size`, int: number ``k >= 2`` of values.
    - `miss_rate`, `truthful_rate`, `lean`, float, optional: ``1 - p``, ``p - q`` and ``(1 - 2q) / (p - q)`` where they
      are known more accurately than by subtraction, as in the closed forms of `symmetric` and `optimised`.

    >>> round(float(UnaryEncoding.optimised(epsilon=1.0, domain_size=4).epsilon), 12)
    1.0
    """

    p: Real
    q: Real
    domain_size: int
    miss_rate: Real = field(default=None, repr=False, compare=False)
    truthful_rate: Real = field(default=None, repr=False, compare=False)
    lean: Real = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)
        if self.miss_rate is None:
            object.__setattr__(self, "miss_rate", 1 - checks.open_probability(self.p, "p"))
        if self.truthful_rate is None:
            object.__setattr__(self, "truthful_rate", self.p - checks.open_probability(self.q, "q"))
        checks.probability(self.p, "p")
        checks.open_probability(self.q, "q")
        checks.open_probability(self.miss_rate, "miss_rate")
        if not (is_exact(self.truthful_rate) or self.truthful_rate > 0):
            raise ValueError(f"q must be < p, got p={self.p!r}, q={self.q!r}")
        checks.rate(self.truthful_rate, "truthful_rate")
        if self.lean is None:
            object.__setattr__(self, "lean", 1 + (self.miss_rate - self.q) / self.truthful_rate)

    @classmethod
    def symmetric(cls, epsilon: Real, domain_size: int) -> "UnaryEncoding":
        """Return symmetric unary encoding (SUE): ``p = 1 - q = e^(epsilon/2) / (1 + e^(epsilon/2))``."""
        half = checks.positive(epsilon, "epsilon") / 2
        odds = np.exp(-half)
        return cls(
            1 / (1 + odds), odds / (1 + odds), domain_size, odds / (1 + odds), np.tanh(half / 2), 1
        )

    @classmethod
    def optimised(cls, epsilon: Real, domain_size: int) -> "UnaryEncoding":
        """Return optimised unary encoding (OUE): ``p = 1/2``, ``q = 1 / (e^epsilon + 1)``, best at rare values."""
        budget = checks.positive(epsilon, "epsilon")
        decay = np.exp(-budget)
        return cls(0.5, decay / (1 + decay), domain_size, 0.5, np.tanh(budget / 2) / 2, 2)

    @property
    def epsilon(self) -> Real:
        """Exact privacy loss in nats, ``ln(p (1-q) / (q (1-p)))``: two values differ in two bits."""
        return np.log1p(self.truthful_rate / self.q / self.miss_rate)

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``, where ``q = (1 - lean (p - q)) / 2``."""
        return self.lean * tallies + (2 * tallies - reports) * (self.q / self.truthful_rate)

    def outputs(self) -> NDArray[np.uint8]:
        """Return all ``(2**k, k)`` outputs, ``k <= 12``: bit ``x`` of output ``y`` is its ``x``-th binary digit."""
        checks.whole(self.domain_size, "domain_size", at_least=2, at_most=EXPLICIT_UNARY_LIMIT)
        codes = np.arange(2**self.domain_size)[:, None]
        return ((codes >> np.arange(self.domain_size)) & 1).astype(np.uint8)

    def channel(self) -> Floats:
        """Return the ``(2**k, k)`` matrix of ``Pr(output y | value x)``, rows in the order of `outputs`."""
        bits = self.outputs()
        ones = bits.sum(axis=1, keepdims=True)
        others = np.power(self.q, ones) * np.power(1 - self.q, self.domain_size - ones)
        return others * np.where(bits == 1, self.p / self.q, self.miss_rate / (1 - self.q))

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how often each bit is set, from the exact joint law, in O(k) whatever the number of users."""
        holders = counts_of_users(counts, self.domain_size)
        tallies: Ints = rng.binomial(holders, self.p)
        tallies += rng.binomial(holders.sum() - holders, self.q)
        return tallies

    def sample_outputs(
        self, counts: ArrayLike, *, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], Ints]:
        """Draw the observed outputs and how often each occurred, from the exact joint law, as a likelihood needs them.

        In small domains this is one multinomial over all outputs per value; in larger ones every user's bits are drawn.

        - Returns `outputs`, (m, k) uint8: the distinct outputs that occurred.
        - Returns `tallies`, (m,) int: how often; they sum to the number of users.
        """
        holders = counts_of_users(counts, self.domain_size)
        if self.domain_size <= EXPLICIT_UNARY_LIMIT:
            channel, tallies = self.channel(), np.zeros(2**self.domain_size, dtype=np.int64)
            for value, users in enumerate(holders):
                tallies += rng.multinomial(users, channel[:, value] / channel[:, value].sum())
            seen = tallies > 0
            return self.outputs()[seen], tallies[seen]
        bits = self.randomize(np.repeat(np.arange(self.domain_size), holders), rng=rng)
        packed = np.packbits(bits, axis=1)
        keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, tallies = np.unique(keys, return_index=True, return_counts=True)
        if (
            first.size == holders.sum()
        ):  # all distinct, as with many values: a copy would only double the memory
            return bits, np.ones(first.size, dtype=np.int64)
        return bits[first], tallies

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Randomize users one by one: values in ``0 .. k-1``, ``(n,)``, to bits, ``(n, k)``."""
        own = of_users(self.domain_size, values=values)
        bits = np.empty((own.size, self.domain_size), dtype=np.uint8)
        rows = max(1, 2**22 // self.domain_size)
        for start in range(0, own.size, rows):
            block = own[start : start + rows]
            noisy = rng.random((block.size, self.domain_size)) < self.q
            noisy[np.arange(block.size), block] = rng.random(block.size) < self.p
            bits[start : start + rows] = noisy
        return bits


def counts_of_users(counts: ArrayLike, domain_size: int) -> Ints:
    """Return validated counts: how many users hold each of `domain_size` values."""
    return checks.entries(checks.counts(counts, "counts"), "counts", domain_size)


def of_users(size: int, **named: ArrayLike) -> Ints:
    """Return a validated argument, a whole number in ``0 .. size - 1`` per user."""
    ((name, values),) = named.items()
    own = np.asarray(values)
    if own.ndim != 1 or own.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a one-dimensional array of integers, got dtype {own.dtype}, shape {own.shape}"
        )
    if own.size and not (own.min() >= 0 and own.max() < size):
        raise ValueError(f"{name} must lie in 0 .. {size - 1}, got {own.min()} .. {own.max()}")
    return own.astype(np.int64)


def _spread(reports: int, cells: int, rng: np.random.Generator) -> Ints:
    """Spread reports uniformly over cells: one multinomial, or one draw per report if there are fewer than cells."""
    if reports < cells:
        return np.bincount(rng.integers(0, cells, reports), minlength=cells)
    return rng.multinomial(reports, np.full(cells, 1 / cells))
