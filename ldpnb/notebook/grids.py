"""A live section's charts and sentences on a grid of its controls, for pages where no Python answers.

The grid is written beside the notebook's figures when it runs with `environment.GRIDS` set, and committed. Every slider
is dense, but all combinations would be too many: of several sliders at most one is off its marks, which are some of its
stops, its ends and its start among them. Numbers have four digits, and every list of numbers is kept once.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.notebook.controls import Choice, Slider, label
from ldpnb.notebook.figures import Chart
from ldpnb.notebook.prose import short
from ldpnb.notebook.records import NUMBERS, Record, records, value

NAME = "live.grid.json"
MARKS = (9, 5, 3)
"""Marks of a slider: fewer if the grid would be too large."""
BYTES, DIGITS = 390_000, 4
"""Most characters of a grid, and digits of its numbers."""
POINTS = {"line": 25, "points": 34}
"""Most points of a curve, and of a cloud."""
_NUMBER = re.compile(r"(\d[\d.,]*(?:e-?\d+)?)")
Place = tuple[int, ...]


def grid(redraw: Callable[..., tuple[Chart, str]], controls: Mapping[str, Slider | Choice]) -> str:
    """Return the grid of a live section as JSON.

    Its settings are lists: the place of each control's value, the axes, the words and the numbers of the sentence, and
    the records that a chart draws (`ldpnb.notebook.records`), a kind and a list of numbers for each of its columns.
    """
    values = {name: list(control.values) for name, control in controls.items()}
    shown: dict[Place, tuple[Any, ...]] = {}
    for count in MARKS:
        marks = {name: _marks(control, values[name], count) for name, control in controls.items()}
        places = _places(list(values.values()), list(marks.values()))
        for at in places - shown.keys():
            chart, sentence = redraw(**{name: v[i] for (name, v), i in zip(values.items(), at, strict=True)})
            axes = {part: v for part, v in chart.encoding.to_dict().items() if part != "marks"}
            drawn_as = [_short(record) for record in records(chart.table, chart.encoding, digits=12)]
            shown[at] = axes, drawn_as, sentence
        stated = [
            {
                "name": name,
                "label": label(name, control),
                "choice": isinstance(control, Choice),
                "start": values[name].index(control.start),
                "values": [v if isinstance(v, str) else short(v) for v in values[name]],
                "marks": marks[name],
            }
            for name, control in controls.items()
        ]
        text = _encoded(stated, {at: shown[at] for at in sorted(places)})
        if len(text) <= BYTES:
            break
    return text


def _marks(control: Slider | Choice, values: Sequence[Any], count: int) -> list[int]:
    """Return the places of a control's marks: all values of a choice; the ends, the start and more of a slider."""
    if isinstance(control, Choice) or count >= len(values):
        return list(range(len(values)))
    places, start = np.linspace(0, len(values) - 1, count).round().astype(int), values.index(control.start)
    places[1 + np.abs(places[1:-1] - start).argmin()] = start
    return sorted(set(places.tolist()))


def _places(values: Sequence[Sequence[Any]], marks: Sequence[Sequence[int]]) -> set[Place]:
    """Return the settings in which at most one control is off its marks."""
    places: set[Place] = set()
    for i, own in enumerate(values):
        places |= set(product(*marks[:i], range(len(own)), *marks[i + 1 :]))
    return places


def _short(record: Record) -> Record:
    """Return a record with no more points than a screen shows, and few digits.

    A spread that is even is its half, and a column of one number is that number alone.
    """
    data = pd.DataFrame({name: record[name] for name in NUMBERS if name in record})
    most = POINTS.get(record["mark"], len(data))
    if len(data) > most:
        data = data.iloc[np.linspace(0, len(data) - 1, most).round().astype(int)]
    if "low" in data and data.notna().all(axis=None):
        half = data["high"] - data["y"]
        if np.allclose(half, data["y"] - data["low"], rtol=1e-6, atol=1e-12):
            data = data.drop(columns=["low", "high"]).assign(half=half)
    short_record = {part: v for part, v in record.items() if part not in NUMBERS}
    for name in data:
        column = [value(v, DIGITS) for v in data[name]]
        short_record[str(name)] = column[:1] if len(set(column)) == 1 and name != "x" else column
    return short_record


def _compact(thing: Any) -> str:
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))


def _encoded(controls: list[dict[str, Any]], shown: Mapping[Place, tuple[Any, ...]]) -> str:
    """Return the grid as JSON, a line a setting, which names the places of what the lists above it hold once each."""
    pools: dict[str, dict[str, int]] = {name: {} for name in ("axes", "words", "kinds", "columns")}

    def kept(pool: str, thing: Any) -> int:
        return pools[pool].setdefault(_compact(thing), len(pools[pool]))

    lines = []
    for at, (axes, drawn_as, sentence) in shown.items():
        pieces, curves = _NUMBER.split(sentence), []
        for record in drawn_as:
            lists = {part: v for part, v in record.items() if isinstance(v, list)}
            kind = {part: v for part, v in record.items() if part not in lists} | {"columns": list(lists)}
            curves.append([kept("kinds", kind), *(kept("columns", v) for v in lists.values())])
        lines.append(_compact([at, kept("axes", axes), kept("words", pieces[::2]), pieces[1::2], curves]))
    parts = {"controls": _compact(controls)} | {name: f"[{','.join(pool)}]" for name, pool in pools.items()}
    parts["settings"] = "[" + ",\n".join(lines) + "]"
    return "{" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "}\n"
