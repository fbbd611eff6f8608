"""Check that a wrong formula under a claim would be noticed.

While the check of a claim runs, every formula that it calls is recorded: the claim *rests on* them.
Each of them is then broken on purpose, in one of the six ways of `broken.py`, and two parties may
notice:

- a second route: a test in this folder that computes the same number in another way fails;
- the check of the claim: it fails, or its verdict changes.

A break that changes no number under this claim needs no notice. An example is worked out at the
head of `broken.py`, and `tests/papers/README.md` says what to do if a test here names your claim.

In every run each formula is broken in one way, which its name chooses. At night all ways are tried,
except under simulated claims, whose checks take long.
"""

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from broken import OutOfTimeError, broken, forget_results, in_place_of, limited, possible_ways
from threadpoolctl import threadpool_limits

from ldpnb import claims
from ldpnb.claims import Claim, Verdict, verdict
from ldpnb.claims.formulas import recorded

threadpool_limits(1)  # beside other workers a thread of linear algebra that waits burns their time

CLAIMS = [pytest.param(claim, id=claim.id) for claim in claims.claims()]
ADVICE = "compare it with a second route, at the numbers that the check asks it for"

Route = Callable[[], None]


# What is known while all formulas are right


@cache
def second_routes() -> dict[Route, set[str]]:
    """The tests in this folder, each with the formulas that it calls."""
    called: dict[Route, set[str]] = {}
    for test in routes_in_this_folder():
        forget_results()
        with recorded() as formulas:
            test()
        called[test] = formulas
    return called


def routes_in_this_folder() -> Iterator[Route]:
    """Yield the tests of all files in this folder but this one."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        if file.stem == __name__:
            continue
        module = importlib.import_module(file.stem)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_"):
                yield function


@cache
def while_right(claim: Claim) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict of a claim, and the formulas that it rests on."""
    check = claim.check  # whose module is imported here, and not while formulas are recorded

    forget_results()
    with recorded() as formulas:
        right = verdict(claim, check)
    return right, tuple(sorted(formulas))


# Who notices when one is broken


def fails(test: Callable[[], object]) -> bool:
    """Whether a test fails, or takes too long."""
    with warnings.catch_warnings(), limited():
        warnings.simplefilter("ignore")  # such as of an overflow in a broken formula
        try:
            test()
        except (Exception, OutOfTimeError):
            return True
    return False


@cache
def noticed_by_a_second_route(path: str, way: str) -> bool:
    """Whether a second route fails while a formula is broken in that way."""
    for route, formulas in second_routes().items():
        if path not in formulas:
            continue
        wrong = broken(path, way)  # anew: one that is wrong on a part remembers where it began
        assert wrong is not None
        with in_place_of(path, wrong):
            if fails(route):
                return True
    return False


def noticed_by_the_check(claim: Claim, path: str, way: str) -> bool:
    """Whether a claim's check fails or decides otherwise, or no number of it has changed."""
    right, _ = while_right(claim)
    wrong = broken(path, way)
    assert wrong is not None

    def decides_as_before() -> None:
        found = verdict(claim, claim.check)
        assert found.status == right.status
        assert found.doubt == right.doubt

    with in_place_of(path, wrong) as trial:
        return fails(decides_as_before) or not trial.changed_a_number


def unnoticed(claim: Claim, number: int | None) -> Iterator[str]:
    """Yield what nobody notices, with each formula under a claim broken in that many ways.

    None stands for all ways.
    """
    right, formulas = while_right(claim)
    if right.how == "simulated":
        number = 1

    for path in formulas:
        for way in possible_ways(path)[:number]:
            if noticed_by_a_second_route(path, way):
                continue
            if noticed_by_the_check(claim, path, way):
                continue
            yield f"{path}: {way}"


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_broken_formula_under_a_claim_is_noticed(claim: Claim) -> None:
    missed = list(unnoticed(claim, 1))
    assert not missed, f"{ADVICE}\n" + "\n".join(missed)


@pytest.mark.nightly
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_formula_broken_in_any_way_is_noticed(claim: Claim) -> None:
    missed = list(unnoticed(claim, None))
    assert not missed, f"{ADVICE}\n" + "\n".join(missed)
