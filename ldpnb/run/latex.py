"""Words and tables for LaTeX: what its engines take, with the words' own TeX as it stands."""

import re
import unicodedata

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ldpnb.notebook.labels import GREEK, greek

_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {c: f"${c}$" for c in "<>|"}
_SPECIAL |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
_SPECIAL |= {"≤": r"$\le$", "≥": r"$\ge$", "\u2212": "$-$", "±": r"$\pm$", "\u00d7": r"$\times$", "·": r"$\cdot$"}
_SPECIAL |= {"√": r"$\surd$", "∞": r"$\infty$"}
_RAISED = "([₀-₉]+)|[⁰¹²³⁴-⁹⁻]+"
_LONG = 24
"""Length in characters beyond which a column of texts is wrapped."""
_ROWS = 40
"""Rows that fit a page; a longer table breaks across pages."""


def escaped(text: object) -> str:
    r"""Return text for LaTeX, with symbols as mathematics; TeX between dollars stays.

    >>> escaped("50 % of ε_0"), escaped("π <= 10⁻⁶"), escaped("5 % of $x_0$")
    ('50 \\% of $\\varepsilon$\\_0', '$\\pi$ $\\le$ 10$^{-6}$', '5 \\% of $x_0$')
    """
    parts = re.split(r"(\$[^$]+\$)", " ".join(str(text).split()))
    for i, plain in enumerate(parts[::2]):
        plain = "".join(_SPECIAL.get(c, c) for c in plain.replace(">=", "≥").replace("<=", "≤"))
        plain = re.sub(GREEK, lambda letter: greek(letter[0]), plain)
        parts[2 * i] = re.sub(_RAISED, lambda run: f"${'_' if run[1] else '^'}{{{_flat(run[0])}}}$", plain)
    return "".join(parts)


def _flat(digits: str) -> str:
    return unicodedata.normalize("NFKC", digits).replace("\u2212", "-")


def table(content: pd.DataFrame, caption: str, label: str) -> str:
    """Return a floating table by `pandas.DataFrame.to_latex`, or one that breaks if it is longer than a page.

    It needs the packages booktabs, array and longtable; the caption is TeX.
    """
    wrapped = rf">{{\raggedright\arraybackslash}}p{{{0.9 / content.shape[1]:.3g}\linewidth}}"
    kinds = [
        "r" if is_numeric_dtype(column) else wrapped if max(map(len, map(str, column))) > _LONG else "l"
        for _, column in content.items()
    ]
    return content.rename(columns=escaped).to_latex(
        index=False,
        formatters=[lambda v: f"{v:.6g}" if isinstance(v, float) else escaped(v)] * len(kinds),
        na_rep="",
        column_format=f"@{{}}{''.join(kinds)}@{{}}",
        longtable=len(content) > _ROWS,
        caption=caption,
        label=f"tab:{label}",
    )
