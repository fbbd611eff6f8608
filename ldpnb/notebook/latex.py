"""Tables for LaTeX by pandas: booktabs, long texts wrapped, numbers to six significant digits."""

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "\u00d7": r"$\times$",
    "\u2212": r"$-$",
    "±": r"$\pm$",
    "²": r"$^2$",
    "·": r"$\cdot$",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "₁": "$_1$",
    "₂": "$_2$",
}
_MATHEMATICS = re.compile(r"(\$(?=\S)[^$]*[^$\s^_\\+-]\$(?!\d))")
_LONG = 24
"""Length in characters beyond which a column of texts is wrapped."""
_ROWS = 40
"""Rows that fit a page; a longer table breaks across pages."""


def escaped(text: object) -> str:
    r"""Return text for LaTeX, Greek letters as mathematics; TeX between dollars stays, but prices are none.

    >>> escaped("50 % of ε_0"), escaped("π ≥ .5"), escaped("5 % of $x_0$"), escaped("$0-$9,999")
    ('50 \\% of $\\varepsilon$\\_0', '$\\pi$ $\\ge$ .5', '5 \\% of $x_0$', '\\$0-\\$9,999')
    """
    parts = _MATHEMATICS.split(" ".join(str(text).splitlines()))
    for i, signs in enumerate(parts[::2]):
        plain = signs.replace(">=", "≥").replace("<=", "≤")
        parts[2 * i] = "".join(_SPECIAL.get(c) or greek(c) for c in plain)
    return "".join(parts)


def greek(c: str) -> str:
    """Return a character as mathematics if it is a Greek letter."""
    kind, _, name = unicodedata.name(c, "").partition(" LETTER ")
    if c.isascii() or not kind.startswith("GREEK") or " " in name:
        return c
    name = "varepsilon" if name == "EPSILON" else name.lower()
    return f"$\\{name if kind.endswith('SMALL') else name.capitalize()}$"


def table(content: "pd.DataFrame", caption: str, label: str, cited: str = "") -> str:
    """Return a floating table by `pandas.DataFrame.to_latex`, or one that breaks if it is longer than a page.

    It needs the packages booktabs, array and longtable; `cited` ends the caption.
    """
    kinds = [_kind(content.iloc[:, i]) for i in range(content.shape[1])]
    wrapped = rf">{{\raggedright\arraybackslash}}p{{{0.9 / len(kinds):.3g}\linewidth}}"
    columns = "".join(wrapped if kind == "p" else kind for kind in kinds)
    body = content.set_axis([_cell(column) for column in content.columns], axis=1).to_latex(
        index=False,
        escape=False,
        formatters=[_cell] * len(kinds),
        na_rep="",
        column_format=f"@{{}}{columns}@{{}}",
        longtable=len(content) > _ROWS,
        caption=f"{escaped(caption)}{cited}",
        label=f"tab:{label}",
    )
    return f"% \\usepackage{{booktabs,array,longtable}}\n{body}"


def _kind(column: "pd.Series[Any]") -> str:
    if column.dtype.kind in "iuf" or all(re.fullmatch(r"[-+\d.,]*", str(value)) for value in column):
        return "r"
    return "p" if max((len(str(v)) for v in column), default=0) > _LONG else "l"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = escaped(value)
    return f"{{}}{text}" if text.startswith(("[", "*")) else text  # which the end of the row before would take
