"""``ldpnb inspect`` and ``ldpnb download``, and the options on how to read a file that other commands take too."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import as_usage
from ldpnb.data.reading import Reading


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how to read a file."""
    kinds: dict[Any, Any] = {
        None: {"type": click.IntRange(0)},
        False: {"is_flag": True},
        (): {"multiple": True},
    }
    for option in reversed(fields(Reading)):
        meaning, rule = option.metadata["meaning"], option.metadata["rule"]
        if rule and isinstance(option.default, str):
            meaning = f"{meaning[:-1]}: {rule}."
        meaning += " (repeatable)" if option.default == () else ""
        kind = kinds.get(option.default, {"default": option.default})
        command = click.option(
            f"--{option.name.replace('_', '-')}", option.name, help=meaning, **kind
        )(command)
    return command


def stated(options: dict[str, Any]) -> Reading:
    """Remove the options on reading from all options, and return what they state."""
    return Reading(**{option.name: options.pop(option.name) for option in fields(Reading)})


@click.command("inspect", short_help="Describe a file of your own, and what to run on it.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@reading_options
def inspect_file(file: Path, **options: Any) -> None:
    """Show how a file is read, what each of its columns seems to hold, and the command to run next.

    What is not stated is found where there is one reading, and asked where there are two. Nothing is written, and
    nothing leaves this machine.
    """
    from ldpnb.data.inspection import UNANSWERED, inspect

    with as_usage():
        report = inspect(file, stated(options))
    click.echo(report)
    if report.endswith(UNANSWERED):
        raise SystemExit(2)


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
