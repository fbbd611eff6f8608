"""The rows of a chart as a Vega-Lite specification: the same curves, colours, marks and dashes as in the picture.

JupyterLab and the site show it in the picture's place. The pointer reads all curves at one place, and a click on a
name in the legend hides or shows its curve.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from textwrap import wrap
from typing import Any

import pandas as pd

from ldpnb.notebook.charts import WIDTH, Chart, panels_in_a_row
from ldpnb.notebook.looks import looks_of

Spec = dict[str, Any]
MIME = "application/vnd.vegalite.v5+json"
"""The newest kind of chart that JupyterLab draws."""
_SHAPES = {"o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down"}
_SHAPES |= {"P": "cross", "*": "triangle-right", "X": "triangle-left"}
_SIDES = {"above": ("center", 0, -11), "below": ("center", 0, 14), "left": ("right", -8, 0), "right": ("left", 8, 0)}
_HEIGHT, _SMALL, _MUTED = 300, 190, "#666666"
_LOW, _HIGH, _READING = (f"format(datum.{column}, '.4~r')" for column in ("low", "high", "y"))
_READING += f" + (isValid(datum.low) ? ' (' + {_LOW} + ' to ' + {_HIGH} + ')' : '')"
_DIGITS, _POWER = (f"split(format(datum.value, '.5~e'), 'e')[{part}]" for part in (0, 1))
_RAISED = list(zip("+-0123456789", ["", *"⁻⁰¹²³⁴⁵⁶⁷⁸⁹"], strict=True))
_TYPE = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "aria": False,
    "view": {"stroke": None},
    "axis": {**_TYPE, "gridColor": "#cccccc", "labelOverlap": "greedy", "labelSeparation": 6},
    "legend": {**_TYPE, "orient": "top", "labelLimit": 330, "symbolStrokeWidth": 2},
    "header": {**_TYPE, "title": None},
}


def chart(drawn: Chart) -> Spec:
    """Return the specification of a chart with its data, whose numbers have eight digits.

    The numbers of a curve's column are one text, which takes a quarter of the room that its rows would.
    """
    rows = pd.concat([drawn.rows(), drawn.places()])
    numbers = ["x", "y", "low", "high"][drawn.flip :]
    words = [column for column in rows if column not in ("x", "y", "low", "high")]
    curves = rows.fillna(dict.fromkeys(words, "")).groupby(words, sort=False)
    values = [
        dict(zip(words, named, strict=True))
        | {"x": list(own["x"])}
        | {column: " ".join("" if pd.isna(v) else f"{v:.8g}" for v in own[column]) for column in numbers}
        for named, own in curves
    ]
    unpack: list[Spec] = [{"calculate": f"split(datum.{column}, ' ')", "as": column} for column in numbers]
    unpack += [{"flatten": ["x", "y", "low", "high"]}]
    unpack += [{"calculate": f"toNumber(datum.{column})", "as": column} for column in numbers]
    return specification(rows, drawn, {}) | {"data": {"values": values}, "transform": unpack}


def titled(drawn: Chart, caption: str) -> Spec:
    """Return the specification of a chart that stands alone, with its title and a hat where the pictures set one.

    `caption` is what a screen reader says of it.
    """
    drawn = drawn.readable()
    title = {"text": wrap(drawn.title, 90), "subtitle": wrap(drawn.setting, 100), "anchor": "start", "frame": "group"}
    own = {"title": title, "description": caption, "background": "white"}
    spec: Spec = json.loads(json.dumps(chart(drawn) | own).replace("c-hat", r"\u0109"))
    return spec


def specification(rows: pd.DataFrame, drawn: Chart, domains: Mapping[str, Sequence[float]]) -> Spec:
    """Return the specification of charts that have these kinds of rows, to which a page's script gives those of one.

    What lies beyond the domain of an axis is cut off.
    """
    panels = list(rows.loc[~rows["mark"].str.startswith("at "), "panel"].unique())
    layers = list(_layers(rows, drawn, domains))
    switch: Spec = {"type": "point", "fields": ["series"], "toggle": "true"}
    many = drawn.flip and len(set(rows.get("x", ()))) > 12
    height = {"step": 22, "for": "position"} if many else _SMALL if len(panels) > 1 else _HEIGHT
    layers[0]["params"] = [{"name": "shown", "select": switch, "bind": "legend"}]  # of a layer that the legend is of
    spec: Spec = {"layer": layers}
    if len(panels) > 1:
        facet, columns = {"field": "panel", "sort": panels, "title": None}, panels_in_a_row(len(panels))
        spec |= {"width": round(100 * WIDTH / columns) - 62, "height": height}
        spec = {"facet": facet, "columns": columns, "spec": spec}
        if drawn.ylabel == "":
            spec["resolve"] = {"scale": {"x" if drawn.flip else "y": "independent"}}
    else:
        spec |= {"width": round(100 * WIDTH) - 80, "height": height}
    return {"config": CONFIG, "data": {"name": "rows", "values": []}, **spec}


def _layers(rows: pd.DataFrame, drawn: Chart, domains: Mapping[str, Sequence[float]]) -> Iterator[Spec]:
    """Yield the layers that draw what the rows hold, from the bands below to what the pointer reads above."""
    across, up = ("y", "x") if drawn.flip else ("x", "y")
    x, y = (_axis(drawn, axis, domains.get(axis)) for axis in ("x", "y"))
    value, spread = {up: y}, {up: y | {"field": "low"}, f"{up}2": {"field": "high"}}
    bars = value
    if drawn.flip and drawn.by != drawn.x and len(set(rows.loc[rows["mark"] != "bars", "series"])) > 1:
        shift = {f"{across}Offset": {"field": "series", "sort": None}}
        value, spread = value | shift, spread | shift
    color, dash, shape = _series(rows, drawn)
    faint = {"condition": {"param": "shown", "value": 1}, "value": 0.06}
    thin = {"strokeWidth": 1, "point": {"filled": True, "size": 30}} if drawn.discrete else {"strokeWidth": 2}
    point = {"type": "point", "filled": True, "size": 40, "opacity": 1}
    common = {across: x, "color": color, "opacity": faint}
    for mark, below, above, own in (
        ("bars", {}, {"type": "bar", "fillOpacity": 0.25 if drawn.layers else 0.85}, bars),
        ("line", {"type": "area", "fillOpacity": 0.18}, {"type": "line", **thin}, value | {"strokeDash": dash}),
        ("points", {"type": "rule"}, point, value | {"shape": shape}),
    ):
        part, test, clip = rows[rows["mark"] == mark], f"datum.mark == '{mark}'", {"clip": bool(domains)}
        if part["low"].notna().any():
            yield _layer(f"{test} && isValid(datum.low)", below | clip, common | spread)
        if len(part):
            yield _layer(test, above | clip, common | own)
    yield from _marked(set(rows["mark"]), x, y, across, up)
    yield _reader(x, across, ["panel", "x"] if rows["panel"].any() else ["x"])


def _layer(test: str, mark: Spec, channels: Spec) -> Spec:
    return {"transform": [{"filter": test}], "mark": mark, "encoding": channels}


def _series(rows: pd.DataFrame, drawn: Chart) -> Iterator[Spec]:
    """Yield the channels by which series differ, and by which the legend names them: colour, dashes and shape."""
    names = list(rows.loc[~rows["mark"].str.startswith("at "), "series"].unique())
    looks = list(map(looks_of(names).__getitem__, names))
    dotted = (rows["mark"] == "points").any()
    legend = {"title": None} if len(names) > 1 and drawn.by != drawn.x else None
    for ranges, named in (
        ([look.colour for look in looks], True),
        ([[1, 0] if isinstance(look.dash, str) else [2 * n for n in look.dash[1]] for look in looks], not dotted),
        ([_SHAPES[look.marker] for look in looks], True),
    ):
        scale = {"domain": names, "range": ranges}
        yield {"field": "series", "type": "nominal", "legend": legend if named else None, "scale": scale}


def _axis(drawn: Chart, axis: str, domain: Sequence[float] | None) -> Spec:
    """Return the channel of ``x`` or ``y``."""
    title, kind = drawn.labels[axis == "y"], getattr(drawn, f"{axis}scale")
    if kind == "category":
        return {"field": axis, "sort": None, "title": title or None, "axis": {"labelAngle": 0, "labelLimit": 160}}
    scale: Spec = {"type": kind}
    ticks: Spec = {"tickCount": 6}
    if kind == "log":
        across = "x" if (axis == "x") != drawn.flip else "y"
        tens = {"test": f"{_DIGITS} == '1'", "value": 1}
        ticks |= {"labelExpr": _tick(f"domain('{across}')"), "gridOpacity": {"condition": tens, "value": 0.3}}
    else:
        scale["zero"] = axis == "y" and drawn.mark == "bars"
    if domain or axis == "x" or kind == "log":
        scale |= {"nice": False, "padding": 5} | ({"domain": domain} if domain else {})
    lines = wrap(title, 44) or None
    return {"field": axis, "type": "quantitative", "title": lines, "scale": scale, "axis": ticks}


def _tick(ends: str) -> str:
    """Return how a tick of a logarithmic axis is written: powers of ten, on a short axis other numbers between them."""
    power = reduce(lambda text, sign: f"replace({text}, regexp('[{sign[0]}]', 'g'), '{sign[1]}')", _RAISED, _POWER)
    ratio, plain = f"{ends}[1] / {ends}[0]", "format(datum.value, ',.6~r')"
    between = f"{ratio} < (indexof(['2', '5'], {_DIGITS}) < 0 ? 5 : 100) ? {plain} : ''"
    return f"{_DIGITS} != '1' ? ({between}) : {ends}[0] >= 1e-3 && {ends}[1] <= 1e5 ? {plain} : '10' + {power}"


def _marked(kinds: set[str], x: Spec, y: Spec, across: str, up: str) -> Iterator[Spec]:
    """Yield the layers of marked places: lines across the panel, points, and their labels."""
    places: dict[str, Spec] = {
        "at x": {across: x, up: {"value": 10}},
        "at y": {up: y, across: {"value": 4}},
        "at xy": {across: x, up: y},
    }
    for kind in sorted(kinds & places.keys()):
        test, at, point = f"datum.mark == '{kind}'", places[kind], kind == "at xy"
        ring = {"type": "point", "size": 45, "stroke": "black", "fill": "white", "strokeWidth": 1.5, "opacity": 1}
        rule = {"type": "rule", "color": _MUTED, "strokeDash": [2, 2]}
        yield _layer(test, ring if point else rule, {channel: own for channel, own in at.items() if "field" in own})
        for side, (align, dx, dy) in _SIDES.items():
            beside = {"align": align, "dx": dx, "dy": dy} if point else {"align": "left", "dx": 4, "dy": -7}
            label = {"type": "text", "fontSize": 11} | beside
            yield _layer(f"{test} && datum.side == '{side}'", label, at | {"text": {"field": "series"}})


def _reader(x: Spec, across: str, place: list[str]) -> Spec:
    """Return the layer that reads all curves of a panel at the place nearest to the pointer."""
    near: Spec = {"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": True, "encodings": [across]}
    return {
        "transform": [
            {"filter": "indexof(datum.mark, 'at ') < 0"},
            {"calculate": _READING, "as": "reading"},
            {"pivot": "series", "value": "reading", "op": "max", "groupby": place},
        ],
        "params": [{"name": "near", "select": near}],
        "mark": {"type": "rule", "color": _MUTED, "tooltip": {"content": "data"}},
        "encoding": {
            across: {key: own for key, own in x.items() if key != "axis"},
            "opacity": {"condition": {"param": "near", "empty": False, "value": 0.6}, "value": 0},
        },
    }
