"""Draw charts with matplotlib."""

import io
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from ldpnb.notebook.charts import WIDTH, Chart, Mark, panels_in_a_row
from ldpnb.notebook.labels import unset
from ldpnb.notebook.looks import Look, looks_of
from ldpnb.notebook.prose import short

mpl.style.use(Path(__file__).with_name("ldpnb.mplstyle"))

_GREY = "#5A5A5A"
_PLAIN = (5e-4, 2e6)
"""Ends of the logarithmic axes whose numbers are written out; on longer ones they are powers of ten."""
_SIDES: dict[str, tuple[tuple[float, float], str, str]] = {
    "above": ((0, 5), "center", "bottom"),
    "below": ((0, -5), "center", "top"),
    "right": ((6, 0), "left", "center"),
    "left": ((-6, 0), "right", "center"),
}
"""Offset in points and alignment of a label beside its point."""


def png(chart: Chart) -> bytes:
    """Return the picture in 128 colours, which take two fifths of the space of full colour."""
    from PIL import Image

    figure, content = draw(chart), io.BytesIO()
    figure.dpi = mpl.rcParams["savefig.dpi"]
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # once, where `savefig` draws a constrained layout twice
    few = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(content, "png", dpi=(figure.dpi,) * 2)
    return content.getvalue()


