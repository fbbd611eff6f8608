"""The pages that follow from the ledger, the notebooks and the package, as Markdown for Sphinx."""

import importlib
import inspect
import json
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import ldpnb
from ldpnb import claims
from ldpnb.run.catalogue import Notebook, catalogue, home
from ldpnb.run.ledger import committed_ledger
from ldpnb.site import live
from ldpnb.site.code import address

COLOURS = {"reproduced": "success", "supported": "success", "refuted": "danger", "corrected": "warning"}
PARTS = {"corrected": "What holds", "assumption": "Assumption", "argument": "Argued in words"}


@cache
def rows() -> list[dict[str, str]]:
    """Return the committed ledger."""
    return committed_ledger().to_dict("records")


def anchor(claim: str) -> str:
    """Return a claim's anchor on the ledger's page.

    >>> anchor("biswas2022/theorem-3.5")
    'biswas2022-theorem-3-5'
    """
    return re.sub(r"[/.]", "-", claim)


def generated() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every generated page, and of the parts that others include."""
    yield "_ledger.md", ledger()
    yield "_tour.html", live.section("00_start_here", [-0.25, 0.5])
    yield "_planner.html", live.section("plan", [100, 1e8])
    yield "_cards.md", "\n\n".join(f"## {title}\n\n{grid(own)}" for title, own in groups().items())
    yield "read.md", notebooks()
    yield from package()


def ledger() -> str:
    """Return every claim with its verdict, a section each under its source."""
    parts = []
    for source, title in claims.LEDGERS.items():
        own = [row for row in rows() if row["claim"].split("/")[0] == source]
        counts = Counter(row["status"] for row in own)
        words = ", ".join(f"{count} {status}" for status, count in counts.items())
        parts += [f"## {title}", f"{len(own)} claims: {words}.", *map(claim, own)]
    return "\n\n".join(parts) + "\n"


def claim(row: dict[str, str]) -> str:
    """Return one claim: its verdict, what it says, what holds, the evidence, and where all that is."""
    source = row["claim"].split("/")[0]
    words = [f"{part}-{row[part].replace(' ', '-')}" for part in ("status", "reach", "kind")] + [f"source-{source}"]
    status = f"{{bdg-{COLOURS.get(row['status'], 'info')}}}`{row['status']}`"
    shown = f"[{source} in its notebook](/notebooks/{row['notebook']}.ipynb)" if row["notebook"] else source
    rates = ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in ("false_alarm", "power") if row[name])
    reading = "; the formula is lost in the text at hand and rebuilt" if row["reading"] == "reconstructed" else ""
    lines = [
        f"- {title}{reading if part == 'assumption' else ''}: {row[part]}" for part, title in PARTS.items() if row[part]
    ]
    lines += [
        f"- Decided for {row['reach']}" + (f": {row['over']}" if row["over"] else ""),
        f"- Evidence ({row['kind']}{', ' if rates else ''}{rates}): {row['evidence']}",
        f"- {code(row['claim'])}",
    ]
    body = "\n".join([f"{status} {shown}", "", says(row), "", *lines])
    return f"({anchor(row['claim'])})=\n### {row['place']}\n\n:::{{container}} claim {' '.join(words)}\n{body}\n:::"


def code(identifier: str) -> str:
    """Return the links of a claim to the lines that decide it and to the formulas it rests on."""
    known = claims.find(identifier)
    check = claims.path_of(inspect.unwrap(known.check))
    rests = [f"[`{'.'.join(path.split('.')[-2:])}`](code:{address(f'ldpnb.{path}')})" for path in known.rests_on]
    return f"[The lines that decide it](code:{address(f'ldpnb.{check}')}); rests on {', '.join(rests)}"


def says(row: dict[str, str]) -> str:
    """Return what a claim says, as a sentence."""
    return row["says"][:1].upper() + row["says"][1:].rstrip(".") + "."


def groups() -> dict[str, list[Notebook]]:
    """Return the notebooks by the title of their source; those of no source first."""
    groups: dict[str, list[Notebook]] = {}
    for notebook in catalogue():
        groups.setdefault(claims.LEDGERS.get(notebook.source, "Start, plan, try your own data"), []).append(notebook)
    return groups


def notebooks() -> str:
    """Return the page of notebooks: the tree of the sidebar, by source."""
    parts = [
        "# Notebooks",
        "Each begins with a question and ends with sliders. [Paths](notebooks/paths.md) lead through them by topic.",
    ]
    for title, own in groups().items():
        extra = ["notebooks/paths", "notebooks/glossary"] if own[0].source not in claims.SOURCES else []
        names = "\n".join([*(f"notebooks/{notebook.id}" for notebook in own), *extra])
        parts.append(f"```{{toctree}}\n:maxdepth: 1\n:caption: {title}\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"


def grid(shown: list[Notebook]) -> str:
    """Return notebooks as cards with picture, title, finding and verdicts."""
    return "::::{grid} 1 2 3 3\n:gutter: 3\n\n" + "\n".join(map(card, shown)) + "\n::::"


def card(notebook: Notebook) -> str:
    """Return a notebook's card: its first figure, what it finds, and how its claims came out."""
    cells = json.loads(notebook.path.read_bytes())["cells"]
    text = "".join(line for cell in cells for line in cell["source"])
    folder = home() / "figures" / notebook.id
    names = [path.stem for path in sorted(folder.glob("*.png"))]
    first = min(names, key=lambda stem: text.find(f'"{stem}"') % len(text), default=None)
    picture, finding = [], ""
    if first:
        finding = str(json.loads((folder / f"{first}.json").read_bytes()).get("title", ""))
        picture = [f":img-top: /figures/{notebook.id}/{first}.png", f":img-alt: {finding or 'first figure'}"]
    counts = Counter(row["status"] for row in rows() if row["notebook"] == notebook.id)
    badges = " ".join(f"{{bdg-{COLOURS.get(status, 'info')}}}`{n} {status}`" for status, n in counts.items())
    head = [f":::{{grid-item-card}} {notebook.title}", f":link: /notebooks/{notebook.id}", ":link-type: doc", *picture]
    return "\n".join([*head, "", finding, "", badges, ":::"])


