"""One notebook as one page: nbconvert's walk through the cells, our templates, the committed figures with their
captions and files.
"""

import base64
import html
import json
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

from markupsafe import Markup

from ldpnb.checks import UsageError
from ldpnb.claims import SOURCES
from ldpnb.run import imports
from ldpnb.run.catalogue import Notebook, home
from ldpnb.site.atlas import Atlas
from ldpnb.site.entries import STATUSES, Entry
from ldpnb.site.inert import require_inert
from ldpnb.site.markdown import plain, render, slug
from ldpnb.site.sources import highlighted
from ldpnb.site.templates import HERE, page

_FILES = (".pdf", ".csv", ".tex")
_NUMBER = re.compile(r"|[-+]?[\d.,]+(e[-+]?\d+)?|-?inf|nan|NaN", re.IGNORECASE)
_VERDICT = re.compile(rf"\*\*(?P<place>[^\n]+): (?P<status>{'|'.join(STATUSES)})\.\*\*")


@dataclass(frozen=True, slots=True)
class Published:
    """A figure or table that a notebook's run left under ``figures/``."""

    stem: str
    caption: str
    suffixes: tuple[str, ...]


def published(notebook: Notebook) -> list[Published]:
    """Return what a notebook's last run left."""
    folder = home() / "figures"
    found = []
    for about in sorted((folder / notebook.id).glob("*.json")):
        stem = about.relative_to(folder).with_suffix("").as_posix()
        caption = json.loads(about.read_text(encoding="utf-8"))["caption"]
        found.append(Published(stem, caption, tuple(s for s in (".png", *_FILES) if about.with_suffix(s).exists())))
    return found


def notebook_page(
    notebook: Notebook, ledger: Iterable[Entry], neighbours: Sequence[Notebook | None], atlas: Atlas
) -> str:
    """Return the page of an executed notebook.

    Parameters
    ----------
    notebook : Notebook
    ledger : iterable of Entry
        All verdicts; those shown in this notebook become its summary.
    neighbours : (Notebook or None, Notebook or None)
        The one before and the one after.
    atlas : Atlas
        Learns what the page links to.

    Raises
    ------
    UsageError
        If a cell was not executed, a picture has no published figure, a formula no translation, a link no target, or
        something in it could run.
    """
    address = f"{notebook.id}.html"
    relink = atlas.relink(address, f"notebooks/{notebook.id}.ipynb")
    decided = [e for e in ledger if e.notebook == notebook.id]
    try:
        body = require_inert(_body(notebook, decided, relink))
        tables = require_inert("".join(_figure(f, notebook) for f in published(notebook) if ".png" not in f.suffixes))
    except ValueError as error:
        raise UsageError(f"{notebook.id}: {error}") from error
    heading, body = _heading(body, notebook.title)
    title = plain(notebook.title)
    return page(
        "notebook",
        address,
        title=title,
        description=title,
        id=notebook.id,
        name=PurePosixPath(notebook.id).name,
        source=notebook.source if notebook.source in SOURCES else "",
        heading=Markup(heading),
        body=Markup(_in_boxes(body) + tables),
        decided={s: [e for e in decided if e.status == s] for s in STATUSES},
        before=neighbours[0],
        after=neighbours[1],
    )


def _body(notebook: Notebook, decided: list[Entry], relink: Any) -> str:
    imports.jsonschema()
    import nbformat
    from jinja2 import FileSystemLoader
    from nbconvert.exporters import TemplateExporter

    node = nbformat.read(notebook.path, as_version=4)
    _annotate(node, notebook)
    anchors = {e.place: e.anchor for e in decided}
    exporter = TemplateExporter(
        template_name="base",
        template_file="cells.html.j2",
        extra_loaders=[FileSystemLoader(HERE / "templates")],
        filters={
            "prose": lambda text: render(text, relink),
            "results": lambda text: _results(text, anchors, relink),
            "code": highlighted,
            "table": _table,
        },
    )
    return str(exporter.from_notebook_node(node)[0])


def _annotate(node: Any, notebook: Notebook) -> None:
    """Note in the cells' metadata what the template shows of them beside their text."""
    figures = {_content(f): f for f in published(notebook) if ".png" in f.suffixes}
    for cell in node.cells:
        if cell.cell_type != "code":
            continue
        if cell.source and cell.execution_count is None:
            raise ValueError(f"it has not been executed; `ldpnb run {notebook.id}` does it")
        cell.metadata["live"] = bool(re.search(r"^live\(", cell.source, re.MULTILINE))
        cell.metadata["shown_parameters"] = (
            _parameters(notebook) if "parameters" in cell.metadata.get("tags", []) else ""
        )
        for output in (o for o in cell.outputs if "image/png" in o.get("data", {})):
            figure = figures.get(base64.b64decode(output.data["image/png"]))
            if figure is None:
                raise ValueError(
                    f"a picture in it is not among its figures; `ldpnb run --force {notebook.id}` renews both"
                )
            output.metadata["figure"] = _figure(figure, notebook)


