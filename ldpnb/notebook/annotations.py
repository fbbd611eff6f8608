"""The text on a figure: its finding, its setting, and marked places with their numbers."""

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path

from ldpnb.notebook.labels import unset

_HEADING = "ldpnb_heading"
_GREY, SMALL, _LARGE = "#5A5A5A", 8.0, 10.0
"""Colour of the setting; points of names, numbers and settings, and of the finding."""
_SIDES = {
    "above": ((0, 5), "center", "bottom"),
    "below": ((0, -5), "center", "top"),
    "right": ((6, 0), "left", "center"),
    "left": ((-6, 0), "right", "center"),
}
"""Offset in points and alignment of a label beside its point."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked place.

    Parameters
    ----------
    x, y : float, optional
        Data coordinates: both for a point, `x` for a vertical line across the panel, `y` for a horizontal one.
    label : str
        The text there, with its number.
    panel : str
        The panel it belongs to; all if left out.
    printed : bool
        Whether the value is printed in the source, and drawn in grey, rather than computed here.
    side : {"above", "below", "left", "right"}
        Where the label is; for a line, at which end or on which side.
    """

    x: float | None = None
    y: float | None = None
    label: str = ""
    panel: str = ""
    printed: bool = False
    side: Literal["above", "below", "left", "right"] = "above"


def head(figure: Figure, title: str, setting: str) -> None:
    """Put the finding above a figure, and below that, small and grey, the setting."""
    for before in list(figure.artists):
        before.remove()
    title, setting = (" ".join(text.split()) for text in (title, setting))
    setattr(figure, _HEADING, (title, setting))
    width = 72 * 0.95 * figure.get_figwidth()
    finding = unset(broken(title, width, FontProperties(size=_LARGE, weight="bold")))
    fixed = unset(broken(setting, width, FontProperties(size=SMALL)))
    room = "\n" * (fixed.count("\n") + 1) + " " if fixed else ""
    above = figure.suptitle(finding + room, x=0.008, ha="left", fontsize=_LARGE, fontweight="bold", linespacing=1.15)
    if fixed:
        where: dict[str, Any] = {"xycoords": above, "xytext": (0, 1), "textcoords": "offset points"}
        looks: dict[str, Any] = {"color": _GREY, "fontsize": SMALL, "va": "bottom", "linespacing": 1.3}
        figure.add_artist(Annotation(fixed, (0, 0), **where, **looks)).set_in_layout(False)


def heading(figure: Figure) -> tuple[str, str]:
    """Return the finding and the setting of a figure."""
    return getattr(figure, _HEADING, ("", ""))


def broken(text: str, width: float, font: FontProperties, *, mathematics: bool = False) -> str:
    r"""Break a figure's text into lines of similar length that fit a width in points, but not around ``=``.

    >>> broken("Horvitz-Thompson at n = 5", 80, FontProperties(size=10))
    'Horvitz-\nThompson at\nn = 5'
    """
    wide = text_to_path.get_text_width_height_descent(text, font, mathematics)[0] if text else 0.0
    lines = math.ceil(wide / width)
    whole = text.replace(" = ", "\u00a0=\u00a0")
    return textwrap.fill(whole, math.ceil(len(text) / max(lines, 1) * 1.1) + 1).replace("\u00a0", " ")


def mark(axis: Axes, marks: Iterable[Mark], panel: str) -> None:
    """Draw the marks of a panel, with room for their labels."""
    marks = list(marks)
    if any(place.label and place.x is not None for place in marks):
        axis.margins(y=0.13)
    for place in marks:
        if place.panel in ("", panel):
            _draw(axis, place, _GREY if place.printed else "black")


def _draw(axis: Axes, place: Mark, colour: str) -> None:
    rule: dict[str, Any] = {"color": colour, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1}
    coordinates: Any = "data"
    if place.x is not None and place.y is not None:
        axis.plot(place.x, place.y, "o", color=colour, mfc="white" if place.printed else colour, ms=4.5, zorder=5)
        at, (offset, ha, va) = (place.x, place.y), _SIDES[place.side]
    elif place.x is not None:
        axis.axvline(place.x, **rule)
        left, coordinates, va = place.side == "left", axis.get_xaxis_transform(), "top"
        at, offset, ha = (place.x, 1.0), (-4 if left else 4, -2), "right" if left else "left"
    elif place.y is not None:
        axis.axhline(place.y, **rule)
        below, coordinates, ha = place.side == "below", axis.get_yaxis_transform(), "right"
        at, offset, va = (0.99, place.y), (0, -2 if below else 2), "top" if below else "bottom"
    looks: dict[str, Any] = {"color": colour, "fontsize": SMALL, "zorder": 6}
    weight = "normal" if place.printed else "bold"
    where: tuple[Any, ...] = (at, offset, coordinates, "offset points")
    axis.annotate(unset(place.label), *where, ha=ha, va=va, fontweight=weight, **looks)
