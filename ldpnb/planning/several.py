"""Several questions on one budget: everybody answers all, or one question each that is drawn at random."""

from dataclasses import dataclass, field
from typing import Any

from ldpnb import checks
from ldpnb.claims import rounded_up
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import QUANTITIES, Frequency, Mean, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Several:
    """Questions that are alike, on one budget; the split of a simple random sample is one for each of them.

    - `questions`, int
    - `each`, Mean or Frequency: what every one of them is. Its `count` are all people who answer, and its `epsilon`
      is that of everything that one of them reports. Its `failure` is that of one question.
    - `ways`, dict of Question: what is left out, of every one of the questions, by each way that can, "one" or "all",
      the better way first.

    >>> from ldpnb.planning.samples import SimpleDesign
    >>> each = Mean(count=4000, epsilon=1, failure=0.05, binary=True, design=SimpleDesign(), tail="normal")
    >>> {way: round(answer.value, 4) for way, answer in Several(questions=4, each=each).ways.items()}
    {'one': 0.0671, 'all': 0.1246}
    """

    questions: int
    each: Mean | Frequency
    ways: dict[str, Question] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", checks.whole(self.questions, "questions", at_least=2))
        number, asked = self.questions, self.each
        whole = {"one": "count", "all": "epsilon"}
        if len(getattr(asked.design, "sizes", ())) != 1:
            raise ValueError(f"design of several questions must be simple, got {asked.design}")
        if asked.releases > 1:
            raise ValueError(
                f"releases of several questions must be 1, got releases={asked.releases}"
            )
        if (asked.count or 2 * number) < 2 * number:
            raise ValueError(f"count must be at least 2 for every question, got {asked.count}")
        split = {
            "one": asked.count and asked.count // number,
            "all": asked.epsilon and asked.epsilon / number,
        }
        bests = {way: plan(asked.with_value(name, split[way])).best for way, name in whole.items()}
        able = {way: best for way, best in bests.items() if best is not None}

        def needed(way: str) -> float:
            return able[way].value * (number if able[way].unknown == whole[way] else 1)

        object.__setattr__(self, "ways", {way: able[way] for way in sorted(able, key=needed)})

    @property
    def best(self) -> str | None:
        """The way that needs less, if any can."""
        return next(iter(self.ways), None)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return a row per way that can, the better one first, with the numbers of one question."""
        rows = [
            (way, a, {name: getattr(a, name) for name in QUANTITIES})
            for way, a in self.ways.items()
        ]
        return {"ways": [{"way": way, "mechanism": a.mechanism, **known} for way, a, known in rows]}

    def __str__(self) -> str:
        words = {"one": "one random question each", "all": "everybody answers all"}
        lines = [
            f"{words[way]}: error {rounded_up(float(a.error or 0))}, {a.count:,} answers to each at "
            f"{rounded_up(float(a.epsilon or 0))} nats, except with probability "
            f"{'about ' * (a.tail == 'normal')}{rounded_up(float(a.failure or 0))} ({a.mechanism}, {a.bound})."
            for way, a in self.ways.items()
        ]
        if not lines:
            return "No mechanism can do this."
        closing = f"{self.questions} questions of {self.each.design}; each by the plain mean of the unbiased reports."
        return "\n".join([f"Better: {lines[0]}", *lines[1:], closing])
