"""Words from a user's data (labels, names of columns, paths), shown as they are.

Markdown would take them as HTML or typeset them, and matplotlib would read a price as mathematics.
Tables and live sections need nothing from here: pandas and `html.escape` do it for them.
"""

import re
import unicodedata

from ldpnb import checks

_PLAIN = re.compile(
    r"(?!\d+[.)] )(?!.*(?://|(?i:www)\.|\W_|_\W))[-+]?[^\W_](?:[\w .,:;%()+=/'-]*[^\W_])?[)%+.]?"
)
"""Text that Markdown shows as it stands, at every place in a sentence."""

_SYMBOLS = {
    r"\b([cg])_DE\b": r"$\1_{DE}$",
    r"\bM_([LR])\b": r"$M_\1$",
    r"\bc-hat\b|ĉ": r"$\\hat{c}$",
    r"\b1e(-\d+)\b": r"$10^{\1}$",
}
"""Symbols of the sources as the package writes them, and as mathematics."""

GREEK = "[αβγδεζηθικλμνξπρστφχψωΔΣΠ]"
"""Letters that are symbols where they stand alone."""


def literal(label: object) -> str:
    """Return words from data for the Markdown of `ldpnb.notebook.say`.

    They are unchanged if Markdown shows them as they are, and code if not.

    Examples
    --------
    >>> literal("Adult age"), literal("a_b*c"), literal("<b>"), literal("a`b")
    ('Adult age', '`a_b*c`', '`<b>`', '``a`b``')

    GitHub and JupyterLab would make a link of the address of a site.

    >>> literal("www.example.org")
    '`www.example.org`'
    """
    text = checks.shown(str(label))
    if _PLAIN.fullmatch(text) or not text.strip():
        return text

    # Code that has backticks stands between more backticks than there are in a row.
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    room = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{room}{text}{room}{fence}"


def unset(label: object) -> str:
    r"""Return words for a figure.

    Dollar signs and a first ``_``, which matplotlib would interpret, are shown as they are. Symbols
    of the sources and single Greek letters become mathematics.

    Examples
    --------
    >>> unset("$9"), unset("_x"), unset("Δ of c-hat at ε = 1e-6")
    ('\\$9', ' _x', '$\\Delta$ of $\\hat{c}$ at $\\varepsilon$ = $10^{-6}$')
    """
    text = str(label).replace("$", r"\$")
    for symbol, mathematics in _SYMBOLS.items():
        text = re.sub(symbol, mathematics, text)
    text = re.sub(rf"(?<!{GREEK}){GREEK}(?!{GREEK})", lambda letter: greek(letter[0]), text)
    return f" {text}" if text.startswith("_") else text


def greek(letter: str) -> str:
    """Return a Greek letter as mathematics."""
    if letter == "ε":
        return r"$\varepsilon$"

    # Unicode calls δ "GREEK SMALL LETTER DELTA".
    words = unicodedata.name(letter).removeprefix("GREEK ")
    size, _, name = words.partition(" LETTER ")
    command = name.lower() if size == "SMALL" else name.capitalize()
    return f"$\\{command}$"
