"""``ldpnb plan``: options in, a plan out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


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


def names(text: str) -> tuple[str, ...]:
    """Read names with commas between them."""
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _number(flag: str, words: str, **more: Any) -> Decorator:
    return click.option(flag, type=whole, metavar="INTEGER", help=words, **more)


def _real(flag: str, words: str, **more: Any) -> Decorator:
    return click.option(flag, type=float, metavar="NUMBER", help=words, **more)


def _choice(flag: str, among: list[str], words: str, **more: Any) -> Decorator:
    return click.option(flag, type=click.Choice(among), help=words, **more)


_SHOWN: dict[str, Any] = {"show_default": True}
_COUNT = _number("--count", "People who answer, or clusters that are drawn.")
_EPSILON = _real("--epsilon", "Privacy budget of a report, or of a curator's releases, nats.")
_FAILURE = _real("--failure", "... except with this probability.")
_WANTED = (_COUNT, _EPSILON, _real("--error", "The estimate shall be off by less than this ..."), _FAILURE)
_BINARY = click.option("--binary", is_flag=True, help="Values are the ends of the range only.")
_RANGE = click.option("--range", "ends", nargs=2, type=float, default=(0.0, 1.0), help="Where values lie.", **_SHOWN)
_SD = _real("--sd", "Standard deviation of the values; the worst if left out.")
_OUTPUT = (
    _choice("--format", ["text", "csv", "json", "xlsx"], "Output.", default="text", **_SHOWN),
    click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file for it."),
)
_USES: dict[str, tuple[str, ...]] = {
    "everyone": (),
    "simple": ("population", "sd"),
    "strata": ("strata", "allocation"),
    "clusters": ("clusters", "cluster_size", "take", "icc", "sd", "size_sd"),
}
_DESIGN = (
    _choice("--design", [*_USES], "Who is asked: everybody who answers, or a random sample of a population, of each "
            "stratum, or of clusters.", default="everyone", **_SHOWN),
    _number("--population", "People there are; very many if left out."),
    _SD,
    click.option("--strata", type=click.Path(dir_okay=False), help="Table of the strata: stratum,size[,sd]."),
    _choice("--allocation", ["proportional", "neyman"], "Of the sample to strata: by size, or for the least variance.  "
            "[default: proportional]"),
    _number("--clusters", "Clusters there are."),
    _real("--cluster-size", "People in each, or their mean number."),
    _real("--size-sd", "Standard deviation of the clusters' sizes."),
    _number("--take", "People asked in each cluster drawn; everybody if left out."),
    _real("--icc", "Intra-cluster correlation; the worst if left out."),
    _real("--response", "Share of those asked who answer.", default=1.0, **_SHOWN),
)  # fmt: skip
_SHARED = (
    click.option("--mechanism", default="", metavar="NAME", help="Plan for this one only, such as 1-bit, k-RR or "
                 "'central Laplace', a trusted curator's."),
    _number("--releases", "Estimates from one and the same sample; people report as often.", default=1, **_SHOWN),
    _choice("--tail", ["guaranteed", "normal"], "A law or bound that holds for all data, or the normal law, an "
            "approximation.", default="guaranteed", **_SHOWN),
    *_OUTPUT,
)  # fmt: skip
_FIELD = (
    _number("--questions", "Questions that share the budget: everybody answers all, or one each (design simple).",
            default=1, **_SHOWN),
    click.option("--save", type=click.Path(dir_okay=False), help="Keep the plan in this file, for `ldpnb kit` and "
                 "`ldpnb estimate`."),
    _choice("--device", ["die", "ten-sided die", "two dice", "cards", "spinner", "form"], "What randomises in the "
            "field; the saved plan has its own probabilities.", default="form", **_SHOWN),
    click.option("--question", default="", help="The question as it will be asked."),
)  # fmt: skip


def _with(*options: Decorator) -> Decorator:
    """Return a decorator that adds options, to be shown in their order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.group(short_help="Plan a collection: people, budget or error.", context_settings={"max_content_width": 110})
def plan() -> None:
    """Compute what is left out of count, epsilon, error and failure, for every mechanism and the design of a survey.

    Give all but one. Exit code 1 if no mechanism can do it.
    """


