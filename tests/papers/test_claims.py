"""The registry is complete: every claim of a source has a check, a verdict, evidence and one notebook.

Each formula of the package that a check calls is listed under its row, where the negative controls break it. What
returns no real numbers is no formula: laws to enumerate, samples, whole numbers, rules.
"""

import inspect
import re
from pathlib import Path
from types import CodeType

import pytest
from traces import profiled, route_trace, routes
from wrong import owner_of

import ldpnb
from ldpnb import claims, sections
from ldpnb.claims import Evidence
from ldpnb.run import errata
from ldpnb.run.catalogue import catalogue
from ldpnb.run.ledger import changes, committed_ledger, ledger

COMMITTED = {row.claim: (row.status, row.reach) for row in committed_ledger().itertuples()}

HOME = Path(ldpnb.__file__).parent
ROOMS = ("accuracy", "designs", "estimators", "mechanisms", "privacy")
NO_NUMBERS = re.compile(r"dict|int|bool|Law|Callable|Outcomes|Strata|GroupGap")
"""Return types of what is no formula."""


def room(code: object) -> str:
    path = Path(code.co_filename) if isinstance(code, CodeType) else Path()
    return path.relative_to(HOME).parts[0] if path.is_relative_to(HOME) else ""


def formula(code: object) -> str | None:
    """Where the function with that code lives below ``ldpnb``, if it is public and returns real numbers."""
    if not isinstance(code, CodeType) or room(code) not in ROOMS:
        return None
    module = Path(code.co_filename).relative_to(HOME).with_suffix("").as_posix().replace("/", ".")
    path = f"{module.removesuffix('.__init__')}.{code.co_qualname}"
    if module == "designs.sizes" or re.search(r"<|\._", path):
        return None
    owner, name = owner_of(path)
    raw = owner.__dict__[name]
    function = inspect.unwrap(getattr(raw, "fget", None) or getattr(raw, "__func__", raw))
    return None if NO_NUMBERS.search(str(function.__annotations__["return"])) else path


@pytest.fixture(autouse=True, scope="module")
def _decided_here() -> None:
    claims.decide.cache_clear()
    sections.parted.cache_clear()


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda c: c.id)
def test_a_claim_is_decided_as_committed_by_evidence_with_numbers_from_the_formulas_that_it_lists(
    claim: claims.Claim,
) -> None:
    every = [entry for route in routes(claim) for entry in route_trace(route)]
    every += profiled(claims.decide, claim.id)
    verdict = claims.decide(claim.id)
    assert (verdict.status, verdict.reach) == COMMITTED.get(claim.id), "`ldpnb run 99_verdicts` renews the ledger"
    assert re.search(r"\d", verdict.evidence) or verdict.kind == "proof"
    assert not re.search(r"\de-1[3-9]", verdict.evidence), "rounding errors differ between machines"
    called = {call.code for entry in every if room(entry.code) == "papers" for call in entry.calls or ()}
    unlisted = {path for path in map(formula, called) if path} - set(claim.rests_on)
    assert not unlisted, "list them under the row, or split the second route"
    assert called & {Evidence.needs.__code__, Evidence.decides.__code__}


def test_every_claim_stands_in_exactly_one_notebook_of_its_source() -> None:
    shown = [(claim, notebook.id) for notebook in catalogue() for claim in notebook.claims]
    assert sorted(claim for claim, _ in shown) == sorted(claim.id for claim in claims.claims())
    of_a_source = [(claim.split("/")[0], notebook) for claim, notebook in shown if "companion/" not in claim]
    assert all(source in notebook for source, notebook in of_a_source)


def test_the_registry_is_the_list_of_what_the_sources_claim() -> None:
    listed = (Path(__file__).parent / "claims.txt").read_text().split()
    assert [c.id for c in claims.claims() if c.says] == listed


@pytest.mark.parametrize("source", errata.sheets())
def test_the_committed_erratum_sheet_is_current(source: str) -> None:
    assert errata.sheets()[source].read_text(encoding="utf-8") == errata.sheet(source)


def test_the_committed_ledger_is_current() -> None:
    table = ledger()
    assert changes(table) == []
    assert len(changes(table.assign(reach="nowhere"))) == len(table)
    assert list(COMMITTED) == [c.id for c in claims.claims()]
