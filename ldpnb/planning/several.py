"""Several questions on one budget: everybody answers all, or one question each that is drawn at random."""

from dataclasses import dataclass, field, replace
from typing import Any

from ldpnb import checks
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Frequency, Mean
from ldpnb.planning.solve import Answer

_WORDS = {"one": "one random question each", "all": "everybody answers all"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """Questions that are alike, on one budget; the split of a simple random sample is one for each of them.

    - `questions`, int
    - `each`, Mean or Frequency: what every one of them is. Its `count` are all people who answer, and its `epsilon`
      is that of everything that one of them reports. Its `failure` is that of one question.
    - `ways`, dict of Answer: what is left out, of every one of the questions, by each way that can, "one" or "all",
      the better way first.

    >>> from ldpnb.planning.samples import SimpleDesign
    >>> each = Mean(count=4000, epsilon=1, failure=0.05, binary=True, design=SimpleDesign(), tail="normal")
    >>> {way: round(answer.value, 4) for way, answer in Several(questions=4, each=each).ways.items()}
    {'one': 0.0671, 'all': 0.1246}
    """

    questions: int
    each: Mean | Frequency
    ways: dict[str, Answer] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        number, asked = checks.whole(questions=self.questions, at_least=2), self.each
        if len(getattr(asked.design, "sizes", ())) != 1:
            raise ValueError(f"design of several questions must be simple, got {asked.design}")
        if asked.count is not None and asked.count < 2 * number:
            raise ValueError(f"count must be at least 2 for every question, got {asked.count}")
        fewer = replace(asked, count=asked.count // number) if asked.count else asked
        smaller = replace(asked, epsilon=asked.epsilon / number) if asked.epsilon else asked
        answers = {"one": plan(fewer).best, "all": plan(smaller).best}
        whole = {("one", "count"), ("all", "epsilon")}  # asked of all questions together

        def needed(pair: tuple[str, Answer]) -> float:
            return pair[1].value * (number if (pair[0], pair[1].unknown) in whole else 1)

        able = ((way, answer) for way, answer in answers.items() if answer is not None)
        object.__setattr__(self, "ways", dict(sorted(able, key=needed)))

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
        closing = f"{self.questions} questions of {self.each.design}; each by the plain mean of the unbiased reports."
        return "\n".join([f"Better: {lines[0]}", *lines[1:], closing])
