"""Erratum sheets: for a source's authors and readers, what does not hold as printed, and how to see it without us.

``papers/<source>/errata.toml`` holds, for each corrected or refuted claim and in the order of weight, the smallest
counterexample, one line of Python that shows it, and what in the source rests on the statement. Place, statement and
correction are those of the ledger, and what the line prints is computed; the sheet is ``errata.md.jinja``.
"""

import contextlib
import io
import tomllib
from importlib.resources import files
from pathlib import Path

from ldpnb import claims
from ldpnb.notebook.verdicts import sentence
from ldpnb.run.catalogue import home


def sheets() -> dict[str, Path]:
    """Return where the sheets are committed, of each source with an entry; one of which all holds has none."""
    return {
        key: home() / f"figures/{i}_{key}/errata.md"
        for i, key in enumerate(claims.SOURCES, 1)
        if noted(key)
    }


def noted(source: str) -> dict[str, dict[str, str]]:
    """Return the entries of a source's sheet by claim: ``counterexample``, ``python`` and perhaps ``rests``."""
    file = files(f"ldpnb.papers.{source}").joinpath("errata.toml")
    entries = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {
        f"{source}/{key}": {
            name: text if name == "python" else " ".join(text.split()) for name, text in row.items()
        }
        for key, row in entries.items()
    }


def printed(python: str) -> str:
    """Return what lines of Python print, without this package."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(python, {})
    return out.getvalue().strip()


def sheet(source: str) -> str:
    """Return the erratum sheet of a source, in Markdown; its entries must be of the corrected and refuted claims."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    entries, verdicts = (
        noted(source),
        {claim.id: claims.decide(claim.id) for claim in claims.claims(source)},
    )
    due = {key for key, verdict in verdicts.items() if verdict.status in ("corrected", "refuted")}
    if entries.keys() != due:
        raise ValueError(
            f"sheet and ledger must list the same claims, one lacks {sorted(entries.keys() ^ due)}"
        )
    loader = PackageLoader("ldpnb", "run")
    texts = Environment(
        loader=loader, trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    texts.filters |= {"sentence": sentence, "printed": printed}
    authors, _, title = claims.SOURCES[source].partition(": ")
    return texts.get_template("errata.md.jinja").render(
        authors=authors,
        title=title,
        checked=len(verdicts),
        sure=sum(verdict.status in ("reproduced", "supported") for verdict in verdicts.values()),
        rows=[(claims.find(key), verdicts[key], words) for key, words in entries.items()],
    )
