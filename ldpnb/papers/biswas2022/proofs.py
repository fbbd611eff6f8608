"""Proofs behind the claims of biswas2022: one user on symbols, and what follows for any number of them.

Users are independent, and the estimates affine in the tallies, so that the mean of an estimate is a sum over users, and
so is its variance. What one user does is written out from Definition 2.4 (`KEEP`, `SWITCH`); the closed forms and
estimates of the package are called as they stand.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import UnsoundError
from ldpnb.deciders import budget, expression, identity, oo, positive, symbols
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse

t, k, n, pi, f = symbols("t k n pi f")
"""``e^epsilon``, number of values, users, sampling rate, share of the users who hold the value."""

KARY = KaryRandomisedResponse(budget(t), k)
KEEP, SWITCH = t / (t + k - 1), 1 / (t + k - 1)
FIXED = ((n * f, KEEP, pi), (n * (1 - f), SWITCH, pi))
IID = ((n, f * KEEP + (1 - f) * SWITCH, pi),)
RARE = ((n, SWITCH, pi),)
"""Alike users: how many, the chance that a report is the value, and their sampling rate; `RARE` where nobody holds it,
the limit of either as ``f -> 0``, since moments are polynomials in ``f``.
"""

DATA = {"fixed": FIXED, "iid": IID}
DOMAIN = {"t": (1, oo), "k": (1, oo), "n": (0, oo), "pi": (0, 1), "f": (0, 1)}
EVERY = "epsilon > 0, k >= 2, 0 < pi <= 1, every n"
FIXED_OR_IID = f"{EVERY} and every data, fixed or iid"

SUMS = "Users are independent and the estimate is affine in the tallies, so mean and variance are sums over users."

Estimate = Callable[[Any], Any]
Users = Iterable[tuple[Any, Any, Any]]


def everywhere(value: Any, **further: tuple[Any, Any]) -> bool | None:
    """Decide whether a formula is positive on `DOMAIN`, with intervals for `further` symbols, or others."""
    box = DOMAIN | further
    return positive(value, {s: box[s.name] for s in expression(value).free_symbols})


def survey(data: Any = "fixed", rate: Any = pi) -> SampledCounts:
    """Return the closed forms on symbols."""
    return SampledCounts(n, rate, KARY, data)


def unadjusted(tallies: Any) -> Any:
    """Return c_DE from reports of the value and of all others."""
    return estimators.unadjusted(tallies, users=n, mechanism=KARY)[0]


def rescaled(tallies: Any, rate: Any = pi) -> Any:
    """Return g_DE."""
    return estimators.rescaled(tallies, users=n, sampling_rate=rate, mechanism=KARY)[0]


def realised(tallies: Any, rate: Any = pi) -> Any:
    """Return c-hat."""
    return estimators.realised_size(tallies, sampling_rate=rate, mechanism=KARY)[0]


def pooled(expected_reports: Any) -> Estimate:
    """Return T for a sum of the rates."""
    known: dict[str, Any] = {"users": n, "expected_reports": expected_reports, "mechanism": KARY}
    return lambda tallies: estimators.personalised(tallies, **known)[0]


def moments(estimate: Estimate, users: Users) -> tuple[Any, Any]:
    """Return mean and variance of an estimate over users who are silent, report the value, or another one.

    Raises
    ------
    UnsoundError
        If the estimate is not affine in the tallies.
    """
    value, others = symbols("value others")
    start = estimate([0, 0])
    steps = [estimate(unit) - start for unit in ([1, 0], [0, 1])]
    if not identity(estimate([value, others]), start + value * steps[0] + others * steps[1]):
        raise UnsoundError("the estimate is not affine in the tallies")
    mean, variance = start, 0
    for number, chance, rate in users:
        first, second = (rate * (chance * u + (1 - chance) * v) for u, v in (steps, np.multiply(steps, steps)))
        mean, variance = mean + number * first, variance + number * (second - first * first)
    return mean, variance
