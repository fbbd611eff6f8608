"""``ldpnb plan survey``, ``questions`` and ``power``: options in, a plan out."""

from typing import TYPE_CHECKING, Any

import click

from ldpnb.checks import as_usage
from ldpnb.data.command import reading_options, stated
from ldpnb.planning.command import COMMON, SAVING, numbers, saved, whole, with_options

if TYPE_CHECKING:
    from ldpnb.planning.survey import Survey

_STYLE = click.option(
    "--format", "style", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True
)
_MECHANISM = click.option(
    "--mechanism", type=click.Choice(["one-bit", "Laplace"]), default="one-bit", show_default=True,
    help="How people randomise.",
)  # fmt: skip
_BINARY = click.option("--binary", is_flag=True, help="Values are the ends of the range only.")

_SURVEY = (
    click.option("--design", type=click.Choice(["simple", "everyone", "cluster", "two-stage", "strata", "poisson"]),
                 default="simple", show_default=True,
                 help="A simple random sample; everybody; whole clusters, or some people of each; a sample in every "
                 "stratum; everybody by a coin of their own."),
    click.option("--population", type=whole, metavar="INTEGER", help="People there are (simple, everyone, poisson)."),
    click.option("--clusters", type=whole, metavar="INTEGER", help="Clusters there are."),
    click.option("--cluster-size", type=float, metavar="NUMBER", help="People in each, or their mean."),
    click.option("--size-sd", type=float, help="Standard deviation of the clusters' sizes."),
    click.option("--cluster-sizes", type=click.Path(dir_okay=False),
                 help="CSV of all clusters: size[,cluster][,mean or share,sd]."),
    click.option("--take", type=whole, metavar="INTEGER", help="People asked in each cluster drawn.  [default: all]"),
    click.option("--ratio", is_flag=True, default=None,
                 help="Divide by the people in the clusters drawn, for sizes that differ (tail normal)."),
    click.option("--icc", type=float, help="Intra-cluster correlation; the worst if left out."),
    click.option("--strata", type=click.Path(dir_okay=False),
                 help="CSV: stratum,size[,sd or share or mean][,low,high][,response]."),
    click.option("--allocation", type=click.Choice(["proportional", "neyman"]),
                 help="Of the sample to strata: by size, or for the least variance, the reports' noise included.  "
                 "[default: proportional]"),
    click.option("--classes", type=click.Path(dir_okay=False),
                 help="CSV of classes with a rate of their own (poisson): class,size,rate[,mean or share,sd]."),
    click.option("--trim", type=float, help="Largest weight over the mean one: raises small rates, or cuts weights."),
    click.option("--sd", type=float, help="Standard deviation of the values; the worst if left out."),
    click.option("--mean", type=float, help="Their mean, if known; that of a yes/no question gives the sd."),
    click.option("--pilot", type=click.Path(dir_okay=False), help="Table of a pilot's answers; gives sd and icc."),
    click.option("--value", default="", metavar="COLUMN", help="Its column with the number of interest."),
    click.option("--cluster", default="", metavar="COLUMN", help="Its column that names clusters."),
    click.option("--stratum", default="", metavar="COLUMN", help="Its column that names strata."),
    click.option("--count", type=whole, metavar="INTEGER", help="People, or clusters, that answer."),
    *COMMON[1:4],
    click.option("--cv", nargs=2, type=float, metavar="CV MEAN",
                 help="Standard deviation of the estimate over a mean near MEAN, instead of error and failure."),
    click.option("--collection", type=click.Choice(["local", "central"]), default="local", show_default=True,
                 help="Everybody randomises their own answer, or a curator the estimate."),
    _MECHANISM,
    click.option("--range", "ends", nargs=2, type=float, default=(0.0, 1.0), show_default=True,
                 help="Where values lie."),
    _BINARY,
    click.option("--response", type=float, default=1.0, show_default=True, help="Share of those asked who answer."),
    click.option("--response-failure", type=float, default=0.05, show_default=True,
                 help="Chance that too few answer, on top of --failure."),
    click.option("--response-range", nargs=2, type=float,
                 help="Lowest and highest share who answer, if it depends on the value: tells bias and loss."),
    click.option("--weights", default="1", show_default=True, metavar="NUMBER|FILE",
                 help="Kish's design effect of the weights, or a CSV of them: weight[,size]."),
    click.option("--releases", type=whole, metavar="INTEGER", default=1, show_default=True,
                 help="Estimates from one and the same sample; budgets add up before it hides anybody."),
    click.option("--secret-sample", "secret", is_flag=True,
                 help="Nobody who sees what is released can know who was asked."),
    click.option("--tail", type=click.Choice(["guaranteed", "normal"]), default="guaranteed", show_default=True,
                 help="Bounds that hold for certain, or the normal law, an approximation."),
    _STYLE,
)  # fmt: skip


