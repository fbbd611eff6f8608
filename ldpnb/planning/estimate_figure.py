"""The picture of a survey's estimates: one line each, with its interval."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import head
from ldpnb.notebook.figures import legend, look
from ldpnb.notebook.labels import unset
from ldpnb.surveys.estimation import Estimates


def picture(estimates: Estimates) -> Figure:
    """Draw every estimate with its interval, and beside it the shares of the nearest distribution."""
    rows, plan = estimates.rows, estimates.plan
    figure, axis = plt.subplots(figsize=(7.0, 1.5 + 0.3 * len(rows)))
    places, ends = np.arange(len(rows)), ([row.low for row in rows], [row.high for row in rows])
    axis.hlines(places, *ends, color=look("unbiased").colour, lw=2.5)
    series = {"unbiased": [row.estimate for row in rows]}
    if rows[0].norm_sub == rows[0].norm_sub:
        series["Norm-Sub"] = [row.norm_sub for row in rows]
    for name, values in series.items():
        style = look(name)
        axis.plot(values, places, color=style.colour, marker=style.marker, ls="", label=name)
    names = [unset(" ".join(filter(None, [row.group, row.of]))) for row in rows]
    axis.set(yticks=places, yticklabels=names, ylim=(len(rows) - 0.5, -0.5))
    axis.set_xlabel("share" if plan.labels else rows[0].of)
    if len(series) > 1:
        legend(figure, [axis])
    largest = max((row for row in rows if not row.group), key=lambda row: row.estimate)
    finding = f"{f'Largest share, {largest.of}' if plan.labels else largest.of.capitalize()}: {largest.estimate:.3g}"
    level = f"{100 * (1 - estimates.alpha):g} %{' simultaneous' if plan.labels else ''}"
    interval = f"{level} interval {largest.low:.3g} to {largest.high:.3g}"
    head(figure, finding, f"{interval}; {largest.reports:,} reports; epsilon {plan.epsilon:.4g}")
    return figure
