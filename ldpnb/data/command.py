"""``ldpnb inspect`` and ``ldpnb download``, and the options on how to read a file."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError
from ldpnb.data.reading import Reading

_OPTIONS = (
    click.option("--sheet", default="", help="Name of the sheet of a workbook."),
    click.option(
        "--skip", type=click.IntRange(0), default=0, help="Number of lines above the header."
    ),
    click.option(
        "--footer", type=click.IntRange(0), help="Number of rows below the data, such as totals."
    ),
    click.option("--separator", default="", help="Character between fields, or the word tab."),
    click.option(
        "--encoding",
        default="",
        help="Encoding of the text, such as cp1252 or utf-16.  [default: UTF-8]",
    ),
    click.option(
        "--decimal", default="", help="Decimal mark, a point or a comma.  [default: a point]"
    ),
    click.option("--thousands", default="", help="Character between groups of three digits."),
    click.option(
        "--missing",
        multiple=True,
        help="Entry that stands for a missing answer, such as k.A. or -9 (repeatable). "
        "An empty one says that no other entries do.",
    ),
    click.option(
        "--counts",
        default="",
        help="Column with the number of users in each row, or the word none.",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how to read a file, one for each field of `Reading`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def stated(options: dict[str, Any]) -> Reading:
    """Remove the options on reading from all options, and return what they state."""
    return Reading(**{option.name: options.pop(option.name) for option in fields(Reading)})


@click.command("inspect", short_help="Describe a file and suggest a command to run on it.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("columns", nargs=-1, metavar="[COLUMN]...")
@reading_options
def inspect_file(file: Path, columns: tuple[str, ...], **options: Any) -> None:
    """Describe the columns of FILE, and print the command to run next.

    FILE is delimited text (perhaps compressed as .gz), a workbook (.xlsx), or Parquet. If an entry
    does not fit, the message names its row and the option that helps; nothing is guessed. Nothing
    is written, and nothing leaves this machine.
    """
    from ldpnb.data.inspection import as_options, inspect

    try:
        report = inspect(file, stated(options), columns)
    except ValueError as error:
        raise UsageError(as_options(str(error))) from None
    click.echo(report)


@click.command(short_help="Download the UCI Adult data.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the file.  [env: LDPNB_CACHE]",
)
def download(cache: Path | None) -> None:
    """Download the training data of UCI Adult, and print the path of the file.

    The columns age and work class come with the package. This file has all other columns as well.
    """
    from ldpnb.data.public import fetch

    try:
        click.echo(fetch(cache))
    except OSError as error:
        raise click.ClickException(str(error)) from None
