"""Complete a question: the one quantity that it leaves open, for every mechanism."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from scipy.optimize import brentq

from ldpnb.notebook.prose import rounded_up
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.designs import Everyone, Sample, SimpleDesign, StratifiedDesign
from ldpnb.planning.mechanisms import Candidate
from ldpnb.planning.questions import Gap, Question
from ldpnb.planning.reports import MANY, UnableError, Variance
from ldpnb.planning.samples import Parts

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 50.0
PRECISION = 1e-9
"""Relative precision of a real number that is searched for."""
_MOST_STEPS = 64
"""Whole numbers below a solution that are tried one by one where the chance of an error is not monotone."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question completed for one mechanism, or the reason why it cannot be.

    Parameters
    ----------
    question : Question
        Complete, if there is an answer.
    unknown : str
        What was asked.
    candidate : Candidate
        The mechanism.
    bound : str
        The law or bound of the error: "exact", "Chernoff", "Hoeffding", "Chebyshev" or "normal".
    least : bool
        Whether no smaller number will do; else it suffices, and smaller ones may.
    reason : str
        Why there is no answer.
    """

    question: Question
    unknown: str
    candidate: Candidate
    bound: str = ""
    least: bool = True
    reason: str = ""

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self.candidate.name

    @property
    def feasible(self) -> bool:
        """Whether there is an answer."""
        return not self.reason

    @property
    def value(self) -> float:
        """What was asked; nan if there is no answer."""
        return getattr(self.question, self.unknown) if self.feasible else math.nan

    @property
    def sample(self) -> Sample:
        """Who answers."""
        return self.question.drawn(self.candidate)

    @property
    def invited(self) -> tuple[int, ...]:
        """How many people to invite, per stratum."""
        return self.question.invited(self.sample)

    @property
    def reported(self) -> float:
        """Loss of all reports of a person together, or of all that a curator releases, nats."""
        return float(self.question.epsilon or 0) * (1 if self.candidate.central else self.question.releases)

    @property
    def hidden(self) -> float:
        """Loss of all that is released if nobody who sees it can know who was asked."""
        if self.candidate.central or self.sample.population >= MANY:
            return self.reported
        return self.sample.loss(self.reported, self.invited)

    @property
    def noise(self) -> float:
        """Scale of a curator's noise on the estimate, in the unit of the values; 0 of reports."""
        scale = self.question.law(self.candidate).noise if self.candidate.central else 0.0
        return scale * self.question.span

    @property
    def variance(self) -> Variance | None:
        """The two parts of the estimate's variance at the worst data, in the values' unit squared; None of a gap."""
        if isinstance(self.question, Gap):
            return None
        square, law = self.question.span**2, self.question.law(self.candidate)
        worst = self.sample.variance(law.reports)
        return Variance(square * worst.sampling, square * (worst.randomisation + 2 * law.noise**2))

    @property
    def design_effects(self) -> tuple[float, float]:
        """Variance, sampling's and all, over that of a simple random sample of as many people, each at its worst."""
        law, sample = self.question.law(self.candidate), self.sample
        sd = getattr(self.question.design, "sd", None)
        known = None if sd is None else ((sd / self.question.span) ** 2,)
        plain = Parts((sample.population,), (sample.people,), known).variance(law.reports)
        own, noise = sample.variance(law.reports), 2 * law.noise**2
        sampling = own.sampling / plain.sampling if plain.sampling else math.nan
        return sampling, (own.total + noise) / (plain.total + noise)

    @property
    def estimator(self) -> str:
        """The estimator that the error is promised for: one of `ldpnb.surveys.field_plan.ESTIMATORS`, or a gap's."""
        if isinstance(self.question, Gap):
            return "gap"
        if self.candidate.central:
            return "release"
        kinds = {StratifiedDesign: "stratified mean", ClusterDesign: "expansion"}
        return kinds.get(type(self.question.design), "mean")

    @property
    def whom(self) -> str:
        """The people whom the error is promised for."""
        if isinstance(self.question.design, Everyone):
            return "those who answer, not for a population they may be drawn from"
        people = self.sample.population
        return "the population" if people >= MANY else f"the population of {people:,}"


