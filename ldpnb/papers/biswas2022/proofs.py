"""Proofs behind the claims of biswas2022: one user on symbols, and what follows for any number of them.

Users are independent, and estimates affine in the tallies, so that mean and variance are sums over users. What one user
does is written out from Definition 2.4 (`KEEP`, `SWITCH`); closed forms and estimates are the package's.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import UnsoundError
from ldpnb.deciders import budget, expression, identity, oo, positive, symbols
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates

t, k, n, pi, f = symbols("t k n pi f")
"""``e^epsilon``, number of values, users, sampling rate, share of the users who hold the value."""

KARY = KaryRandomisedResponse(budget(t), k)
KEEP, SWITCH = t / (t + k - 1), 1 / (t + k - 1)
FIXED = ((n * f, KEEP, pi), (n * (1 - f), SWITCH, pi))
RARE = ((n, SWITCH, pi),)
"""Alike users: how many, the chance that a report is the value, and their sampling rate; `RARE` where nobody holds it,
the limit of either as ``f -> 0``, since moments are polynomials in ``f``.
"""

DATA = {"fixed": FIXED, "iid": ((n, f * KEEP + (1 - f) * SWITCH, pi),)}
DOMAIN = {"t": (1, oo), "k": (1, oo), "n": (0, oo), "pi": (0, 1), "f": (0, 1)}

a, b, u, v, x, y = symbols("a b u v x y")
"""Users of two rates ``u`` and ``v``, and those of each who hold the value."""

RATES = PersonalRates([a, b], [u, v], KARY)
TWO_RATES = ((x, KEEP, u), (a - x, SWITCH, u), (y, KEEP, v), (b - y, SWITCH, v))
TWO_RATES_IID = tuple((size, f * KEEP + (1 - f) * SWITCH, rate) for size, rate in ((a, u), (b, v)))


def everywhere(value: Any, **further: tuple[Any, Any]) -> bool | None:
    """Decide whether a formula is positive on `DOMAIN`, with intervals for `further` symbols, or others."""
    box = DOMAIN | further
    return positive(value, {s: box[s.name] for s in expression(value).free_symbols})


def survey(data: Any = "fixed", rate: Any = pi, size: Any = k) -> SampledCounts:
    """Return the closed forms on symbols."""
    return SampledCounts(n, rate, KaryRandomisedResponse(budget(t), size), data)


def unadjusted(tallies: Any, mechanism: Any = KARY) -> Any:
    """Return c_DE from reports of the value and of all others."""
    return estimators.unadjusted(tallies, users=n, mechanism=mechanism)[0]


def rescaled(tallies: Any, rate: Any = pi) -> Any:
    """Return g_DE."""
    return estimators.rescaled(tallies, users=n, sampling_rate=rate, mechanism=KARY)[0]


def realised(tallies: Any, rate: Any = pi) -> Any:
    """Return c-hat."""
    return estimators.realised_size(tallies, sampling_rate=rate, mechanism=KARY)[0]


def pooled(tallies: Any, users: Any = a + b, reports: Any = a * u + b * v) -> Any:
    """Return T."""
    return estimators.personalised(tallies, users=users, expected_reports=reports, mechanism=KARY)[
        0
    ]


def average_user(mechanism: Any, share: Any) -> tuple[Any, Any]:
    """Return ``f p (1-p) + (1-f) q (1-q)``, the mean noise of a report, and ``f p + (1-f) q``, its mean."""
    p, q, rest = mechanism.p, mechanism.q, (mechanism.domain_size - 1) * mechanism.q
    return share * p * rest + (1 - share) * q * (1 - q), share * p + (1 - share) * q


def moments(
    estimate: Callable[[Any], Any], users: Iterable[tuple[Any, Any, Any]]
) -> tuple[Any, Any]:
    """Return mean and variance of an estimate over users who are silent, report the value, or another one.

    That the estimate is not affine in the tallies is an UnsoundError.
    """
    value, others = symbols("value others")
    start = estimate([0, 0])
    steps = [estimate(unit) - start for unit in ([1, 0], [0, 1])]
    if not identity(estimate([value, others]), start + value * steps[0] + others * steps[1]):
        raise UnsoundError("the estimate is not affine in the tallies")
    mean, variance = start, 0
    for number, chance, rate in users:
        first, second = (
            rate * (chance * u + (1 - chance) * v) for u, v in (steps, np.multiply(steps, steps))
        )
        mean, variance = mean + number * first, variance + number * (second - first * first)
    return mean, variance


_CLOSED = {
    "mean_unadjusted": (unadjusted, 0),
    "variance_unadjusted": (unadjusted, 1),
    "variance_rescaled": (rescaled, 1),
    "variance_realised_size": (realised, 1),
}


def sums_over_users(*names: str) -> bool:
    """Return whether closed forms of `SampledCounts` are the moments of their estimates, for fixed and iid data."""
    return all(
        identity(
            getattr(survey(data), name)(n * f), moments(_CLOSED[name][0], law)[_CLOSED[name][1]]
        )
        for name in names
        for data, law in DATA.items()
    )


def thinned(estimate: Callable[[Any, Any], Any]) -> bool:
    """Return whether the mean of an estimate at a lower rate, given the reports at a higher one, is the estimate there.

    The reports at rate ``low`` are those at rate ``high``, each kept with chance ``low / high``; by Jensen's inequality
    no convex loss is then smaller at the lower rate.
    """
    value, others, low, high = symbols("value others low high")
    kept = low / high
    return identity(estimate([value * kept, others * kept], low), estimate([value, others], high))


def at_every_share(value: Callable[[Any], Any], **further: tuple[Any, Any]) -> bool:
    """Return whether a formula of the share of holders is proven ``>= 0``: affine in the share, and so at both ends."""
    ends = value(0), value(1)
    affine = identity(value(f), (1 - f) * ends[0] + f * ends[1])
    return affine and all(identity(end) or everywhere(end, **further) is True for end in ends)


def improves(variance: str) -> bool:
    """Return whether ``pi`` times a variance of `SampledCounts` is proven not to grow with ``pi``, for any data.

    So the root mean square error at a rate ``w pi`` is at least ``1/sqrt(w)`` times that at ``pi``.
    """
    w = symbols("w")[0]

    def growth(share: Any) -> Any:
        low, high = (getattr(survey(rate=rate), variance)(n * share) for rate in (w * pi, pi))
        return w * low - high

    return at_every_share(growth, w=(0, 1))


def fewer_gains(size: Any = k, **further: tuple[Any, Any]) -> bool:
    """Return whether it is proven that each further report lowers the deviation of c-hat by less than the one before.

    The second derivative of the standard deviation in ``pi`` is ``(2 V V'' - V'^2) / (4 V^(3/2))``, and the variance
    ``V = A/pi - B``: it is positive exactly where ``4 pi V > A``.
    """
    start, drop, rate = (s.expression for s in symbols("start drop rate"))
    curve = start / rate - drop
    bend = identity(
        2 * curve * curve.diff(rate, 2) - curve.diff(rate) ** 2,
        start * (4 * rate * curve - start) / rate**4,
    )

    def scaled(share: Any, rate: Any) -> Any:
        return rate * survey(rate=rate, size=size).variance_realised_size(n * share)

    def level(share: Any) -> Any:
        return 2 * scaled(share, pi / 2) - scaled(share, pi)

    form = identity(scaled(f, pi), level(f) - (level(f) - scaled(f, 1)) * pi)
    signs = (level, lambda share: 4 * scaled(share, pi) - level(share))
    return bend and form and all(at_every_share(sign, **further) for sign in signs)
