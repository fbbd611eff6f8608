"""A formula that is broken is noticed: by a second route, or by the check of each claim that it
moves.

Which formulas a claim rests on is recorded while its check runs. Each is broken in several ways
(`broken.KINDS`); one way, which the formula's name chooses, is tried in every run of the tests,
and all of them at night.
"""

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from broken import OutOfTimeError, broken, forget, in_place_of, limited, ways
from threadpoolctl import threadpool_limits

from ldpnb import claims
from ldpnb.claims import Claim, Verdict, verdict
from ldpnb.claims.formulas import recorded, resting_on

threadpool_limits(1)  # beside other workers a thread of linear algebra that waits burns their time

CLAIMS = [pytest.param(claim, id=claim.id) for claim in claims.claims()]
Route = Callable[[], None]
ADVICE = "compare it with a second route, at the numbers that the check asks it for"


@cache
def routes() -> dict[Route, set[str]]:
    """The second routes, each with the formulas that it calls."""
    called: dict[Route, set[str]] = {}
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        if file.stem == __name__:
            continue
        module = importlib.import_module(file.stem)
        for name, test in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_"):
                forget()
                with recorded() as called[test]:
                    test()
    return called


@cache
def rests_on(claim: Claim) -> tuple[str, ...]:
    """The formulas that a claim rests on."""
    forget()
    return resting_on(claim)


@cache
def as_it_is(claim: Claim) -> Verdict:
    """The verdict of a claim while all formulas are right."""
    return verdict(claim, claim.check)


def fails(test: Callable[[], object]) -> bool:
    """Whether a test fails, or takes too long."""
    with warnings.catch_warnings(), limited():
        warnings.simplefilter("ignore")  # of what a broken formula leads to
        try:
            test()
        except (Exception, OutOfTimeError):
            return True
    return False


@cache
def noticed_by_a_route(path: str, kind: str) -> bool:
    """Whether a second route notices a formula that is broken in a way."""
    wrong = broken(path, kind)
    assert wrong is not None
    asked = [route for route, called in routes().items() if path in called]
    with in_place_of(path, wrong):
        return any(map(fails, asked))


def noticed_by_its_check(claim: Claim, path: str, kind: str) -> bool:
    """Whether the check of a claim notices, or the break moves no value under this claim."""
    right = as_it_is(claim)
    wrong = broken(path, kind)
    assert wrong is not None

    def settled() -> None:
        found = verdict(claim, claim.check)
        assert (found.status, found.doubt) == (right.status, right.doubt)

    with in_place_of(path, wrong) as moved:
        return fails(settled) or not moved


def unnoticed(claim: Claim, number: int | None) -> Iterator[str]:
    """Yield what nobody notices of the formulas under a claim, each broken in that many ways."""
    for path in rests_on(claim):
        if as_it_is(claim).how == "simulated":
            number = 1
        for kind in ways(path)[:number]:
            if noticed_by_a_route(path, kind) or noticed_by_its_check(claim, path, kind):
                continue
            yield f"{path}: {kind}"


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_broken_formula_under_a_claim_is_noticed(claim: Claim) -> None:
    missed = list(unnoticed(claim, 1))
    assert not missed, f"{ADVICE}\n" + "\n".join(missed)


@pytest.mark.nightly
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_formula_broken_in_any_way_is_noticed(claim: Claim) -> None:
    missed = list(unnoticed(claim, None))
    assert not missed, f"{ADVICE}\n" + "\n".join(missed)
