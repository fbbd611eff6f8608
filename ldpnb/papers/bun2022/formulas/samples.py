"""Draw simple random, unequal-probability and systematic samples.

Where only counts matter, draw a sample's tallies from their exact distribution
(`simple_random_tallies`) and not its records: a population of a billion then costs no more than one
of a thousand. The other functions return positions of records.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real


def simple_random_tallies(counts: ArrayLike, size: int, *, rng: np.random.Generator) -> Ints:
    """Draw the tallies of a simple random sample, which are multivariate hypergeometric.

    Parameters
    ----------
    counts : array_like of int, shape (k,)
        Number of records with each value, fewer than 10^9 in all.
    size : int
        Number of records that are drawn.
    rng : numpy.random.Generator
        Source of randomness.

    Examples
    --------
    >>> simple_random_tallies([3, 2], 5, rng=np.random.default_rng(1)).tolist()
    [3, 2]
    """
    records = checks.counts(counts, "counts")
    drawn = checks.whole(size, "size", at_most=int(records.sum()))
    return rng.multivariate_hypergeometric(records, drawn, method="marginals")


def pps_rate(size: Real, total: Real, expected_size: Real) -> Real:
    """Return the inclusion probability in proportion to size, ``m z / sum z``.

    It is meant where that is at most 1.
    """
    return expected_size * size / total


def pps_rates(weights: ArrayLike, expected_size: float) -> Floats:
    """Return inclusion probabilities in proportion to size, ``min(1, m z_i / sum z)``.

    This is Section 6.1 of Bun et al. (2022).

    >>> pps_rates([1, 2, 3, 4], 2).tolist()
    [0.2, 0.4, 0.6, 0.8]
    """
    sizes = checks.numbers(weights, "weights", low=0, above=True)
    expected = checks.positive(expected_size, "expected_size")
    return np.asarray(np.minimum(1.0, pps_rate(sizes, sizes.sum(), expected)))


def poisson_positions(rates: ArrayLike, *, rng: np.random.Generator) -> Ints:
    """Draw the positions of a Poisson sample: each record independently, with its own rate."""
    include = checks.numbers(rates, "rates", low=0, high=1)
    return np.flatnonzero(rng.random(include.shape) < include)


def systematic_positions(rates: ArrayLike, *, rng: np.random.Generator) -> Ints:
    """Draw the positions of a systematic sample.

    After one random start, a record is drawn every time that the running total of the rates passes
    a whole number. If all rates are ``1/k``, it takes every k-th record. With `pps_rates` it is
    systematic sampling in proportion to size (Section 6.3 of Bun et al., 2022).

    >>> len(systematic_positions([0.25] * 40, rng=np.random.default_rng(1)))
    10
    """
    totals = np.cumsum(checks.numbers(rates, "rates", low=0, high=1))
    passed = np.floor(totals - rng.random() + 1e-12)
    return np.flatnonzero(np.diff(passed, prepend=-1.0) > 0)
