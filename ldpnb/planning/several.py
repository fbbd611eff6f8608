"""Several questions on one budget: everybody answers all, or one question each that is drawn at random."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.planning.designs import SimpleDesign
from ldpnb.planning.laws import Tail
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Mean

Way = Literal["all", "one"]


def split(epsilon: float, weights: Sequence[float], *, bits: bool) -> NDArray[np.float64]:
    """Return the budgets of questions that everybody answers, which sum to `epsilon`, with the least sum of variances.

    Parameters
    ----------
    epsilon : float
        Their sum, by basic composition.
    weights : sequence of float
        Importance times squared range of each question.
    bits : bool
        Whether reports are one bit; else they have Laplace noise.

    Notes
    -----
    At the optimum ``weight times slope of the variance`` is the same for all: budgets go with the cube root of the
    weights for Laplace noise, and for one bit by its slope ``-cosh(e/2) / (4 sinh^3(e/2))``.

    Examples
    --------
    >>> split(1.0, [1, 1, 8], bits=False).round(6).tolist()
    [0.25, 0.25, 0.5]
    """
    roots = np.cbrt(np.asarray(weights, dtype=float))
    if not bits:
        return np.asarray(epsilon * roots / roots.sum())

    def log_slope(budget: float) -> float:
        half = budget / 2
        # logarithms of cosh and of sinh cubed, without overflow
        return float(np.logaddexp(half, -half) - 3 * (half + np.log(-np.expm1(-budget))))

    def budget(weight: float, price: float) -> float:
        if np.log(weight) + log_slope(epsilon) >= price:
            return epsilon
        least, precision = epsilon * 1e-12, 1e-15 * epsilon
        return float(
            brentq(lambda b: np.log(weight) + log_slope(b) - price, least, epsilon, xtol=precision, rtol=1e-14)
        )

    def surplus(price: float) -> float:
        return sum(budget(weight, price) for weight in weights) - epsilon

    low = float(np.log(min(weights)) + log_slope(epsilon)) - 1
    high = float(np.log(max(weights)) + log_slope(epsilon / (2 * len(weights)))) + 1
    price = brentq(surplus, low, high, xtol=1e-14, rtol=1e-14)
    shares = np.array([budget(weight, price) for weight in weights])
    return np.asarray(shares * epsilon / shares.sum())


def one_question_threshold(questions: int) -> float:
    """Return the budget below which one random question each beats answers to all, at the worst bits.

    There ``coth^2(e / (2 q)) = q coth^2(e / 2)``.

    >>> round(one_question_threshold(2), 6)
    3.057142
    """

    def gain(epsilon: float) -> float:
        return float(np.tanh(epsilon / 2) ** 2 - questions * np.tanh(epsilon / (2 * questions)) ** 2)

    return float(brentq(gain, 1.0, 100.0 * checks.whole(questions=questions, at_least=2), xtol=1e-13))


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """Means of several values in ``[0, 1]``, from a simple random sample on one budget.

    Parameters
    ----------
    weights : tuple of float
        Importance of each question: the weighted sum of the estimates' variances is minimised.
    epsilon : float
        Of everything that somebody reports, nats; budgets of questions add up.
    failure : float
        Each estimate is off by its error or more with this probability at most; by ``failure / q`` for all `together`.
    count : int, optional
        People who answer.
    design : SimpleDesign
    mechanism : {"1-bit", "local Laplace"}
    binary, together : bool
    tail : {"guaranteed", "normal"}

    Examples
    --------
    >>> asked = {"count": 4000, "epsilon": 1, "failure": 0.05, "binary": True, "tail": "normal"}
    >>> several = Several(weights=(1, 1, 1, 1), **asked)
    >>> several.best, round(several.errors("one")[0], 4), round(several.errors("all")[0], 4)
    ('one', 0.0671, 0.1246)
    """

    weights: tuple[float, ...]
    epsilon: float
    failure: float
    count: int
    design: SimpleDesign = field(default_factory=SimpleDesign)
    mechanism: Literal["1-bit", "local Laplace"] = "1-bit"
    binary: bool = False
    together: bool = False
    tail: Tail = "guaranteed"

    def __post_init__(self) -> None:
        checks.plain(self)
        for weight in self.weights:
            checks.positive(weights=weight)
        if len(self.weights) < 2:
            raise ValueError(f"weights must be of two questions or more, got weights={self.weights!r}")
        checks.whole(count=self.count, at_least=2 * len(self.weights))
        checks.choice(mechanism=self.mechanism, among=("1-bit", "local Laplace"))
        self.means("all")  # which refuse what they cannot be asked

    def shares(self, way: Way) -> list[tuple[int, float]]:
        """Return the answers to each question, and the budget of each."""
        if way == "all":
            return [(self.count, float(e)) for e in split(self.epsilon, self.weights, bits=self.mechanism == "1-bit")]
        roots = np.sqrt(self.weights)
        return [(max(2, int(self.count * root / roots.sum())), self.epsilon) for root in roots]

    def means(self, way: Way) -> list[Mean]:
        """Return the question of each mean, without its error; those alike are one object."""
        failure = self.failure / len(self.weights) if self.together else self.failure
        name = "Warner" if self.binary and self.mechanism == "1-bit" else self.mechanism
        known: dict[str, Any] = {"failure": failure, "design": self.design, "mechanism": name, "binary": self.binary}
        one = {
            share: Mean(count=share[0], epsilon=share[1], tail=self.tail, **known) for share in set(self.shares(way))
        }
        return [one[share] for share in self.shares(way)]

    def errors(self, way: Way) -> list[float]:
        """Return the error that is promised of each mean."""
        means = self.means(way)
        promised = {id(mean): plan(mean).answers[0].value for mean in {id(mean): mean for mean in means}.values()}
        return [promised[id(mean)] for mean in means]

    def variance(self, way: Way) -> float:
        """Return the weighted sum of the estimates' variances at the worst data."""
        laws = [(mean, mean.law(mean.candidates[0])) for mean in self.means(way)]
        return float(np.dot(self.weights, [mean.sample(law.reports).variance(law.reports).total for mean, law in laws]))

    @property
    def best(self) -> Way:
        """The way with the smaller variance."""
        return min(("all", "one"), key=self.variance)

    @property
    def threshold(self) -> float | None:
        """Budget below which one question each is better, for bits of equal weight in a large population."""
        if self.mechanism != "1-bit" or len(set(self.weights)) > 1 or self.design.sd is not None:
            return None
        return one_question_threshold(len(self.weights))

    def for_error(self, error: float) -> "Several":
        """Return the question with the fewest answers with which the better way errs by less, in every question."""
        low, high = 2 * len(self.weights) - 1, self.design.population

        def enough(count: int) -> bool:
            one = replace(self, count=count)
            means = {id(mean): mean.with_value("error", error) for mean in one.means(one.best)}.values()
            return all(mean.chance(mean.candidates[0])[0] <= float(mean.failure or 0) for mean in means)

        if not enough(high):
            least = max(replace(self, count=high).errors(replace(self, count=high).best))
            raise ValueError(f"error must be >= {least:.3g}, what all {high:,} people leave, got error={error!r}")
        while high - low > 1:
            middle = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return replace(self, count=high)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per way and question."""
        return [
            {"way": way, "question": i + 1, "answers": n, "epsilon": e, "error": error, "best": way == self.best}
            for way in ("all", "one")
            for i, ((n, e), error) in enumerate(zip(self.shares(way), self.errors(way), strict=True))
        ]

    def __str__(self) -> str:
        words: dict[Way, str] = {"one": "one random question each", "all": "everybody answers all"}
        lines = []
        for way in sorted(words, key=lambda w: w != self.best):
            parts = zip(self.shares(way), self.errors(way), strict=True)
            each = dict.fromkeys(f"\u00b1{error:.4g} ({n:,} answers at {e:.4g} nats)" for (n, e), error in parts)
            lines.append(f"{words[way]}: {', '.join(each)}.")
        promise = "all at once" if self.together else "each"
        whom = "of the population, by the plain mean of the unbiased reports"
        lines = [f"Better: {lines[0]}", f"Else {lines[1]}"]
        lines.append(f"Missed with probability {self.failure:g} at most, {promise}, {whom} ({self.tail}).")
        lines.append(f"{self.count:,} people answer; all reports of a person together lose {self.epsilon:.4g} nats.")
        if self.threshold is not None:
            lines.append(f"With bits of equal weight one question each is better below epsilon {self.threshold:.4g}.")
        return "\n".join(lines)
