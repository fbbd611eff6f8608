"""What is derived from the committed ledger: the erratum sheets, and the table of the README."""

import re
from collections.abc import Iterable
from pathlib import Path

from ldpnb import claims, writing
from ldpnb.run import errata
from ldpnb.run.catalogue import home
from ldpnb.run.ledger import committed_ledger, counts
from ldpnb.words import listed

BEGIN = "<!-- verdicts: `ldpnb run 99_verdicts` renews this table -->"
"""The line of the README before the table."""

END = "<!-- end -->"
"""The line of the README after the table."""


def derived() -> dict[Path, str]:
    """Return the text of every derived file as it should be, by its path."""
    readme = home() / "README.md"
    texts = {path: errata.sheet(source) for source, path in errata.sheets().items()}
    return texts | {readme: with_table(readme.read_text(encoding="utf-8"))}


def renew() -> None:
    """Write every derived file whose text has changed, from the ledger as it now stands."""
    committed_ledger.cache_clear()
    for path, text in derived().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            writing.write(path, text.encode())


def with_table(readme: str) -> str:
    """Return the text of the README with the table as the committed ledger has it.

    Raises
    ------
    ValueError
        If the README has lost the lines between which the table stands.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md must have the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def table() -> str:
    """Return how many claims of each source have which status, as a table in Markdown."""
    import pandas as pd

    rows = pd.DataFrame(committed_ledger())
    for column in ("question", "numbered", "rebuilt"):
        rows[column] = rows[column] == "True"

    counted = counts(rows).reset_index()
    is_first_of_source = ~counted["source"].duplicated()
    links = counted["source"].astype(str).map(_link)
    counted["source"] = links.where(is_first_of_source, "")

    heads = list(counted.columns)
    alignment = [":--", ":--"] + ["--:"] * (len(heads) - 2)
    lines = [_line(cells) for cells in (heads, alignment, *counted.astype(str).to_numpy())]

    questions = rows[rows["question"]]
    answered = (questions["status"] == "answered").sum()
    lines += [
        "",
        f"Of the {len(questions)} questions that the sources ask, {answered} are answered. "
        "The words are defined in the [glossary](notebooks/glossary.md#verdicts).",
    ]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _link(source: str) -> str:
    """Return the authors of a source and its year, with a link to its notebooks."""
    about = claims.sources()[source]
    if not about.number:
        return f"[Results of our own](ldpnb/papers/{source})"

    people = about.authors.replace(" and ", ", ").split(", ")
    surnames = listed(person.split()[-1] for person in people)
    name = about.authors if about.authors.startswith("Lecture") else surnames

    year = re.search(r"\d{4}$", source)
    if year:
        name += f" ({year[0]})"
    return f"[{name}](notebooks/{about.folder})"
