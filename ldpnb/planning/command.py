"""``ldpnb plan``: options in, a plan out."""

from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import click

from ldpnb.checks import UsageError, as_usage


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.3,0.7") from None


_FILE = click.Path(dir_okay=False, path_type=Path)
_DEVICES = ["die", "ten-sided die", "two dice", "cards", "spinner", "form"]
_OPTIONS: dict[str, tuple[Any, Any, str]] = {
    "count": (int, None, "People who answer, or clusters that are drawn."),
    "epsilon": (float, None, "Privacy budget of a report, or of a curator's releases, nats."),
    "error": (float, None, "The estimate shall be off by less than this ..."),
    "failure": (float, None, "... except with this probability."),
    "values": (int, 2, "Number of values that a person may hold."),
    "simultaneous": (bool, False, "The error of all shares at once; otherwise of any one share."),
    "labels": (str, "", "Names of the values, a,b,c, in a saved plan."),
    "range": (float, (0.0, 1.0), "Where values lie."),
    "binary": (bool, False, "Values are the ends of the range only."),
    "shares": (numbers, "0.5,0.5", "Share of people in each group; the first two are compared."),
    "design": (
        ["everyone", "simple", "strata", "clusters"],
        "everyone",
        "Who is asked: all, or a random sample of them.",
    ),
    "population": (int, None, "People there are; very many if left out."),
    "sd": (float, None, "Standard deviation of the values; the worst if left out."),
    "strata": (_FILE, None, "Table of the strata: stratum,size[,sd]."),
    "allocation": (["proportional", "neyman"], None, "Of the sample to strata: by size, or for the least variance."),
    "clusters": (int, None, "Clusters there are."),
    "cluster-size": (float, None, "People in each, or their mean number."),
    "size-sd": (float, None, "Standard deviation of the clusters' sizes."),
    "take": (int, None, "People asked in each cluster drawn; everybody if left out."),
    "icc": (float, None, "Intra-cluster correlation; the worst if left out."),
    "response": (float, 1.0, "Share of those asked who answer."),
    "releases": (int, 1, "Estimates from one and the same sample; people report as often."),
    "mechanism": (str, "", "Plan for this one only, such as 1-bit, k-RR or 'central Laplace', a trusted curator's."),
    "tail": (["guaranteed", "normal"], "guaranteed", "What holds for all data, or the normal law, an approximation."),
    "questions": (int, 1, "Questions that share the budget: everybody answers all, or one each (design simple)."),
    "save": (_FILE, None, "Keep the plan in this file, for `ldpnb kit` and `ldpnb estimate`."),
    "device": (_DEVICES, "form", "What randomises in the field; the saved plan has its own probabilities."),
    "question": (str, "", "The question as it will be asked."),
    "format": (["text", "csv", "json", "xlsx"], "text", "Output."),
    "output": (_FILE, None, "A file for it."),
    "gap": (float, None, "Between the means, values in [0, 1]."),
    "power": (float, None, "Chance to find it."),
    "level": (float, 0.05, "Chance to find one that is not there."),
    "share": (float, 0.5, "Share of answers from the first group."),
}
"""Of each option what it reads, its default, and its help."""
_WANTED, _OUTPUT = "count epsilon error failure", "format output"
_DESIGN = "population sd strata allocation clusters cluster-size size-sd take icc"
_SHARED = "response releases mechanism tail"
_SAMPLED = f"design {_DESIGN} {_SHARED} questions save device question {_OUTPUT}"


def _options(words: str) -> list[click.Parameter]:
    made: list[click.Parameter] = []
    for word in words.split():
        kind, default, text = _OPTIONS[word]
        read: Any = click.Choice(kind) if isinstance(kind, list) else kind
        more: dict[str, Any] = {"nargs": 2} if word == "range" else {"is_flag": True} if kind is bool else {}
        if kind is int:  # a whole number may be written 1e6, and is checked with the rest of the question
            read, more = float, {"metavar": "INTEGER"}
        flags, shown = [f"--{word}", *(["-o"] if word == "output" else [])], default not in (None, "", False)
        made.append(click.Option(flags, type=read, default=default, show_default=shown, help=text, **more))
    return made


@click.group(short_help="Plan a collection: people, budget or error.", context_settings={"max_content_width": 110})
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
    kind: str, format: str, output: Path | None, save: Path | None = None, questions: int = 1, **options: Any
) -> None:
    from ldpnb.planning import plans, several
    from ldpnb.planning import questions as kinds
    from ldpnb.planning.output import show

    field: dict[str, Any] = {name: options.pop(name) for name in ("device", "question") if name in options}
    if labels := options.pop("labels", ""):
        field["labels"] = tuple(name.strip() for name in labels.split(","))
    if "range" in options:
        options["low"], options["high"] = options.pop("range")
    with as_usage():
        asked = getattr(kinds, kind)(**_designed(options))
        if save and questions > 1:
            raise UsageError("save keeps one question: give the people and the budget of each, and plan it alone")
        answer: Any = several.Several(questions=questions, each=asked) if questions > 1 else plans.plan(asked)
        if save:
            _save(answer, save, field)
    show(answer, format, output)
    if answer.best is None:
        raise SystemExit(1)


_GAP = "the gap between the means of two groups, when the group is sensitive too"
_KINDS = {
    "Frequency": ("the shares of people who hold each value", f"{_WANTED} values simultaneous labels {_SAMPLED}"),
    "Mean": ("the mean of values in a known range", f"{_WANTED} range binary {_SAMPLED}"),
    "Gap": (_GAP, f"{_WANTED} shares range {_SHARED} {_OUTPUT}"),
}
for _kind, (_subject, _words) in _KINDS.items():
    _made = click.Command(_kind.lower(), params=_options(_words), callback=partial(_answer, _kind))
    _made.short_help, _made.help = f"{_subject.capitalize()}.", f"Plan an estimate of {_subject}."
    plan.add_command(_made)


def _save(answer: Any, path: Path, field: dict[str, Any]) -> None:
    from ldpnb.planning.saving import of_plan

    kept = of_plan(answer, **field)
    kept.save(path)
    chances = f"{kept.device}, {kept.p} for the truth, " if kept.p else ""
    promise = f"an error of {kept.error:.4g} or more with probability {kept.failure:.4g} ({kept.bound})"
    click.echo(f"saved in {path}: {chances}epsilon {kept.epsilon:.6g}; {promise}", err=True)
    if kept.failure > 1.01 * answer.best.failure:
        click.echo("The device is noisier than the plan: ask more people, or take a finer one.", err=True)


def _designed(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the design in place of its words, which are the arguments of what makes it."""
    from ldpnb.planning import clusters, samples

    name = options.pop("design", "everyone")
    make: Any = {"simple": samples.SimpleDesign, "clusters": clusters.ClusterDesign}.get(name, samples.Everyone)
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
