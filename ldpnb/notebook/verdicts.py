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
    return f"**{claim.place}: {verdict.status}.** {sentence(claim.says)}\n\n{points(verdict)}"


def sentence(words: str) -> str:
    """Return what a claim says, assumes or asks as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", ".)", "?")) else ".")


def points(verdict: claims.Verdict) -> str:
    """Return a verdict as a list in Markdown."""
    rates = {"false alarm <=": verdict.false_alarm, "power": verdict.power}
    kind = ", ".join([_KINDS[verdict.kind], *(f"{name} {short(v)}" for name, v in rates.items() if v is not None)])
    reach = f"{verdict.reach}: {verdict.over}" if verdict.over else verdict.reach
    lost = " (the formula is lost in the text at hand)" if verdict.reading == "reconstructed" else ""
    rows = {
        f"Evidence ({kind})": verdict.evidence,
        "Answer" if verdict.status == "answered" else "What holds": verdict.corrected,
        f"Assumption{lost}": verdict.assumption,
        "Argued in words": verdict.argument,
    }
    lines = [f"Decided for {reach}", *(f"{label}: {text}" for label, text in rows.items() if text)]
    return "\n".join(f"- {line}" for line in lines)
