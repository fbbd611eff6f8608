"""Draw simple random, cluster, stratified, unequal-probability and systematic samples.

Where only counts matter, draw a sample's tallies from their exact law (`simple_random_tallies`, `stratified_tallies`)
rather than its records: a population of a billion then costs no more than one of a thousand. The other functions return
positions of records or clusters.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb import checks
from ldpnb.arithmetic import Real


def simple_random_tallies(counts: ArrayLike, size: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the tallies, ``(k,)``, of a simple random sample from their multivariate hypergeometric law.

    `counts`, ``(k,)``, are the records with each value, fewer than 10^9 in all.

    >>> simple_random_tallies([3, 2], 5, rng=np.random.default_rng(1)).tolist()
    [3, 2]
    """
    held = checks.counts(counts=counts)
    drawn = _at_most(int(held.sum()), size=size)
    return rng.multivariate_hypergeometric(held, drawn, method="marginals")


def stratified_tallies(counts: ArrayLike, drawn: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the tallies, ``(strata, k)``, of independent simple random samples, one per stratum.

    `counts`, ``(strata, k)``, are the records of each stratum with each value, `drawn` how many are drawn from each.
    """
    rows, sizes = np.asarray(counts), np.asarray(drawn)
    if rows.ndim != 2 or sizes.shape != rows.shape[:1]:
        raise ValueError(f"drawn must have one size per stratum, got shapes {rows.shape} and {sizes.shape}")
    return np.array([simple_random_tallies(row, m, rng=rng) for row, m in zip(rows, sizes, strict=True)])


def simple_random_positions(population: int, size: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the positions of a simple random sample of records or of clusters, in increasing order.

    >>> simple_random_positions(3, 3, rng=np.random.default_rng(1)).tolist()
    [0, 1, 2]
    """
    whole = checks.whole(population=population, at_least=1)
    return np.sort(rng.choice(whole, size=_at_most(whole, size=size), replace=False, shuffle=False))


def cluster_tallies(counts: ArrayLike, chosen: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the tallies of `chosen` whole clusters out of the rows of `counts`, of shape ``(clusters, k)``."""
    rows = np.asarray(counts)
    if rows.ndim != 2 or not rows.sum(axis=1).all():
        raise ValueError("counts must be a table with a row per cluster, none of them empty")
    return np.asarray(rows[simple_random_positions(len(rows), chosen, rng=rng)].sum(axis=0))


def pps_rate(size: Real, total: Real, expected_size: Real) -> Real:
    """Return ``m z / sum z``, the inclusion probability in proportion to size where it is at most 1."""
    return expected_size * size / total


def pps_rates(weights: ArrayLike, expected_size: float) -> NDArray[np.float64]:
    """Return inclusion probabilities proportional to size, ``min(1, m z_i / sum z)`` (Section 6.1 of bun2022).

    >>> pps_rates([1, 2, 3, 4], 2).tolist()
    [0.2, 0.4, 0.6, 0.8]
    """
    sizes = np.asarray(weights, dtype=float)
    if sizes.ndim != 1 or not (np.isfinite(sizes) & (sizes > 0)).all():
        raise ValueError(f"weights must be finite numbers > 0, got weights={weights!r}")
    return np.asarray(np.minimum(1.0, pps_rate(sizes, sizes.sum(), checks.positive(expected_size=expected_size))))


def poisson_positions(rates: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the positions of a Poisson sample: each record independently with its own rate."""
    include = checks.numbers(rates=rates, low=0, high=1)
    return np.flatnonzero(rng.random(include.shape) < include)


def systematic_positions(rates: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a systematic sample: one random start, then every time the running total of the rates passes a whole number.

    With all rates ``1/k`` it takes every k-th record; with `pps_rates` it is systematic sampling proportional to size
    (Section 6.3 of bun2022).

    >>> len(systematic_positions([0.25] * 40, rng=np.random.default_rng(1)))
    10
    """
    marks = np.floor(np.cumsum(checks.numbers(rates=rates, low=0, high=1)) - rng.random() + 1e-12)
    return np.flatnonzero(np.diff(marks, prepend=-1.0) > 0)


def _at_most(population: int, *, size: int) -> int:
    drawn = checks.whole(size=size)
    if drawn > population:
        raise ValueError(f"size must be at most the population's {population}, got size={drawn}")
    return drawn
