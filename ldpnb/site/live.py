"""A live section on a page: a form of its controls, the sentence that goes with the chart, and the chart itself."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldpnb.notebook.encoding import Encoding
from ldpnb.notebook.grids import NAME
from ldpnb.notebook.records import Record
from ldpnb.run.catalogue import home
from ldpnb.site.charts import Spec, chart, script


def place(name: str) -> Path:
    """Return where the grid of a notebook's live section is."""
    return home() / "figures" / name / NAME


def section(name: str, domain: Sequence[float] | None = None) -> str:
    """Return the HTML of the live section of a notebook.

    Its values have the domain given, or one that all settings share.
    """
    grid = json.loads(place(name).read_bytes())
    specs = [specification(grid, place, domain) for place in range(len(grid["axes"]))]
    starts = [control["start"] for control in grid["controls"]]
    first = next(setting for setting in grid["settings"] if setting[0] == starts)
    says = html.escape(sentence(grid["words"][first[2]], first[3]))
    fields = "".join(field(control, f"{Path(name).name}-{control['name']}") for control in grid["controls"])
    several = sum(not c["choice"] and len(c["marks"]) < len(c["values"]) for c in grid["controls"]) > 1
    hint = "<p class='hint'>Moving one slider sets the others to their nearest tick.</p>" if several else ""
    return (
        f'<div class="live"><p class="says" role="status">{says}</p>'
        f'<form autocomplete="off">{fields}{hint}<button type="reset">Reset</button></form>'
        f'<div class="view" data-label="{says}"></div>{script({"specs": specs, "grid": grid})}</div>'
    )


def field(control: dict[str, Any], identifier: str) -> str:
    """Return a control with its label and, for a slider, its value and the ticks of its marks."""
    label = f'<label for="{identifier}">{html.escape(control["label"])}</label>'
    if control["choice"]:
        options = (
            f'<option value="{i}"{" selected" if i == control["start"] else ""}>{html.escape(v)}</option>'
            for i, v in enumerate(control["values"])
        )
        return f'<div class="control">{label}<select id="{identifier}">{"".join(options)}</select></div>'
    last, start = len(control["values"]) - 1, control["start"]
    ticks = "".join(f'<option value="{i}"></option>' for i in control["marks"]) if len(control["marks"]) <= last else ""
    return (
        f'<div class="control">{label}<input type="range" id="{identifier}" list="{identifier}-ticks" min="0" '
        f'max="{last}" value="{start}" aria-valuetext="{html.escape(control["values"][start])}">'
        f'<output for="{identifier}">{control["values"][start]}</output>'
        f'<datalist id="{identifier}-ticks">{ticks}</datalist></div>'
    )


def sentence(words: list[str], numbers: list[str]) -> str:
    """Return a sentence from its words and the numbers between them.

    >>> sentence(["At ", " it is ", "."], ["1", "2.5"])
    'At 1 it is 2.5.'
    """
    return "".join(word + number for word, number in zip(words, [*numbers, ""], strict=True))


def specification(grid: dict[str, Any], axes: int, domain: Sequence[float] | None) -> Spec:
    """Return the chart of all settings with these axes."""
    settings = [expanded(grid, setting) for setting in grid["settings"] if setting[1] == axes]
    encoding = Encoding.read(grid["axes"][axes])
    records = [record for setting in settings for record in setting]
    return chart(records, encoding, live=True, domain=domain or shared(settings, encoding))


def shared(settings: Sequence[Sequence[Record]], encoding: Encoding) -> list[float] | None:
    """Return the ends of the axis of values that all settings share, unless most of them would be flat on it.

    >>> line = {"series": "", "panel": "", "mark": "line"}
    >>> shared([[line | {"y": [1, 2]}], [line | {"y": [3, 4]}]], Encoding(x="x", y="y"))
    [1, 4]
    >>> shared([[line | {"y": [0, 2]}], [line | {"y": [0, 3]}], [line | {"y": [0, 400]}]], Encoding(x="x", y="y"))
    """
    log, ends = encoding.yscale == "log", []
    for records in settings:
        drawn = [r for r in records if not r["mark"].startswith("at ")]
        values = [v for r in drawn for name in ("y", "low", "high") for v in r.get(name, ())]
        numbers = [v for v in values if v is not None and (v > 0 or not log)]
        ends += [[min(numbers), max(numbers)]] if numbers else []
    if not ends or not encoding.share_y:
        return None
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if encoding.mark == "bars":
        low = min(low, 0)
    lengths = np.diff(np.log([*ends, [low, high]]) if log else [*ends, [low, high]])
    return [low, high] if lengths[-1] <= 4 * np.median(lengths[:-1]) else None


def expanded(grid: dict[str, Any], setting: list[Any]) -> list[Record]:
    """Return the records of a setting, as the page's script does."""
    records = []
    for kind, *places in setting[4]:
        record = dict(grid["kinds"][kind])
        columns = {name: grid["columns"][place] for name, place in zip(record.pop("columns"), places, strict=True)}
        length = max(map(len, columns.values()))
        columns = {name: v * length if len(v) == 1 else v for name, v in columns.items()}
        if half := columns.pop("half", []):
            for end, sign in (("low", -1), ("high", 1)):
                columns[end] = [y + sign * h for y, h in zip(columns["y"], half, strict=True)]
        records.append(record | columns)
    return records
