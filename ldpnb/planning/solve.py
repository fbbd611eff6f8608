"""Compute the one quantity that a question leaves open, for every mechanism, and say which is best and by how much."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.planning.candidates import Candidate, candidates
from ldpnb.planning.designs import release_loss, report_budget
from ldpnb.planning.laws import TAILS, TailError
from ldpnb.planning.questions import Gap, Question

LARGEST_EPSILON, SMALLEST_EPSILON = 50.0, 1e-6
MOST_CLIENTS, MOST_VALUES = 10**13, 10**9

_PRECISION, _FAR = 1e-9, 30.0


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
        Sent by a client.
    tail : str
        The bound or law that the answer rests on.
    failure : float
        What it says of the probability of an error as large as the target or larger.
    reason : str
        Why there is no value.
    remark : str
    yardstick : bool
        Whether it is no local mechanism and not in competition.
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
    """A question with the answers of all mechanisms, best first, then those that cannot, and the yardstick last."""

    question: Question
    unknown: str
    answers: tuple[Answer, ...]

    @property
    def best(self) -> Answer | None:
        """The best local mechanism, if any can."""
        first = self.answers[0]
        return first if first.feasible and not first.yardstick else None

    @property
    def margin(self) -> float:
        """How many times more the second best needs (or, of failure probabilities, risks); nan without one, 1 for a
        tie.
        """
        able = [a.value for a in self.answers if a.feasible and not a.yardstick]
        if len(able) < 2:
            return float("nan")
        first, second = (able[1], able[0]) if self.unknown == "values" else (able[0], able[1])
        return float(second / first) if first > 0 else float("inf")


def plan(question: Question, *, tail: str = "best") -> Plan:
    """Answer a question for every mechanism.

    Parameters
    ----------
    question : Frequency, Mean or Gap
        With exactly one quantity left out.
    tail : {"best", "exact", "chernoff", "bernstein", "hoeffding", "normal"}
        How to bound the probability of a large error. *best* takes the exact law where it is known at the worst data
        and Chernoff's bound elsewhere; *normal* is an approximation.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        Unless exactly one quantity is left out.

    Examples
    --------
    >>> from ldpnb.planning.questions import Frequency
    >>> found = plan(Frequency(epsilon=1.0, error=0.02, failure=0.01, values=16))
    >>> found.best.mechanism, found.best.value
    ('SUE', 65187)
    """
    checks.choice(tail=tail, among=("best", *TAILS))
    unknown = question.unknown
    answers = [_answer(candidate, question, unknown, tail) for candidate in candidates(question)]
    sign = -1.0 if unknown == "values" else 1.0
    answers.sort(key=lambda a: (a.yardstick, not a.feasible, sign * a.value if a.feasible else 0.0))
    return Plan(question, unknown, tuple(answers))


def failure_probability(candidate: Candidate, question: Question, tail: str = "best") -> tuple[float, str]:
    """Return the chance that a mechanism's estimate is off by the target error or more, or a bound on it, and the tail
    it comes from.

    Parameters
    ----------
    candidate : Candidate
    question : Question
        With nothing left out but the failure probability.
    tail : str
        As for `plan`.

    Raises
    ------
    TailError
        If that tail does not exist here.
    """
    mechanism = candidate.mechanism(local_epsilon(candidate, question), question)
    law, draw = candidate.law(mechanism, question), question.design.draw(int(question.clients or 0))
    if candidate.yardstick:
        return law.failure(draw, "exact"), "exact"
    if tail != "best":
        return law.failure(draw, tail), tail
    try:
        return law.failure(draw, "exact"), "exact"
    except TailError:
        return law.failure(draw, "chernoff"), "chernoff"


def local_epsilon(candidate: Candidate, question: Question) -> float:
    """Return the budget of a report: the question's, or the largest with which what is released keeps to the
    question's.
    """
    if question.protects == "report" or candidate.yardstick:
        return float(question.epsilon or 0)
    return _report_epsilon(candidate, replace(question, error=None, failure=None))


@lru_cache(maxsize=64)
def _report_epsilon(candidate: Candidate, question: Question) -> float:
    target = float(question.epsilon or 0)
    if question.design.delta is None:
        return report_budget(question.design, release=target, clients=int(question.clients or 0))
    from scipy.optimize import brentq

    def excess(logarithm: float) -> float:
        return float(np.log(max(_release(candidate, question, float(np.exp(logarithm))), 1e-300) / target))

    low, high = float(np.log(target)), float(np.log(LARGEST_EPSILON))
    if low >= high or excess(high) <= 0:
        return max(target, LARGEST_EPSILON)
    if excess(low) >= 0:
        return target
    root = float(brentq(excess, low, high, xtol=_PRECISION))
    # the loss jumps where a bound ceases to exist, so the root's lower side is taken
    return float(np.exp(root - 2 * _PRECISION))


def _release(candidate: Candidate, question: Question, epsilon: float) -> float:
    mechanism = candidate.mechanism(epsilon, question)
    kary = mechanism if isinstance(mechanism, KaryRandomisedResponse) else None
    return release_loss(question.design, epsilon=epsilon, clients=int(question.clients or 0), kary=kary)


def _answer(candidate: Candidate, question: Question, unknown: str, tail: str) -> Answer:
    nothing = Answer(candidate.name, float("nan"), remark=candidate.remark, yardstick=candidate.yardstick)
    try:
        value = _SEARCHES[unknown](candidate, question, tail)
    except (TailError, _ImpossibleError) as reason:
        return replace(nothing, reason=str(reason))
    full = _filled(question, unknown, value)
    chance, used = failure_probability(candidate, full, tail)
    epsilon = local_epsilon(candidate, full)
    if candidate.yardstick:
        return replace(nothing, value=value, epsilon=epsilon, release=epsilon, tail=used, failure=chance)
    bits = _bits(candidate, epsilon, full)
    if question.bits is not None and bits > question.bits:
        return replace(nothing, bits=bits, reason=f"sends {bits} bits per client")
    if value == float("inf") and bits != _bits(candidate, epsilon, question.with_value("values", 2)):
        bits = 0
    release = _release(candidate, full, epsilon)
    return replace(nothing, value=value, epsilon=epsilon, release=release, bits=bits, tail=used, failure=chance)


def _filled(question: Question, unknown: str, value: float) -> Question:
    """Return the question without unknowns."""
    if unknown == "clients":
        return question.with_clients(int(value))
    if unknown == "values":
        return question.with_value("values", int(min(value, MOST_VALUES)))
    return question.with_value(unknown, min(max(value, 1e-300), 1 - 1e-16) if unknown == "failure" else value)


def _bits(candidate: Candidate, epsilon: float, question: Question) -> int:
    return candidate.bits(candidate.mechanism(epsilon, question), question)


class _ImpossibleError(ValueError):
    """No value of the unknown meets the target."""


def _meets(candidate: Candidate, question: Question, tail: str) -> bool:
    return failure_probability(candidate, question, tail)[0] <= float(question.failure or 0)


def _failure(candidate: Candidate, question: Question, tail: str) -> float:
    chance = failure_probability(candidate, question, tail)[0]
    if chance >= 1:
        raise _ImpossibleError("nothing is promised: the bound on the failure probability is 1")
    return chance


def _excess(candidate: Candidate, question: Question, tail: str) -> float:
    """Return the logarithm of the chance of failure over that allowed."""
    chance = failure_probability(candidate, question, tail)[0]
    return float(np.log(max(chance, 1e-300) / float(question.failure or 1)))


def _clients(candidate: Candidate, question: Question, tail: str) -> int:
    """Return the fewest clients."""
    unit = len(question.groups) if isinstance(question, Gap) and question.equal else 1
    reason = f"needs more than {MOST_CLIENTS:.0e} clients"

    def excess(units: int, tail: str = tail) -> float:
        return _excess(candidate, question.with_clients(max(units * unit, 2)), tail)

    most = MOST_CLIENTS // unit
    guess = _first(lambda units: excess(units, "normal"), 1, most, reason)
    return max(unit * _first(excess, guess, most, reason), 2)


def _first(excess: Callable[[int], float], guess: int, most: int, reason: str) -> int:
    """Return the number in ``1 .. most`` from which on a falling function is at most 0, by interpolation between a
    bracket around a guess.
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


