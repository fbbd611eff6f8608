"""``ldpnb plan``: options in, a plan out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage

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


def names(context: click.Context, option: click.Parameter, text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _number(*flags: str, **about: Any) -> Callable[[Any], Any]:
    return click.option(*flags, type=whole, metavar="INTEGER", **about)


_COUNT = _number("--count", help="People who answer, or clusters that are drawn.")
_EPSILON = click.option("--epsilon", type=float, help="Privacy budget of a report, or of a curator's releases, nats.")
_WANTED = (
    _COUNT,
    _EPSILON,
    click.option("--error", type=float, help="The estimate shall be off by less than this ..."),
    click.option("--failure", type=float, help="... except with this probability."),
)
_BINARY = click.option("--binary", is_flag=True, help="Values are the ends of the range only.")
_RANGE = click.option(
    "--range", "ends", nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Where values lie."
)
_POPULATION = _number("--population", help="People there are; very many if left out.")
_SD = click.option("--sd", type=float, help="Standard deviation of the values; the worst if left out.")
_OUTPUT = (
    click.option("--format", "style", type=click.Choice(["text", "csv", "json", "xlsx"]), default="text",
                 show_default=True, help="Output."),
    click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file for it."),
)  # fmt: skip
_DESIGNS = {
    "everyone": (),
    "simple": ("population", "sd"),
    "strata": ("strata", "allocation"),
    "clusters": ("clusters", "cluster_size", "take", "icc", "sd", "size_sd"),
}
_NEEDED = {"strata": ("strata",), "clusters": ("clusters", "cluster_size")}
_DESIGN = (
    click.option("--design", type=click.Choice([*_DESIGNS]), default="everyone", show_default=True, help="Who is "
                 "asked: everybody who answers, or a random sample of a population, of each stratum, or of clusters."),
    _POPULATION,
    _SD,
    click.option("--strata", type=click.Path(dir_okay=False), help="Table of the strata: stratum,size[,sd]."),
    click.option("--allocation", type=click.Choice(["proportional", "neyman"]), help="Of the sample to strata: "
                 "by size, or for the least variance.  [default: proportional]"),
    _number("--clusters", help="Clusters there are."),
    click.option("--cluster-size", type=float, metavar="NUMBER", help="People in each, or their mean number."),
    click.option("--size-sd", type=float, help="Standard deviation of the clusters' sizes."),
    _number("--take", help="People asked in each cluster drawn; everybody if left out."),
    click.option("--icc", type=float, help="Intra-cluster correlation; the worst if left out."),
    click.option("--response", type=float, default=1.0, show_default=True, help="Share of those asked who answer."),
)  # fmt: skip
_SHARED = (
    click.option("--mechanism", default="", metavar="NAME", help="Plan for this one only, such as 1-bit, k-RR or "
                 "'central Laplace', a trusted curator's."),
    _number("--releases", default=1, show_default=True, help="Estimates from one and the same sample; people report "
            "as often."),
    click.option("--tail", type=click.Choice(["guaranteed", "normal"]), default="guaranteed", show_default=True,
                 help="A law or bound that holds for all data, or the normal law, an approximation."),
    *_OUTPUT,
)  # fmt: skip
_FIELD = (
    _number("--questions", default=1, show_default=True, help="Questions that share the budget: everybody answers "
            "all, or one each (design simple)."),
    click.option("--save", type=click.Path(dir_okay=False), help="Keep the plan in this file, for `ldpnb kit` and "
                 "`ldpnb estimate`."),
    click.option("--device", type=click.Choice(["die", "ten-sided die", "two dice", "cards", "spinner", "form"]),
                 default="form", show_default=True, help="What randomises in the field; the saved plan has its own "
                 "probabilities."),
    click.option("--question", default="", help="The question as it will be asked."),
)  # fmt: skip


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
@_with(*_WANTED, _number("--values", default=2, help="Number of values that a person may hold."))
@click.option("--simultaneous", is_flag=True, help="The error of all shares at once; otherwise of any one share.")
@click.option(
    "--labels", default="", metavar="NAMES", callback=names, help="Names of the values, a,b,c, in a saved plan."
)
@_with(*_DESIGN, *_SHARED, *_FIELD)
def frequency(**options: Any) -> None:
    """Plan an estimate of the shares of people who hold each value."""
    from ldpnb.planning.questions import Frequency

    _answer(Frequency, options)


@plan.command(short_help="A mean of values in a known range.")
@_with(*_WANTED, _RANGE, _BINARY, *_DESIGN, *_SHARED, *_FIELD)
def mean(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of a mean of values in a known range."""
    from ldpnb.planning.questions import Mean

    _answer(Mean, options | {"low": ends[0], "high": ends[1]})


