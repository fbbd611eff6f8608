"""``ldpnb plan``: options in, a plan out."""

import tomllib
from functools import partial
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import click

from ldpnb import checks
from ldpnb.checks import UsageError, as_usage


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.3,0.7") from None


_READS: dict[str, dict[str, Any]] = {
    "integer": {"type": float, "metavar": "INTEGER"},  # it is checked with the rest of the question
    "number": {"type": float},
    "numbers": {"type": numbers},
    "range": {"type": float, "nargs": 2},
    "flag": {"is_flag": True},
    "text": {"type": str},
    "file": {"type": click.Path(dir_okay=False, path_type=Path)},
}
_OPTIONS = tomllib.loads(files(__package__).joinpath("options.toml").read_text(encoding="utf-8"))
_WANTED, _OUTPUT = "count epsilon error failure", "format output"
_DESIGN = "population sd strata allocation clusters cluster-size size-sd take icc"
_SHARED = "response releases mechanism tail"
_SAMPLED = f"design {_DESIGN} {_SHARED} questions save device question {_OUTPUT}"


def _options(words: str) -> list[click.Parameter]:
    made: list[click.Parameter] = []
    for word in words.split():
        flags, option = [f"--{word}", *(["-o"] if word == "output" else [])], dict(_OPTIONS[word])
        reads, default = option.pop("reads"), option.get("default")
        more = {"type": click.Choice(reads)} if isinstance(reads, list) else _READS[reads]
        made.append(
            click.Option(flags, show_default=default not in (None, "", False), **option, **more)
        )
    return made


@click.group(
    short_help="Plan a collection: people, budget or error.",
    context_settings={"max_content_width": 110},
)
def plan() -> None:
    """Compute what is left out of count, epsilon, error and failure, for every mechanism and the design of a survey.

    Give all but one. Exit code 1 if no mechanism can do it.
    """


_TEST = _options(f"count gap power epsilon level share {_OUTPUT}")


@plan.command(short_help="A test for a gap between two public groups.", params=_TEST)
def power(format: str, output: Path | None, **options: Any) -> None:
    """Plan a two-sided test for a gap between the means of two public groups, with the noise of one-bit reports.

    Leave out one of --count, --gap, --power and --epsilon.
    """
    from ldpnb.planning.output import show
    from ldpnb.planning.power import Power

    with as_usage():
        completed = Power(**options).completed()
    show(completed, format, output)


def _answer(
    kind: str,
    format: str,
    output: Path | None,
    save: Path | None = None,
    questions: int = 1,
    **options: Any,
) -> None:
    from ldpnb.planning import plans, several
    from ldpnb.planning import questions as kinds
    from ldpnb.planning.output import show

    field: dict[str, Any] = {
        name: options.pop(name) for name in ("device", "question") if name in options
    }
    if labels := options.pop("labels", ""):
        field["labels"] = tuple(name.strip() for name in labels.split(","))
    if "range" in options:
        options["low"], options["high"] = options.pop("range")
    with as_usage():
        questions = checks.whole(questions, "questions", at_least=1)
        asked = getattr(kinds, kind)(**_designed(options))
        if save and questions > 1:
            raise UsageError(
                "save keeps one question: give the people and the budget of each, and plan it alone"
            )
        answer: Any = (
            several.Several(questions=questions, each=asked) if questions > 1 else plans.plan(asked)
        )
        if save:
            _save(answer, save, field)
    show(answer, format, output)
    if answer.best is None:
        raise SystemExit(1)


_GAP = "the gap between the means of two groups, when the group is sensitive too"
_KINDS = {
    "Frequency": (
        "the shares of people who hold each value",
        f"{_WANTED} values simultaneous labels {_SAMPLED}",
    ),
    "Mean": ("the mean of values in a known range", f"{_WANTED} range binary {_SAMPLED}"),
    "Gap": (_GAP, f"{_WANTED} shares range {_SHARED} {_OUTPUT}"),
}
for _kind, (_subject, _words) in _KINDS.items():
    _made = click.Command(_kind.lower(), params=_options(_words), callback=partial(_answer, _kind))
    _made.short_help, _made.help = f"{_subject.capitalize()}.", f"Plan an estimate of {_subject}."
    plan.add_command(_made)


def _save(answer: Any, path: Path, field: dict[str, Any]) -> None:
    from ldpnb.claims import rounded_up
    from ldpnb.planning.saving import of_plan

    kept = of_plan(answer, **field)
    kept.save(path)
    chances = f"{kept.device}, {kept.p} for the truth, " if kept.p else ""
    promise = f"an error of {rounded_up(kept.error)} or more with probability {rounded_up(kept.failure)} ({kept.bound})"
    click.echo(f"saved in {path}: {chances}epsilon {kept.epsilon:.6g}; {promise}", err=True)
    if kept.failure > 1.01 * answer.best.failure:
        click.echo(
            "The device is noisier than the plan: ask more people, or take a finer one.", err=True
        )


def _designed(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the design in place of its words, which are the arguments of what makes it."""
    from ldpnb.planning import clusters, samples

    name = options.pop("design", "everyone")
    make: Any = {"simple": samples.SimpleDesign, "clusters": clusters.ClusterDesign}.get(
        name, samples.Everyone
    )
    if name == "strata":  # whose table needs pandas, which takes long to import
        from ldpnb.planning import tables

        make = tables.load_strata
    wanted, given = signature(make).parameters, dict[str, Any]()
    for word in _DESIGN.split():
        argument = {"strata": "path", "cluster-size": "size"}.get(word, word.replace("-", "_"))
        value, needed = options.pop(word.replace("-", "_"), None), wanted.get(argument)
        if value is not None and needed is None:
            raise ValueError(f"design {name} has no {word}, got {word}={value!r}")
        if value is None and needed is not None and needed.default is Parameter.empty:
            raise ValueError(f"design {name} needs {word}, got none")
        given |= {} if value is None else {argument: value}
    return options | {"design": make(**given)}
