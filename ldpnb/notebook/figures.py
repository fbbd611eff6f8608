"""Draw tidy tables and publish the pictures with their numbers. Nothing here computes a result.

A figure is drawn from one table and published together with it, so that the numbers behind every picture can be read,
compared and reused. Colour, marker and dash identify an estimator, a mechanism or a bound, the same in every figure.
Simulated values, which have a standard error, are points with bars of two standard errors; theory is a line.
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
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

_WIDTH, _HEIGHT, _PANEL = 7.0, 3.1, 2.2
"""Inches: width of a figure, that of a page's text; height of a row of panels; least width of one of several panels."""
_APART, _FAR = 1.25 * SMALL, 0.1
"""How far apart curves end whose names stand there, points, and how far from the right, in widths of the panel."""


def size(height: float) -> tuple[float, float]:
    """Return width and height of a figure, inches, from its height at the width of a page."""
    return printing.resized((_WIDTH, height), printing.width())


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
    discrete: bool = False,
    title: str = "",
    setting: str = "",
    marks: Sequence[Mark] = (),
) -> Figure:
    """Draw one curve per value of `by` in one panel per value of `panel`.

    Curves are named at their right ends where these are apart, and else in a legend. Axes of whole numbers have whole
    ticks, and series that differ by a number share a ramp of colours.

    Parameters
    ----------
    table : DataFrame
        Tidy: a row per point.
    x, y, by, panel, error, band, xlabel, ylabel, xscale, yscale, discrete, marks
        As in `ldpnb.notebook.encoding.Encoding`.
    title, setting : str
        The finding, with its number, and what was held fixed.
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
        discrete=discrete,
        marks=tuple(marks),
    )
    panels = [""] if panel is None else list(dict.fromkeys(table[panel]))
    series = [""] if by is None else list(dict.fromkeys(table[by]))
    beside = int((printing.width() or _WIDTH) // _PANEL)
    wide = min(encoding.panels_in_a_row(len(panels)), len(panels), max(beside, 1 if len(panels) < 4 else 2))
    tall = -(-len(panels) // wide)
    shape: dict[str, Any] = {"figsize": size(_HEIGHT * tall), "sharex": True, "sharey": drawn_as.share_y}
    figure, axes = plt.subplots(tall, wide, **shape, squeeze=False)
    looks = looks_of(series)
    for axis, value in zip(axes.flat, panels, strict=False):
        part = table if panel is None else table[table[panel] == value]
        for name in series:
            _series(axis, part if by is None else part[part[by] == name], drawn_as, looks[name], unset(name))
        axis.set(xscale=xscale, yscale=yscale, title=unset(value))
        whole_numbers(axis, x=is_integer_dtype(table[x]), y=is_integer_dtype(table[y]))
        mark(axis, marks, str(value))
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis in axes[-1, :]:
        axis.set_xlabel(unset(x if xlabel is None else xlabel))
    for axis in axes[:, 0]:
        axis.set_ylabel(unset(y if ylabel is None else ylabel))
    head(figure, title, setting)
    last = [axes.flat[min(i + wide, len(panels)) - 1] for i in range(0, len(panels), wide)]
    if by is not None and not _named(last, len(series)):
        legend(figure, axes.flat)
    return encoding.keep(figure, table, drawn_as)


def _series(axis: Axes, rows: pd.DataFrame, drawn_as: Encoding, style: Look, name: str) -> None:
    """Draw one series of a panel."""
    x, y, band = drawn_as.x, drawn_as.y, drawn_as.band
    simulated = rows[drawn_as.error].notna() if drawn_as.error else pd.Series(False, index=rows.index)
    theory, points = rows[~simulated], rows[simulated]
    if len(theory):
        if band is not None:
            axis.fill_between(theory[x], theory[band[0]], theory[band[1]], color=style.colour, alpha=0.18, linewidth=0)
        thin: dict[str, Any] = {"marker": style.marker, "markersize": 3, "linewidth": 0.5} if drawn_as.discrete else {}
        axis.plot(theory[x], theory[y], color=style.colour, linestyle=style.dash, label=name, **thin)
    if len(points):
        looks: dict[str, Any] = {"color": style.colour, "marker": style.marker, "linestyle": "none"}
        axis.errorbar(points[x], points[y], 2 * points[drawn_as.error], label=name, **looks)


def _named(panels: Iterable[Axes], count: int) -> bool:
    """Name the curves of panels at their right ends if these are apart in each, and return whether they are."""
    names: list[Any] = []
    for axis in panels:
        handles: Any
        handles, labels = axis.get_legend_handles_labels()
        lines = {n: h[0] if isinstance(h, ErrorbarContainer) else h for n, h in zip(labels, handles, strict=True)}
        ends = np.array([line.get_xydata()[-1] for line in lines.values()])
        axis.get_ylim()  # scales the axis to its curves
        places = axis.transData.transform(ends) * 72 / axis.figure.dpi
        right, wide = np.array([axis.bbox.x1, axis.bbox.width]) * 72 / axis.figure.dpi
        apart = np.diff(np.sort(places[:, 1])) > _APART
        if len(lines) < count or not apart.all() or not (places[:, 0] > right - _FAR * wide).all():
            return False
        names += [(axis, name, y, line.get_color()) for (name, line), y in zip(lines.items(), ends[:, 1], strict=True)]
    for axis, name, y, colour in names:
        at: Any = {"xycoords": axis.get_yaxis_transform(), "textcoords": "offset points", "annotation_clip": False}
        axis.annotate(name, (1, y), (2, 0), **at, color=colour, va="center", fontsize=SMALL)
    return True


def legend(figure: Figure, axes: Iterable[Axes]) -> None:
    """Put one legend for all panels below them; a name that has both a line and points is one entry."""
    entries: dict[str, dict[type, Any]] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, {}).setdefault(type(handle), handle)
    handles: list[Any] = [h if len(h) > 1 else h[0] for h in (tuple(kinds.values()) for kinds in entries.values())]
    longest = max((len(re.sub(r"\$.*?\$", "x", name)) for name in entries), default=0)
    columns = int(17 * figure.get_figwidth() / (8 + longest))  # characters, about
    figure.legend(handles, list(entries), loc="outside lower center", ncols=min(max(columns, 1), max(len(entries), 1)))


def publish(figure: Figure, table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Show a figure, and write it with its numbers when a folder for figures is set.

    Writes ``<name>.png``, ``<name>.pdf`` and ``<name>.csv`` (10 significant digits), and their provenance
    ``<name>.json``: caption, title and setting, the encoding, the run's own parameters, and hashes of these files.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn from `table` alone.
    table : pandas.DataFrame
        The numbers behind the picture: those drawn, and perhaps further series. `ValueError` if it has not the rows.
    name : str
        Of the figure within its notebook's folder.
    caption : str
        What the figure shows, in a sentence or two; also its alternative text.
    """
    from IPython.display import Image, display

    _require(table, name, caption)
    title, setting = heading(figure)
    words: dict[str, Any] = {key: text for key, text in {"title": title, "setting": setting}.items() if text}
    if kept := encoding.drawn(figure):
        words["encoding"] = encoding.published(kept, table, name).to_dict()
    figure.set_size_inches(*printing.resized(tuple(figure.get_size_inches()), printing.width()))
    head(figure, title, setting)
    font = os.environ.get(environment.FONT)
    settings: Any = printing.fonts(font) if font else {}
    for text in figure.findobj(Text) if font else ():
        text.set_fontfamily(settings["font.family"])
    with mpl.rc_context(settings):
        picture = png(figure)
        drawn = {".png": picture} | (_vectors(figure) if _folder() else {})
    _publish(table, name, caption, drawn, words)
    plt.close(figure)
    display(Image(picture, width=round(100 * figure.get_figwidth()), alt=caption))