@plan.command(short_help="Shares of the people who hold each value.")
@_with(*_WANTED, _number("--values", "Number of values that a person may hold.", default=2))
@click.option("--simultaneous", is_flag=True, help="The error of all shares at once; otherwise of any one share.")
@click.option("--labels", type=names, default="", metavar="NAMES", help="Of the values, a,b,c, in a saved plan.")
@_with(*_DESIGN, *_SHARED, *_FIELD)
def frequency(**options: Any) -> None:
    """Plan an estimate of the shares of people who hold each value."""
    from ldpnb.planning.questions import Frequency

    _answer(Frequency, **options)


@plan.command(short_help="A mean of values in a known range.")
@_with(*_WANTED, _RANGE, _BINARY, *_DESIGN, *_SHARED, *_FIELD)
def mean(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of a mean of values in a known range."""
    from ldpnb.planning.questions import Mean

    _answer(Mean, low=ends[0], high=ends[1], **options)


@plan.command(short_help="The gap between the means of two groups.")
@_with(*_WANTED)
@click.option("--shares", type=numbers, metavar="NUMBERS", default="0.5,0.5", help="Share of people in each group; the "
              "first two are compared.", **_SHOWN)  # fmt: skip
@_with(_RANGE, *_DESIGN[:2], *_SHARED)
def gap(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of the gap between the means of two groups, when the group is sensitive too."""
    from ldpnb.planning.questions import Gap

    _answer(Gap, low=ends[0], high=ends[1], **options)


def _answer(
    kind: Callable[..., Any],
    *,
    format: str,
    output: Path | None,
    questions: int = 1,
    save: str | None = None,
    device: str = "form",
    question: str = "",
    labels: tuple[str, ...] = (),
    **options: Any,
) -> None:
    from ldpnb.planning import plans
    from ldpnb.planning.output import show
    from ldpnb.planning.several import Several

    with as_usage():
        asked = kind(design=_design(options), **options)
        if save and questions > 1:
            raise UsageError("save keeps one question: give the people and the budget of each, and plan it alone")
        answer: Any = Several(questions=questions, each=asked) if questions > 1 else plans.plan(asked)
        if save:
            _save(answer, save, device=device, question=question, labels=labels)
    show(answer, format, output)
    if answer.best is None:
        raise SystemExit(1)


def _save(answer: Any, path: str, **keeping: Any) -> None:
    from ldpnb.planning.saving import of_plan

    kept = of_plan(answer, **keeping)
    kept.save(path)
    chances = f"{kept.device}, {kept.p} for the truth, " if kept.p else ""
    promise = f"an error of {kept.error:.4g} or more with probability {kept.failure:.4g} ({kept.bound})"
    click.echo(f"saved in {path}: {chances}epsilon {kept.epsilon:.6g}; {promise}", err=True)
    if kept.failure > 1.01 * answer.best.question.failure:
        click.echo("The device is noisier than the plan: ask more people, or take a finer one.", err=True)


def _design(options: dict[str, Any]) -> Any:
    """Take the words of a design out of all options, and return it."""
    from ldpnb.planning import clusters, samples, tables

    words = {word for uses in _USES.values() for word in uses}
    given = {word: value for word in words if (value := options.pop(word, None)) is not None}
    name = options.pop("design")
    for word in sorted(given.keys() - {*_USES[name]}):
        raise ValueError(f"design {name} has no {word.replace('_', '-')}, got {word}={given[word]!r}")
    for word in {"strata": ("strata",), "clusters": ("clusters", "cluster_size")}.get(name, ()):
        if word not in given:
            raise ValueError(f"design {name} needs {word.replace('_', '-')}, got none")
    if name == "strata":
        return tables.load_strata(given.pop("strata"), **given)
    if name == "clusters":
        return clusters.ClusterDesign(given.pop("clusters"), given.pop("cluster_size"), **given)
    return samples.SimpleDesign(**given) if name == "simple" else samples.Everyone()


@plan.command(short_help="A test for a gap between two public groups.")
@_with(_COUNT)
@_with(_real("--gap", "Between the means, values in [0, 1]."), _real("--power", "Chance to find it."), _EPSILON)
@_with(_real("--level", "Chance to find one that is not there.", default=0.05, **_SHOWN))
@_with(_real("--share", "Share of answers from the first group.", default=0.5, **_SHOWN), _SD, _BINARY, *_OUTPUT)
def power(format: str, output: Path | None, **options: Any) -> None:
    """Plan a two-sided test for a gap between the means of two public groups, with the noise of one-bit reports.

    Leave out one of --count, --gap, --power and --epsilon.
    """
    from ldpnb.planning.output import show
    from ldpnb.planning.power import Power

    with as_usage():
        completed = Power(**options).completed()
    show(completed, format, output)
