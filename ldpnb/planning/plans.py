"""A plan: a question with its answers, ranked; as text, or as tables for JSON, CSV and an Excel file.

Numbers that a promise rests on are rounded up in text, so that what is printed is promised as well.
"""

import math
from dataclasses import dataclass, fields
from typing import Any

from ldpnb.notebook.prose import listed, rounded_up
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.questions import Question
from ldpnb.planning.reports import MANY
from ldpnb.planning.solve import SMALLEST_EPSILON, Answer, answer
from ldpnb.surveys.field_plan import ESTIMATORS

_ASKS = {
    "count": "How many {}?",
    "epsilon": "Which budget?",
    "error": "Which error can be promised?",
    "failure": "How likely is a larger error?",
}
_BOUNDS = {
    "exact": "the law of reports or noise at the worst data, continued between whole numbers; holds for all data",
    "Hoeffding": "Hoeffding's bound, of samples without replacement by Serfling's factor; holds for all data",
    "Chernoff": "Chernoff's bound at the worst data, minimised over its parameter; holds for all data",
    "Chebyshev": "Chebyshev's bound at the worst variance; holds for all data",
    "normal": "the normal law at the worst variance; an approximation for many reports, no promise",
}
_GAP = "the unbiased gap of `ldpnb.estimators.gaps`"


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with its answers: best first, then those that cannot, and a curator's last, to compare with.

    ``print(plan)`` shows it as ``ldpnb plan`` does.
    """

    question: Question
    answers: tuple[Answer, ...]

    @property
    def able(self) -> tuple[Answer, ...]:
        """Answers that can, best first; without the curator's, unless that alone was asked for."""
        return tuple(a for a in self.answers if a.feasible and not _compared(self.question, a))

    @property
    def best(self) -> Answer | None:
        """The best mechanism, if any can."""
        return self.able[0] if self.able else None

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return rows by the name of their table: the answers, what was asked, and whom to invite in each stratum."""
        question, best = self.question, self.best
        given = {one.name: getattr(question, one.name) for one in fields(question) if one.name != "design"}
        asked = {"asked": question.unknown} | {name: value for name, value in given.items() if value not in (None, "")}
        asked |= {"subject": question.subject, "design": str(question.design), "best": best and best.mechanism}
        made = {"answers": [_row(answer) for answer in self.answers], "question": [asked]}
        if best is not None and (invited := _allocation(best)):
            made["allocation"] = [{"stratum": name, "invite": number} for name, number in invited.items()]
        return made

    def __str__(self) -> str:
        bounds, best = {a.bound for a in self.answers}, self.best
        notes = [f"{name}: {words}." for name, words in _BOUNDS.items() if name in bounds]
        remarks = [f"{a.mechanism}: {a.candidate.remark}." for a in self.answers if a.candidate.remark]
        ranked = ["No mechanism can do this."]
        if best is not None:
            # numbers are searched to nine digits: mechanisms that are one and the same are alike
            tied = [a.mechanism for a in self.able if math.isclose(a.value, best.value, rel_tol=1e-8)]
            proven = [] if best.least else ["This number suffices; that no smaller one does is not proven."]
            ranked = [f"Best: {listed(tied)}{', alike' if len(tied) > 1 else ''}.", *proven, *_details(best)]
        return "\n".join([_asked(self.question), "", *_lines(self), "", *ranked, *notes, *remarks])


def plan(question: Question, *, curator: bool = True) -> Plan:
    """Answer a question, which leaves out one of count, epsilon, error and failure, for every mechanism.

    Without `curator` none is answered for to compare with. Whatever else is left out is a ValueError.

    >>> import ldpnb as ldp
    >>> best = ldp.plan(ldp.Frequency(epsilon=1.0, error=0.02, failure=0.01, values=16)).best
    >>> best.mechanism, best.value
    ('SUE', 65187)
    >>> schools = ldp.ClusterDesign(clusters=400, size=25, icc=0.05)
    >>> asked = {"epsilon": 1.0, "error": 0.05, "failure": 0.05, "tail": "normal"}
    >>> ldp.plan(ldp.Mean(design=schools, binary=True, **asked)).best.value
    84
    """

    def order(a: Answer) -> tuple[bool, bool, float]:
        return _compared(question, a), not a.feasible, float(f"{a.value:.8g}") if a.feasible else 0.0

    answers = [answer(question, one.name) for one in question.candidates if curator or not one.central]
    return Plan(question, tuple(sorted(answers, key=order)))


def _compared(question: Question, answer: Answer) -> bool:
    """Return whether an answer is there to compare with only."""
    return answer.candidate.central and question.mechanism == ""


def _row(a: Answer) -> dict[str, Any]:
    """Return the numbers of an answer, unrounded; what is not defined is None."""
    row: dict[str, Any] = {"mechanism": a.mechanism, a.unknown: a.value if a.feasible else None}
    row |= {"reason": a.reason or None, "remark": a.candidate.remark or None}
    if not a.feasible:
        return row
    variance = a.variance
    row |= {
        "bound": a.bound,
        "failure_bound": a.question.chance()[0],
        "least": a.least,
        "promised_for": a.whom,
        "estimator": a.estimator,
        "people": a.sample.people,
        "invited": sum(a.question.invited),
        "report_epsilon": None if a.candidate.central else a.question.epsilon,
        "person_epsilon": a.reported,
        "secret_epsilon": a.hidden,
        "sampling_sd": variance and math.sqrt(variance.sampling),
        "randomisation_sd": variance and math.sqrt(variance.randomisation),
        "noise_scale": a.noise or None,
    }
    return row | {f"invite {name}": number for name, number in _allocation(a).items()}


def _allocation(answer: Answer) -> dict[str, int]:
    """Return how many people to invite in each stratum, if there are strata."""
    names = getattr(answer.sample, "names", ())
    return dict(zip(names, answer.question.invited, strict=True)) if len(names) > 1 else {}


def _asked(question: Question) -> str:
    """Return the question in words."""
    unit = question.design.unit
    words = {
        "count": f"{{:,}} {unit}",
        "epsilon": "epsilon {:g} of each report",
        "error": "error below {:g}",
        "failure": "except with probability {:g}",
    }
    parts = [word.format(value) for name, word in words.items() if (value := getattr(question, name)) is not None]
    times = f", {question.releases:,} times" if question.releases > 1 else ""
    return f"{_ASKS[question.unknown].format(unit)} {', '.join(parts)}; {question.subject}; {question.design}{times}."


def _lines(plan: Plan) -> list[str]:
    """Return a row per mechanism: what was asked of it and by which bound, or why there is no answer."""
    unknown = plan.question.unknown
    unit = plan.question.design.unit if unknown == "count" else unknown
    rows = [("mechanism", unit, "bound"), *((a.mechanism, _value(a), a.bound or a.reason) for a in plan.answers)]
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [f"{name:{names}}  {value:>{values}}  {bound}" for name, value, bound in rows]


def _value(answer: Answer) -> str:
    if not answer.feasible:
        return "-"
    if answer.unknown == "epsilon" and answer.value <= SMALLEST_EPSILON:
        return f"< {SMALLEST_EPSILON:g}"
    return f"{answer.value:,}" if answer.unknown == "count" else rounded_up(answer.value)


def _details(a: Answer) -> list[str]:
    """Return whom to ask, what is promised for whom by which estimator, its two parts, and what is lost."""
    question, variance = a.question, a.variance
    error, chance = (rounded_up(float(value or 0)) for value in (question.error, question.failure))
    probability = f"probability {'about' if question.tail == 'normal' else 'at most'} {chance} ({a.bound})"
    times = f" Each of the {question.releases:,} estimates has this error." if question.releases > 1 else ""
    lines = [
        _drawn(a),
        f"Promised for {a.whom}: at the worst data an error of {error} or more has {probability}.{times}",
        f"Estimator ({a.estimator}): {ESTIMATORS.get(a.estimator, _GAP)}.",
    ]
    if variance is not None:
        sampling, randomisation = math.sqrt(variance.sampling), math.sqrt(variance.randomisation)
        parts = f"sampling {sampling:.3g}, randomisation {randomisation:.3g}"
        if isinstance(a.sample, ClusterDesign):
            sampled, total = a.design_effects
            among = "" if math.isnan(sampled) else f"{sampled:.3g} of sampling, "
            parts += f"; design effect {among}{total:.3g} in all"
        lines.append(f"Standard deviation at the worst data: {parts}.")
    return [*lines, _losses(a)]


def _drawn(a: Answer) -> str:
    """Return whom to ask."""
    question, sample, invited = a.question, a.sample, sum(a.question.invited)
    some = f" ({question.response:.0%} answer)" if question.response < 1 else ""
    if isinstance(sample, ClusterDesign):
        asked = f"{sample.take:,} people" if sample.take else "everybody"
        people = f"{invited:,} people" + (f", of whom about {sample.people:,} answer" if some else "")
        return f"Draw {sample.chosen:,} of {sample.clusters:,} clusters and ask {asked} in each, {people}."
    if sample.respondents:
        return f"Get {sample.people:,} answers" + (f": invite {invited:,} people{some}." if some else ".")
    parts = ", ".join(f"{name} {number:,}" for name, number in _allocation(a).items())
    of = f" of {sample.population:,}" if sample.population < MANY else ""
    needed = f" for {sample.people:,} answers{some}" if some else ""
    return f"Ask {invited:,}{of} people{needed}{f': {parts}' if parts else ''}."


def _losses(a: Answer) -> str:
    """Return what a report, all of a person, and all that is released lose."""
    question, under = a.question, " (epsilon, in nats, if one person's value is replaced)"
    many, together = question.releases > 1, rounded_up(a.reported)
    if a.candidate.central:
        loses = f" to each of {question.releases:,} releases, which together lose" if many else "; it loses"
        return f"The curator adds Laplace noise of scale {a.noise:.4g}{loses} {together}{under}."
    line = f"A report loses {rounded_up(float(question.epsilon or 0))} to whoever receives it{under}"
    if many:
        line += f", and the {question.releases:,} reports of a person together {together}"
    hidden = f", to readers who cannot know who was asked only {rounded_up(a.hidden)}"
    return f"{line}; so does all that is released{hidden if a.hidden < 0.99 * a.reported else ''}."
