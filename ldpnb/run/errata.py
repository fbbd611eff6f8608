"""Erratum sheets: for a source's authors and readers, what does not hold as printed, and how to see it without us.

``papers/<source>/errata.toml`` holds, for each corrected or refuted claim and in the order of weight, the smallest
counterexample, one line of Python that shows it, what it prints, and what in the source rests on the statement.
Statement and correction are those of the ledger.
"""

import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import ldpnb
from ldpnb import claims, writing
from ldpnb.checks import UsageError
from ldpnb.run.catalogue import home


@dataclass(frozen=True, slots=True)
class Erratum:
    """One statement: a small `counterexample`, `python` and what it `prints`, and what, if anything, `rests` on it."""

    counterexample: str
    python: str
    prints: str
    rests: str = ""


def sheets() -> list[str]:
    """Return the sources that have a sheet."""
    return [source for source in claims.SOURCES if _words(source).is_file()]


def _words(source: str) -> Path:
    return Path(ldpnb.__file__).parent / f"papers/{source}/errata.toml"


def errata(source: str) -> dict[str, Erratum]:
    """Return what is noted on a source's statements, by claim; `UsageError` if the source has no sheet."""
    file = _words(source)
    if source not in claims.SOURCES or not file.is_file():
        raise UsageError(f"source must be one with a sheet ({', '.join(sheets())}), got source={source!r}")
    noted = {}
    for key, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
        words = {name: text if name == "python" else " ".join(text.split()) for name, text in entry.items()}
        noted[f"{source}/{key}"] = Erratum(**words)
    return noted


def sheet_path(source: str) -> Path:
    """Return where a source's sheet is committed."""
    number = list(claims.SOURCES).index(source) + 1
    return home() / f"figures/{number}_{source}/errata.md"


def sheet(source: str) -> str:
    """Return the erratum sheet of a source, in Markdown; its entries must be of the corrected and refuted claims."""
    noted = errata(source)
    verdicts = {claim.id: claims.decide(claim.id) for claim in claims.claims(source)}
    due = {key for key, verdict in verdicts.items() if verdict.status in ("corrected", "refuted")}
    if noted.keys() != due:
        raise ValueError(f"sheet and ledger must list the same claims, one lacks {sorted(noted.keys() ^ due)}")
    sure = sum(verdict.status in ("reproduced", "supported") for verdict in verdicts.values())
    listed = f"the {len(due)} that do not, those first on which most rests" if len(due) > 1 else "the one that does not"
    lines = [
        f"# Notes on *{claims.SOURCES[source].partition(': ')[2]}*",
        f"{claims.SOURCES[source].partition(': ')[0]}. Of {len(verdicts)} statements and questions that we checked, "
        f"{sure} hold as they stand or as we read them. This sheet lists {listed}. Where no word says so, nothing else "
        "rests on a statement. Questions that the source asks are answered elsewhere. Every number is exact, or "
        "rounded in its last digit; the line of Python needs no package of ours. We are glad to be shown wrong.",
    ]
    for number, (key, erratum) in enumerate(noted.items(), 1):
        claim, verdict = claims.find(key), verdicts[key]
        read = "The text at hand has lost part of the formulas. " if verdict.reading == "reconstructed" else ""
        parts = {
            "As printed.": _sentence(claim.says),
            "As we read it.": f"{read}{_sentence(verdict.assumption)}" if verdict.assumption else "",
            "A counterexample.": erratum.counterexample,
            "What holds.": _sentence(verdict.corrected),
            "What rests on it.": erratum.rests,
            "To check it.": f"This prints `{erratum.prints}`:",
        }
        paragraph = " ".join(f"**{name}** {words}" for name, words in parts.items() if words)
        lines += [f"## {number}. {claim.place}", paragraph, f"```python\n{erratum.python.strip()}\n```"]
    return "\n\n".join(lines) + "\n"


def write() -> None:
    """Renew the committed sheets."""
    for source in sheets():
        writing.write(sheet_path(source), sheet(source).encode())


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('.', '.)')) else '.'}"


def show(source: str, output: Path | None) -> None:
    """Print a source's sheet, or write it to a file: where its name ends in ``.pdf``, by pandoc and a TeX."""
    text = sheet(source)
    if output is None:
        print(text, end="")
    elif output.suffix != ".pdf":
        writing.write(output, text.encode())
    else:
        command = ["pandoc", "--from=markdown", "--variable=geometry:margin=18mm", "--output", str(output)]
        try:
            subprocess.run(command, input=text, text=True, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            needs = "a PDF needs pandoc and a TeX (apt-get install pandoc texlive-latex-recommended)"
            raise UsageError(f"{needs}: {error}") from error
