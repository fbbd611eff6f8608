"""The picture of a survey's estimates: one line each, with its interval."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.charts import Chart, Layer
from ldpnb.notebook.figures import draw
from ldpnb.surveys.estimation import Estimates


def picture(estimates: Estimates) -> Figure:
    """Draw every estimate with its interval, and the shares of the nearest distribution."""
    labels, rows = estimates.plan.labels, pd.DataFrame(estimates.rows)
    rows["name"] = (rows["group"] + " " + rows["of"]).str.strip()
    layers = [Layer(name="unbiased", y="estimate", mark="points", band=("low", "high"))]
    if rows["norm_sub"].notna().any():
        layers.append(Layer(name="Norm-Sub", y="norm_sub", mark="points"))
    largest = max((row for row in estimates.rows if not row.group), key=lambda row: row.estimate)
    finding = f"{f'Largest share, {largest.of}' if labels else largest.of.capitalize()}: {largest.estimate:.3g}"
    level = f"{100 * (1 - estimates.alpha):g} %{' simultaneous' if labels else ''}"
    setting = (
        f"{level} interval {largest.low:.3g} to {largest.high:.3g}; {largest.reports:,} reports"
    )
    setting += f"; epsilon {estimates.plan.epsilon:.4g}"
    axes: dict[str, Any] = {"layers": layers, "xlabel": "", "xscale": "category"}
    return draw(
        Chart(
            rows,
            "name",
            "share" if labels else rows["of"][0],
            **axes,
            title=finding,
            setting=setting,
        )
    )
