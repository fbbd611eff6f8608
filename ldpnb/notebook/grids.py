"""A live section's figures and sentences on a grid of its controls, for pages where no Python answers.

The grid is written beside the notebook's figures when it runs with `environment.GRIDS` set, and committed. Every slider
is dense, but all combinations would be too many: of several sliders at most one is off its marks, which are some of its
stops, its ends and its start among them. Numbers have four digits, and every list of numbers is kept once.
"""

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ldpnb import writing
from ldpnb.notebook import environment
from ldpnb.notebook.encoding import drawn
from ldpnb.notebook.prose import short
from ldpnb.notebook.records import NUMBERS, Record, records, value

NAME = "live.grid.json"
STEPS, MARKS = 40, (9, 5, 3)
"""Fewest stops of a slider, unless it has fewer whole numbers, and its marks: fewer if the grid would be too large."""
BYTES, DIGITS = 390_000, 4
"""Most characters of a grid, and digits of its numbers."""
POINTS = {"line": 25, "points": 34}
"""Most points of a curve, and of a cloud."""
_ROUND = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
_NUMBER = re.compile(r"(\d[\d.,]*(?:e-?\d+)?)")
Redraw = Callable[..., tuple[Figure, str]]
Place = tuple[int, ...]


def write(redraw: Redraw, controls: Mapping[str, Any]) -> None:
    """Write the grid of a live section beside its notebook's figures."""
    writing.write(Path(os.environ[environment.FIGURES_FOLDER], NAME), grid(redraw, controls).encode())


def grid(redraw: Redraw, controls: Mapping[str, Any]) -> str:
    """Return the grid of a live section as JSON.

    Its settings are lists: the place of each control's value, the axes, the words and the numbers of the sentence, and
    the records that a chart draws (`ldpnb.notebook.records`), a kind and a list of numbers for each of its columns.
    """
    values = [_values(control) for control in controls.values()]
    shown: dict[Place, list[Any]] = {}
    for count in MARKS:
        marks = [_marks(control, v, count) for control, v in zip(controls.values(), values, strict=True)]
        places = _places(values, marks)
        for at in places - shown.keys():
            shown[at] = _setting(redraw, {name: v[i] for name, v, i in zip(controls, values, at, strict=True)})
        stated = [_control(*each) for each in zip(controls.items(), values, marks, strict=True)]
        text = _encoded(stated, {at: shown[at] for at in sorted(places)})
        if len(text) <= BYTES:
            break
    return text


def stops(start: float, low: float, high: float, *, steps: int = STEPS, log: bool = False) -> list[float]:
    """Return the stops of a slider: its ends, its start, and as round numbers as at least so many steps allow.

    Whole numbers if the start is one; no more than there are.

    >>> stops(0.5, 0.0, 1.0, steps=4), stops(3, 0, 9)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    spaced = _preferred(low, high, steps) if log else _even(low, high, steps)
    inner = sorted({round(v) if isinstance(start, int) else float(f"{v:.10g}") for v in spaced if low < v < high})
    if start not in (low, high, *inner) and inner:
        inner.remove(min(inner, key=lambda v: abs(math.log(v / start) if log else v - start)))
    return sorted({*inner, low, start, high})


def _preferred(low: float, high: float, steps: int) -> list[float]:
    """Return preferred numbers between two limits: 10, 20, 40 or 80 to a decade, of two digits.

    >>> _preferred(0.2, 2.0, 9)
    [0.25, 0.32, 0.4, 0.5, 0.63, 0.79, 1.0, 1.3, 1.6, 2.0]
    """
    for n in (10, 20, 40, 80):
        powers = range(math.ceil(n * math.log10(low)), math.floor(n * math.log10(high)) + 1)
        numbers = sorted({float(f"{10 ** (k / n):.2g}") for k in powers})
        if len({low, high, *numbers}) >= steps:
            break
    return numbers


def _even(low: float, high: float, steps: int) -> list[float]:
    """Return the multiples of a round number between two limits, at least so many.

    >>> _even(0.5, 2.5, 4)
    [0.5, 1.0, 1.5, 2.0, 2.5]
    """
    most = (high - low) / steps * (1 + 1e-9)
    ten = 10.0 ** math.floor(math.log10(most))
    step = max(factor * ten for factor in _ROUND if factor * ten <= most)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _values(control: Any) -> list[Any]:
    if hasattr(control, "among"):
        return list(control.among)
    return stops(control.start, control.low, control.high, log=control.log)


def _marks(control: Any, values: Sequence[Any], count: int) -> list[int]:
    """Return the places of a control's marks: all values of a choice, some evenly spaced ones of a slider."""
    if hasattr(control, "among") or count >= len(values):
        return list(range(len(values)))
    places = [int(place) for place in np.linspace(0, len(values) - 1, count).round()]
    start = values.index(control.start)
    nearest = min(range(1, count - 1), key=lambda i: abs(places[i] - start))
    return sorted({*places[:nearest], start, *places[nearest + 1 :]})


