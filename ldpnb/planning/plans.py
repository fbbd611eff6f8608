"""A plan: a question with its answers, ranked; as text, as a table, or as JSON, CSV and an Excel file.

Numbers that a promise rests on are rounded up in text, so that what is printed is promised as well.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

from ldpnb.notebook.prose import listed, rounded_up
from ldpnb.planning.designs import ClusterDesign, Everyone, StratifiedDesign
from ldpnb.planning.questions import Gap, Question
from ldpnb.planning.reports import MANY
from ldpnb.planning.samples import Clusters
from ldpnb.planning.solve import SMALLEST_EPSILON, Answer, complete
from ldpnb.surveys.field_plan import ESTIMATORS

_ASKS = {
    "count": "How many {}?",
    "epsilon": "Which budget?",
    "error": "Which error can be promised?",
    "failure": "How likely is a larger error?",
}
_MORE = {
    "count": "needs {:.3g} times as many {}",
    "epsilon": "needs {:.3g} times the budget",
    "error": "has {:.3g} times the error",
    "failure": "fails {:.3g} times as often",
}
_BOUNDS = {
    "exact": "the law of the reports, or of the noise, at the worst data; holds for all data",
    "Hoeffding": "Hoeffding's bound, of samples without replacement by Serfling's factor; holds for all data",
    "Chernoff": "Chernoff's bound at the worst data, minimised over its parameter; holds for all data",
    "Chebyshev": "Chebyshev's bound at the worst variance; holds for all data",
    "normal": "the normal law at the worst variance; an approximation for many reports, no promise",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with its answers: best first, then those that cannot, and a curator's last, to compare with.

    ``print(plan)`` shows it as ``ldpnb plan`` does.
    """

    question: Question
    unknown: str
    answers: tuple[Answer, ...]

    @property
    def able(self) -> tuple[Answer, ...]:
        """Answers that can, best first; without the curator's, unless that alone was asked for."""
        return tuple(a for a in self.answers if a.feasible and not self.compared(a))

    def compared(self, answer: Answer) -> bool:
        """Return whether an answer is there to compare with only."""
        return answer.candidate.central and self.question.mechanism == ""

    @property
    def best(self) -> Answer | None:
        """The best mechanism, if any can."""
        return self.able[0] if self.able else None

    @property
    def margin(self) -> float:
        """How many times more the second best needs (or risks); nan without one, 1 for a tie."""
        if len(self.able) < 2:
            return math.nan
        return self.able[1].value / self.able[0].value if self.able[0].value > 0 else math.inf

    def to_frame(self) -> Any:
        """Return the answers as a pandas DataFrame, a row per mechanism, numbers unrounded."""
        import pandas as pd

        return pd.DataFrame(rows(self), dtype=object)

    def to_json(self) -> str:
        """Return the plan as a JSON object."""
        return json.dumps(known(self) | {"answers": rows(self)}, indent=1)

    def sheets(self) -> dict[str, Any]:
        """Return the answers, what was asked, and whom to invite where there are strata, as DataFrames."""
        import pandas as pd

        asked = pd.DataFrame(known(self).items(), columns=["question", "value"]).astype(str)
        sheets = {"answers": self.to_frame(), "question": asked}
        if self.best is not None and (invited := allocation(self.best)):
            sheets["allocation"] = pd.DataFrame(invited.items(), columns=["stratum", "invite"])
        return sheets

    def __str__(self) -> str:
        return text(self)


def plan(question: Question) -> Plan:
    """Answer a question for every mechanism.

    Parameters
    ----------
    question : Frequency, Mean or Gap
        With exactly one of count, epsilon, error and failure left out.

    Raises
    ------
    ValueError
        Unless exactly one quantity is left out.

    Examples
    --------
    >>> import ldpnb as ldp
    >>> best = ldp.plan(ldp.Frequency(epsilon=1.0, error=0.02, failure=0.01, values=16)).best
    >>> best.mechanism, best.value
    ('SUE', 65187)
    >>> schools = ldp.ClusterDesign(clusters=400, size=25, icc=0.05)
    >>> asked = {"epsilon": 1.0, "error": 0.05, "failure": 0.05, "tail": "normal"}
    >>> ldp.plan(ldp.Mean(design=schools, binary=True, **asked)).best.value
    84
    """
    unknown, answers = question.unknown, complete(question)
    compared = [a for a in answers if a.candidate.central and not question.mechanism]
    order = sorted(answers, key=lambda a: (a in compared, not a.feasible, a.value if a.feasible else 0.0))
    return Plan(question, unknown, tuple(order))


def rows(plan: Plan) -> list[dict[str, Any]]:
    """Return a row per mechanism, numbers unrounded; what is not defined is None."""
    return [_row(plan, answer) for answer in plan.answers]


