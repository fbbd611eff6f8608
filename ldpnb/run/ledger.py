"""The ledger of verdicts, for notebooks and the terminal."""

import inspect
import pkgutil
from collections.abc import Mapping
from csv import DictReader
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb import claims
from ldpnb.run.catalogue import catalogue, home


def ledger(source: str | None = None) -> Any:
    """Return a `pandas.DataFrame` of every claim, or those of a source, with its verdict and its notebook."""
    import pandas as pd
    from threadpoolctl import threadpool_limits

    shown_in = {identifier: n.id for n in catalogue() for identifier in n.claims}
    with threadpool_limits(1):  # the matrices are small, and a second thread only waits
        rows = [
            {"claim": c.id, "notebook": shown_in.get(c.id, ""), "place": c.place, "says": c.says}
            | asdict(claims.decide(c.id))
            for c in claims.claims(source)
        ]
    return pd.DataFrame(rows)


@cache
def committed_ledger() -> list[dict[str, str]]:
    """Return the rows of the committed ledger, ``figures/verdicts.csv``."""
    return list(
        DictReader((home() / "figures/verdicts.csv").read_text(encoding="utf-8").splitlines())
    )


def changes(table: Any) -> list[str]:
    """Return where the verdicts of a ledger differ from the committed ones, one per line."""
    then, now = (
        {row["claim"]: f"{row['status']}, {row['reach']}" for row in rows}
        for rows in (committed_ledger(), table.to_dict("records"))
    )
    return [
        f"{name}: {then.get(name, 'absent')} -> {now[name]}"
        for name in now
        if then.get(name) != now[name]
    ]


def place(function: Any) -> tuple[Path, int]:
    """Return where a function, method, property or class is defined: its file within the checkout, and the line."""
    for inner in ("fget", "func", "__func__"):  # of a property, a cached one, a class method
        function = getattr(function, inner, None) or function
    function = inspect.unwrap(function)
    file = Path(inspect.getfile(function)).relative_to(Path(ldpnb.__file__).parent.parent)
    return file, inspect.getsourcelines(function)[1]


def described(row: Mapping[str, Any]) -> str:
    """Return the words in a row of a ledger, a column on a line."""
    return "\n".join(
        f"{column}: {words}" for column, words in row.items() if isinstance(words, str) and words
    )


def card(name: str) -> str:
    """Return the row of a claim in the committed ledger, and where its code is, in lines for a terminal."""
    lines = [described(row) for row in committed_ledger() if row["claim"] == name]
    claim = claims.find(name)
    rests = [pkgutil.resolve_name(f"ldpnb.{path}") for path in claim.rests_on]
    for label, functions in {"decided by": [claim.check], "rests on": rests}.items():
        lines += [f"{label}: {file.as_posix()}:{line}" for file, line in map(place, functions)]
    return "\n".join(lines)
