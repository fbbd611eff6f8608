"""The chart for Bun et al. that `curves` does not make."""

import pandas as pd

from ldpnb.notebook.charts import Chart
from ldpnb.words import short


def allocation_change(table: pd.DataFrame, *, setting: str) -> Chart:
    """Draw by how much each stratum's allocation changes.

    The table has columns ``stratum`` and ``change``, with the top stratum last.
    """
    top = table.iloc[-1]
    title = (
        f"One establishment that grows moves the stratum {top['stratum']} "
        f"by {short(top['change'])} records"
    )

    return Chart(
        table,
        "stratum",
        "change",
        xlabel="stratum (employees)",
        ylabel="change (establishments, real-valued)",
        xscale="category",
        mark="bars",
        title=title,
        setting=setting,
    )
