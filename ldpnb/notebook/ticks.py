"""Ticks of axes, their numbers written as in sentences, 10,000 and 0.001, or as powers of ten on the longest axes."""

from matplotlib.axes import Axes
from matplotlib.category import StrCategoryFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, MaxNLocator, ScalarFormatter

from ldpnb.notebook.labels import unset
from ldpnb.notebook.prose import short

PLAIN = (5e-4, 2e6)
"""Ends of the logarithmic axes whose numbers are written out."""


class _Logarithmic(LogFormatterSciNotation):
    """Whatever ticks matplotlib would name, written out."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return short(x, 6) if super().__call__(x, pos) else ""


def numbers(figure: Figure) -> None:
    """Let the axes of a figure write their numbers as sentences do, and their categories as they are."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        named = axis.get_major_formatter()
        if isinstance(named, StrCategoryFormatter):
            axis.set_major_formatter(FuncFormatter(lambda place, _, named=named: unset(named(place))))
        elif isinstance(named, LogFormatterSciNotation) and PLAIN[0] <= low and high <= PLAIN[1]:
            axis.set_major_formatter(_Logarithmic())
            axis.set_minor_formatter(_Logarithmic(labelOnlyBase=False))
        elif isinstance(named, ScalarFormatter):
            axis.set_major_formatter(FuncFormatter(lambda x, _: short(round(x, 9), 6).replace("-", "\N{MINUS SIGN}")))


def whole_numbers(axes: Axes, *, x: bool, y: bool) -> None:
    """Let the ticks of linear axes of counts be whole numbers."""
    for axis, counts in ((axes.xaxis, x), (axes.yaxis, y)):
        if counts and axis.get_scale() == "linear":
            axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
