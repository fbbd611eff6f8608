"""The planner of the site: for a mean, a share or a gap, how far every mechanism is off, by budget and people asked.

Run as a program it renews the grid that the page plays, which takes ten minutes: ``python -m ldpnb.site.planner``.
"""

from functools import cache
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from ldpnb import writing
from ldpnb.notebook.annotations import Mark
from ldpnb.notebook.controls import Choice, Slider
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.grids import grid
from ldpnb.notebook.prose import short
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Frequency, Gap, Mean, Question

GRID = Path(__file__).with_name("planner.grid.json")
FAILURE = 0.01
TASKS: dict[str, Question] = {
    "a mean, as a share of its range": Mean(failure=FAILURE),
    "any one share of eight answers": Frequency(failure=FAILURE, values=8),
    "the gap between two groups of one size": Gap(failure=FAILURE),
}
CONTROLS: dict[str, Slider | Choice] = {
    "what": Choice(next(iter(TASKS)), list(TASKS)),
    "epsilon": Slider(1.0, 0.1, 8.0, "nats", log=True),
    "people": Slider(10_000, 1_000, 10_000_000, "asked", log=True),
}


@cache
def errors(what: str, epsilon: float) -> pd.DataFrame:
    """Return the error that each mechanism where nobody is trusted keeps below, by the number of people asked."""
    rows = []
    for people in CONTROLS["people"].values:
        question = TASKS[what].with_value("epsilon", epsilon).with_value("count", int(people))
        rows += [(a.mechanism, people, a.value) for a in plan(question).able]
    return pd.DataFrame(rows, columns=["mechanism", "people asked", "error"])


def redraw(what: str, epsilon: float, people: int) -> tuple[Figure, str]:
    """Draw the errors of all mechanisms against the number of people, and say which is least."""
    table = errors(what, epsilon)
    axes = Encoding(
        x="people asked",
        y="error",
        by="mechanism",
        ylabel=f"error of {what}",
        xscale="log",
        yscale="log",
        marks=(Mark(x=float(people)),),
    )
    here = table[table["people asked"] == people].sort_values("error")
    sentence = "So few people answer nothing: every mechanism may be off by the whole range."
    if len(here):
        promise = (
            f"by less than {short(here['error'].iloc[0])}, except in {FAILURE:.0%} of surveys of {people:,} people."
        )
        sentence = f"{here['mechanism'].iloc[0]} is off least: {promise}"
    return keep(Figure(), table, axes), sentence


if __name__ == "__main__":
    writing.write(GRID, grid(redraw, CONTROLS).encode())
