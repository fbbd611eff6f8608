"""Synthetic categorical populations: the sources' distributions, and data sets drawn from them as counts."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpnb import checks


def binomial(trials: int, *probabilities: float, largest: int | None = None) -> NDArray[np.float64]:
    """Return a binomial distribution on ``0 .. trials``; for several probabilities their mixture, in equal parts.

    - `trials`, int: ``>= 1``.
    - `probabilities`, float: in ``[0, 1]``.
    - `largest`, int, optional: largest value of the domain, ``>= trials``; those above `trials` have probability 0.
    """
    count = checks.whole(trials, "trials", at_least=1)
    last = count if largest is None else checks.whole(largest, "largest", at_least=count)
    chances = np.array(
        [[checks.probability(probability, "probability")] for probability in probabilities]
    )
    values = np.arange(count + 1)
    choices = (
        special.gammaln(count + 1)
        - special.gammaln(values + 1)
        - special.gammaln(count - values + 1)
    )
    laws = np.exp(
        choices + special.xlogy(values, chances) + special.xlog1py(count - values, -chances)
    )
    return np.pad(laws.mean(axis=0), (0, last - count))


def sample_counts(
    distribution: NDArray[np.float64], users: int, *, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw a data set of independent values, as the number of users who hold each, ``(k,)``."""
    chances = checks.distribution(distribution, "distribution")
    return np.asarray(
        rng.multinomial(checks.whole(users, "users", at_least=1), chances / chances.sum())
    )
