"""What one locally private report reveals: Fisher information, conditional covariances, and the errors they imply.

Use it for the quantities that belong to one channel ``Q[y, x] = Pr(y | x)``, of shape (outputs, a), and one
distribution, and for the constants of a Dirichlet prior. Bounds that hold for every channel of a given privacy are in
`lower_bounds`, errors at a finite number of users in `exact_risk`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.linalg import helmert
from scipy.special import betaincc, digamma, expit, gammaln

from ldpnb import checks
from ldpnb.arithmetic import Floats, Real, real
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.registry import FrequencyMechanism

_LEAST_SINGULAR = 1e-6
"""Down to here, entries correct to 1e-16 give the differences between nearly equal inputs to 1e-10."""


def fisher_information(channel: ArrayLike, distribution: ArrayLike) -> Floats:
    """Return the Fisher information ``J_p`` of one report about the first ``a - 1`` probabilities.

    Equation (36) of lopuhaa2020.

    >>> fisher_information([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(12).tolist()
    [[1.0]]
    """
    scaled = _scaled_differences(*_possible(channel, distribution))
    return scaled.T @ scaled


def conditional_covariance(channel: ArrayLike, distribution: ArrayLike) -> Floats:
    """Return ``C_p``: the covariance of a user's value given the report, averaged, on the first ``a - 1`` coordinates.

    Equations (37) and (38) of lopuhaa2020. Off the diagonal it is ``-sum_y Pr(y) Pr(x | y) Pr(x' | y)``; its rows sum
    to 0 over all ``a`` values, which gives the diagonal without a cancellation.
    """
    rows, point = _possible(channel, distribution)
    given = rows * point / (rows @ point)[:, None]
    both = (given.T * (rows @ point)) @ given
    np.fill_diagonal(both, 0)
    return (np.diag(both.sum(axis=1)) - both)[:-1, :-1]


def distribution_error(
    channel: ArrayLike | KaryRandomisedResponse, distribution: ArrayLike
) -> float:
    """Return the limit of ``n`` times the best mean squared error of the distribution: the trace of ``J_p^-1``.

    Summed over all ``a`` coordinates. Sharpens Corollary 4.3 of lopuhaa2020 to equality. The entries of a channel that
    reveals almost nothing are not accurate enough, and it is refused; k-ary randomised response may be given as a
    mechanism, for the closed form ``(k-1) q (1 + p - q) / (p - q)^2 + 1 - |P|^2``, accurate at every epsilon and domain
    size.

    >>> round(distribution_error([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    2.0
    """
    if isinstance(channel, KaryRandomisedResponse):
        point = checks.distribution(distribution, "distribution")
        return frequency_error(channel, point) + float(point @ (1 - point))
    rows, point = _possible(channel, distribution)
    return float(((1 / _singular(rows, point)[1]) ** 2).sum())


def frequency_error(channel: ArrayLike | KaryRandomisedResponse, distribution: ArrayLike) -> float:
    """Return the limit of ``n`` times the best mean squared error of the frequencies: less by ``1 - |p|^2``.

    It is the mean squared distance of the best linear estimate from the user's own value, ``sum_x p_x sum_y Q[y, x]
    |A_y - e_x|^2``, all of whose terms are positive; k-ary randomised response may be given as a mechanism.

    >>> round(frequency_error([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    1.5
    """
    if isinstance(channel, KaryRandomisedResponse):
        checks.entries(
            checks.distribution(distribution, "distribution"), "distribution", channel.domain_size
        )
        return float(
            channel.miss_rate
            * (1 + channel.truthful_rate)
            / channel.truthful_rate
            / channel.truthful_rate
        )
    rows, point = _possible(channel, distribution)
    left, sizes, right = _singular(rows, point)
    # estimates of the value behind a report; they sum to 1
    estimates = (left / np.sqrt(rows @ point)[:, None] / sizes) @ (
        right @ helmert(point.size)
    ) + point
    misses = [((estimates - own) ** 2).sum(axis=1) for own in np.eye(point.size)]
    return float(
        sum(
            chance * (column @ miss)
            for chance, column, miss in zip(point, rows.T, misses, strict=True)
        )
    )


def _possible(channel: ArrayLike, distribution: ArrayLike) -> tuple[Floats, Floats]:
    """Return the channel's rows for outputs that occur, and the distribution."""
    rows, point = real(channel), checks.distribution(distribution, "distribution")
    if rows.ndim != 2 or rows.shape[1] != point.size:
        raise ValueError(
            f"distribution must have one entry per input of the channel, {rows.shape}, got {point.size}"
        )
    seen = rows @ point > 0
    if (rows[~seen] > 0).any():
        raise ValueError(
            "distribution must be positive, got a zero at a value that some output gives away"
        )
    return rows[seen], point


def _scaled_differences(rows: Floats, point: Floats) -> Floats:
    return (rows[:, :-1] - rows[:, -1:]) / np.sqrt(rows @ point)[:, None]


def _singular(rows: Floats, point: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the singular decomposition of ``D^-1/2 Q`` on the vectors that sum to 0; refused if too near singular."""
    # the columns' differences from the last one, in the basis: nothing common to all inputs is left to cancel
    scaled = _scaled_differences(rows, point) @ helmert(point.size).T[:-1]
    left, sizes, right = np.linalg.svd(scaled, full_matrices=False)
    if sizes.size < point.size - 1 or sizes.min() < _LEAST_SINGULAR:
        raise ValueError(
            "channel must tell its inputs apart by more than rounding, got a least singular value of "
            f"{sizes.min() if sizes.size == point.size - 1 else 0.0:.3g}; k-ary randomised response may be given itself"
        )
    return left, sizes, right


def unbiased_frequency_error(mechanism: FrequencyMechanism) -> Real:
    """Return ``n`` times the mean squared error of a pure protocol's unbiased frequencies, the same for all data.

    ``(a q (1-q) + p (1-p) - q (1-q)) / (p - q)^2``: add ``1 - |P|^2`` for the distribution. The "attainable" rows of
    Table I of lopuhaa2020; with ``p = 1/2`` it is ``4 a e^epsilon / (e^epsilon - 1)^2 + 1``.
    """
    p, q, miss, gap = mechanism.p, mechanism.q, mechanism.miss_rate, mechanism.truthful_rate
    return ((mechanism.domain_size - 1) * q * (miss + gap) + p * miss) / gap / gap


def entropy_constants(channel: ArrayLike, distributions: ArrayLike) -> tuple[float, float]:
    """Return the averages over distributions of ``ln det J_p`` and of ``ln det C_p - sum_x ln p_x - ln det J_p``.

    Equations (39) and (40) of lopuhaa2020. The text does not show how the source splits them; these are the quantities
    needed in its (41) and (42).

    - `channel`, (outputs, a) float.
    - `distributions`, (draws, a) float: points of equal weight: draws from a prior, or the nodes of a quadrature.
    """
    information, frequencies = [], []
    for distribution in np.asarray(distributions, dtype=float):
        rows, point = _possible(channel, distribution)
        if not (point > 0).all():
            raise ValueError("distributions must have positive entries, got a zero")
        one = 2 * float(np.log(_singular(rows, point)[1]).sum()) + np.log(point.size)
        information.append(one)
        roots = np.sqrt(point[:-1])
        scaled = conditional_covariance(rows, point) / roots / roots[:, None]
        sign, other = np.linalg.slogdet(scaled)
        if not sign > 0:
            raise ValueError(
                "channel must leave its inputs uncertain, got one that tells them apart"
            )
        frequencies.append(float(other) - float(np.log(point[-1])) - one)
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
        checks.plain(self, domain_size=2)
        checks.positive(self.concentration, "concentration")

    def entropy(self) -> float:
        """Return the differential entropy, in nats, of the first ``a - 1`` coordinates."""
        size, alpha = self.domain_size, self.concentration
        total = size * alpha
        log_beta = size * gammaln(alpha) - gammaln(total)
        return float(
            log_beta + (total - size) * digamma(total) - size * (alpha - 1) * digamma(alpha)
        )

    def diversity(self) -> Real:
        """Return the mean of ``1 - |P|^2``."""
        return 1 - (self.concentration + 1) / (self.domain_size * self.concentration + 1)

    def krr_log_det_information(self, epsilon: float) -> float:
        """Return the mean of ``ln det J_P`` of k-ary randomised response, by one integral, for any number of values.

        With ``c = e^epsilon - 1`` it is ``2 (a-1) ln c - (a-2) ln(c + a) - a E ln(1 + c P_x)``, by the determinant of
        ``c I + 1 1^T``, and ``E ln(1 + c P_x)`` the integral of ``c / (1 + c t) Pr(P_x > t)``, here over ``ln t``.

        >>> flat = SymmetricDirichlet(2, 1.0)  # of a uniform share it is 2 - 4 ln 2 at c = 1
        >>> round(flat.krr_log_det_information(float(np.log(2))) - 2 + 4 * float(np.log(2)), 12) + 0
        0.0
        """
        size, contrast = self.domain_size, np.expm1(checks.positive(epsilon, "epsilon"))
        alpha, start = self.concentration, float(np.log(contrast))

        def height(place: float) -> float:
            return float(expit(place + start) * betaincc(alpha, (size - 1) * alpha, np.exp(place)))

        logarithm = quad(height, -40 - max(start, 0), 0, limit=500, epsabs=0, epsrel=1e-11)[0]
        return float(
            2 * (size - 1) * start - (size - 2) * np.log(contrast + size) - size * logarithm
        )
