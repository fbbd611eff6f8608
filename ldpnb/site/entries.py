"""The committed verdicts for readers: the entries of the ledger's page, and the ledger as a document of its own."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from markupsafe import Markup

from ldpnb import claims
from ldpnb.checks import UsageError
from ldpnb.notebook.verdicts import evidence_kind
from ldpnb.run import ledger
from ldpnb.run.catalogue import home
from ldpnb.site.atlas import place
from ldpnb.site.plain import slug
from ldpnb.site.templates import STATIC, environment, page

STATUSES: tuple[str, ...] = get_args(claims.Status)
REACHES: tuple[str, ...] = get_args(claims.Reach)
KINDS: tuple[str, ...] = get_args(claims.Kind)
_REACH = ("reach", "over", "argument", "reading")
FORMATS = ("md", "html", "csv")
CSV = "figures/verdicts.csv"


@dataclass(frozen=True, slots=True)
class Entry:
    """One claim as the ledger has it."""

    claim: str
    source: str
    place: str
    says: str
    status: str
    reach: str
    over: str
    argument: str
    reading: str
    kind: str
    rests: str
    evidence: str
    corrected: str
    assumption: str
    notebook: str

    @property
    def sentence(self) -> str:
        """Return what the claim says, as a sentence."""
        return self.says[:1].upper() + self.says[1:].rstrip(".") + "."

    @property
    def text(self) -> str:
        """Return all that is said of the claim, as one types it."""
        told = (self.place, self.says, self.over, self.evidence, self.corrected, self.assumption, self.argument)
        return " ".join(" ".join(told).lower().split())

    @property
    def anchor(self) -> str:
        """Return the claim's anchor on the page of its notebook."""
        return "claim-" + slug(self.claim)

    @property
    def page(self) -> str:
        """Return the address of the claim from the site's root, or nothing if no notebook shows it."""
        return f"{self.notebook}.html#{self.anchor}" if self.notebook else ""

    @property
    def check(self) -> str:
        """Return the address of the claim's check as code, or nothing if the claim is not this package's."""
        try:
            return place(claims.find(self.claim).check).address
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True)
class Source:
    """One of the sources and how many of its claims came out how, and for which parameters."""

    key: str
    title: str
    claims: int
    counts: Counter[str]


def entries() -> list[Entry]:
    """Return the committed ledger.

    Raises
    ------
    UsageError
        If there is none.
    """
    _committed()
    return [_entry(row) for row in ledger.committed_ledger().to_dict("records")]


def _committed() -> Path:
    path = home() / CSV
    if not path.exists():
        raise UsageError(f"no {CSV}; `ldpnb run 99_verdicts` writes it")
    return path


def _entry(row: dict[str, Any]) -> Entry:
    own = {name: row[name] for name in ("status", "evidence", "corrected", "assumption", *_REACH)}
    rates: dict[str, Any] = {name: float(row[name]) if row[name] else None for name in ("false_alarm", "power")}
    words = evidence_kind(claims.Verdict(kind=row["kind"], **own, **rates))
    said = {name: row[name] for name in ("claim", "place", "says", "notebook", "kind")}
    return Entry(**said, **own, source=row["claim"].split("/")[0], rests=words)


def sources(of: list[Entry]) -> list[Source]:
    """Return the sources in their order, and the companion, with the number of claims by verdict and by reach."""
    own = {key: [e for e in of if e.source == key] for key in claims.LEDGERS}
    return [
        Source(key, title, len(own[key]), Counter(word for e in own[key] for word in (e.status, e.reach)))
        for key, title in claims.LEDGERS.items()
    ]


def filtered(of: list[Entry]) -> dict[str, Any]:
    """Return entries for a page, with what they can be chosen by."""
    return {"entries": of, "sources": sources(of), "statuses": STATUSES, "reaches": REACHES, "kinds": KINDS}


def format_of(name: str) -> str:
    """Return the format that a file's name asks for, Markdown if it has no ending.

    >>> format_of("verdicts.csv"), format_of("-")
    ('csv', 'md')
    """
    suffix = Path(name).suffix.removeprefix(".")
    if suffix not in ("", *FORMATS):
        raise UsageError(f"output must end in {', '.join(f'.{f}' for f in FORMATS)}, or state --format; got {name}")
    return suffix or "md"


def document(format: str) -> str:
    """Return the committed ledger as one file.

    Parameters
    ----------
    format : {"md", "html", "csv"}
        A Markdown text, a page that needs no other file, or the table itself.
    """
    if format == "csv":
        return _committed().read_text(encoding="utf-8")
    of = entries()
    told = filtered(of) | {"title": "Verdicts of ldpnb"}
    if format == "md":
        return environment().get_template("report.md.j2").render(told)
    style, script = ((STATIC / name).read_text(encoding="utf-8") for name in ("site.css", "site.js"))
    return page(
        "report",
        "report.html",
        description=f"{len(of)} claims of and beyond five sources on local differential privacy, with their evidence",
        style=Markup(re.sub(r"@font-face \{.*?\}\n", "", style)),
        script=Markup(script),
        **told,
    )
