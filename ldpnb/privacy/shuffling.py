"""Central privacy of shuffled reports, by k-ary randomised response with one sampling rate.

Somebody who sees the reports after shuffling sees only tallies. `ShuffledReports` brackets the
exact loss between data sets that differ in one user's value (replacement), usually to four digits.
Its bounds are rigorous, as `ldpnb.privacy.tallies` explains. `closed_form` is the published bound
for any local randomiser, and `gaussian_deviation` the noise of the central Gaussian mechanism with
the same privacy.

Both bounds have the shape that `ldpnb.privacy.tallies` states. In the upper bound, its ``M`` is the
number of users in the *privacy blanket*, who are silent or report at random. In the lower bound it
is the conditional mean of that number given the tallies. So the bounds differ by the spread of
``M`` that the tallies do not show.
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

MOST_USERS = 10**9
"""With more users, rounding errors of bounds on ``delta`` may exceed what is added for them."""

LEAST_CHANCE = 1e-305
"""Least probability that a user reports a given other value, for the same reason."""

LARGEST_LOCAL_BUDGET = 340.0
"""Largest local budget of a search; beyond it ``c e^epsilon`` may exceed the largest float."""

_UNDERFLOW = 1e-300
"""Stands for smaller deltas in logarithms."""


@dataclass(frozen=True, slots=True)
class ShuffledReports:
    """Shuffled reports by k-ary randomised response, of users who report with one probability.

    Its methods bound how well somebody who sees all reports, but not who sent which, can tell apart
    two data sets that differ in one user's value (replacement). ``delta`` lies in ``(0, 1)``. The
    central budget ``epsilon`` is in nats, at least 0 and at most the local budget.

    Parameters
    ----------
    users : int
        Number of users, from 2 to 1e9, whether they report or not.
    rate : float
        Probability in ``(0, 1]`` that a user reports. Times the mechanism's ``q`` it is at least
        1e-305.
    mechanism : KaryRandomisedResponse
        How a user randomises. Lower bounds need a domain of at least 3 values.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Balle, Bell, Gascón and Nissim (2019) introduce the privacy blanket. It answers open question
    (ii) in Section 6 of Biswas, Cormode and Maple (2022).

    Examples
    --------
    At a local budget of 3, the reports of 5,000 users have a central budget of 0.234 at delta =
    1e-6.

    >>> reports = ShuffledReports(
    ...     users=5000, rate=1.0, mechanism=KaryRandomisedResponse(epsilon=3.0, domain_size=20)
    ... )
    >>> round(reports.epsilon_lower(1e-6), 6), round(reports.epsilon_upper(1e-6), 6)
    (0.234249, 0.234258)
    """

    users: int
    rate: float
    mechanism: KaryRandomisedResponse

    def __post_init__(self) -> None:
        checks.plain(self)
        users = checks.whole(self.users, "users", at_least=2, at_most=MOST_USERS)
        object.__setattr__(self, "users", users)
        checks.rate(self.rate, "rate")

        chance = self.rate * self.mechanism.q
        if chance < LEAST_CHANCE:
            raise ValueError(f"rate * q must be at least {LEAST_CHANCE}, got {chance}")

    def delta_upper(self, epsilon: float) -> float:
        """Return an upper bound on ``delta`` at a central budget, by the privacy blanket.

        A user whose report is independent of the value is in the blanket. That happens with the
        probability ``g = 1 - pi (p - q)``. If it is revealed who is in the blanket and what the
        others say, there remains ``E[(m + c A - e^epsilon (m + c B))_+] / n`` for ``m ~ Bin(n,
        g)``, with ``(A, B)`` trinomial given ``m``.

        Parameters
        ----------
        epsilon : float
            Central budget in nats, ``>= 0``.

        Returns
        -------
        float
        """
        return tallies.delta(checks.non_negative(epsilon, "epsilon"), self._upper, above=True)

    def delta_lower(self, epsilon: float) -> float:
        """Return a lower bound on ``delta`` at a central budget, which holds for any accounting.

        It is the ``delta`` of one pair of data sets, in which all other users hold a third value.

        Parameters
        ----------
        epsilon : float
            Central budget in nats, ``>= 0``.

        Returns
        -------
        float
        """
        return tallies.delta(checks.non_negative(epsilon, "epsilon"), self._lower, above=False)

    def epsilon_upper(self, delta: float) -> float:
        """Return an upper bound on the central budget at a given ``delta``, in nats.

        Parameters
        ----------
        delta : float
            In ``(0, 1)``.

        Returns
        -------
        float
        """
        return _central_budget(delta, self._upper, above=True)

    def epsilon_lower(self, delta: float) -> float:
        """Return a lower bound on the central budget at a given ``delta``, in nats.

        Parameters
        ----------
        delta : float
            In ``(0, 1)``.

        Returns
        -------
        float
        """
        return _central_budget(delta, self._lower, above=False)

    @property
    def _upper(self) -> Tallies:
        values = self.mechanism.domain_size
        hidden = self.rate * self.mechanism.truthful_rate
        rest = (1 - self.rate) + self.rate * (values - 2) * self.mechanism.q
        return self._tallies(hidden, rest, 0.0)

    @property
    def _lower(self) -> Tallies:
        values = checks.whole(self.mechanism.domain_size, "domain_size", at_least=3)
        hidden = self.rate * self.mechanism.p
        rest = (1 - self.rate) + self.rate * (values - 3) * self.mechanism.q
        return self._tallies(hidden, rest, float(np.exp(-self.mechanism.epsilon)))

    def _tallies(self, hidden: float, rest: float, share: float) -> Tallies:
        chance = self.rate * self.mechanism.q
        return Tallies(self.users, chance, hidden, rest, share, self.mechanism.epsilon)


def local_budget(
    epsilon: float, delta: float, *, users: int, rate: float, domain_size: int
) -> float:
    """Return the local budget with which shuffled reports have a given central privacy.

    It uses the upper bound of `ShuffledReports` on ``delta``, so the privacy is certain. The fewer
    users report, the larger the local budget may be.

    Parameters
    ----------
    epsilon : float
        Central budget in nats, ``> 0``, when one user's value is replaced.
    delta : float
        Central delta, in ``(0, 1)``.
    users : int
        Number of users, from 2 to 1e9, whether they report or not.
    rate : float
        Probability in ``(0, 1]`` that a user reports.
    domain_size : int
        Number of values, at least 2.

    Returns
    -------
    float
        Budget of k-ary randomised response in nats, to a relative 1e-5.

    Raises
    ------
    ValueError
        If an argument is outside its range, or any local budget meets `delta`.

    Examples
    --------
    With 5,000 users, 30% of whom report, the central budget 1 allows a local budget of 6.44.

    >>> round(local_budget(1.0, 1e-6, users=5_000, rate=0.3, domain_size=20), 2)
    6.44
    """
    target = checks.open_probability(delta, "delta")
    central = checks.positive(epsilon, "epsilon")

    def excess(log_budget: float) -> float:
        response = KaryRandomisedResponse(float(np.exp(log_budget)), domain_size)
        reached = ShuffledReports(users, rate, response).delta_upper(central)
        return float(np.log(max(reached, _UNDERFLOW) / target))

    from scipy import optimize

    start = np.log(central)
    step = 0.25
    last = max(1, int((np.log(LARGEST_LOCAL_BUDGET) - start) / step))
    if excess(start + last * step) < 0:
        got = f"got delta={delta!r}, rate={rate!r}"
        raise ValueError(f"delta must be below the probability of being seen at all, {got}")

    first = 1 + bisect_left(range(1, last), True, key=lambda i: excess(start + i * step) >= 0)
    low = start + (first - 1) * step
    high = start + first * step
    return float(np.exp(optimize.brentq(excess, low, high, xtol=1e-5)))


def closed_form(delta: float, *, users: int, epsilon: float) -> float:
    """Return the published upper bound on the central budget, for any local randomiser.

    It is ``ln(1 + 8 (e^e0 - 1)/(e^e0 + 1) (sqrt(e^e0 ln(4/delta) / n) + e^e0 / n))``.

    Parameters
    ----------
    delta : float
        Central delta, in ``(0, 1)``.
    users : int
        Number ``n`` of users, at least 1; all report.
    epsilon : float
        Local budget ``e0`` in nats, ``> 0``.

    Returns
    -------
    float
        Central budget in nats; ``nan`` outside the bound's range ``e0 <= ln(n / (16
        ln(2/delta)))``.

    References
    ----------
    Theorem 3.1 of Feldman, McMillan and Talwar (2020), arXiv:2012.12803, which Biswas, Cormode and
    Maple (2022) cite for their open question (ii): the form with the constants 8 and
    ``ln(4/delta)``. The authors' code has ``(1 - e^-e0)/(1 + e^(-e0-e))`` in place of ``(e^e0 -
    1)/(e^e0 + 1)``, where ``e`` is the bound with neither factor. It allows a little more: 0.5378
    instead of 0.5346 for ``n = 1e5``, ``e0 = 4`` and ``delta = 1e-6``.

    Examples
    --------
    >>> round(closed_form(1e-6, users=50_000, epsilon=1.0), 10)
    0.1011847743
    """
    local = checks.positive(epsilon, "epsilon")
    count = checks.whole(users, "users", at_least=1)
    failure = checks.open_probability(delta, "delta")
    if local > np.log(count / (16 * (np.log(2) - np.log(failure)))):
        return float("nan")

    growth = np.exp(local) / count
    spread = np.sqrt(growth * (np.log(4) - np.log(failure))) + growth
    return float(np.log1p(8 * np.tanh(local / 2) * spread))


def gaussian_delta(epsilon: float, *, deviation: float, sensitivity: float = SENSITIVITY) -> float:
    """Return the exact ``delta`` of the central Gaussian mechanism.

    It is ``Phi(s/(2 sd) - epsilon sd/s) - e^epsilon Phi(-s/(2 sd) - epsilon sd/s)``.

    Parameters
    ----------
    epsilon : float
        Central budget in nats, ``>= 0``.
    deviation : float
        Standard deviation ``sd`` of the noise, ``> 0``.
    sensitivity : float, default sqrt(2)
        Largest Euclidean change ``s`` when one user's data change, ``> 0``. The default is that of
        a histogram if one user's value is replaced.

    Returns
    -------
    float

    References
    ----------
    Theorem 8 of Balle and Wang (2018).
    """
    scale = checks.positive(sensitivity, "sensitivity") / checks.positive(deviation, "deviation")
    centre = checks.non_negative(epsilon, "epsilon") / scale
    # Logarithms of both terms; their difference is taken without cancellation.
    first = special.log_ndtr(scale / 2 - centre)
    second = epsilon + special.log_ndtr(-scale / 2 - centre)
    if first == -np.inf:
        return 0.0
    return float(-np.exp(first) * np.expm1(min(second - first, 0.0)))


def gaussian_deviation(epsilon: float, delta: float) -> float:
    """Return the least noise with which a histogram is (epsilon, delta)-private, by a curator.

    Parameters
    ----------
    epsilon : float
        Central budget in nats, ``> 0``, when one user's value is replaced.
    delta : float
        Central delta, in ``(0, 1)``.

    Returns
    -------
    float
        Standard deviation of the Gaussian noise on each count, in users.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Balle and Wang (2018).

    Examples
    --------
    >>> round(gaussian_deviation(epsilon=1.0, delta=1e-6), 6)
    5.974598
    """
    failure = checks.open_probability(delta, "delta")
    budget = checks.positive(epsilon, "epsilon")

    def excess(deviation: float) -> float:
        reached = gaussian_delta(budget, deviation=deviation)
        return float(np.log(max(reached, _UNDERFLOW) / failure))

    guess = SENSITIVITY * np.sqrt(2 * np.log(1 / failure)) / budget
    return _root(excess, guess, widen=1.1)


def _central_budget(delta: float, chances: Tallies, *, above: bool) -> float:
    """Return a bound on the central budget at `delta`, an upper one if `above`, else a lower one.

    The upper one is the smallest budget tried whose upper bound on ``delta`` is at most `delta`.
    The lower one is the largest budget tried whose lower bound is at least `delta`, or 0.
    """
    target = checks.open_probability(delta, "delta")
    aim = target * (1 - 1e-8 if above else 1 + 1e-8)
    bound_at = {chances.local: 0.0}

    def excess(epsilon: float) -> float:
        if epsilon not in bound_at:
            bound_at[epsilon] = tallies.delta(epsilon, chances, above=above)
        return float(np.log(max(bound_at[epsilon], _UNDERFLOW) / aim))

    guess, slope = _normal_guess(aim, chances)
    _search(excess, guess, slope, chances.local)
    if above:
        return min(budget for budget, bound in bound_at.items() if bound <= target)
    return max((budget for budget, bound in bound_at.items() if bound >= target), default=0.0)


def _search(excess: Callable[[float], float], guess: float, slope: float, highest: float) -> None:
    """Call a falling logarithm on both sides of its zero, or where it is at most 1.5e-8 from 0.

    The caller keeps what was found, and so nothing is returned. The secant method needs few calls;
    where it leaves the neighbourhood of the guess, the zero is bracketed instead.

    Parameters
    ----------
    excess : callable
        ``ln(delta / aim)`` at a central budget.
    guess, slope : float
        Guesses of the zero, and of how fast the logarithm falls there, ``> 0``.
    highest : float
        The largest budget that matters.
    """
    old = guess
    new = old + excess(old) / slope
    for _ in range(6):
        is_near = old / 2 < new < min(2 * old, highest)
        if not is_near or excess(new) == excess(old):
            break
        if abs(excess(new)) < 5e-9:
            return
        secant = new - excess(new) * (new - old) / (excess(new) - excess(old))
        old = new
        new = secant

    if excess(0.0) > 0:
        _root(excess, old, widen=1.05, highest=highest, precision=1e-8)


def _normal_guess(delta: float, chances: Tallies) -> tuple[float, float]:
    """Return a guess of the budget, and of how fast ``ln delta`` falls there.

    It is the budget of a Gaussian mechanism whose loss has the variance of the tallies' loss.
    """
    local = chances.local
    spread = np.expm1(local) * np.sqrt(2 * chances.users * chances.chance)
    blanket = 2 * chances.chance + chances.rest + chances.share * chances.hidden
    deviation = max(chances.users * blanket / spread, _UNDERFLOW)

    def excess(epsilon: float) -> float:
        reached = gaussian_delta(epsilon, deviation=deviation, sensitivity=1.0)
        return float(np.log(max(reached, _UNDERFLOW) / delta))

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
    """Return where a falling function of a positive number crosses zero, at most `highest`.

    Both ends of a bracket move away from the guess, by factors that begin with `widen` and grow.
    """
    from scipy import optimize

    low = min(guess, highest)
    high = low
    while falling(low) < 0:
        low = low / widen
        widen = widen**2
    while falling(high) > 0 and high < highest:
        high = min(high * widen, highest)
        widen = widen**2

    if not falling(high) < 0:
        return high
    return float(optimize.brentq(falling, low, high, xtol=1e-300, rtol=precision))
