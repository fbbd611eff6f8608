"""Exact means and variances if sampling rates differ between users, and the rates that are best.

Users come in groups of one rate, and their data are fixed. Sums ``sum_j`` run over users. The
probability ``s_j`` that a report of user ``j`` is the value in question is ``p`` for its holders
and ``q`` for other users. Use `optimal_rates` to spend a budget of reports on users who differ in
noise or cost.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real, real
from ldpnb.estimators.sampling import sampling_rates
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


@dataclass(frozen=True, slots=True, eq=False)
class PersonalRates:
    """Exact mean and variance of estimated counts, if groups have their own sampling rates.

    Methods take `holders`, the number of users of each group with the value in question, of shape
    (groups,), or of shape (groups, k) for several values. They return a number, or an array of
    shape (k,), in users or users squared.

    Parameters
    ----------
    sizes : array_like, shape (groups,)
        Number of users of each group, ``> 0``.
    rates : array_like, shape (groups,)
        Probability ``pi_j`` in ``(0, 1]`` that a user of the group reports.
    mechanism : KaryRandomisedResponse
        The mechanism that makes the reports.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    hajek, horvitz_thompson : Estimators for such reports.

    References
    ----------
    Section 5 of Biswas, Cormode and Maple (2022).

    Examples
    --------
    Ten users hold a value and report at rate 0.6, ten others at rate 0.2. The estimate ``T`` of the
    source is right if rates and values are unrelated; here it has the mean 20 * 6 / (6 + 2).

    >>> survey = PersonalRates([10, 10], [0.6, 0.2], KaryRandomisedResponse(np.log(3), 2))
    >>> round(float(survey.mean([10, 0])), 9)
    15.0

    Its variance at a value that nobody holds exceeds that of the Horvitz-Thompson estimate.

    >>> alike = PersonalRates([100], [0.5], KaryRandomisedResponse(np.log(3), 2))
    >>> round(float(alike.variance([0])), 9), round(float(alike.variance_horvitz_thompson([0])), 9)
    (175.0, 150.0)
    """

    sizes: Real
    rates: Real
    mechanism: KaryRandomisedResponse

    def __post_init__(self) -> None:
        checks.plain(self)
        size = positive_numbers(self.sizes, "sizes")
        rate = checks.entries(sampling_rates(self.rates), "rates", size.size)
        object.__setattr__(self, "sizes", size)
        object.__setattr__(self, "rates", rate)

    @property
    def users(self) -> Real:
        """Number ``n`` of users in all."""
        return self.sizes.sum()

    @property
    def reports(self) -> Real:
        """Expected number of reports, ``sum_j pi_j``."""
        return self.sizes @ self.rates

    def mean(self, holders: ArrayLike) -> Real:
        """Return the mean of ``T``, ``n sum_{j holds i} pi_j / sum_j pi_j``, for any mechanism.

        Theorem 5.1 of Biswas, Cormode and Maple (2022) says ``n f``. That is right if the holders
        are sampled, on average, as often as all users.
        """
        with_value, _ = self.split(holders)
        return self.users * (self.rates @ with_value) / self.reports

    def variance(self, holders: ArrayLike) -> Real:
        """Return Var(T), ``n^2 sum_j pi_j s_j (1 - pi_j s_j) / ((sum_j pi_j)^2 (p-q)^2)``.

        The proof of Theorem 5.1 of Biswas, Cormode and Maple (2022) sets out to compute it.
        """
        with_value, without = self.split(holders)
        kept = self.rates * self.mechanism.p
        switched = self.rates * self.mechanism.q
        not_kept = 1 - self.rates + self.rates * self.mechanism.miss_rate
        total = (kept * not_kept) @ with_value + (switched * (1 - switched)) @ without
        return total * self._scale

    @property
    def rare_variance(self) -> Real:
        """Var*(T), the variance of ``T`` at a value that nobody holds.

        It is ``n^2 sum_j q pi_j (1 - q pi_j) / ((sum_j pi_j)^2 (p-q)^2)``, as in Theorem 5.1 of
        Biswas, Cormode and Maple (2022). For a given sum of the rates it is concave in them, so it
        is largest for equal rates.
        """
        chance = self.mechanism.q * self.rates
        return (self.sizes @ (chance * (1 - chance))) * self._scale

    def variance_horvitz_thompson(self, holders: ArrayLike) -> Real:
        """Return the variance of the Horvitz-Thompson estimate.

        It is ``sum_j [s_j (1-s_j) / pi_j + (s_j - q)^2 (1/pi_j - 1)] / (p-q)^2``.
        """
        with_value, without = self.split(holders)
        p = self.mechanism.p
        q = self.mechanism.q
        gap = self.mechanism.truthful_rate

        kept = p * self.mechanism.miss_rate / self.rates + gap * gap * (1 / self.rates - 1)
        return (kept @ with_value + (q * (1 - q) / self.rates) @ without) / (gap * gap)

    def split(self, holders: ArrayLike) -> tuple[Floats, Floats]:
        """Return the users of each group who hold the value and those who do not.

        The holders are checked: none are negative, and there are no more than the group has users.
        """
        with_value = real(holders)
        if with_value.shape[:1] != self.sizes.shape:
            raise ValueError(
                f"holders must have one row per group, {self.sizes.size}, "
                f"got shape {with_value.shape}"
            )

        size = self.sizes.reshape(-1, *[1] * (with_value.ndim - 1))
        if with_value.dtype != object and size.dtype != object:
            fit = (with_value >= 0) & (with_value <= size)
            if not fit.all():
                raise ValueError(
                    "holders must lie between 0 and the group's size, "
                    f"got holders={with_value.tolist()!r}"
                )
        return with_value, size - with_value

    @property
    def _scale(self) -> Real:
        root = self.users / (self.reports * self.mechanism.truthful_rate)
        return root * root


def variance_reweighted_reports(
    holders: ArrayLike, *, users: int, report_rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return the exact variance of `ldpnb.estimators.sampling.reweighted_reports`.

    It is ``[n_i (p/pi(i) - p^2) + (n - n_i) (q/pi(i) - q^2)] / (p-q)^2``.

    Parameters
    ----------
    holders : array_like, shape (k,)
        Number ``n_i`` of users who hold each value.
    users : int
        Number ``n`` of users.
    report_rates : array_like, shape (k,)
        Probability ``pi(y)`` in ``(0, 1]`` that a report ``y`` is sent.
    mechanism : KaryRandomisedResponse
        The mechanism that makes the reports.
    """
    total = checks.whole(users, "users", at_least=1)
    with_value = checks.numbers(holders, "holders", low=0, high=total)
    rate = sampling_rates(report_rates)

    gap = mechanism.truthful_rate
    miss = mechanism.miss_rate
    kept = mechanism.p * ((1 - rate) / rate + miss)
    switched = mechanism.q * ((1 - rate) / rate + (miss + gap))
    return np.asarray((with_value * kept + (total - with_value) * switched) / gap**2)


