"""A live section's figures and sentences on a grid of its controls, for pages where no Python answers.

The cells of a notebook are run up to its live section in a process of its own, whose `redraw` is then asked for every
setting of the grid. A setting's panels are kept as `ldpnb.site.charts` has them, with every column and look once.
"""

import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ldpnb.notebook.annotations import heading
from ldpnb.notebook.encoding import drawn
from ldpnb.notebook.live import Choice, Slider, positions
from ldpnb.notebook.prose import short
from ldpnb.site import charts, planner

_DIGITS, _COARSE = 5, 3
Controls = dict[str, Slider | Choice]


class _Reached(Exception):  # noqa: N818 - the section is reached, which is no error
    def __init__(self, redraw: Callable[..., Any], controls: Controls) -> None:
        self.redraw, self.controls = redraw, controls


def section(path: Path) -> tuple[Callable[..., Any], Controls] | None:
    """Run a notebook's cells until its live section, and return what that redraws and its controls.

    Parameters
    ----------
    path : Path
        Of the notebook; its folder becomes the working directory, nothing is published and no claim decided.
    """
    import ldpnb.notebook

    def reached(redraw: Callable[..., Any], **controls: Slider | Choice) -> None:
        raise _Reached(redraw, controls)

    def unneeded(*_: Any, **__: Any) -> None:
        """Take the place of what a cell does only for its readers."""

    ldpnb.notebook.live, ldpnb.notebook.publish = reached, unneeded
    ldpnb.notebook.verdicts = unneeded  # deciding claims takes most of the time
    os.chdir(path.parent)
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    except _Reached as found:
        return found.redraw, found.controls
    return None


def chosen(controls: Controls, most: int) -> dict[str, list[Any]]:
    """Return the values at which each control is asked: all if they are few, else choices whole and two sliders finely.

    Further sliders have three; the ends of a slider and its start are always among them.

    >>> few, many, share = Slider(3, 0, 10, 1), Slider(5, 0, 100, 1), Slider(0.5, 0, 1, 0.1)
    >>> found = chosen({"few": few, "kind": Choice("x", "xy"), "many": many, "share": share}, 200)
    >>> {name: len(values) for name, values in found.items()}
    {'few': 5, 'kind': 2, 'many': 6, 'share': 3}
    """
    found = {name: positions(control) for name, control in controls.items()}
    if math.prod(map(len, found.values())) <= most:
        return found
    sliders = [name for name, control in controls.items() if isinstance(control, Slider)]
    room = most // math.prod(len(found[name]) for name in controls if name not in sliders)
    fine = sorted(sliders[:2], key=lambda name: len(found[name]))
    for name in [*sliders[2:], *fine]:
        keep = _COARSE if name not in fine else math.isqrt(room) if name != fine[-1] else room
        found[name] = _thinned(found[name], controls[name].start, keep)
        room //= len(found[name])
    return found


def _thinned(values: list[Any], start: Any, keep: int) -> list[Any]:
    """Return evenly spaced ones of a slider's values with its ends, the nearest to its start moved there."""
    if keep >= len(values):
        return values
    places = np.unique(np.linspace(0, len(values) - 1, max(keep, _COARSE)).round().astype(int))
    own = values.index(start)
    inner = places[1:-1] if 0 < own < len(values) - 1 else places
    places[np.flatnonzero(places == inner[np.abs(inner - own).argmin()])] = own
    return [values[place] for place in places]


def grid(redraw: Callable[..., Any], controls: Controls, values: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the section for a page's script: its controls, and what every setting of their values shows and says.

    Settings are in the order of `itertools.product`. A series' ``look`` and columns are positions among ``looks`` and
    ``columns``; a setting without an encoding has a sentence only.
    """
    pool = _Pool()
    settings = [_setting(redraw, dict(zip(values, at, strict=True)), pool) for at in product(*values.values())]
    shown = [_control(name, control, values[name]) for name, control in controls.items()]
    return {"controls": shown, "settings": settings, **{name: list(kept) for name, kept in pool.told().items()}}


def _setting(redraw: Callable[..., Any], at: dict[str, Any], pool: "_Pool") -> dict[str, Any]:
    import matplotlib.pyplot as plt

    try:
        figure, sentence = redraw(**at)
    except Exception as error:  # as a section with a reader shows it
        return {"says": f"{type(error).__name__}: {error}"}
    plt.close("all")
    kept = drawn(figure)
    if kept is None:
        return {"says": sentence}
    shown = charts.panels(kept.table, kept.encoding, _DIGITS)
    told = [panel | {"series": [pool.series(s) for s in panel["series"]]} for panel in shown]
    title, setting = heading(figure)
    axes = pool.place("axes", charts.axes(kept.encoding))
    return {"says": sentence, "title": title, "setting": setting, "axes": axes, "panels": told}


class _Pool:
    """What settings share, each once."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, int]] = {"axes": {}, "looks": {}, "columns": {}}

    def place(self, kind: str, content: Any) -> int:
        known = self._kept[kind]
        return known.setdefault(json.dumps(content, allow_nan=False), len(known))

    def series(self, series: dict[str, Any]) -> dict[str, int]:
        columns = {name: v for name, v in series.items() if isinstance(v, list) and name != "dash"}
        look = {name: v for name, v in series.items() if name not in columns}
        return {"look": self.place("looks", look)} | {n: self.place("columns", v) for n, v in columns.items()}

    def told(self) -> dict[str, Iterator[Any]]:
        return {kind: map(json.loads, known) for kind, known in self._kept.items()}


def _control(name: str, control: Slider | Choice, values: list[Any]) -> dict[str, Any]:
    kind = "slider" if isinstance(control, Slider) else "choice"
    texts = [short(v) if isinstance(v, float) else f"{v:,}" if isinstance(v, int) else str(v) for v in values]
    about = {"name": name, "label": name.replace("_", " "), "unit": control.unit, "kind": kind}
    return about | {"values": texts, "start": values.index(control.start)}


def main(path: str, most: str) -> None:
    """Print the grid of a notebook's live section, or of the ``planner``, as JSON; ``null`` if there is none."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = planner.section() if path == "planner" else section(Path(path).resolve())
        told = None
        if found:
            redraw, controls = found
            told = grid(redraw, controls, chosen(controls, int(most)))
    print(json.dumps(told, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main(*sys.argv[1:])
