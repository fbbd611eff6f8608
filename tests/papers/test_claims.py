"""The registry is complete: every claim of a source has a check, a verdict, evidence and one notebook.

Each formula of the package that a check or a second route calls is listed under its row. Made wrong under every claim,
by one per cent and in kind (a sign, a factor in one term, a number off by one, two operands exchanged, or one per cent
too much on a part of the domain), it opens the verdict. What returns no real numbers is no formula: laws to enumerate,
samples, whole numbers, rules.

The kind tried first and the place in the code follow from the formula's name; if it returns the same to 1e-6 whenever a
claim's check or a second route of it calls the formula, the next one is tried, and at last a result one too large.
"""

import contextlib
import copy
import importlib
import inspect
import pickle
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import formulas
import pytest
from threadpoolctl import threadpool_limits
from wrong import apart, function_of, owner_of, wrong_formulas, wrong_result

import ldpnb
from ldpnb import claims, sections
from ldpnb.privacy import optimiser
from ldpnb.run import errata
from ldpnb.run.catalogue import catalogue
from ldpnb.run.ledger import changes, committed_ledger, ledger

threadpool_limits(
    1
)  # beside other workers a thread of linear algebra that waits burns what they need

LEDGER = {row["claim"]: row for row in committed_ledger()}
PAPERS = Path(ldpnb.__file__).parent / "papers"
NO_NUMBERS = re.compile(r"dict|int|bool|Law|Callable|Outcomes|Strata|GroupGap")
"""Return types of what is no formula."""
DECIDING = {"claims.Evidence.needs", "claims.Evidence.decides"}

RESTING: dict[tuple[str, str], list[claims.Claim]] = defaultdict(list)
"""The claims of a source that rest on a formula; data are none."""
for claim in claims.claims():
    for path in (path for path in claim.rests_on if not path.startswith("data.")):
        RESTING[claim.source, path].append(claim)
ALL = pytest.mark.parametrize(("source", "path"), sorted(RESTING))
Route = Callable[[], sections.Pairs]
Call = tuple[tuple[Any, ...], dict[str, Any], Any]
"""Arguments of a formula and what it returned."""
compared: Callable[[Route], str] = sections.parted.__wrapped__
"""Where a formula and its second route part, computed anew."""


@cache
def public() -> frozenset[str]:
    """The paths below ``ldpnb`` of all public functions, methods and properties that return real numbers."""
    paths = set()
    for own in formulas.modules():
        for name, thing in vars(importlib.import_module(own)).items():
            if getattr(thing, "__module__", "") == own:
                parts = [f".{part}" for part in vars(thing)] if isinstance(thing, type) else [""]
                paths |= {f"{own.removeprefix('ldpnb.')}.{name}{part}" for part in parts}
    made = {
        path: function_of(path) for path in paths if not re.search(r"\._|formulas\.sizes", path)
    }
    kinds = {
        path: str(own.__annotations__["return"])
        for path, own in made.items()
        if inspect.isfunction(own)
    }
    return frozenset(path for path, kind in kinds.items() if not NO_NUMBERS.search(kind))


@dataclass
class Trace:
    """What a check, without its second routes, or a second route calls, while all formulas are right."""

    source: str
    calls: dict[str, list[Call]] = field(default_factory=lambda: defaultdict(list))
    direct: set[str] = field(default_factory=set)
    parted: str = ""


