"""Compute the one quantity that a question leaves open for every mechanism, and rank the mechanisms."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, overload

import numpy as np

from ldpnb import checks
from ldpnb.notebook import table
from ldpnb.planning.candidates import LARGEST_EPSILON, PRECISION, SMALLEST_EPSILON, Candidate, candidates
from ldpnb.planning.errors import TAILS, TailError
from ldpnb.planning.questions import MOST_USERS, MOST_VALUES, Gap, Question
from ldpnb.planning.survey import Survey, fewest
from ldpnb.planning.survey_plan import SurveyPlan

_UNITS = {"epsilon": "epsilon (nats)", "users": "users needed"}
_FAR = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What one mechanism needs, or why it cannot.

    Parameters
    ----------
    mechanism : str
    value : float or int
        Of the quantity that was asked; nan if there is none.
    epsilon : float
        Exact privacy loss of a report, nats.
    release : float
        Loss of what is released, under the design's neighbouring relation and at its delta.
    bits : int
        Sent by a user.
    tail : str
        The bound or law that the answer rests on.
    failure : float
        Its bound on the probability of an error as large as the target or larger.
    reason : str
        Why there is no value.
    remark : str
    yardstick : bool
        Whether it is shown for comparison only, not being a local mechanism.
    """

    mechanism: str
    value: float
    epsilon: float = float("nan")
    release: float = float("nan")
    bits: int = 0
    tail: str = ""
    failure: float = float("nan")
    reason: str = ""
    remark: str = ""
    yardstick: bool = False

    @property
    def feasible(self) -> bool:
        """Whether there is a value."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with the answers of all mechanisms: best first, then those that cannot, and the yardstick last.

    ``print(plan)`` shows it as ``ldpnb plan`` does.
    """

    question: Question
    unknown: str
    answers: tuple[Answer, ...]

    @property
    def able(self) -> tuple[Answer, ...]:
        """Answers of the local mechanisms that can, best first."""
        return tuple(a for a in self.answers if a.feasible and not a.yardstick)

    @property
    def best(self) -> Answer | None:
        """The best local mechanism, if any can."""
        return self.able[0] if self.able else None

    @property
    def margin(self) -> float:
        """How many times more the second best needs (or risks); nan without one, 1 for a tie."""
        if len(self.able) < 2:
            return float("nan")
        one, other = self.able[0].value, self.able[1].value
        first, second = (other, one) if self.unknown == "values" else (one, other)
        return float(second / first) if first > 0 else float("inf")

    def to_frame(self) -> Any:
        """Return the answers as a pandas DataFrame, a row per mechanism; see `ldpnb.planning.show.rows`."""
        import pandas as pd

        from ldpnb.planning import show

        return pd.DataFrame(show.rows(self), dtype=object)

    def __str__(self) -> str:
        from ldpnb.planning import show

        return show.as_text(self)


@overload
def plan(question: Question, *, tail: str = "best") -> Plan: ...
@overload
def plan(question: Survey) -> SurveyPlan: ...
def plan(question: Question | Survey, *, tail: str = "best") -> Plan | SurveyPlan:
    """Answer a question for every mechanism, or a survey for its own.

    Parameters
    ----------
    question : Frequency, Mean, Gap or Survey
        With exactly one quantity left out.
    tail : {"best", "exact", "chernoff", "bernstein", "hoeffding", "normal"}
        How to bound the probability of a large error. *best* takes the exact law where it is known at the worst data
        and Chernoff's bound elsewhere; *normal* is an approximation. A survey states its own.

    Raises
    ------
    ValueError
        Unless exactly one quantity is left out, or for a tail beside a survey's own.

    Examples
    --------
    >>> import ldpnb as ldp
    >>> found = ldp.plan(ldp.Frequency(epsilon=1.0, error=0.02, failure=0.01, values=16))
    >>> found.best.mechanism, found.best.value
    ('SUE', 65187)
    >>> schools = ldp.ClusterDesign(clusters=400, size=25, icc=0.05)
    >>> ldp.plan(ldp.Survey(design=schools, epsilon=1.0, error=0.05, failure=0.05, binary=True, tail="normal")).count
    84
    """
    if isinstance(question, Survey):
        if tail != "best":
            raise ValueError(f"tail of a survey is stated in it, Survey(tail=...), got tail={tail!r}")
        return question.plan()
    checks.choice(tail=tail, among=("best", *TAILS))
    unknown = question.unknown
    answers = [_Search(candidate, question, tail).answer() for candidate in candidates(question)]
    sign = -1.0 if unknown == "values" else 1.0
    answers.sort(key=lambda a: (a.yardstick, not a.feasible, sign * a.value if a.feasible else 0.0))
    return Plan(question, unknown, tuple(answers))


