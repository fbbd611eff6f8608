"""Complete a question: the one quantity that it leaves open, for every mechanism."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ldpnb.notebook.prose import rounded_up
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.laws import Tail
from ldpnb.planning.mechanisms import Candidate
from ldpnb.planning.questions import Design, Gap, Question
from ldpnb.planning.reports import MANY, UnableError, Variance
from ldpnb.planning.samples import Everyone, SimpleDesign
from ldpnb.planning.search import least

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 50.0
PRECISION = 1e-9
"""Relative precision of a real number that is searched for."""
_MOST_STEPS = 64
"""Whole numbers below a solution that are tried one by one where the chance of an error is not monotone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question completed for one mechanism, or the reason why it cannot be.

    - `question`, Question: of the one mechanism, and complete if there is an answer.
    - `unknown`, str: what was asked.
    - `reason`, str: why there is no answer; then there is nothing else.
    - `bound`, str: the law or bound of the error: "exact", "Chernoff", "Hoeffding", "Chebyshev" or "normal".
    - `sample`, Design: who answers.
    - `whom`, str: the people whom the error is promised for.
    - `estimator`, str: the estimator that it is promised for: one of `ldpnb.surveys.field_plan.ESTIMATORS`, or a
      gap's.
    - `reported`, float: loss of all reports of a person together, or of all that a curator releases, nats.
    - `hidden`, float: loss of all that is released if nobody who sees it can know who was asked.
    - `noise`, float: scale of a curator's noise on the estimate, in the unit of the values; 0 of reports.
    - `variance`, Variance, optional: of the estimate at the worst data, in the values' unit squared; none of a gap.
    """

    question: Question
    unknown: str
    reason: str = ""
    bound: str = ""
    sample: Design = Everyone()  # noqa: RUF009, frozen
    whom: str = ""
    estimator: str = ""
    reported: float = math.nan
    hidden: float = math.nan
    noise: float = 0.0
    variance: Variance | None = None

    @property
    def candidate(self) -> Candidate:
        """The mechanism, with its remarks."""
        return self.question.candidate

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self.question.mechanism

    @property
    def feasible(self) -> bool:
        """Whether there is an answer."""
        return not self.reason

    @property
    def value(self) -> float:
        """What was asked; nan if there is no answer."""
        return getattr(self.question, self.unknown) if self.feasible else math.nan

    @property
    def least(self) -> bool:
        """Whether no smaller number will do; else it suffices, and smaller ones may."""
        return self.unknown != "count" or _window(self.question) <= _MOST_STEPS

    @property
    def design_effects(self) -> tuple[float, float]:
        """Variance, sampling's and all, over that of a simple random sample of as many people, each at its worst."""
        sample, law = self.sample, self.question.law
        simple = SimpleDesign(sample.population, getattr(sample, "sd", None)).at(sample.people, law.reports)
        own, plain, noise = sample.variance(law.reports), simple.variance(law.reports), 2 * law.noise**2
        sampling = own.sampling / plain.sampling if plain.sampling else math.nan
        return sampling, (own.total + noise) / (plain.total + noise)


def completed(question: Question, unknown: str) -> Answer:
    """Return what a complete question of one mechanism says, of which one quantity was unknown."""
    law, sample, central, variance = question.law, question.sample, question.candidate.central, None
    noise, reported = law.noise * question.span, float(question.epsilon or 0) * (1 if central else question.releases)
    whom = f"the population{f' of {sample.population:,}' if sample.population < MANY else ''}"
    if sample.respondents:
        whom = "those who answer, not for a population they may be drawn from"
    open_to_all = central or sample.population >= MANY
    if not isinstance(question, Gap):
        worst, square = sample.variance(law.reports), question.span**2
        variance = Variance(square * worst.sampling, square * worst.randomisation + 2 * noise**2)
    return Answer(
        question=question,
        unknown=unknown,
        bound=question.chance()[1],
        sample=sample,
        whom=whom,
        estimator="gap" if isinstance(question, Gap) else "release" if central else sample.estimator,
        reported=reported,
        hidden=reported if open_to_all else sample.loss(reported, question.invited),
        noise=noise,
        variance=variance,
    )


def answer(question: Question, mechanism: str) -> Answer:
    """Return the answer of a mechanism to a question that leaves one quantity out."""
    asked, unknown = replace(question, mechanism=mechanism), question.unknown
    searches = {"count": _count, "epsilon": _epsilon, "error": _error, "failure": _failure}
    try:
        full = asked.with_value(unknown, searches[unknown](asked))
        full.invited  # noqa: B018, as many there must be
    except UnableError as reason:
        return Answer(question=asked, unknown=unknown, reason=str(reason))
    return completed(full, unknown)


def _excess(question: Question, filled: Callable[[int], Question]) -> Callable[..., float]:
    """Return by how much a chance is above the one allowed, by a whole number from which a question is made."""
    allowed = float(question.failure or 1)

    def excess(number: int, tail: Tail | None = None) -> float:
        chance = filled(number).chance(tail)[0]
        return math.copysign(abs(_deviate(allowed) - _deviate(chance)) + 1e-300, 1 if chance > allowed else -1)

    return excess