def package() -> Iterator[tuple[str, str]]:
    """Yield a page for the public names of each subpackage, and the page that lists these."""
    stubs = Path(ldpnb.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    parts: dict[str, list[str]] = {}
    for module, name in re.findall(r"^from \.(\S+) import \w+ as (\w+)", stubs, re.M):
        parts.setdefault(module.split(".")[0], []).append(f"ldpnb.{module}.{name}")
    for part, names in parts.items():
        opening = (importlib.import_module(f"ldpnb.{part}").__doc__ or "").partition("\n\n")[0]
        table = [".. autosummary::", "   :nosignatures:", "", *(f"   ~{name}" for name in names)]
        lines = [part, "=" * len(part), "", opening, "", *table, ""]
        for name in names:
            short = name.rpartition(".")[2]
            value = pkgutil.resolve_name(name)
            kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
            members = ["   :members:"] if kind == "class" else []
            lines += [short, "-" * len(short), "", f".. auto{kind}:: {name}", *members, ""]
        yield f"package/{part}.rst", "\n".join(lines)
    tree = "\n".join(f"package/{part}" for part in parts)
    yield (
        "package.md",
        f"# The package\n\nWhat `import ldpnb as ldp` offers.\n\n```{{toctree}}\n:maxdepth: 2\n\n{tree}\n```\n",
    )


def published(name: str) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return a published figure's caption, title, setting and encoding, and its numbers."""
    path = home() / f"figures/{name}"
    table = pd.read_csv(path.with_suffix(".csv"), keep_default_na=False, na_values=[""])
    return json.loads(path.with_suffix(".json").read_bytes()), table
