"""One claim on one card: what it says, how it was decided, and where its notebook, code and figures are."""

import pkgutil
import re
import textwrap
from pathlib import Path
from typing import Any

from ldpnb import claims
from ldpnb.checks import UsageError, nearest, shown
from ldpnb.run.catalogue import catalogue, find, home
from ldpnb.site.atlas import place
from ldpnb.site.entries import CSV, Entry, entries


def formula(path: str) -> Any:
    """Return the function at a path within ``ldpnb``, as `claims.Claim.rests_on` holds it.

    >>> formula("claims.Claim.id").fget.__name__
    'id'
    """
    return pkgutil.resolve_name(f"ldpnb.{path}")


def find_claim(wanted: str) -> Entry:
    """Return the claim of the committed ledger whose name contains the words given, as no other's does.

    Raises
    ------
    UsageError
        If several do, which are named, or none: then the nearest names of claims and notebooks.
    """
    decided = entries() if (home() / CSV).exists() else []
    known = {e.claim.replace("/", "-"): e for e in decided}
    words = re.sub(r"[^a-z0-9.]+", "-", wanted.lower()).strip("-")
    whole = [name for name in known if words in (name, name.split("-", 1)[1])]
    found = whole or [name for name in known if words and re.search(re.escape(words) + r"(?!\d)", name)]
    if len(found) == 1:
        return known[found[0]]
    if found:
        raise UsageError(f"{shown(wanted)} is ambiguous: {', '.join(known[name].claim for name in found)}")
    names = [*(n.id for n in catalogue()), *(n.id.split("/")[-1] for n in catalogue())]
    names += [name for e in known.values() for name in (e.claim, e.claim.split("/")[1])]
    raise UsageError(f"no notebook or claim {shown(wanted)}{nearest(wanted, names)}; `ldpnb list` shows the notebooks")


def card(entry: Entry) -> str:
    """Return a claim with its verdict, its notebook, its code and its figures, in lines for a terminal."""
    claim = claims.find(entry.claim)
    lines = [f"{entry.claim}: {entry.place} of {entry.source}", "", *_wrapped("", entry.sentence, 2), ""]
    told = {
        "verdict": entry.status,
        "reach": f"{entry.reach}: {entry.over}" if entry.over else entry.reach,
        "reading": entry.reading,
        "assuming": entry.assumption,
        "holds": entry.corrected,
        "evidence": f"{entry.rests}: {entry.evidence}",
        "argued": entry.argument,
        "notebook": f"notebooks/{entry.notebook}.ipynb" if entry.notebook else "",
        "decision": str(place(claim.check)),
    }
    lines += [line for label, text in told.items() if text for line in _wrapped(label, text)]
    lines += _listed("rests on", [str(place(formula(path))) for path in claim.rests_on])
    return "\n".join(lines + _listed("figures", figures(entry)))


def figures(entry: Entry) -> list[str]:
    """Return the figures of a claim: the one of its own name, else all of its notebook."""
    if not entry.notebook:
        return []
    folder = home() / "figures"
    found = sorted(p.relative_to(folder.parent).as_posix() for p in (folder / find(entry.notebook).id).glob("*.png"))
    own = re.match(r"(figure|table)-\d+", entry.claim.partition("/")[2])
    return [f for f in found if own and Path(f).stem == own[0].replace("-", "_")] or found


def _wrapped(label: str, text: str, indent: int = 12) -> list[str]:
    first = f"  {label:<{indent - 2}}"
    return textwrap.wrap(text, 110, initial_indent=first, subsequent_indent=" " * indent, break_on_hyphens=False)


def _listed(label: str, rows: list[str]) -> list[str]:
    return [f"  {label if i == 0 else '':<10}{row}" for i, row in enumerate(rows)]
