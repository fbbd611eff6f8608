"""The numbers that Juarez and Korolova print, or published with their paper.

The checks and notebooks use them.
"""

from functools import cache

import pandas as pd

from ldpnb import writing


@cache
def _printed() -> dict[tuple[str, str], str]:
    rows = writing.rows("papers/juarez2022/printed.csv")
    return {(row["place"], row["key"]): row["value"] for row in rows}


def text(place: str, key: str) -> str:
    """Return a printed number as it is printed."""
    return _printed()[place, key]


def value(place: str, key: str) -> float:
    """Return a printed number. The dash of Table 1 is infinity.

    >>> value("Table 1", "M_R K=1e5 alpha=0.1"), value("Table 1", "M_R K=1e5 alpha=0.01")
    (1.86, inf)
    """
    shown = text(place, key)
    return float("inf") if shown == "-" else float(shown)


def table_1() -> pd.DataFrame:
    """Return Table 1: columns ``mechanism, clients, alpha, printed, decimals``.

    A dash is infinite.
    """
    rows = []
    for place, key in _printed():
        if place != "Table 1" or "alpha=" not in key:
            continue
        mechanism, clients, alpha = key.split()
        rows.append(
            {
                "mechanism": mechanism,
                "clients": int(float(clients.removeprefix("K="))),
                "alpha": float(alpha.removeprefix("alpha=")),
                "printed": value("Table 1", key),
                "decimals": len(text("Table 1", key).partition(".")[2]),
            }
        )
    return pd.DataFrame(rows)


def table_2() -> pd.DataFrame:
    """Return Table 2: columns ``mechanism, epsilon, error, sd, alpha``, on the scale of rates."""
    budgets = []
    for place, key in _printed():
        budget = key.partition("eps=")[2]
        if place == "Table 2" and budget and budget not in budgets:
            budgets.append(budget)

    rows = []
    for mechanism in ("M_R", "M_L"):
        for budget in budgets:
            row = {"mechanism": mechanism, "epsilon": float(budget)}
            for column in ("error", "sd", "alpha"):
                row[column] = value("Table 2", f"{mechanism} {column} eps={budget}")
            rows.append(row)
    return pd.DataFrame(rows)
