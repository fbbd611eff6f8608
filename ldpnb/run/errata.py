"""Erratum sheets: notes to the authors of a source, on what does not hold as it stands.

An item is a cause: all claims with the same ``cause`` stand in it, and the first of them that has a
counterexample shows it. Items come in order of weight: first what fails, then that on which
something rests, then what the source numbers, each in the order of the source. All words and
numbers are those of the committed ledger. Questions and observations on what holds end the sheet.
"""

import contextlib
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ldpnb import claims
from ldpnb.notebook.verdicts import sentence
from ldpnb.run.catalogue import home
from ldpnb.run.ledger import committed_ledger

Row = dict[str, str]
"""A claim in the committed ledger."""

HEAD = """\
# A note to the authors of *{title}*

To: {authors}. From: (name and address).

{counts} We describe the paper in our own words and name the place each time. Only text between \
quotation marks is yours. The lines of Python after a counterexample compute its numbers. If we \
are wrong, please tell us.

The text that we read: {version} (read in {read}). **Before you send this note, compare the \
places with the published PDF.**
"""

REBUILT = """
Items marked † are about a formula that is missing from that text. We rebuilt it from the \
sentences around it.
"""

LEAST = 2
"""Causes and observations that make a sheet; a single remark stands in its notebook only."""


def sheets() -> dict[str, Path]:
    """Return where the sheets are committed, by source."""
    return {
        source.key: home() / f"figures/{source.folder}/errata.md"
        for source in claims.sources().values()
        if source.number and _due(source.key) and _remarks(source) >= LEAST
    }


def _remarks(source: claims.Source) -> int:
    """Return how many causes and observations there are to tell the authors of."""
    return len(causes(_due(source.key))) + len(source.observations)


def sheet(source: str) -> str:
    """Return the erratum sheet of a source, in Markdown.

    Raises
    ------
    ValueError
        If all that the source says holds.
    """
    stated = _stated(source)
    due = _due(source)
    if not due:
        raise ValueError(f"{source} needs no sheet: all its claims hold")

    items = causes(due)
    about = claims.sources()[source]
    head = HEAD.format(
        title=about.title,
        authors=about.authors,
        version=about.version,
        read=about.read,
        counts=_counted(stated, len(items)),
    )
    marked = REBUILT if any(row["rebuilt"] == "True" for row in due) else ""
    texts = [item(number, *cause) for number, cause in enumerate(items, 1)]
    return "\n".join([head + marked, *texts, *_observations(source, stated)])


def _stated(source: str) -> list[Row]:
    """Return what a source claims; what it asks is left out."""
    of_source = [row for row in committed_ledger() if row["claim"].startswith(f"{source}/")]
    return [row for row in of_source if row["question"] == "False"]


def _due(source: str) -> list[Row]:
    """Return what does not hold as it stands."""
    return [row for row in _stated(source) if row["cause"]]


def _counted(stated: Sequence[Row], number_of_causes: int) -> str:
    """Return how many statements hold, are not settled, or stand below."""
    sound = sum(row["status"] == "holds" for row in stated)
    unsettled = sum(row["status"] == "not settled" for row in stated)
    several = "one cause" if number_of_causes == 1 else f"{number_of_causes} causes"
    number = "one" if unsettled == 1 else unsettled
    middle = f", {number} could not be settled" if unsettled else ""
    others = len(stated) - sound - unsettled
    last = "one needs the correction below"
    if others > 1:
        last = f"the others need corrections, which have {several}"
    return (
        f"We recomputed {len(stated)} statements of the paper. Of these, {sound} hold as they "
        f"stand{middle}, and {last}."
    )


def causes(due: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return claims by their cause, the most important cause first."""

    def by_cause(row: Row) -> str:
        return row["cause"]

    grouped = {cause: list(rows) for cause, rows in groupby(sorted(due, key=by_cause), by_cause)}

    def weight(cause: str) -> tuple[bool, bool, bool, int]:
        rows = grouped[cause]
        fails = any(row["status"] == "fails" for row in rows)
        numbered = any(row["numbered"] == "True" for row in rows)
        rests = any(row["rests"] for row in rows)
        return not fails, not rests, not numbered, min(map(due.index, rows))

    return [(cause, grouped[cause]) for cause in sorted(grouped, key=weight)]


def item(number: int, cause: str, rows: Sequence[Row]) -> str:
    """Return an item of a sheet: its heading, four points, and the code."""
    shown = next((row for row in rows if row["counterexample"]), None)
    rests = " ".join(row["rests"] for row in rows if row["rests"])
    points = {"The paper": [_paper(row) for row in rows]}
    if shown:
        points["A counterexample"] = [shown["counterexample"]]
    points["What holds"] = [_what_holds(row, labelled=len(rows) > 1) for row in rows]
    points["What depends on it"] = [rests or "Nothing else that we found."]

    lines = [f"\n## {number}. {cause}\n"]
    lines += [_point(label, texts) for label, texts in points.items()]
    if shown:
        lines += ["", "```python", shown["python"], f"# prints {printed(shown['python'])}", "```"]
    return "\n".join(lines)


def _point(label: str, texts: Sequence[str]) -> str:
    """Return a point of an item: one text beside its label, or several in a list below it."""
    if len(texts) == 1:
        return f"- *{label}.* {texts[0]}"
    return "\n".join([f"- *{label}.*", *(f"    - {text}" for text in texts)])


def _what_holds(row: Row, *, labelled: bool) -> str:
    """Return what holds in place of a claim, with the place if there are several."""
    text = sentence(row["change"] or row["instead"])
    return f"**{row['place']}**: {text}" if labelled else text


def _paper(row: Row) -> str:
    """Return what the paper says, in our words, and where."""
    mark = "†" if row["rebuilt"] == "True" else ""
    quoted = f" (“{row['quoted']}”)" if row["quoted"] else ""
    reading = f" How we read it: {row['reading'].rstrip('.')}." if row["reading"] else ""
    return f"**{row['place']}**{mark}: {sentence(row['says'])}{quoted}{reading}"


def _observations(source: str, stated: Sequence[Row]) -> Iterator[str]:
    """Yield the end of a sheet: what the authors may like to hear of claims that hold."""
    rows = {row["claim"]: row for row in stated}
    told = [rows[f"{source}/{key}"] for key in claims.sources()[source].observations]
    if told:
        yield "\n## Questions and observations\n"
        if all(row["status"] == "holds" for row in told):
            yield "These statements hold.\n"
        else:
            yield "These statements hold, except where we say that we could not settle one.\n"
        yield "\n".join(map(_observation, told))


def _observation(row: Row) -> str:
    """Return a claim that holds, what was found, and what goes beyond it."""
    mark = "†" if row["rebuilt"] == "True" else ""
    found = (row["evidence"], row["more"], row["remark"])
    words = " ".join(sentence(text) for text in found if text)
    return f"- **{row['place']}**{mark}: {sentence(row['says'])} *We find:* {words}"


def printed(python: str) -> str:
    """Return what lines of Python print, without this package."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(python, {})
    return out.getvalue().strip()
