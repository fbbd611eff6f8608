"""The last step before a figure is drawn: its texts are measured, broken where too long, and moved to where room is.

Only now is known how large the panels are. Labels of axes and titles of panels are broken so that they fit them, panels
too low for the names of their curves are made higher, those names are spread again, and every mark's label takes the
place around it that covers least. The library adjustText (1.4) does not serve: on six crowded figures it left labels on
curves and dots, took up to 0.3 s a figure more, and it places neither the labels of rules nor names at curves' ends.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from ldpnb.notebook.annotations import Mark, broken, ends_within, room_for_names, spread_again, texts
from ldpnb.notebook.ticks import numbers

_LOWEST = 1.0
"""Least height of a panel, inches."""
_ROUND = (
    (0, 5, "center", "bottom"),
    (0, -5, "center", "top"),
    (6, 0, "left", "center"),
    (-6, 0, "right", "center"),
    (4, 4, "left", "bottom"),
    (-4, 4, "right", "bottom"),
    (4, -4, "left", "top"),
    (-4, -4, "right", "top"),
    (0, 14, "center", "bottom"),
    (0, -14, "center", "top"),
)
"""Places of a label around its point: points to the right and up, and how it is aligned there."""
_ALONG = (0.0, 0.12, 0.25, 0.38, 0.5, 0.62, 0.75, 0.88, 0.98)
"""Places of a label along its rule, as shares of the panel, from its end."""
_COVERED, _OUTSIDE, _FARTHER = 400.0, 150.0, 4.0
"""Costs of a place: of covering a label, of leaving the panel, of being the next choice; 2 pixels of a curve cost 1."""

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, pixels."""


def settle(figure: Figure) -> None:
    """Lay a figure out for good."""
    engine = figure.get_layout_engine()
    if engine is None:
        return
    numbers(figure)
    engine.execute(figure)
    if _break_texts(figure):
        engine.execute(figure)
    if _raise_panels(figure):
        engine.execute(figure)
    figure.set_layout_engine("none")
    for axis in figure.axes:
        spread_again(axis)
        _move_labels(axis)


def _move_labels(axis: Axes) -> None:
    """Move the names of curves that end within a panel, and the labels of its marks, to where they cover least."""
    within = [name.label for name in texts(axis).names if not name.on and ends_within(axis, name.curve)]
    taken = [_box(name.label) for name in texts(axis).names if name.label not in within]
    points = [place for _, place in texts(axis).labels if place.x is not None and place.y is not None]
    taken += [_dot(axis, place) for place in points]
    obstacles = _obstacles(axis) if within or texts(axis).labels else np.empty((0, 2))
    for label in within:
        taken.append(_moved(axis, label, _around(label), obstacles, taken))
    for label, place in texts(axis).labels:
        choices = _around(label) if place in points else _along(label, vertical=place.x is not None)
        if place.label:
            taken.append(_moved(axis, label, choices, obstacles, taken))


def _break_texts(figure: Figure) -> bool:
    """Break labels of axes and titles of panels that are longer than these, and return whether any was."""
    changed = False
    for axis in figure.axes:
        if not axis.axison:
            continue
        columns = _grid(axis)[1]
        wide, tall = axis.bbox.width, axis.bbox.height
        along = 1.15 * wide if columns > 1 else figure.bbox.width
        over = min(1.08 * wide, figure.bbox.x1 - axis.bbox.x0)
        title = axis.set_title(
            axis.get_title(loc="left"), loc="left"
        )  # the same, as matplotlib hands out its text only so
        for text, room in [(axis.yaxis.label, tall), (axis.xaxis.label, along), (title, over)]:
            changed |= _broken(text, room, figure.dpi)
    return changed


def _broken(text: Text, room: float, dpi: float) -> bool:
    """Break a text into lines no longer than there is room, in pixels, and return whether it had to be."""
    box = text.get_window_extent()
    if not text.get_text() or max(box.width, box.height) <= room:
        return False
    points = 72 * room / dpi
    lines = [broken(line, points, text.get_fontproperties()) for line in text.get_text().split("\n")]
    text.set(text="\n".join(lines), linespacing=1.05)
    return True


def _raise_panels(figure: Figure) -> bool:
    """Raise a figure whose panels are too low, and return whether any was."""
    lacking = [max(_LOWEST, room_for_names(axis) / 72) - axis.bbox.height / figure.dpi for axis in figure.axes]
    if not lacking or max(lacking) < 0.05:
        return False
    rows = max(_grid(axis)[0] for axis in figure.axes)
    figure.set_figheight(figure.get_figheight() + rows * max(lacking))
    return True


def _grid(axis: Axes) -> tuple[int, int]:
    """Return rows and columns of the panels that an axis is one of."""
    place = axis.get_subplotspec()
    return place.get_gridspec().get_geometry() if place else (1, 1)


