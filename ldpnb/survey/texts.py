"""Plans and estimates in words, as a report on a survey would have them."""

import math
import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from ldpnb.checks import shown
from ldpnb.survey.designs import (
    ClusteredSample,
    Everyone,
    SimpleSample,
    StratifiedSample,
)
from ldpnb.survey.device import Device
from ldpnb.survey.estimation import Estimate, Estimates
from ldpnb.survey.planning import Answer, Plan

_WIDTH = 98

_QUESTIONS = {
    "count": "Sample size",
    "epsilon": "Smallest privacy budget",
    "error": "Smallest error",
    "failure": "Probability of the error",
}
_LAWS = {
    "exact": "This is the exact distribution of the reports, for the least favourable population.",
    "normal": (
        "This is the normal approximation, with the standard error of the least favourable "
        "population."
    ),
}
_ASSUMED = (
    "All this assumes that all respondents followed the device, and that whether somebody "
    "responded depends neither on the true answer nor on the report."
)


def described(device: Device) -> str:
    """Return what a device is."""
    answers = len(device.answers)
    if device.is_noisy:
        scale = device.scale * device.length
        return (
            f"a number from {device.low:g} to {device.high:g} with Laplace noise of scale "
            f"{scale:.6g}"
        )
    if device.mechanism == "1-bit":
        kind = f"one bit for a number from {device.low:g} to {device.high:g}"
    elif device.is_unary:
        kind = f"unary encoding ({device.mechanism}), a bit for each of {answers:,} answers"
    elif device.mechanism == "k-RR":
        kind = f"k-ary randomised response with {answers:,} answers"
    else:
        kind = "a yes/no question"
    return f"{kind}, p = {device.p:.6g} and q = {device.q:.6g}"