def draw(chart: Chart, width: float = WIDTH) -> Figure:
    """Draw a chart, as wide as that many inches.

    Curves are named at their right ends where these are apart, and else in a legend.
    """
    chart = chart.readable()
    rows = chart.rows()
    panels, series = rows["panel"].unique(), list(rows["series"].unique())
    names = list(rows["x"].unique()) if chart.flip else []
    if names:
        rows = _beside(rows, names, apart=chart.by != chart.x)
    wide = min(len(panels), panels_in_a_row(len(panels)) if width > WIDTH / 2 else 1 + (len(panels) > 3))
    tall = -(-len(panels) // wide)
    height = 0.9 + tall * (0.4 + 0.24 * len(names) if names else 2.2)
    figure = Figure(figsize=(width, height), layout="constrained")
    inner: Any = figure.subfigures()  # whose legend and labels the constrained layout keeps off the title
    _head(figure, chart.title, size=10, weight="bold")
    _head(inner, chart.setting, size=8, color=_GREY)
    axes = inner.subplots(tall, wide, sharex=True, sharey=chart.ylabel != "" or chart.flip, squeeze=False)
    looks = looks_of(series)
    for axis, panel in zip(axes.flat, panels, strict=False):
        for (label, mark), part in rows[rows["panel"] == panel].groupby(["series", "mark"], sort=False):
            _draw(axis, part, chart, mark, looks[label])
        axis.set_title(unset(textwrap.fill(panel, int(10.5 * width) // wide, break_on_hyphens=False)))
        _scale(axis, chart, names, rows)
        for mark in chart.marks:
            if mark.panel in ("", panel):
                _mark(axis, mark)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    across, up = reversed(chart.labels) if chart.flip else chart.labels
    for axis in axes.flat[max(0, len(panels) - wide) : len(panels)]:
        axis.set_xlabel(unset(textwrap.fill(across, int(14 * width) // wide)))
        axis.tick_params(labelbottom=True)
    for axis in axes[:, 0]:
        axis.set_ylabel(unset(textwrap.fill(up, 28)))
    last = [axes.flat[min(start + wide, len(panels)) - 1] for start in range(0, len(panels), wide)]
    if series != [""] and chart.by != chart.x and (names or not _named(last, len(series))):
        _legend(inner, axes.flat, int(17 * width / (8 + max(map(len, series)))))  # characters, about
    return figure


def _head(figure: Any, text: str, **looks: Any) -> None:
    """Put words above a figure, broken where they are too long, but not around ``=``."""
    if text:
        words = unset(text).replace(" = ", "\u00a0=\u00a0")
        figure.suptitle(words, x=0.008, ha="left", wrap=True, **{"weight": "normal"} | looks)


def _beside(rows: pd.DataFrame, names: Sequence[Any], *, apart: bool) -> pd.DataFrame:
    """Return the rows of these names with their places, those of several series beside each other but for bars."""
    series = rows.loc[rows["mark"] != "bars", "series"].unique()
    ends = 0.25 * (len(series) > 1 and apart)
    aside = dict(zip(series, np.linspace(-ends, ends, len(series)), strict=True))
    places = {name: place for place, name in enumerate(names)}
    return rows.assign(x=rows["x"].map(places) + rows["series"].map(aside).fillna(0.0)).dropna(subset="x")


def _draw(axis: Any, rows: pd.DataFrame, chart: Chart, mark: str, style: Look) -> None:
    """Draw a curve with its band, points with their bars, or bars, beside names if the axes are flipped."""
    x, y, low, high = (rows[column].astype(float) for column in ("x", "y", "low", "high"))
    spread, looks = low.notna().any(), {"color": style.colour, "label": unset(rows["series"].iloc[0])}
    if mark == "bars":
        axis.barh(x, y, 0.6, alpha=0.25 if chart.layers else 0.85, **looks)
        axis.axvline(0, color="#444444", linewidth=0.8)
    elif chart.flip or mark == "points":
        size = 4.5 if len(y) < 40 else 2
        axis.plot(*((y, x) if chart.flip else (x, y)), style.marker, markersize=size, **looks)
        if spread:
            (axis.hlines if chart.flip else axis.vlines)(x, low, high, color=style.colour, linewidth=1.2)
    else:
        thin: dict[str, Any] = {"marker": style.marker, "markersize": 3, "linewidth": 0.5} if chart.discrete else {}
        if spread:
            axis.fill_between(x, low, high, alpha=0.18, linewidth=0, **looks)
        axis.plot(x, y, linestyle=style.dash, **looks, **thin)
    if chart.flip and chart.by in (None, chart.x) and not chart.layers:  # each number beside its bar or point
        for place, number in zip(x, y, strict=True):
            text, way = short(number).replace("-", "\N{MINUS SIGN}"), -1 if number < 0 else 1
            side: dict[str, Any] = {"ha": "right" if way < 0 else "left", "va": "center", "size": 8}
            axis.annotate(text, (number, place), (7 * way, 0), textcoords="offset points", **side)
        axis.margins(x=1.05 / axis.get_figure(root=True).get_figwidth())


class _Logarithmic(LogFormatterSciNotation):
    """Whatever ticks matplotlib would name, written out."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return short(x, 6) if super().__call__(x, pos) else ""


def _scale(axis: Any, chart: Chart, names: Sequence[Any], rows: pd.DataFrame) -> None:
    """Scale the axes of a panel; their numbers are written as sentences do, whole ones for counts."""
    if any(mark.label and mark.x is not None for mark in chart.marks):
        axis.margins(y=0.13)
    if names:
        axis.set_yticks(range(len(names)), [unset(name) for name in names])
        axis.set_ylim(len(names) - 0.5, -0.5)
    axes = [("x", "y", chart.yscale)] if names else [("x", "x", chart.xscale), ("y", "y", chart.yscale)]
    for side, column, scale in axes:
        axis.set(**{f"{side}scale": scale})
        ticked = getattr(axis, f"{side}axis")
        low, high = sorted(ticked.get_view_interval())
        if scale == "linear":
            ticked.set_major_formatter("{x:,g}")
            axis.locator_params(axis=side, integer=bool((rows[column] % 1 == 0).all()))
        elif _PLAIN[0] <= low and high <= _PLAIN[1]:
            ticked.set_major_formatter(_Logarithmic())
            ticked.set_minor_formatter(_Logarithmic(labelOnlyBase=False))


def _mark(axis: Any, mark: Mark) -> None:
    """Point out a place: a point or a line across the panel, with its label."""
    colour = _GREY if mark.printed else "black"
    rule: dict[str, Any] = {"color": colour, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1}
    coordinates: Any = "data"
    at, (offset, ha, va) = (mark.x, mark.y), _SIDES[mark.side]
    if mark.y is None:
        axis.axvline(mark.x, **rule)
        at, coordinates, va = (mark.x, 1.0), axis.get_xaxis_transform(), "top"
        offset, ha = ((-4, -2), "right") if mark.side == "left" else ((4, -2), "left")
    elif mark.x is None:
        axis.axhline(mark.y, **rule)
        at, coordinates, ha = (0.99, mark.y), axis.get_yaxis_transform(), "right"
        offset = (0, -2) if mark.side == "below" else (0, 2)
    else:
        axis.plot(*at, "o", color=colour, mfc="white" if mark.printed else colour, ms=4.5, zorder=5)
    looks: dict[str, Any] = {"color": colour, "size": 8, "weight": "normal" if mark.printed else "bold"}
    axis.annotate(unset(mark.label), at, offset, coordinates, "offset points", ha=ha, va=va, zorder=6, **looks)


def _named(panels: Iterable[Any], count: int) -> bool:
    """Name the curves of panels at their right ends if these are apart in each, and return whether they are."""
    named = []
    for axis in panels:
        axis.get_ylim()  # scales the axis to its curves
        lines: dict[str, Any] = {}  # of a name that has a curve and points, the curve
        for line in axis.lines:
            if not line.get_label().startswith("_"):
                lines.setdefault(line.get_label(), line)
        ends = [line.get_xydata()[-1] for line in lines.values()]
        x, y = (axis.transData + axis.transAxes.inverted()).transform(ends).T
        apart = np.diff(np.sort(y)) * axis.bbox.height * 72 / axis.figure.dpi > 10
        if len(lines) < count or not apart.all() or not (x > 0.9).all():
            return False
        named += [(axis, line, end[1]) for line, end in zip(lines.values(), ends, strict=True)]
    for axis, line, y in named:
        at = {"xycoords": axis.get_yaxis_transform(), "textcoords": "offset points", "annotation_clip": False}
        axis.annotate(line.get_label(), (1, y), (2, 0), **at, color=line.get_color(), va="center", size=8)
    return True


def _legend(figure: Any, axes: Iterable[Any], columns: int) -> None:
    """Put one legend for all panels below them; a name that has a line, a band and points is one entry."""
    entries: dict[str, Any] = {}
    for axis in axes:
        own: dict[str, Any] = {}
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            own[name] = (*own.get(name, ()), handle)
        entries |= own | entries
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=max(columns, 1))