def _places(values: Sequence[Sequence[Any]], marks: Sequence[Sequence[int]]) -> set[Place]:
    """Return the settings in which at most one control is off its marks."""
    places: set[Place] = set()
    for i, own in enumerate(values):
        places |= set(product(*marks[:i], range(len(own)), *marks[i + 1 :]))
    return places


def _setting(redraw: Redraw, at: dict[str, Any]) -> list[Any]:
    """Return a setting's axes, its sentence and its records."""
    figure, sentence = redraw(**at)
    plt.close(figure)
    kept = drawn(figure)
    if kept is None:
        return [{}, sentence, []]
    axes = {part: v for part, v in kept.encoding.to_dict().items() if part != "marks"}
    return [axes, sentence, [_short(record) for record in records(kept.table, kept.encoding, digits=12)]]


def _short(record: Record) -> Record:
    """Return a record with no more points than a screen shows, and few digits.

    A spread that is even is its half, and a column of one number is that number alone.
    """
    columns = {name: np.array(record[name], dtype=object) for name in NUMBERS if name in record}
    length = len(next(iter(columns.values())))
    most = POINTS.get(record["mark"], length)
    if length > most:
        places = np.linspace(0, length - 1, most).round().astype(int)
        columns = {name: column[places] for name, column in columns.items()}
    ends = [columns[name] for name in ("y", "low", "high") if name in columns]
    if len(ends) == 3 and all(None not in end for end in ends):
        y, low, high = (end.astype(float) for end in ends)
        if np.allclose(high - y, y - low, rtol=1e-6, atol=1e-12):
            columns = {n: c for n, c in columns.items() if n not in ("low", "high")} | {"half": high - y}
    numbers = {n: [None if v is None else value(v, DIGITS) for v in column] for n, column in columns.items()}
    return {part: v for part, v in record.items() if part not in NUMBERS} | {
        name: column[:1] if len(set(column)) == 1 and name != "x" else column for name, column in numbers.items()
    }


def _control(named: tuple[str, Any], values: Sequence[Any], marks: list[int]) -> dict[str, Any]:
    name, control = named
    texts = [v if isinstance(v, str) else short(v) for v in values]
    label = name.replace("_", " ") + (f" ({control.unit})" if control.unit else "")
    start = values.index(control.start)
    return {"name": name, "label": label, "choice": hasattr(control, "among"), "start": start} | {
        "values": texts,
        "marks": marks,
    }


def _compact(thing: Any) -> str:
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))


class _Pool(dict[str, int]):
    """Things as JSON, each once, with their places."""

    def place(self, thing: Any) -> int:
        return self.setdefault(_compact(thing), len(self))


def _encoded(controls: list[dict[str, Any]], shown: Mapping[Place, list[Any]]) -> str:
    """Return the grid as JSON, a line a setting."""
    axes, words, kinds, columns = _Pool(), _Pool(), _Pool(), _Pool()
    lines = []
    for at, (own, sentence, drawn_as) in shown.items():
        pieces = _NUMBER.split(sentence)
        curves = []
        for record in drawn_as:
            lists = {part: v for part, v in record.items() if isinstance(v, list)}
            kind = {part: v for part, v in record.items() if part not in lists} | {"columns": list(lists)}
            curves.append([kinds.place(kind), *map(columns.place, lists.values())])
        lines.append(_compact([at, axes.place(own), words.place(pieces[::2]), pieces[1::2], curves]))
    pools = {"axes": axes, "words": words, "kinds": kinds, "columns": columns}
    parts = {"controls": _compact(controls)} | {name: f"[{','.join(pool)}]" for name, pool in pools.items()}
    parts["settings"] = "[" + ",\n".join(lines) + "]"
    return "{" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "}\n"
