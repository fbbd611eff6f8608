"""Figures for print: as wide as a column or a page, in the paper's typeface."""

import io
import math
import os
import re
from typing import TYPE_CHECKING, Any

from ldpnb.checks import UsageError
from ldpnb.notebook import environment, latex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("pdf", "pgf")
_WIDTHS = {"": None, "column": 3.4, "page": 7.0}
_INCHES = {"in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72.27}
_NARROWEST, _WIDEST, _LOWEST = 1.5, 30.0, 2.6
_FONTS = {"sans": ("DejaVu Sans", "dejavusans"), "times": ("STIXGeneral", "stix"), "computer-modern": ("cmr10", "cm")}
"""Typeface of words and of mathematics."""


def width() -> float | None:
    """Return the width, in inches, that the environment asks of figures, if it does."""
    return inches(os.environ.get(environment.WIDTH, ""))


def inches(width: str) -> float | None:
    """Return a width in inches, or None for an empty one; `UsageError` if it is none that a figure can have.

    >>> inches("column"), inches("8.6cm") == inches("86 mm"), inches("3.4")
    (3.4, True, 3.4)
    """
    if width in _WIDTHS:
        return _WIDTHS[width]
    length = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(in|mm|cm|pt)?", width)
    value = float(length[1]) * _INCHES[length[2] or "in"] if length else 0.0
    if not _NARROWEST <= value <= _WIDEST:
        rule = f"column, page, or a length of {_NARROWEST:g} to {_WIDEST:g} in (3.4in, 86mm, 245pt)"
        raise UsageError(f"width must be {rule}, got width={width!r}")
    return value


def resized(size: tuple[float, float], width: float | None) -> tuple[float, float]:
    """Return a figure's size at another width; its height falls less, as its type does not shrink.

    >>> resized((8.0, 6.0), 2.0), resized((7.0, 3.1), 3.5)
    ((2.0, 3.0), (3.5, 2.6))
    """
    return (width, max(size[1] * math.sqrt(width / size[0]), min(size[1], _LOWEST))) if width else size


def fonts(font: str) -> dict[str, Any]:
    """Return matplotlib's settings for a font, built in or installed; `UsageError` if there is none of that name."""
    from matplotlib import font_manager

    words, mathematics = _FONTS.get(font, (font, "dejavusans"))
    if words not in font_manager.get_font_names():
        raise UsageError(f"font must be {', '.join(_FONTS)} or the name of an installed one, got font={font!r}")
    return {
        "font.family": list(dict.fromkeys([words, "DejaVu Sans"])),  # which has what the first lacks
        "mathtext.fontset": mathematics,
        "axes.unicode_minus": font != "computer-modern",
        "axes.formatter.use_mathtext": font == "computer-modern",
    }


def pgf(figure: "Figure") -> bytes:
    """Return a figure, drawn before, as PGF in the font of the document that includes it; its texts become TeX."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        axis.set_ticks(axis.get_ticklocs(), [label.get_text() for label in axis.get_ticklabels()])
    for text in figure.findobj(Text):
        text.set_text("\n".join(map(_as_tex, text.get_text().split("\n"))))
    content = io.BytesIO()
    with rc_context({"pgf.texsystem": "pdflatex", "pgf.rcfonts": False}):
        figure.savefig(content, format="pgf")
    return content.getvalue()


def _as_tex(text: str) -> str:
    r"""Return a line of a figure for LaTeX, where matplotlib's mathematics stays.

    >>> _as_tex(r"50 % of \$9, $\hat{p}_1$")
    '50 \\% of \\textdollar{}9, $\\hat{p}_1$'
    """
    return latex.escaped(text.replace(r"\$", "\0")).replace("\0", r"\textdollar{}")
