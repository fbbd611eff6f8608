"""Draw tidy tables and publish the pictures with their numbers. Nothing here computes a result.

A figure is drawn from one table and published together with it, so that the numbers behind every picture can be read,
compared and reused. Colour, marker and dash identify an estimator, a mechanism or a bound, the same in every figure.
Simulated values, which have a standard error, are points with bars of two standard errors; theory is a line.
"""

import hashlib
import io
import json
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pandas.api.types import is_integer_dtype

from ldpnb import writing
from ldpnb.notebook import encoding, environment, latex, printing
from ldpnb.notebook.annotations import SMALL, Mark, broken, head, heading, mark
from ldpnb.notebook.encoding import Encoding
from ldpnb.notebook.labels import unset
from ldpnb.notebook.looks import Look, look, looks_of
from ldpnb.notebook.tables import without_formulas
from ldpnb.notebook.ticks import numbers, whole_numbers

__all__ = ["Mark", "curves", "head", "legend", "look", "looks_of", "publish", "publish_table", "size"]

mpl.style.use(Path(__file__).with_name("ldpnb.mplstyle"))

_WIDTH, _HEIGHT = 7.0, 3.1
"""Width of a figure, that of a page's text, so that print does not shrink the type, and height of a row of panels."""
_PANEL, _STACKED = 2.2, 3
"""Least width of one of several panels side by side, inches, and most panels one above the other for its sake."""
_NEARLY_WHITE = 248
_LINE, _NAME = 1.25, 18
"""Height of a line in units of its size, and longest line of a curve's name, characters."""
_WITHIN, _FAR = 0.1, 1.5
"""How far a named curve may end from the right of its panel, in widths of the panel, and from its name, in lines."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What the name of a curve needs: its text, its colour and where the curve ends."""

    name: str
    colour: str
    x: float
    y: float


def size(height: float) -> tuple[float, float]:
    """Return width and height of a figure, inches, from its height at the width of a page."""
    return printing.resized((_WIDTH, height), printing.wanted().width)


