"""The front page: three results with their pictures, and every notebook with its finding."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ldpnb.claims import LEDGERS, SOURCES
from ldpnb.run.catalogue import Notebook
from ldpnb.site.entries import REACHES, STATUSES, Entry
from ldpnb.site.markdown import render
from ldpnb.site.pages import Published, published

SURPRISING = (
    ("companion/a-secret-lottery-over-allocations", "2_bun2022/06_private_allocation/best_rules"),
    ("companion/when-rounding-amplifies", "2_bun2022/02_data_dependent_sizes/threshold"),
    (
        "companion/shuffled-reports-against-central-gaussian-noise",
        "1_biswas2022/04_open_questions/variance_ratio",
    ),
    ("biswas2022/theorem-3.5", "00_start_here/refuted_theorem"),
    ("lecture20/frequency-sign-randomiser", "5_lecture20/02_frequencies/sign_loss"),
)
"""What nobody would have guessed, the three of the tour before two about the sources: a claim, and its figure."""


@dataclass(frozen=True, slots=True)
class Card:
    """A notebook in the gallery."""

    page: str
    title: Markup
    finding: Markup
    picture: Published | None
    statuses: list[tuple[str, int]]
    reaches: list[tuple[str, int]]


def surprises(entries: Iterable[Entry], notebooks: Iterable[Notebook]) -> list[tuple[Entry, Published]]:
    """Return the results that open the front page, each with its figure."""
    claims = {e.claim: e for e in entries}
    figures = {f.stem: f for n in notebooks for f in published(n) if ".png" in f.suffixes}
    return [(claims[c], figures[f]) for c, f in SURPRISING if c in claims and f in figures]


def gallery(notebooks: Sequence[Notebook], entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the notebooks as cards by source: those of no source first."""
    groups: list[dict[str, Any]] = [
        {"key": "", "title": "", "brief": False, "cards": [n for n in notebooks if n.source not in SOURCES]}
    ]
    for key, title in LEDGERS.items():
        shown = [n for n in notebooks if n.source == key]
        beyond = [n for n in notebooks if any(c.startswith(f"{key}/") for c in n.claims)]
        groups.append({"key": key, "title": title, "cards": shown or beyond, "brief": not shown})
    return [g | {"cards": [_card(n, entries, g["key"]) for n in g["cards"]]} for g in groups]


def _card(notebook: Notebook, entries: Sequence[Entry], source: str) -> Card:
    decided = [e for e in entries if e.notebook == notebook.id and (not source or e.source == source)]
    words = Counter(word for e in decided for word in (e.status, e.reach))
    cells = json.loads(notebook.path.read_bytes())["cells"]
    prose = " ".join("".join(cells[0]["source"]).split())
    finding = re.search(r"(?<=\s)You will [^;]*?(?=;|\.(\s|$))", prose)
    return Card(
        f"{notebook.id}.html",
        _inline(notebook.title),
        _inline(f"{finding[0]}." if finding else ""),
        _first_picture(notebook, "".join(text for c in cells for text in c["source"])),
        [(word, words[word]) for word in STATUSES if words[word]],
        [(word, words[word]) for word in REACHES if words[word]],
    )


def _inline(text: str) -> Markup:
    """Return a line of Markdown without a paragraph around it and without links."""
    return Markup(re.sub(r"</?(p|a)\b[^>]*>|\n", "", render(text, str)))


def _first_picture(notebook: Notebook, code: str) -> Published | None:
    """Return the figure that comes first in the notebook's code."""
    pictures = [f for f in published(notebook) if ".png" in f.suffixes]
    name = {f.stem: code.find(f'"{f.stem.rsplit("/", 1)[1]}"') for f in pictures}
    return min(pictures, key=lambda f: name[f.stem] % len(code), default=None)


def headline(entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Return how many of the sources' claims came out how."""
    counts = Counter(e.status for e in entries if e.source in SOURCES)
    return [(s, counts[s]) for s in STATUSES if counts[s]]