def _epsilon(candidate: Candidate, question: Question, tail: str) -> float:
    """Return the smallest budget."""
    generous = question.with_value("epsilon", LARGEST_EPSILON)
    if not _meets(candidate, generous, tail):
        floor = _error(candidate, generous.with_value("error", None), tail)
        why = [candidate.floor] if candidate.floor else []
        why += (
            ["who reports is left to chance"] if not question.design.draw(int(question.clients or 0)).complete else []
        )
        raise _ImpossibleError(
            f"at any budget an error of {floor:.3g} remains: {', and '.join(why) or 'too few clients'}"
        )
    return _least("epsilon", candidate, question, tail, SMALLEST_EPSILON, LARGEST_EPSILON)


def _error(candidate: Candidate, question: Question, tail: str) -> float:
    """Return the smallest error that is promised."""
    largest = question.scale * (1 - 1e-12)
    if not _meets(candidate, question.with_value("error", largest), tail):
        raise _ImpossibleError("no error below the whole range can be promised")
    return _least("error", candidate, question, tail, question.scale * 1e-12, largest)


def _least(name: str, candidate: Candidate, question: Question, tail: str, low: float, high: float) -> float:
    """Return the least positive number that meets the target, `high` being one, in logarithms: a bracket around the
    normal answer, interpolated.
    """

    def excess(logarithm: float, tail: str = tail) -> float:
        return _excess(candidate, question.with_value(name, float(np.exp(logarithm))), tail)

    left, right = float(np.log(low)), float(np.log(high))
    if tail != "normal" and excess(right, "normal") <= 0:
        guess = _root(lambda x: excess(x, "normal"), left, right)
        for width in (0.02, 0.2):
            left = guess - width if guess - width > left and excess(guess - width) > 0 else left
            if guess + width < right and excess(guess + width) <= 0:
                right = guess + width
                break
    return float(np.exp(_root(excess, left, right)))


