"""One claim on one card: what it says, how it was decided, and where its notebook and its code are."""

import inspect
import pkgutil
import textwrap
from pathlib import Path
from typing import Any

import ldpnb
from ldpnb import claims
from ldpnb.run.catalogue import catalogue, unique
from ldpnb.run.ledger import committed_ledger

_PARTS = ("status", "reach", "over", "reading", "assumption", "corrected", "kind", "evidence", "argument")


def place(function: Any) -> tuple[Path, int]:
    """Return where a function, method, property or class is defined: its file within the checkout, and the line.

    >>> place(place)[0].as_posix()
    'ldpnb/run/card.py'
    """
    for inner in ("fget", "func", "__func__"):  # of a property, a cached one, a class method
        function = getattr(function, inner, None) or function
    function = inspect.unwrap(function)
    file = Path(inspect.getfile(function)).relative_to(Path(ldpnb.__file__).parent.parent)
    return file, inspect.getsourcelines(function)[1]


def find_claim(wanted: str) -> dict[str, str]:
    """Return the row of the committed ledger of the claim that a user means (`catalogue.unique`)."""
    known = {row["claim"]: row for row in committed_ledger().to_dict("records")}
    return known[unique(wanted, list(known), "notebook or claim", near=[n.id for n in catalogue()])]


def card(row: dict[str, str]) -> str:
    """Return a claim with its verdict, its notebook and its code, in lines for a terminal."""
    claim = claims.find(row["claim"])
    lines = [f"{row['claim']}: {row['place']} of {claim.source}", "", *_lines("", row["says"], 2), ""]
    lines += [line for part in _PARTS if row[part] for line in _lines(part, row[part])]
    lines += _lines("notebook", f"notebooks/{row['notebook']}.ipynb") if row["notebook"] else []
    rests = [pkgutil.resolve_name(f"ldpnb.{path}") for path in claim.rests_on]
    for label, functions in {"decision": [claim.check], "rests on": rests}.items():
        places = [place(function) for function in functions]
        lines += _lines(label, "\n".join(f"{file.as_posix()}:{line}" for file, line in places))
    return "\n".join(lines)


def _lines(label: str, text: str, indent: int = 14) -> list[str]:
    """Return a text wrapped beside its label."""
    first = f"  {label:<{indent - 2}}"
    parts = text.splitlines() or [""]
    wrapped = [line for part in parts for line in textwrap.wrap(part, 110 - indent, break_on_hyphens=False)]
    return [(first if i == 0 else " " * indent) + line for i, line in enumerate(wrapped)]
