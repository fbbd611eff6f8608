"""What is derived from the claims is complete, and stands as it is committed."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import ldpnb
from ldpnb import claims
from ldpnb.claims import Claim, Verdict
from ldpnb.notebook.verdicts import Verdicts
from ldpnb.run import derived, errata
from ldpnb.run.catalogue import catalogue
from ldpnb.run.ledger import changes, committed_ledger, ledger

PAPERS = Path(ldpnb.__file__).parent / "papers"
CLAIMS = claims.claims()
WRONG = [claim for claim in CLAIMS if "python" in claim.words]
PAGE = 96
"""Characters of a line of code on a page of the sheet as a PDF, beyond which it would be cut
off.
"""


def test_the_committed_ledger_is_current() -> None:
    assert [row["claim"] for row in committed_ledger()] == [claim.id for claim in CLAIMS]
    table = ledger()
    assert changes(table) == [], "`ldpnb run 99_verdicts` renews it"
    assert len(changes(table.assign(how="guessed"))) == len(table)


@pytest.mark.parametrize("path", derived.derived(), ids=lambda path: path.parent.name)
def test_a_derived_file_is_current(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == derived.derived()[path], "`ldpnb report` renews it"


def test_every_claim_has_a_check_and_every_check_a_claim() -> None:
    known = {claim.check for claim in CLAIMS}
    for module in {check.__module__ for check in known}:
        for _, thing in inspect.getmembers(import_module(module), inspect.isfunction):
            signature = inspect.signature(thing)
            is_check = list(signature.parameters) == ["e"] and "Numbers" in str(signature)
            assert not is_check or thing in known, f"{thing} is the check of no claim"


def test_every_claim_stands_in_a_notebook() -> None:
    shown = {identifier for notebook in catalogue() for identifier in notebook.claims}
    assert shown == {claim.id for claim in CLAIMS}


@pytest.mark.parametrize("source", claims.sources())
def test_no_number_of_a_theorem_figure_or_table_is_left_out(source: str) -> None:
    given = [number for claim in claims.claims(source) for number in claim.numbers]
    excepted = claims.sources()[source].no_claim
    assert not set(given) & set(excepted)

    numbers: dict[str, set[int]] = {}
    for number in [*given, *excepted]:
        if number.startswith("Equation"):
            continue
        if parts := re.fullmatch(r"(.*?)(\d+)", number):
            series = re.sub(r"^\w+ (?=\w)", "", parts[1]) or parts[1]
            numbers.setdefault(series, set()).add(int(parts[2]))
    for series, found in numbers.items():
        gaps = set(range(1, max(found))) - found
        assert not gaps, f"{series}{gaps}: give a claim, or a reason in source.toml, no_claim"


@pytest.mark.parametrize("claim", WRONG, ids=lambda claim: claim.id)
def test_lines_of_python_need_no_package_of_ours_and_fit_a_page(claim: Claim) -> None:
    python = claim.words["python"]
    assert "ldpnb" not in python
    assert max(map(len, python.splitlines())) <= PAGE
    assert errata.printed(python)


def test_a_cause_is_shown_by_one_counterexample() -> None:
    for source in claims.sources():
        for cause, rows in errata.causes(errata._due(source)):
            shown = [row for row in rows if row["counterexample"]]
            assert len(shown) == 1, cause


def test_a_rebuilt_formula_is_marked_in_the_sheet() -> None:
    row = {"place": "Theorem 1", "rebuilt": "True", "quoted": "", "reading": "", "says": "one"}
    assert errata._paper(row) == "**Theorem 1**†: One."


def test_a_readme_without_its_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"README.md must have the lines"):
        derived.with_table("no table")


def test_a_notebook_shows_a_line_for_each_claim_and_folds_the_rest() -> None:
    shown = Verdicts(claims.select("biswas2022/theorem-3.5"), "../glossary.md")
    markdown = shown._repr_markdown_()
    assert markdown.startswith("**Theorem 3.5: [fails](../glossary.md#verdicts).** The variance")
    assert "<details><summary>proved" in markdown
    line, *more = repr(shown).splitlines()
    assert line.startswith("Theorem 3.5: fails (proved")
    assert all(rest.startswith("    ") for rest in more)
    assert any("What is true instead" in rest for rest in more)


def test_a_claim_that_is_not_settled_says_why() -> None:
    for claim in CLAIMS:
        verdict: Verdict = claims.decide(claim.id)
        assert (verdict.status == "not settled") == bool(verdict.doubt)
