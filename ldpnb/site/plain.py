"""Prose without its marks, for a picture's alternative text and for an address."""

import html
import re

from ldpnb.site.mathematics import spoken


def slug(heading: str) -> str:
    """Return the anchor of a heading.

    >>> slug("Figure 2: <em>data</em> from Bin(50, .6)")
    'figure-2-data-from-bin-50-6'
    """
    text = html.unescape(re.sub(r"<[^>]+>", "", heading)).lower()
    return re.sub(r"[^\w]+", "-", text).strip("-")


def plain(text: str) -> str:
    """Return Markdown without its marks, for places that hold text alone, such as a picture's alternative text.

    >>> plain("**Error** of `k-RR` at $k = 4$")
    'Error of k-RR at k = 4'
    """
    return re.sub(r"[*`]", "", re.sub(r"\$(.+?)\$", lambda formula: spoken(formula[1]), text))
