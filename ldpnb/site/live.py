"""A live section on a page: a form of its controls, the sentence that goes with the chart, and the chart itself."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ldpnb.notebook.encoding import Encoding, Record
from ldpnb.notebook.grids import NAME
from ldpnb.run.catalogue import home
from ldpnb.site.charts import Spec, chart, script


def place(name: str) -> Path:
    """Return where the grid of a notebook's live section is."""
    return home() / "figures" / name / NAME


def section(name: str, domain: Sequence[float] | None = None) -> str:
    """Return the HTML of the live section of a notebook; its values may have a domain that is given."""
    grid = json.loads(place(name).read_bytes())
    specs = [specification(grid, place, domain) for place in range(len(grid["axes"]))]
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
    """Return a sentence from its words and the numbers between them.

    >>> sentence(["At ", " it is ", "."], ["1", "2.5"])
    'At 1 it is 2.5.'
    """
    return "".join(word + number for word, number in zip(words, [*numbers, ""], strict=True))


def specification(grid: dict[str, Any], axes: int, domain: Sequence[float] | None) -> Spec:
    """Return the chart of all settings with these axes; the page's script gives it the numbers of one.

    A logarithmic axis fits the values of all settings. A linear one follows each, which it would flatten otherwise.
    """
    encoding, kinds, numbers = Encoding.read(grid["axes"][axes]), {}, set()
    for place, *columns in (curve for setting in grid["settings"] if setting[1] == axes for curve in setting[4]):
        kinds[place] = kind = grid["kinds"][place]
        for name, column in zip(kind["columns"], columns, strict=True):
            numbers |= {v for v in grid["columns"][column] if name in ("y", "low", "high") and v}
    if encoding.yscale == "log" and not domain:
        domain = [min(numbers) / 1.1, max(numbers) * 1.1]
    records: list[Record] = []
    for _, kind in sorted(kinds.items()):
        names = [name for own in kind["columns"] for name in (("low", "high") if own == "half" else (own,))]
        records.append(kind | dict.fromkeys(names, ()))
    return chart(records, encoding, live=True, domain=domain)
