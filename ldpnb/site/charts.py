"""The records of a chart as a Vega-Lite specification: the same curves, colours, marks and dashes as in the picture.

A curve's numbers lie in lists, which Vega-Lite makes rows again. The pointer reads all curves at one place, and a click
on a name in the legend hides or shows its curve. Ticks of logarithmic axes are written by ``static/charts.js``, and
``static/site.css`` turns a chart's lightness round on dark pages.
"""

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ldpnb.notebook.encoding import NUMBERS, Encoding, Record, panels_in_a_row
from ldpnb.notebook.figures import looks_of

Spec = dict[str, Any]
_SHAPES = {"o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down"}
_SHAPES |= {"P": "cross", "*": "triangle-right", "X": "triangle-left"}
_SIDES = {"above": ("center", 0, -11), "below": ("center", 0, 14), "left": ("right", -8, 0), "right": ("left", 8, 0)}
_HEIGHT, _SMALL, _MUTED = 300, 190, "#666666"
_LOW, _HIGH, _READING = (f"format(datum.{column}, '.4~r')" for column in ("low", "high", "y"))
_READING += f" + (isValid(datum.low) ? ' (' + {_LOW} + ' to ' + {_HIGH} + ')' : '')"
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


def chart(
    records: Sequence[Record], encoding: Encoding, *, live: bool = False, domain: Sequence[float] | None = None
) -> Spec:
    """Return the specification of a chart of records, or of one for all settings of a live section.

    A live one has no data: the page's script gives it those of a setting. With a domain of the values, what lies beyond
    is cut off.
    """
    panels = list(dict.fromkeys(record["panel"] for record in records if not record["mark"].startswith("at ")))
    layers = list(_layers(records, encoding, domain))
    switch: Spec = {"type": "point", "fields": ["series"], "toggle": "true"}
    layers[0]["params"] = [{"name": "shown", "select": switch, "bind": "legend"}]  # of a layer that the legend is of
    spec: Spec = {"layer": layers}
    if len(panels) > 1:
        facet = {"field": "panel", "sort": panels, "title": None}
        spec = {"facet": facet, "columns": panels_in_a_row(len(panels)), "spec": spec | {"height": _SMALL}}
        if encoding.ylabel == "":
            spec["resolve"] = {"scale": {"x" if encoding.flip else "y": "independent"}}
    else:
        spec |= {"width": "container", "height": _HEIGHT}
    columns = [column for column in NUMBERS if any(column in record for record in records)]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "config": CONFIG,
        "data": {"name": "records", "values": [] if live else [dict.fromkeys(columns, ()) | r for r in records]},
        "transform": [{"flatten": columns}],
        **spec,
    }


def _layers(records: Sequence[Record], encoding: Encoding, domain: Sequence[float] | None) -> Iterator[Spec]:
    """Yield the layers that draw what the records hold, from the bands below to what the pointer reads above."""
    across, up = ("y", "x") if encoding.flip else ("x", "y")
    x, y, low = (_axis(encoding, field, domain) for field in ("x", "y", "low"))
    value, spread = {up: y}, {up: low, f"{up}2": {"field": "high"}}
    if encoding.xscale == "category":
        shift = {f"{across}Offset": {"field": "series", "sort": None}}
        value, spread = value | shift, spread | shift
    color, dash, shape = _series(records, encoding)
    faint = {"condition": {"param": "shown", "value": 1}, "value": 0.06}
    thin = {"strokeWidth": 1, "point": {"filled": True, "size": 30}} if encoding.discrete else {"strokeWidth": 2}
    drawn: dict[str, tuple[str, Spec, Spec]] = {
        "band": ("area", {"fillOpacity": 0.18, "clip": True}, spread),
        "bars": ("bar", {"fillOpacity": 0.85}, value),
        "line": ("line", {"clip": True, **thin}, value | {"strokeDash": dash}),
        "error": ("rule", {}, spread),
        "points": ("point", {"filled": True, "size": 40, "opacity": 1}, value | {"shape": shape}),
    }
    tests = {
        "band": "datum.mark != 'points' && isValid(datum.low)",
        "error": "datum.mark == 'points' && isValid(datum.low)",
    }
    kinds = {record["mark"] for record in records}
    kinds |= {"error" if record["mark"] == "points" else "band" for record in records if "low" in record}
    for kind, (mark, looks, own) in drawn.items():
        if kind in kinds:
            test = tests.get(kind, f"datum.mark == '{kind}'")
            channels = {across: x, "color": color, "opacity": faint, **own}
            yield {"transform": [{"filter": test}], "mark": {"type": mark, **looks}, "encoding": channels}
    yield from _marked(kinds, x, y, across, up)
    yield _reader(x, across, ["panel", "x"] if any(record["panel"] for record in records) else ["x"])