def _row(plan: Plan, a: Answer) -> dict[str, Any]:
    row: dict[str, Any] = {"mechanism": a.mechanism, plan.unknown: a.value if a.feasible else None}
    row |= {"bits": _bits(a) or None, "reason": a.reason or None, "remark": a.candidate.remark or None}
    if not a.feasible:
        return row
    variance = a.variance
    row |= {
        "bound": a.bound,
        "failure_bound": a.question.chance(a.candidate)[0],
        "least": a.least,
        "promised_for": a.whom,
        "estimator": a.estimator,
        "people": a.sample.people,
        "invited": sum(a.invited),
        "report_epsilon": None if a.candidate.central else a.epsilon,
        "person_epsilon": a.reported,
        "release_epsilon": a.released,
        "secret_epsilon": a.hidden,
        "sampling_sd": variance and math.sqrt(variance.sampling),
        "randomisation_sd": variance and math.sqrt(variance.randomisation),
        "noise_scale": a.noise or None,
    }
    return row | {f"invite {name}": number for name, number in allocation(a).items()}


def allocation(answer: Answer) -> dict[str, int]:
    """Return how many people to invite in each stratum, if there are strata."""
    design = answer.question.design
    if not (answer.feasible and isinstance(design, StratifiedDesign)):
        return {}
    return dict(zip(design.names, answer.invited, strict=True))


def known(plan: Plan) -> dict[str, Any]:
    """Return what was asked, for other programs."""
    question, best = plan.question, plan.best
    given = {name: getattr(question, name) for name in question.__dataclass_fields__ if name != "design"}
    return {
        "question": {name: value for name, value in given.items() if value not in (None, False, "")},
        "subject": question.subject,
        "design": str(question.design),
        "asked": plan.unknown,
        "best": best and best.mechanism,
        "margin": plan.margin if math.isfinite(plan.margin) else None,
        "loss": "replacement of one person's value",
    }


def as_table(plan: Plan) -> Any:
    """Return what `text` shows of the mechanisms as a pandas DataFrame of words."""
    import pandas as pd

    heads, cells = _cells(plan)
    return pd.DataFrame(cells, columns=[head or "why not" for head in heads])


def text(plan: Plan) -> str:
    """Return the question, a row per mechanism, and what the best one asks for, promises and costs."""
    heads, cells = _cells(plan)
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(w) if i in (0, len(row) - 1) else cell.rjust(w) for i, (cell, w) in enumerate(row)
        ).rstrip()
        for row in (list(zip(cells, widths, strict=True)) for cells in (heads, *cells))
    ]
    notes = [f"{name}: {_BOUNDS[name]}." for name in _BOUNDS if name in {a.bound for a in plan.answers}]
    remarks = [f"{a.mechanism}: {a.candidate.remark}." for a in plan.answers if a.candidate.remark]
    return "\n".join(
        [_asked(plan), "", *map(str.rstrip, lines), "", _ranked(plan), *details(plan.best), *notes, *remarks]
    )


def details(answer: Answer | None) -> list[str]:
    """Return what an answer asks for, promises and costs, in sentences."""
    if answer is None:
        return []
    sufficient = [] if answer.least else ["This number suffices; that no smaller one does is not proven."]
    return [*sufficient, _drawn(answer), _promise(answer), *_parts(answer), _losses(answer)]


def _asked(plan: Plan) -> str:
    question = plan.question
    whose = "all that is released" if question.secret else "each report"
    unit = question.design.unit
    words = {
        "count": f"{{:,}} {unit}",
        "epsilon": f"epsilon {{:g}} of {whose}",
        "error": "error below {:g}",
        "failure": "except with probability {:g}",
    }
    parts = [word.format(value) for name, word in words.items() if (value := getattr(question, name)) is not None]
    sample = ", kept secret" if question.secret else ""
    times = f", {question.releases:,} times" if question.releases > 1 else ""
    asked = _ASKS[plan.unknown].format(unit)
    return f"{asked} {', '.join(parts)}; {question.subject}; {question.design}{sample}{times}."


def _ranked(plan: Plan) -> str:
    """Return which mechanism is best and by how much, or that none can."""
    able = plan.able
    if plan.best is None:
        return "No mechanism can do this."
    if len(able) < 2:
        return f"Best: {able[0].mechanism}, the only one that can."
    tied = [a.mechanism for a in able if a.value == able[0].value]
    if len(tied) > 1:
        return f"Best: {listed(tied)}, alike."
    margin = _MORE[plan.unknown].format(plan.margin, plan.question.design.unit)
    return f"Best: {able[0].mechanism}; the next, {able[1].mechanism}, {margin}."


