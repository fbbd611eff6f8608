"""Synthetic categorical populations: the sources' distributions, and counts drawn from them."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpnb import checks


def binomial(trials: int, *probabilities: float, largest: int | None = None) -> NDArray[np.float64]:
    """Return a binomial distribution on ``0 .. trials``, or a mixture of several in equal parts.

    Parameters
    ----------
    trials : int
        At least 1.
    *probabilities : float
        Of success, in ``[0, 1]``, one for each part of the mixture.
    largest : int, optional
        The largest value of the domain, at least `trials`. Values above `trials` have
        probability 0.

    Returns
    -------
    (largest + 1,) array of float

    Examples
    --------
    >>> binomial(2, 0.5).round(9)
    array([0.25, 0.5 , 0.25])
    """
    count = checks.whole(trials, "trials", at_least=1)
    last = count if largest is None else checks.whole(largest, "largest", at_least=count)
    chances = np.array(
        [[checks.probability(probability, "probability")] for probability in probabilities]
    )
    values = np.arange(count + 1)
    log_choices = (
        special.gammaln(count + 1)
        - special.gammaln(values + 1)
        - special.gammaln(count - values + 1)
    )
    log_powers = special.xlogy(values, chances) + special.xlog1py(count - values, -chances)
    distributions = np.exp(log_choices + log_powers)
    return np.pad(distributions.mean(axis=0), (0, last - count))


def sample_counts(
    distribution: NDArray[np.float64], users: int, *, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw a data set of independent values.

    Parameters
    ----------
    distribution : ndarray, shape (k,)
        The probability of each value.
    users : int
        Number of users, at least 1.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ndarray of int, shape (k,)
        How many users hold each value.
    """
    chances = checks.distribution(distribution, "distribution")
    return np.asarray(
        rng.multinomial(checks.whole(users, "users", at_least=1), chances / chances.sum())
    )
