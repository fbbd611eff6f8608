"""One notebook as one page: its cells in order, its figures with captions and files."""

import base64
import html
import json
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

from markupsafe import Markup

from ldpnb import writing
from ldpnb.checks import UsageError
from ldpnb.claims import SOURCES
from ldpnb.notebook.notation import marked
from ldpnb.run.catalogue import Notebook, home
from ldpnb.site import charts, launch, reference
from ldpnb.site.atlas import Atlas
from ldpnb.site.atlas import address as address_of
from ldpnb.site.entries import STATUSES, Entry
from ldpnb.site.inert import require_inert
from ldpnb.site.markdown import render
from ldpnb.site.notation import typeset
from ldpnb.site.plain import plain, slug
from ldpnb.site.sources import highlighted
from ldpnb.site.templates import fragment, page

_FILES = (".png", ".pdf", ".csv", ".tex")
_NUMBER = re.compile(r"|[-+]?[\d.,]+(e[-+]?\d+)?|-?inf|nan|NaN", re.IGNORECASE)
_VERDICT = re.compile(rf"\*\*([^\n]+): ({'|'.join(STATUSES)})\.\*\*")


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
        with writing.whole(about) as text:
            caption = json.loads(text)["caption"]
        found.append(Published(stem, caption, tuple(s for s in _FILES if about.with_suffix(s).exists())))
    return found


def notebook_page(
    notebook: Notebook,
    ledger: Iterable[Entry],
    neighbours: Sequence[Notebook | None],
    atlas: Atlas,
    scripts: Sequence[str] = (),
) -> str:
    """Return the page of an executed notebook, with links to the one before and the one after.

    Of the ledger, the verdicts shown in this notebook become its summary; the atlas learns what the page links to. The
    scripts, by their addresses from the site's root, make its figures charts and its live section play.

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
        plays = any(script.endswith("/explore.js") for script in scripts)
        body = require_inert(_body(notebook, decided, relink, plays))
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
        launch=launch.links(launch.repository(), f"notebooks/{notebook.id}.ipynb"),
        needs=launch.needs(launch.repository()),
        library=sorted({found for e in decided for found in reference.rests_on(e.claim)}),
        before=neighbours[0],
        after=neighbours[1],
        scripts=scripts,
    )


def text_page(path: Path, atlas: Atlas) -> str:
    """Return the page of a text beside the notebooks, such as the glossary."""
    place = path.relative_to(home()).as_posix()
    address = address_of(place)
    try:
        body = _named(require_inert(render(path.read_text(encoding="utf-8"), atlas.relink(address, place))))
    except ValueError as error:
        raise UsageError(f"{place}: {error}") from error
    heading, body = _heading(body, path.stem)
    title = plain(re.sub(r"<[^>]+>", "", heading)).strip()
    body = _in_boxes(body.replace("<th>", '<th scope="col">'))
    body = Markup(heading + body)
    return page("text", address, title=title, description=title, body=body)


def _named(body: str) -> str:
    """Return a text of the site's root with its names of the library as links into the reference."""
    known = {i.public: i.address for i in reference.items().values() if i.public}

    def linked(code: re.Match[str]) -> str:
        if code[1] not in known:
            raise ValueError(f"it names {code[1]}, which ldpnb does not have")
        return f'<a href="{known[code[1]]}">{code[0]}</a>'

    return re.sub(r"<code>(ldp\.\w+)</code>", linked, body)


def _body(notebook: Notebook, decided: list[Entry], relink: Any, plays: bool) -> str:
    import nbformat

    node = nbformat.read(notebook.path, as_version=4)
    _annotate(node, notebook, plays)
    anchors = {marked(e.place): e.anchor for e in decided}
    return fragment(
        "cells",
        cells=node.cells,
        prose=lambda text: render(text, relink),
        results=lambda text: _results(text, anchors, relink),
        code=highlighted,
        table=_table,
    )


