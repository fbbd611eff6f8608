"""Exact means and variances when sampling rates differ between users, and the rates that are best.

Users come in groups of one rate; data are fixed. Sums ``sum_j`` run over users; ``s_j`` is ``p`` for a holder of the
value in question and ``q`` for any other user. Use `optimal_rates` to spend a budget of reports on users who differ in
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
    """Groups of users with a sampling rate each.

    Methods take ``holders``, the users of each group with the value in question, ``(g,)``, or by value ``(g, k)``; they
    return a number, or ``(k,)``, in users or users squared.

    - `sizes`, (g,) float: users of each group, ``> 0``.
    - `rates`, (g,) float: their sampling rates ``pi_j`` in ``(0, 1]``.

    >>> survey = PersonalRates([10, 10], [0.6, 0.2], KaryRandomisedResponse(np.log(3), 2))
    >>> round(float(survey.mean([10, 0])), 9)
    15.0
    >>> alike = PersonalRates([100], [0.5], KaryRandomisedResponse(np.log(3), 2))
    >>> round(float(alike.variance([0])), 9), round(float(alike.variance_horvitz_thompson([0])), 9)
    (175.0, 150.0)
    """

    sizes: Real
    rates: Real
    mechanism: KaryRandomisedResponse

    def __post_init__(self) -> None:
        checks.plain(self)
        size = positive_numbers("sizes", self.sizes)
        object.__setattr__(self, "sizes", size)
        object.__setattr__(
            self, "rates", checks.entries(sampling_rates(self.rates), "rates", size.size)
        )

    @property
    def users(self) -> Real:
        """Number ``n`` of users in all."""
        return self.sizes.sum()

    @property
    def reports(self) -> Real:
        """Expected number of reports, ``sum_j pi_j``."""
        return self.sizes @ self.rates

    def mean(self, holders: ArrayLike) -> Real:
        """Return ``n sum_{j holds i} pi_j / sum_j pi_j``, the mean of ``T``, whatever the mechanism.

        Theorem 5.1 of biswas2022 says ``n f``; that takes holders who are sampled, on average, as often as all users.
        """
        return self.users * (self.rates @ self.split(holders)[0]) / self.reports

    def variance(self, holders: ArrayLike) -> Real:
        """Return Var(T) = ``n^2 sum_j pi_j s_j (1 - pi_j s_j) / ((sum_j pi_j)^2 (p-q)^2)``.

        What the proof of Theorem 5.1 of biswas2022 sets out to compute.
        """
        own, others = self.split(holders)
        kept, switched = self.rates * self.mechanism.p, self.rates * self.mechanism.q
        not_kept = 1 - self.rates + self.rates * self.mechanism.miss_rate
        return ((kept * not_kept) @ own + (switched * (1 - switched)) @ others) * self._scale

    @property
    def rare_variance(self) -> Real:
        """Var*(T) = ``n^2 sum_j q pi_j (1 - q pi_j) / ((sum_j pi_j)^2 (p-q)^2)``, at a value nobody holds.

        Theorem 5.1 of biswas2022. For a given sum of the rates it is concave in them, so equal rates are its maximum.
        """
        chance = self.mechanism.q * self.rates
        return (self.sizes @ (chance * (1 - chance))) * self._scale

    def variance_horvitz_thompson(self, holders: ArrayLike) -> Real:
        """Return the variance ``sum_j [s_j (1-s_j) / pi_j + (s_j - q)^2 (1/pi_j - 1)] / (p-q)^2``."""
        own, others = self.split(holders)
        q, gap = self.mechanism.q, self.mechanism.truthful_rate
        kept = self.mechanism.p * self.mechanism.miss_rate / self.rates + gap * gap * (
            1 / self.rates - 1
        )
        return (kept @ own + (q * (1 - q) / self.rates) @ others) / (gap * gap)

    def split(self, holders: ArrayLike) -> tuple[Floats, Floats]:
        """Return the users of each group who hold the value and those who do not, after checking them."""
        own = real(holders)
        if own.shape[:1] != self.sizes.shape:
            raise ValueError(
                f"holders must have one row per group, {self.sizes.size}, got shape {own.shape}"
            )
        size = self.sizes.reshape(-1, *[1] * (own.ndim - 1))
        if own.dtype != object and size.dtype != object and not ((own >= 0) & (own <= size)).all():
            raise ValueError(
                f"holders must lie between 0 and the group's size, got holders={own.tolist()!r}"
            )
        return own, size - own

    @property
    def _scale(self) -> Real:
        whole = self.users / (self.reports * self.mechanism.truthful_rate)
        return whole * whole


def variance_reweighted_reports(
    holders: ArrayLike, *, users: int, report_rates: ArrayLike, mechanism: KaryRandomisedResponse
) -> Floats:
    """Return ``[n_i (p/pi(i) - p^2) + (n - n_i) (q/pi(i) - q^2)] / (p-q)^2``, reports being sent by their value.

    It is the exact variance of `ldpnb.estimators.sampling.reweighted_reports`.

    - `holders`, (k,) float: users who hold each value.
    - `users`, int: number ``n`` of users.
    - `report_rates`, (k,) float: probability ``pi(y)`` in ``(0, 1]`` of sending the report ``y``.
    """
    total = checks.whole(users, "users", at_least=1)
    own, rate = checks.numbers(holders, "holders", low=0, high=total), sampling_rates(report_rates)
    gap, miss = mechanism.truthful_rate, mechanism.miss_rate
    kept, switched = (
        s * ((1 - rate) / rate + rest)
        for s, rest in ((mechanism.p, miss), (mechanism.q, miss + gap))
    )
    return np.asarray((own * kept + (total - own) * switched) / gap**2)


def report_noise(mechanism: KaryRandomisedResponse) -> Real:
    """Return ``A = q (1-q) / (p-q)^2``, a user's part of the variance at a value that nobody holds."""
    gap = mechanism.truthful_rate
    return mechanism.q * (1 - mechanism.q) / (gap * gap)


