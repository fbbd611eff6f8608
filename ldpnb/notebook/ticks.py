"""Ticks of axes, their numbers written as in sentences, 10,000 and 0.001, or as powers of ten on the longest axes."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.category import StrCategoryFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, MaxNLocator, ScalarFormatter

from ldpnb.notebook.labels import unset
from ldpnb.notebook.prose import short

PLAIN = (5e-4, 2e6)
"""Ends of the logarithmic axes whose numbers are written out."""


class _Linear(ScalarFormatter):
    """All numbers of an axis with the same decimals."""

    def __init__(self) -> None:
        super().__init__(useOffset=False)
        self.set_scientific(False)

    def __call__(self, x: float, pos: int | None = None) -> str:
        decimals = len(super().__call__(x, pos).partition(".")[2])
        return self.fix_minus(f"{round(x, decimals) + 0.0:,.{decimals}f}")


class _Logarithmic(LogFormatterSciNotation):
    """Whatever ticks matplotlib would name, written out."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return short(x, 6) if super().__call__(x, pos) else ""


def numbers(figure: Figure) -> None:
    """Let the axes of a figure write their numbers as sentences do, and their categories as they are."""
    for direction in (direction for axis in figure.axes for direction in (axis.xaxis, axis.yaxis)):
        low, high = sorted(direction.get_view_interval())
        written: dict[Any, Any] = {ScalarFormatter: _Linear}
        if PLAIN[0] <= low and high <= PLAIN[1]:
            written[LogFormatterSciNotation] = _Logarithmic
        if made := written.get(type(direction.get_major_formatter())):
            direction.set_major_formatter(made())
        if made := written.get(type(direction.get_minor_formatter())):
            direction.set_minor_formatter(made(labelOnlyBase=False))
        if isinstance(named := direction.get_major_formatter(), StrCategoryFormatter):
            direction.set_major_formatter(FuncFormatter(lambda place, _index, named=named: unset(named(place))))


def whole_numbers(axis: Axes, *, x: bool, y: bool) -> None:
    """Let the ticks of linear axes of counts be whole numbers."""
    for direction, counts in ((axis.xaxis, x), (axis.yaxis, y)):
        if counts and direction.get_scale() == "linear":
            direction.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
