"""Central privacy of shuffled k-ary randomised response when every user reports with some probability.

After shuffling only tallies are seen. `ShuffledReports` brackets the exact loss between data sets that differ in one
user's value (replacement), usually to four digits; its bounds are rigorous, as `ldpnb.privacy.tallies` explains.
`closed_form` is the published bound for any local randomiser, and `gaussian_deviation` the noise of the central
Gaussian mechanism at the same privacy.

Both bounds have the shape that `ldpnb.privacy.tallies` states. Its ``M`` is, in the upper bound, the number of users in
the *privacy blanket* (those silent or reporting at random), and in the lower bound its conditional mean given the
tallies. The difference between the bounds is the spread of ``M`` that the tallies do not show.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from ldpnb import checks
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import tallies
from ldpnb.privacy.tallies import Tallies

SENSITIVITY = float(np.sqrt(2))
"""Euclidean distance between the histograms of data sets that differ in one user's value."""

MOST_USERS, LEAST_CHANCE = 10**9, 1e-305
"""Beyond these the rounding errors of the bounds on ``delta`` may exceed what is added for them."""

MOST_SEEN = 340.0
"""Largest local budget of a search; beyond it ``c e^epsilon`` may exceed the largest float."""


@dataclass(frozen=True, slots=True)
class ShuffledReports:
    """The shuffled reports of users who take part with one probability, by k-ary randomised response.

    ``delta`` lies in ``(0, 1)``; ``epsilon``, the central budget, is ``>= 0``, in nats, and at most the local one. The
    relation between data sets is replacement of one user's value. Lower bounds need a domain of at least 3 values.

    Balle, Bell, Gascón, Nissim (2019) for the blanket; for biswas2022, Section 6, open question (ii).

    - `users`, int: how many there are, 2 to 1e9, whether they report or not.
    - `rate`, float: probability in ``(0, 1]`` that a user reports; times the mechanism's ``q`` it is at least 1e-305.
    - `mechanism`, KaryRandomisedResponse: the local randomiser.

    >>> reports = ShuffledReports(5000, 1.0, KaryRandomisedResponse(epsilon=3.0, domain_size=20))
    >>> round(reports.epsilon_upper(1e-6), 6), round(reports.epsilon_lower(1e-6), 6)
    (0.234258, 0.234249)
    """

    users: int
    rate: float
    mechanism: KaryRandomisedResponse

    def __post_init__(self) -> None:
        checks.plain(self)
        object.__setattr__(
            self, "users", checks.whole(self.users, "users", at_least=2, at_most=MOST_USERS)
        )
        checks.rate(self.rate, "rate")
        if self.rate * self.mechanism.q < LEAST_CHANCE:
            raise ValueError(
                f"rate * q must be at least {LEAST_CHANCE}, got {self.rate * self.mechanism.q}"
            )

    def delta_upper(self, epsilon: float) -> float:
        """Return an upper bound on ``delta`` at a central budget, by the privacy blanket.

        A user whose report is independent of the value is in the blanket; that happens with chance ``g = 1 - pi (p -
        q)``. Revealing who is in it and what the others say leaves, for ``m ~ Bin(n, g)``, ``E[(m + c A - e^epsilon (m
        + c B))_+] / n`` with ``(A, B)`` trinomial given ``m``.
        """
        return tallies.delta(checks.non_negative(epsilon, "epsilon"), self._upper, above=True)

    def delta_lower(self, epsilon: float) -> float:
        """Return ``delta`` of one pair of data sets, the others holding a third value: a bound for any accounting."""
        return tallies.delta(checks.non_negative(epsilon, "epsilon"), self._lower, above=False)

    def epsilon_upper(self, delta: float) -> float:
        """Return an upper bound on the central budget at a given ``delta``."""
        return _directed(delta, self._upper, above=True)

    def epsilon_lower(self, delta: float) -> float:
        """Return a lower bound on the central budget, from the pair of data sets of `delta_lower`."""
        return _directed(delta, self._lower, above=False)

    @property
    def _upper(self) -> Tallies:
        size = self.mechanism.domain_size
        hidden = self.rate * self.mechanism.truthful_rate
        return self._tallies(
            hidden, (1 - self.rate) + self.rate * (size - 2) * self.mechanism.q, 0.0
        )

    @property
    def _lower(self) -> Tallies:
        size = checks.whole(self.mechanism.domain_size, "domain_size", at_least=3)
        rest = (1 - self.rate) + self.rate * (size - 3) * self.mechanism.q
        return self._tallies(
            self.rate * self.mechanism.p, rest, float(np.exp(-self.mechanism.epsilon))
        )

    def _tallies(self, hidden: float, rest: float, share: float) -> Tallies:
        return Tallies(
            self.users, self.rate * self.mechanism.q, hidden, rest, share, self.mechanism.epsilon
        )