def _deviate(chance: float) -> float:
    """Return the logarithm of the deviate that a normal variable exceeds with this chance, on both sides.

    It is nearly linear in the logarithms of count, epsilon and error.
    """
    deviate = -float(special.ndtri(chance / 2))
    return math.log(deviate) if deviate > 0 else -math.inf


def _failure(question: Question) -> float:
    chance = question.chance()[0]
    if chance >= 1:
        raise UnableError("nothing is promised: the bound on the failure probability is 1")
    return min(max(chance, 1e-300), 1 - 1e-16)


def _error(question: Question) -> float:
    scale = question.scale
    error = _real(question, "error", scale * 1e-12, scale * (1 - 1e-12))
    if error is None:
        raise UnableError("no error below the whole range can be promised")
    return error


def _epsilon(question: Question) -> float:
    """Return the smallest budget: where a whole number of the mechanism steps, all steps below it are tried."""
    smallest = _real(question, "epsilon", SMALLEST_EPSILON, LARGEST_EPSILON)
    if smallest is None:
        raise UnableError(_remaining(question))
    edges = question.candidate.edges
    steps = edges(getattr(question, "values", 0), smallest) if edges else []
    for edge, lower in zip(steps, [*steps[1:], SMALLEST_EPSILON], strict=False):
        below = edge * (1 - PRECISION)
        near = question.with_value("epsilon", below).chance("normal")[0]
        if near < math.e * float(question.failure or 1):
            smallest = _real(question, "epsilon", lower * (1 + PRECISION), below) or smallest
    return smallest


def _count(question: Question) -> int:
    """Return the fewest units.

    The chance of an error falls with their number, but for two wobbles: of groups that are rounded to whole people, and
    of a curator's exact law on a lattice. That nobody answers in some cluster becomes more likely with their number.
    """
    even = isinstance(question, Gap) and question.design.respondents and len(set(question.shares)) == 1
    step = len(question.shares) if even else 1  # type: ignore[attr-defined]
    low, high = -(-question.design.least // step), question.design.most // step
    excess = _excess(question, lambda number: question.with_value("count", number * step))
    if question.response < 1 and isinstance(question.design, ClusterDesign):
        tried = np.unique(np.geomspace(low, high, 64).astype(int)).tolist()
        high = next((number for number in tried if excess(number) <= 0), high)
    enough = _least(excess, low, high, 1000)
    if enough is None:
        raise UnableError(_not_enough(question, high * step))
    for number in range(enough - 1, max(low, enough - min(_window(question), _MOST_STEPS)) - 1, -1):
        if excess(number, "near") <= 0 and excess(number) <= 0:
            enough = number
    return enough * step


def _real(question: Question, name: str, low: float, high: float) -> float | None:
    """Return the least number, to a relative `PRECISION`, from which on the chance is small enough; None if none."""

    def value(number: int) -> float:
        return min(low * math.exp((number - 1) * PRECISION), high)

    steps = 2 + math.ceil(math.log(high / low) / PRECISION)
    number = _least(_excess(question, lambda k: question.with_value(name, value(k))), 1, steps, steps, step=PRECISION)
    return number and value(number)


def _least(excess: Callable[..., float], low: int, high: int, first: int, *, step: float = 0.0) -> int | None:
    """Return the least number that is enough; none is that is not near the worst data, where a chance is cheap."""
    near = least(lambda number: excess(number, "near"), low, high, first, step=step)
    return near and least(excess, near, high, near, step=step)


def _remaining(question: Question) -> str:
    """Return the error that remains at the largest budget, and why."""
    generous = answer(replace(question, epsilon=LARGEST_EPSILON, error=None), question.mechanism)
    left = f"an error of {generous.value:.3g} remains" if generous.feasible else "no error can be promised"
    chance = "" if question.design.respondents else "who is asked is left to chance"
    why = ", and ".join(filter(None, (question.candidate.floor, chance))) or "too few people"
    return f"at any budget {left}: {why}"


def _not_enough(question: Question, most: int) -> str:
    """Return the error that asking all leaves, and the budget that would do."""
    if question.design.respondents:
        return f"needs more than {most:.0e} people"
    everybody = f"asking all {most:,} {question.design.unit}"
    census = question.with_value("count", most)
    left, budget = (answer(census.with_value(name, None), question.mechanism) for name in ("error", "epsilon"))
    if not left.feasible:
        return f"{everybody} promises nothing"
    if not budget.feasible:
        return f"{everybody} leaves an error of {left.value:.3g}, and no budget reaches the target"
    return f"{everybody} leaves an error of {left.value:.3g}; epsilon {rounded_up(budget.value)} reaches the target"


def _window(question: Question) -> int:
    """Return how many numbers below one that is enough may be enough although one in between is not."""
    if isinstance(question, Gap):
        return math.ceil(2 / min(question.shares)) if len(set(question.shares)) > 1 else 0
    simple = len(getattr(question.design, "sizes", ())) == 1
    wobbles = simple and question.candidate.central and question.binary and question.tail == "guaranteed"
    return _MOST_STEPS if wobbles else 0
