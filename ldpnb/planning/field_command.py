"""``ldpnb kit`` and ``ldpnb estimate``: a saved plan in, a folder for the field and then estimates out."""

import hashlib
from pathlib import Path
from typing import Any

import click

from ldpnb import checks
from ldpnb.checks import UsageError, as_usage
from ldpnb.data.command import reading_options, stated

_FILE = click.Path(dir_okay=False, path_type=Path)
_FORMATS = (".csv", ".json", ".xlsx", ".png", ".svg", ".pdf")
_RECORDED = "A public column beside each report: sex=f,m (repeatable)."
_BY = "A public column: estimates for its values too (repeatable)."
_CLASSES = "Table of those invited, class,invited: weights answers by nonresponse class."


@click.command(short_help="Write what the field needs for a saved plan.")
@click.argument("plan", type=_FILE)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="A new folder."
)
@click.option("--frame", type=_FILE, help="Table of the population, to draw from with --seed.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="A number, chosen in public, that makes the draw repeatable.",
)
@click.option("--by", multiple=True, metavar="COLUMN=VALUES", help=_RECORDED)
@reading_options
def kit(
    plan: Path,
    output: Path,
    frame: Path | None,
    seed: int | None,
    by: tuple[str, ...],
    **options: Any,
) -> None:
    """Write what the field needs for PLAN, a file of `ldpnb plan --save`, into a new folder.

    Whom to ask, a card and a form that randomise with the plan's exact chances, the interviewer's script, what people
    are told, the layout of the data file, and a paragraph on methods. With a table of the population, which has a
    column id and as the design asks stratum or cluster, the sample is drawn.
    """
    from ldpnb.planning.kit.pages import pages, save
    from ldpnb.planning.tables import read_columns
    from ldpnb.surveys.field_plan import FieldPlan
    from ldpnb.surveys.fieldwork import draw

    if (frame is None) != (seed is None):
        missing = "seed" if seed is None else "frame"
        raise UsageError(
            f"{missing} must be given too: a draw takes --frame, whom to draw from, and --seed, a number"
        )
    if output.exists():
        raise UsageError(f"output must be a new folder, got {output}")
    groups = {name: values.split(",") for name, _, values in (word.partition("=") for word in by)}
    with as_usage():
        planned = FieldPlan.load(plan)
        if frame is None or seed is None:
            made = pages(planned, groups)
        else:
            listed = read_columns(frame, "frame", stated(options))
            drawn, list_sum = (
                draw(planned, listed, seed=seed),
                hashlib.sha256(frame.read_bytes()).hexdigest(),
            )
            made = pages(
                planned, groups, drawn=drawn, seed=seed, listed=listed["id"].size, list_sum=list_sum
            )
        save(output, made)
    click.echo(f"{output}: read {output / 'start.md'} first")


@click.command(short_help="Estimate from the reports of a planned survey.")
@click.argument("plan", type=_FILE)
@click.argument("reports", type=_FILE)
@click.option("--by", multiple=True, metavar="COLUMN", help=_BY)
@click.option("--classes", type=_FILE, help=_CLASSES)
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="How often intervals cover, of all labels.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    show_default=True,
)
@click.option(
    "-o",
    "--output",
    type=_FILE,
    help="A table, .csv, .json or .xlsx, or a picture, .png, .svg or .pdf.",
)
@reading_options
def estimate(
    plan: Path,
    reports: Path,
    classes: Path | None,
    level: float,
    style: str,
    output: Path | None,
    **options: Any,
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
            invited = {
                name: int(word) if word.isdecimal() else word
                for name, word in zip(names, numbers, strict=True)
            }
            if len(invited) < len(names):
                raise UsageError(f"classes must name each class once, got {', '.join(names)}")
        checks.open_probability(level, "level")
        estimates = estimation.estimate(
            planned, table, by=by, classes=invited, alpha=round(1 - level, 12)
        )
    show(estimates, style, output, lambda: picture(estimates))
