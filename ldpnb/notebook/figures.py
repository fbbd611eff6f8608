"""Draw tidy tables and publish the pictures with their numbers. Nothing here computes a result.

A chart is drawn from one table and published together with it, so that the numbers behind every picture can be read,
compared and reused. Colour, marker and dash identify an estimator, a mechanism or a bound, the same in every figure.
Simulated values, which have a standard error, are points with bars of two standard errors; theory is a line.
"""

import hashlib
import io
import json
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from ldpnb import writing
from ldpnb.notebook import environment
from ldpnb.notebook.encoding import NUMBERS, Encoding, Mark, Record, panels_in_a_row, records
from ldpnb.notebook.labels import unset
from ldpnb.notebook.looks import Look, looks_of
from ldpnb.notebook.prose import short
from ldpnb.notebook.tables import without_formulas

__all__ = ["WIDTH", "Chart", "Mark", "curves", "looks_of", "publish", "publish_table"]

mpl.style.use(Path(__file__).with_name("ldpnb.mplstyle"))

WIDTH = 7.0
"""Inches: that of a page's text."""
NAMES = 60
"""Most names of all panels, unless each has twenty."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A table, how it is drawn, its finding, with its number, and what was held fixed."""

    table: pd.DataFrame
    encoding: Encoding
    title: str = ""
    setting: str = ""

    def figure(self, width: float = WIDTH) -> Figure:
        """Draw the chart, as wide as that many inches.

        Curves are named at their right ends where these are apart, and else in a legend.
        """
        drawn_as, setting = self.encoding, self.setting
        made = records(self.table, drawn_as, digits=12)
        shown = [record for record in made if not record["mark"].startswith("at ")]
        panels, series = (list(dict.fromkeys(record[part] for record in shown)) for part in ("panel", "series"))
        wide = min(len(panels), panels_in_a_row(len(panels)) if width > WIDTH / 2 else 1 + (len(panels) > 3))
        tall = -(-len(panels) // wide)
        names = list(dict.fromkeys(x for record in shown for x in record["x"])) if drawn_as.flip else []
        most = max(NAMES // len(panels), 20)
        if len(names) > most:
            setting += f"; the first {most} of {len(names):,} names"
            names = names[:most]
        height = 0.9 + tall * (0.4 + 0.24 * len(names) if names else 2.2)
        figure = Figure(figsize=(width, height), layout="constrained")
        inner: Any = figure.subfigures()  # whose legend and labels the constrained layout keeps off the title
        _head(figure, self.title, size=10, weight="bold")
        _head(inner, setting, size=8, color=_GREY)
        axes = inner.subplots(tall, wide, sharex=True, sharey=drawn_as.ylabel != "" or drawn_as.flip, squeeze=False)
        looks = looks_of(series)
        beside = list(dict.fromkeys(record["series"] for record in shown if record["mark"] != "bars"))
        apart = 0.25 * (len(beside) > 1 and drawn_as.by != drawn_as.x)
        aside = dict(zip(beside, np.linspace(-apart, apart, len(beside)), strict=True))
        for axis, panel in zip(axes.flat, panels, strict=False):
            for record in (record for record in shown if record["panel"] == panel):
                places = {name: place + aside.get(record["series"], 0.0) for place, name in enumerate(names)}
                _draw(axis, record, drawn_as, looks[record["series"]], places)
            axis.set_title(unset(textwrap.fill(panel, int(10.5 * width) // wide, break_on_hyphens=False)))
            _scale(axis, drawn_as, names, shown)
            for record in made:
                if record["panel"] == panel and record["mark"].startswith("at "):
                    _mark(axis, record)
        for axis in axes.flat[len(panels) :]:
            axis.set_axis_off()
        across, up = reversed(drawn_as.labels) if drawn_as.flip else drawn_as.labels
        for axis in axes.flat[max(0, len(panels) - wide) : len(panels)]:
            axis.set_xlabel(unset(textwrap.fill(across, int(14 * width) // wide)))
            axis.tick_params(labelbottom=True)
        for axis in axes[:, 0]:
            axis.set_ylabel(unset(textwrap.fill(up, 28)))
        last = [axes.flat[min(start + wide, len(panels)) - 1] for start in range(0, len(panels), wide)]
        if series != [""] and drawn_as.by != drawn_as.x and (names or not _named(last, len(series))):
            _legend(inner, axes.flat, int(17 * width / (8 + max(map(len, series)))))  # characters, about
        return figure

    def png(self) -> bytes:
        """Return the picture in 128 colours, which take a third of the space of full colour."""
        from PIL import Image

        full, content = io.BytesIO(), io.BytesIO()
        self.figure().savefig(full, format="png")
        few = Image.open(full).convert("RGB").quantize(128, dither=Image.Dither.NONE)
        few.save(content, "png", optimize=True, dpi=(mpl.rcParams["savefig.dpi"],) * 2)
        return content.getvalue()

    _repr_png_ = png

    def pdf(self, width: float = WIDTH) -> bytes:
        """Return the drawing as PDF, the same bytes every time."""
        content = io.BytesIO()
        metadata = dict.fromkeys(("CreationDate", "Producer", "Creator"))
        self.figure(width).savefig(content, format="pdf", metadata=metadata)
        return content.getvalue()


def curves(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    title: str = "",
    setting: str = "",
    marks: Iterable[Mark] = (),
    **drawn_as: Any,
) -> Chart:
    """Draw a tidy table, a row per point: one curve per value of `by` in one panel per value of `panel`.

    Whatever else says how, as `by`, `panel`, `error` and `xscale`, is a field of `ldpnb.notebook.encoding.Encoding`;
    `title` is the finding, with its number, and `setting` what was held fixed.
    """
    return Chart(table, Encoding(x, y, marks=tuple(marks), **drawn_as), title, setting)


def _head(figure: Any, text: str, **looks: Any) -> None:
    """Put words above a figure, broken where they are too long, but not around ``=``."""
    if text:
        words = unset(text).replace(" = ", "\u00a0=\u00a0")
        figure.suptitle(words, x=0.008, ha="left", wrap=True, **{"weight": "normal"} | looks)


def _draw(axis: Any, record: Record, drawn_as: Encoding, style: Look, places: Mapping[Any, float]) -> None:
    """Draw a curve with its band, points with their bars, or bars, at the places of names if there are any."""
    data = pd.DataFrame({column: record[column] for column in NUMBERS if column in record})
    if places:
        data = data.assign(x=data["x"].map(places)).dropna(subset="x")
    numbers = data.astype(float)
    x, y, spread = numbers["x"], numbers["y"], [numbers[end] for end in ("low", "high") if end in numbers]
    looks: dict[str, Any] = {"color": style.colour, "label": unset(record["series"])}
    if record["mark"] == "bars":
        axis.barh(x, y, 0.6, alpha=0.25 if drawn_as.layers else 0.85, **looks)
        axis.axvline(0, color="#444444", linewidth=0.8)
    elif places or record["mark"] == "points":
        size = 4.5 if len(y) < 40 else 2
        axis.plot(*((y, x) if places else (x, y)), style.marker, markersize=size, **looks)
        if spread:
            (axis.hlines if places else axis.vlines)(x, *spread, color=style.colour, linewidth=1.2)
    else:
        thin: dict[str, Any] = {"marker": style.marker, "markersize": 3, "linewidth": 0.5} if drawn_as.discrete else {}
        if spread:
            axis.fill_between(x, *spread, alpha=0.18, linewidth=0, **looks)
        axis.plot(x, y, linestyle=style.dash, **looks, **thin)
    if places and drawn_as.by in (None, drawn_as.x) and not drawn_as.layers:  # each number beside its bar or point
        for place, number in zip(x, y, strict=True):
            text, way = short(number).replace("-", "\N{MINUS SIGN}"), -1 if number < 0 else 1
            side: dict[str, Any] = {"ha": "right" if way < 0 else "left", "va": "center", "size": 8}
            axis.annotate(text, (number, place), (7 * way, 0), textcoords="offset points", **side)
        axis.margins(x=1.05 / axis.get_figure(root=True).get_figwidth())


class _Logarithmic(LogFormatterSciNotation):
    """Whatever ticks matplotlib would name, written out."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return short(x, 6) if super().__call__(x, pos) else ""


def _scale(axis: Any, drawn_as: Encoding, names: Sequence[Any], shown: Sequence[Record]) -> None:
    """Scale the axes of a panel; their numbers are written as sentences do, whole ones for counts."""
    if any(mark.label and mark.x is not None for mark in drawn_as.marks):
        axis.margins(y=0.13)
    if names:
        axis.set_yticks(range(len(names)), [unset(name) for name in names])
        axis.set_ylim(len(names) - 0.5, -0.5)
    axes = [("x", "y", drawn_as.yscale)] if names else [("x", "x", drawn_as.xscale), ("y", "y", drawn_as.yscale)]
    for side, column, scale in axes:
        axis.set(**{f"{side}scale": scale})
        ticked = getattr(axis, f"{side}axis")
        low, high = sorted(ticked.get_view_interval())
        if scale == "linear":
            ticked.set_major_formatter("{x:,g}")
            axis.locator_params(axis=side, integer=all(isinstance(v, int) for r in shown for v in r[column]))
        elif _PLAIN[0] <= low and high <= _PLAIN[1]:
            ticked.set_major_formatter(_Logarithmic())
            ticked.set_minor_formatter(_Logarithmic(labelOnlyBase=False))


def _mark(axis: Any, record: Record) -> None:
    """Point out a place: a point or a line across the panel, with its label."""
    colour, side = _GREY if "printed" in record else "black", record["side"]
    x, y = (record.get(column, [None])[0] for column in ("x", "y"))
    rule: dict[str, Any] = {"color": colour, "linewidth": 0.8, "linestyle": (0, (2, 2)), "zorder": 1}
    coordinates: Any = "data"
    at, (offset, ha, va) = (x, y), _SIDES[side]
    if y is None:
        axis.axvline(x, **rule)
        at, coordinates, va = (x, 1.0), axis.get_xaxis_transform(), "top"
        offset, ha = ((-4, -2), "right") if side == "left" else ((4, -2), "left")
    elif x is None:
        axis.axhline(y, **rule)
        at, coordinates, ha = (0.99, y), axis.get_yaxis_transform(), "right"
        offset = (0, -2) if side == "below" else (0, 2)
    else:
        axis.plot(x, y, "o", color=colour, mfc="white" if "printed" in record else colour, ms=4.5, zorder=5)
    looks: dict[str, Any] = {"color": colour, "size": 8, "weight": "normal" if "printed" in record else "bold"}
    axis.annotate(unset(record["series"]), at, offset, coordinates, "offset points", ha=ha, va=va, zorder=6, **looks)


def _named(panels: Iterable[Any], count: int) -> bool:
    """Name the curves of panels at their right ends if these are apart in each, and return whether they are."""
    named = []
    for axis in panels:
        axis.get_ylim()  # scales the axis to its curves
        lines = {line.get_label(): line for line in axis.lines if not line.get_label().startswith("_")}
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


def publish(chart: Chart, table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Show a chart, and write it with its numbers when a folder for figures is set.

    Writes ``<name>.png`` and ``<name>.csv`` (10 significant digits), and their provenance ``<name>.json``: caption,
    title and setting, the encoding, the run's own parameters, and hashes of these files. `ldpnb run` adds a PDF.

    Parameters
    ----------
    chart : Chart
        What is shown.
    table : pandas.DataFrame
        Its numbers: those drawn, and perhaps further series. `ValueError` if it has not the rows.
    name : str
        Of the figure within its notebook's folder.
    caption : str
        What the figure shows, in a sentence or two; also its alternative text.
    """
    from IPython.display import Image, display

    drawn_as = chart.encoding
    if drawn_as.by and len(table) > len(chart.table):
        drawn_as = replace(drawn_as, series=tuple(dict.fromkeys(chart.table[drawn_as.by])))
    if len(table) and records(table, drawn_as) != records(chart.table, chart.encoding):
        raise ValueError(f"{name}: needs the table that its figure was drawn from")
    picture = chart.png()
    words = {"title": chart.title, "setting": chart.setting, "encoding": drawn_as.to_dict()}
    publish_table(table, name, caption=caption, drawn={".png": picture}, **words)
    display(Image(picture, width=round(100 * WIDTH), alt=caption))


def publish_table(
    table: pd.DataFrame, name: str, *, caption: str, drawn: Mapping[str, bytes] | None = None, **words: Any
) -> None:
    """Write a table as ``<name>.csv`` with its provenance, and what was drawn from it, when a folder is set.

    See `publish`.
    """
    if not caption.strip() or not len(table):
        raise ValueError(f"{name}: needs a caption and a table with rows")
    folder, drawn = os.environ.get(environment.FIGURES_FOLDER), drawn or {}
    if not folder:
        return
    content = without_formulas(table).to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    record = {
        "caption": caption,
        "parameters": json.loads(os.environ.get(environment.RUN_PARAMETERS) or "{}"),
        "rows": len(table),
        "columns": list(table.columns),
        **{key: part for key, part in words.items() if part},
        "sha256": hashlib.sha256(content).hexdigest(),
        "drawn": {suffix: hashlib.sha256(part).hexdigest() for suffix, part in drawn.items()},
    }
    provenance = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    for suffix, part in {".csv": content, ".json": provenance.encode(), **drawn}.items():
        writing.write(Path(folder, name + suffix), part)
