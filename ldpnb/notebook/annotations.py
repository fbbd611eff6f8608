"""The text on a figure: its finding, its setting, the names of its curves, and marked places with their numbers."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path
from scipy.optimize import isotonic_regression

from ldpnb.notebook.labels import DOLLAR

_GREY = "#5A5A5A"
_SMALL, _LARGE = 8.0, 10.0
"""Points: names, numbers and settings; the finding."""
_EM = 0.58
"""Mean width of a character in units of its size."""
_KEPT = "ldpnb_texts"
_LINE = 1.25
"""Height of a line in units of its size."""
NEAR, FAR = 0.9, 2.1
"""How far names may be from the ends of their curves, in lines."""
_WIDEST = 0.45
"""Largest share of its panel's width that a name may take."""
_CLEAR = 24.0
"""Enough room around a name on a curve, points."""
_NAME = 18
"""Longest line of a curve's name, characters."""
_WITHIN = 0.1
"""A curve that ends farther than this share of its panel's width from the right ends within it."""
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


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve as drawn, in data coordinates, and its name."""

    name: str
    colour: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a curve as written: at its end, or on it."""

    label: Annotation
    curve: Curve
    on: bool


@dataclass(frozen=True, slots=True)
class Texts:
    """What is written in a panel: names of its curves, and labels of its marks."""

    names: list[Name] = field(default_factory=list)
    labels: list[tuple[Annotation, Mark]] = field(default_factory=list)


def texts(axis: Axes) -> Texts:
    """Return what is written in a panel, to be moved once its size is known."""
    if not hasattr(axis, _KEPT):
        setattr(axis, _KEPT, Texts())
    kept: Texts = getattr(axis, _KEPT)
    return kept


def is_family(names: Sequence[Any]) -> bool:
    """Return whether names are numbers, or differ by one number only.

    >>> is_family([0.1, 1.0]), is_family(["ε = 1", "ε = 2.5"]), is_family(["1%", "50%"]), is_family(["MLE", "Bayes"])
    (True, True, True, False)
    """
    texts = [str(name) for name in names]
    return len(texts) > 1 and len({re.sub(r"[-+\d.,]+(e[-+]?\d+)?", "#", text, count=1) for text in texts}) == 1


def ramp(count: int) -> list[str]:
    """Return `count` colours from dark to light, in an order visible to the colour-blind, none too pale on white."""
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.78, count))
    return [mpl.colors.to_hex(colour) for colour in colours]


def head(figure: Figure, title: str, setting: str) -> None:
    """Put the finding above a figure, and below that, small and grey, the setting; neither has mathematics."""
    for before in [artist for artist in figure.artists if isinstance(artist, Annotation)]:
        before.remove()
    width = 72 * 0.985 * figure.get_figwidth()
    finding = broken(title, width, FontProperties(size=_LARGE, weight="bold"))
    fixed = broken(setting, width, FontProperties(size=_SMALL))
    room = "\n" * (fixed.count("\n") + 1) if fixed else ""
    text = (f"{finding}{room} " if fixed and finding else finding or room).replace("$", DOLLAR)
    if not text:
        return
    above = figure.suptitle(text, x=0.008, ha="left", fontsize=_LARGE, fontweight="bold", linespacing=1.15)
    if fixed:
        shape: dict[str, Any] = {"color": _GREY, "fontsize": _SMALL, "va": "bottom", "linespacing": 1.3}
        figure.add_artist(
            Annotation(
                fixed.replace("$", DOLLAR), (0, 0), xycoords=above, xytext=(0, 1), textcoords="offset points", **shape
            )
        ).set_in_layout(False)


def heading(figure: Figure) -> tuple[str, str]:
    """Return the finding and the setting above a figure."""
    fixed = next((artist.get_text() for artist in figure.artists if isinstance(artist, Annotation)), "")
    title, setting = (" ".join(text.split()).replace(DOLLAR, "$") for text in (figure.get_suptitle(), fixed))
    return title, setting


def broken(text: str, width: float, font: FontProperties) -> str:
    r"""Break text into as few lines as fit a width in points, of similar length, but not around ``=`` or before ``%``.

    Words longer than that are broken at their hyphens.

    >>> broken("Horvitz-Thompson at n = 5", 60, FontProperties(size=10))
    'Horvitz-\nThompson\nat n = 5'
    """
    words = [(word, _width(word, font)) for word in together(text).split(" ") if word]
    pieces = [
        (part, _width(part, font), part.endswith("-") and part != word)
        for word, wide in words
        for part in (re.findall(r".+?-(?=\w)|.+", word) if wide > width else [word])
    ]
    most = _filled(pieces, width, font)
    least = next(
        (lines for share in range(50, 100) if len(lines := _filled(pieces, width * share / 100, font)) == len(most)),
        most,
    )
    return "\n".join(least if len(most) > 1 else most).replace("\u00a0", " ")


