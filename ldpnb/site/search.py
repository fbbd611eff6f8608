"""The index behind the site's search: every section of every page, with weights computed once, here.

A section scores for a word as in Okapi BM25, with a heading's words counted several times. The index is a script of its
own, not data to fetch, so that a page opened from disk has it too.
"""

import json
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from textwrap import shorten

from ldpnb.notebook.notation import GREEK
from ldpnb.site.mathematics import linear

_HEADINGS = ("h1", "h2", "h3")
_SILENT = {"script", "style", "nav", "header", "footer", "table", "pre", "button", "form"}
_TITLE_COUNTS = 6
_SATURATION, _LENGTH = 1.4, 0.6
_EXCERPT = 220


@dataclass(slots=True)
class Section:
    """What the search can find: a heading or a claim, its address, and the text below it."""

    kind: str
    address: str
    title: str = ""
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text, on one line."""
        return re.sub(r"\s+([,;.:)])", r"\1", " ".join("".join(self.words).split()))


class _Reader(HTMLParser):
    """Cuts the content of a page into sections, at its headings and verdicts."""

    def __init__(self, address: str, kind: str) -> None:
        super().__init__()
        self.address, self.kind = address, kind
        self.sections = [Section(kind, address)]
        self._inside: list[tuple[str, bool]] = []
        self._titled = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        silent = tag in _SILENT or named.get("class") in ("where", "files screen", "decided")
        self._inside.append((tag, silent))
        anchor = named.get("id") or ""
        claim = tag == "section" and anchor.startswith("claim-")
        if claim or (anchor and tag in _HEADINGS[1:]):
            kind = f"claim of {anchor.split('-')[1]}" if claim else self.kind
            self.sections.append(Section(kind, f"{self.address}#{anchor}"))
        if claim or tag in _HEADINGS:
            self._titled = "strong" if claim else tag

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop()[0] != tag:
            pass
        if tag == self._titled:
            self._titled = ""
        if tag in ("p", "li", "dt", "dd", "div"):
            self.sections[-1].words.append(" ")

    def handle_data(self, data: str) -> None:
        if any(silent for _, silent in self._inside):
            return
        if self._titled and (self._titled in _HEADINGS or ("strong", False) in self._inside):
            self.sections[-1].title += data
        else:
            self.sections[-1].words.append(data)


def sections(address: str, page: str, kind: str) -> list[Section]:
    """Return the sections of a page.

    >>> page = '<main><h1>A</h1><p>b</p><h2 id="c">C</h2><p>d e</p></main>'
    >>> [(s.address, s.title, s.text) for s in sections("a.html", page, "page")]
    [('a.html', 'A', 'b'), ('a.html#c', 'C', 'd e')]
    """
    reader = _Reader(address, kind)
    content = page[page.find("<main") : page.find("</main>") + len("</main>")]
    reader.feed(re.sub(r"<math.*?</math>", lambda m: escape(linear(m[0])), content, flags=re.DOTALL))
    return [s for s in reader.sections if s.title]


def terms(text: str) -> list[str]:
    """Return the words of a text as the index has them: lower case without accents, Greek letters by name, s for z.

    >>> terms("Randomized response, ε-LDP by Škorić")
    ['randomised', 'response', 'epsilon', 'ldp', 'by', 'skoric']
    """
    named = "".join(f" {GREEK[c]} " if c in GREEK else c for c in text.lower())
    plain = "".join(c for c in unicodedata.normalize("NFKD", named) if not unicodedata.combining(c))
    return [w.replace("z", "s") for w in re.findall(r"[a-z0-9]+(?:\.\d+)*", plain) if len(w) > 1 or w.isdigit()]


def index(of: list[Section]) -> str:
    """Return the index as a script: for each section kind, address, title and excerpt; for each word its sections."""
    counts = [Counter(terms(s.title) * _TITLE_COUNTS + terms(s.text)) for s in of]
    mean = sum(map(Counter.total, counts)) / max(len(counts), 1)
    spread = Counter(word for count in counts for word in count)
    words: dict[str, list[int]] = {}
    for number, count in enumerate(counts):
        damped = _SATURATION * (1 - _LENGTH + _LENGTH * count.total() / mean)
        for word, times in count.items():
            rare = math.log(1 + (len(of) - spread[word] + 0.5) / (spread[word] + 0.5))
            words.setdefault(word, []).extend((number, round(100 * rare * times / (times + damped)) or 1))
    shown = [[s.kind, s.address, " ".join(s.title.split()), shorten(s.text, _EXCERPT, placeholder=" …")] for s in of]
    content = {"greek": GREEK, "sections": shown, "words": dict(sorted(words.items()))}
    return f"const searchIndex = {json.dumps(content, ensure_ascii=False, separators=(',', ':'))};\n"
