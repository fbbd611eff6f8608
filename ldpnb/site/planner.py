"""The planner as a live section: mechanisms ranked by the error that a number of users brings at a budget."""

import math
from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.guides.plan_charts import needs
from ldpnb.notebook.live import Choice, Slider
from ldpnb.notebook.prose import short
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Frequency

FAILURE = 0.01
_ERROR = "error"


def section() -> tuple[Callable[..., tuple[Figure, str]], dict[str, Slider | Choice]]:
    """Return what draws the ranking of the mechanisms, and its controls."""
    return ranking, {
        "epsilon": Slider(1.0, 0.1, 10.0, 0.25, "nats", log=True),
        "users": Slider(10_000, 100, 10**8, 1.0, log=True),
        "values": Slider(8, 2, 2048, math.log10(4), "that a user may hold", log=True),
    }


def ranking(epsilon: float, users: int, values: int) -> tuple[Figure, str]:
    """Rank the mechanisms by the error that any one of the shares exceeds with probability `FAILURE` at most."""
    found = plan(Frequency(epsilon=epsilon, count=users, failure=FAILURE, values=values))
    rows = [{"mechanism": a.mechanism, _ERROR: a.value} for a in found.answers if a.feasible]
    said = "No mechanism keeps any error below 1."
    if found.best is not None:
        said = f"The least error where nobody is trusted, {short(found.best.value)}, is that of {found.best.mechanism}."
    return needs(pd.DataFrame(rows), _ERROR, xlabel="error of any one share"), said
