"""The text on a figure: its finding, its setting, and marked places with their numbers."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path

from ldpnb.notebook.labels import DOLLAR

_GREY = "#5A5A5A"
SMALL, _LARGE = 8.0, 10.0
"""Points: names, numbers and settings; the finding."""
_OFFSETS = {
    "above": (0, 5, "center", "bottom"),
    "below": (0, -5, "center", "top"),
    "right": (6, 0, "left", "center"),
    "left": (-6, 0, "right", "center"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked place: a point, or a line across the panel where one coordinate is left out.

    Parameters
    ----------
    x, y : float, optional
        Data coordinates: both for a point, `x` for a vertical line, `y` for a horizontal one.
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
    """Put the finding above a figure, and below that, small and grey, the setting; neither has mathematics."""
    for before in [artist for artist in figure.artists if isinstance(artist, Annotation)]:
        before.remove()
    width = 72 * 0.95 * figure.get_figwidth()
    finding = broken(title, width, FontProperties(size=_LARGE, weight="bold")).replace("$", DOLLAR)
    fixed = broken(setting, width, FontProperties(size=SMALL)).replace("$", DOLLAR)
    room = "\n" * (fixed.count("\n") + 1) + " " if fixed else ""
    above = figure.suptitle(finding + room, x=0.008, ha="left", fontsize=_LARGE, fontweight="bold", linespacing=1.15)
    if fixed:
        where: dict[str, Any] = {"xycoords": above, "xytext": (0, 1), "textcoords": "offset points"}
        looks: dict[str, Any] = {"color": _GREY, "fontsize": SMALL, "va": "bottom", "linespacing": 1.3}
        figure.add_artist(Annotation(fixed, (0, 0), **where, **looks)).set_in_layout(False)


def heading(figure: Figure) -> tuple[str, str]:
    """Return the finding and the setting above a figure."""
    fixed = next((artist.get_text() for artist in figure.artists if isinstance(artist, Annotation)), "")
    title, setting = (" ".join(text.split()).replace(DOLLAR, "$") for text in (figure.get_suptitle(), fixed))
    return title, setting


def broken(text: str, width: float, font: FontProperties) -> str:
    r"""Break text into as few lines as fit a width in points, of similar length, but not around ``=``.

    >>> broken("Horvitz-Thompson at n = 5", 80, FontProperties(size=10))
    'Horvitz-\nThompson\nat n = 5'
    """
    text = text.replace(" = ", "\u00a0=\u00a0")
    wide = float(text_to_path.get_text_width_height_descent(text, font, False)[0])
    most = int(len(text) * width / wide) if text else 0
    if len(text) <= most:
        return text.replace("\u00a0", " ")
    few = len(textwrap.wrap(text, max(most, 1)))
    ways = (textwrap.wrap(text, letters) for letters in range(1, most + 1))
    return "\n".join(next((lines for lines in ways if len(lines) <= few), [text])).replace("\u00a0", " ")


def mark(axis: Axes, marks: Iterable[Mark], panel: str) -> None:
    """Draw the marks of a panel."""
    for place in marks:
        if place.panel in ("", panel):
            _draw(axis, place, _GREY if place.printed else "black")


def _draw(axis: Axes, place: Mark, colour: str) -> None:
    at: tuple[Any, Any]
    coordinates: Any = "data"
    rule: dict[str, Any] = {"color": colour, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1}
    if place.x is not None and place.y is not None:
        face = "white" if place.printed else colour
        axis.plot(place.x, place.y, "o", color=colour, markerfacecolor=face, markersize=4.5, zorder=5)
        at, (dx, dy, ha, va) = (place.x, place.y), _OFFSETS[place.side]
        ha = _inwards(axis, place.x) if ha == "center" else ha
    elif place.x is not None:
        axis.axvline(place.x, **rule)
        at, coordinates, dy, va = (place.x, 1.0), axis.get_xaxis_transform(), -2, "top"
        dx, ha = (-4, "right") if place.side == "left" else (4, "left")
    elif place.y is not None:
        axis.axhline(place.y, **rule)
        coordinates, dx = axis.get_yaxis_transform(), 0
        at, ha = ((0.01, place.y), "left") if place.side == "left" else ((0.99, place.y), "right")
        dy, va = (-2, "top") if place.side == "below" else (2, "bottom")
    else:
        raise ValueError(f"a mark needs x, y or both, got {place}")
    where: Any = (place.label, at, (dx, dy), coordinates, "offset points")
    weight = "normal" if place.printed else "bold"
    axis.annotate(*where, zorder=6, ha=ha, va=va, color=colour, fontsize=SMALL, fontweight=weight)


def _inwards(axis: Axes, x: float) -> str:
    """Return the alignment that keeps text above or below a point within the axes."""
    low, high = axis.get_xlim()
    (left, _), (at, _), (right, _) = axis.transData.transform([(low, 1), (x, 1), (high, 1)])
    share = (at - left) / (right - left)
    return "left" if share < 0.15 else "right" if share > 0.85 else "center"