def local_budget(
    epsilon: float, delta: float, *, users: int, rate: float, domain_size: int
) -> float:
    """Return the local budget at which shuffled k-ary randomised response has a central ``(epsilon, delta)``.

    By the upper bound on ``delta``, to a relative 1e-5; it grows as the `rate` falls.

    >>> round(local_budget(1.0, 1e-6, users=5_000, rate=0.3, domain_size=20), 2)
    6.44
    """
    target, central = checks.open_probability(delta, "delta"), checks.positive(epsilon, "epsilon")

    def excess(logarithm: float) -> float:
        reports = ShuffledReports(
            users, rate, KaryRandomisedResponse(float(np.exp(logarithm)), domain_size)
        )
        return float(np.log(max(reports.delta_upper(central), 1e-300) / target))

    from scipy import optimize

    start, step = np.log(central), 0.25
    last = max(1, int((np.log(MOST_SEEN) - start) / step))
    if excess(start + last * step) < 0:
        raise ValueError(
            f"delta must be below the chance to be seen at all, got delta={delta!r}, rate={rate!r}"
        )
    first = 1 + bisect_left(range(1, last), True, key=lambda i: excess(start + i * step) >= 0)
    low, high = start + (first - 1) * step, start + first * step
    return float(np.exp(optimize.brentq(excess, low, high, xtol=1e-5)))


def closed_form(delta: float, *, users: int, epsilon: float) -> float:
    """Return ``ln(1 + 8 (e^e0 - 1)/(e^e0 + 1) (sqrt(e^e0 ln(4/delta) / n) + e^e0 / n))``, for any local randomiser.

    Theorem 3.1 of Feldman, McMillan, Talwar (2020), arXiv:2012.12803, which biswas2022 cites for its open question
    (ii): the form with the constants 8 and ``ln(4/delta)``. The authors' code has ``(1 - e^-e0)/(1 + e^(-e0-e))`` in
    place of ``(e^e0 - 1)/(e^e0 + 1)``, where ``e`` is the bound with neither factor, and allows a little more: .5378,
    not .5346, at ``n = 1e5``, ``e0 = 4`` and ``delta = 1e-6``.

    - `delta`, float: in ``(0, 1)``.
    - `users`, int: number ``n`` of users, all reporting.
    - `epsilon`, float: local budget ``e0 > 0``, in nats.
    - Returns float: nats; ``nan`` outside the bound's range ``e0 <= ln(n / (16 ln(2/delta)))``.

    >>> round(closed_form(1e-6, users=50_000, epsilon=1.0), 10)
    0.1011847743
    """
    local, count = checks.positive(epsilon, "epsilon"), checks.whole(users, "users", at_least=1)
    failure = checks.open_probability(delta, "delta")
    if local > np.log(count / (16 * (np.log(2) - np.log(failure)))):
        return float("nan")
    growth = np.exp(local) / count
    spread = np.sqrt(growth * (np.log(4) - np.log(failure))) + growth
    return float(np.log1p(8 * np.tanh(local / 2) * spread))