def together(text: str) -> str:
    """Return text in which no line ends around ``=``."""
    return text.replace(" = ", "\u00a0=\u00a0")


def _filled(pieces: Sequence[tuple[str, float, bool]], width: float, font: FontProperties) -> list[str]:
    """Return lines of at most that width; a piece is its text, its width and whether the next one joins it."""
    space, lines, used, joined = _width("n n", font) - _width("nn", font), [""], 0.0, True
    for text, wide, joins in pieces:
        gap = 0.0 if joined else space
        if lines[-1] and used + gap + wide > width:
            lines, used, gap, joined = [*lines, ""], 0.0, 0.0, True
        lines[-1] += ("" if joined else " ") + text
        used, joined = used + gap + wide, joins
    return lines


def _width(text: str, font: FontProperties) -> float:
    """Return the width of a line in points."""
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0])


def mark(axis: Axes, marks: Iterable[Mark], panel: str) -> None:
    """Draw the marks of a panel."""
    for place in marks:
        if place.panel in ("", panel):
            _draw(axis, place, _GREY if place.printed else "black")


def _draw(axis: Axes, place: Mark, colour: str) -> None:
    at: tuple[Any, Any]
    coordinates: Any
    if place.x is not None and place.y is not None:
        face = "white" if place.printed else colour
        axis.plot(place.x, place.y, "o", color=colour, markerfacecolor=face, markersize=4.5, zorder=5)
        side = "above" if place.side == "below" and _at_the_bottom(axis, place.y) else place.side
        at, coordinates, (dx, dy, ha, va) = (place.x, place.y), "data", _OFFSETS[side]
        if ha == "center":
            ha = _inwards(axis, place.x)
    elif place.x is not None:
        axis.axvline(place.x, color=colour, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        left = place.side == "left"
        dx, dy, ha, va = -4 if left else 4, -2, "right" if left else "left", "top"
        at, coordinates = (place.x, 1.0), axis.get_xaxis_transform()
    elif place.y is not None:
        axis.axhline(place.y, color=colour, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        left, below = place.side == "left", place.side == "below"
        dx, dy, ha, va = 0, -2 if below else 2, "left" if left else "right", "top" if below else "bottom"
        at, coordinates = (0.01 if left else 0.99, place.y), axis.get_yaxis_transform()
    else:
        raise ValueError(f"a mark needs x, y or both, got {place}")
    text: dict[str, Any] = {"color": colour, "fontsize": _SMALL, "fontweight": "normal" if place.printed else "bold"}
    box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.8}
    where: Any = (place.label, at, (dx, dy), coordinates, "offset points")
    label = axis.annotate(*where, zorder=6, ha=ha, va=va, bbox=box, **text)
    texts(axis).labels.append((label, place))


def _at_the_bottom(axis: Axes, y: float) -> bool:
    """Return whether text below a point would overlap the axis."""
    low, high = axis.get_ylim()
    (_, down), (_, at), (_, up) = axis.transData.transform([(1, low), (1, y), (1, high)])
    return bool(at - down < 0.1 * (up - down))


def _inwards(axis: Axes, x: float) -> str:
    """Return the alignment that keeps text at a point within the axes."""
    low, high = axis.get_xlim()
    (left, _), (at, _), (right, _) = axis.transData.transform([(low, 1), (x, 1), (high, 1)])
    share = (at - left) / (right - left)
    return "left" if share < 0.15 else "right" if share > 0.85 else "center"


def name_curves(panels: dict[Axes, list[Curve]], reach: float) -> bool:
    """Write the names of curves at their right ends, one above the other, and return whether that is legible.

    It is if no name is farther than `reach` lines from its curve; otherwise nothing is written.
    """
    places = {axis: _spread(axis, curves) for axis, curves in panels.items()}
    if not all(_legible(axis, curves, places[axis], reach) for axis, curves in panels.items()):
        return False
    for axis, curves in panels.items():
        for curve, move in zip(curves, places[axis], strict=True):
            text: dict[str, Any] = {"color": curve.colour, "fontsize": _SMALL, "va": "center", "linespacing": 1.0}
            end = (curve.x[-1], curve.y[-1])
            box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.4}
            at: dict[str, Any] = {"xycoords": "data", "textcoords": "offset points", "annotation_clip": False}
            label = axis.annotate(_broken(curve), end, (6, move), bbox=box, **at, **text)
            texts(axis).names.append(Name(label, curve, on=False))
    return True


def name_on_curves(panels: dict[Axes, list[Curve]]) -> bool:
    """Write the names of curves onto them where they are farthest apart, and return whether that is legible."""
    places = {axis: _apart(axis, curves) for axis, curves in panels.items()}
    if any(place is None for place in places.values()):
        return False
    for axis, curves in panels.items():
        for curve, (x, y) in zip(curves, places[axis] or [], strict=True):
            text: dict[str, Any] = {"color": curve.colour, "fontsize": _SMALL, "ha": "center", "va": "center"}
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            label = axis.annotate(curve.name, (x, y), bbox=box, zorder=4, **text)
            texts(axis).names.append(Name(label, curve, on=True))
    return True


