"""Mechanisms for a categorical answer: k-ary randomised response and unary encoding.

Both are *pure* protocols. A report supports the value ``x`` with probability ``p`` if its sender
holds ``x``, and with probability ``q < p`` if not. An unbiased estimate needs only these two
numbers. Privacy loss, likelihood and information need the exact channel.

For simulation only: a statistical generator and noise in floating point protect nobody (see
`ldpnb.mechanisms`).
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

_BITS_IN_A_BLOCK = 2**22
"""Bits that are drawn at once, so that memory stays small however many users there are."""


@dataclass(frozen=True, slots=True)
class KaryRandomisedResponse:
    """Report the true value with probability ``p``, and any other value with probability ``q``.

    ``p = e^epsilon / (e^epsilon + k - 1)`` and ``q = 1 / (e^epsilon + k - 1)``. It is also known as
    k-RR, direct encoding and generalised randomised response. For two values it is Warner's
    randomised response.

    Parameters
    ----------
    epsilon : float
        Privacy budget in nats, ``> 0``. It is also the exact privacy loss of a report, when one
        user's value is replaced by another.
    domain_size : int
        Number ``k`` of values, at least 2.

    Raises
    ------
    TypeError
        If an argument is not a number.
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
        """Probability ``e^epsilon / (e^epsilon + k - 1)`` of reporting the true value."""
        return 1 / (1 + (self.domain_size - 1) * np.exp(-self.epsilon))

    @property
    def q(self) -> Real:
        """Probability ``1 / (e^epsilon + k - 1)`` of reporting a given other value."""
        return np.exp(-self.epsilon) * self.p

    @property
    def miss_rate(self) -> Real:
        """Probability ``1 - p = (k - 1) q`` of reporting any other value."""
        return (self.domain_size - 1) * self.q

    @property
    def truthful_rate(self) -> Real:
        """Probability ``p - q`` of answering truthfully, if all others draw from all k values."""
        return -np.expm1(-self.epsilon) * self.p

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``, where ``q = (1 - (p - q)) / k``."""
        return tallies + (self.domain_size * tallies - reports) * (self.q / self.truthful_rate)

    def channel(self) -> Floats:
        """Return the ``(k, k)`` matrix of ``Pr(report y | value x)``, whose columns sum to 1.

        A domain of more than 10,000 values is refused.
        """
        checks.whole(self.domain_size, "domain_size", at_least=2, at_most=EXPLICIT_RESPONSE_LIMIT)

        matrix = np.full((self.domain_size, self.domain_size), self.q)
        np.fill_diagonal(matrix, self.p)
        return matrix

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how often each value is reported, from the exact joint distribution.

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
            Number of users who report each value; they sum to the number of users.
        """
        holders = users_by_value(counts, self.domain_size)
        truthful = rng.binomial(holders, self.truthful_rate)
        others = int(holders.sum() - truthful.sum())
        return truthful + _spread_uniformly(others, self.domain_size, rng)

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Randomise the values of users one by one.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Each user's value, from 0 to ``k - 1``.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of int, shape (n,)
            Each user's report, from 0 to ``k - 1``.
        """
        true_values = one_per_user(values, "values", self.domain_size)
        random_values = rng.integers(0, self.domain_size, true_values.size)
        is_truthful = rng.random(true_values.size) < self.truthful_rate
        return np.where(is_truthful, true_values, random_values)


@dataclass(frozen=True, slots=True)
class UnaryEncoding:
    """Report a bit for each value, set more often for the user's own value.

    The bit of the user's own value is set with probability ``p``, each other bit with probability
    ``q``, and all bits are independent. `optimised` and `symmetric` choose ``p`` and ``q`` for a
    privacy budget.

    Parameters
    ----------
    p : float
        Probability that the bit of the user's own value is set, in ``(0, 1)``.
    q : float
        Probability that another bit is set, in ``(0, p)``.
    domain_size : int
        Number ``k`` of values, at least 2.
    miss_rate : float, optional
        ``1 - p``, if it is known to more digits than the subtraction would leave.
    truthful_rate : float, optional
        ``p - q``, likewise.
    lean : float, optional
        ``(1 - 2 q) / (p - q)``, likewise.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is outside its range, or ``q >= p``.

    References
    ----------
    Section 2 of Lopuhaä-Zwakenberg et al. (2020). Wang, Blocki, Li and Jha (2017) optimise ``p``
    and ``q``.

    Examples
    --------
    At epsilon = ln 3, the bits of optimised unary encoding are set with the probabilities 1/2 and
    1/(3 + 1). They lose ln((0.5 * 0.75) / (0.25 * 0.5)) = ln 3.

    >>> encoding = UnaryEncoding.optimised(epsilon=np.log(3), domain_size=4)
    >>> round(float(encoding.p), 12), round(float(encoding.q), 12)
    (0.5, 0.25)
    >>> round(float(np.exp(encoding.epsilon)), 12)
    3.0
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
        """Return symmetric unary encoding (SUE), whose bits are all true equally often.

        ``p = 1 - q = e^(epsilon/2) / (1 + e^(epsilon/2))``.

        Parameters
        ----------
        epsilon : float
            Exact privacy loss of a report in nats, ``> 0``.
        domain_size : int
            Number ``k`` of values, at least 2.

        Returns
        -------
        UnaryEncoding
        """
        half = checks.positive(epsilon, "epsilon") / 2
        odds = np.exp(-half)
        return cls(
            p=1 / (1 + odds),
            q=odds / (1 + odds),
            domain_size=domain_size,
            miss_rate=odds / (1 + odds),
            truthful_rate=np.tanh(half / 2),
            lean=1,
        )

    @classmethod
    def optimised(cls, epsilon: Real, domain_size: int) -> "UnaryEncoding":
        """Return optimised unary encoding (OUE), the best for values that few users hold.

        ``p = 1/2`` and ``q = 1 / (e^epsilon + 1)``.

        Parameters
        ----------
        epsilon : float
            Exact privacy loss of a report in nats, ``> 0``.
        domain_size : int
            Number ``k`` of values, at least 2.

        Returns
        -------
        UnaryEncoding
        """
        budget = checks.positive(epsilon, "epsilon")
        decay = np.exp(-budget)
        truthful_rate = np.tanh(budget / 2) / 2
        return cls(
            p=0.5,
            q=decay / (1 + decay),
            domain_size=domain_size,
            miss_rate=0.5,
            truthful_rate=truthful_rate,
            lean=2,
        )

    @property
    def epsilon(self) -> Real:
        """Exact privacy loss of a report in nats, ``ln(p (1-q) / (q (1-p)))``.

        If a user's value is replaced by another, two bits change their probabilities.
        """
        return np.log1p(self.truthful_rate / self.q / self.miss_rate)

    def _holders(self, tallies: Real, reports: Real) -> Real:
        """Return ``(tallies - reports q) / (p - q)``, where ``q = (1 - lean (p - q)) / 2``."""
        return self.lean * tallies + (2 * tallies - reports) * (self.q / self.truthful_rate)

    def outputs(self) -> NDArray[np.uint8]:
        """Return all outputs, a row of bits each, shape ``(2**k, k)``.

        Bit ``x`` of output ``y`` is the ``x``-th binary digit of ``y``, from the lowest. A domain
        of more than 12 values is refused.
        """
        checks.whole(self.domain_size, "domain_size", at_least=2, at_most=EXPLICIT_UNARY_LIMIT)

        codes = np.arange(2**self.domain_size)[:, None]
        return ((codes >> np.arange(self.domain_size)) & 1).astype(np.uint8)

    def channel(self) -> Floats:
        """Return the ``(2**k, k)`` matrix of ``Pr(output y | value x)``, ordered as `outputs`."""
        bits = self.outputs()
        ones = bits.sum(axis=1, keepdims=True)
        all_others = np.power(self.q, ones) * np.power(1 - self.q, self.domain_size - ones)
        return all_others * np.where(bits == 1, self.p / self.q, self.miss_rate / (1 - self.q))

    def sample_tallies(self, counts: ArrayLike, *, rng: np.random.Generator) -> Ints:
        """Draw how often each bit is set, from the exact joint distribution.

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
            Number of reports in which each bit is set.
        """
        holders = users_by_value(counts, self.domain_size)
        tallies: Ints = rng.binomial(holders, self.p)
        tallies += rng.binomial(holders.sum() - holders, self.q)
        return tallies

    def sample_outputs(
        self, counts: ArrayLike, *, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], Ints]:
        """Draw the outputs that are observed, as a likelihood needs them.

        Up to 12 values this is one multinomial draw per value. With more, every user's bits are
        drawn.

        Parameters
        ----------
        counts : array_like of int, shape (k,)
            Number of users who hold each value.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        outputs : ndarray of uint8, shape (m, k)
            The distinct outputs that occurred.
        tallies : ndarray of int, shape (m,)
            How often each occurred; they sum to the number of users.
        """
        holders = users_by_value(counts, self.domain_size)
        if self.domain_size <= EXPLICIT_UNARY_LIMIT:
            return self._sample_listed_outputs(holders, rng)

        bits = self.randomize(np.repeat(np.arange(self.domain_size), holders), rng=rng)
        return _distinct_rows(bits)

    def _sample_listed_outputs(
        self, holders: Ints, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], Ints]:
        channel = self.channel()
        tallies = np.zeros(2**self.domain_size, dtype=np.int64)
        for value, users in enumerate(holders):
            tallies += rng.multinomial(users, channel[:, value] / channel[:, value].sum())

        seen = tallies > 0
        return self.outputs()[seen], tallies[seen]

    def randomize(self, values: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Randomise the values of users one by one.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Each user's value, from 0 to ``k - 1``.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        ndarray of uint8, shape (n, k)
            Each user's bits.
        """
        true_values = one_per_user(values, "values", self.domain_size)
        bits = np.empty((true_values.size, self.domain_size), dtype=np.uint8)

        users_in_a_block = max(1, _BITS_IN_A_BLOCK // self.domain_size)
        for start in range(0, true_values.size, users_in_a_block):
            block = true_values[start : start + users_in_a_block]
            noisy = rng.random((block.size, self.domain_size)) < self.q
            noisy[np.arange(block.size), block] = rng.random(block.size) < self.p
            bits[start : start + users_in_a_block] = noisy
        return bits


def users_by_value(counts: ArrayLike, domain_size: int) -> Ints:
    """Return checked counts: how many users hold each of `domain_size` values."""
    return checks.entries(checks.counts(counts, "counts"), "counts", domain_size)


def one_per_user(numbers: ArrayLike, name: str, size: int) -> Ints:
    """Return a checked argument: a whole number from 0 to ``size - 1`` for each user."""
    array = np.asarray(numbers)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        got = f"dtype {array.dtype}, shape {array.shape}"
        raise TypeError(f"{name} must be a one-dimensional array of integers, got {got}")
    if array.size and not (array.min() >= 0 and array.max() < size):
        raise ValueError(f"{name} must lie in 0 .. {size - 1}, got {array.min()} .. {array.max()}")
    return array.astype(np.int64)


def _distinct_rows(bits: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Ints]:
    """Return the distinct rows of a matrix of bits, and how often each occurs."""
    packed = np.ascontiguousarray(np.packbits(bits, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, tallies = np.unique(keys, return_index=True, return_counts=True)

    # With many values all rows are distinct, and a copy of them would double the memory.
    if first.size == len(bits):
        return bits, np.ones(first.size, dtype=np.int64)
    return bits[first], tallies


def _spread_uniformly(reports: int, cells: int, rng: np.random.Generator) -> Ints:
    # One multinomial takes a step for each cell, single draws take one for each report.
    if reports < cells:
        return np.bincount(rng.integers(0, cells, reports), minlength=cells)
    return rng.multinomial(reports, np.full(cells, 1 / cells))
