"""Proofs of claims of Biswas, Cormode and Maple: one user on symbols, and from there any number.

Users are independent and estimates are affine in the tallies, so means and variances are sums over
users. What one user does is written out from Definition 2.4 (`KEEP`, `SWITCH`). Closed forms and
estimates are those of the package.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import UnsoundError
from ldpnb.deciders import budget, expression, identity, oo, positive, symbols
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates

t, k, n, pi, f = symbols("t k n pi f")
"""``e^epsilon``, number of values, users, sampling rate, share of the users who hold the value."""

KARY = KaryRandomisedResponse(budget(t), k)
KEEP = t / (t + k - 1)
SWITCH = 1 / (t + k - 1)

FIXED = ((n * f, KEEP, pi), (n * (1 - f), SWITCH, pi))
RARE = ((n, SWITCH, pi),)
"""Groups of like users: number, probability that a report is the value, and sampling rate.

`RARE` is for a value that nobody holds. It is the limit of `FIXED` as ``f -> 0``, because moments
are polynomials in ``f``.
"""

DATA = {"fixed": FIXED, "iid": ((n, f * KEEP + (1 - f) * SWITCH, pi),)}
DOMAIN = {"t": (1, oo), "k": (1, oo), "n": (0, oo), "pi": (0, 1), "f": (0, 1)}

a, b, u, v, x, y = symbols("a b u v x y")
"""Users of each of two groups, their rates ``u`` and ``v``, and the holders in each group."""

RATES = PersonalRates([a, b], [u, v], KARY)
TWO_RATES = ((x, KEEP, u), (a - x, SWITCH, u), (y, KEEP, v), (b - y, SWITCH, v))
TWO_RATES_IID = (
    (a, f * KEEP + (1 - f) * SWITCH, u),
    (b, f * KEEP + (1 - f) * SWITCH, v),
)


def everywhere(value: Any, **further: tuple[Any, Any]) -> bool | None:
    """Decide whether a formula is positive on `DOMAIN`.

    Intervals may be given for `further` symbols, or in place of those of `DOMAIN`.
    """
    intervals = DOMAIN | further
    box = {symbol: intervals[symbol.name] for symbol in expression(value).free_symbols}
    return positive(value, box)


def survey(data: Any = "fixed", rate: Any = pi, size: Any = k) -> SampledCounts:
    """Return the closed forms on symbols."""
    return SampledCounts(n, rate, KaryRandomisedResponse(budget(t), size), data)


# Estimates of the number of holders, from tallies of the value and of all other values


def unadjusted(tallies: Any, mechanism: Any = KARY) -> Any:
    """Return c_DE."""
    return estimators.unadjusted(tallies, users=n, mechanism=mechanism)[0]


def rescaled(tallies: Any, rate: Any = pi) -> Any:
    """Return g_DE."""
    return estimators.rescaled(tallies, users=n, sampling_rate=rate, mechanism=KARY)[0]


def realised(tallies: Any, rate: Any = pi) -> Any:
    """Return c-hat."""
    return estimators.realised_size(tallies, sampling_rate=rate, mechanism=KARY)[0]


def pooled(tallies: Any, users: Any = a + b, reports: Any = a * u + b * v) -> Any:
    """Return T."""
    estimate = estimators.personalised(
        tallies, users=users, expected_reports=reports, mechanism=KARY
    )
    return estimate[0]


# Moments of an estimate


def average_user(mechanism: Any, share: Any) -> tuple[Any, Any]:
    """Return the mean noise of a report and its mean, if a share of the users holds the value.

    They are ``f p (1-p) + (1-f) q (1-q)`` and ``f p + (1-f) q``.
    """
    p = mechanism.p
    q = mechanism.q
    others = (mechanism.domain_size - 1) * q
    noise = share * p * others + (1 - share) * q * (1 - q)
    mean = share * p + (1 - share) * q
    return noise, mean


def moments(
    estimate: Callable[[Any], Any], users: Iterable[tuple[Any, Any, Any]]
) -> tuple[Any, Any]:
    """Return the mean and the variance of an estimate.

    A user is silent, reports the value, or reports another one.

    Raises
    ------
    UnsoundError
        If the estimate is not affine in the tallies.
    """
    start = estimate([0, 0])
    of_value = estimate([1, 0]) - start
    of_other = estimate([0, 1]) - start

    value, others = symbols("value others")
    affine = start + value * of_value + others * of_other
    if not identity(estimate([value, others]), affine):
        raise UnsoundError("the estimate is not affine in the tallies")

    mean = start
    variance = 0
    for number, chance, rate in users:
        first = rate * (chance * of_value + (1 - chance) * of_other)
        second = rate * (chance * of_value * of_value + (1 - chance) * of_other * of_other)
        mean += number * first
        variance += number * (second - first * first)
    return mean, variance


# Methods are looked up when they are called, so that one that is broken on purpose is noticed.
_VARIANCES: dict[str, Callable[[SampledCounts, Any], Any]] = {
    "variance_unadjusted": lambda counts, holders: counts.variance_unadjusted(holders),
    "variance_rescaled": lambda counts, holders: counts.variance_rescaled(holders),
    "variance_realised_size": lambda counts, holders: counts.variance_realised_size(holders),
}

_ESTIMATES = {
    "variance_unadjusted": unadjusted,
    "variance_rescaled": rescaled,
    "variance_realised_size": realised,
}


def sums_over_users(*names: str) -> bool:
    """Return whether closed forms of `SampledCounts` are the moments of their estimates.

    They are for fixed data and for independent draws. The name is ``mean_unadjusted`` or that of a
    variance.
    """
    return all(_is_moment(name, data) for name in names for data in DATA)


def _is_moment(name: str, data: str) -> bool:
    if name == "mean_unadjusted":
        mean, _ = moments(unadjusted, DATA[data])
        return identity(survey(data).mean_unadjusted(n * f), mean)
    _, variance = moments(_ESTIMATES[name], DATA[data])
    return identity(_VARIANCES[name](survey(data), n * f), variance)


# What more reports are worth


def thinned(estimate: Callable[[Any, Any], Any]) -> bool:
    """Return whether an estimate at a higher rate is the mean of that at a lower one.

    The mean is taken given the reports at the rate ``high``, of which each is kept with probability
    ``low / high``. By Jensen's inequality no convex loss is then smaller at the lower rate.
    """
    value, others, low, high = symbols("value others low high")
    kept = low / high
    return identity(estimate([value * kept, others * kept], low), estimate([value, others], high))


def at_every_share(value: Callable[[Any], Any], **further: tuple[Any, Any]) -> bool:
    """Return whether a formula of the share of holders is proven ``>= 0``.

    It must be affine in the share, so that it is enough to look at both ends.
    """
    at_none = value(0)
    at_all = value(1)
    if not identity(value(f), (1 - f) * at_none + f * at_all):
        return False
    return all(identity(end) or everywhere(end, **further) is True for end in (at_none, at_all))


def improves(name: str) -> bool:
    """Return whether ``pi`` times a variance of `SampledCounts` is proven not to grow with ``pi``.

    This is for all data. So the root mean squared error at a rate ``w pi`` is at least
    ``1/sqrt(w)`` times that at ``pi``.
    """
    w = symbols("w")[0]

    def growth(share: Any) -> Any:
        low = _VARIANCES[name](survey(rate=w * pi), n * share)
        high = _VARIANCES[name](survey(rate=pi), n * share)
        return w * low - high

    return at_every_share(growth, w=(0, 1))


def fewer_gains(size: Any = k, **further: tuple[Any, Any]) -> bool:
    """Return whether each further report provably lowers the deviation of c-hat by less.

    The second derivative of the standard deviation in ``pi`` is
    ``(2 V V'' - V'^2) / (4 V^(3/2))``, and the variance is ``V = A/pi - B``. So it is positive
    exactly where ``4 pi V > A``.
    """
    start, drop, rate = (s.expression for s in symbols("start drop rate"))
    curve = start / rate - drop
    bends = identity(
        2 * curve * curve.diff(rate, 2) - curve.diff(rate) ** 2,
        start * (4 * rate * curve - start) / rate**4,
    )

    def scaled(share: Any, rate: Any) -> Any:
        return rate * survey(rate=rate, size=size).variance_realised_size(n * share)

    def level(share: Any) -> Any:
        return 2 * scaled(share, pi / 2) - scaled(share, pi)

    def room(share: Any) -> Any:
        return 4 * scaled(share, pi) - level(share)

    has_this_form = identity(scaled(f, pi), level(f) - (level(f) - scaled(f, 1)) * pi)
    return (
        bends
        and has_this_form
        and at_every_share(level, **further)
        and at_every_share(room, **further)
    )