def answer(question: Question, candidate: Candidate) -> Answer:
    """Return the answer of a mechanism to a question that leaves one quantity out."""
    unknown = question.unknown
    search = _Search(question, unknown, candidate)
    try:
        value, least = search.run()
        full = question.with_value(unknown, value)
        full.invited(full.drawn(candidate))  # as many there must be
    except UnableError as reason:
        return Answer(question, unknown, candidate, reason=str(reason))
    return Answer(full, unknown, candidate, search.chance(value)[1], least)


class _Search:
    """The search for what one mechanism needs.

    From guess to guess: by the normal law, by the chance near the worst data, which is cheap and never above the chance
    itself, and by that.
    """

    def __init__(self, question: Question, unknown: str, candidate: Candidate) -> None:
        self.question, self.unknown, self.candidate = question, unknown, candidate
        self.chance = cache(self._chance)

    def run(self) -> tuple[float, bool]:
        """Return what is asked, and whether it is proven to be the least."""
        run: tuple[float, bool] = getattr(self, f"_{self.unknown}")()
        return run

    def _chance(self, value: float, tail: Any = None) -> tuple[float, str]:
        if self.unknown == "failure":
            return self.question.chance(self.candidate, tail)
        return self.question.with_value(self.unknown, value).chance(self.candidate, tail)

    def excess(self, value: float, tail: Any = None) -> float:
        """Return the logarithm of the chance of failure over that allowed."""
        return math.log(max(self.chance(value, tail)[0], 1e-300) / float(self.question.failure or 1))

    def _failure(self) -> tuple[float, bool]:
        chance = self.question.chance(self.candidate)[0]
        if chance >= 1:
            raise UnableError("nothing is promised: the bound on the failure probability is 1")
        return min(max(chance, 1e-300), 1 - 1e-16), True

    def _error(self) -> tuple[float, bool]:
        scale = self.question.scale
        if self.excess(scale * (1 - 1e-12)) > 0:
            raise UnableError("no error below the whole range can be promised")
        return self._real(scale * 1e-12, scale * (1 - 1e-12)), True

    def _epsilon(self) -> tuple[float, bool]:
        """Return the smallest budget: where a whole number of the mechanism steps, all steps below it are tried."""
        if self.excess(LARGEST_EPSILON) > 0:
            raise UnableError(self._remaining())
        least = self._real(SMALLEST_EPSILON, LARGEST_EPSILON)
        edges = self.candidate.edges(self.question, least)
        for edge in edges:
            below = edge * (1 - PRECISION)
            if self.excess(below, "normal") < 1 and self.excess(below) <= 0:
                lower = max((other for other in edges if other < edge), default=SMALLEST_EPSILON)
                least = self._real(lower * (1 + PRECISION), below)
        return least, True

    def _count(self) -> tuple[int, bool]:
        """Return the fewest units.

        The chance of an error falls with their number, but for two wobbles: of groups that are rounded to whole people,
        and of a curator's exact law on a lattice.
        """
        question = self.question
        even = isinstance(question, Gap) and isinstance(question.design, Everyone) and len(set(question.shares)) == 1
        step = len(question.shares) if even else 1  # type: ignore[attr-defined]
        low, high = -(-question.design.least // step), question.design.most // step

        def excess(number: int, tail: Any = None) -> float:
            return self.excess(number * step, tail)

        enough = high
        for tail in ("normal", "near", None) if question.tail == "guaranteed" else ("normal",):
            enough = _from(partial(excess, tail=tail), low, enough, high) or high
        if excess(enough) > 0:
            raise UnableError(self._not_enough(high * step))
        window = _window(question, self.candidate)
        for number in range(enough - 1, max(low, enough - min(window, _MOST_STEPS)) - 1, -1):
            if excess(number, "near") <= 0 and excess(number) <= 0:
                enough = number
        return enough * step, window <= _MOST_STEPS

    def _real(self, low: float, high: float) -> float:
        """Return the least number from which on the chance is small enough, as it is at `high`; in logarithms."""
        if self.excess(low) <= 0:
            return low
        left, right = math.log(low), math.log(high)
        root = self._root("normal", left, right, left, right)
        if self.question.tail == "guaranteed":
            root = self._root("near", root - 0.02, root + 0.02, left, right)
        if self.excess(math.exp(root)) > 0:
            root = self._root(None, root - PRECISION, root + 1e-4, left, right)
        return math.exp(root)

    def _root(self, tail: Any, below: float, above: float, left: float, right: float) -> float:
        """Return a logarithm of a number that is enough, and least but for the precision; from a guess at its place."""

        def value(x: float) -> float:
            return self.excess(math.exp(min(max(x, left), right)), tail)

        width = above - below
        while below > left and value(below) <= 0:
            below, above, width = below - width, below, 2 * width
        while above < right and value(above) > 0:
            below, above, width = above, above + width, 8 * width
        if value(above) > 0 or value(below) <= 0:
            return right if value(above) > 0 else left
        root = float(brentq(value, below, above, xtol=PRECISION / 4))
        while value(root) > 0:
            root += PRECISION / 2
        return min(root, right)

    def _remaining(self) -> str:
        """Return the error that remains at the largest budget, and why."""
        question = self.question
        generous = replace(question, epsilon=LARGEST_EPSILON, error=None)
        try:
            left = f"an error of {_Search(generous, 'error', self.candidate).run()[0]:.3g} remains"
        except UnableError:
            left = "no error can be promised"
        sampled = not isinstance(question.design, Everyone)
        chance = "who is asked is left to chance" if sampled else ""
        why = ", and ".join(filter(None, (self.candidate.floor, chance))) or "too few people"
        return f"at any budget {left}: {why}"

    def _not_enough(self, most: int) -> str:
        """Return the error that asking all leaves, and the budget that would do."""
        question = self.question
        if isinstance(question.design, Everyone):
            return f"needs more than {most:.0e} people"
        everybody = f"asking all {most:,} {question.design.unit}"
        try:
            left = _Search(replace(question, count=most, error=None), "error", self.candidate).run()[0]
        except UnableError:
            return f"{everybody} promises nothing"
        try:
            budget = _Search(replace(question, count=most, epsilon=None), "epsilon", self.candidate).run()[0]
        except UnableError:
            return f"{everybody} leaves an error of {left:.3g}, and no budget reaches the target"
        return f"{everybody} leaves an error of {left:.3g}; epsilon {rounded_up(budget)} reaches the target"


def _window(question: Question, candidate: Candidate) -> int:
    """Return how many numbers below one that is enough may be enough although one in between is not."""
    if isinstance(question, Gap) and len(set(question.shares)) > 1:
        return math.ceil(2 / min(question.shares))
    simple = isinstance(question.design, SimpleDesign)
    return _MOST_STEPS if candidate.central and simple and question.ends and question.tail == "guaranteed" else 0


def _from(excess: Callable[[int], float], low: int, guess: int, high: int) -> int:
    """Return the number in ``low .. high`` from which on a falling function is at most 0; 0 if it never is."""
    below, above, step = low - 1, guess, 1
    while excess(above) > 0:
        if above == high:
            return 0
        below, above, step = above, min(above + step, high), 4 * step
    while below < above - step and excess(above - step) <= 0:
        above, step = above - step, 4 * step
    return _between(excess, max(below, above - step), above)


def _between(excess: Callable[[int], float], below: int, above: int) -> int:
    """Return the least whole number in ``(below, above]`` for which a falling function is at most 0."""
    left, right, turn = 1.0, excess(above), 0
    while above - below > 1:
        share = left / (left - right) if turn % 3 and left - right < 30 else 0.5
        middle = min(max(below + round(share * (above - below)), below + 1), above - 1)
        value, turn = excess(middle), turn + 1
        below, above, left, right = (middle, above, value, right) if value > 0 else (below, middle, left, value)
    return above
