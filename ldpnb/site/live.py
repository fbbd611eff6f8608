"""A live section on a page: a form of its controls, the sentence that goes with the chart, and the chart itself."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ldpnb.notebook.encoding import Encoding
from ldpnb.notebook.grids import NAME
from ldpnb.notebook.records import Record
from ldpnb.run.catalogue import home
from ldpnb.site.charts import Spec, chart, script


def place(name: str) -> Path:
    """Return where the grid of a notebook's live section is."""
    return home() / "figures" / name / NAME


def section(name: str, domain: Sequence[float] | None = None) -> str:
    """Return the HTML of the live section of a notebook; its values have the domain given, or that of each setting."""
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
    """Return the chart of all settings with these axes; the page's script gives it the numbers of one."""
    drawn = sorted({kind for setting in grid["settings"] if setting[1] == axes for kind, *_ in setting[4]})
    records: list[Record] = []
    for kind in (grid["kinds"][place] for place in drawn):
        names = [name for own in kind["columns"] for name in (("low", "high") if own == "half" else (own,))]
        records.append(kind | dict.fromkeys(names, ()))
    return chart(records, Encoding.read(grid["axes"][axes]), live=True, domain=domain)
