"""Synthetic categorical populations: the sources' distributions, and data sets drawn from them as counts."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpnb import checks


def binomial(trials: int, probability: float, *, largest: int | None = None) -> NDArray[np.float64]:
    """Return the binomial distribution on ``0 .. trials``, or on ``0 .. largest`` with zeros above `trials`.

    Section 4 of biswas2022 draws from Bin(100, .5) "on a domain of size 100"; its values ``0 .. 100`` are 101.

    Parameters
    ----------
    trials : int
        ``>= 1``.
    probability : float
        In ``[0, 1]``.
    largest : int, optional
        Largest value of the domain, ``>= trials``.
    """
    count = checks.whole(trials=trials, at_least=1)
    last = count if largest is None else checks.whole(largest=largest, at_least=count)
    chance, values = checks.probability(probability=probability), np.arange(count + 1)
    choices = special.gammaln(count + 1) - special.gammaln(values + 1) - special.gammaln(count - values + 1)
    chances = np.exp(choices + special.xlogy(values, chance) + special.xlog1py(count - values, -chance))
    return np.pad(chances, (0, last - count))


def binomial_mixture(
    trials: int, probabilities: tuple[float, float], *, largest: int | None = None
) -> NDArray[np.float64]:
    """Return the mixture, in equal parts, of two binomial distributions with the same number of trials.

    "Binomial(50, .6) + Binomial(50, .4)" in Section 4 of biswas2022 is read as this mixture. A sum of two independent
    variables would have mean 50 and variance 24 beside 50 and 25 for Bin(100, .5), at a total variation distance of
    .0099: two data sets of 50,000 users could hardly be told apart, and the second figure would show nothing new.
    """
    first, second = (binomial(trials, probability, largest=largest) for probability in probabilities)
    mixture: NDArray[np.float64] = (first + second) / 2
    return mixture


def sample_counts(distribution: NDArray[np.float64], users: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a data set of independent values, as the number of users who hold each, ``(k,)``."""
    chances = checks.distribution(distribution=distribution)
    return np.asarray(rng.multinomial(checks.whole(users=users, at_least=1), chances / chances.sum()))


def dirichlet(domain_size: int, concentration: float, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a distribution from a symmetric Dirichlet prior; 1/2 is Jeffreys' prior, 1 the uniform one.

    The prior of Sections 3 and 5 of lopuhaa2020, over `domain_size` values, two or more.
    """
    size = checks.whole(domain_size=domain_size, at_least=2)
    return rng.dirichlet(np.full(size, checks.positive(concentration=concentration)))
