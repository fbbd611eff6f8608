"""Random sample sizes that do not depend on the data, in log space so that no tail is lost."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ldpnb import checks
from ldpnb.arithmetic import Floats, is_exact, real

_MOST_LISTED = 10_000_000
"""Largest population for which the chance of every size is listed."""


@dataclass(frozen=True, slots=True, eq=False)
class SizeLaw:
    """The law of the size of a sample from a population of known size.

    - `log_probabilities`, (population + 1,) float: logarithms of the probabilities of the sizes ``0 .. population``;
      ``-inf`` where impossible. They are kept in log space because privacy reweights sizes exponentially, so that even
      a probability of ``e^-1000`` can matter. Symbols may be those of weights, which need not sum to 1.
    """

    log_probabilities: Floats

    def __post_init__(self) -> None:
        checks.plain(self)
        if all(map(is_exact, self.log_probabilities)):
            return
        logs = np.asarray(self.log_probabilities, dtype=float)
        if logs.ndim != 1 or logs.size < 2 or np.isnan(logs).any() or abs(logsumexp(logs)) > 1e-9:
            raise ValueError(
                "log_probabilities must be the logarithms of a probability law on at least two sizes"
            )

    @property
    def population(self) -> int:
        """Records in the population, ``n``."""
        return self.log_probabilities.size - 1

    @property
    def probabilities(self) -> Floats:
        """Chances of the sizes ``0 .. n``."""
        return np.asarray(np.exp(self.log_probabilities))


def size_law(
    probabilities: ArrayLike | Mapping[int, float], population: int | None = None
) -> SizeLaw:
    """Return a law given by its probabilities, listed from size 0 or named by size.

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
    """Return the law of a sample of fixed size, at most the population."""
    return size_law({size: 1.0}, population)


def truncated_gaussian_size(population: int, mean: float, deviation: float) -> SizeLaw:
    """Return the normalised law ``exp(-(m - mean)^2 / (2 deviation^2))`` on ``0 .. population`` (Section 3 of bun2022).

    Reweighted by ``e^(epsilon m)`` it is again a truncated Gaussian, with mean ``mean + epsilon deviation^2``.

    >>> truncated_gaussian_size(2, 1.0, 1e-3).probabilities.tolist()
    [0.0, 1.0, 0.0]
    """
    sizes = np.arange(_listed(population) + 1)
    logs = -0.5 * ((sizes - mean) / checks.positive(deviation, "deviation")) ** 2
    return SizeLaw(logs - logsumexp(logs))


def _listed(population: float) -> int:
    return checks.whole(population, "population", at_least=1, at_most=_MOST_LISTED)