def _series(records: Sequence[Record], encoding: Encoding) -> Iterator[Spec]:
    """Yield the channels by which series differ, and by which the legend names them: colour, dashes and shape."""
    names = list(dict.fromkeys(r["series"] for r in records if not r["mark"].startswith("at ")))
    looks = list(map(looks_of(names).__getitem__, names))
    dotted = any(record["mark"] == "points" for record in records)
    legend = {"title": None} if len(names) > 1 and encoding.by != encoding.x else None
    for ranges, named in (
        ([look.colour for look in looks], True),
        ([[1, 0] if isinstance(look.dash, str) else [2 * n for n in look.dash[1]] for look in looks], not dotted),
        ([_SHAPES[look.marker] for look in looks], True),
    ):
        scale = {"domain": names, "range": ranges}
        yield {"field": "series", "type": "nominal", "legend": legend if named else None, "scale": scale}


def _axis(encoding: Encoding, field: str, domain: Sequence[float] | None) -> Spec:
    """Return the channel of a field; ``low`` is on the axis of ``y``, which may have a domain of its own."""
    axis = "x" if field == "x" else "y"
    title, kind = encoding.labels[axis == "y"], getattr(encoding, f"{axis}scale")
    if kind == "category":
        return {"field": field, "sort": None, "title": title or None, "axis": {"labelAngle": 0, "labelLimit": 160}}
    scale: Spec = {"type": kind}
    ticks: Spec = {"tickCount": 6}
    if kind == "log":
        drawn = "x" if (axis == "x") != encoding.flip else "y"
        tens = {"test": "tick(datum.value, [1, 1000]) != ''", "value": 1}
        ticks |= {
            "labelExpr": f"tick(datum.value, domain('{drawn}'))",
            "gridOpacity": {"condition": tens, "value": 0.3},
        }
    else:
        scale["zero"] = axis == "y" and encoding.mark == "bars"
    if axis == "y" and domain:
        scale |= {"domain": domain, "nice": False}
    elif axis == "x" or kind == "log":
        scale |= {"nice": False, "padding": 5}
    lines = textwrap.wrap(title, 44) or None
    return {"field": field, "type": "quantitative", "title": lines, "scale": scale, "axis": ticks}


def _marked(kinds: set[str], x: Spec, y: Spec, across: str, up: str) -> Iterator[Spec]:
    """Yield the layers of marked places: lines across the panel, points, and their labels."""
    places: dict[str, Spec] = {
        "at x": {across: x, up: {"value": 10}},
        "at y": {up: y, across: {"value": 4}},
        "at xy": {across: x, up: y},
    }
    for kind in sorted(kinds & places.keys()):
        test, at = f"datum.mark == '{kind}'", places[kind]
        ring = {"type": "point", "size": 45, "stroke": "black", "fill": "white", "strokeWidth": 1.5, "opacity": 1}
        rule = {"type": "rule", "color": _MUTED, "strokeDash": [2, 2]}
        drawn = {channel: own for channel, own in at.items() if "field" in own}
        yield {"transform": [{"filter": test}], "mark": ring if kind == "at xy" else rule, "encoding": drawn}
        for side, (align, dx, dy) in _SIDES.items() if kind == "at xy" else [("", ("left", 4, -7))]:
            own = [{"filter": f"{test} && datum.side == '{side}'" if side else test}]
            label = {"type": "text", "align": align, "dx": dx, "dy": dy, "fontSize": 11}
            yield {"transform": own, "mark": label, "encoding": at | {"text": {"field": "series"}}}


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


def script(content: Any) -> str:
    """Return JSON as the content of an element of a page, with a hat where the pictures set one."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("</", "<\\/").replace("c-hat", "ĉ")
    return f'<script type="application/json">{text}</script>'