def again(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments for another call, whose random numbers are the same."""
    return copy.deepcopy(kwargs) if "rng" in kwargs else kwargs


def recorded(path: str, right: Callable[..., Any]) -> Callable[..., Any]:
    def asked(*args: Any, **kwargs: Any) -> Any:
        trace = recorded.trace
        caller = Path(sys._getframe(1).f_code.co_filename)
        if caller.is_relative_to(PAPERS) and caller.parent.name != "formulas":
            trace.direct.add(path)
        if (trace.source, path) not in RESTING:
            return right(*args, **kwargs)
        given = again(kwargs)
        trace.calls[path].append((args, given, right(*args, **kwargs)))
        return trace.calls[path][-1][-1]

    return asked


def replacement(path: str, make: Callable[[Any], Any]) -> tuple[Any, str, Any]:
    """The owner of a formula, its name there, and what `make` returns of it in the same form."""
    owner, name = owner_of(path)
    original = owner.__dict__[name]
    if isinstance(original, property):
        return owner, name, property(make(original.fget))
    if isinstance(original, classmethod):
        return owner, name, classmethod(make(original.__func__))
    return owner, name, make(original)


@cache
def recorders() -> list[tuple[Any, str, Any]]:
    paths = {*public(), *DECIDING, *(path for _, path in RESTING)}
    return [
        replacement(path, lambda right, path=path: recorded(path, right)) for path in sorted(paths)
    ]


@cache
def trace(asking: claims.Claim | Route) -> Trace:
    is_claim = isinstance(asking, claims.Claim)
    own = recorded.trace = Trace(asking.source if is_claim else asking.__module__.split(".")[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "parted", lambda route: "")
        for recorder in recorders():
            patch.setattr(*recorder)
        if is_claim:
            claims.decide(asking.id)
        else:
            own.parted = compared(asking)
    recorded.trace = Trace("")
    return own


def routes(claim: claims.Claim) -> Iterator[Route]:
    """The second routes of the formulas under a claim."""
    own = sections._routes.get(claim.source, {})
    yield from (
        route for path in claim.rests_on for route, formulas in own.items() if path in formulas
    )


@pytest.fixture(autouse=True, scope="module")
def _decided_here() -> None:
    claims.decide.cache_clear()


@pytest.fixture(autouse=True, scope="module")
def _linear_programs_solved_once() -> Iterator[None]:
    """Keep solutions of linear programs, which are no formula: most wrong formulas pose those of the right one."""
    solve, solved = optimiser._solve, {}

    def kept(*arrays: Any, **more: Any) -> Any:
        asked = pickle.dumps((arrays, more))
        value, solution = solved.get(asked) or solved.setdefault(asked, solve(*arrays, **more))
        return value, solution.copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimiser, "_solve", kept)
        yield


@pytest.mark.parametrize("claim", claims.claims(), ids=lambda c: c.id)
def test_a_claim_is_decided_as_committed_by_evidence_with_numbers_from_the_formulas_that_it_lists(
    claim: claims.Claim,
) -> None:
    traces = [trace(asking) for asking in (claim, *routes(claim))]
    assert not [own.parted for own in traces if own.parted]
    verdict, committed = claims.decide(claim.id), LEDGER[claim.id]
    assert (verdict.status, verdict.reach) == (committed["status"], committed["reach"]), (
        "`ldpnb run 99_verdicts` renews it"
    )
    assert re.search(r"\d", verdict.evidence) or verdict.kind == "proof"
    assert not re.search(r"\de-1[3-9]", verdict.evidence), "rounding errors differ between machines"
    called = set().union(*(own.direct for own in traces))
    assert not (called & {*public()}) - {*claim.rests_on}, (
        "list them under the row, or split the second route"
    )
    assert called & DECIDING


def test_every_claim_stands_in_exactly_one_notebook_of_its_source() -> None:
    shown = [(claim, notebook.id) for notebook in catalogue() for claim in notebook.claims]
    assert sorted(claim for claim, _ in shown) == sorted(claim.id for claim in claims.claims())
    of_a_source = [
        (claim.split("/")[0], notebook) for claim, notebook in shown if "companion/" not in claim
    ]
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
    assert list(LEDGER) == [c.id for c in claims.claims()]


@contextlib.contextmanager
def replaced(source: str, path: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace a formula; second routes that call it are compared anew, the others agree."""
    anew = {
        route
        for claim in RESTING[source, path]
        for route in routes(claim)
        if trace(route).calls[path]
    }
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a wrong formula leads to
        patch.setattr(
            sections, "parted", cache(lambda route: compared(route) if route in anew else "")
        )
        patch.setattr(*replacement(path, make))
        yield


def opened(claim: claims.Claim) -> bool:
    """Whether a claim is open, for another reason than one that is open as it stands."""
    verdict, committed = claim.check(), LEDGER[claim.id]
    return verdict.status == "open" and (
        committed["status"] != "open" or verdict.evidence != committed["evidence"]
    )


def differs(wrong: Callable[..., Any], call: Call) -> bool:
    args, kwargs, expected = call
    try:
        return apart(wrong(*args, **again(kwargs)), expected)
    except Exception:  # a wrong formula may end in anything
        return True


@ALL
def test_a_formula_wrong_by_one_per_cent_opens_every_verdict_that_rests_on_it(
    source: str, path: str
) -> None:
    with replaced(
        source, path, lambda right: lambda *args, **kwargs: wrong_result(right(*args, **kwargs))
    ):
        assert not [claim.id for claim in RESTING[source, path] if not opened(claim)], (
            "compare it by a second route"
        )


@ALL
def test_a_formula_wrong_in_kind_opens_every_verdict_that_rests_on_it(
    source: str, path: str
) -> None:
    resting = {claim: (*routes(claim), claim) for claim in RESTING[source, path]}
    made = (
        call for asking in resting.values() for one in asking for call in trace(one).calls[path]
    )
    missed = []
    for kind, wrong in wrong_formulas(
        path, ([*args, *kwargs.values()] for args, kwargs, _ in made)
    ):
        moved = cache(
            lambda one, wrong=wrong: any(differs(wrong, call) for call in trace(one).calls[path])
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tried = [claim for claim, asking in resting.items() if any(map(moved, asking))]
        with replaced(source, path, lambda right, wrong=wrong: wrong):
            for claim in tried:
                del resting[claim]
                with contextlib.suppress(Exception):
                    missed += [] if opened(claim) else [f"{claim.id}: {kind}"]
        if not resting:
            break
    assert not missed, "compare it by a second route, at all numbers that they ask it for"
    assert not resting
