"""The picture of a survey's estimates: one line each, with its interval."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.encoding import Encoding
from ldpnb.notebook.figures import Chart
from ldpnb.surveys.estimates import Estimates


def picture(estimates: Estimates) -> Figure:
    """Draw every estimate with its interval, and the shares of the nearest and the likeliest distribution."""
    labels = estimates.plan.labels
    rows = pd.DataFrame(
        {
            "name": " ".join(filter(None, [row.group, row.of])),
            "by": series,
            "estimate": value,
            "low": row.low if series == "unbiased" else None,
            "high": row.high if series == "unbiased" else None,
        }
        for row in estimates.rows
        for series, value in {"unbiased": row.estimate, "Norm-Sub": row.norm_sub, "MLE": row.mle}.items()
        if value == value
    )
    words: Any = {"xlabel": "", "ylabel": "share" if labels else estimates.rows[0].of}
    axes = Encoding("name", "estimate", by="by", band=("low", "high"), **words, xscale="category", mark="points")
    largest = max((row for row in estimates.rows if not row.group), key=lambda row: row.estimate)
    finding = f"{f'Largest share, {largest.of}' if labels else largest.of.capitalize()}: {largest.estimate:.3g}"
    level = f"{100 * (1 - estimates.alpha):g} %{' simultaneous' if labels else ''}"
    setting = f"{level} interval {largest.low:.3g} to {largest.high:.3g}; {largest.reports:,} reports"
    setting += f"; epsilon {estimates.plan.reports.epsilon:.4g}"
    return Chart(rows, axes, finding, setting).figure()
