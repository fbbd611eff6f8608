"""Several questions on one budget: everybody answers all, or one question each that is drawn at random."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from ldpnb import checks
from ldpnb.planning.survey import MOST_BUDGET, Survey, Tail, fewest
from ldpnb.surveys import budgets
from ldpnb.surveys.noise import MeanMechanism
from ldpnb.surveys.open_designs import SimpleDesign
from ldpnb.surveys.variances import squared

Way = Literal["all", "one"]
_LARGE = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyQuestions:
    """Means of several values in ``[0, 1]``, from a simple random sample on one budget.

    Parameters
    ----------
    weights : tuple of float
        Importance of each question: the weighted sum of the estimates' variances is minimised.
    answers : int
        People who answer.
    epsilon : float
        Of everything that somebody reports, nats; budgets of questions add up.
    failure : float
        Each estimate is off by its error or more with this probability at most; by ``failure / q`` for all `together`.
    population : int, optional
        People there are; very many if left out.
    sd : float, optional
        Standard deviation of all values; the worst if left out.
    mechanism : {"one-bit", "Laplace"}
    binary, together : bool
    tail : {"guaranteed", "normal"}

    Examples
    --------
    >>> asked = {"answers": 4000, "epsilon": 1, "failure": 0.05, "binary": True, "tail": "normal"}
    >>> found = SurveyQuestions(weights=(1, 1, 1, 1), **asked)
    >>> found.best, round(found.errors("one")[0], 4), round(found.errors("all")[0], 4)
    ('one', 0.0671, 0.1246)
    """

    weights: tuple[float, ...]
    answers: int
    epsilon: float
    failure: float
    population: int | None = None
    sd: float | None = None
    mechanism: MeanMechanism = "one-bit"
    binary: bool = False
    together: bool = False
    tail: Tail = "guaranteed"

    def __post_init__(self) -> None:
        checks.plain(self)
        for weight in self.weights:
            checks.positive(weights=weight)
        if len(self.weights) < 2:
            raise ValueError(f"weights must be of two questions or more, got weights={self.weights!r}")
        checks.whole(answers=self.answers, at_least=len(self.weights))
        checks.numbers(epsilon=checks.positive(epsilon=self.epsilon), low=0, high=MOST_BUDGET)
        checks.open_probability(failure=self.failure)

    def shares(self, way: Way) -> list[tuple[int, float]]:
        """Return the answers to each question, and the budget of each."""
        if way == "all":
            parts = budgets.split(self.epsilon, self.weights, self.mechanism)
            return [(self.answers, float(part)) for part in parts]
        roots = [math.sqrt(weight) for weight in self.weights]
        numbers = [max(1, int(self.answers * root / sum(roots))) for root in roots]
        return [(number, self.epsilon) for number in numbers]

    def surveys(self, way: Way) -> list[Survey]:
        """Return the survey of each question."""
        failure = self.failure / len(self.weights) if self.together else self.failure
        design = SimpleDesign(self.population or _LARGE, squared(self.sd))
        about: dict[str, Any] = {"mechanism": self.mechanism, "binary": self.binary, "tail": self.tail}
        return [Survey(design=design, count=n, epsilon=e, failure=failure, **about) for n, e in self.shares(way)]

    def errors(self, way: Way) -> list[float]:
        """Return the error that is promised of each question."""
        promised = {share: survey.plan().error for share, survey in self._distinct(way).items()}
        return [promised[share] for share in self.shares(way)]

    def _distinct(self, way: Way) -> dict[tuple[int, float], Survey]:
        """Return a survey for all questions with the same answers and budget."""
        return dict(zip(self.shares(way), self.surveys(way), strict=True))

    def variance(self, way: Way) -> float:
        """Return the weighted sum of the estimates' variances."""
        parts = (float(survey.variance().total) for survey in self.surveys(way))
        return sum(weight * part for weight, part in zip(self.weights, parts, strict=True))

    @property
    def best(self) -> Way:
        """The way with the smaller variance."""
        return min(("all", "one"), key=self.variance)

    @property
    def threshold(self) -> float | None:
        """Budget below which one question each is better, for bits of equal weight in a large population."""
        if self.mechanism != "one-bit" or len(set(self.weights)) > 1 or self.sd is not None:
            return None
        return budgets.one_question_threshold(len(self.weights))

    def for_error(self, error: float) -> "SurveyQuestions":
        """Return the question with the fewest answers with which the better way errs by less, in every question."""
        most, error = self.population or _LARGE, checks.positive(error=error)

        def enough(answers: int) -> bool:
            one = replace(self, answers=answers)
            surveys = one._distinct(one.best).values()
            return all(survey.with_value("error", error * (1 + 1e-9)).meets() for survey in surveys)

        if not enough(most):
            raise ValueError(f"error must be larger: {most:,} answers are too few, got error={error!r}")
        return replace(self, answers=fewest(enough, len(self.weights), most))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per way and question."""
        return [
            {"way": way, "question": i + 1, "answers": n, "epsilon": e, "error": error, "best": way == self.best}
            for way in ("all", "one")
            for i, ((n, e), error) in enumerate(zip(self.shares(way), self.errors(way), strict=True))
        ]

    def __str__(self) -> str:
        words: dict[Way, str] = {"one": "One random question each", "all": "Everybody answers all"}
        lines = []
        for way in sorted(words, key=lambda w: w != self.best):
            parts = zip(self.shares(way), self.errors(way), strict=True)
            told = dict.fromkeys(f"\u00b1{error:.4g} ({n:,} answers at {e:.4g} nats)" for (n, e), error in parts)
            lines.append(f"{words[way]}: {', '.join(told)}.")
        promise = "all at once" if self.together else "each"
        lines.append(f"Missed with probability {self.failure:g} at most, {promise}; {self.answers:,} people answer.")
        if self.threshold is not None:
            lines.append(f"With bits of equal weight one question each is better below epsilon {self.threshold:.4g}.")
        return "\n".join(["Better: " + lines[0][:1].lower() + lines[0][1:], *lines[1:]])
