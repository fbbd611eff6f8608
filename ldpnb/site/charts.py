"""Figures as charts that a reader can touch: a table and its encoding as series, and how Vega-Lite draws them.

The picture and the chart come from the same table and encoding. `series` reduces both to lines, points and bands, which
the page's script hands to the chart of `specification`; that depends on the scales only. All pages share one file with
Vega and Vega-Lite, which the package `vl_convert` brings.
"""

import colorsys
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import metadata
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import checks, writing
from ldpnb.notebook.annotations import Mark, together
from ldpnb.notebook.encoding import Encoding, Layer
from ldpnb.notebook.figures import Look, looks_of
from ldpnb.notebook.ticks import PLAIN
from ldpnb.run.catalogue import Notebook, home
from ldpnb.site.kept import kept

BUNDLE = "static/vega.js"
_WHAT = "a site"
_SHAPES = {"o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down"}
_SHAPES |= {"P": "cross", "*": "triangle-right", "X": "triangle-left"}
_NUMBERS = "abs(datum.value) >= 1000 ? format(datum.value, ',.0f') : format(datum.value, '.6~g')"
_POWER = "floor(log(datum.value) / LN10 + 1e-9)"
_FIRST = f"round(datum.value / pow(10, {_POWER}))"
"""First digit of a tick of a logarithmic scale."""
_SIDES = {"above": ("center", 0, -11), "below": ("center", 0, 14), "left": ("right", -8, 0), "right": ("left", 8, 0)}
_ENDS = (("left", 4, 8), ("right", 0, -8))
_STYLE: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--text)",
        "labelFontSize": 12,
        "gridColor": "var(--line)",
        "domainColor": "var(--muted)",
        "tickColor": "var(--muted)",
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    },
}
_HEIGHT = 260
Panels = list[dict[str, Any]]


def bundle() -> str:
    """Return the script with everything that draws charts, for all pages together: Vega-Lite and what it may draw."""
    with checks.needed_for(_WHAT):
        import vl_convert

        altair = metadata.version("altair")
    library: Any = vl_convert
    everything = kept("vega", library.javascript_bundle, library.__version__)
    own = Path(__file__).read_text(encoding="utf-8")
    return f"(() => {{\n{everything}\n}})();\n" + kept("specifications", _specifications, own, altair)


def _specifications() -> str:
    kinds = product(("linear", "log", "category"), ("linear", "log"), (False, True))
    return script("SPECIFICATIONS", {_kind(*kind): specification(*kind) for kind in kinds})


def _kind(xscale: str, yscale: str, flip: bool) -> str:
    return f"{xscale} {yscale}{' flipped' if flip else ''}"


def chart(table: pd.DataFrame, encoding: Encoding) -> dict[str, Any]:
    """Return all that a page needs to draw a table: its axes and its panels of series."""
    return {**axes(encoding), "panels": panels(table, encoding)}


def figures(notebook: Notebook) -> dict[str, dict[str, Any]]:
    """Return the charts of a notebook's published figures by their anchors, of those whose encoding is known."""
    folder, found = home() / "figures" / notebook.id, {}
    for path in sorted(folder.rglob("*.json")):
        with writing.whole(path) as text:
            about = json.loads(text)
        if "encoding" in about:
            with writing.whole(path.with_suffix(".csv")) as text:
                table = pd.read_csv(StringIO(text), keep_default_na=False, na_values=[""])
            heading = {part: together(about.get(part, "")) for part in ("title", "setting")}
            drawn = {**heading, **chart(table, Encoding.read(about["encoding"]))}
            found[anchor(path.relative_to(folder).with_suffix("").as_posix())] = drawn
    return found


def anchor(name: str) -> str:
    """Return where on its page the figure of a name is.

    >>> anchor("figure_2")
    'figure-figure_2'
    """
    return f"figure-{name.replace('/', '-')}"


def script(name: str, content: Any) -> str:
    """Return a script that gives something to the page's own under a name."""
    return f"window.{name} = {json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(',', ':'))};\n"


def axes(encoding: Encoding) -> dict[str, Any]:
    """Return what the charts of an encoding have in common, whatever the numbers."""
    x, y = encoding.xlabel, encoding.ylabel
    return {
        "x": encoding.x if x is None else x,
        "y": encoding.y if y is None else y,
        "columns": encoding.columns,
        "shared": encoding.share_y,
        "flip": encoding.flip,
        "log": encoding.yscale == "log",
        "kind": _kind(encoding.xscale, encoding.yscale, encoding.flip),
    }


