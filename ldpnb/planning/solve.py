"""Complete a question: the one quantity that it leaves open, for every mechanism."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import special

from ldpnb.planning.laws import Tail
from ldpnb.planning.mechanisms import EDGES
from ldpnb.planning.questions import MOST_STEPS, Gap, Question, left_out
from ldpnb.planning.reports import UnableError
from ldpnb.planning.search import least

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 50.0
PRECISION = 1e-9
"""Relative precision of a real number that is searched for."""


def answer(question: Question, mechanism: str) -> Question:
    """Return the question of one mechanism, completed by what it leaves out, or with the reason why it cannot be."""
    asked = replace(question, mechanism=mechanism, unknown=left_out(question), reason="")
    searches = {"count": _count, "epsilon": _epsilon, "error": _error, "failure": _failure}
    try:
        complete = asked.with_value(asked.unknown, searches[asked.unknown](asked))
        _ = complete.invited, complete.variance  # neither may be impossible
    except UnableError as reason:
        return replace(asked, reason=str(reason))
    return complete


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
    edges = EDGES.get(question.mechanism)
    steps = edges(question.values, smallest) if edges else np.zeros(0)  # type: ignore[attr-defined]
    steps = steps[(steps > 0) & (steps < smallest)].tolist()
    for edge, lower in zip(steps, [*steps[1:], SMALLEST_EPSILON], strict=False):
        below = edge * (1 - PRECISION)
        if question.with_value("epsilon", below).chance("normal")[0] < math.e * float(
            question.failure or 1
        ):
            smallest = _real(question, "epsilon", lower * (1 + PRECISION), below) or smallest
    return smallest


def _count(question: Question) -> int:
    """Return the fewest units.

    The chance of an error falls with their number, but for two wobbles: of groups that are rounded to whole people, and
    of a curator's exact law on a lattice. That nobody answers in some cluster becomes more likely with their number.
    """
    step = (
        len(question.shares) if isinstance(question, Gap) and len(set(question.shares)) == 1 else 1
    )
    low, high = -(-question.design.limits[0] // step), question.design.limits[1] // step
    excess = partial(_excess, question, "count", step.__mul__)
    if question.response < 1 and question.design.unit == "clusters":
        tried = np.unique(np.geomspace(low, high, 64).astype(int)).tolist()
        high = next((number for number in tried if excess(None, number) <= 0), high)
    enough = _least(excess, low, high, 1000)
    if enough is None:
        left = _left(question.with_value("count", high * step))
        raise UnableError(f"if all {high * step:,} {question.design.unit} are asked, {left}")
    for number in range(enough - 1, max(low, enough - min(question.wobble, MOST_STEPS)) - 1, -1):
        if excess("near", number) <= 0 and excess(None, number) <= 0:
            enough = number
    return enough * step


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


def _least(
    excess: Callable[..., float], low: int, high: int, first: int, *, step: float = 0.0
) -> int | None:
    """Return the least number that is enough; none is that is not near the worst data, where a chance is cheap."""
    near = least(partial(excess, "near"), low, high, first, step=step)
    return near and least(partial(excess, None), near, high, near, step=step)


def _excess(
    question: Question, name: str, value: Callable[[int], float], tail: Tail | None, number: int
) -> float:
    """Return by how much a chance is above the one allowed, where a whole number gives the `value` of a quantity.

    It is a difference of logarithms of normal deviates, nearly linear in the logarithms of count, epsilon and error.
    """
    chance, allowed = (
        question.with_value(name, value(number)).chance(tail)[0],
        float(question.failure or 1),
    )
    with np.errstate(divide="ignore"):
        wanted, reached = np.log(-special.ndtri(np.array([allowed, chance]) / 2))
    return math.copysign(abs(wanted - reached) + 1e-300, 1 if chance > allowed else -1)
