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


def verdicts(*identifiers: str) -> None:
    """Show verdicts such as ``"biswas2022/theorem-3.5"`` with their evidence and, where the source errs, what holds."""
    from IPython.display import Markdown, display

    display(Markdown("\n\n".join(_paragraph(identifier) for identifier in identifiers)))


def _paragraph(identifier: str) -> str:
    claim, verdict = claims.find(identifier), claims.decide(identifier)
    says = claim.says[:1].upper() + claim.says[1:].rstrip(".") + ("" if claim.says.endswith("?") else ".")
    kind = _KINDS[verdict.kind]
    if verdict.false_alarm is not None:
        kind += f", false alarm <= {short(verdict.false_alarm)}"
    if verdict.power is not None:
        kind += f", power {short(verdict.power)}"
    reach = f"{verdict.reach}: {verdict.over}" if verdict.over else verdict.reach
    lost = " (the formula is lost in the text at hand)" if verdict.reading == "reconstructed" else ""
    lines = [f"**{claim.place}: {verdict.status}.** {says}", "", f"- Decided for {reach}"]
    rows = {
        f"Evidence ({kind})": verdict.evidence,
        "Answer" if verdict.status == "answered" else "What holds": verdict.corrected,
        f"Assumption{lost}": verdict.assumption,
        "Argued in words": verdict.argument,
    }
    return "\n".join([*lines, *(f"- {label}: {text}" for label, text in rows.items() if text)])
