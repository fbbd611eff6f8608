"""Markup that can only be read: text, tables, pictures and formulas, which is all that a page shows of a notebook.

The cleaning is nh3's, which parses as browsers do. An element, attribute or address that it takes away is named and
stops the build, so that nobody publishes a page with holes.
"""

from collections import Counter
from html.parser import HTMLParser

import nh3

_TAGS = """
a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i
img kbd li ol p pre q s section small span strong sub summary sup table tbody td tfoot th thead tr ul
math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup
mtable mtd mtext mtr munder munderover semantics
"""
_ATTRIBUTES = """
accent align alt class colspan columnalign columnlines columnspacing depth dir display displaystyle download fence form
halign height href id lang linethickness lspace mathcolor mathsize mathvariant maxsize minsize movablelimits notation
open rowlines rowspacing rowspan rspace scope scriptlevel separator src start stretchy symmetric title voffset width
xmlns
"""


_CLEANER = nh3.Cleaner(
    tags=set(_TAGS.split()),
    attributes={"*": set(_ATTRIBUTES.split())},
    clean_content_tags=set(),
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)


def require_inert(markup: str) -> str:
    """Return markup in which nothing can run, load or submit; comments and declarations are left out.

    Raises
    ------
    ValueError
        For an element, an attribute or an address that is not text, a table, a picture or a formula.

    Examples
    --------
    >>> require_inert('<p class="note">a &lt; b<!-- c --></p>')
    '<p class="note">a &lt; b</p>'
    >>> require_inert("<p onclick='f()'>a</p>")
    Traceback (most recent call last):
    ValueError: a page must hold nothing that runs, got onclick in <p>
    """
    cleaned = _CLEANER.clean(markup)
    lost = list(_parts(markup) - _parts(cleaned))
    if lost:
        raise ValueError(f"a page must hold nothing that runs, got {lost[0]}")
    return cleaned.replace("&nbsp;", "\N{NO-BREAK SPACE}")  # an entity of HTML, not of XML


class _Parts(HTMLParser):
    """Counts elements and attributes as a message names them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.update([f"<{tag}>", *(f"{name} in <{tag}>" for name, _ in attrs)])


def _parts(markup: str) -> Counter[str]:
    reader = _Parts()
    reader.feed(markup)
    reader.close()
    return reader.found
