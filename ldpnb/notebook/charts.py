"""A chart: a table and how it is drawn (`notebook.figures`).

`publish` writes the description next to the numbers, from which ``ldpnb export`` draws the chart again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from ldpnb.words import short

WIDTH = 7.0
"""Inches: that of a page's text."""
NAMES = 60
"""Most names of all panels, unless each has twenty."""
Kind = Literal["line", "points", "bars"]
Side = Literal["above", "below", "left", "right"]
Place = Literal["first", "middle", "last"] | float | Callable[[pd.DataFrame], Any]
_FIELD = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked place: a point, or a line across the panel, vertical if only `x` is given, horizontal if only `y` is.

    `label` is the text there, with its number, on that `side` of a point, or at that end of a line; `panel` is the one
    it belongs to, all if left out. A value `printed` in the source, rather than computed here, is drawn in grey.
    """

    x: float | None = None
    y: float | None = None
    label: str = ""
    panel: str = ""
    printed: bool = False
    side: Side = "above"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One of several columns drawn on top of each other, perhaps with twice its error on either side or a band."""

    name: str
    y: str
    mark: Kind = "line"
    error: str | None = None
    band: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A tidy table, a row per point, and which of its columns are drawn where.

    - `table`, pandas.DataFrame: what is drawn.
    - `x`, `y`, str: columns on the axes.
    - `by`, `panel`, str, optional: columns that distinguish series and panels, in order of first appearance; several
      for panels are allowed.
    - `error`, str, optional: column of standard errors; rows with one are points with bars of two, the others a line.
    - `band`, (str, str), optional: columns between which a series is shaded, or to which the bars of its points reach.
    - `xlabel`, `ylabel`, `xscale`, `yscale`, str: without a `ylabel`, each panel has its own vertical axis, which its
      title names. The scale of `x` may be a ``category``: then it is the vertical axis, which has room for names, of
      which the first are drawn.
    - `series`, sequence: values of `by` that are drawn, if not all.
    - `mark`, Kind: kind of a series without errors.
    - `layers`, sequence of Layer: columns drawn instead of `y`, which is then only the label of their common axis.
    - `discrete`, bool: whether lines only guide the eye.
    - `dodge`, bool: whether points of different series that would hide each other stand side by side.
    - `marks`, sequence of Mark: places to point out.
    - `title`, `setting`, str: the finding, with its number, and what was held fixed.
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
        """The labels of the axes, which by default are their columns."""
        return [
            self.x if self.xlabel is None else self.xlabel,
            self.y if self.ylabel is None else self.ylabel,
        ]

    @property
    def flip(self) -> bool:
        """Whether `x` is the vertical axis; labels and scales stay those of `x` and `y`."""
        return self.xscale == "category"

    def encoding(self) -> dict[str, Any]:
        """Return how the table is drawn, but for title and setting, where that differs from the defaults, for JSON."""
        stated = asdict(replace(self, table=pd.DataFrame()))
        return {
            own.name: stated[own.name]
            for own in fields(self)[1:-2]
            if stated[own.name] not in (own.default, [])
        }

    @classmethod
    def read(cls, table: pd.DataFrame, made: Mapping[str, Any]) -> Self:
        """Return the chart of a table whose provenance, as `publish` writes it, says how it is drawn."""
        parts: dict[str, Any] = {"marks": (), "layers": ()} | made["encoding"]
        parts |= {
            "marks": [Mark(**own) for own in parts["marks"]],
            "layers": [Layer(**own) for own in parts["layers"]],
        }
        return cls(table, **parts, title=made.get("title", ""), setting=made.get("setting", ""))

    def rows(self) -> pd.DataFrame:
        """Return what is drawn, a row a point: its panel, series and kind of mark, its place, and the ends of its bar.

        >>> table = pd.DataFrame({"users": [1, 10], "error": [0.5, 0.25], "sd": [np.nan, 0.125], "rule": "MLE"})
        >>> Chart(table, "users", "error", by="rule", error="sd").rows().to_numpy().tolist()[1]
        ['', 'MLE', 'points', 10, 0.25, 0.0, 0.5]
        """
        table = self.table[self.table[self.by].isin(self.series)] if self.series else self.table
        own = Layer(name="", y=self.y, mark=self.mark, error=self.error, band=self.band)
        return pd.concat(
            [self._layer(table, layer) for layer in self.layers or [own]], ignore_index=True
        )

    def readable(self) -> Self:
        """Return the chart with as many of its names as there is room for; its setting says when these are not all."""
        rows = self.rows()
        names, most = list(rows["x"].unique()), max(NAMES // rows["panel"].nunique(), 20)
        if not self.flip or len(names) <= most:
            return self
        setting = f"{self.setting}; the first {most} of {len(names):,} names"
        return replace(
            self, table=self.table[self.table[self.x].isin(names[:most])], setting=setting
        )

    def _layer(self, table: pd.DataFrame, layer: Layer) -> pd.DataFrame:
        y, low, high = table[layer.y], *[pd.Series(np.nan, table.index)] * 2
        series = (
            [name(label) for label in table[self.by]] if self.by and not self.layers else layer.name
        )
        drawn = pd.DataFrame(
            {"panel": self._panels(table), "series": series, "mark": layer.mark, "x": table[self.x]}
        )
        if layer.error:
            low, high = y - 2 * table[layer.error], y + 2 * table[layer.error]
            if not self.layers:
                drawn["mark"] = drawn["mark"].where(low.isna(), "points")
            if self.yscale == "log":  # which has no lower end
                low = low.mask(
                    low <= 0, y.groupby([drawn["panel"], drawn["series"]]).transform("min")
                )
        if layer.band:
            low, high = (
                own.fillna(table[end]) for own, end in zip((low, high), layer.band, strict=True)
            )
        return drawn.assign(y=y, low=low, high=high)

    def _panels(self, table: pd.DataFrame) -> list[str]:
        """Return the panel of each row: its words, and its numbers with their column where these differ."""
        columns = [self.panel] if isinstance(self.panel, str) else self.panel or ()
        titles = {
            c: re.sub(r" \(.*\)", "", c).replace("_", " ").replace("epsilon", "ε") for c in columns
        }
        words = [
            [v if isinstance(v, str) else f"{title} = {name(v)}" for v in table[column]]
            for column, title in titles.items()
            if table[column].dtype.kind == "O" or len(set(table[column])) > 1
        ]
        return [", ".join(parts) for parts in zip(*words, strict=True)] or [""] * len(table)


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
    """Return the `title` and `marks` of `curves`, with what its curves are worth at one place filled in.

    - `table`, DataFrame: the rows of one panel of the figure.
    - `x`, `y`, `by`, str: its columns, as drawn.
    - `title`, str: with fields: ``{x}`` is the place, ``{exact}`` the value of the curve "exact" there,
      ``{exact/bound}`` and ``{exact-bound}`` a ratio and a difference of two. Numbers are `short`, or formatted as in
      ``{exact:.0%}``.
    - `at`, {"first", "middle", "last"}, float or callable: the place: a number must be one that is drawn, so
      that no title speaks of a neighbouring place; a function gets the values by place and curve.
    - `marks`, mapping, optional: the curves to mark there, with the texts beside the marks, which may have fields.
    - `side`, `panel`, as of a `Mark`; by default the text of the highest mark is above it and the others are below.

    >>> table = pd.DataFrame({"size": [1, 2, 1, 2], "loss": [3.0, 5.0, 6.0, 8.0], "law": ["a", "a", "b", "b"]})
    >>> finding(table, "size", "loss", "law", "At {x} a loses {a/b:.0%} of b", at="first")
    {'title': 'At 1 a loses 50% of b', 'marks': []}
    """
    wide = table.pivot_table(index=x, columns=by, values=y, sort=False)
    if isinstance(at, str):
        place = wide.index[{"first": 0, "middle": len(wide) // 2, "last": -1}[at]]
    else:
        place = at(wide) if callable(at) else _drawn(wide.index, at, x)
    values = {"x": float(place)} | {
        str(name): float(value) for name, value in wide.loc[place].items()
    }

    def worth(name: str) -> float:
        if name in values:
            return values[name]
        one, operation, other = re.fullmatch(r"(.+)([-/])(.+)", name).groups()  # type: ignore[union-attr]
        return values[one] / values[other] if operation == "/" else values[one] - values[other]

    def filled(text: str) -> str:
        return _FIELD.sub(
            lambda field: format(worth(field[1]), field[2]) if field[2] else short(worth(field[1])),
            text,
        )

    highest = max(marks or [""], key=lambda name: values.get(name, 0.0))
    drawn = [
        Mark(
            values["x"],
            values[name],
            filled(text),
            panel,
            side=side or ("above" if name == highest else "below"),
        )
        for name, text in (marks or {}).items()
    ]
    return {"title": filled(title), "marks": drawn}


def _drawn(places: pd.Index, at: float, x: str) -> float:
    """Return the place that is drawn at a number, which may differ in its last digits."""
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
    """Return how many panels stand in a row: three where that fills the rows, and else two."""
    return 3 if panels % 3 == 0 else 2
