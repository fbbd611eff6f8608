"""Check that what is derived from the claims is complete, and stands as it is committed.

Derived are the ledger of verdicts, the erratum sheets, the table of the README, and what notebooks
show of a claim. Here they are made again from the claims and compared with the committed files.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

import pandas as pd
import pytest

from ldpnb import claims
from ldpnb.claims import Claim
from ldpnb.notebook.verdicts import Verdicts
from ldpnb.run import derived, errata
from ldpnb.run.catalogue import catalogue
from ldpnb.run.ledger import changes, committed_ledger, ledger

CLAIMS = claims.claims()

WITH_CODE = [pytest.param(claim, id=claim.id) for claim in CLAIMS if "python" in claim.words]
"""Claims with a counterexample, and lines of Python that compute it."""

WIDTH_OF_A_PAGE = 96
"""Characters of a line of code that a page of the sheet as a PDF has room for."""


# The ledger


def test_the_committed_ledger_is_current() -> None:
    assert [row["claim"] for row in committed_ledger()] == [claim.id for claim in CLAIMS]
    assert changes(ledger()) == [], "`ldpnb run 99_verdicts` renews it"


def test_every_verdict_that_has_changed_is_told() -> None:
    guessed = ledger().assign(how="guessed")
    assert len(changes(guessed)) == len(guessed)


def test_a_claim_that_is_not_settled_says_why() -> None:
    for claim in CLAIMS:
        verdict = claims.decide(claim.id)
        is_settled = verdict.status != "not settled"
        assert is_settled == (not verdict.doubt), claim.id


# The list of claims


def checks_in(module: str) -> Iterator[Callable[..., object]]:
    """Yield the functions of a module that take evidence and return numbers for words."""
    for _, function in inspect.getmembers(import_module(module), inspect.isfunction):
        signature = inspect.signature(function)
        if list(signature.parameters) == ["e"] and "Numbers" in str(signature):
            yield function


def test_every_claim_has_a_check_and_every_check_a_claim() -> None:
    checks = {claim.check for claim in CLAIMS}
    for module in {check.__module__ for check in checks}:
        for check in checks_in(module):
            assert check in checks, f"{check} is the check of no claim"


def test_every_claim_stands_in_a_notebook() -> None:
    shown: set[str] = set()
    for notebook in catalogue():
        shown |= set(notebook.claims)
    assert shown == {claim.id for claim in CLAIMS}


def by_series(numbers: Iterable[str]) -> dict[str, set[int]]:
    """Return the last numbers of theorems, figures and tables, by the series that they count.

    Theorem 3.2 and Lemma 3.3 belong to one series, and so do Figures 1 and 2. Equations are left
    out, since a claim need not cover each.
    """
    series: dict[str, set[int]] = {}
    for number in numbers:
        parts = re.fullmatch(r"(.*?)(\d+)", number)
        if parts is None or number.startswith("Equation"):
            continue
        before, last = parts.groups()
        of_section = re.sub(r"^\w+ (?=\w)", "", before)  # "3." of "Theorem 3.2"
        series.setdefault(of_section or before, set()).add(int(last))
    return series


@pytest.mark.parametrize("source", claims.sources())
def test_no_number_of_a_theorem_figure_or_table_is_left_out(source: str) -> None:
    excepted = claims.sources()[source].no_claim
    covered: list[str] = []
    for claim in claims.claims(source):
        covered += claim.numbers
    assert not set(covered) & set(excepted)

    for series, found in by_series([*covered, *excepted]).items():
        missing = set(range(1, max(found))) - found
        assert not missing, f"{series}{missing}: give a claim, or a reason in source.toml, no_claim"


# Erratum sheets and the README


def test_sheets_and_the_table_of_the_readme_are_current() -> None:
    for path, text in derived.derived().items():
        assert path.read_text(encoding="utf-8") == text, f"`ldpnb run 99_verdicts` renews {path}"


@pytest.mark.parametrize("claim", WITH_CODE)
def test_lines_of_python_need_no_package_of_ours_and_fit_a_page(claim: Claim) -> None:
    python = claim.words["python"]
    assert "ldpnb" not in python
    assert max(map(len, python.splitlines())) <= WIDTH_OF_A_PAGE
    assert errata.printed(python)


def test_a_cause_is_shown_by_one_counterexample() -> None:
    rows = pd.DataFrame(committed_ledger())
    rows["source"] = rows["claim"].str.partition("/")[0]
    wrong = rows[rows["cause"] != ""]
    for (_, cause), same_cause in wrong.groupby(["source", "cause"]):
        assert (same_cause["counterexample"] != "").sum() == 1, cause


def test_a_rebuilt_formula_is_marked_in_the_sheet() -> None:
    rebuilt = next(row for row in committed_ledger() if row["cause"] and row["rebuilt"] == "True")
    assert f"**{rebuilt['place']}**†" in errata.item(1, rebuilt["cause"], [rebuilt])

    printed = rebuilt | {"rebuilt": "False"}
    assert "†" not in errata.item(1, printed["cause"], [printed])


def test_a_readme_without_its_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"README.md must have the lines"):
        derived.with_table("no table")


# What a notebook shows


def test_a_notebook_shows_a_line_for_each_claim_and_folds_the_rest() -> None:
    shown = Verdicts(claims.select("biswas2022/theorem-3.5"), "../glossary.md")
    markdown = shown._repr_markdown_()
    assert markdown.startswith("**Theorem 3.5: [fails](../glossary.md#verdicts).** The variance")
    assert "<details><summary>proved" in markdown


def test_a_terminal_shows_a_line_for_each_claim_and_indents_the_rest() -> None:
    shown = Verdicts(claims.select("biswas2022/theorem-3.5"), "../glossary.md")
    first, *rest = repr(shown).splitlines()
    assert first.startswith("Theorem 3.5: fails (proved")
    assert all(line.startswith("    ") for line in rest)
    assert any("What is true instead" in line for line in rest)