def _root(excess: Callable[[float], float], left: float, right: float) -> float:
    """Return where a falling function becomes 0 or less, from the right; `left` if it is so there."""
    from scipy.optimize import brentq

    value = cache(excess)
    if value(left) <= 0:
        return left
    root, step = float(brentq(value, left, right, xtol=_PRECISION)), _PRECISION
    while root < right and value(root) > 0:
        root, step = min(root + step, right), 2 * step
    return root


def _values(candidate: Candidate, question: Question, tail: str) -> float:
    """Return the largest number of values, infinite if no number is too large."""

    def fails(values: int) -> bool:
        full = question.with_value("values", values)
        limited = question.bits is not None and not candidate.yardstick
        if limited and _bits(candidate, local_epsilon(candidate, full), full) > int(question.bits or 0):
            return True
        return not _meets(candidate, full, tail)

    if fails(2):
        raise _ImpossibleError("two values are too many already")
    if not fails(MOST_VALUES):
        return float("inf")
    enough, many = 2, 3
    while not fails(many):
        enough, many = many, min(2 * many, MOST_VALUES)
    while many - enough > 1:
        middle = (enough + many) // 2
        enough, many = (enough, middle) if fails(middle) else (middle, many)
    return float(enough)


def _sampling_rate(candidate: Candidate, question: Question, tail: str) -> float:
    """Return the smallest sampling rate, to the next client; more reports may be worse, when the budget is that of what
    is released.
    """
    if candidate.yardstick:
        raise _ImpossibleError("asks everybody")
    clients = int(question.clients or 0)

    def excess(reports: int, tail: str = tail) -> float:
        return _excess(candidate, question.with_value("sampling_rate", reports / clients), tail)

    grid = np.unique(np.geomspace(1, clients, 96).round().astype(int)).tolist()
    near = next((reports for reports in grid if excess(reports, "normal") <= 0), 0)
    if not near:
        raise _ImpossibleError("not even all clients suffice" if question.protects == "report" else "no rate suffices")
    return _first(excess, near, clients, "no rate suffices") / clients


_SEARCHES: dict[str, Callable[[Candidate, Any, str], float]] = {
    "clients": _clients,
    "epsilon": _epsilon,
    "error": _error,
    "failure": _failure,
    "values": _values,
    "sampling_rate": _sampling_rate,
}
