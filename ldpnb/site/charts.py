"""The records of a chart as a Vega-Lite specification: the same curves, colours, marks and dashes as in the picture.

A curve's numbers lie in lists, which Vega-Lite makes rows again. The pointer reads all curves at one place, and a click
on a name in the legend hides or shows its curve.
"""

import colorsys
import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ldpnb.notebook.encoding import Encoding, panels_in_a_row
from ldpnb.notebook.figures import looks_of
from ldpnb.notebook.records import NUMBERS, Record

Spec = dict[str, Any]
_SHAPES = {"o": "circle", "s": "square", "D": "diamond", "^": "triangle-up", "v": "triangle-down"}
_SHAPES |= {"P": "cross", "*": "triangle-right", "X": "triangle-left"}
_TEXT, _MUTED, _BORDER, _PAGE = (
    f"var(--pst-color-{name})" for name in ("text-base", "text-muted", "border", "background")
)
_POWER = "round(log(datum.value) / LN10)"
_TENS = f"abs(log(datum.value) / LN10 - {_POWER}) < 1e-9"
_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SIDES = {"above": ("center", 0, -11), "below": ("center", 0, 14), "left": ("right", -8, 0), "right": ("left", 8, 0)}
_HEIGHT, _SMALL = 300, 190
CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": "greedy",
        "labelSeparation": 6,
        "gridColor": _BORDER,
        "domainColor": _MUTED,
        "tickColor": _MUTED,
    },
    "legend": {"labelColor": _TEXT, "labelFontSize": 12, "orient": "top", "labelLimit": 330, "symbolStrokeWidth": 2},
    "header": {"labelColor": _TEXT, "labelFontSize": 12, "title": None},
}


def chart(
    records: Sequence[Record], encoding: Encoding, *, live: bool = False, domain: Sequence[float] | None = None
) -> Spec:
    """Return the specification of a chart of records, or of one for all settings of a live section.

    A live one has no data: the page's script gives it those of a setting. With a domain of the values, what lies beyond
    is cut off.
    """
    shown = [record for record in records if not record["mark"].startswith("at ")]
    panels = list(dict.fromkeys(record["panel"] for record in shown))
    layers = list(_layers(records, encoding, domain))
    switch: Spec = {"type": "point", "fields": ["series"], "toggle": "true"}
    layers[0]["params"] = [{"name": "shown", "select": switch, "bind": "legend"}]  # of a layer that the legend is of
    spec: Spec = {"layer": layers}
    if len(panels) > 1:
        facet = {"field": "panel", "sort": panels, "title": None}
        spec = {"facet": facet, "columns": panels_in_a_row(len(panels)), "spec": spec | {"height": _SMALL}}
        if not encoding.share_y:
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
    category = encoding.xscale == "category"
    named = {across: x, **_series(records, encoding)}
    both, spread = {up: y}, {up: low, f"{up}2": {"field": "high"}}
    if category:
        shift = {"field": "series", "sort": None}
        both, spread = ({**each, f"{across}Offset": shift} for each in (both, spread))
    kinds = {record["mark"] for record in records}
    kinds |= {"error" if r["mark"] == "points" else "band" for r in records if "low" in r}
    dots = {"type": "point", "filled": True, "size": 40, "opacity": 1}
    thin = {"strokeWidth": 1, "point": {"filled": True, "size": 30}} if encoding.discrete else {"strokeWidth": 2}
    drawn: dict[str, tuple[Spec, Spec, str]] = {
        "band": (
            {"type": "area", "fillOpacity": 0.18, "clip": True},
            spread,
            "datum.mark != 'points' && isValid(datum.low)",
        ),
        "bars": ({"type": "bar", "fillOpacity": 0.85}, both, "datum.mark == 'bars'"),
        "line": ({"type": "line", "clip": True, **thin}, both, "datum.mark == 'line'"),
        "error": ({"type": "rule"}, spread, "datum.mark == 'points' && isValid(datum.low)"),
        "points": (dots, both, "datum.mark == 'points'"),
    }
    for kind, (mark, channels, test) in drawn.items():
        if kind in kinds:
            own = {"strokeDash": None, "shape": None} | ({"color": named["color"]})
            keeps = {"line": ("strokeDash",), "points": ("shape",)}.get(kind, ())
            encoded = {c: v for c, v in named.items() if c not in own or c in (*keeps, "color")} | channels
            yield {"transform": [{"filter": test}], "mark": mark, "encoding": encoded}
    yield from _marked(kinds, x, y, across, up)
    yield _reader(x, across, encoding)


def _series(records: Sequence[Record], encoding: Encoding) -> Spec:
    """Return the channels by which series differ, and by which the legend names them."""
    names = list(dict.fromkeys(r["series"] for r in records if not r["mark"].startswith("at ")))
    looks = looks_of(names)
    several = len(names) > 1 and encoding.by != encoding.x
    legend = {"title": None} if several else None
    dotted = any(record["mark"] == "points" for record in records)

    def channel(ranges: Sequence[Any], *, named: bool = True) -> Spec:
        shown, scale = legend if named else None, {"domain": names, "range": ranges}
        return {"field": "series", "type": "nominal", "legend": shown, "scale": scale}

    dashes = [[1, 0] if isinstance(look.dash, str) else [2 * n for n in look.dash[1]] for look in looks.values()]
    return {
        "color": channel([themed(look.colour) for look in looks.values()]),
        "strokeDash": channel(dashes, named=not dotted),
        "shape": channel([_SHAPES[look.marker] for look in looks.values()]),
        "opacity": {"condition": {"param": "shown", "value": 1}, "value": 0.06},
    }


