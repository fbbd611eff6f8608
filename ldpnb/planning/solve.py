"""Complete a question: the one quantity that it leaves open, for every mechanism."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import special

from ldpnb.planning.laws import Design, Tail
from ldpnb.planning.mechanisms import Candidate
from ldpnb.planning.questions import Gap, Question
from ldpnb.planning.reports import MANY, UnableError, Variance
from ldpnb.planning.samples import Everyone, StratifiedDesign
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
    - `value`, float: what was asked; nan if there is no answer.
    - `least`, bool: whether no smaller number will do; else it suffices, and smaller ones may.
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
    value: float = math.nan
    least: bool = True
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


def completed(question: Question, unknown: str) -> Answer:
    """Return what a complete question of one mechanism says, of which one quantity was unknown."""
    law, sample, central, gap = question.law, question.sample, question.candidate.central, isinstance(question, Gap)
    invited, reported = question.invited, float(question.epsilon or 0) * (1 if central else question.releases)
    whom = f"the population{f' of {sample.population:,}' if sample.population < MANY else ''}"
    hidden = reported
    if isinstance(sample, StratifiedDesign) and sample.population < MANY and not central:
        hidden = sample.loss(reported, invited)
    worst, square = sample.variance(law.reports), question.span**2
    return Answer(
        question=question,
        unknown=unknown,
        value=getattr(question, unknown),
        least=unknown != "count" or _window(question) <= _MOST_STEPS,
        bound=question.chance()[1],
        sample=sample,
        whom="those who answer, not for a population they may be drawn from" if sample.respondents else whom,
        estimator="gap" if gap else "release" if central else sample.estimator,
        reported=reported,
        hidden=hidden,
        noise=law.noise * question.span,
        variance=None if gap else Variance(square * worst.sampling, square * (worst.randomisation + 2 * law.noise**2)),
    )


def answer(question: Question, mechanism: str) -> Answer:
    """Return the answer of a mechanism to a question that leaves one quantity out."""
    asked, unknown = replace(question, mechanism=mechanism), question.unknown
    searches = {"count": _count, "epsilon": _epsilon, "error": _error, "failure": _failure}
    try:
        return completed(asked.with_value(unknown, searches[unknown](asked)), unknown)
    except UnableError as reason:
        return Answer(question=asked, unknown=unknown, reason=str(reason))


def _failure(question: Question) -> float:
    chance = question.chance()[0]
    if chance >= 1:
        raise UnableError("nothing is promised: the bound on the failure probability is 1")
    return min(max(chance, 1e-300), 1 - 1e-16)


def _error(question: Question) -> float:
    widest = question.widest * question.span
    error = _real(question, "error", widest * 1e-12, widest * (1 - 1e-12))
    if error is None:
        raise UnableError("no error below the whole range can be promised")
    return error


def _epsilon(question: Question) -> float:
    """Return the smallest budget: where a whole number of the mechanism steps, all steps below it are tried."""
    smallest = _real(question, "epsilon", SMALLEST_EPSILON, LARGEST_EPSILON)
    if smallest is None:
        raise UnableError(f"at any budget {_left(question.with_value('epsilon', LARGEST_EPSILON))}")
    edges = question.candidate.edges
    steps = edges(question.values, smallest) if edges else np.zeros(0)  # type: ignore[attr-defined]
    steps = steps[(steps > 0) & (steps < smallest)].tolist()
    for edge, lower in zip(steps, [*steps[1:], SMALLEST_EPSILON], strict=False):
        below = edge * (1 - PRECISION)
        if question.with_value("epsilon", below).chance("normal")[0] < math.e * float(question.failure or 1):
            smallest = _real(question, "epsilon", lower * (1 + PRECISION), below) or smallest
    return smallest


def _count(question: Question) -> int:
    """Return the fewest units.

    The chance of an error falls with their number, but for two wobbles: of groups that are rounded to whole people, and
    of a curator's exact law on a lattice. That nobody answers in some cluster becomes more likely with their number.
    """
    step = len(question.shares) if isinstance(question, Gap) and len(set(question.shares)) == 1 else 1
    low, high = -(-question.design.limits[0] // step), question.design.limits[1] // step
    excess = partial(_excess, question, "count", step.__mul__)
    if question.response < 1 and question.design.unit == "clusters":
        tried = np.unique(np.geomspace(low, high, 64).astype(int)).tolist()
        high = next((number for number in tried if excess(None, number) <= 0), high)
    enough = _least(excess, low, high, 1000)
    if enough is None and question.design.respondents:
        raise UnableError(f"needs more than {high:.0e} people")
    if enough is None:
        left = _left(question.with_value("count", high))
        raise UnableError(f"if all {high:,} {question.design.unit} are asked, {left}")
    for number in range(enough - 1, max(low, enough - min(_window(question), _MOST_STEPS)) - 1, -1):
        if excess("near", number) <= 0 and excess(None, number) <= 0:
            enough = number
    return enough * step


def _window(question: Question) -> int:
    """Return how many numbers below one that is enough may be enough although one in between is not."""
    if isinstance(question, Gap):
        return math.ceil(2 / min(question.shares)) if len(set(question.shares)) > 1 else 0
    simple = len(getattr(question.design, "sizes", ())) == 1
    wobbles = simple and question.candidate.central and question.binary and question.tail == "guaranteed"
    return _MOST_STEPS if wobbles else 0


def _left(question: Question) -> str:
    """Return the error that remains where as many are asked, or as much is lost, as can be."""
    left = answer(question.with_value("error", None), question.mechanism)
    return f"an error of {left.value:.3g} remains" if left.feasible else "no error can be promised"


def _real(question: Question, name: str, low: float, high: float) -> float | None:
    """Return the least number, to a relative `PRECISION`, from which on the chance is small enough; None if none."""

    def value(number: int) -> float:
        return min(low * math.exp((number - 1) * PRECISION), high)

    steps = 2 + math.ceil(math.log(high / low) / PRECISION)
    number = _least(partial(_excess, question, name, value), 1, steps, steps, step=PRECISION)
    return number and value(number)


def _least(excess: Callable[..., float], low: int, high: int, first: int, *, step: float = 0.0) -> int | None:
    """Return the least number that is enough; none is that is not near the worst data, where a chance is cheap."""
    near = least(partial(excess, "near"), low, high, first, step=step)
    return near and least(partial(excess, None), near, high, near, step=step)


def _excess(question: Question, name: str, value: Callable[[int], float], tail: Tail | None, number: int) -> float:
    """Return by how much a chance is above the one allowed, where a whole number gives the `value` of a quantity.

    It is a difference of logarithms of normal deviates, nearly linear in the logarithms of count, epsilon and error.
    """
    chance, allowed = question.with_value(name, value(number)).chance(tail)[0], float(question.failure or 1)
    with np.errstate(divide="ignore"):
        wanted, reached = np.log(-special.ndtri(np.array([allowed, chance]) / 2))
    return math.copysign(abs(wanted - reached) + 1e-300, 1 if chance > allowed else -1)
