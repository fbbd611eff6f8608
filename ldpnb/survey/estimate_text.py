"""Estimates in words: a table, warnings, and a paragraph on methods."""

import math
import textwrap
from decimal import Decimal

from ldpnb.checks import shown
from ldpnb.survey.estimation import Estimate, Estimates
from ldpnb.survey.words import ASSUMED, WIDTH, aligned, described, privacy
from ldpnb.words import short


def estimates_text(found: Estimates) -> str:
    """Return estimates as a table, with warnings and a paragraph on methods."""
    blocks = ["\n".join(aligned(_rows(found)))]

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
            f"Columns that were not used: {shown(', '.join(found.unused))}. Weights must be in a "
            "column called weight, and by (--by) names a column of groups."
        )
    blocks += [_methods(found), *found.sample.notes, privacy(found.device)]
    wrapped = [textwrap.fill(block, WIDTH, break_long_words=False) for block in blocks[1:]]
    return "\n\n".join([blocks[0], *wrapped])


def _rows(found: Estimates) -> list[tuple[str, ...]]:
    """Return the rows of the table in words, the head first."""
    interval = f"{_percent(found.level)}% interval"
    head = ["mean of" if found.device.is_of_numbers else "share of"]
    head += ["reports", "estimate", "std. error", "sampling", "randomisation", interval]
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


def _percent(level: float) -> str:
    """Return a level exactly: 99.95 for 0.9995."""
    return f"{(100 * Decimal(repr(level))).normalize():f}"


def _number(number: float) -> str:
    return "" if math.isnan(number) else short(number, 4)


def _interval(row: Estimate) -> str:
    return "" if math.isnan(row.low) else f"{short(row.low, 4)} to {short(row.high, 4)}"


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
        whom = "the people who reported"

    left_out = f" ({found.missing:,} without an answer are left out)" if found.missing else ""
    together = ", for all shares at once (Bonferroni)" if found.simultaneous else ""
    correction = "with" if (sample.drawn > 0).any() else "without"
    beside = ""
    if any(not math.isnan(row.norm_sub) for row in found.rows):
        beside = (
            " Norm-Sub gives the nearest shares that are not negative and add up to 1. It is "
            "biased, and the standard error does not apply to it."
        )
    if any(not math.isnan(row.mle) for row in found.rows):
        beside += " The same is true of MLE, the shares under which the reports are most likely."
    return (
        f"Methods: {number:,.0f} reports{left_out} from {design}. Device: "
        f"{described(found.device)}. Every report was turned into an unbiased estimate of the true "
        f"answer. The estimate is the weighted mean of these, for {whom}. The standard error is "
        f"that of the design, {correction} a finite population correction. It has two parts, from "
        "sampling and from randomisation, whose squares add up. Exact intervals cover the true "
        f"value in at least {_percent(found.level)}% of surveys, and t intervals in about as many"
        f"{together}.{beside} {ASSUMED}"
    )
