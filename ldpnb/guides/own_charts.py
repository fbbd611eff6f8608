"""Pictures of a column of the user's own."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.figures import look


def estimated_shares(table: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draw the true shares of a column's values and one estimate of them, a panel per mechanism.

    Parameters
    ----------
    table : DataFrame
        Columns ``mechanism, value, truth, unbiased, standard_deviation``, as `ldpnb.guides.own_data.shares` returns.
    xlabel : str
    """
    names = list(dict.fromkeys(table["mechanism"]))
    wide = min(len(names), 3)
    tall = -(-len(names) // wide)
    figure, axes = plt.subplots(
        tall, wide, figsize=(2.5 * max(wide, 2), 0.8 + 2.2 * tall), sharex=True, sharey=True, squeeze=False
    )
    for axis, name in zip(axes.flat, names, strict=False):
        rows, style = table[table["mechanism"] == name], look(name)
        low, high = (rows["truth"] + c * rows["standard_deviation"] for c in (-2, 2))
        axis.fill_between(rows["value"], low, high, color=style.colour, alpha=0.2, linewidth=0, label="truth ± 2 sd")
        axis.plot(rows["value"], rows["truth"], color=look("truth").colour, label="truth")
        axis.plot(rows["value"], rows["unbiased"], color=style.colour, marker=".", linestyle="none", label="estimate")
        axis.set(title=name)
    for place, axis in enumerate(axes.flat):
        if place >= len(names):
            axis.set_axis_off()
        elif place + wide >= len(names):
            axis.tick_params(labelbottom=True)
            axis.set_xlabel(xlabel)
    for axis in axes[:, 0]:
        axis.set_ylabel("share of users")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
