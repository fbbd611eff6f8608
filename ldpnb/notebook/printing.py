"""Figures for print: as wide as a column or a page, in the paper's typeface."""

import io
import math
import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldpnb.checks import UsageError
from ldpnb.notebook import environment, latex

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = {"column": 3.4, "page": 7.0}
"""Inches."""
FORMATS = ("pdf", "pgf")
_TEX = ("pdflatex", "lualatex", "xelatex")
_INCHES = {"in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72.27}
_NARROWEST, _WIDEST, _LOWEST = 1.5, 30.0, 2.6
_FONTS = {
    "sans": (["DejaVu Sans"], "dejavusans"),
    "times": (["STIXGeneral", "DejaVu Sans"], "stix"),
    "computer-modern": (["cmr10", "DejaVu Sans"], "cm"),
}


@dataclass(frozen=True, slots=True)
class Printed:
    """Width in inches, the name of a font, and a format beside PNG and PDF; each may be left out."""

    width: float | None = None
    font: str = ""
    format: str = ""


def wanted() -> Printed:
    """Return how figures are to be printed, as the environment says."""
    width, font, kind = (os.environ.get(name, "") for name in (environment.WIDTH, environment.FONT, environment.FORMAT))
    family(font)
    return Printed(inches(width) if width else None, font, kind)


def inches(width: float | str) -> float:
    """Return a width in inches.

    Raises
    ------
    UsageError
        If it is no length, or not one that a figure can have.

    Examples
    --------
    >>> inches("column"), inches("8.6cm") == inches("86 mm"), inches(3.4)
    (3.4, True, 3.4)
    """
    length = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(in|mm|cm|pt)?", str(width))
    value = WIDTHS.get(str(width)) or (float(length[1]) * _INCHES[length[2] or "in"] if length else 0.0)
    if not _NARROWEST <= value <= _WIDEST:
        rule = f"column, page, or a length of {_NARROWEST:g} to {_WIDEST:g} in (3.4in, 86mm, 245pt)"
        raise UsageError(f"width must be {rule}, got width={str(width)!r}")
    return value


def family(font: str) -> list[str]:
    """Return the typefaces of a font, the second for characters that the first lacks.

    Raises
    ------
    UsageError
        If it is neither built in nor installed.
    """
    if not font or font in _FONTS:
        return _FONTS[font][0] if font else []
    from matplotlib import font_manager

    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    if font not in installed:
        raise UsageError(f"font must be {', '.join(_FONTS)} or the name of an installed one, got font={font!r}")
    return [font, "DejaVu Sans"]


def require_tex() -> str:
    """Return the TeX with which matplotlib measures text for PGF.

    Raises
    ------
    UsageError
        If none is installed.
    """
    system = next((name for name in _TEX if shutil.which(name)), "")
    if not system:
        raise UsageError(f"format pgf takes one of {', '.join(_TEX)}, and none is installed; pdf takes none")
    return system


def pgf(figure: "Figure") -> bytes:
    """Return a figure, drawn before, as PGF in the font of the document that includes it; its texts become TeX."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for direction in (direction for axes in figure.axes for direction in (axes.xaxis, axes.yaxis)):
        labels = [label.get_text() for label in direction.get_ticklabels()]
        direction.set_ticks(direction.get_ticklocs(), labels)
    for text in figure.findobj(Text):
        text.set_text("\n".join(map(_as_tex, text.get_text().split("\n"))))
    content = io.BytesIO()
    with rc_context({"pgf.texsystem": require_tex(), "pgf.rcfonts": False}):
        figure.savefig(content, format="pgf")
    return content.getvalue()


def _as_tex(text: str) -> str:
    r"""Return a line of a figure for LaTeX, where matplotlib's mathematics stays.

    >>> _as_tex(r"50 % of \$9, $\hat{p}_1$")
    '50 \\% of \\textdollar{}9, $\\hat{p}_1$'
    """
    parts = re.split(r"((?<!\\)\$.*?(?<!\\)\$)", text)
    parts[::2] = [latex.escaped(part.replace(r"\$", "$")).replace(r"\$", r"\textdollar{}") for part in parts[::2]]
    return "".join(parts)


def fonts(figure: "Figure", font: str) -> dict[str, Any]:
    """Set a figure in a font, and return the settings of matplotlib with which to draw it."""
    from matplotlib.text import Text

    names = family(font)
    if not names:
        return {}
    for text in figure.findobj(Text):
        text.set_fontfamily(names)
    return {
        "font.family": names,
        "mathtext.fontset": _FONTS.get(font, ([], "dejavusans"))[1],
        "axes.unicode_minus": font != "computer-modern",
        "axes.formatter.use_mathtext": font == "computer-modern",
    }


def resized(size: tuple[float, float], width: float | None) -> tuple[float, float]:
    """Return a figure's size at another width; its height falls less, as its type does not shrink.

    >>> resized((8.0, 6.0), 2.0), resized((7.0, 3.1), 3.5)
    ((2.0, 3.0), (3.5, 2.6))
    """
    return (width, max(size[1] * math.sqrt(width / size[0]), min(size[1], _LOWEST))) if width else size