def _axis(encoding: Encoding, field: str, domain: Sequence[float] | None) -> Spec:
    """Return the channel of a field; ``low`` is on the axis of ``y``, which may have a domain of its own."""
    axis = "x" if field == "x" else "y"
    label, scale = getattr(encoding, f"{axis}label"), getattr(encoding, f"{axis}scale")
    title = getattr(encoding, axis) if label is None else label
    if scale == "category":
        return {"field": field, "sort": None, "title": title or None, "axis": {"labelAngle": 0, "labelLimit": 160}}
    lines = {"field": field, "type": "quantitative", "title": textwrap.wrap(title, 44) or None}
    ticks: Spec = {"tickCount": 6}
    if scale == "log":
        tens = {"test": _TENS, "value": 1}
        labels = _powers("x" if (axis == "x") != encoding.flip else "y")
        ticks |= {"labelExpr": labels, "gridOpacity": {"condition": tens, "value": 0.3}}
    bounds: Spec = {"nice": False, "padding": 5} if axis == "x" or scale == "log" else {"zero": encoding.mark == "bars"}
    if scale != "log":
        bounds = {"zero": False} | bounds
    if domain and axis == "y":
        bounds = {"domain": domain, "nice": False}
    return lines | {"scale": {"type": scale, **bounds}, "axis": ticks}


def _powers(axis: str) -> str:
    """Return the expression for a tick of a logarithmic scale: a plain number, or a power of ten on a wide scale."""
    low, high = f"domain('{axis}')[0]", f"domain('{axis}')[1]"
    first = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"
    labelled = f"{_TENS} || {high} / {low} < 5 || {high} / {low} < 100 && indexof([2, 5], {first}) >= 0"
    tens, ones = (
        f"substring('{_DIGITS}', {n}, {n} + 1)" for n in (f"floor(abs({_POWER}) / 10)", f"abs({_POWER}) % 10")
    )
    power = f"'10' + ({_POWER} < 0 ? '⁻' : '') + (abs({_POWER}) >= 10 ? {tens} : '') + {ones}"
    plain = f"{low} >= 1e-3 && {high} <= 1e5 || !({_TENS})"
    return f"{labelled} ? ({plain} ? format(datum.value, ',~g') : {power}) : ''"


def _marked(kinds: set[str], x: Spec, y: Spec, across: str, up: str) -> Iterator[Spec]:
    """Yield the layers of marked places: lines across the panel, points, and their labels."""
    for kind in sorted(kind for kind in kinds if kind.startswith("at ")):
        at: Spec = {
            "at x": {across: x, up: {"value": 10}},
            "at y": {up: y, across: {"value": 4}},
            "at xy": {across: x, up: y},
        }[kind]
        only = [{"filter": f"datum.mark == '{kind}'"}]
        if kind == "at xy":
            ring = {"type": "point", "size": 45, "stroke": _TEXT, "fill": _PAGE, "strokeWidth": 1.5, "opacity": 1}
            yield {"transform": only, "mark": ring, "encoding": at}
        else:
            line = {across: x} if kind == "at x" else {up: y}
            rule = {"type": "rule", "color": _MUTED, "strokeDash": [2, 2]}
            yield {"transform": only, "mark": rule, "encoding": line}
        for side, (align, dx, dy) in _SIDES.items() if kind == "at xy" else [("", ("left", 4, -7))]:
            own = [{"filter": f"datum.mark == '{kind}'" + (f" && datum.side == '{side}'" if side else "")}]
            label = {"type": "text", "align": align, "dx": dx, "dy": dy, "fontSize": 11, "color": _TEXT}
            yield {"transform": own, "mark": label, "encoding": at | {"text": {"field": "series"}}}


def _reader(x: Spec, across: str, encoding: Encoding) -> Spec:
    """Return the layer that reads all curves of a panel at the place nearest to the pointer."""
    near: Spec = {"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": True, "encodings": [across]}
    place = {key: v for key, v in x.items() if key != "axis"}
    return {
        "transform": [
            {"filter": "indexof(datum.mark, 'at ') < 0"},
            {"aggregate": [{"op": "values", "as": "all"}], "groupby": ["x", "panel"]},
        ],
        "params": [{"name": "near", "select": near}],
        "mark": {"type": "rule", "color": _MUTED, "tooltip": {"content": "data"}},
        "encoding": {
            across: place,
            "opacity": {"condition": {"param": "near", "empty": False, "value": 0.6}, "value": 0},
        },
    }


def script(content: Any) -> str:
    """Return JSON as the content of an element of a page, with a hat where the pictures set one."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("</", "<\\/").replace("c-hat", "ĉ")
    return f'<script type="application/json">{text}</script>'


def themed(colour: str) -> str:
    """Return a colour for light pages and, with its lightness turned round, for dark ones, as CSS chooses between them.

    >>> themed("#000000"), themed("#CB5004")
    ('light-dark(#000000, #ededed)', 'light-dark(#CB5004, #fca168)')
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
    light = colorsys.hls_to_rgb(hue, 0.93 - 0.57 * lightness, saturation)
    return f"light-dark({colour}, #{''.join(f'{round(255 * part):02x}' for part in light)})"
