"""Plans in words, with the command that estimates from their reports."""

import csv
import io
import math
import shlex
import textwrap
from collections.abc import Sequence

from ldpnb.checks import shown
from ldpnb.claims import rounded_up
from ldpnb.survey.designs import ClusteredSample, Everyone, SimpleSample, StratifiedSample
from ldpnb.survey.planning import Answer, Plan
from ldpnb.survey.words import ASSUMED, WIDTH, aligned, described, privacy
from ldpnb.words import exact, short

_FEW_CLUSTERS = 30

_QUESTIONS = {
    "count": "Sample size",
    "epsilon": "Smallest privacy budget",
    "error": "Smallest error",
    "failure": "Probability of such an error",
}
_LAWS = {
    "exact": (
        "This bound comes from the exact distribution of the reports for the least favourable "
        "population, so it holds for every population."
    ),
    "normal": (
        "This probability is a normal approximation, with the standard error of the least "
        "favourable population."
    ),
}


def plan_text(plan: Plan, strata: str = "STRATA.csv") -> str:
    """Return a plan, with the command that estimates from its reports as the last line.

    `strata` is the file with the sizes of the strata.
    """
    unit = plan.design.unit if plan.unknown == "count" else plan.unknown
    rows = [("mechanism", unit, "calculation")]
    for answer in plan.answers:
        name = _name(plan, answer.device.mechanism)
        rows.append((name, _found(plan.unknown, answer), answer.law))

    for mechanism, reason in plan.impossible.items():
        rows.append((_name(plan, mechanism), "none", reason))

    lines = [f"{_QUESTIONS[plan.unknown]} for {_design(plan)}.", "", *aligned(rows), ""]

    best = plan.best
    if best is None:
        return "\n".join([*lines, "No mechanism can meet this plan."])

    any_share = " in any of the shares" if plan.simultaneous else ""
    chance = "at most" if best.law == "exact" else "about"
    total = math.sqrt(best.variance.total)
    sampling = math.sqrt(best.variance.sampling)
    randomisation = math.sqrt(best.variance.randomisation)
    blocks = [
        f"Device: {described(best.device)}.",
        _asked(plan, best),
        f"An error of {_up(best.error)} or more{any_share} has probability {chance} "
        f"{rounded_up(best.failure)}. {_LAWS[best.law]}{_roughness(plan, best)}",
        f"The standard error is at most {short(total)}: {short(sampling)} from sampling and "
        f"{short(randomisation)} from randomisation, whose squares add up.",
        privacy(best.device),
        ASSUMED,
        _columns(plan),
    ]
    for block in blocks:
        lines += textwrap.wrap(block, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", estimate_command(plan, best, strata)])


def _name(plan: Plan, mechanism: str) -> str:
    return mechanism if plan.stated["p"] is None else "as stated"


def _found(unknown: str, answer: Answer) -> str:
    value = getattr(answer, unknown)
    return f"{value:,}" if unknown == "count" else _up(value)


def _up(value: float) -> str:
    """Return a number rounded up to four digits, or to a whole number if it is large."""
    return rounded_up(value) if value < 1000 else f"{math.ceil(value - 1e-9 * value):,}"


def _design(plan: Plan) -> str:
    design = plan.design
    if isinstance(design, Everyone):
        return "a survey of everybody, whose result is about these people and nobody else"
    if isinstance(design, ClusteredSample):
        icc = "the least favourable intra-cluster correlation"
        if design.icc is not None:
            icc = f"intra-cluster correlation {exact(design.icc)}"
        return (
            f"a sample from {design.clusters:,} clusters of {design.size:,} people, of whom "
            f"{design.take:,} are asked in each drawn cluster, with {icc}"
        )
    if isinstance(design, StratifiedSample):
        people = sum(design.sizes.values())
        how = "by Neyman's allocation" if design.neyman else "in proportion to size"
        return f"a sample from {people:,} people in {len(design.sizes):,} strata, {how}"
    if math.isinf(design.population):
        return "a simple random sample from a very large population"
    return f"a simple random sample from {design.population:,.0f} people"


def _asked(plan: Plan, best: Answer) -> str:
    """Return whom to draw and to invite: more people than are to report if not all respond."""
    design = plan.design
    if isinstance(design, Everyone):
        return f"{best.count:,} people report."
    if isinstance(design, ClusteredSample):
        asked = best.count * design.take
        reports = ""
        if design.response < 1:
            reports = f", of whom {_percent(design.response)} will respond"
        return (
            f"Draw {best.count:,} clusters and ask {design.take:,} people in each. These are "
            f"{asked:,} people{reports}."
        )
    if isinstance(design, SimpleSample):
        invited = _invited(best.count, design.response)
        if design.response == 1:
            return f"Ask {invited:,} people."
        return (
            f"Invite {invited:,} people to get {best.count:,} reports, if "
            f"{_percent(design.response)} respond."
        )

    parts = []
    total = 0
    for name, wanted in design.allocated(best.count, best.device).items():
        response = design.response[name]
        invited = _invited(wanted, response)
        total += invited
        answer = "" if response == 1 else f" for {wanted:,} reports ({_percent(response)} respond)"
        parts.append(f"{shown(name)} {invited:,}{answer}")
    return f"Invite {total:,} people for {best.count:,} reports: {'; '.join(parts)}."


def _percent(rate: float) -> str:
    return f"{100 * rate:.4g}%"


def _invited(reports: int, response: float) -> int:
    return math.ceil(reports / response - 1e-9)


def _roughness(plan: Plan, best: Answer) -> str:
    if isinstance(plan.design, ClusteredSample) and best.count < _FEW_CLUSTERS:
        return f" With fewer than {_FEW_CLUSTERS} clusters it is rough."
    return ""


def _columns(plan: Plan) -> str:
    design = plan.design
    columns = "the column report"
    if isinstance(design, ClusteredSample):
        columns = "the columns report, cluster and cluster_size"
    if isinstance(design, StratifiedSample):
        columns = "the columns report and stratum"
    return (
        f"Write one row for each report into REPORTS.csv, with {columns}. Then this command "
        "estimates from them:"
    )


def estimate_command(plan: Plan, best: Answer, strata: str = "STRATA.csv") -> str:
    """Return the command that estimates by the same device and design."""
    words = ["ldpnb", "estimate", "REPORTS.csv"]
    device = best.device
    if plan.stated["p"] is None:
        words += ["--mechanism", device.mechanism, "--epsilon", repr(float(device.epsilon))]
    else:
        words += ["--p", str(plan.stated["p"]), "--q", str(plan.stated["q"])]
        if plan.stated["mechanism"] is not None:
            words += ["--mechanism", device.mechanism]

    if device.is_of_numbers:
        words += ["--range", exact(device.low), exact(device.high)]
    values = plan.stated["values"]
    if values is not None:
        words += ["--values", _listed(values)]

    design = plan.design
    if isinstance(design, ClusteredSample):
        words += ["--clusters", str(design.clusters)]
    elif isinstance(design, StratifiedSample):
        words += ["--strata", strata]
    elif isinstance(design, Everyone):
        words += ["--population", "everyone"]
    elif math.isfinite(design.population):
        words += ["--population", str(design.population)]

    if plan.simultaneous:
        words.append("--simultaneous")
    if plan.asked_failure is not None and plan.asked_failure != 0.05:
        words += ["--level", f"{1 - plan.asked_failure:.12g}"]
    return shlex.join(words)


def _listed(values: int | Sequence[str]) -> str:
    """Return the answers or their number as the command line takes them."""
    if isinstance(values, int):
        return str(values)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()
