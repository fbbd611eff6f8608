"""``ldpnb kit``: a plan in, a folder for the field out."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage
from ldpnb.data.command import reading_options, stated

_FILE = click.Path(dir_okay=False, path_type=Path)
_BY = "A public column beside each report: sex=f,m (repeatable)."


@click.command(short_help="Write what the field needs for a saved plan.")
@click.argument("plan", type=_FILE)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A new folder.")
@click.option("--frame", type=_FILE, help="Table of the population, to draw from with --seed.")
@click.option("--seed", type=click.IntRange(0), help="A number, chosen in public, that makes the draw repeatable.")
@click.option("--by", multiple=True, metavar="COLUMN=VALUES", help=_BY)
@reading_options
def kit(plan: Path, output: Path, frame: Path | None, seed: int | None, by: tuple[str, ...], **options: Any) -> None:
    """Write what the field needs for PLAN, a file of `ldpnb plan --save`, into a new folder.

    Whom to ask, a card and a form that randomise with the plan's exact chances, the interviewer's script, what people
    are told, the layout of the data file, and a paragraph on methods. With a table of the population, which has a
    column id and as the design asks stratum or cluster, the sample is drawn.
    """
    from ldpnb.planning.kit.pages import pages
    from ldpnb.planning.tables import read_columns
    from ldpnb.surveys.field_plan import FieldPlan
    from ldpnb.surveys.fieldwork import draw

    if (frame is None) != (seed is None):
        missing = "seed" if seed is None else "frame"
        raise UsageError(f"{missing} must be given too: a draw takes --frame, whom to draw from, and --seed, a number")
    if output.exists():
        raise UsageError(f"output must be a new folder, got {output}")
    groups = {name: values.split(",") for name, _, values in (word.partition("=") for word in by)}
    with as_usage():
        planned = FieldPlan.load(plan)
        if frame is None or seed is None:
            made = pages(planned, groups)
        else:
            listed = read_columns(frame, "frame", stated(options))
            drawn, list_sum = draw(planned, listed, seed=seed), hashlib.sha256(frame.read_bytes()).hexdigest()
            made = pages(planned, groups, drawn=drawn, seed=seed, listed=listed["id"].size, list_sum=list_sum)
        save(output, made)
    click.echo(f"{output}: read {output / 'start.md'} first")


def save(folder: Path, texts: dict[str, str]) -> None:
    """Write all files into a new folder, completely or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".kit-") as work:
        made = Path(work, "kit")
        made.mkdir()
        for name, text in texts.items():
            (made / name).write_text(text, encoding="utf-8", newline="")
        os.rename(made, folder)
