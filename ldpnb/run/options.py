"""What options of several commands have in common."""

import click


def pairs(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return the values of an option ``NAME=VALUE`` that can be repeated, by their names."""
    given: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"expected name=value, got {text!r}")
        if name in given:
            raise click.BadParameter(f"{name} is given twice")
        given[name] = value
    return given
