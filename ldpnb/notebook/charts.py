"""A chart is a table and a description of how it is drawn; `ldpnb.notebook.figures` draws it.

`publish` writes the description beside the numbers, so that ``ldpnb export`` can draw the chart
again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from ldpnb.words import short

WIDTH = 7.0
"""Width of the text of a page, in inches."""

NAMES = 60
"""The largest number of names in all panels together, but each panel may have twenty."""

Kind = Literal["line", "points", "bars"]
Side = Literal["above", "below", "left", "right"]
Place = Literal["first", "middle", "last"] | float | Callable[[pd.DataFrame], Any]

_FIELD = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked place: a point, or a line across the panel.

    Parameters
    ----------
    x, y : float, optional
        The place. With `x` alone it is a vertical line, with `y` alone a horizontal one.
    label : str
        The text there, with its number.
    panel : str
        The panel that it belongs to; all if left out.
    printed : bool
        Whether the value is printed in the source rather than computed here. It is drawn in grey.
    side : {"above", "below", "left", "right"}
        The side of the point or of the line at which the label stands if nothing else is there.
    """

    x: float | None = None
    y: float | None = None
    label: str = ""
    panel: str = ""
    printed: bool = False
    side: Side = "above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One of several columns that are drawn on top of each other.

    Parameters
    ----------
    name : str
        The name of the series.
    y : str
        The column.
    mark : {"line", "points", "bars"}
        How it is drawn.
    error : str, optional
        Column of standard errors; two of them are drawn on either side.
    band : (str, str), optional
        Columns between which a band is drawn.
    """

    name: str
    y: str
    mark: Kind = "line"
    error: str | None = None
    band: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A tidy table with a row for each point, and which of its columns are drawn where.

    Parameters
    ----------
    table : DataFrame
        What is drawn.
    x, y : str
        The columns on the axes.
    by : str, optional
        The column that distinguishes the series, which are drawn in the order of the table.
    panel : str or sequence of str, optional
        The columns that distinguish the panels, in the order of the table.
    error : str, optional
        Column of standard errors. Rows that have one are points with bars of two standard errors;
        the others are a line.
    band : (str, str), optional
        Columns between which a series is shaded, or to which the bars of its points reach.
    xlabel, ylabel : str, optional
        The labels of the axes, by default the names of their columns. If `ylabel` is empty, each
        panel has a vertical axis of its own, which the title of the panel names.
    xscale, yscale : str
        Scales of matplotlib. With the `xscale` "category" the names of `x` are written along the
        vertical axis, where there is room for them; if there are too many, the first are drawn.
    series : sequence
        The values of `by` that are drawn; all if left out.
    mark : {"line", "points", "bars"}
        How a series without errors is drawn.
    layers : sequence of Layer
        Columns that are drawn instead of `y`, which is then only the label of their common axis.
    discrete : bool
        Whether the lines only guide the eye from point to point.
    dodge : bool
        Whether points of different series that would hide each other stand side by side.
    marks : sequence of Mark
        Places to point out.
    title : str
        The finding, with its number.
    setting : str
        What was held fixed.
    """

    table: pd.DataFrame
    x: str
    y: str
    _: KW_ONLY
    by: str | None = None
    panel: str | Sequence[str] | None = None
    error: str | None = None
    band: Sequence[str] | None = None
    xlabel: str | None = None
    ylabel: str | None = None
    xscale: str = "linear"
    yscale: str = "linear"
    series: Sequence[Any] = ()
    mark: Kind = "line"
    layers: Sequence[Layer] = ()
    discrete: bool = False
    dodge: bool = False
    marks: Sequence[Mark] = ()
    title: str = ""
    setting: str = ""

    @property
    def labels(self) -> list[str]:
        """The labels of `x` and of `y`."""
        across = self.x if self.xlabel is None else self.xlabel
        up = self.y if self.ylabel is None else self.ylabel
        return [across, up]

    @property
    def flip(self) -> bool:
        """Whether `x` is the vertical axis. Labels and scales stay those of `x` and of `y`."""
        return self.xscale == "category"

    def encoding(self) -> dict[str, Any]:
        """Return how the table is drawn, for JSON.

        Only what differs from the defaults is named. The table, the title and the setting are kept
        elsewhere.
        """
        stated = asdict(replace(self, table=pd.DataFrame()))
        encoding = {}
        for field in fields(self):
            if field.name in ("table", "title", "setting"):
                continue
            if stated[field.name] not in (field.default, []):
                encoding[field.name] = stated[field.name]
        return encoding

    @classmethod
    def read(cls, table: pd.DataFrame, made: Mapping[str, Any]) -> Self:
        """Return the chart that `publish` wrote.

        Parameters
        ----------
        table : DataFrame
            The numbers of ``<name>.csv``.
        made : mapping
            The content of ``<name>.json``.
        """
        encoding: dict[str, Any] = dict(made["encoding"])
        encoding["marks"] = [Mark(**mark) for mark in encoding.get("marks", ())]
        encoding["layers"] = [Layer(**layer) for layer in encoding.get("layers", ())]
        title = made.get("title", "")
        setting = made.get("setting", "")
        return cls(table, **encoding, title=title, setting=setting)

    def rows(self) -> pd.DataFrame:
        """Return what is drawn, with a row for each point.

        Returns
        -------
        DataFrame
            Its columns are the panel, the series and the kind of mark, the place `x`, `y`, and the
            ends `low` and `high` of the bar or band.

        Examples
        --------
        >>> table = pd.DataFrame({"users": [1, 10], "error": [0.5, 0.25], "rule": "MLE"})
        >>> chart = Chart(table.assign(sd=[np.nan, 0.125]), "users", "error", by="rule", error="sd")
        >>> chart.rows().to_numpy().tolist()[1]
        ['', 'MLE', 'points', 10, 0.25, 0.0, 0.5]
        """
        table = self.table
        if self.series:
            table = table[table[self.by].isin(self.series)]

        layers = self.layers or [
            Layer(name="", y=self.y, mark=self.mark, error=self.error, band=self.band)
        ]
        return pd.concat([self._layer(table, layer) for layer in layers], ignore_index=True)

    def readable(self) -> Self:
        """Return the chart with as many of its names as there is room for.

        Its setting says so if these are not all.
        """
        rows = self.rows()
        names = list(rows["x"].unique())
        most = max(NAMES // rows["panel"].nunique(), 20)
        if not self.flip or len(names) <= most:
            return self

        first = self.table[self.table[self.x].isin(names[:most])]
        setting = f"{self.setting}; the first {most} of {len(names):,} names"
        return replace(self, table=first, setting=setting)

    def _layer(self, table: pd.DataFrame, layer: Layer) -> pd.DataFrame:
        y = table[layer.y]
        low = pd.Series(np.nan, table.index)
        high = pd.Series(np.nan, table.index)
        series: Any = layer.name
        if self.by and not self.layers:
            series = [name(label) for label in table[self.by]]
        drawn = pd.DataFrame(
            {"panel": self._panels(table), "series": series, "mark": layer.mark, "x": table[self.x]}
        )

        if layer.error:
            low = y - 2 * table[layer.error]
            high = y + 2 * table[layer.error]
            if not self.layers:
                drawn["mark"] = drawn["mark"].where(low.isna(), "points")
            if self.yscale == "log":
                # The scale has no lower end: a bar that leaves it reaches to the lowest point.
                lowest = y.groupby([drawn["panel"], drawn["series"]]).transform("min")
                low = low.mask(low <= 0, lowest)

        if layer.band:
            bottom, top = layer.band
            low = low.fillna(table[bottom])
            high = high.fillna(table[top])
        return drawn.assign(y=y, low=low, high=high)

    def _panels(self, table: pd.DataFrame) -> list[str]:
        """Return the panel of each row.

        It is named by the words of the columns, and by their numbers where these differ: "ε = 1".
        """
        columns = [self.panel] if isinstance(self.panel, str) else self.panel or ()
        parts = []
        for column in columns:
            has_words = table[column].dtype.kind == "O"
            if has_words or len(set(table[column])) > 1:
                symbol = _symbol(column)
                parts.append([_panel(symbol, value) for value in table[column]])
        if not parts:
            return [""] * len(table)
        return [", ".join(words) for words in zip(*parts, strict=True)]


def _symbol(column: str) -> str:
    """Return the name of a column without its unit, for the name of a panel."""
    without_unit = re.sub(r" \(.*\)", "", column)
    return without_unit.replace("_", " ").replace("epsilon", "ε")


def _panel(symbol: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{symbol} = {name(value)}"


def finding(
    table: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    title: str,
    *,
    at: Place = "middle",
    marks: Mapping[str, str] | None = None,
    side: Side | None = None,
    panel: str = "",
) -> dict[str, Any]:
    """Return the title and the marks of a chart, with the values of its curves at one place.

    Parameters
    ----------
    table : DataFrame
        The rows of one panel of the chart.
    x, y, by : str
        Its columns, as they are drawn.
    title : str
        The title, with fields: ``{x}`` is the place, and ``{exact}`` the value of the curve "exact"
        there. ``{exact/bound}`` and ``{exact-bound}`` are the ratio and the difference of two
        curves. Numbers are written by `short`, or in a format, as in ``{exact:.0%}``. In a format
        such as ``{exact:.3g}`` numbers from 1,000 to ten million are written out: 67,400.
    at : {"first", "middle", "last"}, float or callable
        The place. A number must be a place that is drawn, so that no title is about another place
        than the one that it names. A function gets the values by place and curve, and returns a
        place.
    marks : mapping of str to str, optional
        The curves to mark at the place, with the texts beside the marks, which may have fields.
    side : {"above", "below", "left", "right"}, optional
        Where these texts stand if nothing else is there; by default above the highest mark, and
        below the others.
    panel : str
        The panel that the marks belong to.

    Returns
    -------
    dict
        The arguments `title` and `marks` of `curves`.

    Raises
    ------
    ValueError
        If `at` is a number that is not drawn.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1, 2], "a": [3.0, 5.0], "b": [6.0, 8.0]})
    >>> long = table.melt("size", var_name="law", value_name="loss")
    >>> finding(long, "size", "loss", "law", "At {x} a loses {a/b:.0%} of b", at="first")
    {'title': 'At 1 a loses 50% of b', 'marks': []}
    """
    wide = table.pivot_table(index=x, columns=by, values=y, sort=False)
    if isinstance(at, str):
        positions = {"first": 0, "middle": len(wide) // 2, "last": -1}
        place = wide.index[positions[at]]
    elif callable(at):
        place = at(wide)
    else:
        place = _drawn(wide.index, at, x)

    values = {"x": float(place)}
    for curve, value in wide.loc[place].items():
        values[str(curve)] = float(value)

    highest = max(marks or [""], key=lambda curve: values.get(curve, 0.0))
    drawn = []
    for curve, text in (marks or {}).items():
        default: Side = "above" if curve == highest else "below"
        label = _with_values(text, values)
        drawn.append(Mark(values["x"], values[curve], label, panel, side=side or default))
    return {"title": _with_values(title, values), "marks": drawn}


def _with_values(text: str, values: Mapping[str, float]) -> str:
    """Return a text with numbers in place of its fields."""

    def written(field: re.Match[str]) -> str:
        what, form = field.groups()
        return _written(_worth(what, values), form)

    return _FIELD.sub(written, text)


def _written(number: float, form: str | None) -> str:
    """Return a number in a format, without an exponent where a sentence has none."""
    if not form:
        return short(number)
    if form.endswith("g") and 1000 <= abs(number) < 1e7:
        return f"{float(format(number, form)):,.0f}"
    return format(number, form)


def _worth(what: str, values: Mapping[str, float]) -> float:
    """Return the value of a curve, or the ratio or the difference of two."""
    if what in values:
        return values[what]

    parts = re.fullmatch(r"(.+)([-/])(.+)", what)
    if parts is None:
        raise KeyError(what)
    one, operation, other = parts.groups()
    if operation == "/":
        return values[one] / values[other]
    return values[one] - values[other]


def _drawn(places: pd.Index, at: float, x: str) -> float:
    """Return the place at a number among those drawn, which may differ in the last digits."""
    nearest = min(places, key=lambda place: abs(place - at))
    if not np.isclose(nearest, at, rtol=1e-9, atol=0.0):
        raise ValueError(
            f"at must be a place that is drawn, got at={at!r}; the nearest {x} is {nearest!r}: "
            "add the place to the table"
        )
    return float(nearest)


def name(value: Any) -> str:
    """Return how a chart names a value: ``3.0`` is ``3``."""
    return f"{value:.10g}" if isinstance(value, int | float | np.number) else str(value)


def panels_in_a_row(panels: int) -> int:
    """Return how many panels are in a row: three if that fills the rows, and otherwise two."""
    return 3 if panels % 3 == 0 else 2
