"""The controls of a live section, and the values that they offer to a reader of a notebook and of its page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

STEPS = 40
"""Fewest steps of a slider, unless it has fewer whole numbers."""
_ROUND = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)


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
        """Return all stops."""
        return stops(self.start, self.low, self.high, log=self.log)


@dataclass(frozen=True, slots=True)
class Choice:
    """One out of a few values."""

    start: Any
    values: Sequence[Any]
    unit: str = ""


def label(name: str, control: Slider | Choice) -> str:
    """Return the label of a control: its name in words, with its unit."""
    return name.replace("_", " ") + (f" ({control.unit})" if control.unit else "")


def stops(start: float, low: float, high: float, *, steps: int = STEPS, log: bool = False) -> list[float]:
    """Return the stops of a slider: its ends, its start, and as round numbers as at least so many steps allow.

    Whole numbers if the start is one; no more than there are.

    >>> stops(0.5, 0.0, 1.0, steps=4), stops(3, 0, 9)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    spaced = _preferred(low, high, steps) if log else _even(low, high, steps)
    inner = sorted({round(v) if isinstance(start, int) else float(f"{v:.10g}") for v in spaced if low < v < high})
    if start not in (low, high, *inner) and inner:
        inner.remove(min(inner, key=lambda v: abs(math.log(v / start) if log else v - start)))
    return sorted(v for v in {*inner, low, start, high} if low <= v <= high)


def _preferred(low: float, high: float, steps: int) -> list[float]:
    """Return preferred numbers between two limits: 10, 20, 40 or 80 to a decade, of two digits.

    >>> _preferred(0.2, 2.0, 9)
    [0.25, 0.32, 0.4, 0.5, 0.63, 0.79, 1.0, 1.3, 1.6, 2.0]
    """
    for n in (10, 20, 40, 80):
        powers = range(math.ceil(n * math.log10(low)), math.floor(n * math.log10(high)) + 1)
        numbers = sorted({float(f"{10 ** (k / n):.2g}") for k in powers})
        if len({low, high, *numbers}) >= steps:
            break
    return numbers


def _even(low: float, high: float, steps: int) -> list[float]:
    """Return the multiples of a round number between two limits, at least so many.

    >>> _even(0.5, 2.5, 4)
    [0.5, 1.0, 1.5, 2.0, 2.5]
    """
    most = (high - low) / steps * (1 + 1e-9)
    ten = 10.0 ** math.floor(math.log10(most))
    step = max(factor * ten for factor in _ROUND if factor * ten <= most)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
