"""Verdicts for reading."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ldpnb import claims
from ldpnb.words import short

_KINDS = {
    "identity": "identity, two routes",
    "enumeration": "complete enumeration",
    "certified": "certified numerics",
    "statistical": "statistical test",
    "proof": "proof, numbers confirm",
}


def verdicts(*identifiers: str) -> None:
    """Show verdicts such as ``"biswas2022/theorem-3.5"`` with their evidence and, where the source errs, what holds."""
    from IPython.display import Markdown, display

    rows = [(claims.find(identifier), claims.decide(identifier)) for identifier in identifiers]
    words = (
        f"**{c.place}: {v.status}.** {sentence(c.says)}\n\n{points(asdict(v))}" for c, v in rows
    )
    display(Markdown("\n\n".join(words)))


def sentence(words: str) -> str:
    """Return what a claim says, assumes or asks as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", ".)", "?")) else ".")


def points(verdict: Mapping[str, Any]) -> str:
    """Return a verdict's fields, or those in its row of the ledger, as a list in Markdown."""
    rates = {"false alarm <=": verdict["false_alarm"], "power": verdict["power"]}
    kind = ", ".join(
        [_KINDS[verdict["kind"]], *(f"{name} {short(float(v))}" for name, v in rates.items() if v)]
    )
    lost = (
        " (the formula is lost in the text at hand)"
        if verdict["reading"] == "reconstructed"
        else ""
    )
    rows = {
        "Decided for": ": ".join(filter(None, (verdict["reach"], verdict["over"]))),
        f"Evidence ({kind}):": verdict["evidence"],
        "Answer:" if verdict["status"] == "answered" else "What holds:": verdict["corrected"],
        f"Assumption{lost}:": verdict["assumption"],
        "Argued in words:": verdict["argument"],
    }
    return "\n".join(f"- {label} {text}" for label, text in rows.items() if text)
