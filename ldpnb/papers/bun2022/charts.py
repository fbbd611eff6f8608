"""The drawing for bun2022 that `curves` does not make."""

from typing import Any

import pandas as pd

from ldpnb.notebook.charts import Chart
from ldpnb.words import short


def allocation_change(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw by how much each stratum's allocation changes: columns ``stratum, change``, the top stratum last."""
    top = table.iloc[-1]
    title = f"One establishment that grows moves the stratum {top['stratum']} by {short(top['change'])} records"
    labels = {"xlabel": "stratum (employees)", "ylabel": "change (establishments, real-valued)"}
    axes: dict[str, Any] = {"xscale": "category", "mark": "bars"} | labels
    return Chart(table, "stratum", "change", **axes, title=title, setting=setting)
