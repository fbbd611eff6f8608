"""Lower bounds on the mean squared error of frequency estimation under local privacy, by how they are meant.

Three kinds must not be mixed in one figure without saying so. `EntropyBounds.distribution` and
`LowerBounds.finite_users` hold for every number of users. The bounds on "``n`` times the mean squared error", from (51)
on, hold in the limit of many users only: at a finite number the error can be far below them.
`LowerBounds.uniform_optimum` is the best any channel can do at one distribution, the uniform one. Errors are squared
Euclidean distances, summed over all ``a`` values; equations and theorems are those of lopuhaa2020.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Real, real
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020.formulas.information import SymmetricDirichlet

_MOST_VALUES = 1e100
_LOG_GAUSSIAN = 1 + math.log(2 * math.pi)
"""Of ``2 pi e``: twice the entropy of a standard normal variable, in nats."""


@dataclass(frozen=True, slots=True)
class EntropyBounds:
    """What the entropies of distribution and tallies given the reports, in nats, imply for ``a = domain_size`` values.

    >>> EntropyBounds(2).factor(), round(EntropyBounds(10).factor(), 6)
    (1.0, 1.162395)
    """

    domain_size: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)

    def factor(self) -> Real:
        """Return ``kappa = (a - 1) / a * a^(1 / (a - 1))``, at least 1, by which the other bounds can be raised.

        The source bounds the error through all but one coordinate and averages; the covariance on the hyperplane itself
        gives this factor.
        """
        return (
            (self.domain_size - 1)
            / self.domain_size
            * self.domain_size ** (1 / (self.domain_size - 1))
        )

    def distribution(self, entropy: Real) -> Real:
        """Return ``a / (2 pi e) exp(2 h(P|Y) / (a - 1))``, for every number of users (equation (23), Theorem 4.1)."""
        return self.domain_size * self._variance(entropy)

    def frequency(self, entropy: Real, users: Real, *, jitter: bool) -> Real:
        """Return ``a / n^2 exp(2 H(T|Y) / (a - 1)) / (2 pi e)``, for the frequencies (equation (24), Theorem 4.1).

        It holds in the limit of many users only. With `jitter` the factor of ``a / n^2`` is smaller by ``1/12``, and
        the bound holds for every number: the tallies are whole, and a uniform jitter makes them continuous.
        """
        people = checks.positive(users, "users")
        return (
            self.domain_size
            / people
            / people
            * (self._variance(entropy) - (1 / 12 if jitter else 0))
        )

    def _variance(self, entropy: Real) -> Real:
        return np.exp(2 * real(entropy) / (self.domain_size - 1) - _LOG_GAUSSIAN)

    def limits(self, log_information: Real, log_frequencies: Real) -> tuple[Real, Real]:
        """Return the limits of ``h(P|Y) + (a-1)/2 ln n`` and ``H(T|Y) - (a-1)/2 ln n`` (Theorem 4.2).

        Equations (41) and (42), from the constants of `information.entropy_constants`.
        """
        gaussian = (self.domain_size - 1) / 2 * _LOG_GAUSSIAN
        return gaussian - real(log_information) / 2, gaussian + real(log_frequencies) / 2

    def asymptotic(self, log_information: Real, log_frequencies: Real) -> tuple[Real, Real]:
        """Return the bounds on ``n`` times the errors of distribution and frequencies, for many users (Corollary 4.3).

        Equations (51) and (52), from the constants of `information.entropy_constants`.
        """
        size = self.domain_size
        return size * np.exp(-real(log_information) / (size - 1)), size * np.exp(
            real(log_frequencies) / (size - 1)
        )


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """Lower bounds on the error of frequency estimates, for every channel with a given privacy.

    Unless a method says otherwise, a bound is on ``n`` times the mean squared error, summed over all
    values, and holds in the limit of many users ``n``. With few users the error can be far below it.

    Parameters
    ----------
    domain_size : int
        Number ``a`` of values, at least 2.
    epsilon : float
        Local privacy budget in nats, ``> 0``.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    References
    ----------
    Section 4 of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    At epsilon = ln 2 and two values, the bound (59) is 2 / (2 - 1)^2.

    >>> round(float(LowerBounds(domain_size=2, epsilon=np.log(2)).distribution()), 12)
    2.0
    """

    domain_size: Real
    epsilon: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)
        checks.numbers(self.domain_size, "domain_size", low=2, high=_MOST_VALUES)
        checks.positive(self.epsilon, "epsilon")

    def log_information_ceiling(self) -> Real:
        """Return ``2 (a - 1) ln(e^epsilon - 1)``, which ``ln det J_p`` never passes (equation (54), Theorem 4.4)."""
        return 2 * (self.domain_size - 1) * np.log(np.expm1(self.epsilon))

    def log_covariance_floor(self, form: str = "published") -> Real:
        """Return a floor of ``ln det C_p - sum_x ln p_x``: ``-a epsilon`` (equation (55)), or ``-(a - 1) epsilon``.

        The latter is the *sharp* form, that its proof allows.
        """
        checks.choice(form, "form", among=("published", "sharp"))
        return -(self.domain_size if form == "published" else self.domain_size - 1) * self.epsilon

    def distribution(self) -> Real:
        """Return ``a / (e^epsilon - 1)^2``, on ``n`` times the error for many users (equation (59), Theorem 4.5)."""
        return self.domain_size / (np.expm1(self.epsilon) * np.expm1(self.epsilon))

    def frequency(self, form: str = "published") -> Real:
        """Return ``a e^(-a epsilon / (a-1)) / (e^epsilon - 1)^2``, the same for the frequencies (equation (60)).

        The formula is rebuilt, the text has lost it. The sharp floor (`log_covariance_floor`) has ``-epsilon`` in the
        exponent.
        """
        return self.distribution() * np.exp(
            self.log_covariance_floor(form) / (self.domain_size - 1)
        )

    def any_channel(self) -> Real:
        """Return ``a (a-1)^2 / (floor(a^2/4) (e^epsilon - 1)^2)``: many users, any prior with a density.

        Nearly four times (59) for many values. The bound for the frequencies is smaller by the mean of ``1 - |P|^2``.
        Subset selection with half of the values attains both as epsilon falls to 0.
        """
        size = self.domain_size
        return (size - 1) * (size - 1) / (size * size // 4) * self.distribution()

    def uniform_information(self, subset_size: Real) -> Real:
        """Return the trace of the information of one report of k-subset selection at the uniform distribution.

        ``a k (a-k) (e^epsilon - 1)^2 / (k e^epsilon + a - k)^2``, on the hyperplane; its maximum over k is that over
        all channels.
        """
        others = self.domain_size - checks.positive(subset_size, "subset_size")
        per_weight = np.expm1(-self.epsilon) / (subset_size + others * np.exp(-self.epsilon))
        return self.domain_size * subset_size * others * per_weight * per_weight

    def uniform_optimum(self) -> float:
        """Return the least ``n`` times the error of the distribution at the uniform one, over all channels.

        ``(a-1)^2 (k e^epsilon + a - k)^2 / (a k (a-k) (e^epsilon - 1)^2)``, with the k of `SubsetSelection.optimal`,
        one of the two next to ``a / (e^epsilon + 1)``.
        """
        best = SubsetSelection.optimal(self.epsilon, self.domain_size).subset_size
        return (self.domain_size - 1) ** 2 / self.uniform_information(best)

    def finite_users(self, users: int) -> float:
        """Return a bound on the error of the distribution for every number of users, under Jeffreys' prior.

        From ``h(P|Y) = h(P) - I(P; Y)``, ``I(P; Y^n) <= n I(P; Y) <= n chi^2`` and the raised Theorem 4.1. It says
        something as long as ``n`` is not much above ``a^2 / epsilon^2``.
        """
        size, count = self.domain_size, checks.whole(users, "users", at_least=1)
        prior, entropies = SymmetricDirichlet(size), EntropyBounds(size)
        spread = 1 - 1 / size - prior.diversity()
        information = float(count) * (size - 1) / self.uniform_optimum() * spread
        return entropies.factor() * entropies.distribution(prior.entropy() - information)


def any_channel_bound_at(distribution: ArrayLike, epsilon: float) -> tuple[float, float]:
    """Return the bounds on ``n`` times the errors of distribution and frequencies at one distribution, for any channel.

    ``(a-1)^2 / tau(p)`` with ``tau = max_k k (a-k) c^2 / (a (1 + c sigma_k)^2)``, ``c = e^epsilon - 1``, and sigma_k
    the sum of the k smallest probabilities: tau bounds the trace of the information on the hyperplane, and among
    matrices of one trace the inverse has the least trace at a multiple of the identity. The second is the first less
    ``1 - |p|^2``. For many users.
    """
    point, contrast = (
        checks.distribution(distribution, "distribution"),
        np.expm1(checks.positive(epsilon, "epsilon")),
    )
    size, count = point.size, np.arange(1, point.size)
    smallest = np.cumsum(np.sort(point))[:-1]
    trace = (count * (size - count) * (contrast / (1 + contrast * smallest)) ** 2 / size).max()
    bound = float((size - 1) ** 2 / trace)
    return bound, bound - float(1 - point @ point)
