"""``ldpnb plan``: options in, a plan out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage
from ldpnb.data.command import reading_options, stated

Command = Callable[..., None]


def whole(text: str) -> int:
    """Read a whole number, also written 1e6 or 50_000."""
    try:
        number = float(text)
        if number != int(number):
            raise ValueError
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is not a whole number") from None
    return int(number)


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.3,0.7") from None


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split(","))


_COUNT = click.option(
    "--count", "--users", type=whole, metavar="INTEGER", help="People who answer, or clusters that are drawn."
)
_EPSILON = click.option(
    "--epsilon", type=float, help="Privacy budget of a report, of a curator's releases or of a secret sample, nats."
)
_ERROR = click.option("--error", type=float, help="The estimate shall be off by less than this ...")
_FAILURE = click.option("--failure", type=float, help="... except with this probability.")
_BINARY = click.option("--binary", is_flag=True, help="Values are the ends of the range only.")
_RANGE = click.option(
    "--range", "ends", nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Where values lie."
)
_POPULATION = click.option(
    "--population", type=whole, metavar="INTEGER", help="People there are; very many if left out."
)
_SD = click.option("--sd", type=float, help="Standard deviation of the values; the worst if left out.")
_TAIL = click.option(
    "--tail", type=click.Choice(["guaranteed", "normal"]), default="guaranteed", show_default=True,
    help="A law or bound that holds for all data, or the normal law, an approximation.",
)  # fmt: skip
_OUTPUT = (
    click.option("--format", "style", type=click.Choice(["text", "csv", "json", "xlsx"]), default="text",
                 show_default=True, help="Output."),
    click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file for it."),
)  # fmt: skip
_DESIGN = (
    click.option("--design", type=click.Choice(["everyone", "simple", "strata", "clusters"]), default="everyone",
                 show_default=True, help="Who is asked: everybody who answers, or a random sample of a population, of "
                 "each stratum, or of clusters."),
    _POPULATION,
    _SD,
    click.option("--strata", type=click.Path(dir_okay=False), help="Table of the strata: stratum,size[,sd]."),
    click.option("--allocation", type=click.Choice(["proportional", "neyman"]), default="proportional",
                 show_default=True, help="Of the sample to strata: by size, or for the least variance."),
    click.option("--clusters", type=whole, metavar="INTEGER", help="Clusters there are."),
    click.option("--cluster-size", type=float, metavar="NUMBER", help="People in each, or their mean number."),
    click.option("--size-sd", type=float, default=0.0, help="Standard deviation of the clusters' sizes."),
    click.option("--take", type=whole, metavar="INTEGER", help="People asked in each cluster drawn; everybody if left "
                 "out."),
    click.option("--icc", type=float, help="Intra-cluster correlation; the worst if left out."),
    click.option("--response", type=float, default=1.0, show_default=True, help="Share of those asked who answer."),
)  # fmt: skip
_SHARED = (
    click.option("--mechanism", default="", metavar="NAME", help="Plan for this one only, such as 1-bit, k-RR or "
                 "'central Laplace', a trusted curator's."),
    click.option("--secret", is_flag=True, help="Nobody who sees what is released can know who was asked; epsilon is "
                 "that of all that is released."),
    click.option("--releases", type=whole, metavar="INTEGER", default=1, show_default=True,
                 help="Estimates from one and the same sample; people report as often."),
    _TAIL,
    *_OUTPUT,
)  # fmt: skip
_SAVING = (
    click.option("--save", type=click.Path(dir_okay=False), help="Keep the plan in this file, for `ldpnb estimate`."),
    click.option(
        "--device", type=click.Choice(["die", "ten-sided die", "two dice", "cards", "spinner", "form"]), default="form",
        show_default=True, help="What randomises in the field; the saved plan has its own probabilities.",
    ),
    click.option("--question", default="", help="The question as it will be asked."),
)  # fmt: skip
_WANTED = (_COUNT, _EPSILON, _ERROR, _FAILURE)


def _with(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds options, to be shown in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.group(
    "plan", short_help="Plan a collection: people, budget or error.", context_settings={"max_content_width": 110}
)
def plan() -> None:
    """Compute what is left out of count, epsilon, error and failure, for every mechanism and the design of a survey.

    Give all but one. Exit code 1 if no mechanism can do it.
    """


@plan.command(short_help="Shares of the people who hold each value.")
@_with(*_WANTED)
@click.option("--values", type=whole, metavar="INTEGER", default=2, help="Number of values that a person may hold.")
@click.option("--simultaneous", is_flag=True, help="The error of all shares at once; otherwise of any one share.")
@click.option("--labels", default="", metavar="NAMES", help="Names of the values, a,b,c, for a saved plan.")
@_with(*_DESIGN, *_SHARED, *_SAVING)
@reading_options
def frequency(**options: Any) -> None:
    """Plan an estimate of the shares of people who hold each value."""
    from ldpnb.planning.questions import Frequency

    _answer(Frequency, options)


@plan.command(short_help="A mean of values in a known range.")
@_with(*_WANTED, _RANGE, _BINARY, *_DESIGN, *_SHARED, *_SAVING)
@reading_options
def mean(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of a mean of values in a known range."""
    from ldpnb.planning.questions import Mean

    _answer(Mean, options | {"low": ends[0], "high": ends[1]})