def spread_again(axis: Axes) -> None:
    """Spread the names of curves anew, now that the size of their panel is known."""
    ends, on = ends_of(axis), [name for name in texts(axis).names if name.on]
    for name, move in zip(ends, _spread(axis, [name.curve for name in ends]) if ends else (), strict=True):
        name.label.xyann = (6, move)
    for name, place in zip(
        on, _apart(axis, [name.curve for name in on]) or [name.label.xy for name in on], strict=True
    ):
        name.label.xy = name.label.xyann = place


def ends_of(axis: Axes) -> list[Name]:
    """Return the names at the ends of curves that reach the right end of their panel."""
    return [name for name in texts(axis).names if not name.on and not ends_within(axis, name.curve)]


def ends_within(axis: Axes, curve: Curve) -> bool:
    """Return whether a curve ends far from the right end of its panel."""
    at: float = axis.transData.transform((curve.x[-1], curve.y[-1]))[0]
    return at < axis.bbox.x1 - _WITHIN * axis.bbox.width


def room_for_names(axis: Axes) -> float:
    """Return how high a panel has to be for the names at its right, points."""
    return sum(_tall(name.curve) for name in ends_of(axis))


def _broken(curve: Curve) -> str:
    return textwrap.fill(curve.name, _NAME)


def _tall(curve: Curve) -> float:
    """Return the height of a curve's name, points."""
    return _LINE * _SMALL * (_broken(curve).count("\n") + 1)


def _points(axis: Axes) -> float:
    """Return how many points a pixel of the axis' figure is, with the axis scaled to its content."""
    axis.get_ylim()
    return 72 / axis.figure.dpi


def _spread(axis: Axes, curves: Sequence[Curve]) -> np.ndarray:
    """Return by how many points to move each name up so that none overlap, by least squares."""
    scale = _points(axis)
    seen = axis.transData.transform([(curve.x[-1], curve.y[-1]) for curve in curves])[:, 1]
    at = scale * np.clip(np.nan_to_num(seen, nan=-np.inf), axis.bbox.y0, axis.bbox.y1)
    order = np.argsort(at, kind="stable")
    tall = np.array([_tall(curves[i]) for i in order])
    below = np.concatenate([[0.0], np.cumsum((tall[:-1] + tall[1:]) / 2)])
    free = isotonic_regression(at[order] - below).x
    low, high = scale * axis.bbox.y0 + tall[0] / 2, scale * axis.bbox.y1 - below[-1]
    moves = np.empty(len(curves))
    moves[order] = np.clip(free, low, max(low, high)) + below - at[order]
    return moves


def _legible(axis: Axes, curves: Sequence[Curve], moves: np.ndarray, reach: float) -> bool:
    if np.isinf(reach):
        return True
    longest = max(len(line) for curve in curves for line in _broken(curve).split("\n"))
    near = bool((np.abs(moves) <= reach * _LINE * _SMALL).all())
    return near and longest * _EM * _SMALL <= _WIDEST * _points(axis) * axis.bbox.width


def _apart(axis: Axes, curves: Sequence[Curve]) -> list[tuple[float, float]] | None:
    """Return a point of each curve with room for its name, as far right as possible, if all have one."""
    scale = _points(axis)
    drawn = [scale * axis.transData.transform(np.column_stack([curve.x, curve.y]).astype(float)) for curve in curves]
    lines: list[Any] = [line[np.isfinite(line).all(axis=1)] for line in drawn]
    if any(len(line) < 2 or (np.diff(line[:, 0]) < 0).any() for line in lines):
        return None
    placed: list[tuple[float, float, float]] = []
    gone: dict[str, Any] = {"left": np.nan, "right": np.nan}
    for curve, line in zip(curves, lines, strict=True):
        half = len(curve.name) * _EM * _SMALL / 2
        x = np.linspace(line[-1, 0] - half, line[0, 0] + half + 4, 25)
        y = np.interp(x, *line.T)
        others = [other for other in lines if other is not line]
        shifted = [np.interp(x + by, *other.T, **gone) for other in others for by in (-half, 0.0, half)]
        names = [np.where(np.abs(x - at) < half + wide, level, np.nan) for at, level, wide in placed]
        room = np.nan_to_num(np.abs(np.reshape([*shifted, *names], (-1, x.size)) - y), nan=_CLEAR).min(
            axis=0, initial=_CLEAR
        )
        best = int(room.argmax())
        if x[0] <= x[-1] or room[best] < _SMALL:
            return None
        placed.append((x[best], y[best], half))
    points = axis.transData.inverted().transform([(x / scale, y / scale) for x, y, _ in placed])
    return [(float(x), float(y)) for x, y in points]
