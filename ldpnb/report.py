"""The ledger of verdicts for reading: in a notebook, a terminal, or the README."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from ldpnb import audit, writing
from ldpnb.catalogue import catalogue, home

_KINDS = {
    "identity": "identity, two routes",
    "enumeration": "complete enumeration",
    "certified": "certified numerics",
    "statistical": "statistical test",
    "proof": "proof, numbers confirm",
}
TABLE_START, TABLE_END = "<!-- sources: written by `ldpnb report --readme` -->", "<!-- end of sources -->"


def verdicts(*claims: str) -> None:
    """Show the verdicts of some claims in a notebook, each with its evidence and, where the source errs, what holds instead.

    Parameters
    ----------
    *claims : str
        Identifiers such as ``"biswas2022/theorem-3.5"``.
    """
    from IPython.display import Markdown, display

    display(Markdown("\n\n".join(_paragraph(identifier) for identifier in claims)))


def _paragraph(identifier: str) -> str:
    claim, verdict = audit.find(identifier), audit.decide(identifier)
    says = claim.says[:1].upper() + claim.says[1:].rstrip(".")
    evidence = f"- Evidence ({evidence_kind(verdict)}): {escaped(verdict.evidence)}"
    lines = [f"**{escaped(claim.place)}: {verdict.status}.** {escaped(says)}.", "", evidence]
    if verdict.corrected:
        lines.append(f"- What holds: {escaped(verdict.corrected)}")
    if verdict.assumption:
        lines.append(f"- Assumption: {escaped(verdict.assumption)}")
    return "\n".join(lines)


def escaped(text: str) -> str:
    r"""Return plain text as Markdown that shows it as it is.

    >>> escaped("n * q_1 < 2 and c_hat**2")
    'n \\* q_1 < 2 and c_hat\\*\\*2'
    """
    return re.sub(r"([\\*`$]|<(?=[A-Za-z/!])|(?<!\w)_|_(?!\w)|~(?=~)|\[(?=[^\]]*\]\())", r"\\\1", text)


def evidence_kind(verdict: audit.Verdict) -> str:
    """Return in words what kind of evidence a verdict rests on, with the error rates of a statistical test."""
    words = _KINDS[verdict.kind]
    if verdict.false_alarm is not None:
        words += f", false alarm <= {verdict.false_alarm:.0e}"
    if verdict.power is not None:
        words += f", power {verdict.power:.3g}"
    return words


def ledger(source: str | None = None, status: str | None = None) -> Any:
    """Return the ledger: every claim with its verdict and the notebook that shows it.

    Parameters
    ----------
    source : str, optional
        Only this source's claims.
    status : str, optional
        Only verdicts of this status.

    Returns
    -------
    pandas.DataFrame
        As `audit.ledger`, and a column ``notebook``.
    """
    if status is not None and status not in get_args(audit.Status):
        raise ValueError(f"status must be one of {', '.join(get_args(audit.Status))}, got status={status!r}")
    shown_in = {identifier: n.id for n in catalogue() for identifier in n.claims}
    table = audit.ledger(c.id for c in audit.claims(source))
    table.insert(1, "notebook", [shown_in.get(c, "") for c in table["claim"]])
    return table if status is None else table[table["status"] == status].reset_index(drop=True)


def committed_ledger() -> Any:
    """Return the committed ledger, ``figures/verdicts.csv``."""
    import pandas as pd

    return pd.read_csv(home() / "figures/verdicts.csv", keep_default_na=False, dtype={"false_alarm": str, "power": str})


def changes(source: str | None = None) -> list[str]:
    """Return, a line each, where the verdicts computed now differ from the committed ledger."""
    committed = committed_ledger()
    ours = committed[committed["claim"].str.startswith(f"{source}/")] if source else committed
    now, then = ledger(source).set_index("claim")["status"], ours.set_index("claim")["status"]
    names = [*now.index, *(c for c in then.index if c not in now.index)]
    return [f"{c}: {then.get(c, 'absent')} -> {now.get(c, 'absent')}" for c in names if now.get(c) != then.get(c)]


def readme_table(statuses: Iterable[tuple[str, str]]) -> str:
    """Return the README's table of sources in Markdown.

    Parameters
    ----------
    statuses : iterable of (source, status)
        One pair per claim.
    """
    counts = Counter(statuses)
    heads = ["source", "about", "notebooks", "claims", *get_args(audit.Status)]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for number, (key, text) in enumerate(audit.SOURCES.items(), 1):
        by = [counts[key, status] for status in get_args(audit.Status)]
        held = sum(n.source == key for n in catalogue())
        folder = f"[`{key}`](notebooks/{number}_{key})"
        lines.append("| " + " | ".join([folder, text, str(held), str(sum(by)), *map(str, by)]) + " |")
    return "\n".join(lines)


def write_readme_table(path: Path) -> bool:
    """Put the current table of sources between its two marks in the README; return whether that changed the file."""
    before = path.read_text(encoding="utf-8")
    head, _, rest = before.partition(TABLE_START)
    _, _, tail = rest.partition(TABLE_END)
    table = committed_ledger()
    pairs = [(claim.split("/")[0], status) for claim, status in zip(table["claim"], table["status"], strict=True)]
    after = f"{head}{TABLE_START}\n{readme_table(pairs)}\n{TABLE_END}{tail}"
    if after != before:
        writing.write({path: after.encode()})
    return after != before