def panels(table: pd.DataFrame, encoding: Encoding, digits: int = 6) -> Panels:
    """Return the panels of a table in order of appearance, each with its series.

    A series is a name, a look, a kind of mark and columns ``x``, ``y`` and, where it has a spread, ``low`` and
    ``high``, all rounded to significant digits.
    """
    rows = encoding.rows(table)
    names = [layer.name for layer in encoding.layers] or _values(rows, encoding.by)
    looks = looks_of(names)
    split = [encoding.panel] if isinstance(encoding.panel, str) else list(encoding.panel or ())
    found = []
    for place in product(*(_values(rows, column) for column in split)):
        part = rows
        for column, value in zip(split, place, strict=True):
            part = part[part[column] == value]
        titles = [_panel(column, value) for column, value in zip(split, place, strict=True)]
        for own, drawn in _layered(encoding) if len(part) else ():
            title = ", ".join([*titles, own] if own else titles)
            series = list(_series(part, drawn, looks, digits))
            found.append({"title": title, "series": series, "marks": list(_places(encoding.marks, place, digits))})
    return found


def _layered(encoding: Encoding) -> Iterator[tuple[str, Encoding]]:
    """Yield the panels into which an encoding's layers are divided, each with an encoding of its layers."""
    for panel in dict.fromkeys(layer.panel for layer in encoding.layers) or [""]:
        yield panel, replace(encoding, layers=tuple(layer for layer in encoding.layers if layer.panel == panel))


def _panel(column: str, value: Any) -> str:
    """Return the title of a panel: a number's says what it is of.

    >>> _panel("sampling_rate", 0.1), _panel("estimator", "MLE")
    ('sampling rate 0.1', 'MLE')
    """
    return str(value) if isinstance(value, str) else f"{column.replace('_', ' ')} {_text(value)}"


def _places(marks: Iterable[Mark], panel: tuple[Any, ...], digits: int) -> Iterator[dict[str, Any]]:
    for mark in marks:
        if mark.panel in ("", *map(str, panel)):
            at = {axis: None if v is None else _number(float(v), digits) for axis, v in (("x", mark.x), ("y", mark.y))}
            align, dx, dy = _SIDES[mark.side] if None not in at.values() else _ENDS[mark.x is None]
            yield {**at, "label": mark.label, "printed": mark.printed, "align": align, "dx": dx, "dy": dy}


def _values(rows: pd.DataFrame, column: str | None) -> list[Any]:
    return [""] if column is None else list(dict.fromkeys(rows[column]))


def _series(rows: pd.DataFrame, encoding: Encoding, looks: dict[Any, Look], digits: int) -> Iterator[dict[str, Any]]:
    for layer in encoding.layers:
        yield _one(layer, looks[layer.name], rows, rows[encoding.x], digits, False)
    for name in () if encoding.layers else _values(rows, encoding.by):
        own = rows if encoding.by is None else rows[rows[encoding.by] == name]
        points = own[encoding.error].notna() if encoding.error else pd.Series(False, index=own.index)
        points |= _text(name) in encoding.points
        points |= encoding.mark == "points" and encoding.band is None
        plain = Layer(name=_text(name), y=encoding.y, mark=encoding.mark, band=encoding.band)
        dotted = replace(plain, mark="points", band=None, error=encoding.error)
        for layer, part in ((plain, own[~points]), (dotted, own[points])):
            if len(part):
                thin = encoding.discrete and layer.mark == "line"
                aside = {"aside": _column(part[encoding.aside], digits)} if encoding.aside else {}
                yield _one(layer, looks[name], part, part[encoding.x], digits, thin) | aside


