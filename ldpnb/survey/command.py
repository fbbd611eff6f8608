"""``ldpnb plan`` and ``ldpnb estimate``: options in, words or a table out."""

import csv
import sys
from collections.abc import Callable
from dataclasses import astuple, fields
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
        try:
            return next(csv.reader([value], skipinitialspace=True))
        except csv.Error:
            self.fail(f"expected words with commas between them, got {shown(value)}", param, ctx)


def _device_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that state the device."""
    decorators = [
        click.option(
            "--p", help="Probability that a user whose answer is yes reports yes, such as 5/6."
        ),
        click.option("--q", help="Probability that a user whose answer is no reports yes."),
        click.option(
            "--mechanism",
            type=click.Choice(_MECHANISMS, case_sensitive=False),
            help="Name of the mechanism: unary needs --p and --q; SUE, OUE and Laplace need "
            "--epsilon; the others take either.",
        ),
        click.option("--epsilon", type=float, help="Privacy budget of a report, in nats."),
        click.option(
            "--values",
            type=_Words(),
            help="The possible answers, or their number.  [default: yes,no]",
        ),
        click.option(
            "--range",
            "ends",
            type=(float, float),
            metavar="LOW HIGH",
            help="Estimate the mean of a number that lies in this range.",
        ),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


_population_option = click.option(
    "--population",
    help="Number of people in the population, or the word everyone if the result is about the "
    "people who report and nobody else.  [default: very many]",
)


@click.command(short_help="Plan a survey: sample size, privacy budget or error.")
@click.option(
    "--count", type=int, help="Number of people who report, or of clusters that are drawn."
)
@click.option(
    "--error", type=float, help="Size of error that counts as a failure, in the unit of the result."
)
@click.option("--failure", type=float, help="Largest probability of a failure that you accept.")
@_device_options
@_population_option
@click.option(
    "--strata",
    type=_FILE,
    help="CSV table with the columns stratum and size, and if you like response and sd.",
)
@click.option(
    "--neyman", is_flag=True, help="Divide the reports among the strata by Neyman's allocation."
)
@click.option("--clusters", type=int, help="Number of clusters in the population.")
@click.option("--cluster-size", type=int, help="Number of people in each cluster.")
@click.option(
    "--take", type=int, help="Number of people who are asked in each drawn cluster.  [default: all]"
)
@click.option(
    "--icc", type=float, help="Intra-cluster correlation.  [default: the least favourable]"
)
@click.option(
    "--sd",
    type=float,
    help="Standard deviation of the true values.  [default: the largest possible]",
)
@click.option(
    "--response", type=float, help="Fraction of the invited people who report.  [default: 1]"
)
@click.option(
    "--simultaneous", is_flag=True, help="Count an error in any of the shares as a failure."
)
def plan(
    ends: tuple[float, float] | None,
    values: list[str] | None,
    population: str | None,
    strata: Path | None,
    response: float | None,
    **options: Any,
) -> None:
    """Compute the one of --count, --epsilon, --error and --failure that you leave out.

    The survey estimates the share of people who would say yes to a question. With --values it
    estimates the share of each answer, and with --range the mean of a number. A plan with strata,
    with clusters, or with Laplace noise in a sample uses the normal approximation; all others use
    the exact distribution of the reports. Without a mechanism, all mechanisms that fit are
    compared. The last line printed is the command that estimates from the reports. The exit code is
    1 if no mechanism can meet the plan.

    \b
    ldpnb plan --epsilon 1 --error 0.05 --failure 0.05 --population 10000
    ldpnb plan --p 5/6 --q 1/6 --error 0.05 --failure 0.05 --clusters 400 \\
        --cluster-size 25 --take 10 --icc 0.05 --response 0.6
    """  # noqa: D301  # Click wants the character itself
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
@_population_option
@click.option(
    "--strata",
    type=_FILE,
    help="CSV table with the columns stratum and size, or stratum and clusters.",
)
@click.option("--clusters", type=int, help="Number of clusters in the population.")
@click.option(
    "--reports",
    type=int,
    help="Number of reports, if the table has only the number of ones for each answer, in its "
    "column count.",
)
@click.option(
    "--missing",
    multiple=True,
    help="Word that stands for a missing report, such as NA (repeatable).",
)
@click.option("--by", help="Public column of groups, each of which gets its own estimates.")
@click.option(
    "--difference",
    type=_Words(),
    help="Two groups of that column: estimate the first minus the second.",
)
@click.option(
    "--level",
    type=float,
    default=0.95,
    help="Probability that an interval covers the truth.  [default: 0.95]",
)
@click.option("--simultaneous", is_flag=True, help="Let the intervals cover all shares at once.")
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
    """Estimate shares or a mean from REPORTS, a CSV table with a column named report.

    The columns stratum, cluster, cluster_size and weight say how the sample was drawn. The column
    count says how many reports a row stands for. An empty report counts as missing.

    \b
    ldpnb estimate reports.csv --p 5/6 --q 1/6 --population 10000 --by sex --difference f,m
    """  # noqa: D301  # Click wants the character itself
    from ldpnb.data.messages import printable
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
                    "population and clusters must not be given with --strata, whose columns size "
                    "and clusters have these numbers"
                )
            stated |= _sizes_of_strata(strata)
        found = estimation.estimate(table, **stated)
    if not as_csv:
        click.echo(str(found))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([field.name for field in fields(estimation.Estimate)])
    for row in found.rows:
        entries = astuple(row)
        writer.writerow([printable(e) if isinstance(e, str) else e for e in entries])


def _ends(ends: tuple[float, float] | None) -> dict[str, Any]:
    return {} if ends is None else {"low": ends[0], "high": ends[1]}


def _values(words: list[str] | None) -> Any:
    """Return the answers, or their number if there is one word, a number."""
    if words is not None and len(words) == 1 and words[0].isascii() and words[0].isdecimal():
        if len(words[0]) > 9:
            raise UsageError(f"values must be words or their number, got {shown(words[0])}")
        return int(words[0])
    return words


def _population(word: str | None) -> Any:
    if word is None or word == "everyone":
        return word
    if not (word.isascii() and word.isdecimal() and len(word) < 16):
        raise UsageError(f"population must be a whole number or everyone, got {shown(word)}")
    return int(word)


def _planned_strata(strata: Path, population: str | None, response: float | None) -> dict[str, Any]:
    """Return the arguments of a plan that a table of strata states."""
    if population is not None:
        raise UsageError(
            "population must not be given with --strata, whose column size has the numbers"
        )
    columns = _strata(strata)
    if "size" not in columns:
        raise UsageError(
            f"{shown(strata.name)} must have a column size with the number of people in each "
            "stratum"
        )
    stated: dict[str, Any] = {"population": _whole(columns["size"])}
    if "response" in columns:
        if response is not None:
            raise UsageError(
                f"response must be given only once, but {shown(strata.name)} has a column response"
            )
        stated["response"] = columns["response"]
    if "sd" in columns:
        stated["sds"] = columns["sd"]
    return stated


def _sizes_of_strata(strata: Path) -> dict[str, Any]:
    """Return the numbers of people or clusters that a table of strata states."""
    columns = _strata(strata)
    if "size" not in columns and "clusters" not in columns:
        raise UsageError(f"{shown(strata.name)} must have a column called size or clusters")
    if "clusters" in columns:
        return {"clusters": _whole(columns["clusters"])}
    return {"population": _whole(columns["size"])}


def _strata(path: Path) -> dict[str, dict[str, float]]:
    """Return the numbers of each stratum in the columns of a table."""
    from ldpnb.survey.tables import read_csv

    table = read_csv(path)
    if "stratum" not in table:
        raise UsageError(f"{shown(path.name)} must have a column called stratum")
    stratum = table["stratum"]
    if len(stratum.words) < stratum.codes.size or "" in stratum.words:
        raise UsageError(f"{shown(path.name)} must name each stratum once in the column stratum")

    names = [stratum.words[code] for code in stratum.codes]
    found: dict[str, dict[str, float]] = {}
    for name in ("size", "clusters", "response", "sd"):
        if name in table:
            numbers = table[name].numbers(name, least=0).tolist()
            found[name] = dict(zip(names, numbers, strict=True))
    return found


def _whole(numbers: dict[str, float]) -> dict[str, Any]:
    return {name: int(number) if number % 1 == 0 else number for name, number in numbers.items()}
