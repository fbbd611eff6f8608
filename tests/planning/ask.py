"""One mechanism's answer in a plan, and its law."""

from dataclasses import replace
from typing import Any

from ldpnb.planning.plans import Plan, plan
from ldpnb.planning.questions import Question


def answer(found: Plan, mechanism: str) -> Any:
    """The answer of a mechanism."""
    return next(a for a in found.answers if a.name == mechanism)


def alone(question: Question, mechanism: str) -> Any:
    """The answer of a mechanism planned without the others, which is faster."""
    (only,) = plan(replace(question, mechanism=mechanism)).answers
    return only


def law(question: Question, mechanism: str) -> Any:
    """The law of a mechanism's error."""
    return question.law(next(one for one in question.candidates if one.name == mechanism))