def _content(figure: Published) -> bytes:
    return (home() / "figures" / f"{figure.stem}.png").read_bytes()


def _figure(figure: Published, notebook: Notebook) -> str:
    """Return a published figure with its caption and the links to its files; of a table, those alone."""
    base = PurePosixPath(notebook.id).name + figure.stem.removeprefix(notebook.id)
    links = "".join(f'<a href="{base}{s}" download>{s}</a>' for s in figure.suffixes if s in _FILES)
    caption = render(figure.caption, lambda url: url).removeprefix("<p>").removesuffix("</p>\n")
    picture = ""
    if ".png" in figure.suffixes:
        # the size in the file's header, at the density at which figures are drawn
        width, height = (round(n / 1.5) for n in struct.unpack(">II", _content(figure)[16:24]))
        picture = f'<img src="{base}.png" width="{width}" height="{height}" alt="{html.escape(plain(figure.caption))}">'
        picture = f'<a href="{base}.png">{picture}</a>\n'
    return f'<figure>\n{picture}<figcaption>{caption} <span class="files screen">{links}</span></figcaption>\n</figure>'


def _parameters(notebook: Notebook) -> str:
    """Return the table of a notebook's parameters."""
    rows = "".join(
        f'<tr><th scope="row"><code>{p.name}</code></th><td><code>{html.escape(repr(p.default))}</code></td><td>{html.escape(p.meaning)}</td></tr>\n'
        for p in notebook.parameters
    )
    head = '<tr><th scope="col">parameter</th><th scope="col">value</th><th scope="col">meaning</th></tr>'
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table>"


def _results(text: str, anchors: dict[str, str], relink: Any) -> str:
    """Return a Markdown output as HTML, with every verdict in it as a section that can be linked to."""
    blocks = re.split(rf"\n\n(?={_VERDICT.pattern.replace('?P<place>', '?:').replace('?P<status>', '?:')})", text)
    return "".join(_block(b, anchors, relink) for b in blocks)


def _block(text: str, anchors: dict[str, str], relink: Any) -> str:
    content = render(text, relink)
    verdict = _VERDICT.match(text)
    if verdict is None:
        return content
    place = re.sub(r"\\(.)", r"\1", verdict["place"])
    anchor = f' id="{anchors[place]}"' if place in anchors else ""
    return f'<section class="verdict {verdict["status"]}"{anchor}>\n{content}</section>\n'


def _table(markup: str) -> str:
    """Return pandas' table without its style sheet and its row numbers, headings named as such and columns of text
    aligned like text.
    """
    if 'class="dataframe"' not in markup:
        return markup
    tree = fromstring(re.sub(r"<style.*?</style>|&nbsp;", "", markup, flags=re.DOTALL))
    table = next(tree.iter("table"))
    del table.attrib["border"]
    head, body = ([list(row) for row in part] for part in (table[0], table[1]))
    # with a single row of headings the rows have no name of their own
    if len(head) == 1 and all((row[0].text or "").isdigit() for row in body):
        for row in (*table[0], *table[1]):
            row.remove(row[0])
    for row in (*table[0], *table[1]):
        row.attrib.pop("style", None)
        for cell in row:
            if cell.tag == "th":
                cell.set("scope", "col" if row in list(table[0]) else "row")
    _align(table)
    return tostring(table, encoding="unicode", method="html")


def _align(table: Element) -> None:
    """Mark the columns that hold text."""
    for i in range(len(table[1][0]) if len(table[1]) else 0):
        cells = [row[i] for row in table[1] if len(row) > i and row[i].tag == "td"]
        if any(not _NUMBER.fullmatch("".join(c.itertext()).strip()) for c in cells):
            for cell in [*cells, *(row[i] for row in table[0] if len(row) > i)]:
                cell.set("class", "text")


def _in_boxes(body: str) -> str:
    """Put every table into a box in which it scrolls where the page is narrower."""
    return re.sub(r"<table.*?</table>", r'<div class="scroll">\g<0></div>', body, flags=re.DOTALL)


def _heading(body: str, title: str) -> tuple[str, str]:
    """Return the page's first heading and the rest."""
    found = re.search(r"<h1.*?</h1>\n?", body, re.DOTALL)
    if found is None:
        return f'<h1 id="{slug(title)}">{html.escape(title)}</h1>', body
    return found[0], body[: found.start()] + body[found.end() :]
