"""What leads nowhere in a folder of pages, and what would be fetched from elsewhere."""

import os
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_VOID = {"meta", "link", "img", "br", "hr", "input", "col", "source", "wbr", "mspace"}
_FETCHED = {("link", "href"), ("script", "src"), ("img", "src")}


class Page(HTMLParser):
    """The links, anchors and mistakes of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: Counter[str] = Counter()
        self.mistakes: list[str] = []
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.mistakes += [f"anchor {a} twice" for a, times in sorted(self.anchors.items()) if times > 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to, and its anchor."""
        found = {name: value or "" for name, value in attrs}
        self.anchors.update([found["id"]] if "id" in found else [])
        for name in {"href", "src"} & found.keys():
            (self.fetched if (tag, name) in _FETCHED else self.links).append(found[name])
        if tag == "img" and not found.get("alt"):
            self.mistakes.append(f"picture without alternative text: {found.get('src')}")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Do the same for an element that closes itself."""
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Note an end that is not that of the element opened last, and continue after the one it does end."""
        if tag not in _VOID and (not self._open or self._open.pop() != tag):
            self.mistakes.append(f"line {self.getpos()[0]}: </{tag}> closes another element")
            while tag in self._open and self._open.pop() != tag:
                pass


def problems(folder: Path) -> list[str]:
    """Return a line for every mistake of the pages in a folder: dead links, requests to a host, doubled anchors.

    Parameters
    ----------
    folder : Path
        The root of a site; links to other hosts are allowed, pictures, scripts and styles from them are not.
    """
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    lines = []
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        lines += [f"{name}: {mistake}" for mistake in page.mistakes]
        lines += [f"{name}: asks a host for {url}" for url in page.fetched if urlsplit(url).netloc]
        urls = page.links + page.fetched
        lines += [f"{name}: {url} leads nowhere" for url in urls if not _resolves(url, path, pages, folder)]
    return lines


def _resolves(url: str, path: Path, pages: dict[Path, Page], folder: Path) -> bool:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return True
    target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
    if not target.is_file() or folder not in target.parents:
        return False
    # name=value chooses in the field of that name
    anchor = unquote(parts.fragment).partition("=")[0]
    return not anchor or target not in pages or anchor in pages[target].anchors
