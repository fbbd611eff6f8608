"""The numbers printed in juarez2022, or published with it, that the checks and notebooks use."""

from functools import cache

import pandas as pd

from ldpnb import writing


@cache
def _printed() -> dict[tuple[str, str], str]:
    return {
        (row["place"], row["key"]): row["value"]
        for row in writing.rows("papers/juarez2022/printed.csv")
    }


def text(place: str, key: str) -> str:
    """Return a printed number as it is printed."""
    return _printed()[place, key]


def value(place: str, key: str) -> float:
    """Return a printed number; infinity for the dash of Table 1.

    >>> value("Table 1", "M_R K=1e5 alpha=0.1"), value("Table 1", "M_R K=1e5 alpha=0.01")
    (1.86, inf)
    """
    shown = text(place, key)
    return float("inf") if shown == "-" else float(shown)


def table_1() -> pd.DataFrame:
    """Return Table 1: columns ``mechanism, clients, alpha, printed, decimals``; a dash is infinite."""
    cells = [
        (key, *key.split()) for place, key in _printed() if place == "Table 1" and "alpha=" in key
    ]
    return pd.DataFrame(
        {"mechanism": mechanism, "clients": int(float(clients.removeprefix("K=")))}
        | {"alpha": float(alpha.removeprefix("alpha=")), "printed": value("Table 1", key)}
        | {"decimals": len(text("Table 1", key).partition(".")[2])}
        for key, mechanism, clients, alpha in cells
    )


def table_2() -> pd.DataFrame:
    """Return Table 2: columns ``mechanism, epsilon, error, sd, alpha``, on the scale of rates."""
    budgets = list(
        dict.fromkeys(
            k.partition("eps=")[2] for p, k in _printed() if p == "Table 2" and "eps=" in k
        )
    )
    return pd.DataFrame(
        {"mechanism": mechanism, "epsilon": float(budget)}
        | {
            column: value("Table 2", f"{mechanism} {column} eps={budget}")
            for column in ("error", "sd", "alpha")
        }
        for mechanism in ("M_R", "M_L")
        for budget in budgets
    )
