"""Draw tidy tables and publish the pictures with their numbers. Nothing here computes a result.

A figure is drawn from one table and published together with it, so that the numbers behind every picture can be read,
compared and reused. Colour, marker and dash identify an estimator, a mechanism or a bound, the same in every figure.
Simulated values, which have a standard error, are points with bars of two standard errors; theory is a line.
"""

import hashlib
import io
import itertools
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
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
from ldpnb.mechanisms.registry import COLOURED
from ldpnb.notebook import encoding, environment, latex, layout, printing
from ldpnb.notebook.annotations import (
    FAR,
    NEAR,
    Curve,
    Mark,
    head,
    heading,
    is_family,
    mark,
    name_curves,
    name_on_curves,
    ramp,
)
from ldpnb.notebook.encoding import Encoding
from ldpnb.notebook.labels import unset
from ldpnb.notebook.tables import without_formulas
from ldpnb.notebook.ticks import whole_numbers

mpl.style.use(Path(__file__).with_name("ldpnb.mplstyle"))

# hues that the colour-blind tell apart; the first six and black also differ in lightness, and so in grey
_COLOURS = ("#004B94", "#CB5004", "#1B7340", "#D86CA4", "#3DB2E6", "#522A06", "#A39A2E", "#777777")
_MARKERS = "osD^vP*X"
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (4, 1, 1, 1)),
    (0, (8, 2)),
    (0, (2, 1)),
    (0, (6, 1, 1, 1, 1, 1)),
    (0, (3, 3)),
)

_WIDTH = 7.0
"""Width of a figure, inches: that of a page's text, so that print does not shrink the type."""

_HEIGHT = 3.1
"""Height of a row of panels, inches, in a figure of that width."""

_PANEL, _STACKED = 2.2, 3
"""Least width of one of several panels side by side, inches, and most panels one above the other for its sake."""

_NEARLY_WHITE = 248

_LEGEND_ENTRY, _LEGEND_ROW = 8, 17
"""Characters' width of an entry's line and margins, and of an inch of a row."""


@dataclass(frozen=True, slots=True)
class Look:
    """Colour, marker and dash of one series."""

    colour: str
    marker: str
    dash: Any


_LOOKS: dict[str, Look] = {}
_FAMILIES = (
    ("truth", "c_DE", "g_DE", "c-hat", "ratio", "T", "Horvitz-Thompson", "Hájek"),
    ("unbiased", "Norm-Sub", "MLE", "Bayes", "empirical Bayes", "uniform guess"),
    (
        "exact",
        "upper bound",
        "lower bound",
        "published",
        "simple random sampling",
        "no amplification",
        "improved lower bound",
    ),
    ("Neyman", "proportional", "proportional, rounded at random", "best found", "fixed"),
    *COLOURED,
)


def look(name: str) -> Look:
    """Return the look of `name`; names outside the companion's vocabulary get one by their hash.

    >>> look("MLE") == look("MLE"), look("MLE") == look("Norm-Sub")
    (True, False)
    """
    if not _LOOKS:
        for family in _FAMILIES:
            for i, member in enumerate(family):
                _LOOKS[member] = Look("#000000" if member == "truth" else _COLOURS[i], _MARKERS[i], _DASHES[i])
    if name not in _LOOKS:
        i = hashlib.blake2b(str(name).encode(), digest_size=2).digest()[0] % len(_COLOURS)
        return Look(_COLOURS[i], _MARKERS[i], _DASHES[i])
    return _LOOKS[name]


