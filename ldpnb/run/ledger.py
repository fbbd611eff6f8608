"""The ledger: every claim with its words and its verdict, for notebooks and the terminal."""

import csv
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import ldpnb
from ldpnb import claims
from ldpnb.notebook.verdicts import LABELS
from ldpnb.run.catalogue import catalogue, home

WORDS = (*LABELS, "cause", "counterexample", "python", "rests")
"""The columns of the ledger that are texts, after those of every claim."""


def ledger(source: str | None = None) -> Any:
    """Return a `pandas.DataFrame` of every claim with its words and its verdict, a claim a row.

    Parameters
    ----------
    source : str, optional
        Only the claims of this source.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    shown_in = {identifier: n.id for n in reversed(catalogue()) for identifier in n.claims}
    with threadpool_limits(1):  # the matrices are small, and a second thread only waits
        rows = [_row(claim, shown_in.get(claim.id, "")) for claim in claims.claims(source)]
    return pd.DataFrame(rows)


def _row(claim: claims.Claim, notebook: str) -> dict[str, Any]:
    """Return the row of a claim."""
    verdict = claims.decide(claim.id)
    words = {**verdict.words, "doubt": verdict.doubt}
    row = {
        "claim": claim.id,
        "notebook": notebook,
        "place": claim.place,
        "numbered": bool(claim.numbers),
        "question": claim.is_question,
        "says": words.get("says") or words["asks"],
        "status": verdict.status,
        "how": verdict.how,
        "rebuilt": claim.rebuilt,
    }
    return row | {name: words.get(name, "") for name in WORDS}


@cache
def committed_ledger() -> list[dict[str, str]]:
    """Return the rows of the committed ledger, ``figures/verdicts.csv``."""
    path = home() / "figures/verdicts.csv"
    usual = csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    finally:
        csv.field_size_limit(usual)


def changes(table: Any) -> list[str]:
    """Return where the verdicts of a ledger differ from the committed ones, one per line."""
    then = {row["claim"]: f"{row['status']}, {row['how']}" for row in committed_ledger()}
    now = {row.claim: f"{row.status}, {row.how}" for row in table.itertuples()}
    return [
        f"{name}: {then.get(name, 'absent')} -> {found}"
        for name, found in now.items()
        if then.get(name) != found
    ]


def counts(table: Any) -> Any:
    """Return how many claims of each source have which status, as a `pandas.DataFrame`.

    What the source numbers is counted apart from its other sentences. The last column says how
    many of the claims in a row have a formula that had to be rebuilt. Questions are left out.
    """
    import pandas as pd

    stated = table[~table["question"]]
    kind = stated["numbered"].map({True: "numbered", False: "other sentences"})
    source = stated["claim"].str.partition("/")[0]
    order = [key for key in claims.sources() if key in set(source)]
    groups = [source.astype(pd.CategoricalDtype(order)).rename("source"), kind.rename("of these")]

    heads = ["holds", "holds with a change", "fails", "not settled"]
    status = pd.crosstab(groups, stated["status"]).reindex(columns=heads, fill_value=0)
    status.insert(0, "claims", status.sum(axis=1))
    rebuilt = stated.groupby(groups, observed=True)["rebuilt"].sum()
    return status.assign(rebuilt=rebuilt).rename_axis(columns=None)


def place(function: Any) -> tuple[Path, int]:
    """Return the file within the checkout and the line where something is defined."""
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
    """Return a claim's row in the committed ledger, and where its code is, for a terminal."""
    return "\n".join(_card(name))


def _card(name: str) -> Iterator[str]:
    from ldpnb.claims.formulas import resting_on

    yield from (described(row) for row in committed_ledger() if row["claim"] == name)

    claim = claims.find(name)
    file, line = place(claim.check)
    yield f"decided by: {file.as_posix()}:{line}"
    for path in resting_on(claim):
        file, line = place(resolve_name(f"ldpnb.{path}"))
        yield f"rests on: {path} ({file.as_posix()}:{line})"
