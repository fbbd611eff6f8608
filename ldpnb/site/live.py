"""A live section on a page: a form of its controls, the sentence that goes with the chart, and the chart itself."""

import html
import json
from pathlib import Path
from typing import Any

import pandas as pd

from ldpnb.notebook.charts import Chart
from ldpnb.notebook.grids import NAME
from ldpnb.notebook.vegalite import Spec, specification
from ldpnb.run.catalogue import home


def place(name: str) -> Path:
    """Return where the grid of a notebook's live section is."""
    return home() / "figures" / name / NAME


def section(name: str) -> str:
    """Return the HTML of the live section of a notebook."""
    grid = json.loads(place(name).read_bytes())
    specs = [_specification(grid, place) for place in range(len(grid["axes"]))]
    starts = [control["start"] for control in grid["controls"]]
    first = next(setting for setting in grid["settings"] if setting[0] == starts)
    says = html.escape(sentence(grid["words"][first[2]], first[3]))
    several = sum(not c["choice"] and len(c["marks"]) < len(c["values"]) for c in grid["controls"]) > 1
    hint = "<p class='hint'>Moving one slider sets the others to their nearest tick.</p>" if several else ""
    return (
        f'<div class="live"><p class="says" role="status">{says}</p>'
        f'<form autocomplete="off">{hint}<button type="reset">Reset</button></form>'
        f'<div class="view" data-label="{says}"></div>{script({"specs": specs, "grid": grid})}</div>'
    )


def sentence(words: list[str], numbers: list[str]) -> str:
    """Return a sentence from its words and the numbers between them."""
    return "".join(word + number for word, number in zip(words, [*numbers, ""], strict=True))


def _specification(grid: dict[str, Any], axes: int) -> Spec:
    """Return the chart of all settings with these axes, which are fixed and fit the values of all.

    Only the vertical axis of noise, whose size changes a hundredfold between settings, fits that of each.
    """
    drawn = Chart.read(pd.DataFrame(), {"encoding": grid["axes"][axes]})
    settings = [setting for setting in grid["settings"] if setting[1] == axes]
    domains = {}
    if not (drawn.layers or drawn.band):
        values = _numbers(grid, settings, "y", "low", "high") + [0.0] * (drawn.mark == "bars")
        domains["y"] = [min(v for v in values if v > 0 or drawn.yscale != "log"), max(values)]
    if not drawn.flip:
        places = _numbers(grid, settings, "x")
        domains["x"] = [min(places), max(places)]
    rows = pd.DataFrame([grid["kinds"][k] for k in sorted({curve[0] for setting in settings for curve in setting[4]})])
    rows["low"] = [0.0 if {"low", "half"} & {*columns} else None for columns in rows["columns"]]
    return specification(rows, drawn, domains)


def _numbers(grid: dict[str, Any], settings: list[Any], *names: str) -> list[float]:
    """Return the numbers that the curves of some settings have in the columns of these names."""
    curves = [(grid["kinds"][kind]["columns"], places) for setting in settings for kind, *places in setting[4]]
    columns = {place for own, places in curves for name, place in zip(own, places, strict=True) if name in names}
    return [v for column in columns for v in grid["columns"][column] if v is not None]


def script(content: Any) -> str:
    """Return JSON as the content of an element of a page, with a hat where the pictures set one."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("</", "<\\/").replace("c-hat", "ĉ")
    return f'<script type="application/json">{text}</script>'
