"""The controls of a live section, and its charts and sentences on a grid of them, for pages where no Python answers.

The grid is written beside the notebook's figures when it runs with `environment.GRIDS` set, and committed. Every slider
is dense, but all combinations would be too many: of several sliders at most one is off its marks, which are some of its
stops, its ends and its start among them. Numbers have four digits, and every list of numbers is kept once.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from ldpnb.notebook.charts import Chart
from ldpnb.notebook.prose import short

NAME = "live.grid.json"
STEPS = 40
"""Fewest steps of a slider, unless it has fewer whole numbers."""
MARKS = (9, 5, 3)
"""Marks of a slider: fewer if the grid would be too large."""
BYTES, DIGITS = 390_000, 4
"""Most characters of a grid, and digits of its numbers."""
POINTS = {"line": 25, "points": 34}
"""Most points of a curve, and of a cloud."""
_NUMBER = re.compile(r"(\d[\d.,]*(?:e-?\d+)?)")
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slider:
    """A number between two limits, whole if its start is, with its unit; `log` if it is even in the logarithm."""

    start: float
    low: float
    high: float
    unit: str = ""
    log: bool = False

    @property
    def values(self) -> list[Any]:
        """Return all stops: the ends, the start, and round numbers between them, the same in every decade of a `log`.

        >>> Slider(3, 0, 9).values, Slider(0.5, 0.0, 1.0).values[:3], Slider(1.0, 0.1, 10.0, log=True).values[-3:]
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0.0, 0.02, 0.04], [7.9, 8.9, 10.0])
        """
        whole = isinstance(self.start, int)
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            decade = 10 * math.ceil(STEPS / 10 / (high - low))
            powers = range(math.ceil(decade * low), math.floor(decade * high) + 1)
            spaced: Sequence[float] = [float(f"{10 ** (k / decade):.2g}") for k in powers]
        else:
            steps = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
            spaced = MaxNLocator(round(1.4 * STEPS), steps=steps, integer=whole).tick_values(self.low, self.high)
        inner = {round(v) if whole else float(f"{v:.10g}") for v in spaced}
        return sorted(v for v in {self.low, self.start, self.high, *inner} if self.low <= v <= self.high)


@dataclass(frozen=True, slots=True)
class Choice:
    """One out of a few values."""

    start: Any
    values: Sequence[Any]
    unit: str = ""


def described(name: str, control: Slider | Choice) -> dict[str, Any]:
    """Return what a reader sees of a control: its label with its unit, its values as text, and where it starts."""
    return {
        "name": name,
        "label": name.replace("_", " ") + (f" ({control.unit})" if control.unit else ""),
        "choice": isinstance(control, Choice),
        "start": control.values.index(control.start),
        "values": [v if isinstance(v, str) else short(v, 4) for v in control.values],
    }


def grid(redraw: Callable[..., tuple[Chart, str]], controls: Mapping[str, Slider | Choice]) -> str:
    """Return the grid of a live section as JSON.

    Its settings are lists: the place of each control's value, the axes, the words and the numbers of the sentence, and
    the curves that a chart draws (`Chart.rows`), each a kind and a list of numbers for each of its columns.
    """
    values = [control.values for control in controls.values()]
    shown: dict[Place, tuple[Any, ...]] = {}
    for count in MARKS:
        marks = [_marks(control, count) for control in controls.values()]
        places = {
            place for i, own in enumerate(values) for place in product(*marks[:i], range(len(own)), *marks[i + 1 :])
        }
        for at in places - shown.keys():
            chart, sentence = redraw(**{name: own[i] for name, own, i in zip(controls, values, at, strict=True)})
            shown[at] = replace(chart, marks=()).encoding(), _curves(chart), sentence
        stated = [described(*own) | {"marks": at} for own, at in zip(controls.items(), marks, strict=True)]
        text = _encoded(stated, {at: shown[at] for at in sorted(places)})
        if len(text) <= BYTES:
            break
    return text


def _marks(control: Slider | Choice, count: int) -> list[int]:
    """Return the places of a control's marks: all values of a choice; the ends, the start and more of a slider."""
    values = control.values
    if isinstance(control, Choice) or count >= len(values):
        return list(range(len(values)))
    places, start = np.linspace(0, len(values) - 1, count).round().astype(int), values.index(control.start)
    places[1 + np.abs(places[1:-1] - start).argmin()] = start
    return sorted(set(places.tolist()))


def _curves(chart: Chart) -> list[tuple[dict[str, Any], list[Any]]]:
    """Return the curves and marked places of a chart, each its kind and its columns, with points for a screen.

    A spread that is even is its half, and a column of one number is that number alone.
    """
    curves, kind = [], ["panel", "series", "mark", "side"]
    rows = pd.concat([chart.rows().assign(side=""), chart.places()])
    for words, own in rows.groupby(kind, sort=False):
        data = own.drop(columns=kind).dropna(axis=1, how="all")
        most = min(POINTS.get(own["mark"].iloc[0], len(own)), len(own))
        data = data.iloc[np.linspace(0, len(own) - 1, most).round().astype(int)]
        if "low" in data and data.notna().all(axis=None):
            half = data["high"] - data["y"]
            if np.allclose(half, data["y"] - data["low"], rtol=1e-6, atol=1e-12):
                data = data.drop(columns=["low", "high"]).assign(half=half)
        columns = {str(name): [_few(v) for v in data[name]] for name in data}
        lists = [c[:1] if len(set(c)) == 1 and name != "x" else c for name, c in columns.items()]
        curves.append((dict(zip(kind, words, strict=True)) | {"columns": list(columns)}, lists))
    return curves


def _few(number: Any) -> Any:
    """Return a number of few digits for JSON, where nothing stands for what is not finite; a word stays a word."""
    if isinstance(number, str) or not np.isfinite(number):
        return number if isinstance(number, str) else None
    rounded = float(f"{number:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _compact(thing: Any) -> str:
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))


def _encoded(controls: list[dict[str, Any]], shown: Mapping[Place, tuple[Any, ...]]) -> str:
    """Return the grid as JSON, a line a setting, which names the places of what the lists above it hold once each."""
    pools: dict[str, dict[str, int]] = {name: {} for name in ("axes", "words", "kinds", "columns")}

    def kept(pool: str, thing: Any) -> int:
        return pools[pool].setdefault(_compact(thing), len(pools[pool]))

    lines = []
    for at, (axes, drawn_as, sentence) in shown.items():
        pieces = _NUMBER.split(sentence)
        curves = [[kept("kinds", kind), *(kept("columns", v) for v in lists)] for kind, lists in drawn_as]
        lines.append(_compact([at, kept("axes", axes), kept("words", pieces[::2]), pieces[1::2], curves]))
    parts = {"controls": _compact(controls)} | {name: f"[{','.join(pool)}]" for name, pool in pools.items()}
    parts["settings"] = "[" + ",\n".join(lines) + "]"
    return "{" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "}\n"