@plan.command(short_help="The gap between the means of two groups.")
@_with(*_WANTED)
@click.option("--shares", type=numbers, metavar="NUMBERS", default="0.5,0.5", show_default=True, help="Share of "
              "people in each group; the first two are compared.")  # fmt: skip
@_with(_RANGE, *_DESIGN[:2], *_SHARED)
def gap(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of the gap between the means of two groups, when the group is sensitive too."""
    from ldpnb.planning.questions import Gap

    _answer(Gap, options | {"low": ends[0], "high": ends[1]})


def _answer(kind: Callable[..., Any], options: dict[str, Any]) -> None:
    from ldpnb.planning import plans, saving
    from ldpnb.planning.output import show
    from ldpnb.planning.several import Several

    style, output, path, questions = (options.pop(name, None) for name in ("style", "output", "save", "questions"))
    keeping: dict[str, Any] = {name: options.pop(name) for name in ("device", "question", "labels") if name in options}
    with as_usage():
        asked = kind(design=_design(options), **options)
        if path and (questions or 1) > 1:
            raise UsageError("save keeps one question: give the people and the budget of each, and plan it alone")
        answer: Any = Several(questions=questions, each=asked) if (questions or 1) > 1 else plans.plan(asked)
        if path:
            kept = saving.of_plan(answer, **keeping)
            kept.save(path)
            chances = f"{kept.device}, {kept.p} for the truth, " if kept.p else ""
            promise = f"an error of {kept.error:.4g} or more with probability {kept.failure:.4g} ({kept.bound})"
            click.echo(f"saved in {path}: {chances}epsilon {kept.epsilon:.6g}; {promise}", err=True)
            if kept.failure > 1.01 * answer.best.question.failure:
                click.echo("The device is noisier than the plan: ask more people, or take a finer one.", err=True)
    show(answer, style, output)
    if answer.best is None:
        raise SystemExit(1)


def _design(options: dict[str, Any]) -> Any:
    """Take the words of a design out of all options, and return it."""
    from ldpnb.planning import clusters, designs, tables

    words = {word for uses in _DESIGNS.values() for word in uses}
    given = {word: value for word in words if (value := options.pop(word, None)) is not None}
    name = options.pop("design")
    for word in sorted(given.keys() - {*_DESIGNS[name]}):
        raise ValueError(f"design {name} has no {word.replace('_', '-')}, got {word}={given[word]!r}")
    for word in _NEEDED.get(name, ()):
        if word not in given:
            raise ValueError(f"design {name} needs {word.replace('_', '-')}, got none")
    if name == "strata":
        return tables.load_strata(given.pop("strata"), **given)
    if name == "clusters":
        return clusters.ClusterDesign(given.pop("clusters"), given.pop("cluster_size"), **given)
    return designs.SimpleDesign(**given) if name == "simple" else designs.Everyone()


@plan.command(short_help="A test for a gap between two public groups.")
@_with(_COUNT)
@click.option("--gap", type=float, help="Between the means, values in [0, 1].")
@click.option("--power", type=float, help="Chance to find it.")
@_with(_EPSILON)
@click.option("--level", type=float, default=0.05, show_default=True, help="Chance to find one that is not there.")
@click.option("--share", type=float, default=0.5, show_default=True, help="Share of answers from the first group.")
@_with(_SD, _BINARY, *_OUTPUT)
def power(style: str, output: Path | None, **options: Any) -> None:
    """Plan a two-sided test for a gap between the means of two public groups, with the noise of one-bit reports.

    Leave out one of --count, --gap, --power and --epsilon.
    """
    from ldpnb.planning.output import show
    from ldpnb.planning.power import Power

    with as_usage():
        completed = Power(**options).completed()
    show(completed, style, output)
