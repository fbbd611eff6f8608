"""Pages that follow from the ledger, the notebooks and the package: Markdown for Sphinx, and code to link to."""

import json
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb import claims
from ldpnb.claims.formulas import resting_on
from ldpnb.notebook.verdicts import details, sentence
from ldpnb.run.catalogue import Notebook, catalogue, home
from ldpnb.run.ledger import committed_ledger, place

PACKAGE = Path(ldpnb.__file__).parent
PLAIN = "n|nn|nf|nc|nd|nb|bp|fm|p|o|ow|w|m[ifho]|s[ai]"
"""Tokens of code that are not coloured, by far the most."""
COLOURS = {"holds": "success", "holds with a change": "warning", "fails": "danger"}


def anchor(claim: str) -> str:
    """Return a claim's anchor on the ledger's page, such as ``biswas2022-theorem-3-5``."""
    return re.sub(r"[/.]", "-", claim)


def generated() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every generated page, and of the parts that others include."""
    yield "_ledger.md", ledger()
    yield from notebooks()
    yield from package()


def ledger() -> str:
    """Return every claim with its verdict, a section each under its source."""
    parts = []
    for source, about in claims.sources().items():
        own = [row for row in committed_ledger() if row["claim"].split("/")[0] == source]
        counts = Counter(row["status"] for row in own)
        words = ", ".join(f"{count} {status}" for status, count in counts.items())
        parts += [f"## {about.heading}", f"{len(own)} claims: {words}.", *map(claim, own)]
    return "\n\n".join(parts) + "\n"


def claim(row: dict[str, str]) -> str:
    """Return one claim: its verdict, what it says, what holds, the evidence, and where all that is."""
    source, known = row["claim"].split("/")[0], claims.find(row["claim"])
    parts = ("status", "how")
    words = [f"{part}-{row[part].replace(',', '').replace(' ', '-')}" for part in parts]
    words.append(f"source-{source}")
    shown = (
        f"[{source} in its notebook](/notebooks/{row['notebook']}.ipynb)"
        if row["notebook"]
        else source
    )
    check = address(known.check)
    rests = [
        f"[`{'.'.join(path.split('.')[-2:])}`](code:{address(pkgutil.resolve_name(f'ldpnb.{path}'))})"
        for path in resting_on(known)
    ]
    points = [f"- {label}: {text}" for label, text in details(row)]
    lines = [
        f"({anchor(row['claim'])})=\n### {row['place']}\n\n:::{{container}} claim {' '.join(words)}",
        f"{{bdg-{COLOURS.get(row['status'], 'info')}}}`{row['status']}` {shown}\n",
        f"{sentence(row['says'])} *({row['how']})*\n",
        *points,
        f"- [The lines that decide it](code:{check}); rests on {', '.join(rests)}\n:::",
    ]
    return "\n".join(lines)


def notebooks() -> Iterator[tuple[str, str]]:
    """Yield the page of notebooks, which is the tree of the sidebar, and the cards of the front page, by source."""
    groups: dict[str, list[Notebook]] = {}
    for notebook in catalogue():
        groups.setdefault(_heading(notebook.source), []).append(notebook)
    paths = "[Paths](notebooks/paths.md) lead through them by topic."
    trees, cards = (
        [f"# Notebooks\n\nEach begins with a question and ends with sliders. {paths}"],
        [],
    )
    for title, own in groups.items():
        names = [f"notebooks/{notebook.id}" for notebook in own]
        if not own[0].source:
            names += ["notebooks/paths", "notebooks/glossary"]
        trees.append(
            "\n".join(["```{toctree}", ":maxdepth: 1", f":caption: {title}", "", *names, "```"])
        )
        cards.append(
            "\n".join(
                [f"## {title}", "", "::::{grid} 1 2 3 3", ":gutter: 3", "", *map(card, own), "::::"]
            )
        )
    yield "read.md", "\n\n".join(trees)
    yield "_cards.md", "\n\n".join(cards)


def _heading(source: str) -> str:
    """Return the heading of a source's notebooks, or of those that are of none."""
    about = claims.sources().get(source)
    if about:
        return about.heading
    return source.capitalize() or "Start, plan, try your own data"


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
        picture = [
            f":img-top: /figures/{notebook.id}/{first}.png",
            f":img-alt: {finding or 'first figure'}",
        ]
    counts = Counter(row["status"] for row in committed_ledger() if row["notebook"] == notebook.id)
    badges = " ".join(
        f"{{bdg-{COLOURS.get(status, 'info')}}}`{n} {status}`" for status, n in counts.items()
    )
    head = [
        f":::{{grid-item-card}} {notebook.title}",
        f":link: /notebooks/{notebook.id}",
        ":link-type: doc",
        *picture,
    ]
    return "\n".join([*head, "", finding, "", badges, ":::"])


def package() -> Iterator[tuple[str, str]]:
    """Yield a page for the public names of each subpackage, and the page that lists these."""
    stubs = (PACKAGE / "__init__.pyi").read_text(encoding="utf-8")
    parts: dict[str, dict[str, list[str]]] = {}
    for module, name in re.findall(r"^from \.(\S+) import \w+ as (\w+)", stubs, re.M):
        part = module.partition(".")[0]
        parts.setdefault(part, {part: []}).setdefault(module, []).append(name)
    for part, modules in parts.items():
        names = [f"   ~ldpnb.{module}.{name}" for module, own in modules.items() for name in own]
        opening, *texts = (
            f".. automodule:: ldpnb.{module}\n"
            + (f"   :members: {', '.join(own)}\n" if own else "")
            for module, own in modules.items()
        )
        table = "\n".join(
            [".. currentmodule:: None", "", ".. autosummary::", "   :nosignatures:", "", *names]
        )
        yield (
            f"package/{part}.rst",
            "\n\n".join([f"{part}\n{'=' * len(part)}", opening, table, *texts]),
        )
    tree = "```{toctree}\n:maxdepth: 2\n:glob:\n\npackage/*\n```"
    yield "package.md", f"# The package\n\nWhat `import ldpnb as ldp` offers.\n\n{tree}\n"


def address(thing: Any) -> str:
    """Return the page and line of a function, method, property or class of the package, from the root of the site."""
    file, line = place(thing)
    return f"code/{file.with_suffix('.html').as_posix()}#L-{line}"


def code(_app: Any) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield a page of the code of each module, for Sphinx's event ``html-collect-pages``."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(linespans="L", cssclass="highlight code")
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE.parent)
        text = highlight(path.read_text(encoding="utf-8"), PythonLexer(), formatter)
        text = re.sub(rf'<span class="(?:{PLAIN})">([^<]*)</span>', r"\1", text).replace(
            "<pre>", '<pre tabindex="0">'
        )
        yield (
            f"code/{name.with_suffix('').as_posix()}",
            {"title": name.as_posix(), "body": text},
            "code.html",
        )
