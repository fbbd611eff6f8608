"""Markup that can only be read. What a notebook holds is text, tables, pictures and formulas; a page passes nothing
else on.
"""

from html.parser import HTMLParser
from urllib.parse import urlsplit

_TEXT = (
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre q s "
    "section small span strong sub summary sup table tbody td tfoot th thead tr ul"
)
_FORMULAS = (
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr "
    "munder munderover semantics"
)
_ATTRIBUTE_NAMES = (
    "accent align alt class colspan columnalign columnlines columnspacing depth dir display displaystyle download fence form halign height href id "
    "lang linethickness lspace mathcolor mathsize mathvariant maxsize minsize movablelimits notation open rowlines rowspacing rowspan rspace "
    "scope scriptlevel separator src start stretchy symmetric title voffset width xmlns"
)
_TAGS, _ATTRIBUTES = frozenset(f"{_TEXT} {_FORMULAS}".split()), frozenset(_ATTRIBUTE_NAMES.split())
_SCHEMES = frozenset(("", "http", "https", "mailto"))


def require_inert(markup: str) -> str:
    """Return markup in which nothing can run, load or submit.

    Raises
    ------
    ValueError
        For an element, an attribute or an address that is not text, a table, a picture or a formula.

    Examples
    --------
    >>> require_inert('<p class="note">a &lt; b</p>')
    '<p class="note">a &lt; b</p>'
    >>> require_inert("<p onclick='f()'>a</p>")
    Traceback (most recent call last):
    ValueError: a page must hold nothing that runs, got onclick in <p>
    """
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return markup


class _Reader(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            raise _refused(f"<{tag}>")
        for name, value in attrs:
            if name not in _ATTRIBUTES or (name in ("href", "src") and not _harmless(value or "")):
                raise _refused(f"{name} in <{tag}>")

    def handle_comment(self, data: str) -> None:
        raise _refused("a comment")

    def handle_decl(self, decl: str) -> None:
        raise _refused("a declaration")

    def unknown_decl(self, data: str) -> None:
        raise _refused("a declaration")

    def handle_pi(self, data: str) -> None:
        raise _refused("an instruction")


def _harmless(address: str) -> bool:
    """Return whether an address leads somewhere; browsers overlook blanks and control characters in one that does
    something.
    """
    return address.isprintable() and urlsplit(address.strip()).scheme in _SCHEMES


def _refused(what: str) -> ValueError:
    return ValueError(f"a page must hold nothing that runs, got {what}")