def publish_table(table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Write a table as ``<name>.csv`` and, for LaTeX, ``<name>.tex`` when a folder is set; see `publish`."""
    _require(table, name, caption)
    _publish(table, name, caption, {".tex": latex.table(table, caption, Path(name).name).encode()}, {})


def _require(table: pd.DataFrame, name: str, caption: str) -> None:
    if not caption.strip() or not len(table):
        raise ValueError(f"{name}: needs a caption and a table with rows")


def _folder() -> str:
    return os.environ.get(environment.FIGURES_FOLDER, "")


def _publish(table: pd.DataFrame, name: str, caption: str, drawn: dict[str, bytes], words: dict[str, Any]) -> None:
    """Write a table's numbers and what was drawn from them, if a folder is set."""
    if not _folder():
        return
    content = without_formulas(table).to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    record = {
        "caption": caption,
        "parameters": json.loads(os.environ.get(environment.RUN_PARAMETERS) or "{}"),
        "rows": len(table),
        "columns": list(table.columns),
        **words,
        "sha256": hashlib.sha256(content).hexdigest(),
        "drawn": {suffix: hashlib.sha256(part).hexdigest() for suffix, part in drawn.items()},
    }
    provenance = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    for suffix, part in {".csv": content, ".json": provenance.encode(), **drawn}.items():
        writing.write(Path(_folder(), name + suffix), part)


def _settle(figure: Figure) -> None:
    """Lay a figure out for good, with labels of axes and titles of panels broken where they are too long."""
    numbers(figure)
    layout: Any = figure.get_layout_engine()
    layout.execute(figure)
    whole = True
    for axis in figure.axes:
        title = axis.set_title(axis.get_title(loc="left"), loc="left")  # the same: the only way to its text
        wide, tall = (72 * length / figure.dpi for length in (axis.bbox.width, axis.bbox.height))
        for text, room in ((axis.xaxis.label, 1.15 * wide), (axis.yaxis.label, tall), (title, wide)):
            words = broken(text.get_text(), room, text.get_fontproperties(), mathematics=True)
            if words != text.get_text():
                text.set(text=words, linespacing=1.05)
                whole = False
    if not whole:
        layout.execute(figure)
    figure.set_layout_engine("none")


def png(figure: Figure) -> bytes:
    """Lay a figure out and draw it in 128 colours, which take a third of the space of full colour."""
    from PIL import Image

    _settle(figure)
    figure.set_dpi(mpl.rcParams["savefig.dpi"])
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    few = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    content = io.BytesIO()
    few.save(content, "png", optimize=True, dpi=(figure.dpi, figure.dpi))
    return content.getvalue()


def _vectors(figure: Figure) -> dict[str, bytes]:
    """Return the PDF of a laid-out figure, and any other format wanted; neither if only the picture is."""
    kind = os.environ.get(environment.FORMAT)
    if kind == "png":
        return {}
    content = io.BytesIO()
    metadata = dict.fromkeys(("CreationDate", "Producer", "Creator"))
    FigureCanvasPdf(figure).print_pdf(content, metadata=metadata)
    return {".pdf": content.getvalue()} | ({".pgf": printing.pgf(figure)} if kind == "pgf" else {})
