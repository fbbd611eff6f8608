"""``ldpnb plan survey``, ``questions`` and ``power``: options in, a plan out."""

from typing import Any

import click

from ldpnb.checks import UsageError
from ldpnb.data.options import reading_options, stated
from ldpnb.planning.command import COMMON, whole, with_options

_SURVEY = (
    click.option("--design", type=click.Choice(["simple", "cluster", "strata"]), default="simple", show_default=True),
    click.option("--population", type=whole, metavar="INTEGER", help="People there are (simple)."),
    click.option("--clusters", type=whole, metavar="INTEGER", help="Clusters there are."),
    click.option("--cluster-size", type=whole, metavar="INTEGER", help="People in each."),
    click.option("--take", type=whole, metavar="INTEGER", help="People asked in each cluster drawn.  [default: all]"),
    click.option("--icc", type=float, help="Intra-cluster correlation; the worst if left out."),
    click.option("--strata", type=click.Path(dir_okay=False), help="CSV: stratum,size[,sd]."),
    click.option("--allocation", type=click.Choice(["proportional", "neyman"]), default="proportional",
                 show_default=True, help="Of the sample to strata; neyman counts the reports' noise."),
    click.option("--sd", type=float, help="Standard deviation of the values; the worst if left out."),
    click.option("--pilot", type=click.Path(dir_okay=False), help="Table of a pilot's answers; tells sd and icc."),
    click.option("--value", default="", metavar="COLUMN", help="Its column with the number of interest."),
    click.option("--cluster", default="", metavar="COLUMN", help="Its column that names clusters."),
    click.option("--stratum", default="", metavar="COLUMN", help="Its column that names strata."),
    click.option("--count", type=whole, metavar="INTEGER", help="People, or clusters, that answer."),
    *COMMON[1:4],
    click.option("--collection", type=click.Choice(["local", "central"]), default="local", show_default=True,
                 help="Everybody randomises their own answer, or a curator the estimate."),
    click.option("--mechanism", type=click.Choice(["one-bit", "Laplace"]), default="one-bit", show_default=True,
                 help="Of the people."),
    click.option("--range", "ends", nargs=2, type=float, default=(0.0, 1.0), show_default=True,
                 help="Where values lie."),
    click.option("--binary", is_flag=True, help="Values are the ends of the range only."),
    click.option("--response", type=float, default=1.0, show_default=True, help="Share of those asked who answer."),
    click.option("--response-failure", type=float, default=0.05, show_default=True,
                 help="Chance that too few answer, on top of --failure."),
    click.option("--weights", type=float, default=1.0, show_default=True, help="Kish's design effect of the weights."),
    click.option("--secret-sample", "secret", is_flag=True,
                 help="Nobody who sees what is released can know who was asked."),
    click.option("--tail", type=click.Choice(["guaranteed", "normal"]), default="guaranteed", show_default=True,
                 help="Bounds that hold for certain, or the normal law, an approximation."),
    click.option("--format", "style", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True),
)  # fmt: skip


@click.command(short_help="A mean from a designed sample: clusters, strata, nonresponse.")
@with_options(_SURVEY)
@reading_options
def survey(ends: tuple[float, float], style: str, **options: Any) -> None:
    """Plan a survey: a mean or a share from a simple random, cluster or stratified sample, local or central.

    Leave out one of --count, --epsilon, --error and --failure.
    """
    from ldpnb.planning import survey_words
    from ldpnb.planning.survey import Survey

    try:
        known = _pilot(options, ends)
        notes = survey_words.pilot_notes(known, options["cluster_size"]) if known else ()
        design = survey_words.design_of(
            ends,
            pilot=known,
            **{name: options.pop(name) for name in survey_words.DESIGN_OPTIONS},
            **{name: options[name] for name in ("mechanism", "epsilon", "collection", "binary")},
        )
        found = Survey(design=design, low=ends[0], high=ends[1], notes=notes, **options).plan()
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None
    table = found.to_frame().to_csv(index=False).rstrip()
    click.echo({"text": str(found), "json": found.to_json(), "csv": table}[style])


def _pilot(options: dict[str, Any], ends: tuple[float, float]) -> Any:
    """Take the words of a pilot out of all options and read it, if there is one."""
    from ldpnb.data.reading import Reading
    from ldpnb.planning import survey_words

    words, reading = {name: options.pop(name) for name in ("value", "cluster", "stratum")}, stated(options)
    path = options.pop("pilot")
    if path is None:
        given = [name for name, word in (words | reading).items() if word]
        if given:
            raise ValueError(f"{given[0]} belongs to a pilot, got no --pilot")
        return None
    if not words["value"]:
        raise ValueError("a pilot needs --value, the column with the number of interest, got none")
    return survey_words.pilot(path, **words, reading=Reading(**reading), ends=ends)
