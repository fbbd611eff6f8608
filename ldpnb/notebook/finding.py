"""A figure's title and marks from what its curves are worth at one place, whatever the parameters."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pandas as pd

from ldpnb.notebook.charts import Mark
from ldpnb.notebook.prose import short

_FIELD = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")
Place = Literal["first", "middle", "last"] | float | Callable[[pd.DataFrame], Any]


def finding(
    table: pd.DataFrame,
    x: str,
    y: str,
    by: str,
    title: str,
    *,
    at: Place = "middle",
    marks: Mapping[str, str] | None = None,
    side: Literal["above", "below", "left", "right"] | None = None,
    panel: str = "",
) -> dict[str, Any]:
    """Return the `title` and `marks` of `curves`, with the numbers of one place filled in.

    - `table`, DataFrame: the rows of one panel of the figure.
    - `x`, `y`, `by`, str: its columns, as drawn.
    - `title`, str: with fields: ``{x}`` is the place, ``{exact}`` the value of the curve "exact" there,
      ``{exact/bound}`` and ``{exact-bound}`` a ratio and a difference of two. Numbers are `short`, or formatted as in
      ``{exact:.0%}``.
    - `at`, {"first", "middle", "last"}, float or callable: the place: a number is moved to the nearest one drawn, a
      function gets the values by place and curve.
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
        place = at(wide) if callable(at) else min(wide.index, key=lambda drawn: abs(drawn - at))
    values = {"x": float(place)} | {str(name): float(value) for name, value in wide.loc[place].items()}

    def worth(name: str) -> float:
        if name in values:
            return values[name]
        one, operation, other = re.fullmatch(r"(.+)([-/])(.+)", name).groups()  # type: ignore[union-attr]
        return values[one] / values[other] if operation == "/" else values[one] - values[other]

    def filled(text: str) -> str:
        return _FIELD.sub(lambda field: format(worth(field[1]), field[2]) if field[2] else short(worth(field[1])), text)

    highest = max(marks or [""], key=lambda name: values.get(name, 0.0))
    drawn = [
        Mark(values["x"], values[name], filled(text), panel, side=side or ("above" if name == highest else "below"))
        for name, text in (marks or {}).items()
    ]
    return {"title": filled(title), "marks": drawn}
