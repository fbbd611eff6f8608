"""Verdicts for reading."""

import re

from ldpnb import claims

_KINDS = {
    "identity": "identity, two routes",
    "enumeration": "complete enumeration",
    "certified": "certified numerics",
    "statistical": "statistical test",
    "proof": "proof, numbers confirm",
}


READINGS = {"printed": "", "reconstructed": " (the formula is lost in the text at hand)"}


def verdicts(*identifiers: str) -> None:
    """Show verdicts in a notebook, each with its evidence and, where the source errs, what holds instead.

    Parameters
    ----------
    *identifiers : str
        Identifiers such as ``"biswas2022/theorem-3.5"``.
    """
    from IPython.display import Markdown, display

    display(Markdown("\n\n".join(_paragraph(identifier) for identifier in identifiers)))


def _paragraph(identifier: str) -> str:
    claim, verdict = claims.find(identifier), claims.decide(identifier)
    says = claim.says[:1].upper() + claim.says[1:].rstrip(".")
    evidence = f"- Evidence ({evidence_kind(verdict)}): {escaped(verdict.evidence)}"
    lines = [f"**{escaped(claim.place)}: {verdict.status}.** {escaped(says)}.", ""]
    lines += [f"- Decided for {escaped(verdict.decided_for)}", evidence]
    if verdict.corrected:
        lines.append(f"- What holds: {escaped(verdict.corrected)}")
    if verdict.assumption:
        lines.append(f"- Assumption{READINGS[verdict.reading]}: {escaped(verdict.assumption)}")
    if verdict.argument:
        lines.append(f"- Argued in words: {escaped(verdict.argument)}")
    return "\n".join(lines)


def escaped(text: str) -> str:
    r"""Return plain text as Markdown that shows it as it is.

    >>> escaped("n * q_1 < 2 and c_hat**2")
    'n \\* q_1 < 2 and c_hat\\*\\*2'
    """
    return re.sub(r"([\\*`$]|<(?=[A-Za-z/!])|(?<!\w)_|_(?!\w)|~(?=~)|\[(?=[^\]]*\]\())", r"\\\1", text)


def evidence_kind(verdict: claims.Verdict) -> str:
    """Return in words what kind of evidence a verdict rests on, with the error rates of a statistical test."""
    words = _KINDS[verdict.kind]
    if verdict.false_alarm is not None:
        words += f", false alarm <= {verdict.false_alarm:.0e}"
    if verdict.power is not None:
        words += f", power {verdict.power:.3g}"
    return words
