"""One mechanism's answer in a plan, and the mechanism itself."""

from typing import Any

from ldpnb.planning.candidates import Candidate, candidates
from ldpnb.planning.questions import Question
from ldpnb.planning.solve import Plan, _Search


def answer(found: Plan, mechanism: str) -> Any:
    """The answer of a mechanism."""
    return next(a for a in found.answers if a.mechanism == mechanism)


def candidate(question: Question, mechanism: str) -> Candidate:
    """The mechanism of that name for a question."""
    return next(c for c in candidates(question) if c.name == mechanism)


def alone(question: Question, mechanism: str, tail: str = "best") -> Any:
    """The answer of a mechanism planned without the others, which is faster."""
    return _Search(candidate(question, mechanism), question, tail).answer()