def gaussian_delta(epsilon: float, *, deviation: float, sensitivity: float = SENSITIVITY) -> float:
    """Return the exact ``delta`` of the central Gaussian mechanism (Balle and Wang 2018, Theorem 8).

    ``Phi(s/(2 sd) - epsilon sd/s) - e^epsilon Phi(-s/(2 sd) - epsilon sd/s)`` for Euclidean sensitivity ``s``, which is
    ``sqrt(2)`` for a histogram under replacement of one user's value, and ``sd`` the standard deviation of the noise.
    """
    scale = checks.positive(sensitivity, "sensitivity") / checks.positive(deviation, "deviation")
    centre = checks.non_negative(epsilon, "epsilon") / scale
    gain = special.log_ndtr(scale / 2 - centre)
    loss = epsilon + special.log_ndtr(-scale / 2 - centre)
    return float(-np.exp(gain) * np.expm1(min(loss - gain, 0.0))) if gain > -np.inf else 0.0


def gaussian_deviation(epsilon: float, delta: float) -> float:
    """Return the least standard deviation that makes the central Gaussian mechanism ``(epsilon, delta)``-private.

    >>> round(gaussian_deviation(1.0, 1e-6), 6)
    5.974598
    """
    failure, budget = checks.open_probability(delta, "delta"), checks.positive(epsilon, "epsilon")

    def excess(deviation: float) -> float:
        return float(np.log(max(gaussian_delta(budget, deviation=deviation), 1e-300) / failure))

    return _root(excess, SENSITIVITY * np.sqrt(2 * np.log(1 / failure)) / budget, widen=1.1)


def _directed(delta: float, law: Tallies, *, above: bool) -> float:
    """Return the nearest budget tried whose bound on ``delta`` is at most (`above`) or at least `delta`, or 0."""
    target, tried = checks.open_probability(delta, "delta"), {law.local: 0.0}
    aim = target * (1 - 1e-8 if above else 1 + 1e-8)

    def excess(epsilon: float) -> float:
        if epsilon not in tried:
            tried[epsilon] = tallies.delta(epsilon, law, above=above)
        return float(np.log(max(tried[epsilon], 1e-300) / aim))

    _search(excess, *_normal_guess(aim, law), law.local)
    if above:
        return min(budget for budget, bound in tried.items() if bound <= target)
    return max((budget for budget, bound in tried.items() if bound >= target), default=0.0)


def _search(excess: Callable[[float], float], old: float, slope: float, highest: float) -> None:
    """Call a falling logarithm on both sides of its zero, or at most 1.5e-8 above or below it, from a guess."""
    new = old + excess(old) / slope
    for _ in range(6):
        if not old / 2 < new < min(2 * old, highest) or excess(new) == excess(old):
            break
        if abs(excess(new)) < 5e-9:
            return
        old, new = new, new - excess(new) * (new - old) / (excess(new) - excess(old))
    if excess(0.0) > 0:
        _root(excess, old, widen=1.05, highest=highest, precision=1e-8)


def _normal_guess(delta: float, law: Tallies) -> tuple[float, float]:
    """Return the budget of a Gaussian mechanism whose loss varies as the tallies', and how fast ``ln delta`` falls."""
    local = law.local
    spread = np.expm1(local) * np.sqrt(2 * law.users * law.chance)
    blanket = 2 * law.chance + law.rest + law.share * law.hidden
    deviation = max(law.users * blanket / spread, 1e-300)

    def excess(epsilon: float) -> float:
        return float(
            np.log(
                max(gaussian_delta(epsilon, deviation=deviation, sensitivity=1.0), 1e-300) / delta
            )
        )

    if excess(0.0) <= 0 or excess(local) >= 0:
        return local / 2, 1 / local
    guess = _root(excess, min(4 / deviation, local), widen=1.1, highest=local)
    return guess, (excess(0.99 * guess) - excess(guess)) / (0.01 * guess)


def _root(
    falling: Callable[[float], float],
    guess: float,
    *,
    widen: float,
    highest: float = np.inf,
    precision: float = 1e-12,
) -> float:
    """Return where a falling function of a positive number crosses zero, at most `highest`."""
    from scipy import optimize

    low = high = min(guess, highest)
    while falling(low) < 0:
        low, widen = low / widen, widen**2
    while falling(high) > 0 and high < highest:
        high, widen = min(high * widen, highest), widen**2
    return (
        float(optimize.brentq(falling, low, high, xtol=1e-300, rtol=precision))
        if falling(high) < 0
        else high
    )