def looks_of(names: Sequence[Any]) -> dict[Any, Look]:
    """Return the looks of a figure's series: a ramp for a family; unknown names get unused ones in order."""
    if is_family(names):
        return {n: Look(c, m, "-") for n, c, m in zip(names, ramp(len(names)), itertools.cycle(_MARKERS), strict=False)}
    look("MLE")
    looks = {n: _LOOKS[str(n)] for n in names if str(n) in _LOOKS}
    others = [Look(*parts) for parts in zip(_COLOURS, _MARKERS, _DASHES, strict=True)]
    free = [other for other in others if other.colour not in {own.colour for own in looks.values()}]
    return looks | dict(zip([n for n in names if n not in looks], itertools.cycle(free or others), strict=False))


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
    x, y : str
        Columns on the axes.
    by, panel : str, optional
        Columns that distinguish series and panels, in order of first appearance.
    error : str, optional
        Column of standard errors. Rows where it is present are drawn as points with bars of two standard errors, the
        others as a line.
    band : (str, str), optional
        Columns between which a series is shaded.
    xlabel, ylabel, xscale, yscale : str
        Axis labels, with units (left out, the column's name), and scales.
    columns : int
        Panels per row.
    share_y : bool
        Whether all panels share the ordinate.
    direct : bool, optional
        Whether to name the curves at their right ends or in a legend; by default at their ends if legible.
    discrete : bool
        Whether there is nothing between two places on the axis: points, joined by thin lines to guide the eye.
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
    named = by is not None and direct is not False and _named(axes, drawn, force=bool(direct))
    if by is not None and not named:
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
    return Curve(name or "", style.colour, seen[x].to_numpy(), seen[y].to_numpy())


_WAYS: tuple[Callable[[dict[Axes, list[Curve]]], bool], ...] = (
    partial(name_curves, reach=NEAR),
    name_on_curves,
    partial(name_curves, reach=FAR),
)


def _named(axes: Any, drawn: dict[Axes, list[Curve]], *, force: bool) -> bool:
    """Name the curves in a column of panels that has all of them: at their ends if legible, or else on them."""
    names = {curve.name for curves in drawn.values() for curve in curves}
    columns = []
    for column in range(axes.shape[1] - 1, -1, -1):
        shown = [row[min(column, sum(axis in drawn for axis in row) - 1)] for row in axes]
        if force or all({curve.name for curve in drawn[axis]} == names for axis in shown):
            columns.append({axis: drawn[axis] for axis in shown})
    ways: Sequence[Callable[..., bool]] = [partial(name_curves, reach=np.inf)] if force else _WAYS
    return any(way(column) for way in ways for column in columns)


def legend(figure: Figure, axes: Iterable[Axes]) -> None:
    """Put one legend for all panels below them; a name that has both a line and points is one entry."""
    entries: dict[str, list[Any]] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            kinds = [type(h) for h in entries.setdefault(label, [])]
            if type(handle) not in kinds:
                entries[label].append(handle)
    handles: list[Any] = [h[0] if len(h) == 1 else tuple(h) for h in entries.values()]
    columns = _legend_columns(list(entries), figure.get_figwidth())
    figure.legend(handles, list(entries), loc="outside lower center", ncols=columns)


def _legend_columns(labels: Sequence[str], width: float) -> int:
    """Return the number of columns with which a legend fits a width in inches, in as few rows as possible.

    >>> _legend_columns(["50%", "25%", "10%", "5%", "1%", "0.1%"], 7.0), _legend_columns(["one", "other"], 1.0)
    (6, 1)
    >>> _legend_columns(["somewhat long label"] * 6, 7.0)
    3
    """
    for rows in range(1, len(labels)):
        columns = [labels[i : i + rows] for i in range(0, len(labels), rows)]
        if sum(max(map(len, column)) + _LEGEND_ENTRY for column in columns) <= _LEGEND_ROW * width:
            return len(columns)
    return 1


def publish(
    figure: Figure, table: pd.DataFrame, name: str, *, caption: str, width: float | str | None = None, font: str = ""
) -> None:
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
    width : float or str, optional
        For print: inches, ``"column"`` or ``"page"``, or a length such as ``"86mm"``.
    font : str, optional
        Font of the paper: ``"times"``, ``"computer-modern"``, ``"sans"``, or the name of an installed one.

    Raises
    ------
    ValueError
        If `caption` is empty, `table` has no rows, or not those that the figure was drawn from.
    """
    from IPython.display import Image, display

    _require(table, name, caption)
    printed = printing.wanted(width, font)
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
    _tell_where_figures_go()


@cache
def _tell_where_figures_go() -> None:
    """Print once how to keep figures, in JupyterLab, if no folder is set."""
    if environment.SESSION in os.environ and environment.FIGURES_FOLDER not in os.environ:
        print(
            f'os.environ["{environment.FIGURES_FOLDER}"] = "my_figures" before this cell keeps PDF, PNG and CSV there'
        )


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


def _png(figure: Figure) -> bytes:
    """Lay out and draw a figure, once each (`Figure.savefig` draws one with a layout twice), in 256 colours.

    These suffice for lines, type and their smooth edges, and take a quarter of the space of full colour.
    """
    from PIL import Image

    figure.set_dpi(mpl.rcParams["savefig.dpi"])
    canvas = FigureCanvasAgg(figure)
    layout.settle(figure)
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
    return {".pdf": _pdf(figure)} | ({".pgf": printing.pgf(figure)} if kind == "pgf" else {})


def _pdf(figure: Figure) -> bytes:
    """Return the PDF of a laid-out figure."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    content = io.BytesIO()
    FigureCanvasPdf(figure).print_pdf(content, metadata={"CreationDate": None, "Producer": None, "Creator": None})
    return content.getvalue()
