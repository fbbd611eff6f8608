"""The drawing for bun2022 that `curves` does not make."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import head
from ldpnb.notebook.encoding import Encoding, keep
from ldpnb.notebook.figures import looks_of, size
from ldpnb.notebook.prose import short


def allocation_change(table: pd.DataFrame, *, setting: str) -> Figure:
    """Draw by how much each stratum's allocation changes: columns ``stratum, change``, the top stratum last."""
    figure, axis = plt.subplots(figsize=size(3.4))
    bars = axis.barh(table["stratum"], table["change"], height=0.6, color=looks_of(["change"])["change"].colour)
    axis.bar_label(bars, [f"{by:+.2f}".replace("-", "\N{MINUS SIGN}") for by in table["change"]], padding=3, size=8)
    axis.axvline(0, color="#444444", linewidth=0.8)
    axis.invert_yaxis()
    axis.margins(x=0.15)
    stratum, change = "stratum (employees)", "change (establishments, real-valued)"
    axis.set(xlabel=change, ylabel=stratum)
    top = table.iloc[-1]
    title = f"One establishment that grows moves the stratum {top['stratum']} by {short(top['change'])} records"
    head(figure, title, setting)
    axes = Encoding(x="stratum", y="change", xlabel=stratum, ylabel=change, xscale="category", flip=True, mark="bars")
    return keep(figure, table, axes)