@plan.command(short_help="The gap between the means of two groups.")
@_with(*_WANTED)
@click.option("--shares", type=numbers, metavar="NUMBERS", help="Share of people in each group.  [default: 0.5,0.5]")
@click.option("--sizes", type=_sizes, metavar="NUMBERS", help="People in each group, which gives the count.")
@_with(_RANGE, *_DESIGN[:2], *_SHARED)
def gap(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of the gap between the means of two groups, when the group is sensitive too."""
    from ldpnb.planning.questions import Gap

    groups = {name: value for name in ("shares", "sizes") if (value := options.pop(name)) is not None}
    if len(groups) == 2:
        raise UsageError("give the shares or the sizes of the groups, not both")
    _answer(Gap, options | groups | {"low": ends[0], "high": ends[1]})


def _answer(kind: Callable[..., Any], options: dict[str, Any]) -> None:
    from ldpnb.planning import plans, saving

    style, output, path = (options.pop(name, None) for name in ("style", "output", "save"))
    keeping: dict[str, Any] = {name: options.pop(name) for name in ("device", "question") if name in options}
    if labels := options.pop("labels", ""):
        keeping["labels"] = tuple(label.strip() for label in labels.split(","))
    with as_usage():
        found = plans.plan(kind(design=_design(options), **options))
        kept = saving.of_plan(found, **keeping) if path else None
    if kept is not None:
        kept.save(path)
        chances = f"{kept.device}, {kept.p} for the truth, " if kept.p else ""
        promise = f"an error of {kept.error:.4g} or more with probability {kept.failure:.4g} at most ({kept.bound})"
        click.echo(f"saved in {path}: {chances}epsilon {kept.epsilon:.6g}; {promise}", err=True)
    _write({"text": str, "json": plans.as_json, "csv": plans.as_csv, "xlsx": plans.as_xlsx}, found, style, output)
    if found.best is None:
        raise SystemExit(1)


def _write(styles: dict[str, Callable[[Any], Any]], found: Any, style: str, output: Path | None) -> None:
    """Show an answer, or write it to a file, in the format that its name tells unless one is asked for."""
    from ldpnb.writing import write

    if output is None and style == "xlsx":
        raise UsageError("output must name a file for format xlsx, got none")
    if output is None:
        click.echo(styles[style](found))
        return
    told = output.suffix[1:] if style == "text" and output.suffix[1:] in styles else style
    content = styles[told](found)
    write(output, content if isinstance(content, bytes) else f"{content}\n".encode())


def _design(options: dict[str, Any]) -> Any:
    """Take the words of a design out of all options, and return it."""
    from ldpnb.data.reading import Reading
    from ldpnb.planning import designs, tables
    from ldpnb.planning.reports import MANY

    words = ("population", "sd", "strata", "clusters", "cluster_size", "take", "icc", "size_sd", "allocation")
    given = {name: options.pop(name, None) for name in words}
    reading = stated(options) if "decimal" in options else Reading()
    name = options.pop("design")
    uses = {"everyone": (), "simple": words[:2], "strata": ("strata", "allocation"), "clusters": (*words[3:8], "sd")}
    for word, value in given.items():
        if value not in (None, 0.0, "proportional") and word not in uses[name]:
            raise ValueError(f"design {name} has no {word.replace('_', '-')}, got {word}={value!r}")
    needs = {"strata": ("strata",), "clusters": ("clusters", "cluster_size")}.get(name, ())
    for word in needs:
        if given[word] is None:
            raise ValueError(f"design {name} needs {word.replace('_', '-')}, got none")
    if name == "everyone":
        return designs.Everyone()
    if name == "simple":
        return designs.SimpleDesign(given["population"] or MANY, given["sd"])
    if name == "strata":
        return tables.load_strata(given["strata"], allocation=given["allocation"], reading=reading)
    given["size"] = given.pop("cluster_size")
    return designs.ClusterDesign(**{word: given[word] for word in ("clusters", "size", "take", "icc", "sd", "size_sd")})


@plan.command(short_help="Several means on one budget.")
@_with(_COUNT, _EPSILON, _ERROR, _FAILURE)
@click.option(
    "--weights", type=numbers, required=True, metavar="NUMBERS", help="Importance of each question, such as 1,1,1,4."
)
@click.option("--together", is_flag=True, help="The chance that any of the errors is larger.")
@click.option("--mechanism", type=click.Choice(["1-bit", "local Laplace"]), default="1-bit", show_default=True)
@_with(_BINARY, _POPULATION, _SD, _TAIL, *_OUTPUT)
def questions(style: str, output: Path | None, error: float | None, population: int | None, sd: float | None,
              **options: Any) -> None:  # fmt: skip
    """Plan several questions on one budget: everybody answers all, or one each that is drawn at random.

    Give --count or --error, and the rest. Budgets of questions that one person answers add up. A curator does better to
    ask everybody everything: the noise is the same and the sample larger.
    """
    from ldpnb.planning.designs import SimpleDesign
    from ldpnb.planning.reports import MANY
    from ldpnb.planning.several import Several

    with as_usage():
        missing = [name for name in ("epsilon", "failure") if options[name] is None]
        if missing or (options["count"] is None) == (error is None):
            raise ValueError(f"{missing[0] if missing else 'one of count and error'} must be given")
        options["count"] = options["count"] or 2 * len(options["weights"])
        several = Several(design=SimpleDesign(population or MANY, sd), **options)
        found = several if error is None else several.for_error(error)
        _write(_tables(found.rows()), found, style, output)


@plan.command(short_help="A test for a gap between two public groups.")
@_with(_COUNT)
@click.option("--gap", type=float, help="Between the means, values in [0, 1].")
@click.option("--power", type=float, help="Chance to find it.")
@_with(_EPSILON)
@click.option("--level", type=float, default=0.05, show_default=True, help="Chance to find one that is not there.")
@click.option("--share", type=float, default=0.5, show_default=True, help="Share of answers from the first group.")
@click.option("--mechanism", type=click.Choice(["1-bit", "local Laplace"]), default="1-bit", show_default=True)
@_with(_SD, _BINARY, *_OUTPUT)
def power(style: str, output: Path | None, **options: Any) -> None:
    """Plan a two-sided test for a gap between the means of two public groups, with the reports' noise.

    Leave out one of --count, --gap, --power and --epsilon.
    """
    from ldpnb.planning.power import Power

    with as_usage():
        found = Power(**options).completed()
        _write(_tables([found.to_dict()]), found, style, output)


def _tables(rows: list[dict[str, Any]]) -> dict[str, Callable[[Any], Any]]:
    """Return how rows are written in each format."""
    import io

    import pandas as pd

    def workbook(found: Any) -> bytes:
        from ldpnb.checks import needed_for

        buffer = io.BytesIO()
        with needed_for("an Excel file"):
            pd.DataFrame(rows).to_excel(buffer, index=False)
        return buffer.getvalue()

    frame = pd.DataFrame(rows)
    return {
        "text": str,
        "csv": lambda found: frame.to_csv(index=False).rstrip(),
        "json": lambda found: frame.to_json(orient="records", indent=1),
        "xlsx": workbook,
    }
