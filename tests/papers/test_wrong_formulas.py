"""Make every formula under every claim wrong and see the verdict become open: by one per cent, and in kind (a sign, a
factor in one term, a number off by one, two operands exchanged, or one per cent too much on a part of the domain).

The kind tried first and the place in the code follow from the formula's name; if a claim's check computes the same
numbers to 1e-6 with it, the next one is tried, and at last a result that is one too large.
"""

import copy
import inspect
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import pytest
from traces import Route, compared, executed, routes
from wrong import apart, function_of, owner_of, wrong_formulas, wrong_result

from ldpnb import claims, sections
from ldpnb.run.ledger import committed_ledger

OPEN = {row.claim: row.evidence for row in committed_ledger().itertuples() if row.status == "open"}
"""What claims that are open as they stand say: of a wrong formula they have to say something else."""
RESTING: dict[tuple[str, str], list[claims.Claim]] = defaultdict(list)
"""The claims of a source that rest on a formula; data are none."""
for claim in claims.claims():
    for path in (path for path in claim.rests_on if not path.startswith("data.")):
        RESTING[claim.source, path].append(claim)
ALL = pytest.mark.parametrize(("source", "path"), sorted(RESTING))
KEPT: dict[Route, str] = {}
"""Where second routes part, kept for those that do not run the formula that is wrong."""


def parted(route: Route) -> str:
    if route not in KEPT:
        KEPT[route] = compared(route)
    return KEPT[route]


@pytest.fixture(autouse=True, scope="module")
def _kept_routes() -> Iterator[None]:
    for route in {route for claim in claims.claims() for route in routes(claim)}:
        executed(route)  # while all formulas are right
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "parted", parted)
        yield


def forget(code: CodeType) -> None:
    for route in [route for route in KEPT if code in executed(route)]:
        del KEPT[route]


def opened(claim: claims.Claim) -> bool:
    verdict = claim.check()
    return verdict.status == "open" and verdict.evidence != OPEN.get(claim.id)


@contextmanager
def replaced(path: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Put what `make` returns of a formula in its place; no second route remembers the other one."""
    owner, name = owner_of(path)
    original, code = owner.__dict__[name], function_of(path).__code__
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a wrong formula leads to
        if isinstance(original, property):
            patch.setattr(owner, name, property(make(original.fget)))
        elif isinstance(original, classmethod):
            patch.setattr(owner, name, classmethod(make(original.__func__)))
        else:
            patch.setattr(owner, name, make(original))
        forget(code)
        yield
    forget(code)


def noticing(right: Any, wrong: Any, changed: list[bool]) -> Callable[..., Any]:
    """The wrong formula, which notes whether it ever differs from the right one."""

    def asked(*args: Any, **kwargs: Any) -> Any:
        if changed:
            return wrong(*args, **kwargs)
        again = copy.deepcopy(kwargs) if "rng" in kwargs else kwargs
        expected = right(*args, **again)
        try:
            value = wrong(*args, **kwargs)
        except Exception:
            changed.append(True)
            raise
        if apart(value, expected):
            changed.append(True)
        return value

    return asked


@ALL
def test_a_formula_wrong_by_one_per_cent_opens_every_verdict_that_rests_on_it(source: str, path: str) -> None:
    with replaced(path, lambda right: lambda *args, **kwargs: wrong_result(right(*args, **kwargs))):
        assert not [claim.id for claim in RESTING[source, path] if not opened(claim)]


@ALL
def test_a_formula_wrong_in_kind_opens_every_verdict_that_rests_on_it(source: str, path: str) -> None:
    unmoved, missed = list(RESTING[source, path]), []
    for kind, wrong in wrong_formulas(path):
        changed: list[bool] = []
        with replaced(
            path, lambda right, wrong=wrong, changed=changed: noticing(inspect.unwrap(right), wrong, changed)
        ):
            for claim in list(unmoved):
                changed.clear()
                try:
                    noticed = opened(claim)
                except Exception:  # a wrong formula may end in anything
                    noticed = True
                if changed or noticed:
                    unmoved.remove(claim)
                    missed += [] if noticed else [f"{claim.id}: {kind}"]
    assert not missed
    assert not unmoved
