"""What one locally private report reveals, and the errors that follow from it.

Here are the quantities that belong to one channel ``Q[y, x] = Pr(y | x)``, of shape (outputs, a),
and one distribution of the ``a`` values: the Fisher information, the conditional covariance, and
the limiting errors. Here are also the constants of a Dirichlet prior. Bounds that hold for every
channel of a given privacy are in `lower_bounds`, errors at a finite number of users in
`exact_risk`.
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
"""Entries that are correct to 1e-16 give differences between inputs as near as this to 1e-10."""


# One channel and one distribution


def fisher_information(channel: ArrayLike, distribution: ArrayLike) -> Floats:
    """Compute the Fisher information ``J_p`` of one report about the distribution of the values.

    The parameters are the first ``a - 1`` probabilities; the last one is 1 minus their sum.

    Parameters
    ----------
    channel : array_like, shape (outputs, a)
        ``Q[y, x]``, the probability of output ``y`` given input ``x``.
    distribution : array_like, shape (a,)
        Probabilities of the inputs, which sum to 1.

    Returns
    -------
    ndarray, shape (a - 1, a - 1)
        The information per report.

    Raises
    ------
    ValueError
        If the shapes do not fit, if `distribution` is not a probability vector, or if it excludes
        an input that some output gives away.

    References
    ----------
    Equation (36) of Lopuhaä-Zwakenberg et al. (2020).

    Examples
    --------
    Let a report be true with probability 3/4. The probability of the first report changes with the
    first probability at rate 1/2, and has variance 1/4: the information is (1/2)^2 / (1/4) = 1.

    >>> fisher_information([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(12).tolist()
    [[1.0]]
    """
    scaled = _scaled_differences(*_possible(channel, distribution))
    return scaled.T @ scaled


def conditional_covariance(channel: ArrayLike, distribution: ArrayLike) -> Floats:
    """Compute ``C_p``, the mean covariance of a user's value given the report.

    It is taken on the first ``a - 1`` coordinates of the value's indicator (equations (37) and (38)
    of Lopuhaä-Zwakenberg et al. (2020)). Off the diagonal it is
    ``-sum_y Pr(y) Pr(x | y) Pr(x' | y)``. Its rows sum to 0 over all ``a`` values, which gives the
    diagonal without a cancellation.
    """
    rows, point = _possible(channel, distribution)
    output_chances = rows @ point
    given_output = rows * point / output_chances[:, None]

    both = (given_output.T * output_chances) @ given_output
    np.fill_diagonal(both, 0)
    return (np.diag(both.sum(axis=1)) - both)[:-1, :-1]


def distribution_error(
    channel: ArrayLike | KaryRandomisedResponse, distribution: ArrayLike
) -> float:
    """Compute the smallest error of an estimated distribution, for many users.

    It is the limit of ``n`` times the mean squared error, summed over all ``a`` values, and equals
    the trace of the inverse Fisher information on the hyperplane of vectors that sum to 0.

    Parameters
    ----------
    channel : array_like, shape (outputs, a), or KaryRandomisedResponse
        ``Q[y, x]``, the probability of output ``y`` given input ``x``. The entries of a channel
        that reveals almost nothing are not accurate enough, and it is refused. K-ary randomised
        response can be given as a mechanism, for the closed form
        ``(k-1) q (1 + p - q) / (p - q)^2 + 1 - |P|^2``, which is accurate at every epsilon and
        domain size.
    distribution : array_like, shape (a,)
        Probabilities of the inputs, which sum to 1.

    Returns
    -------
    float
        The limit. Divided by the number of users, it approximates the mean squared error.

    Raises
    ------
    ValueError
        If the shapes do not fit, if `distribution` is not a probability vector or excludes an input
        that some output gives away, or if the channel hardly tells its inputs apart.

    See Also
    --------
    frequency_error : The same for the shares among the users themselves.

    References
    ----------
    This makes Corollary 4.3 of Lopuhaä-Zwakenberg et al. (2020) an equality.

    Examples
    --------
    Let a report be true with probability 3/4. The information about either probability is 1, so the
    error of each is 1, and their sum is 2.

    >>> round(distribution_error([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    2.0
    """
    if isinstance(channel, KaryRandomisedResponse):
        point = checks.distribution(distribution, "distribution")
        return frequency_error(channel, point) + float(point @ (1 - point))

    rows, point = _possible(channel, distribution)
    _, singular_values, _ = _singular(rows, point)
    return float(((1 / singular_values) ** 2).sum())


def frequency_error(channel: ArrayLike | KaryRandomisedResponse, distribution: ArrayLike) -> float:
    """Compute the smallest error of the estimated frequencies among the users, for many users.

    It is the limit of ``n`` times the mean squared error, summed over all ``a`` values. It is the
    mean squared distance of the best linear estimate from the user's own value,
    ``sum_x p_x sum_y Q[y, x] |A_y - e_x|^2``, whose terms are all positive.

    Parameters
    ----------
    channel : array_like, shape (outputs, a), or KaryRandomisedResponse
        ``Q[y, x]``, the probability of output ``y`` given input ``x``; see `distribution_error`.
    distribution : array_like, shape (a,)
        Probabilities of the inputs, which sum to 1.

    Returns
    -------
    float
        The limit. It is less than `distribution_error` by ``1 - |p|^2``, the variance that the
        users' values themselves have.

    Raises
    ------
    ValueError
        If the shapes do not fit, if `distribution` is not a probability vector or excludes an input
        that some output gives away, or if the channel hardly tells its inputs apart.

    See Also
    --------
    distribution_error : The same for the distribution from which the users were drawn.

    References
    ----------
    This makes Corollary 4.3 of Lopuhaä-Zwakenberg et al. (2020) an equality.

    Examples
    --------
    Let a report be true with probability 3/4. The error of the distribution is 2, and
    ``1 - |p|^2`` is 1/2.

    >>> round(frequency_error([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    1.5
    """
    if isinstance(channel, KaryRandomisedResponse):
        point = checks.distribution(distribution, "distribution")
        checks.entries(point, "distribution", channel.domain_size)
        return float(
            channel.miss_rate
            * (1 + channel.truthful_rate)
            / channel.truthful_rate
            / channel.truthful_rate
        )

    rows, point = _possible(channel, distribution)
    left, singular_values, right = _singular(rows, point)

    # Estimates of the value behind a report. They sum to 1.
    scaled = left / np.sqrt(rows @ point)[:, None] / singular_values
    estimates = scaled @ (right @ helmert(point.size)) + point

    total = 0.0
    for chance, column, value in zip(point, rows.T, np.eye(point.size), strict=True):
        distances = ((estimates - value) ** 2).sum(axis=1)
        total += chance * (column @ distances)
    return float(total)


def _possible(channel: ArrayLike, distribution: ArrayLike) -> tuple[Floats, Floats]:
    """Return the channel's rows for outputs that occur, and the distribution."""
    rows = real(channel)
    point = checks.distribution(distribution, "distribution")
    if rows.ndim != 2 or rows.shape[1] != point.size:
        raise ValueError(
            f"distribution must have one entry per input of the channel, {rows.shape}, "
            f"got {point.size}"
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
    """Return the singular decomposition of ``D^-1/2 Q`` on the vectors that sum to 0.

    A channel whose inputs differ by little more than rounding is refused.
    """
    # The columns' differences from the last one, in a basis of the hyperplane: what is common to
    # all inputs is not there to cancel.
    scaled = _scaled_differences(rows, point) @ helmert(point.size).T[:-1]
    left, singular_values, right = np.linalg.svd(scaled, full_matrices=False)

    has_full_rank = singular_values.size == point.size - 1
    smallest = singular_values.min() if has_full_rank else 0.0
    if smallest < _LEAST_SINGULAR:
        raise ValueError(
            "channel must tell its inputs apart by more than rounding, "
            f"got a least singular value of {smallest:.3g}; "
            "k-ary randomised response may be given itself"
        )
    return left, singular_values, right


def unbiased_frequency_error(mechanism: FrequencyMechanism) -> Real:
    """Return ``n`` times the mean squared error of unbiased frequency estimates.

    For protocols whose reports support a set of values it is the same for all data:
    ``(a q (1-q) + p (1-p) - q (1-q)) / (p - q)^2``. Add ``1 - |P|^2`` for the distribution. These
    are the "attainable" rows of Table I of Lopuhaä-Zwakenberg et al. (2020). With ``p = 1/2`` it is
    ``4 a e^epsilon / (e^epsilon - 1)^2 + 1``.
    """
    p = mechanism.p
    q = mechanism.q
    miss = mechanism.miss_rate
    gap = mechanism.truthful_rate
    return ((mechanism.domain_size - 1) * q * (miss + gap) + p * miss) / gap / gap


def entropy_constants(channel: ArrayLike, distributions: ArrayLike) -> tuple[float, float]:
    """Return the constants of `EntropyBounds.limits` for one channel.

    They are the averages over distributions of ``ln det J_p``, and of
    ``ln det C_p - sum_x ln p_x - ln det J_p``. They are equations (39) and (40) of
    Lopuhaä-Zwakenberg et al. (2020). The text that we read does not show how the source splits
    them; these are the quantities that its (41) and (42) need.

    Parameters
    ----------
    channel : array_like, shape (outputs, a)
        ``Q[y, x]``, the probability of output ``y`` given input ``x``.
    distributions : array_like, shape (draws, a)
        Positive distributions of equal weight: draws from a prior, or the nodes of a quadrature.
    """
    information = []
    frequencies = []
    for distribution in np.asarray(distributions, dtype=float):
        rows, point = _possible(channel, distribution)
        if not (point > 0).all():
            raise ValueError("distributions must have positive entries, got a zero")

        _, singular_values, _ = _singular(rows, point)
        log_information = 2 * float(np.log(singular_values).sum()) + np.log(point.size)
        information.append(log_information)

        roots = np.sqrt(point[:-1])
        scaled = conditional_covariance(rows, point) / roots / roots[:, None]
        sign, log_covariance = np.linalg.slogdet(scaled)
        if not sign > 0:
            raise ValueError(
                "channel must leave its inputs uncertain, got one that tells them apart"
            )
        frequencies.append(float(log_covariance) - float(np.log(point[-1])) - log_information)
    return float(np.mean(information)), float(np.mean(frequencies))


# A prior


@dataclass(frozen=True, slots=True)
class SymmetricDirichlet:
    """A Dirichlet prior with the same parameter for all values.

    Parameters
    ----------
    domain_size : int
        Number ``a`` of values, at least 2.
    concentration : float, default 0.5
        The parameter of each value, ``> 0``; 1/2 is Jeffreys' prior.

    Examples
    --------
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
        size = self.domain_size
        alpha = self.concentration
        total = size * alpha
        log_beta = size * gammaln(alpha) - gammaln(total)
        return float(
            log_beta + (total - size) * digamma(total) - size * (alpha - 1) * digamma(alpha)
        )

    def diversity(self) -> Real:
        """Return the mean of ``1 - |P|^2``."""
        return 1 - (self.concentration + 1) / (self.domain_size * self.concentration + 1)

    def krr_log_det_information(self, epsilon: float) -> float:
        """Return the mean of ``ln det J_P`` of k-ary randomised response, for any domain size.

        With ``c = e^epsilon - 1`` it is ``2 (a-1) ln c - (a-2) ln(c + a) - a E ln(1 + c P_x)``, by
        the determinant of ``c I + 1 1^T``. The expectation ``E ln(1 + c P_x)`` is the integral of
        ``c / (1 + c t) Pr(P_x > t)``, which is taken over ``ln t``.

        For two values of uniform share, and ``c = 1``, it is 2 - 4 ln 2:

        >>> flat = SymmetricDirichlet(2, 1.0)
        >>> round(flat.krr_log_det_information(float(np.log(2))) - 2 + 4 * float(np.log(2)), 12) + 0
        0.0
        """
        size = self.domain_size
        alpha = self.concentration
        contrast = np.expm1(checks.positive(epsilon, "epsilon"))
        log_contrast = float(np.log(contrast))

        def height(log_t: float) -> float:
            exceeded = betaincc(alpha, (size - 1) * alpha, np.exp(log_t))
            return float(expit(log_t + log_contrast) * exceeded)

        lowest = -40 - max(log_contrast, 0)
        expectation = quad(height, lowest, 0, limit=500, epsabs=0, epsrel=1e-11)[0]
        return float(
            2 * (size - 1) * log_contrast
            - (size - 2) * np.log(contrast + size)
            - size * expectation
        )