def privacy(device: Device) -> str:
    """Return what a report tells about a respondent."""
    epsilon = device.epsilon
    if math.isinf(epsilon):
        return (
            "Privacy: epsilon = inf. Some report is possible under one true answer and impossible "
            "under another."
        )
    exact = ""
    times = rounded_up(math.exp(epsilon), 3) if epsilon < 6 else f"e^{epsilon:.4g}"
    if device.odds is not None and device.odds.denominator < 1000:
        exact = f"ln({device.odds}) = "
        times = str(device.odds) if device.odds.denominator == 1 else times
    return (
        f"Privacy: epsilon = {exact}{epsilon:.6g} for each report. A report is at most {times} "
        "times as likely under one true answer as under another."
    )


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a positive number with a few significant digits, rounded up, so that it holds.

    >>> rounded_up(0.557711), rounded_up(1.0), rounded_up(0.0)
    ('0.5578', '1', '0')
    """
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{math.ceil(value / unit - 1e-6) * unit:.{digits}g}"


# Plans


def plan_text(plan: Plan, strata: str = "STRATA.csv") -> str:
    """Return a plan, with the command that estimates from its reports as the last line.

    `strata` is the file with the sizes of the strata.
    """
    unit = plan.design.unit if plan.unknown == "count" else plan.unknown
    rows = [("mechanism", unit, "law")]
    for answer in plan.answers:
        rows.append((answer.device.mechanism, _found(plan.unknown, answer), answer.law))
    for mechanism, reason in plan.impossible.items():
        rows.append((mechanism, "none", reason))
    lines = [f"{_QUESTIONS[plan.unknown]} for {_design(plan)}.", "", *_aligned(rows), ""]

    best = plan.best
    if best is None:
        return "\n".join([*lines, "No mechanism can do this."])

    some = "Some share has an" if plan.simultaneous else "An"
    chance = "at most" if best.law == "exact" else "about"
    total = math.sqrt(best.variance.total)
    sampling = math.sqrt(best.variance.sampling)
    randomisation = math.sqrt(best.variance.randomisation)
    blocks = [
        f"Device: {described(best.device)}.",
        _asked(plan, best),
        f"{some} error of {rounded_up(best.error)} or more has probability {chance} "
        f"{rounded_up(best.failure)}. {_LAWS[best.law]}",
        f"Standard error at most {total:.3g}: sampling {sampling:.3g}, randomisation "
        f"{randomisation:.3g}.",
        privacy(best.device),
        _ASSUMED,
        _columns(plan),
    ]
    for block in blocks:
        lines += textwrap.wrap(block, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", estimate_command(plan, best, strata)])


def _found(unknown: str, answer: Answer) -> str:
    value = getattr(answer, unknown)
    return f"{value:,}" if unknown == "count" else rounded_up(value)


def _design(plan: Plan) -> str:
    design = plan.design
    if isinstance(design, Everyone):
        return "everybody, nobody else being meant"
    if isinstance(design, ClusteredSample):
        icc = "the least favourable" if design.icc is None else f"{design.icc:g}"
        return (
            f"a sample of {design.clusters:,} clusters of {design.size:,} people, "
            f"{design.take:,} asked in each, intra-cluster correlation {icc}"
        )
    if isinstance(design, StratifiedSample):
        people = sum(design.sizes.values())
        how = "by Neyman's allocation" if design.neyman else "in proportion to size"
        return f"a sample of {people:,} people in {len(design.sizes):,} strata, {how}"
    if math.isinf(design.population):
        return "a simple random sample of a very large population"
    return f"a simple random sample of {design.population:,.0f} people"


def _asked(plan: Plan, best: Answer) -> str:
    """Return whom to draw and to invite: more people than are to report if not all respond."""
    design = plan.design
    if isinstance(design, Everyone):
        return f"{best.count:,} people report."
    if isinstance(design, ClusteredSample):
        asked = best.count * design.take
        reports = ""
        if design.response < 1:
            reports = f", of whom {design.response:.4g} respond"
        return (
            f"Draw {best.count:,} clusters and ask {design.take:,} people in each: {asked:,} "
            f"people{reports}."
        )
    if isinstance(design, SimpleSample):
        invited = _invited(best.count, design.response)
        if design.response == 1:
            return f"Ask {invited:,} people."
        return (
            f"Invite {invited:,} people, of whom {design.response:.4g} respond: {best.count:,} "
            "reports."
        )

    parts = []
    total = 0
    for name, wanted in design.allocated(best.count, best.device).items():
        response = design.response[name]
        invited = _invited(wanted, response)
        total += invited
        answer = "" if response == 1 else f" for {wanted:,} reports ({response:.4g} respond)"
        parts.append(f"{shown(name)} {invited:,}{answer}")
    return f"Invite {total:,} people for {best.count:,} reports: {'; '.join(parts)}."


def _invited(reports: int, response: float) -> int:
    return math.ceil(reports / response - 1e-9)


def _columns(plan: Plan) -> str:
    design = plan.design
    columns = "a column report"
    if isinstance(design, ClusteredSample):
        columns = "the columns report, cluster and cluster_size"
    if isinstance(design, StratifiedSample):
        columns = "the columns report and stratum"
    return f"To estimate, with a row for each report in REPORTS.csv and {columns}:"


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
        words += ["--range", f"{device.low:.17g}", f"{device.high:.17g}"]
    values = plan.stated["values"]
    if values is not None:
        words += ["--values", str(values) if isinstance(values, int) else ",".join(values)]

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


# Estimates


def estimates_text(found: Estimates) -> str:
    """Return estimates as a table, with warnings and a paragraph on methods."""
    blocks = ["\n".join(_aligned(_rows(found)))]

    warned: dict[str, list[str]] = {}
    for row in found.rows:
        if row.remark:
            warned.setdefault(row.remark, []).append(f"{row.of} {row.group}".strip())
    for remark, names in warned.items():
        few = ", ".join(shown(name) for name in names[:5])
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        blocks.append(f"Warning ({few}{more}): {remark}")
    if found.remark:
        blocks.append(f"Warning: {found.remark}")
    if found.unused:
        blocks.append(
            f"Not used: the columns {shown(', '.join(found.unused))}. Weights must be in a column "
            "weight; --by names a column of groups."
        )
    blocks += [_methods(found), *found.sample.notes, privacy(found.device)]
    wrapped = [textwrap.fill(block, _WIDTH, break_long_words=False) for block in blocks[1:]]
    return "\n\n".join([blocks[0], *wrapped])


def _rows(found: Estimates) -> list[tuple[str, ...]]:
    """Return the rows of the table in words, the head first."""
    interval = f"{100 * found.level:g}% interval"
    head = ["mean of" if found.device.is_of_numbers else "share of"]
    head += ["reports", "estimate", "std. error", "sampling", "device", interval]
    has_groups = any(row.group for row in found.rows)
    has_projected = any(not math.isnan(row.norm_sub) for row in found.rows)
    has_likely = any(not math.isnan(row.mle) for row in found.rows)
    if has_groups:
        head.insert(0, "group")
    if has_projected:
        head.append("Norm-Sub")
    if has_likely:
        head.append("MLE")

    rows = [(*head, "")]
    for row in found.rows:
        words = ["values" if found.device.is_of_numbers else shown(row.of), f"{row.reports:,}"]
        words += [_number(row.estimate), _number(row.standard_error), _number(row.sampling)]
        words += [_number(row.randomisation), _interval(row)]
        if has_groups:
            words.insert(0, shown(row.group) if row.group else "everybody")
        if has_projected:
            words.append(_number(row.norm_sub))
        if has_likely:
            words.append(_number(row.mle))
        rows.append((*words, row.interval))
    return rows


def _number(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.4g}"


def _interval(row: Estimate) -> str:
    return "" if math.isnan(row.low) else f"{row.low:.4g} to {row.high:.4g}"


def _methods(found: Estimates) -> str:
    """Return the paragraph on methods."""
    sample = found.sample
    number = sample.reports
    design = "a simple random sample" if sample.is_simple else "a sample of people"
    if sample.cluster_stratum is not None:
        design = f"{sample.cluster_stratum.size:,} clusters"
    if sample.drawn.size > 1:
        design += f" in {sample.drawn.size:,} strata"

    people = sample.population
    whom = f"the population of {people:,.0f}" if math.isfinite(people) else "the population"
    if people == number:
        design = "everybody"
        whom = "those who reported"

    left_out = f" ({found.missing:,} without an answer left out)" if found.missing else ""
    together = ", for all shares at once (Bonferroni)" if found.simultaneous else ""
    correction = "with" if (sample.drawn > 0).any() else "without"
    beside = ""
    if any(not math.isnan(row.norm_sub) for row in found.rows):
        beside = (
            " Norm-Sub (projection) and MLE (maximum likelihood) give shares that are not negative "
            "and sum to 1. They are biased, and the standard errors are not theirs."
        )
    return (
        f"Methods: {number:,.0f} reports{left_out} from {design}. Device: "
        f"{described(found.device)}. Every report was turned into an unbiased value of the true "
        f"answer. The estimate is their weighted mean, for {whom}. The standard error is that of "
        f"the design, {correction} a finite population correction, and counts the randomisation "
        "once. Its parts are sampling and device; their squares add up. Intervals cover the true "
        f"value in {100 * found.level:g}% of surveys{together}.{beside} {_ASSUMED}"
    )


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of words in columns: the first and the last to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        inner: list[Any] = []
        for word, width in zip(row[1:-1], widths[1:-1], strict=True):
            inner.append(word.rjust(width))
        lines.append("  ".join([row[0].ljust(widths[0]), *inner, row[-1]]).rstrip())
    return lines
