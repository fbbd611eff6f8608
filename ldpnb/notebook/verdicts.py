"""Claims and their verdicts, for reading."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ldpnb.claims import Claim, Verdict, decide, select

LABELS = {
    "change": "What must be changed",
    "instead": "What is true instead",
    "answer": "Answer",
    "doubt": "Why it is not settled",
    "quoted": "In the source's words",
    "reading": "How it is read",
    "over": "Decided for",
    "evidence": "Evidence",
    "more": "What else holds",
    "step": "The step in words",
    "remark": "Remark",
}
"""What a reader sees of a claim below its first line, in this order."""

FINDINGS = ("change", "instead", "answer", "doubt")
"""What plain text has too."""

REBUILT = "the formula is missing from the text that we read, and we rebuilt it from its context"


class Verdicts:
    """Claims with their verdicts: a line each, and the rest folded; in plain text without the rest.

    Parameters
    ----------
    claims : sequence of Claim
        The claims, which are decided now.
    glossary : str
        The address of the glossary, where each status is explained.
    """

    def __init__(self, claims: list[Claim], glossary: str) -> None:
        self.decided = [(claim, decide(claim.id)) for claim in claims]
        self.glossary = glossary

    def _repr_markdown_(self) -> str:
        return "\n\n".join(self._entry(claim, verdict) for claim, verdict in self.decided)

    def __repr__(self) -> str:
        lines: list[str] = []
        for claim, verdict in self.decided:
            lines += _lines(claim, verdict)
        return "\n".join(lines)

    def _entry(self, claim: Claim, verdict: Verdict) -> str:
        status = f"[{verdict.status}]({self.glossary}#verdicts)"
        rest = "\n".join(f"- {label}: {text}" for label, text in details(words_of(claim, verdict)))
        return (
            f"**{claim.place}: {status}.** {sentence(_says(verdict))}\n\n"
            f"<details><summary>{verdict.how}: details</summary>\n\n{rest}\n\n</details>"
        )


def verdicts(*which: str) -> None:
    """Show claims and what was found of them, a line each, with all the rest folded below it.

    Parameters
    ----------
    *which : str
        A source and sections of it, such as ``"biswas2022", "Section 3"``, beginnings of places
        (``"biswas2022", "Theorem 3.5"``), or identifiers (``"biswas2022/theorem-3.5"``).

    Raises
    ------
    ValueError
        If there is no such source, section or claim. The message names what there is.
    """
    from IPython.display import display

    here = Path("glossary.md")
    glossary = here.name if here.exists() else f"../{here.name}"
    display(Verdicts(select(*which), glossary))


def words_of(claim: Claim, verdict: Verdict) -> dict[str, str]:
    """Return all that is known of a claim, with its numbers, as a row of the ledger has it."""
    rebuilt = {"rebuilt": "yes"} if claim.rebuilt else {}
    return {**verdict.words, **rebuilt, "doubt": verdict.doubt}


def details(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is to be said of a claim below its first line, each with its label.

    Parameters
    ----------
    row : mapping of str to str
        The words of a claim, or its row in the ledger.
    """
    for key, label in LABELS.items():
        if row.get(key):
            yield label, row[key]
    if row.get("rebuilt") in ("yes", "True"):
        yield "Rebuilt", REBUILT


def sentence(words: str) -> str:
    """Return what a claim says or asks as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", ".)", "?")) else ".")


def _says(verdict: Verdict) -> str:
    return verdict.words.get("says") or verdict.words["asks"]


def _lines(claim: Claim, verdict: Verdict) -> Iterator[str]:
    """Yield a claim in plain text: what it says and whether it holds, and what does."""
    yield f"{claim.place}: {verdict.status} ({verdict.how}). {sentence(_says(verdict))}"
    for label, text in details(words_of(claim, verdict)):
        if label in {LABELS[key] for key in FINDINGS}:
            yield f"    {label}: {text}"
