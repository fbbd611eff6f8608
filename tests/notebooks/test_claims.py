"""The registry is complete: every claim of the five sources has a check, a verdict, evidence and one notebook."""

import re
from pathlib import Path

import pytest

from ldpnb import claims
from ldpnb.run import errata
from ldpnb.run.catalogue import catalogue
from ldpnb.run.ledger import changes, committed_ledger

COMMITTED = {row.claim: (row.status, row.reach) for row in committed_ledger().itertuples()}


@pytest.fixture(scope="module")
def shown() -> dict[str, list[str]]:
    where: dict[str, list[str]] = {}
    for notebook in catalogue():
        for claim in notebook.claims:
            where.setdefault(claim, []).append(notebook.id)
    return where


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda c: c.id)
def test_a_claim_is_decided_as_committed_by_evidence_with_numbers(claim: claims.Claim) -> None:
    verdict = claims.decide(claim.id)
    assert (verdict.status, verdict.reach) == COMMITTED[claim.id]
    assert claim.says
    assert "\n" not in verdict.evidence
    assert re.search(r"\d", verdict.evidence) or verdict.kind == "proof"
    assert not re.search(r"\de-1[3-9]", verdict.evidence), "rounding errors differ between machines"


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda c: c.id)
def test_a_claim_stands_in_exactly_one_notebook_of_its_source(claim: claims.Claim, shown: dict[str, list[str]]) -> None:
    assert len(shown.get(claim.id, [])) == 1
    assert claim.source in shown[claim.id][0] or claim.source not in claims.SOURCES


def test_the_registry_is_the_list_of_what_the_sources_claim() -> None:
    listed = (Path(__file__).parent / "claims.txt").read_text().split()
    assert [c.id for c in claims.claims()] == listed


def test_notebooks_list_registered_claims_only(shown: dict[str, list[str]]) -> None:
    assert set(shown) == {c.id for c in claims.claims()}


@pytest.mark.parametrize("source", errata.sheets())
def test_the_committed_erratum_sheet_is_current(source: str) -> None:
    assert errata.sheets()[source].read_text(encoding="utf-8") == errata.sheet(source)


def test_the_committed_ledger_is_current() -> None:
    assert changes() == []
    assert list(COMMITTED) == [c.id for c in claims.claims()]
