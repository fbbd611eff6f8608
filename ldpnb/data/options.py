"""Command-line options on how to read a file: the fields of `ldpnb.data.reading.Reading`."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

_HELP = {
    "separator": "Character between fields, or tab.",
    "encoding": "Such as utf-8 or cp1252.",
    "decimal": "Decimal mark, a point or a comma.",
    "thousands": "Mark between groups of three digits.",
}


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how to read a file."""
    missing = click.option("--missing", multiple=True, help="Code of a missing entry, k.A. or -9 (repeatable).")
    command = missing(command)
    for name in reversed(_HELP):
        command = click.option(f"--{name}", default="", help=_HELP[name])(command)
    return command


def stated(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options on reading from all options and return them."""
    from ldpnb.data.reading import Reading

    return {field.name: options.pop(field.name) for field in fields(Reading)}
