"""Make every formula under every claim wrong and see the verdict become open: by one per cent, and in kind (a sign, a
factor in one term, a number off by one, two operands exchanged, or one per cent too much on a part of the domain).

The kind tried first and the place in the code follow from the formula's name; if it returns the same to 1e-6 whenever a
claim's check or a second route of it calls the formula, the next one is tried, and at last a result one too large.
"""

import contextlib
import copy
import pickle
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from traces import Route, compared, routes
from wrong import apart, owner_of, wrong_formulas, wrong_result

from ldpnb import claims, sections
from ldpnb.privacy import optimiser
from ldpnb.run.ledger import committed_ledger

OPEN = {row.claim: row.evidence for row in committed_ledger().itertuples() if row.status == "open"}
"""What claims that are open as they stand say: of a wrong formula they have to say something else."""
RESTING: dict[tuple[str, str], list[claims.Claim]] = defaultdict(list)
"""The claims of a source that rest on a formula; data are none."""
for claim in claims.claims():
    for path in (path for path in claim.rests_on if not path.startswith("data.")):
        RESTING[claim.source, path].append(claim)
ALL = pytest.mark.parametrize(("source", "path"), sorted(RESTING))
Call = tuple[tuple[Any, ...], dict[str, Any], Any]
"""Arguments of a formula and what it returned."""


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


def replace(patch: pytest.MonkeyPatch, path: str, make: Callable[[Any], Any]) -> None:
    """Put what `make` returns of a formula in its place."""
    owner, name = owner_of(path)
    original = owner.__dict__[name]
    if isinstance(original, property):
        patch.setattr(owner, name, property(make(original.fget)))
    elif isinstance(original, classmethod):
        patch.setattr(owner, name, classmethod(make(original.__func__)))
    else:
        patch.setattr(owner, name, make(original))


def again(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments for another call, whose random numbers are the same."""
    return copy.deepcopy(kwargs) if "rng" in kwargs else kwargs


def recorded(right: Callable[..., Any], kept: list[Call]) -> Callable[..., Any]:
    def asked(*args: Any, **kwargs: Any) -> Any:
        given = again(kwargs)
        kept.append((args, given, right(*args, **kwargs)))
        return kept[-1][-1]

    return asked


@cache
def calls(asking: claims.Claim | Route) -> dict[str, list[Call]]:
    """Every call of a source's formulas by a check, without its second routes, or by a second route; all are right."""
    is_claim = isinstance(asking, claims.Claim)
    source, made = asking.source if is_claim else asking.__module__.split(".")[2], defaultdict(list)
    with pytest.MonkeyPatch.context() as patch:
        for path in (path for other, path in RESTING if other == source):
            replace(patch, path, lambda right, path=path: recorded(right, made[path]))
        patch.setattr(sections, "parted", lambda route: "")
        asking.check() if is_claim else compared(asking)
    return made


@contextlib.contextmanager
def replaced(source: str, path: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace a formula; second routes that call it are compared anew, the others agree."""
    anew = {route for claim in RESTING[source, path] for route in routes(claim) if calls(route)[path]}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a wrong formula leads to
        patch.setattr(sections, "parted", cache(lambda route: compared(route) if route in anew else ""))
        replace(patch, path, make)
        yield


def opened(claim: claims.Claim) -> bool:
    verdict = claim.check()
    return verdict.status == "open" and verdict.evidence != OPEN.get(claim.id)


def differs(wrong: Callable[..., Any], call: Call) -> bool:
    args, kwargs, expected = call
    try:
        return apart(wrong(*args, **again(kwargs)), expected)
    except Exception:  # a wrong formula may end in anything
        return True


@ALL
def test_a_formula_wrong_by_one_per_cent_opens_every_verdict_that_rests_on_it(source: str, path: str) -> None:
    with replaced(source, path, lambda right: lambda *args, **kwargs: wrong_result(right(*args, **kwargs))):
        assert not [claim.id for claim in RESTING[source, path] if not opened(claim)], "compare it by a second route"


@ALL
def test_a_formula_wrong_in_kind_opens_every_verdict_that_rests_on_it(source: str, path: str) -> None:
    resting = {claim: (*routes(claim), claim) for claim in RESTING[source, path]}
    made = (call for asking in resting.values() for one in asking for call in calls(one)[path])
    missed = []
    for kind, wrong in wrong_formulas(path, ([*args, *kwargs.values()] for args, kwargs, _ in made)):
        moved = cache(lambda one, wrong=wrong: any(differs(wrong, call) for call in calls(one)[path]))
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
