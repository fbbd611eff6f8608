"""What leads nowhere in a folder of pages, and what would be fetched from elsewhere."""

import os
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_VOID = {"meta", "link", "img", "br", "hr", "input", "col", "source", "wbr", "mspace"}
_FETCHED = {("link", "href"), ("script", "src"), ("img", "src")}


@dataclass(slots=True)
class Page:
    """The links, anchors and mistakes of one page."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.page.anchors += [found["id"] or ""] if "id" in found else []
        for name in ("href", "src"):
            if name in found:
                (self.page.fetched if (tag, name) in _FETCHED else self.page.links).append(found[name] or "")
        if tag == "img" and not found.get("alt"):
            self.page.mistakes.append(f"picture without alternative text: {found.get('src')}")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if not self._open or self._open.pop() != tag:
            self.page.mistakes.append(f"line {self.getpos()[0]}: </{tag}> closes another element")
            self._open = (
                self._open[: len(self._open) - 1 - self._open[::-1].index(tag)] if tag in self._open else self._open
            )


def read(path: Path) -> Page:
    """Return what a page links to and what is wrong with it by itself."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    page = reader.page
    page.mistakes += [f"anchor {a} twice" for a in sorted({a for a in page.anchors if page.anchors.count(a) > 1})]
    return page


def problems(folder: Path) -> list[str]:
    """Return, a line each, every mistake of the pages in a folder: links and files that do not exist, requests to a
    host, doubled anchors.

    Parameters
    ----------
    folder : Path
        The root of a site; links to other hosts are let be, pictures, scripts and styles from them are not.
    """
    pages = {path: read(path) for path in sorted(folder.rglob("*.html"))}
    lines = []
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        lines += [f"{name}: {mistake}" for mistake in page.mistakes]
        lines += [f"{name}: asks a host for {url}" for url in page.fetched if urlsplit(url).netloc]
        lines += [
            f"{name}: {url} leads nowhere"
            for url in page.links + page.fetched
            if not _resolves(url, path, pages, folder)
        ]
    return lines


def _resolves(url: str, path: Path, pages: dict[Path, Page], folder: Path) -> bool:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return True
    target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
    if not target.is_file() or folder not in target.parents:
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
