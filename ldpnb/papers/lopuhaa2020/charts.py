"""The drawing of lopuhaa2020 that `curves` does not make: an estimated column."""

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.encoding import Encoding, Layer
from ldpnb.notebook.layers import layered
from ldpnb.papers.lopuhaa2020.tables.frequencies import EPSILON


def estimated_column(table: pd.DataFrame, *, xlabel: str, title: str = "", setting: str = "") -> Figure:
    """Draw, per budget (row) and estimator (column), true frequencies and an estimate, as `frequencies.one_run` has."""
    layers = (Layer(name="estimate", y="estimate", mark="points"), Layer(name="truth", y="truth"))
    panel = (EPSILON, "estimator")
    drawn_as = Encoding(x="value", y="frequency", xlabel=xlabel, layers=layers, panel=panel)
    return layered(table, drawn_as, row="ε", title=title, setting=setting)
