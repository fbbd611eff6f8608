"""The controls of a live section."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.ticker import MaxNLocator

from ldpnb.words import short

STEPS = 40
"""The number of steps that a slider has at least, unless there are fewer numbers to stop at.

These are whole numbers if it starts at one, and numbers of two digits if it is logarithmic.
"""

_ROUND = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
"""Steps between round numbers, as multiples of a power of ten."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A number between two limits.

    Parameters
    ----------
    start : float
        The number that it starts at. If this is an int, the slider has whole numbers only.
    low, high : float
        The limits.
    unit : str
        The unit, for its label.
    log : bool
        Whether its steps are even in the logarithm.
    """

    start: float
    low: float
    high: float
    unit: str = ""
    log: bool = False

    @property
    def values(self) -> list[Any]:
        """The numbers at which the slider stops.

        These are the limits, the start, and round numbers between the limits. On a logarithmic
        slider they are the same in every decade.

        Examples
        --------
        >>> Slider(3, 0, 9).values
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        >>> Slider(0.5, 0.0, 1.0).values[:3]
        [0.0, 0.02, 0.04]
        >>> Slider(1.0, 0.1, 10.0, log=True).values[-3:]
        [7.9, 8.9, 10.0]
        """
        is_whole = isinstance(self.start, int)
        spaced = self._decades() if self.log else self._linear(is_whole)
        inner = [round(number) if is_whole else float(f"{number:.10g}") for number in spaced]

        stops = {self.low, self.start, self.high, *inner}
        return sorted(stop for stop in stops if self.low <= stop <= self.high)

    def _linear(self, is_whole: bool) -> Sequence[float]:
        locator = MaxNLocator(round(1.4 * STEPS), steps=_ROUND, integer=is_whole)
        return locator.tick_values(self.low, self.high)

    def _decades(self) -> Sequence[float]:
        """Return numbers of two digits, a multiple of ten of them in every decade."""
        low = math.log10(self.low)
        high = math.log10(self.high)
        in_a_decade = 10 * math.ceil(STEPS / 10 / (high - low))
        powers = range(math.ceil(in_a_decade * low), math.floor(in_a_decade * high) + 1)
        return [float(f"{10 ** (power / in_a_decade):.2g}") for power in powers]


@dataclass(frozen=True, slots=True)
class Choice:
    """One out of a few values."""

    start: Any
    values: Sequence[Any]
    unit: str = ""


def described(name: str, control: Slider | Choice) -> dict[str, Any]:
    """Return what a reader sees of a control.

    That is its label with its unit, its values as text, and the place among these at which it
    starts.
    """
    unit = f" ({control.unit})" if control.unit else ""
    return {
        "name": name,
        "label": name.replace("_", " ") + unit,
        "choice": isinstance(control, Choice),
        "start": control.values.index(control.start),
        "values": [
            value if isinstance(value, str) else short(value, 4) for value in control.values
        ],
    }
