"""The picture of a survey's estimates: one line each, with its interval."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from ldpnb.notebook.annotations import head
from ldpnb.notebook.figures import legend, look
from ldpnb.notebook.labels import unset
from ldpnb.surveys.estimates import Estimates


def picture(found: Estimates) -> Figure:
    """Draw every estimate with its interval, and beside it the shares of the nearest and the likeliest distribution."""
    rows, plan = found.rows, found.plan
    figure, axis = plt.subplots(figsize=(7.0, 1.5 + 0.3 * len(rows)))
    for place, row in enumerate(rows):
        axis.plot([row.low, row.high], [place, place], color=look("unbiased").colour, lw=2.5, solid_capstyle="butt")
    series = (("unbiased", "estimate", 0.0), ("Norm-Sub", "norm_sub", -0.25), ("MLE", "mle", 0.25))
    for name, field, aside in series:
        points = [(getattr(row, field), place + aside) for place, row in enumerate(rows)]
        points = [(value, place) for value, place in points if value == value]
        if points:
            style, label = look(name), name if plan.labels else None
            axis.plot(*zip(*points, strict=True), color=style.colour, marker=style.marker, ls="", label=label)
    names = [" ".join(filter(None, [row.group, row.of])) for row in rows]
    axis.set(yticks=range(len(rows)), yticklabels=[unset(name) for name in names], ylim=(len(rows) - 0.5, -0.5))
    axis.set_xlabel("share" if plan.labels or rows[0].of == "share" else "mean")
    if plan.labels:
        legend(figure, [axis])
    whole = [row for row in rows if not row.group]
    largest = max(whole, key=lambda row: row.estimate)
    of = f"Largest share, {largest.of}" if plan.labels else largest.of.capitalize()
    finding = f"{of}: {largest.estimate:.3g}, from {largest.low:.3g} to {largest.high:.3g}"
    setting = (
        f"{100 * (1 - found.alpha):g} % intervals{', simultaneous' if plan.labels else ''}; {largest.reports:,} reports"
    )
    head(figure, finding, f"{setting}; epsilon {plan.reports.epsilon:.4g}")
    return figure
