"""One mechanism's answer in a plan, and the mechanism itself."""

from typing import Any

from ldpnb.planning.candidates import Candidate, candidates
from ldpnb.planning.questions import Question
from ldpnb.planning.solve import Plan


def answer(found: Plan, mechanism: str) -> Any:
    """The answer of a mechanism."""
    return next(a for a in found.answers if a.mechanism == mechanism)


def candidate(question: Question, mechanism: str) -> Candidate:
    """The mechanism of that name for a question."""
    return next(c for c in candidates(question) if c.name == mechanism)
