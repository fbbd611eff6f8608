"""Lower bounds on the mean squared error of frequency estimation under local privacy, by how they are meant.

Three kinds must not be mixed in one figure without saying so. `distribution_bound_from_entropy` and
`finite_users_bound` hold for every number of users. The bounds on "``n`` times the mean squared error", from (51) on,
hold in the limit of many users only: at a finite number the error can be far below them. `uniform_optimum` is the best
any channel can do at one distribution, the uniform one. Errors are squared Euclidean distances, summed over all ``a``
values.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.accuracy import information
from ldpnb.mechanisms.subsets import SubsetSelection

_GAUSSIAN = 2 * np.pi * np.e


def hyperplane_factor(domain_size: int) -> float:
    """Return ``kappa = (a - 1) / a * a^(1 / (a - 1))``, by which the source's entropy bounds can be raised.

    The source bounds the error through all but one coordinate and averages; the covariance on the hyperplane itself
    gives this factor, at least 1.

    Examples
    --------
    >>> hyperplane_factor(2), round(hyperplane_factor(10), 6)
    (1.0, 1.162395)
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    return float((size - 1) / size * size ** (1 / (size - 1)))


def distribution_bound_from_entropy(entropy: float, domain_size: int) -> float:
    """Return ``a / (2 pi e) exp(2 h(P|Y) / (a - 1))``, a bound on the error for every number of users.

    Parameters
    ----------
    entropy : float
        Differential entropy of the distribution given the reports, nats.
    domain_size : int

    References
    ----------
    Equation (23), Theorem 4.1 of lopuhaa2020. It may be multiplied by `hyperplane_factor`.
    """
    return float(domain_size / _GAUSSIAN * np.exp(2 * entropy / (domain_size - 1)))


def frequency_bound_from_entropy(entropy: float, domain_size: int, users: int, *, jitter: bool) -> float:
    """Return the bound on the error of the frequencies that the entropy of the users' tallies given the reports
    implies.

    Parameters
    ----------
    entropy : float
        Entropy ``H(T|Y)``, nats.
    domain_size, users : int
    jitter : bool
        False gives ``a / n^2 exp(2 H / (a-1)) / (2 pi e)``, which holds only in the limit of many users; True takes
        ``1/12`` off the factor of ``a / n^2``, which makes it hold for every number: the tallies are whole, and a
        uniform jitter makes them continuous.

    References
    ----------
    Equation (24), Theorem 4.1 of lopuhaa2020.
    """
    spread = np.exp(2 * entropy / (domain_size - 1)) / _GAUSSIAN - (1 / 12 if jitter else 0)
    return float(domain_size / users**2 * spread)


def entropy_limits(log_information: float, log_frequencies: float, domain_size: int) -> tuple[float, float]:
    """Return the limits of ``h(P|Y) + (a-1)/2 ln n`` and ``H(T|Y) - (a-1)/2 ln n``.

    Parameters
    ----------
    log_information, log_frequencies : float
        The constants of `ldpnb.accuracy.information.entropy_constants`.
    domain_size : int

    References
    ----------
    Equations (41) and (42), Theorem 4.2 of lopuhaa2020.
    """
    gaussian = (domain_size - 1) / 2 * np.log(_GAUSSIAN)
    return float(gaussian - log_information / 2), float(gaussian + log_frequencies / 2)


def asymptotic_bounds(log_information: float, log_frequencies: float, domain_size: int) -> tuple[float, float]:
    """Return the bounds on ``n`` times the error of distribution and frequencies, for many users.

    Parameters
    ----------
    log_information, log_frequencies : float
        The constants of `ldpnb.accuracy.information.entropy_constants`.
    domain_size : int

    References
    ----------
    Equations (51) and (52), Corollary 4.3 of lopuhaa2020. Both may be multiplied by `hyperplane_factor`.
    """
    exponent = np.array([-log_information, log_frequencies]) / (domain_size - 1)
    first, second = domain_size * np.exp(exponent)
    return float(first), float(second)


def log_information_ceiling(domain_size: int, epsilon: float) -> float:
    """Return ``2 (a - 1) ln(e^epsilon - 1)``, which ``ln det J_p`` never passes.

    References
    ----------
    Equation (54), Theorem 4.4 of lopuhaa2020.
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    return float(2 * (size - 1) * np.log(np.expm1(checks.positive(epsilon=epsilon))))


def log_covariance_floor(
    domain_size: int, epsilon: float, *, form: Literal["published", "sharp"] = "published"
) -> float:
    """Return a floor of ``ln det C_p - sum_x ln p_x``: ``-a epsilon``, or ``-(a - 1) epsilon``.

    Parameters
    ----------
    domain_size : int
    epsilon : float
        Nats.
    form : {"published", "sharp"}
        Equation (55), Theorem 4.4 of lopuhaa2020, or the better floor. ``sum_x ln(Q[y, x] / (Qp)_y)`` is concave in the
        logarithms of ``Q[y, .]``, hence least at a pattern of ones and ``e^epsilon``; with j of the latter it is at
        least ``-(a - j) epsilon``, and 0 if j = 0.
    """
    checks.choice(form=form, among=("published", "sharp"))
    size = checks.whole(domain_size=domain_size, at_least=2)
    return -(size if form == "published" else size - 1) * checks.positive(epsilon=epsilon)


def distribution_bound(domain_size: int, epsilon: float) -> float:
    """Return ``a / (e^epsilon - 1)^2``, a bound on ``n`` times the error of the distribution for any channel and many
    users.

    References
    ----------
    Equation (59), Theorem 4.5 (and 1.4) of lopuhaa2020.

    Examples
    --------
    >>> round(distribution_bound(2, np.log(2)), 12)
    2.0
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    return float(size / np.expm1(checks.positive(epsilon=epsilon)) ** 2)


