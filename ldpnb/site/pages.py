"""Pages that follow from the ledger, the notebooks and the package."""

import ast
import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import ldpnb
from ldpnb import claims
from ldpnb.notebook.verdicts import details, sentence
from ldpnb.run.catalogue import Notebook, catalogue, home
from ldpnb.run.ledger import committed_ledger, counted, place
from ldpnb.site.notebooks import literal

Row = dict[str, str]
"""A claim in the committed ledger."""

FILTERS = ("status", "how")
"""Columns of the ledger by which the reader can choose."""

COLOURS = {"holds": "success", "holds with a change": "warning", "fails": "danger"}
"""The theme's colours of the statuses; all others have the colour ``info``."""

GENERAL = "Start here, and your own data"
"""The heading over the notebooks that belong to no source."""


def generated() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every generated page, and of the parts that others include."""
    yield "_ledger.md", ledger()
    yield "_sources.md", sources()
    yield "notebooks/index.md", notebooks()
    yield "library.rst", library()


# The ledger


def anchor(claim: str) -> str:
    """Return a claim's anchor on the ledger's page, such as ``biswas2022-theorem-3-5``."""
    return re.sub(r"[/.]", "-", claim)


def cited(source: str) -> str:
    """Return the word for a source in the heading of a claim.

    It is the first author's surname, "Lecture 20", or the key of a source without authors. It is
    short because the site's search lists a heading only if the query is at least half of it.
    """
    authors = claims.sources()[source].authors
    first = re.split(",| and ", authors)[0]
    has_several = first != authors
    if has_several:
        return first.split()[-1]
    return authors or source


def heading_of(source: str) -> str:
    """Return the heading over a source's claims or notebooks, or over those of none."""
    about = claims.sources().get(source)
    if about:
        return about.heading
    return source.capitalize() or GENERAL


def ledger() -> str:
    """Return every claim with its verdict, a section each under its source."""
    parts = []
    for source, about in claims.sources().items():
        rows = of_source(source)
        parts.append(f"## {about.heading}")
        parts.append(f"{len(rows)} claims: {counted(row['status'] for row in rows)}.")
        parts += [claim(row) for row in rows]
    return "\n\n".join(parts) + "\n"


def of_source(source: str) -> list[Row]:
    """Return the rows of the committed ledger that belong to a source."""
    return [row for row in committed_ledger() if row["claim"].split("/")[0] == source]


def badge(status: str, text: str) -> str:
    """Return a status in its colour."""
    return f"{{bdg-{COLOURS.get(status, 'info')}}}`{text}`"


def claim(row: Row) -> str:
    """Return one claim: its verdict, what it says, what holds, the evidence, and the check."""
    source = row["claim"].split("/")[0]
    words = [f"source-{source}"]
    for name in FILTERS:
        words.append(f"{name}-{row[name].replace(',', '').replace(' ', '-')}")

    status = f"{badge(row['status'], row['status'])} {row['how']}"
    if row["notebook"]:
        status += f"; [in its notebook](/notebooks/{row['notebook']}.ipynb)"
    points = [f"- {label}: {text}" for label, text in details(row)]
    check = inspect.unwrap(claims.find(row["claim"]).check)
    file, _ = place(check)

    return "\n".join(
        [
            f"({anchor(row['claim'])})=",
            f"### {row['place']} ({cited(source)})",
            "",
            f"::::{{container}} claim {' '.join(words)}",
            f"{status}\n",
            f"{sentence(row['says'])}\n",
            *points,
            "",
            ":::{dropdown} The lines that decide it",
            f"In `{file.as_posix()}`:\n",
            "````{code-block} python",
            inspect.getsource(check).rstrip(),
            "````",
            ":::",
            "::::",
        ]
    )


# Notebooks


def groups() -> dict[str, list[Notebook]]:
    """Return the notebooks by the key of their source, which is empty for those without one."""
    by_source: dict[str, list[Notebook]] = {}
    for notebook in catalogue():
        by_source.setdefault(notebook.source, []).append(notebook)
    return by_source


def notebooks() -> str:
    """Return the page of all notebooks, with a card for each."""
    parts = [
        "# Notebooks",
        "All of them except the ledger begin with a question. [Paths](paths.md) lead through them"
        " by topic, and the [glossary](glossary.md) explains words and symbols.",
    ]
    for source, group in groups().items():
        pages = [notebook.id for notebook in group]
        if not source:
            pages += ["paths", "glossary"]

        cards = [card(notebook) for notebook in group]
        parts += [
            f"(notebooks-{source or 'start'})=\n## {heading_of(source)}",
            "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"]),
            "\n".join(["::::{grid} 1 2 3 3", ":gutter: 3", "", *cards, "::::"]),
        ]
    return "\n\n".join(parts) + "\n"


