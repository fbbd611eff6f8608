"""``ldpnb plan`` and ``ldpnb estimate``: options in, words or a table out."""

import csv
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage, shown

_MECHANISMS = ("Warner", "k-RR", "SUE", "OUE", "unary", "1-bit", "Laplace")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _Words(click.ParamType[list[str]]):
    """Words with commas between them; a word with a comma is put in quotes."""

    name = "A,B,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        return next(csv.reader([value], skipinitialspace=True))


def _device_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that state the device."""
    decorators = [
        click.option("--p", help="Probability of a yes if that is the truth, such as 5/6."),
        click.option("--q", help="Probability of a yes if no is the truth."),
        click.option(
            "--mechanism",
            type=click.Choice(_MECHANISMS, case_sensitive=False),
            help="The mechanism, with --epsilon instead of --p and --q; unary with both.",
        ),
        click.option("--epsilon", type=float, help="Privacy budget of a report."),
        click.option(
            "--values",
            type=_Words(),
            help="The possible answers or their number.  [default: yes,no]",
        ),
        click.option(
            "--range",
            "ends",
            type=(float, float),
            metavar="LOW HIGH",
            help="The range of a number whose mean is asked for.",
        ),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


@click.command(short_help="Plan a survey: sample size, privacy budget or error.")
@click.option("--count", type=int, help="People who report, or clusters drawn.")
@click.option("--error", type=float, help="An error of so much or more shall be rare.")
@click.option("--failure", type=float, help="The probability of such an error.")
@_device_options
@click.option("--population", help="People there are, or 'everyone'.  [default: very many]")
@click.option(
    "--strata",
    type=_FILE,
    help="CSV table of strata: stratum and size, and response and sd if known.",
)
@click.option("--neyman", is_flag=True, help="Neyman's allocation to strata, by their sd.")
@click.option("--clusters", type=int, help="Clusters there are.")
@click.option("--cluster-size", type=int, help="People in each cluster.")
@click.option("--take", type=int, help="People asked in each cluster.  [default: all]")
@click.option("--icc", type=float, help="Intra-cluster correlation.  [default: the worst]")
@click.option("--sd", type=float, help="Standard deviation of the true values.  [default: largest]")
@click.option("--response", type=float, help="Fraction of those invited who report.  [default: 1]")
@click.option("--simultaneous", is_flag=True, help="The error is that of all shares at once.")
def plan(
    ends: tuple[float, float] | None,
    values: list[str] | None,
    population: str | None,
    strata: Path | None,
    response: float | None,
    **options: Any,
) -> None:
    r"""Find what is left out of --count, --epsilon, --error and --failure.

    A share of yes to a question, unless --values or --range says otherwise. By exact laws for
    simple random samples, by the normal law for strata and clusters. If no mechanism is stated, all
    that fit are compared. The last line is the command that estimates from the reports. Exit code 1
    if no mechanism can do it.

    \b
    ldpnb plan --epsilon 1 --error 0.05 --failure 0.05 --population 10000
    ldpnb plan --p 5/6 --q 1/6 --error 0.05 --failure 0.05 --clusters 400 --cluster-size 25 \
        --take 10 --icc 0.05 --response 0.6
    """
    from ldpnb.survey import planning
    from ldpnb.survey.plan_text import plan_text

    with as_usage():
        stated = options | _ends(ends)
        stated["values"] = _values(values)
        stated["population"] = _population(population)
        stated["response"] = 1.0 if response is None else response
        if strata is not None:
            stated |= _planned_strata(strata, population, response)
        found = planning.plan(**stated)
    click.echo(plan_text(found, strata=str(strata)))
    if found.best is None:
        raise SystemExit(1)


@click.command(short_help="Estimate from the reports of a survey.")
@click.argument("table", metavar="REPORTS", type=_FILE)
@_device_options
@click.option("--population", help="People there are, or 'everyone'.  [default: very many]")
@click.option(
    "--strata",
    type=_FILE,
    help="CSV table of strata: stratum and size; with clusters stratum and clusters.",
)
@click.option("--clusters", type=int, help="Clusters there are.")
@click.option(
    "--reports",
    type=int,
    help="How many reports there are, if count is the number of ones of each answer.",
)
@click.option("--missing", multiple=True, help="A word for a missing report, such as NA.")
@click.option("--by", help="A public column: estimates for each of its values too.")
@click.option("--difference", type=_Words(), help="Two values of it, A,B: A minus B.")
@click.option("--level", type=float, default=0.95, help="How often an interval covers.  [0.95]")
@click.option("--simultaneous", is_flag=True, help="Intervals cover all shares at once.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a CSV table.")
def estimate(
    table: Path,
    ends: tuple[float, float] | None,
    values: list[str] | None,
    population: str | None,
    strata: Path | None,
    clusters: int | None,
    difference: list[str] | None,
    as_csv: bool,
    **options: Any,
) -> None:
    r"""Estimate shares or a mean from REPORTS, a CSV table with a column report.

    The columns stratum, cluster, cluster_size and weight say how the sample was drawn, and count
    how many reports a row stands for. An empty report is a missing one.

    \b
    ldpnb estimate reports.csv --p 5/6 --q 1/6 --population 10000 --by sex --difference f,m
    """
    from ldpnb.survey import estimation

    with as_usage():
        stated = options | _ends(ends)
        stated["values"] = _values(values)
        stated["population"] = _population(population)
        stated["clusters"] = clusters
        if difference is not None:
            stated["difference"] = tuple(difference)
        if strata is not None:
            if population is not None or clusters is not None:
                raise UsageError(
                    "population and clusters have no use beside --strata: their numbers are in "
                    "its columns size and clusters"
                )
            stated |= _sizes_of_strata(strata)
        found = estimation.estimate(table, **stated)
    if not as_csv:
        click.echo(str(found))
        return
    rows = [asdict(row) for row in found.rows]
    writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _ends(ends: tuple[float, float] | None) -> dict[str, Any]:
    return {} if ends is None else {"low": ends[0], "high": ends[1]}


def _values(words: list[str] | None) -> Any:
    """Return the answers, or their number if there is one word, a number."""
    if words is not None and len(words) == 1 and words[0].isascii() and words[0].isdecimal():
        return int(words[0][:9])
    return words


def _population(word: str | None) -> Any:
    if word is None or word == "everyone":
        return word
    if not (word.isascii() and word.isdecimal() and len(word) < 16):
        raise UsageError(f"population must be a number or everyone, got {shown(word)}")
    return int(word)


def _planned_strata(strata: Path, population: str | None, response: float | None) -> dict[str, Any]:
    """Return the arguments of a plan that a table of strata states."""
    if population is not None:
        raise UsageError("population has no use beside --strata: its column size has the numbers")
    columns = _strata(strata)
    if "size" not in columns:
        raise UsageError(f"{strata.name} must have a column size, the people in each stratum")
    stated: dict[str, Any] = {"population": _whole(columns["size"])}
    if "response" in columns:
        if response is not None:
            raise UsageError(f"response must be stated once: {strata.name} has such a column")
        stated["response"] = columns["response"]
    if "sd" in columns:
        stated["sds"] = columns["sd"]
    return stated


def _sizes_of_strata(strata: Path) -> dict[str, Any]:
    """Return the numbers of people or clusters that a table of strata states."""
    columns = _strata(strata)
    if "size" not in columns and "clusters" not in columns:
        raise UsageError(f"{strata.name} must have a column size or clusters")
    if "clusters" in columns:
        return {"clusters": _whole(columns["clusters"])}
    return {"population": _whole(columns["size"])}


def _strata(path: Path) -> dict[str, dict[str, float]]:
    """Return the numbers of each stratum in the columns of a table."""
    from ldpnb.survey.tables import read_csv

    table = read_csv(path)
    if "stratum" not in table:
        raise UsageError(f"{path.name} must have a column stratum")
    stratum = table["stratum"]
    if len(stratum.words) < stratum.codes.size or "" in stratum.words:
        raise UsageError(f"{path.name} must name each stratum once in the column stratum")

    names = [stratum.words[code] for code in stratum.codes]
    found: dict[str, dict[str, float]] = {}
    for name in ("size", "clusters", "response", "sd"):
        if name in table:
            numbers = table[name].numbers(name, least=0).tolist()
            found[name] = dict(zip(names, numbers, strict=True))
    return found


def _whole(numbers: dict[str, float]) -> dict[str, Any]:
    return {name: int(number) if number % 1 == 0 else number for name, number in numbers.items()}