def report_noise(mechanism: KaryRandomisedResponse) -> Real:
    """Return a user's part of the variance at a value that nobody holds.

    It is ``A = q (1-q) / (p-q)^2``.
    """
    gap = mechanism.truthful_rate
    return mechanism.q * (1 - mechanism.q) / (gap * gap)


def rare_variance_horvitz_thompson(
    *, noises: ArrayLike, sizes: ArrayLike, rates: ArrayLike
) -> Real:
    """Return the variance of Horvitz-Thompson at a value that nobody holds, ``sum_j A_j / pi_j``.

    Users may differ in noise.

    Parameters
    ----------
    noises : array_like, shape (groups,)
        A user's `report_noise`, by group.
    sizes : array_like, shape (groups,)
        Number of users of each group.
    rates : array_like, shape (groups,)
        Sampling rates in ``(0, 1]``.
    """
    return positive_numbers(sizes, "sizes") @ (real(noises) / sampling_rates(rates))


def optimal_rates(
    *, noises: ArrayLike, costs: ArrayLike, sizes: ArrayLike, budget: float
) -> Floats:
    """Find the sampling rates that minimise ``sum_j A_j / pi_j`` at a given cost.

    If reports cost ``k_j`` and ``sum_j k_j pi_j`` may not exceed the budget, the rates are
    ``pi_j = min(1, lambda sqrt(A_j / k_j))``. This is Neyman allocation with a cap, and answers
    open question (iii) in Section 6 of Biswas, Cormode and Maple (2022) for users who differ. The
    budget gives a ``lambda`` for every number of groups at the cap, in order of ``A_j / k_j``. The
    largest is the right one, because a cap only lowers the cost of the rates.

    Parameters
    ----------
    noises : array_like, shape (groups,)
        ``A_j > 0``, a user's `report_noise`, by group.
    costs : array_like, shape (groups,)
        ``k_j > 0``, the cost of a report.
    sizes : array_like, shape (groups,)
        Number of users of each group.
    budget : float
        What all reports may cost on average, ``> 0``. If it suffices for all users, all rates are
        1.
    """
    noise = positive_numbers(noises, "noises")
    cost = checks.entries(positive_numbers(costs, "costs"), "costs", noise.size)
    size = checks.entries(positive_numbers(sizes, "sizes"), "sizes", noise.size)

    uncapped = np.sqrt(noise / cost)
    order = np.argsort(-uncapped)
    prices = (size * cost)[order]
    weights = (size * cost * uncapped)[order]

    spent_at_cap = np.cumsum(prices) - prices
    weights_below = np.cumsum(weights[::-1])[::-1]
    multipliers = (checks.positive(budget, "budget") - spent_at_cap) / weights_below
    return np.minimum(1.0, multipliers.max() * uncapped)


def positive_numbers(values: ArrayLike, name: str) -> Floats:
    """Return a vector of finite numbers ``> 0``, or of symbols."""
    array = np.atleast_1d(real(values))
    if array.dtype != object and not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name} must be > 0 and finite, got {name}={array.tolist()!r}")
    return array