def _annotate(node: Any, notebook: Notebook, plays: bool) -> None:
    """Note in the cells' metadata what the template shows of them beside their text."""
    figures = {_content(f): f for f in published(notebook) if ".png" in f.suffixes}
    for cell in node.cells:
        if cell.cell_type != "code":
            continue
        if cell.source and cell.execution_count is None:
            raise ValueError(f"it has not been executed; `ldpnb run {notebook.id}` does it")
        if re.search(r"^live\(", cell.source, re.MULTILINE):
            cell.metadata["live"] = "scripts or Python" if plays else "Python"
        if "parameters" in cell.metadata.get("tags", []):
            cell.metadata["parameters"] = [(p.name, repr(p.default), p.meaning) for p in notebook.parameters]
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
    told = figure.caption if "$" in figure.caption else marked(figure.caption)
    caption = render(told, lambda url: url).removeprefix("<p>").removesuffix("</p>\n")
    picture = ""
    if ".png" in figure.suffixes:
        # the size in the file's header, at the density at which figures are drawn
        width, height = (round(n / 1.5) for n in struct.unpack(">II", _content(figure)[16:24]))
        picture = f'<img src="{base}.png" width="{width}" height="{height}" alt="{html.escape(plain(figure.caption))}">'
        picture = f'<a href="{base}.png">{picture}</a>\n'
    place = f' id="{charts.anchor(figure.stem.removeprefix(notebook.id)[1:])}"' if picture else ""
    below = f'<figcaption>{caption} <span class="files screen">{links}</span></figcaption>'
    return f"<figure{place}>\n{picture}{below}\n</figure>"


def _results(text: str, anchors: dict[str, str], relink: Any) -> str:
    """Return a Markdown output as HTML, with every verdict in it as a section that can be linked to."""
    starts = [found.start() for found in _VERDICT.finditer(text) if text[: found.start()].endswith("\n\n")]
    blocks = (text[start:end] for start, end in pairwise([0, *starts, len(text)]))
    return "".join(_block(b, anchors, relink) for b in blocks)


def _block(text: str, anchors: dict[str, str], relink: Any) -> str:
    content = render(text, relink)
    verdict = _VERDICT.match(text)
    if verdict is None:
        return content
    anchor = f' id="{anchors[verdict[1]]}"' if verdict[1] in anchors else ""
    return f'<section class="verdict {verdict[2]}"{anchor}>\n{content}</section>\n'


def _table(markup: str) -> str:
    """Return pandas' table with its headings named as such, columns of text aligned like text, and no row numbers."""
    if 'class="dataframe"' not in markup:
        return markup
    tree = fromstring(re.sub(r"<style.*?</style>|&nbsp;", "", markup, flags=re.DOTALL))
    table = next(tree.iter("table"))
    del table.attrib["border"]
    head, body = list(table[0]), list(table[1])
    # rows that have a name name it in a line of its own, below the headings
    if all((row[0].text or "").isdigit() for row in body) and any("".join(c.itertext()).strip() for c in head[-1][1:]):
        _without_numbers(head, body)
    for row in (*head, *body):
        row.attrib.pop("style", None)
        for cell in row.findall("th"):
            if "".join(cell.itertext()).strip():
                cell.set("scope", "col" if row in head else "row")
            else:
                cell.tag = "td"
    for i in range(len(body[0]) if body else 0):
        _align([row[i] for row in head if len(row) > i], [row[i] for row in body if len(row) > i])
    return re.sub(r"(?<=>)[^<>]+(?=</t[hd]>)", _cell, tostring(table, encoding="unicode", method="html"))


def _cell(text: re.Match[str]) -> str:
    """Return the text of a cell with its formulas typeset; numbers stay, and letters, which may be names."""
    kept = len(text[0]) == 1 or _NUMBER.fullmatch(text[0].strip())
    return text[0] if kept else typeset(html.unescape(text[0]))


def _without_numbers(head: list[Element], body: list[Element]) -> None:
    """Take the numbers of rows away: with a single row of headings their column, else it holds the headings' names."""
    for row in body:
        row[0].text = ""
    for row in (*head, *body) if len(head) == 1 else ():
        row.remove(row[0])


def _align(headings: list[Element], cells: list[Element]) -> None:
    """Mark a column that holds text."""
    values = [cell for cell in cells if cell.tag == "td"]
    if any(not _NUMBER.fullmatch("".join(value.itertext()).strip()) for value in values):
        for cell in (*headings, *values):
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
