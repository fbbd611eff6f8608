"""The channel of an implementation: exact probabilities, the exact loss, and what follows."""

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats
from ldpnb.privacy.channel import Loss

CLOSE = 1e-9
"""How far a mean may lie from the truth, or a loss above a stated budget, by rounding alone."""


class Marginals(NamedTuple):
    """The two probabilities that describe a pure channel.

    - `p`: that an output supports the input which the user holds.
    - `q`: that it supports any other given input.
    """

    p: float
    q: float


@dataclass(frozen=True, repr=False)
class ExactChannel:
    """The exact channel of a client, as `exact_channel` returns it.

    One user holds one input, and an observer sees the one output that the client makes of it. Any
    two inputs are neighbours, unless `loss` is told otherwise.

    Attributes
    ----------
    inputs, outputs : tuple
        The values that were put in, and every output that can come out; arrays, lists and sets are
        tuples here.
    fractions : tuple of tuple of Fraction
        The exact probability of each output (row) given each input (column).
    lost : tuple of Fraction
        For each input, the probability of the paths that were cut. It is 0 unless `exact_channel`
        was called with `cut`.
    paths : int
        How many paths were followed, over all inputs; 0 for a saved channel.
    """

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    fractions: tuple[tuple[Fraction, ...], ...]
    lost: tuple[Fraction, ...]
    paths: int

    @functools.cached_property
    def probabilities(self) -> Floats:
        """The probabilities as floats, an array of outputs by inputs."""
        return np.array(self.fractions, dtype=float)

    @functools.cached_property
    def _worst(self) -> Loss:
        return self.loss()

    @property
    def epsilon(self) -> float:
        """The exact privacy loss in nats, infinite if an output rules an input out.

        If paths were cut, it is the loss up to `delta`.
        """
        return self._worst.epsilon

    @property
    def pair(self) -> tuple[Any, Any]:
        """The input that makes the worst output likelier, and the one that makes it less likely."""
        likelier, other = self._worst.inputs
        return self.inputs[likelier], self.inputs[other]

    @property
    def output(self) -> Any:
        """The output that attains the loss."""
        return self.outputs[self._worst.output]

    @property
    def delta(self) -> float:
        """The probability that `epsilon` leaves out: 0 unless paths were cut."""
        left_out = list(self.lost)
        for row in self.fractions:
            if not self._counts(row):
                left_out = [lost + mass for lost, mass in zip(left_out, row, strict=True)]
        return float(max(left_out))

    @property
    def lower_bound(self) -> float:
        """A lower bound of the loss at delta 0: `epsilon` itself unless paths were cut."""
        if not any(self.lost):
            return self.epsilon

        largest = Fraction(1)
        for row in self.fractions:
            at_most = [mass + lost for mass, lost in zip(row, self.lost, strict=True)]
            if min(at_most):
                largest = max(largest, max(row) / min(at_most))
        return _logarithm(largest)

    def loss(self, neighbours: Callable[[Any, Any], bool] | None = None) -> Loss:
        """Return the largest privacy loss over pairs of inputs that are neighbours.

        Parameters
        ----------
        neighbours : callable, optional
            ``neighbours(one, other)`` says whether two inputs must look alike. By default any two
            must.

        Returns
        -------
        Loss
            The loss in nats, with `output` and `inputs` as indices of `outputs` and `inputs`.

        Raises
        ------
        ValueError
            If no two inputs are neighbours.
        """
        if neighbours is None:
            return self._largest_of(_extremes(row) for row in self.fractions)

        pairs = [
            (i, j)
            for i, j in itertools.permutations(range(len(self.inputs)), 2)
            if neighbours(self.inputs[i], self.inputs[j])
        ]
        if not pairs:
            raise ValueError("neighbours must be true for at least one pair of inputs, got none")
        return self._largest_of(pairs for _ in self.fractions)

    def _largest_of(self, pairs_of_rows: Iterable[list[tuple[int, int]]]) -> Loss:
        """Return the largest loss over some pairs of inputs for every output."""
        worst = Loss(0.0, 0, (0, 1))
        largest = Fraction(1)
        for output, (row, pairs) in enumerate(zip(self.fractions, pairs_of_rows, strict=True)):
            if not self._counts(row):
                continue
            for i, j in pairs:
                if row[i] and not row[j]:
                    return Loss(math.inf, output, (i, j))
                if row[i] > largest * row[j]:
                    largest = row[i] / row[j]
                    worst = Loss(_logarithm(largest), output, (i, j))
        return worst

    def moments(self, estimate: Callable[[Any], ArrayLike]) -> tuple[Floats, Floats]:
        """Return the exact mean and variance of an estimate that is made from one output.

        Parameters
        ----------
        estimate : callable
            Takes an output and returns a number, or a vector such as the count of each input.

        Returns
        -------
        means, variances : ndarray
            A row for each input, in the shape of the estimate.
        """
        estimates = np.array([np.asarray(estimate(output), dtype=float) for output in self.outputs])
        weights = self.probabilities.T
        means = np.tensordot(weights, estimates, axes=1)
        variances = [
            np.tensordot(weight, (estimates - mean) ** 2, axes=1)
            for weight, mean in zip(weights, means, strict=True)
        ]
        return means, np.array(variances)

    def is_unbiased(
        self, estimate: Callable[[Any], ArrayLike], truth: ArrayLike | None = None
    ) -> bool:
        """Return whether an estimate that is made from one output is right on average.

        Parameters
        ----------
        estimate : callable
            Takes an output and returns a number, or a vector such as the count of each input.
        truth : array_like, optional
            What the mean must be, a row for each input. By default a number estimates the input
            itself, and a vector counts inputs: 1 for the one that is held and 0 for all others.

        Returns
        -------
        bool
            Whether every mean is within 1e-9 of the truth.

        Raises
        ------
        ValueError
            If the truth does not have the shape of the means, or if paths were cut.
        """
        if any(self.lost):
            raise ValueError("cut must be 0 for exact means, but some paths were cut")
        means, _ = self.moments(estimate)
        if truth is None:
            truth = self.inputs if means.ndim == 1 else np.eye(len(self.inputs))
        expected = checks.numbers(truth, "truth")
        if expected.shape != means.shape:
            raise ValueError(f"truth must have shape {means.shape}, got shape {expected.shape}")
        return bool(np.abs(means - expected).max() <= CLOSE)

    def marginals(
        self, supports: Callable[[Any], Collection[Any]] | None = None
    ) -> Marginals | None:
        """Return ``p`` and ``q`` if the channel is pure, else None.

        A channel is pure if an output supports the input of its user with one probability ``p``,
        and every other input with one probability ``q``, whoever the user is (Wang, Blocki, Li and
        Jha 2017). Estimates of counts need no more than these two.

        Parameters
        ----------
        supports : callable, optional
            Takes an output and returns the inputs that it supports. By default an output that is
            an input supports itself; a vector of zeros and ones, as long as there are inputs,
            supports those with a one; and a tuple of inputs supports its entries.

        References
        ----------
        Wang, Blocki, Li and Jha (2017). Locally differentially private protocols for frequency
        estimation. USENIX Security.
        """
        if any(self.lost):
            return None

        chosen = supports or self._supported
        is_supported = np.zeros(self.probabilities.shape)
        for place, output in enumerate(self.outputs):
            supported = chosen(output)
            if supported is None:
                return None
            is_supported[place] = [value in supported for value in self.inputs]

        # In blocks of supported inputs, because the whole table may be too large for the memory.
        own_chances: list[float] = []
        other_chances: list[float] = []
        for first in range(0, len(self.inputs), 100):
            chances = is_supported.T[first : first + 100] @ self.probabilities
            rows, columns = chances.shape
            is_own = np.eye(rows, columns, k=first, dtype=bool)
            own_chances += [chances[is_own].min(), chances[is_own].max()]
            other_chances += [chances[~is_own].min(), chances[~is_own].max()]
            if np.ptp(own_chances) > CLOSE or np.ptp(other_chances) > CLOSE:
                return None
        return Marginals(p=float(own_chances[0]), q=float(other_chances[0]))

    def exceeds(self, epsilon: float, *, tolerance: float = CLOSE) -> bool:
        """Return whether the loss is larger than a stated budget, by more than rounding.

        Parameters
        ----------
        epsilon : float
            The stated budget in nats, > 0.
        tolerance : float, optional
            How much more is accepted, >= 0. A client that computes its probabilities in floats may
            miss its budget in the last digits.
        """
        stated = checks.positive(epsilon, "epsilon")
        accepted = stated + checks.non_negative(tolerance, "tolerance")
        return max(self.epsilon, self.lower_bound) > accepted

    def __str__(self) -> str:
        """Return a report of four lines: size, loss, where it is attained, and what was left."""
        row = self.fractions[self._worst.output]
        likelier, other = self._worst.inputs
        paths = f", {self.paths} paths" if self.paths else ""
        lines = [
            f"{len(self.inputs)} inputs, {len(self.outputs)} outputs{paths}",
            f"{self._loss_in_words()}, where any two inputs are neighbours",
            f"output {checks.shortened(self.output)} has probability {float(row[likelier]):.6g} "
            f"from input {checks.shortened(self.pair[0])} and {float(row[other]):.6g} "
            f"from input {checks.shortened(self.pair[1])}",
        ]
        marginals = self.marginals()
        if any(self.lost):
            lines.append(
                f"some paths were left out: at delta 0, epsilon is at least {self.lower_bound:.12g}"
            )
        elif marginals is None:
            lines.append(
                "not a pure protocol: outputs support inputs with more than two probabilities"
            )
        else:
            lines.append(f"a pure protocol with p = {marginals.p:.12g} and q = {marginals.q:.12g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        size = f"{len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"ExactChannel({size}, epsilon={self.epsilon:.12g})"

    def _loss_in_words(self) -> str:
        if math.isinf(self.epsilon):
            return "epsilon is infinite"
        if any(self.lost):
            return f"epsilon is {self.epsilon:.12g} at delta {self.delta:.3g}"
        return f"epsilon is {self.epsilon:.12g}"

    def _supported(self, output: Any) -> Collection[Any] | None:
        """Return the inputs that an output supports, as far as that can be seen from it."""
        if output in self.inputs:
            return (output,)
        if not isinstance(output, tuple):
            return None
        if len(output) == len(self.inputs) and all(entry in (0, 1) for entry in output):
            return [value for value, bit in zip(self.inputs, output, strict=True) if bit]
        return output if all(entry in self.inputs for entry in output) else None

    def _counts(self, row: tuple[Fraction, ...]) -> bool:
        """Whether an output enters `epsilon`; what seems impossible may be on a cut path."""
        return all(row) or not any(self.lost)


def _extremes(row: tuple[Fraction, ...]) -> list[tuple[int, int]]:
    """Return the pair of inputs that a row tells apart best, if it does."""
    likeliest = row.index(max(row))
    unlikeliest = row.index(min(row))
    return [(likeliest, unlikeliest)]


def _logarithm(ratio: Fraction) -> float:
    """Return the logarithm of a ratio of at least 1, to all digits of a float."""
    if ratio < 2:
        return math.log1p(ratio - 1)  # which keeps the digits of a ratio near 1
    try:
        return math.log(ratio)
    except OverflowError:  # the ratio is larger than any float; its parts have logarithms
        return math.log(ratio.numerator) - math.log(ratio.denominator)
