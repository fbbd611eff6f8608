"""``ldpnb estimate``: a plan and a file of reports in, estimates out."""

from pathlib import Path
from typing import Any

import click

from ldpnb import checks
from ldpnb.checks import UsageError, as_usage
from ldpnb.data.command import reading_options, stated

_FILE = click.Path(dir_okay=False, path_type=Path)
_FORMATS = (".csv", ".json", ".xlsx", ".png", ".svg", ".pdf")
_BY = "A public column: estimates for its values too (repeatable)."
_CLASSES = "Table of those invited, class,invited: weights answers by nonresponse class."


@click.command(short_help="Estimate from the reports of a planned survey.")
@click.argument("plan", type=_FILE)
@click.argument("reports", type=_FILE)
@click.option("--by", multiple=True, metavar="COLUMN", help=_BY)
@click.option("--classes", type=_FILE, help=_CLASSES)
@click.option("--level", type=float, default=0.95, show_default=True, help="How often intervals cover, of all labels.")
@click.option("--format", "style", type=click.Choice(["text", "csv", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=_FILE, help="A table, .csv, .json or .xlsx, or a picture, .png, .svg or .pdf.")
@reading_options
def estimate(
    plan: Path, reports: Path, classes: Path | None, level: float, style: str, output: Path | None, **options: Any
) -> None:
    """Estimate what PLAN, a file of `ldpnb plan --save`, was made for, from a table of REPORTS.

    The table has a column report, and as the design asks stratum, cluster and cluster_size; of a curator one row with
    the release. Reports that the plan's device cannot produce, or that nobody was asked for, are refused, and then
    nothing is written.
    """
    from ldpnb.planning.estimate_figure import picture
    from ldpnb.planning.output import show
    from ldpnb.planning.tables import read_columns
    from ldpnb.surveys import estimation
    from ldpnb.surveys.field_plan import FieldPlan
    from ldpnb.surveys.fieldwork import column

    if output is not None and output.suffix not in _FORMATS:
        raise UsageError(f"output must end in {', '.join(_FORMATS)}, got {output}")
    with as_usage():
        by, planned, invited = options.pop("by"), FieldPlan.load(plan), None
        table = read_columns(reports, "reports", stated(options))
        if classes is not None:
            listed = read_columns(classes, "classes")
            names, numbers = (column(listed, name).tolist() for name in ("class", "invited"))
            invited = {name: int(word) if word.isdecimal() else word for name, word in zip(names, numbers, strict=True)}
            if len(invited) < len(names):
                raise UsageError(f"classes must name each class once, got {', '.join(names)}")
        checks.open_probability(level=level)
        estimates = estimation.estimate(planned, table, by=by, classes=invited, alpha=round(1 - level, 12))
    show(estimates, style, output, lambda: picture(estimates))
