"""A published table of parameters with claimed losses or errors, judged row by row."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ldpnb.accuracy.information import unbiased_frequency_error
from ldpnb.checks import UsageError, nearest, shown
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.audit import audit

MECHANISMS: Mapping[str, Callable[..., Any]] = {
    **FREQUENCY,
    **{made.__name__: made for made in (KaryRandomisedResponse, UnaryEncoding, SubsetSelection, SignRandomiser)},
}
"""By the names in `ldpnb.FREQUENCY`, with the parameters epsilon and domain_size, or by class, with its own."""

_CLAIMS = _CLAIMED_LOSS, _CLAIMED_ERROR = "claimed_epsilon", "claimed_error"


def judged(rows: Iterator[Mapping[str, str]]) -> Iterator[tuple[dict[str, str], bool]]:
    """Yield for each row the exact values beside the claimed ones, and whether all claims hold.

    A claimed epsilon holds if the exact loss is no larger, up to half a unit of its last printed digit. A claimed
    error, users times the mean squared error of a fixed population's unbiased frequencies all together (which is the
    same for all data), holds if it is the exact one rounded to the printed digits.

    Raises
    ------
    UsageError
        For an unknown mechanism or parameter, or a row without a claim.
    """
    for number, row in enumerate(rows, 1):
        mechanism = _made(row, number)
        parts, holds = {"row": str(number), "mechanism": row["mechanism"]}, True
        given = {name: row[name] for name in _CLAIMS if row.get(name)}
        if not given:
            raise UsageError(f"row {number}: needs {_CLAIMED_LOSS} or {_CLAIMED_ERROR}")
        for name, text in given.items():
            exact = audit(mechanism).epsilon if name == _CLAIMED_LOSS else float(unbiased_frequency_error(mechanism))
            claimed, half = _number(text, f"row {number}: {name}"), _half_a_digit(text)
            fits = exact <= claimed + half if name == _CLAIMED_LOSS else abs(exact - claimed) <= half
            parts |= {name: text, name.replace("claimed", "exact"): f"{exact:.6g}"}
            holds &= fits
        yield parts | {"verdict": "holds" if holds else "does not hold"}, holds


def _made(row: Mapping[str, str], number: int) -> Any:
    name = row.get("mechanism") or ""
    if name not in MECHANISMS:
        meant = nearest(name, list(MECHANISMS))
        raise UsageError(f"row {number}: no mechanism {shown(name)}{meant}; there are {', '.join(MECHANISMS)}")
    given = {key: text for key, text in row.items() if key and text and key not in ("mechanism", *_CLAIMS)}
    known = list(inspect.signature(MECHANISMS[name]).parameters)
    if set(given) - set(known):
        raise UsageError(f"row {number}: {name} takes {', '.join(known)}, got {', '.join(given)}")
    try:
        return MECHANISMS[name](**{key: _number(text, f"row {number}: {key}") for key, text in given.items()})
    except (TypeError, ValueError) as error:
        raise UsageError(f"row {number}: {error}") from None


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{what} must be a number, got {shown(text)}") from None
    return int(value) if value.is_integer() and "." not in text else value


def _half_a_digit(text: str) -> float:
    """Return half a unit of the last printed digit.

    >>> _half_a_digit("0.25"), _half_a_digit("3"), _half_a_digit("1.5e-3")
    (0.005, 0.5, 5e-05)
    """
    digits, _, exponent = text.strip().lower().partition("e")
    places = len(digits.partition(".")[2])
    return float(f"5e{int(exponent or 0) - places - 1}")
