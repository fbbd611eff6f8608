"""What one locally private report tells: Fisher information, conditional covariances, and the errors they lead to.

Use it for the quantities that belong to one channel ``Q[y, x] = Pr(y | x)``, of shape (outputs, a), and one
distribution, and for the constants of a Dirichlet prior. Bounds that hold for every channel of a given privacy are in
`lower_bounds`, errors at a finite number of users in `exact_risk`.

With ``I_p = Q^T diag(1 / Qp) Q`` (all ``a`` coordinates): ``I_p p = 1``, the determinant of ``I_p`` is that of the
information ``J_p`` on the first ``a - 1`` coordinates, and ``I_p^-1 - p p^T`` is the inverse of ``J_p`` completed to
all coordinates.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.mechanisms.frequency import FrequencyMechanism

Floats = NDArray[np.float64]


def fisher_information(channel: ArrayLike, distribution: ArrayLike) -> Floats:
    """Return the Fisher information ``J_p`` of one report about the first ``a - 1`` probabilities.

    Equation (36) of lopuhaa2020.

    >>> fisher_information([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(12).tolist()
    [[1.0]]
    """
    rows, point = np.asarray(channel, dtype=float), checks.distribution(distribution=distribution)
    differences = rows[:, :-1] - rows[:, -1:]
    information: Floats = (differences.T / (rows @ point)) @ differences
    return information


def conditional_covariance(channel: ArrayLike, distribution: ArrayLike) -> Floats:
    """Return ``C_p``: the covariance of a user's value given the report, averaged, on the first ``a - 1`` coordinates.

    Equations (37) and (38) of lopuhaa2020.
    """
    rows, point = np.asarray(channel, dtype=float), checks.distribution(distribution=distribution)
    given = (rows * point / (rows @ point)[:, None])[:, :-1]
    covariance: Floats = np.diag(point[:-1]) - (given.T * (rows @ point)) @ given
    return covariance


def krr_log_det_information(distribution: ArrayLike, *, epsilon: Real) -> Real:
    """Return ``ln det J_p`` of k-ary randomised response in closed form, for any number of values.

    ``2 (a-1) ln c - (a-2) ln(c + a) - sum_x ln(1 + c p_x)`` with ``c = e^epsilon - 1``, by the determinant of ``c I + 1
    1^T``.

    >>> bool(abs(krr_log_det_information([0.5, 0.5], epsilon=np.log(3))) < 1e-12)
    True
    """
    point, contrast = checks.distribution(distribution=distribution), np.expm1(checks.positive(epsilon=epsilon))
    size = point.size
    return 2 * (size - 1) * np.log(contrast) - (size - 2) * np.log(contrast + size) - np.log1p(contrast * point).sum()


def distribution_error(channel: ArrayLike, distribution: ArrayLike) -> float:
    """Return the limit of ``n`` times the best mean squared error of the distribution: the trace of ``J_p^-1``.

    Summed over all ``a`` coordinates; the distribution has positive entries. Sharpens Corollary 4.3 of lopuhaa2020 to
    equality.

    >>> round(distribution_error([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    2.0
    """
    point = checks.distribution(distribution=distribution)
    return _inverse_trace(channel, point) - float(point @ point)


def frequency_error(channel: ArrayLike, distribution: ArrayLike) -> float:
    """Return the limit of ``n`` times the best mean squared error of the frequencies: less by ``1 - |p|^2``.

    >>> round(frequency_error([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    1.5
    """
    return _inverse_trace(channel, checks.distribution(distribution=distribution)) - 1


def _inverse_trace(channel: ArrayLike, point: Floats) -> float:
    rows = np.asarray(channel, dtype=float)
    return float(np.trace(np.linalg.inv((rows.T / (rows @ point)) @ rows)))


def unbiased_frequency_error(mechanism: FrequencyMechanism) -> Real:
    """Return ``n`` times the mean squared error of a pure protocol's unbiased frequencies, the same for all data.

    ``(a q (1-q) + p (1-p) - q (1-q)) / (p - q)^2``: add ``1 - |P|^2`` for the distribution. The "attainable" rows of
    Table I of lopuhaa2020; with ``p = 1/2`` it is ``4 a e^epsilon / (e^epsilon - 1)^2 + 1``.

    >>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
    >>> round(float(unbiased_frequency_error(KaryRandomisedResponse(np.log(3), 2))), 12)
    1.5
    """
    p, q, miss, gap = mechanism.p, mechanism.q, mechanism.miss_rate, mechanism.truthful_rate
    return ((mechanism.domain_size - 1) * q * (miss + gap) + p * miss) / gap / gap


def entropy_constants(channel: ArrayLike, distributions: ArrayLike) -> tuple[float, float]:
    """Return the averages over distributions of ``ln det J_p`` and of ``ln det C_p - sum_x ln p_x - ln det J_p``.

    Parameters
    ----------
    channel : (outputs, a) float
    distributions : (draws, a) float
        Points of equal weight: draws from a prior, or the nodes of a quadrature.

    References
    ----------
    Equations (39) and (40) of lopuhaa2020. How the source divides them is not in its text; these are the quantities
    that its (41) and (42) need.
    """
    information, frequencies = [], []
    for point in np.asarray(distributions, dtype=float):
        one = float(np.linalg.slogdet(fisher_information(channel, point))[1])
        information.append(one)
        other = float(np.linalg.slogdet(conditional_covariance(channel, point))[1])
        frequencies.append(other - float(np.log(point).sum()) - one)
    return float(np.mean(information)), float(np.mean(frequencies))


@dataclass(frozen=True, slots=True)
class SymmetricDirichlet:
    """A Dirichlet prior with one concentration for all values; 1/2 is Jeffreys' prior.

    >>> jeffreys = SymmetricDirichlet(2)
    >>> jeffreys.diversity(), round(float(np.exp(jeffreys.entropy()) * 4 / np.pi), 12)
    (0.25, 1.0)
    """

    domain_size: Real
    concentration: Real = 0.5

    def __post_init__(self) -> None:
        checks.whole(domain_size=self.domain_size, at_least=2)
        checks.positive(concentration=self.concentration)

    def entropy(self) -> float:
        """Return the differential entropy, in nats, of the first ``a - 1`` coordinates."""
        size, alpha = self.domain_size, self.concentration
        total = size * alpha
        log_beta = size * gammaln(alpha) - gammaln(total)
        return float(log_beta + (total - size) * digamma(total) - size * (alpha - 1) * digamma(alpha))

    def log_sum(self) -> float:
        """Return the mean of ``sum_x ln P_x``."""
        return float(self.domain_size * (digamma(self.concentration) - digamma(self.domain_size * self.concentration)))

    def diversity(self) -> Real:
        """Return the mean of ``1 - |P|^2``."""
        return 1 - (self.concentration + 1) / (self.domain_size * self.concentration + 1)
