"""Verdicts for reading."""

from ldpnb import claims
from ldpnb.notebook.prose import short

_KINDS = {
    "identity": "identity, two routes",
    "enumeration": "complete enumeration",
    "certified": "certified numerics",
    "statistical": "statistical test",
    "proof": "proof, numbers confirm",
}

READINGS = {"printed": "", "reconstructed": " (the formula is lost in the text at hand)"}


def verdicts(*identifiers: str) -> None:
    """Show verdicts such as ``"biswas2022/theorem-3.5"`` with their evidence and, where the source errs, what holds."""
    from IPython.display import Markdown, display

    display(Markdown("\n\n".join(_paragraph(identifier) for identifier in identifiers)))


def _paragraph(identifier: str) -> str:
    claim, verdict = claims.find(identifier), claims.decide(identifier)
    says = claim.says[:1].upper() + claim.says[1:].rstrip(".") + ("" if claim.says.endswith("?") else ".")
    lines = [f"**{claim.place}: {verdict.status}.** {says}", "", f"- Decided for {verdict.decided_for}"]
    lines.append(f"- Evidence ({_kind(verdict)}): {verdict.evidence}")
    if verdict.corrected:
        label = "Answer" if verdict.status == "answered" else "What holds"
        lines.append(f"- {label}: {verdict.corrected}")
    if verdict.assumption:
        lines.append(f"- Assumption{READINGS[verdict.reading]}: {verdict.assumption}")
    if verdict.argument:
        lines.append(f"- Argued in words: {verdict.argument}")
    return "\n".join(lines)


def _kind(verdict: claims.Verdict) -> str:
    """Return in words what kind of evidence a verdict rests on, with the error rates of a statistical test."""
    words = _KINDS[verdict.kind]
    if verdict.false_alarm is not None:
        words += f", false alarm <= {short(verdict.false_alarm)}"
    if verdict.power is not None:
        words += f", power {short(verdict.power)}"
    return words
