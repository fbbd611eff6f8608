"""Drawings for bun2022: an allocation over strata, before and after a change."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ldpnb.notebook.figures import look


def allocation_change(table: pd.DataFrame, *, title: str) -> Figure:
    """Draw, per stratum, the allocation before and after (left) and by how much it changes (right).

    Columns are ``stratum, before, after, change``; the title says what population it is, and that it is simulated.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.0, 3.4), sharey=True)
    place = np.arange(len(table))
    earlier, later, growing = look("simple random sampling").colour, look("Neyman").colour, look("proportional").colour
    left.barh(place + 0.2, table["before"], height=0.4, color=earlier, label="before")
    left.barh(place - 0.2, table["after"], height=0.4, color=later, label="after")
    left.set(xlabel="establishments drawn", ylabel="stratum (employees)", yticks=place, yticklabels=table["stratum"])
    left.legend(loc="lower right")
    right.axvline(0, color="#444444", linewidth=0.8)
    right.barh(place, table["change"], height=0.6, color=np.where(table["change"] > 0, growing, later))
    right.set(xlabel="change (establishments, real-valued)")
    figure.suptitle(title, fontsize=10)
    return figure
