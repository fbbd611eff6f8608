"""Draw any column of a collected sweep against any other."""

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ldpnb import writing
from ldpnb.checks import UsageError, nearest, shortened, shown
from ldpnb.notebook import figures
from ldpnb.notebook.parameters import Parameter
from ldpnb.sweeps.folder import collect, read_manifest
from ldpnb.sweeps.registry import find

FORMATS = (".png", ".pdf", ".svg")
_ERROR = "_standard_error"
_MOST_PANELS = 12


def draw(
    folder: Path,
    x: str,
    y: str,
    *,
    by: str | None = None,
    where: Mapping[str, str] | None = None,
    log: str = "",
) -> Figure:
    """Draw one column of a sweep's table against another, with a series per value of a third.

    Points have bars of two standard errors if the table has them. Each combination of other varying columns gets a
    panel.

    Parameters
    ----------
    folder : Path
        Of the sweep, finished or not.
    x, y : str
        Columns.
    by : str, optional
        Column that distinguishes the series.
    where : mapping of str to str, optional
        Keep only the rows with these values.
    log : str
        ``"x"``, ``"y"`` or ``"x,y"``: axes with a logarithmic scale.

    Raises
    ------
    UsageError
        If a column does not exist (the nearest is named), no row is left, or too many panels would be needed.
    """
    table = collect(folder)
    measures = [name for name in table.columns if name + _ERROR in table.columns]
    for name in (x, y, *([] if by is None else [by]), *(where or {})):
        if name not in table.columns:
            near = nearest(name, tuple(table.columns))
            raise UsageError(f"no column {shown(name)}{near}; there are {', '.join(table.columns)}")
    if log and not set(log.split(",")) <= {"x", "y"}:
        raise UsageError(f"log must be x, y or x,y, got log={shortened(log)}")
    for name, text in (where or {}).items():
        table = table[table[name] == _converted(name, text, table[name])]
    if not len(table):
        raise UsageError(f"no rows with {', '.join(f'{n}={t}' for n, t in (where or {}).items())}")
    known = {x, y, by, "repetitions", *measures, *(m + _ERROR for m in measures)}
    rest = [name for name in table.columns if name not in known and len(table[name].unique()) > 1]
    panel = _panels(table, rest)
    scales = ["log" if axis in log.split(",") else "linear" for axis in "xy"]
    return figures.curves(
        table.assign(panel=panel) if rest else table,
        x,
        y,
        by=by,
        panel="panel" if rest else None,
        error=y + _ERROR if y in measures else None,
        xlabel=_label(folder, x),
        ylabel=_label(folder, y),
        xscale=scales[0],
        yscale=scales[1],
    )


def save(figure: Figure, path: Path) -> None:
    """Write a figure atomically, in the format of the file's suffix.

    Raises
    ------
    UsageError
        If the suffix is none of `FORMATS`.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"output must end in {', '.join(FORMATS)}, got output={shown(str(path))}")
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.removeprefix("."))
    try:
        writing.write({path: content.getvalue()})
    except OSError as error:
        raise UsageError(f"output cannot be written: {shown(str(path))} ({error.strerror})") from None


def _panels(table: pd.DataFrame, rest: list[str]) -> pd.Series:
    names = table[rest].astype(str).apply(lambda row: ", ".join(f"{k} = {v}" for k, v in row.items()), axis=1)
    if len(names.unique()) > _MOST_PANELS:
        raise UsageError(f"{' and '.join(rest)} vary too; pick with --where NAME=VALUE or --by NAME")
    return names


def _converted(name: str, text: str, column: pd.Series) -> Any:
    kind = {"i": "int", "f": "float", "b": "bool"}.get(column.dtype.kind, "str")
    return Parameter(name, kind, None, "").convert(text)


def _label(folder: Path, name: str) -> str:
    """Return a column's name, with its unit if it is a parameter with one."""
    with contextlib.suppress(UsageError):  # the user's own experiment may be gone
        if "nats" in find(read_manifest(folder)["experiment"]).parameter(name).meaning:
            return f"{name} (nats)"
    return name.replace("_", " ")