def curves(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    panel: str | None = None,
    error: str | None = None,
    band: tuple[str, str] | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
    columns: int = 2,
    share_y: bool = True,
    direct: bool | None = None,
    discrete: bool = False,
    title: str = "",
    setting: str = "",
    marks: Sequence[Mark] = (),
) -> Figure:
    """Draw one curve per value of `by` in one panel per value of `panel`.

    Axes of whole numbers have whole ticks, and series that differ by a number share a ramp of colours.

    Parameters
    ----------
    table : DataFrame
        Tidy: a row per point.
    x, y, by, panel, error, band, xlabel, ylabel, xscale, yscale, columns, share_y, discrete
        As in `ldpnb.notebook.encoding.Encoding`.
    direct : bool, optional
        Whether to name the curves at their right ends or in a legend; by default at their ends if there is room.
    title, setting : str
        The finding, with its numbers, and what was held fixed.
    marks : sequence of Mark
        Crossings, gaps and printed values to point out.
    """
    drawn_as = Encoding(
        x=x,
        y=y,
        by=by,
        panel=panel,
        error=error,
        band=band,
        xlabel=xlabel,
        ylabel=ylabel,
        xscale=xscale,
        yscale=yscale,
        columns=columns,
        share_y=share_y,
        discrete=discrete,
        marks=tuple(marks),
    )
    panels = [None] if panel is None else list(dict.fromkeys(table[panel]))
    beside = int((printing.wanted().width or _WIDTH) // _PANEL)
    wide = min(columns, len(panels), max(beside, 1 if len(panels) <= _STACKED else 2))
    tall = -(-len(panels) // wide)
    figure, axes = plt.subplots(tall, wide, figsize=size(_HEIGHT * tall), sharex=True, sharey=share_y, squeeze=False)
    series = [None] if by is None else list(dict.fromkeys(table[by]))
    looks = looks_of(series)
    drawn: dict[Axes, list[Curve]] = {}
    for axis, value in zip(axes.flat, panels, strict=False):
        part = table if panel is None else table[table[panel] == value]
        for name in series:
            rows = part if by is None else part[part[by] == name]
            if len(rows):
                curve = _series(axis, rows, drawn_as, looks[name], unset(name) if by else None)
                drawn.setdefault(axis, []).append(curve)
        axis.set(xscale=xscale, yscale=yscale, title="" if panel is None else unset(value))
        whole_numbers(axis, x=is_integer_dtype(table[x]), y=is_integer_dtype(table[y]))
        mark(axis, marks, "" if value is None else str(value))
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[-1, :]:
        axis.set_xlabel(unset(x) if xlabel is None else xlabel)
    for axis in axes[:, 0]:
        axis.set_ylabel(unset(y) if ylabel is None else ylabel)
    head(figure, title, setting)
    last = [filled[-1] for row in axes if (filled := [axis for axis in row if axis in drawn])]
    complete = all(len(drawn[axis]) == len(series) for axis in last)
    if by is not None and not (direct is not False and complete and _named({axis: drawn[axis] for axis in last})):
        legend(figure, axes.flat)
    return encoding.keep(figure, table, drawn_as)


def _series(axis: Axes, rows: pd.DataFrame, drawn_as: Encoding, style: Look, name: str | None) -> Curve:
    """Draw one series and return its curve."""
    x, y, error, band = drawn_as.x, drawn_as.y, drawn_as.error, drawn_as.band
    simulated = rows[error].notna() if error else pd.Series(False, index=rows.index)
    theory, points = rows[~simulated], rows[simulated]
    if band is not None and len(theory):
        axis.fill_between(theory[x], theory[band[0]], theory[band[1]], color=style.colour, alpha=0.18, linewidth=0)
    if len(theory):
        marked: dict[str, Any] = (
            {"marker": style.marker, "markersize": 3, "linewidth": 0.5} if drawn_as.discrete else {}
        )
        axis.plot(theory[x], theory[y], color=style.colour, linestyle=style.dash, label=name, **marked)
    if len(points):
        looks: dict[str, Any] = {"color": style.colour, "marker": style.marker, "linestyle": "none"}
        axis.errorbar(points[x], points[y], 2 * points[error], label=name, **looks)
    drawn = theory if len(theory) else points
    seen = drawn[drawn[y].notna()] if drawn[y].notna().any() else drawn
    return Curve(name or "", style.colour, seen[x].iloc[-1], seen[y].iloc[-1])


def _named(panels: dict[Axes, list[Curve]]) -> bool:
    """Name the curves of panels at their right ends if there is room in each, and return whether there is."""
    places = {axis: _moves(axis, curves) for axis, curves in panels.items()}
    if any(moves is None for moves in places.values()):
        return False
    at: dict[str, Any] = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
    for axis, curves in panels.items():
        for curve, up in zip(curves, places[axis] or (), strict=True):
            text: dict[str, Any] = {"color": curve.colour, "fontsize": SMALL, "linespacing": 1.0}
            axis.annotate(textwrap.fill(curve.name, _NAME), (curve.x, curve.y), (6, up), **at, **text)
    return True


def _moves(axis: Axes, curves: Sequence[Curve]) -> list[float] | None:
    """Return by how many points each name has to go up to clear the one below it, or None if one went too far."""
    axis.get_ylim()  # scales the axis to its curves
    ends = axis.transData.transform([(curve.x, curve.y) for curve in curves])
    if not np.isfinite(ends).all() or (ends[:, 0] < axis.bbox.x1 - _WITHIN * axis.bbox.width).any():
        return None
    up, top = [0.0] * len(curves), -np.inf
    for i in np.argsort(ends[:, 1], kind="stable"):
        half = _LINE * SMALL * len(textwrap.wrap(curves[i].name, _NAME)) / 2
        own = 72 / axis.figure.dpi * ends[i, 1]
        up[i] = max(top + half - own, 0.0)
        top = own + up[i] + half
    return up if max(up) <= _FAR * _LINE * SMALL else None


def legend(figure: Figure, axes: Iterable[Axes]) -> None:
    """Put one legend for all panels below them; a name that has both a line and points is one entry."""
    entries: dict[str, list[Any]] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            kinds = [type(h) for h in entries.setdefault(label, [])]
            if type(handle) not in kinds:
                entries[label].append(handle)
    handles: list[Any] = [h[0] if len(h) == 1 else tuple(h) for h in entries.values()]
    columns = int(17 * figure.get_figwidth() / (8 + max(map(len, entries), default=0)))  # characters, about
    figure.legend(handles, list(entries), loc="outside lower center", ncols=min(max(columns, 1), max(len(entries), 1)))


def publish(figure: Figure, table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Show a figure, and write it with its numbers when a folder for figures is set.

    Writes ``<name>.png``, ``<name>.pdf`` and ``<name>.csv`` (10 significant digits), and their provenance
    ``<name>.json`` (caption, title and setting, the encoding, the run's own parameters, hashes of the numbers and of
    what was drawn from them), each replaced in one step. Without a folder nothing is written.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn from `table` alone.
    table : pandas.DataFrame
        The numbers behind the picture.
    name : str
        Of the figure within its notebook's folder.
    caption : str
        What the figure shows, in a sentence or two; also its alternative text.

    Raises
    ------
    ValueError
        If `caption` is empty, `table` has no rows, or not those that the figure was drawn from.
    """
    from IPython.display import Image, display

    _require(table, name, caption)
    printed = printing.wanted()
    if printed.width and abs(printed.width - figure.get_figwidth()) > 1e-6:
        figure.set_size_inches(*printing.resized(tuple(figure.get_size_inches()), printed.width))
    title, setting = heading(figure)
    kept = encoding.drawn(figure)
    heads: dict[str, Any] = {key: text for key, text in {"title": title, "setting": setting}.items() if text}
    heads |= {"encoding": kept.of(table, name).to_dict()} if kept else {}
    settings: Any = printing.fonts(figure, printed.font)
    with mpl.rc_context(settings):
        head(figure, title, setting)
        picture = _png(figure)
        _publish(table, name, caption, lambda: {".png": picture, **_vectors(figure, printed.format)}, heads)
    plt.close(figure)
    display(Image(picture, width=round(100 * figure.get_figwidth()), alt=caption))


def publish_table(table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Write a table as ``<name>.csv`` and, for LaTeX, ``<name>.tex`` when a folder is set; see `publish`."""
    _require(table, name, caption)
    _publish(table, name, caption, lambda: {".tex": latex.table(table, caption, Path(name).name).encode()}, {})


def _require(table: pd.DataFrame, name: str, caption: str) -> None:
    if not caption.strip() or not len(table):
        raise ValueError(f"{name}: needs a caption and a table with rows")


def _publish(
    table: pd.DataFrame, name: str, caption: str, drawn: Callable[[], dict[str, bytes]], heads: dict[str, Any]
) -> None:
    """Write a table's numbers and what was drawn from them, if a folder is set."""
    folder = os.environ.get(environment.FIGURES_FOLDER)
    if not folder:
        return
    pictures = drawn()
    numbers = without_formulas(table).to_csv(index=False, float_format="%.10g", lineterminator="\n")
    record = {
        "caption": caption,
        "parameters": json.loads(os.environ.get(environment.RUN_PARAMETERS) or "{}"),
        "rows": len(table),
        "columns": list(table.columns),
        **heads,
        "sha256": _digest(numbers.encode()),
        "drawn": {suffix: _digest(content) for suffix, content in pictures.items()},
    }
    provenance = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    contents = {".csv": numbers.encode(), ".json": provenance.encode(), **pictures}
    for suffix, content in contents.items():
        writing.write(Path(folder, name + suffix), content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _settle(figure: Figure) -> None:
    """Lay a figure out for good, with labels of axes and titles of panels broken where they are too long."""
    if figure.get_layout_engine() is None:
        return
    numbers(figure)
    figure.draw_without_rendering()
    for axis in figure.axes:
        title = axis.set_title(axis.get_title(loc="left"), loc="left")  # the same: the only way to its text
        wide, tall = axis.bbox.width, axis.bbox.height
        for text, room in ((axis.xaxis.label, 1.15 * wide), (axis.yaxis.label, tall), (title, 1.08 * wide)):
            box = text.get_window_extent()
            if text.get_text() and max(box.width, box.height) > room:
                font = text.get_fontproperties()
                text.set(text=broken(text.get_text(), 72 * room / figure.dpi, font), linespacing=1.05)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _png(figure: Figure) -> bytes:
    """Draw a figure in 256 colours.

    These suffice for lines, type and their smooth edges, and take a quarter of the space of full colour.
    """
    from PIL import Image

    figure.set_dpi(mpl.rcParams["savefig.dpi"])
    canvas = FigureCanvasAgg(figure)
    _settle(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    few = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    colours = np.array(few.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) > _NEARLY_WHITE] = 255  # octrees average the background
    few.putpalette(colours.ravel().tolist())
    content = io.BytesIO()
    few.save(content, "png", dpi=(figure.dpi, figure.dpi))
    return content.getvalue()


def _vectors(figure: Figure, kind: str) -> dict[str, bytes]:
    """Return the PDF of a laid-out figure, and any other format wanted; neither if only the picture is."""
    if kind == "png":
        return {}
    content = io.BytesIO()
    figure.savefig(content, format="pdf", metadata=dict.fromkeys(("CreationDate", "Producer", "Creator")))
    return {".pdf": content.getvalue()} | ({".pgf": printing.pgf(figure)} if kind == "pgf" else {})
