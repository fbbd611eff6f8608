"""Lower bounds on the mean squared error of frequency estimation under local privacy.

There are three kinds, and a figure that shows more than one must say which is which:

- `EntropyBounds.distribution` and `LowerBounds.finite_users` hold for every number of users;
- the bounds on "``n`` times the mean squared error", from (51) on, hold only in the limit of many
  users: at a finite number of users the error can be far below them;
- `LowerBounds.uniform_optimum` is the best that any channel can do at the uniform distribution.

Errors are squared Euclidean distances, summed over all ``a`` values. Equations and theorems are
those of Lopuhaä-Zwakenberg et al. (2020).
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
"""Logarithm of ``2 pi e``: twice the entropy of a standard normal variable, in nats."""


@dataclass(frozen=True, slots=True)
class EntropyBounds:
    """Lower bounds on errors that follow from entropies given the reports.

    Parameters
    ----------
    domain_size : int
        Number ``a`` of values, at least 2.

    Raises
    ------
    ValueError
        If `domain_size` is less than 2.

    References
    ----------
    Theorems 4.1 and 4.2 and Corollary 4.3 of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    The factor by which the bounds of the source can be raised is 1 for two values, and
    9/10 * 10^(1/9) for ten.

    >>> EntropyBounds(2).factor(), round(EntropyBounds(10).factor(), 6)
    (1.0, 1.162395)
    """

    domain_size: Real

    def __post_init__(self) -> None:
        checks.plain(self, domain_size=2)

    def factor(self) -> Real:
        """Return ``(a - 1) / a * a^(1 / (a - 1))``, by which the other bounds can be raised.

        It is at least 1. The source bounds the error through all but one coordinate, and averages
        over which one is left out; the covariance on the hyperplane itself gives this factor.
        """
        return (
            (self.domain_size - 1)
            / self.domain_size
            * self.domain_size ** (1 / (self.domain_size - 1))
        )

    def distribution(self, entropy: Real) -> Real:
        """Bound the mean squared error of the distribution, for every number of users.

        The bound is ``a / (2 pi e) exp(2 h(P|Y) / (a - 1))`` (equation (23), Theorem 4.1), where
        `entropy` is ``h(P|Y)``, the entropy of the distribution given the reports, in nats.
        """
        return self.domain_size * self._variance(entropy)

    def frequency(self, entropy: Real, users: Real, *, jitter: bool) -> Real:
        """Bound the mean squared error of the frequencies.

        The bound is ``a / n^2 exp(2 H(T|Y) / (a - 1)) / (2 pi e)`` (equation (24), Theorem 4.1). It
        holds only in the limit of many users. With `jitter` the factor of ``a / n^2`` is smaller by
        ``1/12``, and the bound holds for every number of users: the tallies are whole numbers, and
        a uniform jitter makes them continuous.

        Parameters
        ----------
        entropy : float
            ``H(T|Y)``, the entropy of the users' tallies given the reports, in nats.
        users : int
            Number of users ``n``.
        jitter : bool
            Whether to return the bound for every number of users.
        """
        count = checks.positive(users, "users")
        correction = 1 / 12 if jitter else 0
        return self.domain_size / count / count * (self._variance(entropy) - correction)

    def _variance(self, entropy: Real) -> Real:
        return np.exp(2 * real(entropy) / (self.domain_size - 1) - _LOG_GAUSSIAN)

    def limits(self, log_information: Real, log_frequencies: Real) -> tuple[Real, Real]:
        """Return the limits of ``h(P|Y) + (a-1)/2 ln n`` and ``H(T|Y) - (a-1)/2 ln n``.

        They are equations (41) and (42), Theorem 4.2, for the two constants that
        `information.entropy_constants` computes.
        """
        gaussian = (self.domain_size - 1) / 2 * _LOG_GAUSSIAN
        return gaussian - real(log_information) / 2, gaussian + real(log_frequencies) / 2

    def asymptotic(self, log_information: Real, log_frequencies: Real) -> tuple[Real, Real]:
        """Bound ``n`` times the errors of distribution and frequencies, for many users.

        The bounds are equations (51) and (52), Corollary 4.3, for the two constants that
        `information.entropy_constants` computes.
        """
        size = self.domain_size
        distribution = size * np.exp(-real(log_information) / (size - 1))
        frequency = size * np.exp(real(log_frequencies) / (size - 1))
        return distribution, frequency


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """Lower bounds on the error of frequency estimates, for every channel with a given privacy.

    Unless a method says otherwise, a bound is on ``n`` times the mean squared error, summed over
    all values, and holds in the limit of many users ``n``. With few users the error can be far
    below it.

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
        """Return ``2 (a - 1) ln(e^epsilon - 1)``, which ``ln det J_p`` never exceeds.

        This is equation (54), Theorem 4.4.
        """
        return 2 * (self.domain_size - 1) * np.log(np.expm1(self.epsilon))

    def log_covariance_floor(self, form: str = "published") -> Real:
        """Return a lower bound on ``ln det C_p - sum_x ln p_x``.

        It is ``-a epsilon`` in the form that is *published*, equation (55), and
        ``-(a - 1) epsilon`` in the *sharp* form, which the proof allows.

        Parameters
        ----------
        form : {"published", "sharp"}, default "published"
            Which of the two.
        """
        checks.choice(form, "form", among=("published", "sharp"))
        return -(self.domain_size if form == "published" else self.domain_size - 1) * self.epsilon

    def distribution(self) -> Real:
        """Bound the error of the distribution by ``a / (e^epsilon - 1)^2``.

        This is equation (59), Theorem 4.5.
        """
        return self.domain_size / (np.expm1(self.epsilon) * np.expm1(self.epsilon))

    def frequency(self, form: str = "published") -> Real:
        """Bound the error of the frequencies by ``a e^(-a epsilon / (a-1)) / (e^epsilon - 1)^2``.

        This is equation (60), which is missing from the text that we read and was rebuilt. With the
        *sharp* form of `log_covariance_floor`, the exponent is ``-epsilon``.

        Parameters
        ----------
        form : {"published", "sharp"}, default "published"
            Which of the two.
        """
        return self.distribution() * np.exp(
            self.log_covariance_floor(form) / (self.domain_size - 1)
        )

    def any_channel(self) -> Real:
        """Bound the error of the distribution for any prior that has a density.

        The bound is ``a (a-1)^2 / (floor(a^2/4) (e^epsilon - 1)^2)``, nearly four times (59) for
        many values. The bound for the frequencies is smaller by the mean of ``1 - |P|^2``. Subset
        selection with half of the values attains both as epsilon falls to 0.
        """
        size = self.domain_size
        return (size - 1) * (size - 1) / (size * size // 4) * self.distribution()

    def uniform_information(self, subset_size: Real) -> Real:
        """Return what one report of k-subset selection reveals at the uniform distribution.

        It is the trace of the Fisher information on the hyperplane,
        ``a k (a-k) (e^epsilon - 1)^2 / (k e^epsilon + a - k)^2``. Its maximum over ``k`` is the
        maximum over all channels.
        """
        others = self.domain_size - checks.positive(subset_size, "subset_size")
        per_weight = np.expm1(-self.epsilon) / (subset_size + others * np.exp(-self.epsilon))
        return self.domain_size * subset_size * others * per_weight * per_weight

    def uniform_optimum(self) -> float:
        """Return the smallest error of the distribution at the uniform one, over all channels.

        It is ``(a-1)^2 (k e^epsilon + a - k)^2 / (a k (a-k) (e^epsilon - 1)^2)``, with the ``k`` of
        `SubsetSelection.optimal`, one of the two whole numbers next to ``a / (e^epsilon + 1)``.
        """
        best = SubsetSelection.optimal(self.epsilon, self.domain_size).subset_size
        return (self.domain_size - 1) ** 2 / self.uniform_information(best)

    def finite_users(self, users: int) -> float:
        """Bound the mean squared error of the distribution for every number of users.

        The prior is Jeffreys'. The bound combines ``h(P|Y) = h(P) - I(P; Y)``,
        ``I(P; Y^n) <= n I(P; Y) <= n chi^2`` and the raised Theorem 4.1. It is useful as long as
        ``n`` is not much larger than ``a^2 / epsilon^2``.
        """
        size = self.domain_size
        count = checks.whole(users, "users", at_least=1)
        prior = SymmetricDirichlet(size)
        entropies = EntropyBounds(size)

        variance = 1 - 1 / size - prior.diversity()
        information = float(count) * (size - 1) / self.uniform_optimum() * variance
        return entropies.factor() * entropies.distribution(prior.entropy() - information)


def any_channel_bound_at(distribution: ArrayLike, epsilon: float) -> tuple[float, float]:
    """Bound ``n`` times the errors of distribution and frequencies at one distribution.

    The bounds hold for any channel, for many users. The first is ``(a-1)^2 / tau(p)`` with
    ``tau = max_k k (a-k) c^2 / (a (1 + c sigma_k)^2)``, where ``c = e^epsilon - 1`` and ``sigma_k``
    is the sum of the ``k`` smallest probabilities: ``tau`` bounds the trace of the information on
    the hyperplane, and among matrices of one trace the inverse has the smallest trace at a multiple
    of the identity. The second is the first less ``1 - |p|^2``.

    Parameters
    ----------
    distribution : array_like, shape (a,)
        Probabilities of all values.
    epsilon : float
        Local privacy budget in nats, ``> 0``.
    """
    point = checks.distribution(distribution, "distribution")
    contrast = np.expm1(checks.positive(epsilon, "epsilon"))

    size = point.size
    count = np.arange(1, point.size)
    smallest = np.cumsum(np.sort(point))[:-1]
    trace = (count * (size - count) * (contrast / (1 + contrast * smallest)) ** 2 / size).max()

    bound = float((size - 1) ** 2 / trace)
    return bound, bound - float(1 - point @ point)
