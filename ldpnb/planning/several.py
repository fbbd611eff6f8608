"""Several questions on one budget: everybody answers all, or one question each that is drawn at random."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Frequency, Mean
from ldpnb.planning.solve import Answer

_WORDS = {"one": "one random question each", "all": "everybody answers all"}


def one_question_threshold(questions: int) -> float:
    """Return the budget below which one random question each beats answers to all, at the worst bits.

    There ``coth^2(e / (2 q)) = q coth^2(e / 2)``.

    >>> round(one_question_threshold(2), 6)
    3.057142
    """
    from scipy.optimize import brentq

    def gain(epsilon: float) -> float:
        return float(np.tanh(epsilon / 2) ** 2 - questions * np.tanh(epsilon / (2 * questions)) ** 2)

    return float(brentq(gain, 1.0, 100.0 * checks.whole(questions=questions, at_least=2), xtol=1e-13))


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """Questions that are alike, on one budget; the split of a simple random sample is one for each of them.

    Parameters
    ----------
    questions : int
    each : Mean or Frequency
        What every one of them is. Its `count` are all people who answer, and its `epsilon` is that of everything that
        one of them reports. Its `failure` is that of one question.

    Examples
    --------
    >>> from ldpnb.planning.samples import SimpleDesign
    >>> each = Mean(count=4000, epsilon=1, failure=0.05, binary=True, design=SimpleDesign(), tail="normal")
    >>> {way: round(answer.value, 4) for way, answer in Several(questions=4, each=each).ways.items()}
    {'one': 0.0671, 'all': 0.1246}
    """

    questions: int
    each: Mean | Frequency

    def __post_init__(self) -> None:
        checks.whole(questions=self.questions, at_least=2)
        if len(getattr(self.each.design, "sizes", ())) != 1:
            raise ValueError(f"design of several questions must be simple, got {self.each.design}")
        if self.each.count is not None and self.each.count < 2 * self.questions:
            raise ValueError(f"count must be at least 2 for every question, got {self.each.count}")

    @property
    def ways(self) -> dict[str, Answer]:
        """The answer to every one of the questions by each way that can, "one" or "all", the better way first."""
        return _ways(self)

    @property
    def best(self) -> str | None:
        """The way that needs less, if any can."""
        return next(iter(self.ways), None)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return a row per way that can, the better one first."""
        rows = []
        for way, answer in self.ways.items():
            full = answer.question
            known = {"answers": full.count, "epsilon": full.epsilon, "error": full.error, "failure": full.failure}
            rows.append({"way": _WORDS[way], "mechanism": answer.mechanism, **known})
        return {"ways": rows}

    def __str__(self) -> str:
        lines = [
            f"{row['way']}: error {row['error']:.4g}, {row['answers']:,} answers to each at {row['epsilon']:.4g} nats, "
            f"except with probability {row['failure']:.4g} ({row['mechanism']})."
            for row in self.tables()["ways"]
        ]
        if not lines:
            return "No mechanism can do this."
        lines[0] = f"Better: {lines[0]}"
        lines.append(
            f"{self.questions} questions of {self.each.design}; each by the plain mean of the unbiased reports."
        )
        if getattr(self.each, "binary", False):
            threshold = one_question_threshold(self.questions)
            lines.append(f"At the worst data one question each is better below epsilon {threshold:.4g}.")
        return "\n".join(lines)


@cache
def _ways(several: Several) -> dict[str, Answer]:
    asked, number = several.each, several.questions
    fewer = replace(asked, count=asked.count // number) if asked.count else asked
    smaller = replace(asked, epsilon=asked.epsilon / number) if asked.epsilon else asked
    answers = {"one": plan(fewer).best, "all": plan(smaller).best}
    whole = {("one", "count"), ("all", "epsilon")}  # asked of all questions together

    def needed(pair: tuple[str, Answer]) -> float:
        way, answer = pair
        return answer.value * (number if (way, answer.unknown) in whole else 1)

    return dict(sorted(((way, answer) for way, answer in answers.items() if answer is not None), key=needed))
