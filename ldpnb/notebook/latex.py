"""Tables for LaTeX: booktabs, long texts wrapped, numbers to six significant digits."""

import re
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

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
_LONG = 24
"""Length in characters beyond which a column of texts is wrapped."""
_ROWS = 40
"""Rows that fit a page; a longer table breaks across pages."""


def escaped(text: object) -> str:
    r"""Return plain text for LaTeX, Greek letters as mathematics.

    >>> escaped("50 % of ε_0"), escaped("π ≥ .5")
    ('50 \\% of $\\varepsilon$\\_0', '$\\pi$ $\\ge$ .5')
    """
    signs = " ".join(str(text).splitlines()).replace(">=", "≥").replace("<=", "≤")
    return "".join(_SPECIAL.get(c) or _greek(c) for c in signs)


def outside_mathematics(text: str) -> str:
    r"""Return text for LaTeX whose mathematics, between dollar signs (a price has ``\$``), is written in LaTeX already.

    >>> outside_mathematics(r"50 % of $10^{4}$ at \$9")
    '50 \\% of $10^{4}$ at \\$9'
    """
    parts = re.split(r"(?<!\\)\$", text)
    return "$".join(part if i % 2 else escaped(part.replace(r"\$", "$")) for i, part in enumerate(parts))


def _greek(c: str) -> str:
    kind, _, name = unicodedata.name(c, "").partition(" LETTER ")
    if c.isascii() or not kind.startswith("GREEK") or " " in name:
        return c
    name = "varepsilon" if name == "EPSILON" else name.lower()
    return f"$\\{name if kind.endswith('SMALL') else name.capitalize()}$"


def table(content: "pd.DataFrame", caption: str, label: str, cited: str = "") -> str:
    """Return a floating table, or one that breaks if it is longer than a page.

    It needs the packages booktabs, array, longtable and graphicx; `cited` ends the caption.
    """
    kinds = [_kind(content.iloc[:, i]) for i in range(content.shape[1])]
    wrapped = sum(kind == "p" for kind in kinds)
    left = 0.9 if wrapped == len(kinds) else max(0.3, 0.9 - 0.08 * (len(kinds) - wrapped))
    share = round(left / max(wrapped, 1), 3)
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}" if k == "p" else k for k in kinds)
    rows = [" & ".join(_cell(v) for v in row) + r" \\" for row in content.itertuples(index=False)]
    head = [r"\toprule", " & ".join(escaped(c) for c in content.columns) + r" \\", r"\midrule"]
    said = rf"\caption{{{escaped(caption)}{cited}}}\label{{tab:{label}}}"
    size = r"\scriptsize" if len(kinds) > 8 else r"\small"
    needs = "% \\usepackage{booktabs,array,longtable,graphicx}"
    if len(rows) > _ROWS:
        body = [
            rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
            said + r" \\",
            *head,
            r"\endhead",
            *rows,
            r"\bottomrule",
        ]
        return "\n".join([f"{needs}; it takes one column: \\onecolumn", "{" + size, *body, r"\end{longtable}", "}", ""])
    body = [rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", *head, *rows, r"\bottomrule", r"\end{tabular}"]
    fitted = no_wider("\n".join(body))
    return "\n".join([needs, r"\begin{table}", r"\centering" + size, said, fitted, r"\end{table}", ""])


def no_wider(content: str) -> str:
    """Return what shrinks content to the width of its column if it is wider."""
    return "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n" + content + "}"


def _kind(column: "pd.Series[Any]") -> str:
    if column.dtype.kind in "iuf" or all(re.fullmatch(r"[-+\d.,]*", str(value)) for value in column):
        return "r"
    return "p" if max((len(str(v)) for v in column), default=0) > _LONG else "l"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    text = escaped(value)
    return f"{{}}{text}" if text.startswith(("[", "*")) else text  # which the end of the row before would take
