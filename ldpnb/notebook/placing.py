"""Put the labels of marked places where they cover nothing.

`Placer.put` draws a label on the side that is asked for. Once the sizes of the panels are known,
`Placer.settle` moves it to another side if a curve, a point or another label is there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.float64]
"""Places in a picture, one a row: to the right and up."""

_STEP = 2.0
"""Pixels between the places of a curve that a label may not cover."""

_ROOM = 1.5
"""Pixels that stay free around a label."""


class Place(NamedTuple):
    """Where a label can stand: beside what, how many points away, and how it is aligned."""

    at: tuple[float, float]
    offset: tuple[float, float]
    ha: str
    va: str


_AROUND: dict[str, tuple[tuple[float, float], str, str]] = {
    "above": ((0, 5), "center", "bottom"),
    "below": ((0, -5), "center", "top"),
    "right": ((6, 0), "left", "center"),
    "left": ((-6, 0), "right", "center"),
    "above right": ((4, 4), "left", "bottom"),
    "above left": ((-4, 4), "right", "bottom"),
    "below right": ((4, -5), "left", "top"),
    "below left": ((-4, -5), "right", "top"),
}
"""The places around a point: offset in points, and alignment."""


def around(x: float, y: float, side: str) -> list[Place]:
    """Return the places around a point, that at `side` first."""
    order = sorted(_AROUND, key=lambda name: name != side)
    return [Place((x, y), *_AROUND[name]) for name in order]


def along_a_horizontal_line(y: float, side: str) -> list[Place]:
    """Return the places above and below a line, at its right end, its left end and its middle."""
    ends = [(0.99, "right"), (0.01, "left"), (0.5, "center")]
    if side == "left":
        ends = [ends[1], ends[0], ends[2]]

    places = []
    for across, ha in ends:
        above = Place((across, y), (0, 2), ha, "bottom")
        below = Place((across, y), (0, -2), ha, "top")
        places += [below, above] if side == "below" else [above, below]
    return places


def along_a_vertical_line(x: float, side: str) -> list[Place]:
    """Return the places to the right and to the left of a line, from its top to its bottom."""
    places = []
    for up, offset, va in ((1.0, -2, "top"), (0.0, 2, "bottom"), (0.5, 0, "center")):
        right = Place((x, up), (4, offset), "left", va)
        left = Place((x, up), (-4, offset), "right", va)
        places += [left, right] if side == "left" else [right, left]
    return places


@dataclass(frozen=True, slots=True)
class _Label:
    axis: Any
    text: Any
    places: Sequence[Place]


class Placer:
    """The labels of the marked places of one figure."""

    def __init__(self) -> None:
        self._labels: list[_Label] = []

    def put(self, axis: Any, text: str, places: Sequence[Place], **looks: Any) -> None:
        """Draw a label at the first of its places.

        Parameters
        ----------
        axis : matplotlib.axes.Axes
            The panel.
        text : str
            What it says; nothing is drawn if that is empty.
        places : sequence of Place
            Where it may stand, the best first.
        **looks
            Arguments of `matplotlib.axes.Axes.annotate`.
        """
        if not text:
            return
        first = places[0]
        drawn = axis.annotate(
            text,
            xy=first.at,
            xytext=first.offset,
            textcoords="offset points",
            ha=first.ha,
            va=first.va,
            **looks,
        )
        self._labels.append(_Label(axis, drawn, places))

    def settle(self, figure: Any) -> None:
        """Move each label to the first of its places where it covers least.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            The figure, of which all but the labels has its final place.
        """
        if not self._labels:
            return
        figure.get_layout_engine().execute(figure)

        in_the_way = {label.axis: _drawn_pixels(label.axis) for label in self._labels}
        taken: list[Any] = []
        for label in self._labels:
            boxes = list(_boxes(label))
            covered = [
                _covered(box, label.axis.bbox, in_the_way[label.axis], taken) for box in boxes
            ]
            best = int(np.argmin(covered))
            _move(label.text, label.places[best])
            taken.append(boxes[best])


def _move(text: Any, place: Place) -> None:
    text.xy = place.at
    text.set_position(place.offset)
    text.set_ha(place.ha)
    text.set_va(place.va)


def _boxes(label: _Label) -> Iterator[Any]:
    """Yield the box of pixels that the label would fill at each of its places."""
    for place in label.places:
        _move(label.text, place)
        yield label.text.get_window_extent().padded(_ROOM)


def _covered(box: Any, panel: Any, drawn: Pixels, taken: Sequence[Any]) -> float:
    """Return how much a box would cover, and how far it would leave its panel, in pixels."""
    x, y = drawn.T
    inside = (box.x0 < x) & (x < box.x1) & (box.y0 < y) & (y < box.y1)

    beyond = max(panel.x0 - box.x0, 0) + max(box.x1 - panel.x1, 0)
    beyond += max(panel.y0 - box.y0, 0) + max(box.y1 - panel.y1 - 2 * _ROOM, 0)

    on_labels = sum(box.overlaps(other) for other in taken)
    return float(inside.sum() + beyond + 100 * on_labels)


def _drawn_pixels(axis: Any) -> Pixels:
    """Return places that the curves, points and error bars of a panel cover."""
    pieces = [np.empty((0, 2))]
    for line in axis.lines:
        corners = _finite(line.get_transform().transform(line.get_xydata()))
        if line.get_linestyle() != "None":
            pieces.append(_between(corners))
        if line.get_marker() not in ("None", None, ""):
            radius = line.get_markersize() / 2 * axis.figure.dpi / 72
            for across in (-radius, 0.0, radius):
                for up in (-radius, 0.0, radius):
                    pieces.append(corners + np.array([across, up]))

    for bars in axis.collections:
        if hasattr(bars, "get_segments"):
            for segment in bars.get_segments():
                pieces.append(_between(_finite(bars.get_transform().transform(segment))))
    return np.concatenate(pieces)


def _finite(places: Pixels) -> Pixels:
    return places[np.isfinite(places).all(axis=1)]


def _between(corners: Pixels) -> Pixels:
    """Return places along a broken line, a few pixels apart."""
    if len(corners) < 2:
        return corners
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    walked = np.concatenate([[0.0], np.cumsum(lengths)])
    stops = np.arange(0.0, walked[-1], _STEP)
    return np.column_stack([np.interp(stops, walked, along) for along in corners.T])
