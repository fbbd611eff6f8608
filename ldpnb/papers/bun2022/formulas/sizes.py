"""Random sample sizes that do not depend on the data, in log space so that no tail is lost."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ldpnb import checks
from ldpnb.arithmetic import Floats, is_exact, real

_MOST_LISTED = 10_000_000
"""Largest population for which the probability of every size is listed."""


@dataclass(frozen=True, slots=True, eq=False)
class SizeLaw:
    """The distribution of the size of a sample from a population of known size.

    Parameters
    ----------
    log_probabilities : ndarray, shape (population + 1,)
        Logarithms of the probabilities of the sizes 0, 1, ..., population; ``-inf`` where a size is
        impossible. They are kept in log space because privacy reweights sizes exponentially, so
        that even a probability of ``e^-1000`` can matter. Symbols may be those of weights, which
        need not sum to 1.
    """

    log_probabilities: Floats

    def __post_init__(self) -> None:
        checks.plain(self)
        if all(map(is_exact, self.log_probabilities)):
            return

        logs = np.asarray(self.log_probabilities, dtype=float)
        if logs.ndim != 1 or logs.size < 2 or np.isnan(logs).any() or abs(logsumexp(logs)) > 1e-9:
            raise ValueError(
                "log_probabilities must be the logarithms of a probability law "
                "on at least two sizes"
            )

    @property
    def population(self) -> int:
        """Number ``n`` of records in the population."""
        return self.log_probabilities.size - 1

    @property
    def probabilities(self) -> Floats:
        """Probabilities of the sizes 0, 1, ..., n."""
        return np.asarray(np.exp(self.log_probabilities))


def size_law(
    probabilities: ArrayLike | Mapping[int, float], population: int | None = None
) -> SizeLaw:
    """Describe a random sample size by its probabilities.

    Parameters
    ----------
    probabilities : array_like, shape (population + 1,), or mapping of int to float
        Probabilities of the sizes 0, 1, ..., or of the sizes that are named. They sum to 1.
    population : int, optional
        Number of records in the population, at most ten million. It is used with a mapping, and by
        default the largest size that is named.

    Returns
    -------
    SizeLaw
        The distribution of the size.

    Raises
    ------
    ValueError
        If the probabilities do not sum to 1, or a size exceeds the population.

    See Also
    --------
    random_size_loss : The privacy loss of a sample of such a size.
    fixed_size : A size that is not random.

    References
    ----------
    Section 3 of Bun et al. (2022).

    Examples
    --------
    >>> size_law({1: 0.5, 3: 0.5}, population=4).probabilities.tolist()
    [0.0, 0.5, 0.0, 0.5, 0.0]
    """
    if isinstance(probabilities, Mapping):
        last = _listed(max(probabilities) if population is None else population)
        listed = np.zeros(last + 1)
        for size, chance in probabilities.items():
            listed[checks.whole(size, "size", at_most=last)] = chance
    else:
        listed = real(probabilities)

    with np.errstate(divide="ignore"):
        return SizeLaw(np.log(checks.distribution(listed, "probabilities")))


def fixed_size(size: int, population: int) -> SizeLaw:
    """Describe a sample of fixed size.

    Parameters
    ----------
    size : int
        Number of records that are drawn, from 0 to `population`.
    population : int
        Number of records in the population, from 1 to ten million.

    Returns
    -------
    SizeLaw
        The distribution that has one size only.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    size_law : A random size.

    References
    ----------
    Section 2 of Bun et al. (2022) has the privacy loss of such a sample.

    Examples
    --------
    >>> fixed_size(2, 3).probabilities.tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    return size_law({size: 1.0}, population)


def truncated_gaussian_size(population: int, mean: float, deviation: float) -> SizeLaw:
    """Describe a size with probabilities proportional to ``exp(-(m - mean)^2 / (2 deviation^2))``.

    This is the distribution in Section 3 of Bun et al. (2022), on the sizes 0 to `population`.
    Reweighted by ``e^(epsilon m)`` it is again a truncated Gaussian, with the mean
    ``mean + epsilon deviation^2``.

    >>> truncated_gaussian_size(2, 1.0, 1e-3).probabilities.tolist()
    [0.0, 1.0, 0.0]
    """
    sizes = np.arange(_listed(population) + 1)
    logs = -0.5 * ((sizes - mean) / checks.positive(deviation, "deviation")) ** 2
    return SizeLaw(logs - logsumexp(logs))


def _listed(population: float) -> int:
    return checks.whole(population, "population", at_least=1, at_most=_MOST_LISTED)