@table
def over(
    question: Question, name: str, values: Sequence[float], *, tail: str = "best", yardstick: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield the answers to a question for several values of a quantity, such as ``"epsilon"``.

    A row per value and mechanism that can: the quantity, ``mechanism``, what was asked for, ``tail`` and ``bits``, best
    first. `yardstick` keeps the curator's rows.
    """
    given = _UNITS.get(name, name)
    for value in values:
        found = plan(question.with_value(name, value), tail=tail)
        for a in found.answers:
            if a.feasible and (yardstick or not a.yardstick):
                asked = {_UNITS.get(found.unknown, found.unknown): a.value}
                yield {given: value, "mechanism": a.mechanism} | asked | {"tail": a.tail, "bits": a.bits}


class _ImpossibleError(ValueError):
    """No value of the unknown meets the target."""


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for what one mechanism needs."""

    candidate: Candidate
    question: Question
    tail: str

    def answer(self) -> Answer:
        candidate, question = self.candidate, self.question
        nothing = Answer(candidate.name, float("nan"), remark=candidate.remark, yardstick=candidate.yardstick)
        unknown = question.unknown
        try:
            value = _SEARCHES[unknown](self)
        except (TailError, _ImpossibleError) as reason:
            return replace(nothing, reason=str(reason))
        full = _filled(question, unknown, value)
        chance, used = candidate.failure(full, self.tail)
        epsilon = candidate.report_epsilon(full)
        found = replace(nothing, value=value, epsilon=epsilon, release=epsilon, tail=used, failure=chance)
        if candidate.yardstick:
            return found
        bits = candidate.sent(full, epsilon)
        if question.bits is not None and bits > question.bits:
            return replace(nothing, bits=bits, reason=f"sends {bits} bits per user")
        if value == float("inf") and bits != candidate.sent(question.with_value("values", 2), epsilon):
            bits = 0
        release = candidate.release_loss(full, epsilon)
        if release == float("inf"):
            return replace(nothing, reason="under deletion a sample of everybody shows who is absent")
        return replace(found, bits=bits, release=release)

    def chance(self, question: Question) -> float:
        return self.candidate.failure(question, self.tail)[0]

    def meets(self, question: Question) -> bool:
        return self.chance(question) <= float(question.failure or 0)

    def excess(self, question: Question, tail: str = "") -> float:
        """Return the logarithm of the chance of failure over that allowed."""
        chance = self.candidate.failure(question, tail or self.tail)[0]
        return float(np.log(max(chance, 1e-300) / float(question.failure or 1)))

    def failure(self) -> float:
        chance = self.chance(self.question)
        if chance >= 1:
            raise _ImpossibleError("nothing is promised: the bound on the failure probability is 1")
        return chance

    def users(self) -> int:
        """Return the fewest users."""
        question = self.question
        unit = len(question.groups) if isinstance(question, Gap) and question.equal else 1
        reason = f"needs more than {MOST_USERS:.0e} users"

        def excess(units: int, tail: str = "") -> float:
            return self.excess(question.with_users(max(units * unit, 2)), tail)

        most = MOST_USERS // unit
        guess = _first(lambda units: excess(units, "normal"), 1, most, reason)
        return max(unit * _first(excess, guess, most, reason), 2)

    def epsilon(self) -> float:
        """Return the smallest budget."""
        generous = self.question.with_value("epsilon", LARGEST_EPSILON)
        if not self.meets(generous):
            left = replace(self, question=generous.with_value("error", None)).error()
            chance = "" if generous.draw.complete else "who reports is left to chance"
            why = ", and ".join(filter(None, (self.candidate.floor, chance))) or "too few users"
            raise _ImpossibleError(f"at any budget an error of {left:.3g} remains: {why}")
        return self.least("epsilon", SMALLEST_EPSILON, LARGEST_EPSILON)

    def error(self) -> float:
        """Return the smallest error that is promised."""
        largest = self.question.scale * (1 - 1e-12)
        if not self.meets(self.question.with_value("error", largest)):
            raise _ImpossibleError("no error below the whole range can be promised")
        return self.least("error", self.question.scale * 1e-12, largest)

    def least(self, name: str, low: float, high: float) -> float:
        """Return the least positive number that meets the target, `high` being one.

        In logarithms: a bracket around the normal answer, interpolated.
        """

        def excess(logarithm: float, tail: str = "") -> float:
            return self.excess(self.question.with_value(name, float(np.exp(logarithm))), tail)

        left, right = float(np.log(low)), float(np.log(high))
        if self.tail != "normal" and excess(right, "normal") <= 0:
            guess = _root(lambda x: excess(x, "normal"), left, right)
            for width in (0.02, 0.2):
                left = guess - width if guess - width > left and excess(guess - width) > 0 else left
                if guess + width < right and excess(guess + width) <= 0:
                    right = guess + width
                    break
        return float(np.exp(_root(excess, left, right)))

    def values(self) -> float:
        """Return the largest number of values, infinite if no number is too large."""

        def fails(values: int) -> bool:
            full = self.question.with_value("values", values)
            if full.bits is not None and not self.candidate.yardstick:
                sent = self.candidate.sent(full, self.candidate.report_epsilon(full))
                if sent > full.bits:
                    return True
            return not self.meets(full)

        if fails(2):
            raise _ImpossibleError("two values are too many already")
        if not fails(MOST_VALUES):
            return float("inf")
        return float(fewest(fails, 3, MOST_VALUES) - 1)

    def sampling_rate(self) -> float:
        """Return the smallest sampling rate, to the next user.

        More reports may be worse, when the budget is that of what is released, so a grid of rates is tried first.
        """
        users = int(self.question.users or 0)

        def excess(reports: int, tail: str = "") -> float:
            return self.excess(self.question.with_value("sampling_rate", reports / users), tail)

        grid = np.unique(np.geomspace(1, users, 96).round().astype(int)).tolist()
        near = next((reports for reports in grid if excess(reports, "normal") <= 0), 0)
        if not near:
            kept = self.question.protects == "report"
            raise _ImpossibleError("not even all users suffice" if kept else "no rate suffices")
        return _first(excess, near, users, "no rate suffices") / users


_SEARCHES: dict[str, Callable[[_Search], float]] = {
    "users": _Search.users,
    "epsilon": _Search.epsilon,
    "error": _Search.error,
    "failure": _Search.failure,
    "values": _Search.values,
    "sampling_rate": _Search.sampling_rate,
}


def _filled(question: Question, unknown: str, value: float) -> Question:
    """Return the question without unknowns."""
    if unknown == "users":
        return question.with_users(int(value))
    if unknown == "values":
        return question.with_value("values", int(min(value, MOST_VALUES)))
    return question.with_value(unknown, min(max(value, 1e-300), 1 - 1e-16) if unknown == "failure" else value)


def _first(excess: Callable[[int], float], guess: int, most: int, reason: str) -> int:
    """Return the number in ``1 .. most`` from which on a falling function is at most 0.

    A bracket around a guess, then interpolation between its ends.
    """
    value, step = excess(guess), max(1, guess // 50)
    below, above, high, low = (guess, value, 0, 0.0) if value > 0 else (0, 1.0, guess, value)
    while not high:
        if below >= most:
            raise _ImpossibleError(reason)
        number, step = min(below + step, most), 2 * step
        value = excess(number)
        below, above, high, low = (number, value, 0, 0.0) if value > 0 else (below, above, number, value)
    while below == 0 and high > 1:
        number, step = max(high - step, 1), 2 * step
        value = excess(number)
        below, above, high, low = (number, value, high, low) if value > 0 else (0, 1.0, number, value)
        if number == 1:
            break
    turn = 0
    while high - below > 1:
        turn += 1
        share = above / (above - low) if turn % 3 and above - low < _FAR else 0.5
        number = min(max(below + round(share * (high - below)), below + 1), high - 1)
        value = excess(number)
        below, above, high, low = (number, value, high, low) if value > 0 else (below, above, number, value)
    return high


def _root(excess: Callable[[float], float], left: float, right: float) -> float:
    """Return where a falling function becomes 0 or less, from the right; `left` if it is so there."""
    from scipy.optimize import brentq

    value = cache(excess)
    if value(left) <= 0:
        return left
    root, step = float(brentq(value, left, right, xtol=PRECISION)), PRECISION
    while root < right and value(root) > 0:
        root, step = min(root + step, right), 2 * step
    return root