def card(notebook: Notebook) -> str:
    """Return a notebook's card: its first figure, what it finds, and how its claims came out."""
    content = json.loads(notebook.path.read_bytes())
    sources_of_cells = ["".join(cell["source"]) for cell in content["cells"]]
    lines = [
        f":::{{grid-item-card}} {notebook.title}",
        f":link: /notebooks/{notebook.id}",
        ":link-type: doc",
    ]

    # The first figure is the one whose name comes first in the cells.
    text = "\n".join(sources_of_cells)
    folder = home() / "figures" / notebook.id
    names = [path.stem for path in folder.glob("*.png") if f'"{path.stem}"' in text]
    first = min(names, key=lambda name: text.index(f'"{name}"'), default=None)
    if first is None:
        finding = opening(sources_of_cells[0])
    else:
        title = json.loads((folder / f"{first}.json").read_bytes()).get("title", "")
        finding = literal(title)
        lines.append(f":img-top: /figures/{notebook.id}/{first}.png")
        lines.append(f":img-alt: {title or 'first figure'}")

    statuses = [row["status"] for row in committed_ledger() if row["notebook"] == notebook.id]
    counts = Counter(statuses)
    badges = " ".join(badge(status, f"{count} {status}") for status, count in counts.items())
    return "\n".join([*lines, "", finding, "", badges, ":::"])


def opening(text: str) -> str:
    """Return the first sentence of the first paragraph below a title."""
    _, _, below = text.partition("\n")
    first_paragraph = below.strip().split("\n\n")[0]
    words = " ".join(first_paragraph.split())
    return re.split(r"(?<=[.?!:]) ", words)[0]


def sources() -> str:
    """Return a card for each source: how many notebooks it has, and how its claims came out."""
    cards = []
    for source, group in groups().items():
        count = f"{len(group)} notebooks"
        verdicts = of_source(source)
        if verdicts:
            count += f"; {len(verdicts)} claims: {counted(row['status'] for row in verdicts)}"

        lines = [
            f":::{{grid-item-card}} {heading_of(source)}",
            f":link: notebooks-{source or 'start'}",
            ":link-type: ref",
            "",
            f"{count}.",
            ":::",
        ]
        cards.append("\n".join(lines))
    return "\n".join(["::::{grid} 1 2 2 3", ":gutter: 3", "", *cards, "::::"]) + "\n"


# The library


def library() -> str:
    """Return the page of the public names by folder, and of the modules that notebooks link to."""
    stub = Path(ldpnb.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    rooms: dict[str, list[str]] = {}
    for line in ast.parse(stub).body:
        if isinstance(line, ast.ImportFrom) and line.module:
            room = line.module.split(".")[0]
            names = [name.asname or name.name for name in line.names]
            rooms.setdefault(room, []).extend(names)

    parts = [
        heading("The library", "="),
        "What ``import ldpnb as ldp`` offers, and the modules of formulas that notebooks link to.",
    ]
    for room, names in rooms.items():
        parts.append(heading(room.capitalize(), "-"))
        parts.append(table([f"~ldpnb.{name}" for name in names]))
    parts.append(heading("Modules that notebooks link to", "-"))
    parts.append(table(linked_modules()))
    return "\n\n".join(parts) + "\n"


def heading(text: str, underline: str) -> str:
    """Return a heading in reStructuredText, with a line of that character below it."""
    return f"{text}\n{underline * len(text)}"


def table(names: list[str]) -> str:
    """Return a table of names, each with its first sentence and a page of its own."""
    options = ["   :toctree: api", "   :nosignatures:", ""]
    return "\n".join([".. autosummary::", *options, *(f"   {name}" for name in names)])


def linked_modules() -> list[str]:
    """Return the modules to whose files the notebooks and the pages link."""
    files: set[str] = set()
    for notebook in catalogue():
        text = notebook.path.read_text(encoding="utf-8")
        files.update(re.findall(r"\]\((?:\.\./)+(ldpnb/[\w/]+)\.py", text))
    return sorted(file.removesuffix("/__init__").replace("/", ".") for file in files)
