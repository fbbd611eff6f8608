"""A channel saved as a matrix of numbers."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ldpnb.data.formats import opened
from ldpnb.privacy.channel import as_channel


def load_channel(path: str | Path) -> NDArray[np.float64]:
    """Return a channel ``(outputs, inputs)`` from a ``.csv`` file of numbers without column names.

    A file that cannot be read, or whose columns do not sum to 1, is a ValueError.
    """
    with opened(path, "channel_path") as file:
        return as_channel(np.loadtxt(file, delimiter=",", ndmin=2, encoding="utf-8-sig"))