def frequency_bound(domain_size: int, epsilon: float, *, form: Literal["published", "sharp"] = "published") -> float:
    """Return ``a e^(-a epsilon / (a-1)) / (e^epsilon - 1)^2``, a bound on ``n`` times the error of the frequencies for
    many users.

    Parameters
    ----------
    domain_size : int
    epsilon : float
        Nats.
    form : {"published", "sharp"}
        The exponent that follows from (55), or ``-epsilon``, from the better floor of `log_covariance_floor`.

    References
    ----------
    Equation (60), Theorem 4.5 (and 1.4) of lopuhaa2020, rebuilt: its text has lost the formula.
    """
    floor = log_covariance_floor(domain_size, epsilon, form=form)
    return float(distribution_bound(domain_size, epsilon) * np.exp(floor / (domain_size - 1)))


def any_channel_bound(domain_size: int, epsilon: float) -> float:
    """Return ``a (a-1)^2 / (floor(a^2/4) (e^epsilon - 1)^2)``: any prior, any channel, many users; about four times the
    source's bound.

    The bound for the frequencies is smaller by the mean of ``1 - |P|^2``. Subset selection with half of the values
    attains both as epsilon falls to 0.

    Examples
    --------
    >>> any_channel_bound(2, 1.0) == distribution_bound(2, 1.0)
    True
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    return float((size - 1) ** 2 / (size**2 // 4) * distribution_bound(size, epsilon))


def any_channel_bound_at(distribution: ArrayLike, epsilon: float) -> tuple[float, float]:
    """Return what ``n`` times the error of distribution and frequencies is at least at one distribution, for any
    channel and many users.

    ``(a-1)^2 / tau(p)`` with ``tau = max_k k (a-k) c^2 / (a (1 + c sigma_k)^2)`` and sigma_k the sum of the k smallest
    probabilities: tau bounds the trace of the information on the hyperplane, and among matrices of one trace the
    inverse has the least trace at a multiple of the identity.

    Parameters
    ----------
    distribution : (a,) float
    epsilon : float
        Nats.

    Returns
    -------
    (float, float)
        The second is the first less ``1 - |p|^2``.
    """
    point, contrast = checks.distribution(distribution=distribution), np.expm1(checks.positive(epsilon=epsilon))
    size, count = point.size, np.arange(1, point.size)
    smallest = np.cumsum(np.sort(point))[:-1]
    trace = (count * (size - count) * (contrast / (1 + contrast * smallest)) ** 2 / size).max()
    bound = float((size - 1) ** 2 / trace)
    return bound, bound - float(1 - point @ point)


def uniform_optimum(domain_size: int, epsilon: float) -> tuple[float, int]:
    """Return the least ``n`` times the error of the distribution at the uniform one, over all channels, and the subset
    size that attains it.

    ``(a-1)^2 (k e^epsilon + a - k)^2 / (a k (a-k) (e^epsilon - 1)^2)``, least at one of the two k next to ``a /
    (e^epsilon + 1)``.

    Parameters
    ----------
    domain_size : int
    epsilon : float
        Nats.

    Returns
    -------
    (float, int)

    Examples
    --------
    >>> uniform_optimum(6, 0.1)[1], uniform_optimum(6, 2.0)[1]
    (3, 1)
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    best = SubsetSelection.optimal(epsilon, size).subset_size
    return (size - 1) ** 2 / uniform_information(size, epsilon, best), best


def uniform_information(domain_size: int, epsilon: float, subset_size: int) -> float:
    """Return the trace of the information of one report of k-subset selection, on the hyperplane, at the uniform
    distribution.

    ``a k (a-k) (e^epsilon - 1)^2 / (k e^epsilon + a - k)^2``; its maximum over k is that over all channels.

    Parameters
    ----------
    domain_size : int
    epsilon : float
        Nats.
    subset_size : int
        ``k``, in ``1 .. a - 1``.

    Examples
    --------
    >>> round(uniform_information(2, np.log(3), 1), 12)
    0.5
    """
    others, decay = domain_size - subset_size, np.exp(-checks.positive(epsilon=epsilon))
    per_weight = (np.expm1(-epsilon) / (subset_size + others * decay)) ** 2
    return float(domain_size * subset_size * others * per_weight)


def finite_users_bound(domain_size: int, users: int, epsilon: float, concentration: float = 0.5) -> float:
    """Return a bound on the error of the distribution that holds for every number of users and every channel, under a
    Dirichlet prior.

    From ``h(P|Y) = h(P) - I(P; Y)``, ``I(P; Y^n) <= n I(P; Y) <= n chi^2`` and the sharpened Theorem 4.1. It says
    something as long as ``n`` is not much above ``a^2 / epsilon^2``.

    Parameters
    ----------
    domain_size, users : int
    epsilon : float
        Nats.
    concentration : float
        Of the symmetric Dirichlet prior.
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    trace = uniform_information(size, epsilon, uniform_optimum(size, epsilon)[1])
    spread = 1 - 1 / size - information.dirichlet_diversity(size, concentration)
    told = checks.whole(users=users, at_least=1) * trace * spread / (size - 1)
    entropy = information.dirichlet_entropy(size, concentration) - told
    return hyperplane_factor(size) * distribution_bound_from_entropy(entropy, size)
