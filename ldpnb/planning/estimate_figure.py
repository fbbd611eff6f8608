"""The picture of a survey's estimates: one line each, with its interval."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.encoding import Encoding, Layer
from ldpnb.notebook.figures import Chart
from ldpnb.surveys.estimation import Estimates


def picture(estimates: Estimates) -> Figure:
    """Draw every estimate with its interval, and the shares of the nearest distribution."""
    labels, rows = estimates.plan.labels, pd.DataFrame(estimates.rows)
    rows["name"] = (rows["group"] + " " + rows["of"]).str.strip()
    series = {"unbiased": "estimate", "Norm-Sub": "norm_sub"}
    layers = tuple(Layer(name=name, y=y, mark="points") for name, y in series.items() if rows[y].notna().any())
    axes = Encoding("name", "share" if labels else rows["of"][0], band=("low", "high"), layers=layers, xlabel="")
    largest = max((row for row in estimates.rows if not row.group), key=lambda row: row.estimate)
    finding = f"{f'Largest share, {largest.of}' if labels else largest.of.capitalize()}: {largest.estimate:.3g}"
    level = f"{100 * (1 - estimates.alpha):g} %{' simultaneous' if labels else ''}"
    setting = f"{level} interval {largest.low:.3g} to {largest.high:.3g}; {largest.reports:,} reports"
    setting += f"; epsilon {estimates.plan.epsilon:.4g}"
    return Chart(rows, replace(axes, xscale="category"), finding, setting).figure()