def rare_variance_horvitz_thompson(
    *, noises: ArrayLike, sizes: ArrayLike, rates: ArrayLike
) -> Real:
    """Return ``sum_j A_j / pi_j``, the variance of Horvitz-Thompson at a value nobody holds, noise differing too.

    - `noises`, (g,) float: a user's `report_noise`, by group.
    - `sizes`, `rates`, (g,) float: users of each group and their sampling rates in ``(0, 1]``.
    """
    return positive_numbers("sizes", sizes) @ (real(noises) / sampling_rates(rates))


def optimal_rates(
    *, noises: ArrayLike, costs: ArrayLike, sizes: ArrayLike, budget: float
) -> Floats:
    """Return the rates that minimise ``sum_j A_j / pi_j`` when reports cost ``k_j`` and ``sum_j k_j pi_j <= budget``.

    ``pi_j = min(1, lambda sqrt(A_j / k_j))``: Neyman allocation with a cap (open question (iii) of biswas2022, Section
    6, for users who differ). The budget gives a ``lambda`` for every number of groups at the cap, in order of ``A_j /
    k_j``; the largest is the right one, because a cap only lowers what rates cost.

    - `noises`, (g,) float: ``A_j > 0``, a user's `report_noise`, by group.
    - `costs`, (g,) float: ``k_j > 0``.
    - `sizes`, (g,) float: users of each group.
    - `budget`, float: ``> 0``; if it covers everybody, all rates are 1.
    """
    noise = positive_numbers("noises", noises)
    cost = checks.entries(positive_numbers("costs", costs), "costs", noise.size)
    size = checks.entries(positive_numbers("sizes", sizes), "sizes", noise.size)
    pull = np.sqrt(noise / cost)
    order = np.argsort(-pull)
    prices, weights = (size * cost)[order], (size * cost * pull)[order]
    spent, rest = np.cumsum(prices) - prices, np.cumsum(weights[::-1])[::-1]
    return np.minimum(1.0, ((checks.positive(budget, "budget") - spent) / rest).max() * pull)


def positive_numbers(name: str, values: ArrayLike) -> Floats:
    """Return a vector of finite numbers ``> 0``."""
    array = np.atleast_1d(real(values))
    if array.dtype != object and not (np.isfinite(array) & (array > 0)).all():
        raise ValueError(f"{name} must be > 0 and finite, got {name}={array.tolist()!r}")
    return array
