"""``ldpnb audit``: a published table in, verdicts out."""

import csv
import io
from pathlib import Path

import click

from ldpnb.checks import UsageError, shown


@click.command("audit", short_help="Judge a published table of losses or errors row by row.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def audit_table(file: Path) -> None:
    """Judge a table, a CSV file with the columns mechanism, claimed_epsilon or claimed_error, and parameters.

    A mechanism is k-RR, OUE, SUE, subset selection or signs with the parameters epsilon and domain_size, or a class
    such as UnaryEncoding with its own (p, q, domain_size). claimed_error is users times the mean squared error of all
    unbiased frequencies of a fixed population together. Exit 1 if a row does not hold.
    """
    from ldpnb.data.opening import opened
    from ldpnb.guides.published import judged

    try:
        with opened(file) as stream:
            found = list(judged(csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))))
    except UsageError:
        raise
    except (ValueError, csv.Error) as error:
        raise UsageError(f"{shown(str(file))} is not a CSV file: {shown(str(error))}") from None
    for parts, _ in found:
        click.echo("  ".join(f"{name} {text}" for name, text in parts.items()))
    if not all(holds for _, holds in found):
        raise SystemExit(1)
