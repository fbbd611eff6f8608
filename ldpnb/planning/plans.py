"""A plan: a question with its answers, ranked; as text, or as tables for JSON, CSV and an Excel file.

Numbers that a promise rests on are rounded up in text, so that what is printed is promised as well.
"""

import math
import tomllib
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Any

from ldpnb.claims import rounded_up
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.mechanisms import CURATOR
from ldpnb.planning.questions import QUANTITIES, Frequency, Gap, Question, left_out
from ldpnb.planning.reports import MANY
from ldpnb.planning.solve import answer
from ldpnb.surveys.field_plan import ESTIMATORS
from ldpnb.words import listed

_WORDS = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
_SHOWN = ("bound", "least", "whom", "estimator", "reported", "hidden", "noise")
"""What a table shows of an answer as it is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A question with its answers: best first, then those that cannot, and a curator's last, to compare with.

    ``print(plan)`` shows it as ``ldpnb plan`` does.
    """

    question: Question
    answers: tuple[Question, ...]

    @property
    def able(self) -> tuple[Question, ...]:
        """Answers that can, best first; without the curator's, unless that alone was asked for."""
        return tuple(
            a for a in self.answers if a.feasible and (self.question.mechanism or not a.central)
        )

    @property
    def best(self) -> Question | None:
        """The best mechanism, if any can."""
        return next(iter(self.able), None)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return rows by the name of their table: the answers, unrounded, and what was asked."""
        question = self.question
        asked = {
            one.name: getattr(question, one.name)
            for one in fields(question)
            if one.name not in ("unknown", "reason")
        }
        return {
            "answers": [_row(a) for a in self.answers],
            "question": [asked | {"design": str(question.design), "subject": _subject(question)}],
        }

    def __str__(self) -> str:
        bounds, unknown = {a.bound for a in self.answers}, self.question.unknown
        unit = self.question.design.unit if unknown == "count" else unknown
        rows = [
            ("mechanism", unit, "bound"),
            *((a.mechanism, _value(a), a.bound or a.reason) for a in self.answers),
        ]
        names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [_asked(self.question), ""]
        lines += [f"{name:{names}}  {value:>{values}}  {bound}" for name, value, bound in rows]
        lines += ["", *(_details(self.able) if self.able else ["No mechanism can do this."])]
        lines += [f"{name}: {words}." for name, words in _WORDS["bounds"].items() if name in bounds]
        lines += [
            f"{a.mechanism}: {_WORDS['remarks'][a.mechanism]}."
            for a in self.answers
            if a.mechanism in _WORDS["remarks"]
        ]
        return "\n".join(lines)


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

    def order(a: Question) -> tuple[bool, bool, float]:
        return a.central, not a.feasible, float(f"{a.value:.8g}") if a.feasible else 0.0

    answers = [answer(question, name) for name in question.candidates if curator or name != CURATOR]
    return Plan(replace(question, unknown=left_out(question)), tuple(sorted(answers, key=order)))


def _row(a: Question) -> dict[str, Any]:
    """Return the numbers of an answer, unrounded; what is not defined is None."""
    row: dict[str, Any] = {
        "mechanism": a.mechanism,
        a.unknown: a.value if a.feasible else None,
        "reason": a.reason,
    }
    if not a.feasible:
        return row
    row |= {name: getattr(a, name) for name in _SHOWN} | {"failure_bound": a.promise[0]}
    row |= {"people": a.sample.people, "invited": sum(a.invited)}
    sds = map(math.sqrt, a.variance) if a.variance else (None, None)
    row |= zip(("sampling_sd", "randomisation_sd"), sds, strict=True)
    return row | {f"invite {name}": number for name, number in _allocation(a).items()}


def _allocation(answer: Question) -> dict[str, int]:
    """Return how many people to invite in each stratum, if there are strata."""
    names = getattr(answer.sample, "names", ())
    return dict(zip(names, answer.invited, strict=True)) if len(names) > 1 else {}


def _subject(question: Question) -> str:
    """Return what is estimated, in words."""
    if isinstance(question, Frequency):
        which = "all at once" if question.simultaneous else "any one of them"
        return f"the shares of {question.values:,} values, {which}"
    inside = (
        f"{question.low:g} or {question.high:g}"
        if question.binary
        else f"in [{question.low:g}, {question.high:g}]"
    )
    if isinstance(question, Gap):
        groups = f"{len(question.shares)} groups (shares {' : '.join(f'{share:g}' for share in question.shares)})"
        return f"the gap between the first two of {groups}, values {inside}"
    return f"the mean of values {inside}"


def _asked(question: Question) -> str:
    """Return the question in words."""
    unit, design = question.design.unit, question.design
    known = {name: getattr(question, name) for name in QUANTITIES if name != question.unknown}
    parts = ", ".join(
        _WORDS["given"][name].format(value, unit=unit) for name, value in known.items()
    )
    times = f", {question.releases:,} times" if question.releases > 1 else ""
    return f"{_WORDS['asked'][question.unknown].format(unit=unit)} {parts}; {_subject(question)}; {design}{times}."


def _value(answer: Question) -> str:
    if not answer.feasible:
        return "-"
    return f"{answer.value:,}" if answer.unknown == "count" else rounded_up(answer.value)


def _details(able: tuple[Question, ...]) -> list[str]:
    """Return of the best answer whom to ask, what is promised for whom by which estimator, and what is lost."""
    a = able[0]
    # numbers are searched to nine digits: mechanisms that are one and the same are alike
    tied = [other.mechanism for other in able if math.isclose(other.value, a.value, rel_tol=1e-8)]
    error, chance, epsilon = (
        rounded_up(float(getattr(a, name))) for name in ("error", "failure", "epsilon")
    )
    many, together = f"{a.releases:,}" if a.releases > 1 else "", rounded_up(a.reported)
    probability = f"probability {'about' if a.tail == 'normal' else 'at most'} {chance} ({a.bound})"
    each = f" Each of the {many} estimates has this error." if many else ""
    lines = [
        f"Best: {listed(tied)}{', alike' if len(tied) > 1 else ''}.",
        *([] if a.least else ["This number suffices; that no smaller one does is not proven."]),
        _drawn(a),
        f"Promised for {a.whom}: at the worst data an error of {error} or more has {probability}.{each}",
        *([f"Assumed, and not promised without: {a.assumed}."] if a.assumed else []),
        f"Estimator ({a.estimator}): {(_WORDS['estimators'] | ESTIMATORS)[a.estimator]}.",
    ]
    if a.variance is not None:
        sampling, noise = map(math.sqrt, a.variance)
        lines.append(
            f"Standard deviation at the worst data: sampling {sampling:.3g}, randomisation {noise:.3g}."
        )
    under = "(epsilon, in nats, if one person's value is replaced)"
    if a.central:
        loses = f" to each of {many} releases, which together lose" if many else "; it loses"
        return [
            *lines,
            f"The curator adds Laplace noise of scale {rounded_up(a.noise)}{loses} {together} {under}.",
        ]
    total = f", and the {many} reports of a person together {together}" if many else ""
    hidden = f", to readers who cannot know who was asked only {rounded_up(a.hidden)}"
    released = f"so does all that is released{hidden if a.hidden < 0.99 * a.reported else ''}"
    return [*lines, f"A report loses {epsilon} to whoever receives it {under}{total}; {released}."]


def _drawn(a: Question) -> str:
    """Return whom to ask."""
    sample, invited = a.sample, sum(a.invited)
    some = f" ({a.response:.0%} answer)" if a.response < 1 else ""
    if isinstance(sample, ClusterDesign):
        asked = f"{sample.take:,} people" if sample.take else "everybody"
        people = f"{invited:,} people" + (
            f", of whom about {sample.people:,} answer" if some else ""
        )
        return f"Draw {sample.chosen:,} of {sample.clusters:,} clusters and ask {asked} in each, {people}."
    if sample.respondents:
        return f"Get {sample.people:,} answers" + (
            f": invite {invited:,} people{some}." if some else "."
        )
    parts = ", ".join(f"{name} {number:,}" for name, number in _allocation(a).items())
    of = f" of {sample.population:,}" if sample.population < MANY else ""
    needed = f" for {sample.people:,} answers{some}" if some else ""
    return f"Ask {invited:,}{of} people{needed}{f': {parts}' if parts else ''}."
