"""Words that come from a user's data (labels, names of columns, paths), shown as they are.

Markdown would run them as HTML or typeset them, and matplotlib read a price as mathematics. Tables escape their cells
(pandas), and a live section its sentence (`html.escape`).
"""

import re
import unicodedata

from ldpnb import checks

_PLAIN = re.compile(
    r"(?!\d+[.)] )(?!.*(?://|\W_|_\W))[-+]?[^\W_](?:[\w .,:;%()+=/'-]*[^\W_])?[)%+.]?"
)
"""What Markdown shows as it stands, wherever in a sentence."""
_SYMBOLS = {
    r"\b([cg])_DE\b": r"$\1_{DE}$",
    r"\bM_([LR])\b": r"$M_\1$",
    r"\bc-hat\b|ĉ": r"$\\hat{c}$",
    r"\b1e(-\d+)\b": r"$10^{\1}$",
}
"""The sources' symbols as the package writes them, and as mathematics."""
GREEK = "[αβγδεζηθικλμνξπρστφχψωΔΣΠ]"
"""Letters that are symbols where they stand alone."""


def literal(label: object) -> str:
    """Return words from data for Markdown (`ldpnb.notebook.say`): as they are, or as code if they hold marks of it.

    >>> literal("Adult age"), literal("a_b*c"), literal("<b>"), literal("a`b")
    ('Adult age', '`a_b*c`', '`<b>`', '``a`b``')
    """
    text = checks.shown(str(label))
    if _PLAIN.fullmatch(text) or not text.strip():
        return text
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    room = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{room}{text}{room}{fence}"


def unset(label: object) -> str:
    r"""Return words for a figure: dollar signs and a first ``_``, which matplotlib interprets, as they are.

    Symbols are set as mathematics.

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
    size, _, name = unicodedata.name(letter).removeprefix("GREEK ").partition(" LETTER ")
    name = "VAREPSILON" if letter == "ε" else name
    return f"$\\{name.lower() if size == 'SMALL' else name.capitalize()}$"