def _one(layer: Layer, look: Look, rows: pd.DataFrame, x: pd.Series, digits: int, thin: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": layer.name, "mark": layer.mark, "colour": themed(look.colour), "dash": _dash(look)}
    told |= {"thin": True} if thin else {}
    told |= {"shape": _SHAPES[look.marker], "x": _column(x, digits), "y": _column(rows[layer.y], digits)}
    if layer.band:
        ends = dict(zip(("low", "high"), (rows[column] for column in layer.band), strict=True))
    elif layer.error and rows[layer.error].notna().any():
        ends = {end: rows[layer.y] + times * rows[layer.error] for end, times in (("low", -2), ("high", 2))}
    else:
        return told
    return told | {end: _column(values, digits) for end, values in ends.items()}


def _dash(look: Look) -> list[float]:
    """Return a matplotlib dash, in widths of a line, as pixels of a line two wide."""
    return [] if isinstance(look.dash, str) else [2 * length for length in look.dash[1]]


def _text(value: Any) -> str:
    """Return how a chart names a value: numbers shortly.

    >>> _text(0.5), _text(3.0), _text(1_000_000), _text("MLE")
    ('0.5', '3', '1000000', 'MLE')
    """
    return f"{value:.10g}" if isinstance(value, int | float | np.number) else str(value)


def _column(values: pd.Series, digits: int) -> list[Any]:
    """Return values for JSON, whole numbers as such and what is not finite as missing."""
    if not pd.api.types.is_numeric_dtype(values):
        return [_text(value) for value in values]
    return [_number(value, digits) for value in values.to_numpy(float)]


def _number(value: float, digits: int) -> float | int | None:
    """Return a number with few digits.

    >>> _number(3.0, 6), _number(0.123456789, 6), _number(float("inf"), 6)
    (3, 0.123457, None)
    """
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def themed(colour: str) -> str:
    """Return a colour for light pages and, with its lightness turned round, for dark ones, as CSS chooses between them.

    >>> themed("#000000"), themed("#CB5004")
    ('light-dark(#000000, #ededed)', 'light-dark(#CB5004, #fca168)')
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    light = colorsys.hls_to_rgb(hue, 0.93 - 0.57 * lightness, saturation)
    return f"light-dark({colour}, #{''.join(f'{round(255 * part):02x}' for part in light)})"


def specification(xscale: str, yscale: str, flip: bool) -> dict[str, Any]:
    """Return the Vega-Lite chart of one panel, whose data sets `rows`, `marks` and `cursor` the page's script fills.

    A row has the fields ``x, y, low, high, name, aside, mark, colour, dash, shape``, one of the cursor ``x, y,
    colour``, and a mark ``x, y, label, printed``, of which `x` or `y` may be missing.
    """
    alt = _altair()
    across, up = ("y", "x") if flip else ("x", "y")
    place = _channel(alt, across, "x", xscale)
    value, low = (_channel(alt, up, field, yscale) for field in ("y", "low"))
    named = {"color": alt.Color("colour:N", scale=None), "detail": "name:N"}
    rows = alt.Chart(alt.NamedData("rows")).encode(**named)

    def only(mark: str, *tests: str) -> Any:
        return rows.transform_filter(" && ".join([f"datum.mark == '{mark}'", *tests]))

    along, both = {across: place}, {across: place, up: value}
    spread = {across: place, up: low, f"{up}2": "high:Q"}
    aside = {f"{across}Offset": "aside:N"} if xscale == "category" else {}
    dots = {"filled": True, "size": 40, "opacity": 1}
    layers = [
        rows.transform_filter("datum.mark != 'points' && isValid(datum.low)").mark_area(opacity=0.18).encode(**spread),
        only("bars").mark_bar(opacity=0.85).encode(**both, **aside)
        if xscale == "category"
        else only("steps").mark_area(interpolate="step-after", opacity=0.85).encode(**both),
        only("line")
        .mark_line(strokeWidth=2, strokeOpacity=alt.ExprRef("datum.thin ? 0.35 : 1"))
        .encode(**both, strokeDash=alt.StrokeDash("dash:N", scale=None)),
        only("points", "isValid(datum.low)").mark_rule(strokeWidth=1.5).encode(**spread, **aside),
        rows.transform_filter("datum.mark == 'points' || datum.thin")
        .mark_point(**dots)
        .encode(**both, **aside, shape=alt.Shape("shape:N", scale=None)),
        *_marks(alt, both),
        *_cursor(alt, both, along, named["color"]),
    ]
    drawn = alt.layer(*layers).properties(width="container", height=_HEIGHT).configure(**_STYLE)
    told: dict[str, Any] = drawn.to_dict(validate=False)
    return {key: value for key, value in told.items() if key not in ("$schema", "datasets")}


def _altair() -> Any:
    with checks.needed_for(_WHAT):
        import altair
    return altair


def _channel(alt: Any, axis: str, field: str, scale: str) -> Any:
    """Return what lies on an axis; values keep to the limits `least` and `most`, if the page's script sets them."""
    channel = getattr(alt, axis.upper())
    if scale == "category":
        apart = alt.Scale(type="band", paddingInner=alt.ExprRef("apart"), paddingOuter=0.12)
        return channel(f"{field}:N", sort=None, scale=apart, axis=alt.Axis(title=None, labelLimit=160, labelAngle=0))
    ends = {} if field == "x" else {"domainMin": alt.ExprRef("least"), "domainMax": alt.ExprRef("most")}
    nice = field != "x" and scale != "log"
    room = {"nice": True} if nice else {"nice": False, "padding": 6}
    scaled = alt.Scale(type=scale, **({} if scale == "log" else {"zero": False}), **room, **ends)
    told: dict[str, Any] = {"title": None, "tickCount": 6, "labelExpr": _NUMBERS}
    told["tickMinStep"] = alt.ExprRef(f"whole{'X' if field == 'x' else 'Y'} ? 1 : 0")
    if scale == "log":
        spans = f"domain('{axis}')[1] / domain('{axis}')[0]"
        labelled = f"{_FIRST} == 1 || {spans} < 4 || {spans} < 100 && indexof([2, 5], {_FIRST}) >= 0"
        plain = f"domain('{axis}')[0] >= {PLAIN[0]} && domain('{axis}')[1] <= {PLAIN[1]}"
        told["labelExpr"] = f"{labelled} ? ({plain} ? ({_NUMBERS}) : {_power_of_ten()}) : ''"
        told["gridOpacity"] = alt.condition(f"{_FIRST} == 1", alt.value(1), alt.value(0.25))
    return channel(f"{field}:Q", scale=scaled, axis=alt.Axis(**told))


def _power_of_ten() -> str:
    """Return the expression that writes a tick as a power of ten, or as so many times one."""
    places = [f"floor(abs({_POWER}) / {n}) % 10" for n in (100, 10, 1)]
    digits = [f"substring('⁰¹²³⁴⁵⁶⁷⁸⁹', {place}, {place} + 1)" for place in places]
    long = [f"(abs({_POWER}) >= {n} ? {digit} : '')" for n, digit in zip((100, 10), digits, strict=False)]
    times = f"({_FIRST} == 1 ? '' : {_FIRST} + '\N{MULTIPLICATION SIGN}')"
    return " + ".join([times, "'10'", f"({_POWER} < 0 ? '⁻' : '')", *long, digits[2]])


def _marks(alt: Any, both: dict[str, Any]) -> Iterator[Any]:
    """Yield the places a figure points out: rules where one coordinate is left out, points with their label."""
    marks = alt.Chart(alt.NamedData("marks"))
    for axis, other in (("x", "y"), ("y", "x")):
        rules = marks.transform_filter(f"isValid(datum.{axis}) && !isValid(datum.{other})")
        yield rules.mark_rule(color="var(--muted)", strokeDash=[2, 2]).encode(**{axis: both[axis]})
        corner = {"y": alt.value(0)} if axis == "x" else {"x": alt.value("width")}
        yield from _labels(alt, rules.encode(**{axis: both[axis]}, **corner))
    points = marks.transform_filter("isValid(datum.x) && isValid(datum.y)").encode(**both)
    inside = alt.ExprRef("datum.printed ? 'var(--page)' : 'var(--text)'")
    yield points.mark_point(size=45, opacity=1, stroke=_ink(alt), fill=inside, strokeWidth=1.5)
    yield from _labels(alt, points)


def _ink(alt: Any) -> Any:
    """Return the colour of a place: what the source prints is grey."""
    return alt.ExprRef("datum.printed ? 'var(--muted)' : 'var(--text)'")


def _labels(alt: Any, places: Any) -> Iterator[Any]:
    """Yield the labels of places where the page's script has put them, on a ground that keeps them legible."""
    beside = {part: alt.ExprRef(f"datum.{part}") for part in ("align", "dx", "dy")}
    for style in ({"stroke": "var(--page)", "strokeWidth": 4, "strokeOpacity": 0.8}, {"fill": _ink(alt)}):
        yield places.mark_text(**beside, **style, baseline="middle", fontSize=11).encode(text="label:N")


def _cursor(alt: Any, both: dict[str, Any], along: dict[str, Any], colour: Any) -> Iterator[Any]:
    cursor = alt.Chart(alt.NamedData("cursor"))
    yield cursor.mark_rule(color="var(--muted)").encode(**along)
    yield cursor.mark_point(filled=True, size=70, opacity=1).encode(**both, color=colour)
