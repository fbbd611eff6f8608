"""One mechanism's answer in a plan, and its law."""

from dataclasses import replace
from typing import Any

from ldpnb.planning.plans import Plan, plan
from ldpnb.planning.questions import Question
from ldpnb.planning.samples import StratifiedDesign


def answer(found: Plan, mechanism: str) -> Any:
    """The answer of a mechanism."""
    return next(a for a in found.answers if a.mechanism == mechanism)


def alone(question: Question, mechanism: str) -> Any:
    """The answer of a mechanism planned without the others, which is faster."""
    (only,) = plan(replace(question, mechanism=mechanism)).answers
    return only


def sampled(sizes: Any, answers: Any, sds: Any = None) -> StratifiedDesign:
    return StratifiedDesign(tuple(sizes), sds, answers=tuple(answers))
