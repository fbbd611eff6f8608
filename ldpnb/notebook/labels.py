"""Words that come from a user's data (labels, names of columns, paths), shown as they are.

Markdown would run them as HTML or typeset them, and matplotlib read a price as mathematics. Tables escape their cells
(pandas), a live section its sentence (`html.escape`), and LaTeX has `ldpnb.notebook.latex.escaped`.
"""

import re

from ldpnb import checks

_PLAIN = re.compile(r"(?!\d+[.)] )(?!.*(?://|\W_|_\W))[-+]?[^\W_](?:[\w .,:;%()+=/'-]*[^\W_])?[)%+.]?")
"""What Markdown shows as it stands, wherever in a sentence."""

DOLLAR = r"\$"
"""A dollar sign in a figure."""


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
    r"""Return words from data for a figure, where dollar signs would begin mathematics and a first ``_`` hide a name.

    >>> unset("$9"), unset("_x")
    ('\\$9', ' _x')
    """
    text = " ".join(str(label).splitlines()).replace("$", DOLLAR)
    return f" {text}" if text.startswith("_") else text
