"""Compare the numbers that a claim prints with the same numbers computed anew in high precision.

A certificate is a piece of a verdict's text with ``{}`` where numbers stand, and a function of no arguments that
returns those numbers, written from the source's formula in mpmath. It is evaluated at two precisions, whose agreement
bounds its own rounding error; what is printed must be within half a unit of its last digit. Where ``{>=}`` stands it is
an upper bound, rounded up."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

import pandas as pd
from mpmath import mp, mpf

from ldpnb.run.ledger import committed_ledger

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
DIGITS = (27, 35)


LEDGER = pd.DataFrame(committed_ledger()).set_index("claim")
TEXTS = LEDGER[["evidence", "corrected", "assumption"]].agg(" | ".join, axis=1)
"""All that the committed ledger says of a claim; the tests of notebooks compare it with the checks."""


def printed(claim: str, piece: str) -> list[str]:
    """Return the numbers that stand at the gaps of a piece of the verdict's text."""
    pattern = f"({NUMBER})".join(map(re.escape, re.split(r"\{(?:>=)?\}", piece)))
    places = re.findall(pattern, TEXTS[claim])
    assert len(places) == 1, f"{claim}: {piece!r} occurs {len(places)} times in: {TEXTS[claim]}"
    return [places[0]] if isinstance(places[0], str) else list(places[0])


def values(function: Callable[[], object]) -> list[mpf]:
    """Return what a function computes, after making sure that its precision suffices."""
    results = []
    for digits in DIGITS:
        with mp.workdps(digits):
            result = function()
            results.append([mpf(x) for x in (result if isinstance(result, Iterable) else [result])])
    coarse, fine = results
    for one, other in zip(coarse, fine, strict=True):
        assert abs(one - other) <= mpf(10) ** -15 * max(1, abs(other)), (
            f"unstable: {one} and {other}"
        )
    return fine


def certify(claim: str, piece: str, function: Callable[[], object]) -> None:
    """Fail unless every number printed in the piece is the value's to its last digit."""
    shown, exact = printed(claim, piece), values(function)
    assert len(shown) == len(exact), (
        f"{claim}: {len(shown)} numbers in {piece!r}, {len(exact)} computed"
    )
    for number, value, bound in zip(shown, exact, re.findall(r"\{(>=)?\}", piece), strict=True):
        with mp.workdps(DIGITS[-1]):
            off = (mpf(number) - value) / mpf(10) ** Decimal(
                number
            ).as_tuple().exponent  # in units of the last digit
            low, high = (mpf(0), mpf(1)) if bound else (mpf("-0.5000001"), mpf("0.5000001"))
            assert low <= off <= high, f"{claim}: printed {number}, is {mp.nstr(value, 15)}"


def largest(holds: Callable[[mpf], bool], low: mpf, high: mpf) -> mpf:
    """Return the largest number at which a condition still holds that holds at `low` and no longer at `high`."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
