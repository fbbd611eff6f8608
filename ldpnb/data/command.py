"""``ldpnb inspect`` and ``ldpnb download``, and the options on how to read a file."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import as_usage
from ldpnb.data.reading import Reading

_OPTIONS = (
    click.option("--sheet", default="", help="Sheet of a workbook."),
    click.option("--skip", type=click.IntRange(0), default=0, help="Lines above the header."),
    click.option("--footer", type=click.IntRange(0), help="Rows below the data."),
    click.option("--separator", default="", help="Mark between fields: one character, or tab."),
    click.option("--encoding", default="", help="Encoding of text, if not UTF-8: cp1252, utf-16."),
    click.option("--decimal", default="", help="Decimal mark: a point (the default) or a comma."),
    click.option("--thousands", default="", help="Mark between groups of three digits."),
    click.option(
        "--missing",
        multiple=True,
        help="Entry that stands for no answer, such as k.A. or -9 (repeatable). "
        "An empty one says that no other code does.",
    ),
    click.option("--counts", default="", help="Column with the number of users of a row, or none."),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how to read a file, one for each field of `Reading`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def stated(options: dict[str, Any]) -> Reading:
    """Remove the options on reading from all options, and return what they state."""
    return Reading(**{option.name: options.pop(option.name) for option in fields(Reading)})


@click.command("inspect", short_help="Describe a file of your own, and what to run on it.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("columns", nargs=-1, metavar="[COLUMN]...")
@reading_options
def inspect_file(file: Path, columns: tuple[str, ...], **options: Any) -> None:
    """Show the columns of FILE, what must be stated of them, and the command to run next.

    FILE is delimited text, perhaps packed as .gz, a workbook (.xlsx), or .parquet. Nothing is guessed: what does not
    fit is named with its row and the option that helps. Nothing is written, and nothing leaves this machine.
    """
    from ldpnb.data.inspection import inspect

    with as_usage():
        report = inspect(file, stated(options), columns)
    click.echo(report)


@click.command(short_help="Fetch the UCI Adult data.")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for it.  [env: LDPNB_CACHE]",
)
def download(cache: Path | None) -> None:
    """Fetch the training split of UCI Adult, whose age and work class are built in, and print the file's path."""
    from ldpnb.data.public import fetch

    try:
        click.echo(fetch(cache))
    except OSError as error:
        raise click.ClickException(str(error)) from None
