"""The ledger: every claim with its words and its verdict, for notebooks and the terminal."""

import csv
import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import ldpnb
from ldpnb import claims
from ldpnb.notebook.verdicts import LABELS, REBUILT
from ldpnb.run.catalogue import catalogue, home

_FOR_AUTHORS = {
    "cause": "Heading in the note to the authors",
    "counterexample": "Counterexample",
    "python": "In Python",
    "rests": "What depends on it",
}
WORDS = (*LABELS, *_FOR_AUTHORS)
"""The columns of the ledger that are texts, after those of every claim."""

_IN_WORDS = {
    "holds": ("holds", "hold"),
    "holds with a change": ("holds with a change", "hold with a change"),
    "fails": ("fails", "fail"),
    "not settled": ("is not settled", "are not settled"),
    "answered": ("question is answered", "questions are answered"),
}
"""What is said of one claim and of several, by status."""


def ledger(source: str | None = None) -> Any:
    """Return a `pandas.DataFrame` of every claim with its words and its verdict, a claim a row.

    Parameters
    ----------
    source : str, optional
        Only the claims of this source.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    # Backwards, so that a claim which several notebooks show belongs to the first of them.
    shown_in = {}
    for notebook in reversed(catalogue()):
        shown_in.update(dict.fromkeys(notebook.claims, notebook.id))

    # The matrices are small: a second thread would only wait.
    with threadpool_limits(1):
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


def counted(statuses: Iterable[str]) -> str:
    """Return how many claims of each status there are, in words.

    >>> counted(["holds", "fails", "holds"])
    '2 hold, 1 fails'
    """
    numbers = Counter(statuses)
    parts = []
    for status, (one, several) in _IN_WORDS.items():
        number = numbers[status]
        if number:
            parts.append(f"{number} {one if number == 1 else several}")
    return ", ".join(parts)


@cache
def committed_ledger() -> list[dict[str, str]]:
    """Return the rows of the committed ledger, ``figures/verdicts.csv``."""
    path = home() / "figures/verdicts.csv"

    # The csv module refuses fields of more than 131,072 characters, and its limit is global.
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
        f"{name}: {then.get(name, 'absent')} -> {verdict}"
        for name, verdict in now.items()
        if then.get(name) != verdict
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
    in_order = pd.CategoricalDtype([key for key in claims.sources() if key in set(source)])
    groups = [source.astype(in_order).rename("source"), kind.rename("of these")]

    statuses = ["holds", "holds with a change", "fails", "not settled"]
    counted = pd.crosstab(groups, stated["status"]).reindex(columns=statuses, fill_value=0)
    counted.insert(0, "claims", counted.sum(axis=1))
    rebuilt = stated.groupby(groups, observed=True)["rebuilt"].sum()
    return counted.assign(rebuilt=rebuilt).rename_axis(columns=None)


def place(thing: Any) -> tuple[Path, int]:
    """Return the file within the checkout and the line where a function or class is defined."""
    from ldpnb.claims.formulas import plain

    written = plain(thing)
    checkout = Path(ldpnb.__file__).parent.parent
    file = Path(inspect.getfile(written)).relative_to(checkout)
    _, line = inspect.getsourcelines(written)
    return file, line


def described(row: Mapping[str, Any]) -> str:
    """Return a claim, its verdict, and the texts in its row of a ledger, each with a label."""
    labels = {"notebook": "Notebook", "place": "Place", "says": "What the source says"}
    if str(row["question"]) == "True":
        labels["says"] = "What the source asks"

    lines = [f"{row['claim']}: {row['status']} ({row['how']})"]
    for column, label in {**labels, **LABELS, **_FOR_AUTHORS}.items():
        if row[column]:
            text = str(row[column]).replace("\n", "\n    ")
            lines.append(f"  {label}: {text}")
    if str(row["rebuilt"]) == "True":
        lines.append(f"  Rebuilt: {REBUILT}")
    return "\n".join(lines)


def card(name: str) -> str:
    """Return a claim's row in the committed ledger, and where its code is, for a terminal."""
    from ldpnb.claims.formulas import resting_on

    lines = [described(row) for row in committed_ledger() if row["claim"] == name]

    claim = claims.find(name)
    file, line = place(claim.check)
    lines.append(f"  Decided by: {file.as_posix()}:{line}")
    for path in resting_on(claim):
        file, line = place(resolve_name(f"ldpnb.{path}"))
        lines.append(f"  Uses: {path} ({file.as_posix()}:{line})")
    return "\n".join(lines)