@click.command(short_help="A mean from a designed sample: clusters, strata, nonresponse.")
@with_options(_SURVEY)
@with_options(SAVING)
@reading_options
def survey(ends: tuple[float, float], style: str, save: str | None, **options: Any) -> None:
    """Plan a survey: a mean or a share from a simple, cluster, stratified or Poisson sample, local or central.

    Leave out one of --count, --epsilon, --error and --failure.
    """
    keeping = {name: options.pop(name) for name in ("device", "question")}
    with as_usage():
        asked = _asked(options, ends)
        answer = asked.plan()
        if save is not None:
            from ldpnb.planning import saving

            saved(save, saving.of_survey(answer, **keeping))
    table = answer.to_frame().to_csv(index=False).rstrip() if style == "csv" else ""
    click.echo({"text": str(answer), "json": answer.to_json(), "csv": table}[style])


def _asked(options: dict[str, Any], ends: tuple[float, float]) -> "Survey":
    """Return the survey that the options describe."""
    from ldpnb.planning import survey_words
    from ldpnb.planning.survey import Survey
    from ldpnb.planning.survey_files import kish_or_file, unused

    cv = options.pop("cv")
    if cv is not None:
        rest = {name: options[name] for name in ("error", "failure", "collection")}
        options |= survey_words.target_of_cv(*cv, **rest)
    reading = _reading(options)
    known = _pilot(options, ends, reading)
    said = survey_words.pilot_notes(known, _whole_size(options["cluster_size"])) if known else ()
    trim = {"trim": options.pop("trim")} if options["design"] in ("simple", "everyone") else {"trim": None}
    tables = {name: options[name] for name in ("strata", "cluster_sizes", "classes") if options[name]}
    for kind, path in tables.items():
        said += unused(kind, path, reading)
    options["weights"], more = kish_or_file(options["weights"], **trim, ends=ends, reading=reading)
    about = {name: options[name] for name in ("mechanism", "epsilon", "collection", "binary")}
    words = {name: options.pop(name, None) for name in survey_words.DESIGN_OPTIONS}
    everyone = options["design"] == "everyone" and options["count"] is None
    options["count"] = words["population"] if everyone else options["count"]
    facts = survey_words.Known(ends, pilot=known, reading=reading, **about)
    design = survey_words.design_of(facts, options.pop("design"), **words)
    return Survey(design=design, low=ends[0], high=ends[1], notes=(*said, *more), **options)


def _whole_size(size: float | None) -> int | None:
    return None if size is None else max(1, round(size))