def _drawn(answer: Answer) -> str:
    """Return whom to ask."""
    question, sample, invited = answer.question, answer.sample, sum(answer.invited)
    design, some = question.design, f" ({question.response:.0%} answer)" if question.response < 1 else ""
    if isinstance(sample, Clusters):
        asked = "everybody" if sample.take is None else f"{sample.take:,} people"
        people = f"{invited:,} people" + (f", of whom about {sample.people:,} answer" if some else "")
        return f"Draw {sample.chosen:,} of {sample.clusters:,} clusters and ask {asked} in each, {people}."
    if isinstance(design, Everyone):
        return f"Get {sample.people:,} answers" + (f": invite {invited:,} people{some}." if some else ".")
    parts = ", ".join(f"{name} {number:,}" for name, number in allocation(answer).items())
    of = f" of {sample.population:,}" if sample.population < MANY else ""
    needed = f" for {sample.people:,} answers{some}" if some else ""
    return f"Ask {invited:,}{of} people{needed}{f': {parts}' if parts else ''}."


def _promise(answer: Answer) -> str:
    question, full = answer.question, answer.question
    chance = rounded_up(float(full.failure or 0))
    certainty = "about" if question.tail == "normal" else "at most"
    times = f" Each of the {question.releases:,} estimates has this error." if question.releases > 1 else ""
    estimator = (
        "the unbiased gap of `ldpnb.estimators.gaps`" if isinstance(question, Gap) else ESTIMATORS[answer.estimator]
    )
    return (
        f"Promised for {answer.whom}: at the worst data an error of {rounded_up(float(full.error or 0))} or more has "
        f"probability {certainty} {chance} ({answer.bound}).{times}\nEstimator ({answer.estimator}): {estimator}."
    )


def _parts(answer: Answer) -> list[str]:
    variance, question = answer.variance, answer.question
    if variance is None:
        return []
    line = f"Standard deviation at the worst data: sampling {math.sqrt(variance.sampling):.3g}"
    line += f", randomisation {math.sqrt(variance.randomisation):.3g}"
    if isinstance(question.design, ClusterDesign):
        sampling, total = answer.design_effects
        line += f"; design effect {sampling:.3g} of sampling, {total:.3g} in all"
    return [f"{line}."]


def _losses(answer: Answer) -> str:
    """Return what a report, all of a person, and all that is released lose."""
    question, under = answer.question, " (epsilon, in nats, if one person's value is replaced)"
    if answer.candidate.central:
        times = (
            f" to each of {question.releases:,} releases, which together lose"
            if question.releases > 1
            else "; it loses"
        )
        return (
            f"The curator adds Laplace noise of scale {answer.noise:.4g}{times} {rounded_up(answer.released)}{under}."
        )
    line = f"A report loses {rounded_up(answer.epsilon)} to whoever receives it{under}"
    if question.releases > 1:
        line += f", and the {question.releases:,} reports of a person together {rounded_up(answer.reported)}"
    if question.secret:
        return f"{line}; all that is released {rounded_up(answer.released)}, to readers who cannot know who was asked."
    if answer.hidden > 0.99 * answer.reported:
        return f"{line}; so does all that is released."
    hidden = f"to readers who cannot know who was asked (secret) only {rounded_up(answer.hidden)}"
    return f"{line}; so does all that is released, {hidden}."


def _bits(answer: Answer) -> int:
    if not answer.feasible or answer.candidate.central:
        return 0
    return answer.candidate.bits(answer.candidate.make(answer.epsilon, answer.question))


def _cells(plan: Plan) -> tuple[list[str], list[list[str]]]:
    unit = plan.question.design.unit if plan.unknown == "count" else plan.unknown
    heads = ["mechanism", unit, *(["report epsilon"] if plan.question.secret else []), "bits", "bound"]
    heads += [""] if any(a.reason for a in plan.answers) else []
    cells = []
    for a in plan.answers:
        budget = rounded_up(a.epsilon) if a.feasible and not a.candidate.central else ""
        row = [a.mechanism, _value(plan, a), *([budget] if plan.question.secret else []), _number(_bits(a)), a.bound]
        cells.append(row + ([a.reason] if len(heads) > len(row) else []))
    return heads, cells


def _value(plan: Plan, answer: Answer) -> str:
    if not answer.feasible:
        return "-"
    if plan.unknown == "count":
        return f"{int(answer.value):,}"
    if plan.unknown == "epsilon" and answer.value <= SMALLEST_EPSILON:
        return f"< {SMALLEST_EPSILON:g}"
    return rounded_up(answer.value)


def _number(number: int) -> str:
    return f"{number:,}" if number else ""
