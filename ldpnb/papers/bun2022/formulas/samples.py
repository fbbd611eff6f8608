"""Draw simple random, unequal-probability and systematic samples.

Where only counts matter, draw a sample's tallies from their exact law (`simple_random_tallies`) rather than its
records: a population of a billion then costs no more than one of a thousand. The other functions return positions of
records.
"""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real


def simple_random_tallies(counts: ArrayLike, size: int, *, rng: np.random.Generator) -> Ints:
    """Draw the tallies, ``(k,)``, of a simple random sample from their multivariate hypergeometric law.

    `counts`, ``(k,)``, are the records with each value, fewer than 10^9 in all.

    >>> simple_random_tallies([3, 2], 5, rng=np.random.default_rng(1)).tolist()
    [3, 2]
    """
    records = checks.counts(counts, "counts")
    drawn = checks.whole(size, "size", at_most=int(records.sum()))
    return rng.multivariate_hypergeometric(records, drawn, method="marginals")


def pps_rate(size: Real, total: Real, expected_size: Real) -> Real:
    """Return ``m z / sum z``, the inclusion probability in proportion to size where it is at most 1."""
    return expected_size * size / total


def pps_rates(weights: ArrayLike, expected_size: float) -> Floats:
    """Return inclusion probabilities proportional to size, ``min(1, m z_i / sum z)`` (Section 6.1 of bun2022).

    >>> pps_rates([1, 2, 3, 4], 2).tolist()
    [0.2, 0.4, 0.6, 0.8]
    """
    sizes = checks.numbers(weights, "weights", low=0, above=True)
    return np.asarray(
        np.minimum(
            1.0, pps_rate(sizes, sizes.sum(), checks.positive(expected_size, "expected_size"))
        )
    )


def poisson_positions(rates: ArrayLike, *, rng: np.random.Generator) -> Ints:
    """Draw the positions of a Poisson sample: each record independently with its own rate."""
    include = checks.numbers(rates, "rates", low=0, high=1)
    return np.flatnonzero(rng.random(include.shape) < include)


def systematic_positions(rates: ArrayLike, *, rng: np.random.Generator) -> Ints:
    """Draw a systematic sample: one random start, then every time the running total of the rates passes a whole number.

    With all rates ``1/k`` it takes every k-th record; with `pps_rates` it is systematic sampling proportional to size
    (Section 6.3 of bun2022).

    >>> len(systematic_positions([0.25] * 40, rng=np.random.default_rng(1)))
    10
    """
    marks = np.floor(
        np.cumsum(checks.numbers(rates, "rates", low=0, high=1)) - rng.random() + 1e-12
    )
    return np.flatnonzero(np.diff(marks, prepend=-1.0) > 0)
