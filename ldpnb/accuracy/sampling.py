"""Exact means and variances of the estimates in `ldpnb.estimators.sampling`, at one sampling rate.

There are two models of the data. With ``data="fixed"`` the users' values are given, and only
sampling and randomisation are random. With ``data="iid"`` the values are independent draws as well.

In both, a user adds ``B Y`` to a tally. Here ``B ~ Bernoulli(pi)`` says whether the user reports,
and ``Y ~ Bernoulli(s)`` whether the report is the value in question; ``s`` is ``p`` for a holder,
``q`` for another user, and ``r = f p + (1-f) q`` for a random one. Users are independent, so
variances are sums over users. Theorems and equations are those of Biswas, Cormode and Maple (2022).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real, is_exact
from ldpnb.mechanisms.frequency import KaryRandomisedResponse


@dataclass(frozen=True, slots=True)
class SampledCounts:
    """Exact means and variances of estimated counts, if only some of the users report.

    Each user reports with the same probability, independently of the others, by k-ary randomised
    response. The methods describe three estimates: one that ignores the sampling (``c_DE``), one
    that divides by the rate (``g_DE``), and one that also counts the reports that came in
    (``c-hat``).

    Parameters
    ----------
    users : int
        Number ``n`` of users, at least 1, whether they report or not.
    rate : float
        Probability in ``(0, 1]`` that a user reports.
    mechanism : KaryRandomisedResponse
        How a user randomises.
    data : {"fixed", "iid"}, default "fixed"
        Whether the users' values are given, or drawn independently.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Methods take `holders`, how many users hold the value in question, as a number or an array from
    0 to `users`. For iid data it is the expected number. Means and biases are in users, variances
    in users squared.

    References
    ----------
    Sections 2 and 3 of Biswas, Cormode and Maple (2022).

    Examples
    --------
    Of 100 users, 50 hold the value, and half report at epsilon = ln 3. The estimate that ignores
    the sampling has the bias -(1 - 1/2) (50 + 100 / (3 - 1)) = -50.

    >>> survey = SampledCounts(users=100, rate=0.5, mechanism=KaryRandomisedResponse(np.log(3), 2))
    >>> round(float(survey.bias_unadjusted(holders=50)), 9)
    -50.0
    """

    users: int
    rate: Real
    mechanism: KaryRandomisedResponse
    data: str = "fixed"

    def __post_init__(self) -> None:
        checks.plain(self, users=1)
        checks.rate(self.rate, "rate")
        checks.choice(self.data, "data", among=("fixed", "iid"))

    # The estimate that ignores the sampling

    def mean_unadjusted(self, holders: Real) -> Real:
        """Return the mean of ``c_DE``, ``n f pi - n q (1 - pi) / (p - q)`` (equation (4))."""
        shift = self.users * (1 - self.rate) * self.mechanism.q / self.mechanism.truthful_rate
        return self._checked(holders) * self.rate - shift

    def bias_unadjusted(self, holders: Real) -> Real:
        """Return the bias of ``c_DE``, ``-n (1 - pi) (f + 1 / (e^epsilon - 1))`` (Theorem 2.1).

        The domain size drops out, since ``q / (p - q) = 1 / (e^epsilon - 1)``.
        """
        return -(1 - self.rate) * (self._checked(holders) + self.users * _odds(self.mechanism))

    def variance_unadjusted(self, holders: Real) -> Real:
        """Return Var(c_DE), the sum of ``pi s (1 - pi s)`` divided by ``(p-q)^2``.

        The proof of Theorem 3.2 sets out to compute it.
        """
        return self.rate * self.rate * self.variance_rescaled(holders)

    @property
    def negative_mean_threshold(self) -> Real:
        """Share of holders below which E(c_DE) is negative, ``(1-pi) / (pi (e^epsilon - 1))``.

        Theorem 3.6 overlooks that. If it is above 1, the mean is negative for all data.
        """
        return (1 - self.rate) / self.rate * _odds(self.mechanism)

    @property
    def unscaled_below(self) -> Real:
        """Number of users below which ``c_DE`` has a smaller mean squared error than ``g_DE``.

        It is for a value that nobody holds: ``(e^epsilon + k - 1 - pi)(1 + pi) / (pi (1 - pi))``.
        The squared bias of ``c_DE`` grows with the square of the number of users, the variance of
        ``g_DE`` with their number. It is 0 at the rate 1, where the two are the same.
        """
        if not is_exact(self.rate) and self.rate == 1:
            return 0.0
        return (1 / self.mechanism.q - self.rate) * (1 + self.rate) / (self.rate * (1 - self.rate))

    # The estimate that divides by the rate

    def variance_rescaled(self, holders: Real) -> Real:
        """Return Var(g_DE), the sum of ``s (1-s) + (1-pi) s^2`` divided by ``pi (p-q)^2``.

        It is Var(c_DE) / pi^2.
        """
        return self._over_users(holders, self._report_chance)

    @property
    def rare_variance_rescaled(self) -> Real:
        """Var*(g_DE), the variance at a value that nobody holds (Theorem 3.2).

        It is ``n (q - q^2 pi) / ((p-q)^2 pi)``.
        """
        q = self.mechanism.q
        gap = self.mechanism.truthful_rate
        return self.users * q * (1 - self.rate * q) / (gap * gap * self.rate)

    # The estimate that counts the reports

    def variance_realised_size(self, holders: Real) -> Real:
        """Return Var(c-hat), the sum of ``s (1-s) + (1-pi) (s-q)^2`` divided by ``pi (p-q)^2``.

        The proof of Theorem 3.5 sets out to compute it.
        """
        return self._over_users(holders, lambda share, _: share * self.mechanism.truthful_rate)

    @property
    def rare_variance_realised_size(self) -> Real:
        """Var*(c-hat), ``n q (1-q) / ((p-q)^2 pi)``, the variance at a value that nobody holds."""
        q = self.mechanism.q
        gap = self.mechanism.truthful_rate
        return self.users * q * (1 - q) / (gap * gap * self.rate)

    def variance_gain(self, holders: Real) -> Real:
        """Return Var(g_DE) - Var(c-hat), ``n (1-pi) q (2r - q) / (pi (p-q)^2)``.

        It is the same for fixed and for iid data. Since ``r >= q > 0`` it is positive at every rate
        below 1, which contradicts Theorem 3.5.
        """
        q = self.mechanism.q
        gap = self.mechanism.truthful_rate
        mean_report = q + self._checked(holders) / self.users * gap
        return self.users * (1 - self.rate) * q * (2 * mean_report - q) / (self.rate * gap * gap)

    # The ratio estimate

    def variance_ratio(self, holders: Real) -> Real:
        """Return the leading term of the variance of the ratio estimate.

        It becomes exact as ``n pi`` grows. It is Var(c-hat) with deviations taken from the mean
        report ``r`` in place of ``q``, which is the best control variate.
        """
        share_of_holders, share_of_others = self._shares(holders)
        gap = self.mechanism.truthful_rate

        def distance(share: Real, other: Real) -> Real:
            return (share * share_of_others - other * share_of_holders) * gap

        return self._over_users(holders, distance)

    # Sums over users

    def _checked(self, holders: Real) -> Real:
        return checks.numbers(holders, "holders", low=0, high=self.users)

    def _shares(self, holders: Real) -> tuple[Real, Real]:
        """Return the shares of holders and of other users, neither as 1 less the other."""
        with_value = self._checked(holders)
        return with_value / self.users, (self.users - with_value) / self.users

    def _report_chance(self, share: Real, other: Real) -> Real:
        """Return the probability that a user reports the value.

        The user holds it with probability `share`, and another one with probability `other`.
        """
        return share * self.mechanism.p + other * self.mechanism.q

    def _over_users(self, holders: Real, distance: Callable[[Real, Real], Real]) -> Real:
        """Add up ``s (1-s) + (1-pi) (s-c)^2`` over the users, divided by ``pi (p-q)^2``.

        For a user who holds the value with positive probability, `distance` returns ``s - c`` for a
        centre ``c``.
        """
        with_value = self._checked(holders)
        gap = self.mechanism.truthful_rate
        divisor = self.rate * gap * gap

        def one_user(share: Real, other: Real) -> Real:
            lift = distance(share, other)
            miss = share * self.mechanism.miss_rate + other * (1 - self.mechanism.q)
            return self._report_chance(share, other) * miss + (1 - self.rate) * lift * lift

        if self.data == "iid":
            return self.users * one_user(*self._shares(holders)) / divisor
        return (with_value * one_user(1, 0) + (self.users - with_value) * one_user(0, 1)) / divisor


def _odds(mechanism: KaryRandomisedResponse) -> Real:
    """Return ``q / (p - q) = 1 / (e^epsilon - 1)``."""
    return np.exp(-mechanism.epsilon) / -np.expm1(-mechanism.epsilon)