def _obstacles(axis: Axes) -> np.ndarray:
    """Return pixels that curves, points and bars of errors cover, one every two pixels."""
    covered_pixels = []
    for line in axis.lines:
        corners = line.get_transform().transform(np.ma.filled(np.ma.asarray(line.get_xydata(), float), np.nan))
        if line.get_linestyle() not in ("None", "none", " ", ""):
            covered_pixels.append(_dense(corners))
        if line.get_marker() not in ("None", "none", None, ""):
            covered_pixels += [corners + shift for shift in ((0, 0), (3, 3), (-3, 3), (3, -3), (-3, -3))]
    for collection in axis.collections:
        if isinstance(collection, LineCollection):
            covered_pixels += [_dense(axis.transData.transform(segment)) for segment in collection.get_segments()]
    points = np.concatenate(covered_pixels) if covered_pixels else np.empty((0, 2))
    return points[np.isfinite(points).all(axis=1)]


def _dense(corners: np.ndarray) -> np.ndarray:
    """Return points on a line through corners, about two pixels apart."""
    corners = corners[np.isfinite(corners).all(axis=1)]
    if len(corners) < 2:
        return corners
    far = np.concatenate([[0.0], np.hypot(*np.diff(corners, axis=0).T).cumsum()])
    at = np.linspace(0.0, far[-1], int(min(far[-1] / 2, 20_000)) + 2)
    return np.column_stack([np.interp(at, far, corners[:, 0]), np.interp(at, far, corners[:, 1])])


def _around(label: Any) -> Iterator[tuple[Any, ...]]:
    """Yield where a label may be around its point, its own place first."""
    own = (*label.xyann, label.get_ha(), label.get_va())
    yield (label.xy, *own)
    for place in _ROUND:
        yield (label.xy, *place)


def _along(label: Any, vertical: bool) -> Iterator[tuple[Any, ...]]:
    """Yield where a label may be along its rule, its own place first."""
    (dx, dy), ha, va = label.xyann, label.get_ha(), label.get_va()
    end = label.xy[1 if vertical else 0]
    for share in _ALONG:
        at = abs(end - share)
        if vertical:
            aligned = "top" if at > 0.5 else "bottom"
            for side, align in ((dx, ha), (-dx, "left" if ha == "right" else "right")):
                yield (label.xy[0], at), side, dy if at > 0.5 else -dy, align, aligned
        else:
            aligned = "right" if at > 0.66 else "left" if at < 0.34 else "center"
            for side, align in ((dy, va), (-dy, "top" if va == "bottom" else "bottom")):
                yield (at, label.xy[1]), dx, side, aligned, align


def _moved(
    axis: Axes, label: Any, choices: Iterable[tuple[Any, ...]], obstacles: np.ndarray, taken: Sequence[Box]
) -> Box:
    """Move a label to the choice that covers least, and return its box."""
    best: tuple[float, tuple[Any, ...], Box] | None = None
    box = _box(label)
    wide, tall = box[2] - box[0], box[3] - box[1]
    for rank, (xy, dx, dy, ha, va) in enumerate(choices):
        at = _anchor(axis, label, xy) + np.array([dx, dy]) * axis.figure.dpi / 72
        left = at[0] - {"left": 0.0, "center": 0.5, "right": 1.0}[ha] * wide
        low = at[1] - {"bottom": 0.0, "center": 0.5, "top": 1.0}[va] * tall
        tried = (left, low, left + wide, low + tall)
        cost = _cost(axis, tried, obstacles, taken) + _FARTHER * rank
        if best is None or cost < best[0]:
            best = (cost, (xy, dx, dy, ha, va), tried)
    assert best is not None
    label.xy, label.xyann = best[1][0], best[1][1:3]
    label.set(ha=best[1][3], va=best[1][4])
    return best[2]


def _cost(axis: Axes, box: Box, obstacles: np.ndarray, taken: Sequence[Box]) -> float:
    left, low, right, top = box
    x, y = obstacles.T
    covered = float(((x > left - 1) & (x < right + 1) & (y > low) & (y < top)).sum())
    overlap = [max(0, min(right, r) - max(left, x)) * max(0, min(top, t) - max(low, y)) for x, y, r, t in taken]
    out = max(axis.bbox.x0 - left, axis.bbox.y0 - low, right - axis.bbox.x1, top - axis.bbox.y1, 0.0)
    return covered + _COVERED * sum(overlap) / ((right - left) * (top - low)) + (_OUTSIDE + out if out > 2 else 0.0)


def _anchor(axis: Axes, label: Any, xy: Any) -> np.ndarray:
    transform = axis.transData if label.xycoords == "data" else label.xycoords
    return np.asarray(transform.transform(xy), float)


def _dot(axis: Axes, place: Mark) -> Box:
    x, y = axis.transData.transform((place.x or 0.0, place.y or 0.0))
    half = 2.5 * axis.figure.dpi / 72
    return x - half, y - half, x + half, y + half


def _box(label: Any) -> Box:
    box = label.get_window_extent()
    return box.x0, box.y0, box.x1, box.y1