def _table(rows: list[dict[str, Any]], style: str) -> str:
    """Return rows as text, JSON or CSV."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    if style == "json":
        return str(frame.to_json(orient="records", indent=1))
    return str(
        frame.to_csv(index=False).rstrip()
        if style == "csv"
        else frame.to_string(index=False, float_format="{:.4g}".format)
    )


def _reading(options: dict[str, Any]) -> Any:
    """Take how files are to be read out of all options."""
    reading = stated(options)
    given = list(reading.stated())
    files = [options[name] for name in ("pilot", "strata", "cluster_sizes", "classes")]
    if given and not any(files) and not options["weights"].endswith((".csv", ".tsv", ".txt")):
        raise ValueError(f"{given[0]} belongs to a file, got none")
    return reading


def _pilot(options: dict[str, Any], ends: tuple[float, float], reading: Any) -> Any:
    """Take the words of a pilot out of all options and read it, if there is one."""
    from ldpnb.planning import survey_words

    words = {name: options.pop(name) for name in ("value", "cluster", "stratum")}
    path = options.pop("pilot")
    if path is None:
        given = [name for name, word in words.items() if word]
        if given:
            raise ValueError(f"{given[0]} belongs to a pilot, got no --pilot")
        return None
    if not words["value"]:
        raise ValueError("a pilot needs --value, the column with the number of interest, got none")
    return survey_words.pilot(path, **words, reading=reading, ends=ends)


_QUESTIONS = (
    click.option("--weights", type=numbers, required=True, metavar="NUMBERS",
                 help="Importance of each question, such as 1,1,1,4."),
    click.option("--population", type=whole, metavar="INTEGER", help="People there are; very many if left out."),
    click.option("--answers", type=whole, metavar="INTEGER", help="People who answer."),
    click.option("--epsilon", type=float, required=True, help="Of everything that somebody reports, nats."),
    click.option("--error", type=float, help="Of every estimate; give it or --answers."),
    click.option("--failure", type=float, required=True, help="Chance of a larger error."),
    click.option("--together", is_flag=True, help="The chance that any of the errors is larger."),
    click.option("--sd", type=float, help="Standard deviation of all values, in [0, 1]; the worst if left out."),
    _MECHANISM,
    _BINARY,
    click.option("--tail", type=click.Choice(["guaranteed", "normal"]), default="guaranteed", show_default=True,
                 help="Bounds that hold for certain, or the normal law, an approximation."),
    _STYLE,
)  # fmt: skip


@click.command(short_help="Several means on one budget.")
@with_options(_QUESTIONS)
def questions(style: str, error: float | None, **options: Any) -> None:
    """Plan several questions on one budget: everybody answers all, or one each that is drawn at random.

    Budgets of questions that one person answers add up. A curator does better to ask everybody everything: the noise is
    the same and the sample larger.
    """
    from ldpnb.planning.survey_questions import SurveyQuestions

    with as_usage():
        if (options["answers"] is None) == (error is None):
            raise ValueError("one of answers and error must be left out")
        fewest = {"answers": len(options["weights"])} if error is not None else {}
        found = SurveyQuestions(**options | fewest)
        found = found if error is None else found.for_error(error)
        click.echo(str(found) if style == "text" else _table(found.rows(), style))


_POWER = (
    click.option("--answers", type=whole, metavar="INTEGER", help="People who answer, in both groups together."),
    click.option("--gap", type=float, help="Between the means, values in [0, 1]."),
    click.option("--power", type=float, help="Chance to find it."),
    click.option("--epsilon", type=float, help="Of a report, nats."),
    click.option("--level", type=float, default=0.05, show_default=True, help="Chance to find one that is not there."),
    click.option("--share", type=float, default=0.5, show_default=True, help="Share of answers from the first group."),
    click.option("--sd", type=float, help="Standard deviation in each group; the worst if left out."),
    _MECHANISM,
    _BINARY,
    _STYLE,
)  # fmt: skip


@click.command(short_help="A test for a gap between two public groups.")
@with_options(_POWER)
def power(style: str, **options: Any) -> None:
    """Plan a two-sided test for a gap between the means of two public groups, with the reports' noise.

    Leave out one of --answers, --gap, --power and --epsilon.
    """
    from ldpnb.planning.power import Power

    with as_usage():
        found = Power(**options).answered()
    click.echo(str(found) if style == "text" else _table([found.to_dict()], style))
