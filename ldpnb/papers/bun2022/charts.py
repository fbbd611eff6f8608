"""The drawing for bun2022 that `curves` does not make."""

from dataclasses import replace

import pandas as pd

from ldpnb.notebook.encoding import Encoding
from ldpnb.notebook.figures import Chart
from ldpnb.notebook.prose import short


def allocation_change(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw by how much each stratum's allocation changes: columns ``stratum, change``, the top stratum last."""
    top = table.iloc[-1]
    title = f"One establishment that grows moves the stratum {top['stratum']} by {short(top['change'])} records"
    axes = Encoding("stratum", "change", xscale="category", mark="bars", xlabel="stratum (employees)")
    return Chart(table, replace(axes, ylabel="change (establishments, real-valued)"), title, setting)
