"""``ldpnb plan``: options in, a plan out."""

from collections.abc import Callable
from dataclasses import fields
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


COMMON = (
    click.option("--users", "--clients", "users", type=whole, metavar="INTEGER", help="Number of users, drawn or not."),
    click.option("--epsilon", type=float, help="Privacy budget, nats."),
    click.option("--error", type=float, help="The estimate shall be off by less than this ..."),
    click.option("--failure", type=float, help="... except with this probability."),
)
_SHARED = (
    click.option("--bits", type=whole, metavar="INTEGER", help="Most bits that a user may send."),
    click.option(
        "--design", "kind", type=click.Choice(["everyone", "srs", "poisson"]), default="everyone", show_default=True,
        help="Who reports: everybody, a secret simple random sample, or each user by its own coin.",
    ),
    click.option("--sampling-rate", type=float, help="Share of the users that report; left out, it is computed."),
    click.option(
        "--neighbours", type=click.Choice(["replacement", "deletion"]), default="replacement", show_default=True,
        help="What may not be told apart: a user's value changed, or its record absent.",
    ),
    click.option("--delta", type=float, help="Reports go through a shuffler, whose loss holds except for this delta."),
    click.option(
        "--releases", type=whole, metavar="INTEGER", default=1, show_default=True,
        help="How many times the same people are asked; their budgets add up before a sample hides them.",
    ),
    click.option(
        "--protects", type=click.Choice(["report", "release"]), default="report", show_default=True,
        help="What epsilon bounds: the loss of each report, or of all that is released after sampling and shuffling.",
    ),
    click.option(
        "--tail", type=click.Choice(["best", "exact", "chernoff", "bernstein", "hoeffding", "normal"]), default="best",
        show_default=True,
        help="Bound on large errors; best is the tightest that holds for certain, normal approximates.",
    ),
    click.option(
        "--format", "style", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True,
        help="Output.",
    ),
)  # fmt: skip


SAVING = (
    click.option("--save", type=click.Path(dir_okay=False), help="Keep the plan in this file, for `ldpnb estimate`."),
    click.option(
        "--device", type=click.Choice(["die", "ten-sided die", "two dice", "cards", "spinner", "form"]), default="form",
        show_default=True, help="What randomises in the field; the saved plan has its own probabilities.",
    ),
    click.option("--question", default="", help="The question as it will be asked."),
)  # fmt: skip


def saved(path: str, plan: Any) -> None:
    """Write a plan for the field, and say on standard error what its device makes of the promise."""
    plan.save(path)
    chances = f"{plan.device}, {plan.p} for the truth, " if plan.p else ""
    promise = f"an error of {plan.error:.4g} or more with probability {plan.failure:.4g} at most ({plan.bound})"
    click.echo(f"saved in {path}: {chances}epsilon {plan.epsilon:.6g}; {promise}", err=True)


def with_options(options: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    """Return a decorator that adds options, to be shown in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.group(
    "plan", short_help="Plan a collection: users, budget or error.", context_settings={"max_content_width": 110}
)
def plan() -> None:
    """Compute what is left out of: users, epsilon, error, failure (and values), for every mechanism.

    Give all but one. Exit code 1 if no local mechanism can do it.
    """


@plan.command(short_help="Shares of the users who hold each value.")
@with_options(COMMON)
@click.option("--values", type=whole, metavar="INTEGER", help="Number of values that a user may hold.")
@click.option("--simultaneous", is_flag=True, help="The error of all shares at once; otherwise of any one share.")
@click.option("--labels", default="", metavar="NAMES", help="Names of the values, a,b,c, for a saved plan.")
@with_options(_SHARED)
@with_options(SAVING)
def frequency(**options: Any) -> None:
    """Plan an estimate of the shares of users who hold each value."""
    from ldpnb.planning.questions import Frequency

    _answer(Frequency, options)


@plan.command(short_help="A mean of values in a known range.")
@with_options(COMMON)
@click.option("--range", "ends", nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Where values lie.")
@click.option("--binary", is_flag=True, help="Values are the ends of the range only.")
@with_options(_SHARED)
@with_options(SAVING)
def mean(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of a mean of values in a known range."""
    from ldpnb.planning.questions import Mean

    _answer(Mean, options | {"low": ends[0], "high": ends[1]})


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split(","))


@plan.command(short_help="The gap between the means of two groups.")
@with_options(COMMON)
@click.option("--shares", type=numbers, metavar="NUMBERS", help="Share of users in each group.  [default: 0.5,0.5]")
@click.option("--sizes", type=_sizes, metavar="NUMBERS", help="Users in each group, which gives the number of users.")
@click.option("--range", "ends", nargs=2, type=float, default=(0.0, 1.0), show_default=True, help="Where values lie.")
@with_options(_SHARED)
def gap(ends: tuple[float, float], **options: Any) -> None:
    """Plan an estimate of the gap between the means of two groups, when the group is sensitive too."""
    from ldpnb.planning.questions import Gap

    groups = {name: value for name in ("shares", "sizes") if (value := options.pop(name)) is not None}
    if len(groups) == 2:
        raise UsageError("give the shares or the sizes of the groups, not both")
    _answer(Gap, options | groups | {"low": ends[0], "high": ends[1]})


def _answer(kind: Callable[..., Any], options: dict[str, Any]) -> None:
    from ldpnb.planning import saving, show, solve
    from ldpnb.planning.design import Design

    chosen = {field.name: options.pop(field.name) for field in fields(Design)}
    tail, style, path = options.pop("tail"), options.pop("style"), options.pop("save", None)
    keeping: dict[str, Any] = {name: options.pop(name) for name in ("device", "question") if name in options}
    if labels := options.pop("labels", ""):
        keeping["labels"] = tuple(label.strip() for label in labels.split(","))
    with as_usage():
        found = solve.plan(kind(design=Design(**chosen), **options), tail=tail)
        kept = saving.of_answer(found, **keeping) if path else None
    if kept is not None:
        saved(path, kept)
    click.echo({"text": show.as_text, "json": show.as_json, "csv": show.as_csv}[style](found))
    if found.best is None:
        raise SystemExit(1)
