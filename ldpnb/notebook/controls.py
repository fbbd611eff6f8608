"""The controls of a live section."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.ticker import MaxNLocator

from ldpnb.words import short

STEPS = 40
"""Fewest steps of a slider, unless it has fewer whole numbers."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A number between two limits, whole if its start is, with its unit; `log` if it is even in the logarithm."""

    start: float
    low: float
    high: float
    unit: str = ""
    log: bool = False

    @property
    def values(self) -> list[Any]:
        """Return all stops: the ends, the start, and round numbers between them, the same in every decade of a `log`.

        >>> Slider(3, 0, 9).values, Slider(0.5, 0.0, 1.0).values[:3], Slider(1.0, 0.1, 10.0, log=True).values[-3:]
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0.0, 0.02, 0.04], [7.9, 8.9, 10.0])
        """
        whole = isinstance(self.start, int)
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            decade = 10 * math.ceil(STEPS / 10 / (high - low))
            powers = range(math.ceil(decade * low), math.floor(decade * high) + 1)
            spaced: Sequence[float] = [float(f"{10 ** (k / decade):.2g}") for k in powers]
        else:
            steps = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
            spaced = MaxNLocator(round(1.4 * STEPS), steps=steps, integer=whole).tick_values(
                self.low, self.high
            )
        inner = {round(v) if whole else float(f"{v:.10g}") for v in spaced}
        return sorted(
            v for v in {self.low, self.start, self.high, *inner} if self.low <= v <= self.high
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """One out of a few values."""

    start: Any
    values: Sequence[Any]
    unit: str = ""


def described(name: str, control: Slider | Choice) -> dict[str, Any]:
    """Return what a reader sees of a control: its label with its unit, its values as text, and where it starts."""
    return {
        "name": name,
        "label": name.replace("_", " ") + (f" ({control.unit})" if control.unit else ""),
        "choice": isinstance(control, Choice),
        "start": control.values.index(control.start),
        "values": [v if isinstance(v, str) else short(v, 4) for v in control.values],
    }
