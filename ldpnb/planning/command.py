"""``ldpnb plan``: options in, a plan out."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage


def integer(text: str) -> int:
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


def _option(flag: str, words: str, kind: Any = float, default: Any = None) -> click.Option:
    """Return an option that reads a value of a kind: a function, a type, or a list of choices."""
    read = click.Choice(kind) if isinstance(kind, list) else kind
    return click.Option([flag], type=read, default=default, help=words, show_default=default not in (None, ""))


_FILE = click.Path(dir_okay=False, path_type=Path)
_COUNT = _option("--count", "People who answer, or clusters that are drawn.", integer)
_EPSILON = _option("--epsilon", "Privacy budget of a report, or of a curator's releases, nats.")
_ERROR = _option("--error", "The estimate shall be off by less than this ...")
_WANTED = (_COUNT, _EPSILON, _ERROR, _option("--failure", "... except with this probability."))
_BINARY = click.Option(["--binary"], is_flag=True, help="Values are the ends of the range only.")
_RANGE = click.Option(["--range"], nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Where values lie.")
_SD = _option("--sd", "Standard deviation of the values; the worst if left out.")
_OUTPUT = (
    _option("--format", "Output.", ["text", "csv", "json", "xlsx"], "text"),
    click.Option(["-o", "--output"], type=_FILE, help="A file for it."),
)
_DESIGNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "everyone": ((), ()),
    "simple": ((), ("population", "sd")),
    "strata": (("strata",), ("allocation",)),
    "clusters": (("clusters", "cluster_size"), ("take", "icc", "sd", "size_sd")),
}
"""What each design needs, and what it may have."""
_WHO = "Who is asked: everybody who answers, or a random sample of a population, of each stratum, or of clusters."
_ALLOCATION = "Of the sample to strata: by size, or for the least variance.  [default: proportional]"
_DESIGN = (
    _option("--design", _WHO, [*_DESIGNS], "everyone"),
    _option("--population", "People there are; very many if left out.", integer),
    _SD,
    _option("--strata", "Table of the strata: stratum,size[,sd].", _FILE),
    _option("--allocation", _ALLOCATION, ["proportional", "neyman"]),
    _option("--clusters", "Clusters there are.", integer),
    _option("--cluster-size", "People in each, or their mean number."),
    _option("--size-sd", "Standard deviation of the clusters' sizes."),
    _option("--take", "People asked in each cluster drawn; everybody if left out.", integer),
    _option("--icc", "Intra-cluster correlation; the worst if left out."),
    _option("--response", "Share of those asked who answer.", default=1.0),
)
_ONLY = "Plan for this one only, such as 1-bit, k-RR or 'central Laplace', a trusted curator's."
_TAIL = "A law or bound that holds for all data, or the normal law, an approximation."
_SHARED = (
    _option("--mechanism", _ONLY, str, ""),
    _option("--releases", "Estimates from one and the same sample; people report as often.", integer, 1),
    _option("--tail", _TAIL, ["guaranteed", "normal"], "guaranteed"),
    *_OUTPUT,
)
_SEVERAL = "Questions that share the budget: everybody answers all, or one each (design simple)."
_DEVICE = "What randomises in the field; the saved plan has its own probabilities."
_FIELD = (
    _option("--questions", _SEVERAL, integer, 1),
    _option("--save", "Keep the plan in this file, for `ldpnb kit` and `ldpnb estimate`.", _FILE),
    _option("--device", _DEVICE, ["die", "ten-sided die", "two dice", "cards", "spinner", "form"], "form"),
    _option("--question", "The question as it will be asked.", str, ""),
)
_SHARES = (
    _option("--values", "Number of values that a person may hold.", integer, 2),
    click.Option(["--simultaneous"], is_flag=True, help="The error of all shares at once; otherwise of any one share."),
    _option("--labels", "Names of the values, a,b,c, in a saved plan.", names, ""),
)
_GROUPS = _option("--shares", "Share of people in each group; the first two are compared.", numbers, "0.5,0.5")
_TEST = (
    _COUNT,
    _option("--gap", "Between the means, values in [0, 1]."),
    _option("--power", "Chance to find it."),
    _EPSILON,
    _option("--level", "Chance to find one that is not there.", default=0.05),
    _option("--share", "Share of answers from the first group.", default=0.5),
)


@click.group(short_help="Plan a collection: people, budget or error.", context_settings={"max_content_width": 110})
def plan() -> None:
    """Compute what is left out of count, epsilon, error and failure, for every mechanism and the design of a survey.

    Give all but one. Exit code 1 if no mechanism can do it.
    """


@plan.command(short_help="A test for a gap between two public groups.", params=[*_TEST, _SD, _BINARY, *_OUTPUT])
def power(format: str, output: Path | None, **options: Any) -> None:
    """Plan a two-sided test for a gap between the means of two public groups, with the noise of one-bit reports.

    Leave out one of --count, --gap, --power and --epsilon.
    """
    from ldpnb.planning.output import show
    from ldpnb.planning.power import Power

    with as_usage():
        completed = Power(**options).completed()
    show(completed, format, output)


def _answer(kind: str, **options: Any) -> None:
    from ldpnb.planning import plans, questions
    from ldpnb.planning.output import show

    style, output, path, number = (options.pop(name, None) for name in ("format", "output", "save", "questions"))
    field: dict[str, Any] = {name: options.pop(name) for name in ("device", "question", "labels") if name in options}
    if "range" in options:
        options["low"], options["high"] = options.pop("range")
    with as_usage():
        asked = getattr(questions, kind)(design=_design(options), **options)
        many = (number or 1) > 1
        if path and many:
            raise UsageError("save keeps one question: give the people and the budget of each, and plan it alone")
        if many:
            from ldpnb.planning.several import Several

            answer: Any = Several(questions=number, each=asked)
        else:
            answer = plans.plan(asked)
        if path:
            _save(answer, path, field)
    show(answer, style, output)
    if answer.best is None:
        raise SystemExit(1)


_KINDS = {
    "Frequency": ("the shares of people who hold each value", (*_WANTED, *_SHARES, *_DESIGN, *_SHARED, *_FIELD)),
    "Mean": ("the mean of values in a known range", (*_WANTED, _RANGE, _BINARY, *_DESIGN, *_SHARED, *_FIELD)),
    "Gap": (
        "the gap between the means of two groups, when the group is sensitive too",
        (*_WANTED, _GROUPS, _RANGE, *_DESIGN[:2], *_SHARED),
    ),
}
for _kind, (_subject, _options) in _KINDS.items():
    _short, _words = f"{_subject.capitalize()}.", f"Plan an estimate of {_subject}."
    _call = partial(_answer, _kind)
    plan.add_command(click.Command(_kind.lower(), params=[*_options], callback=_call, help=_words, short_help=_short))


def _save(answer: Any, path: Path, field: dict[str, Any]) -> None:
    from ldpnb.planning.saving import of_plan

    kept = of_plan(answer, **field)
    kept.save(path)
    chances = f"{kept.device}, {kept.p} for the truth, " if kept.p else ""
    promise = f"an error of {kept.error:.4g} or more with probability {kept.failure:.4g} ({kept.bound})"
    click.echo(f"saved in {path}: {chances}epsilon {kept.epsilon:.6g}; {promise}", err=True)
    if kept.failure > 1.01 * answer.best.question.failure:
        click.echo("The device is noisier than the plan: ask more people, or take a finer one.", err=True)


def _design(options: dict[str, Any]) -> Any:
    """Take the words of a design out of all options, and return it."""
    from ldpnb.planning import clusters, samples

    words = {word for uses in _DESIGNS.values() for use in uses for word in use}
    given = {word: value for word in words if (value := options.pop(word, None)) is not None}
    name = options.pop("design")
    needed, allowed = _DESIGNS[name]
    for word in sorted(given.keys() - {*needed, *allowed}):
        raise ValueError(f"design {name} has no {word.replace('_', '-')}, got {word}={given[word]!r}")
    for word in needed:
        if word not in given:
            raise ValueError(f"design {name} needs {word.replace('_', '-')}, got none")
    if name == "strata":
        from ldpnb.planning import tables

        return tables.load_strata(given.pop("strata"), **given)
    if name == "clusters":
        return clusters.ClusterDesign(given.pop("clusters"), given.pop("cluster_size"), **given)
    return samples.SimpleDesign(**given) if name == "simple" else samples.Everyone()
