"""How likely a sum of randomised bits is to stray from its mean: exact laws.

Two kinds of sums. *One rate*: bits with any chances of a one whose mean is given. *Two rates*: a share of the
bits has chance ``p`` and the others ``q``. Deviations are per bit and two-sided. A deviation ``a`` of ``n`` bits starts
at a real number of ones; the binomial tail is continued to real numbers by the incomplete beta function, which exceeds
every tail of the lattice and does not jump with it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

Floats = NDArray[np.float64]

_REACH, _RESOLUTION, FINE = 8.0, 1.4, 200.0


def upper_tail(bits: Floats, rate: Floats | float, ones: Floats) -> Floats:
    """Return ``Pr(Bin(bits, rate) >= ones)``, for real `ones` its continuation ``I_rate(ones, bits - ones + 1)``.

    >>> upper_tail(np.array(2.0), 0.5, np.array([0.0, 1.0, 2.0, 3.0])).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    inside = (ones > 0) & (ones < bits + 1)
    first, second = np.where(inside, ones, 1.0), np.where(inside, bits - ones + 1, 1.0)
    return np.where(inside, special.betainc(first, second, rate), np.where(ones > 0, 0.0, 1.0))


def one_rate_exact(bits: int | Floats, rates: Floats, deviation: float) -> Floats:
    """Return the chance that a mean of independent bits is `deviation` or more off its expectation, by expectation.

    Of all bits whose mean expectation is one of `rates`, ``(m,)``, those of equal rates stray most, once the deviation
    amounts to a bit (below, 1 is returned).

    That is Theorem 5 of Hoeffding (1956), which extends the check of lecture20's 1-bit mean to any values. It holds for
    the bits of a simple random sample too: the number of ones has a generating function with real zeros only, that of
    as many independent bits with the same mean (Borcea, Brändén and Liggett 2009: samples are strongly Rayleigh).

    >>> one_rate_exact(4, np.array([0.5]), 0.5).tolist()
    [0.125]
    """
    n = np.asarray(bits, dtype=float)
    above = upper_tail(n, rates, n * (rates + deviation))
    below = upper_tail(n, 1 - rates, n * (1 - rates + deviation))
    return np.where(n * deviation < 1, 1.0, np.minimum(above + below, 1.0))


def two_rates_exact(bits: int, holders: Floats, p: float, q: float, deviation: float) -> Floats:
    """Return the same chance for a sum of ``Bin(holders, p)`` and ``Bin(bits - holders, q)``, ``0 < q < p < 1``.

    `holders`, ``(m,)``, are whole numbers in ``[0, bits]``.

    >>> two_rates_exact(2, np.array([1.0]), 0.75, 0.25, 0.5).round(12).tolist()
    [0.375]
    """
    away, expected = bits * deviation, holders * p + (bits - holders) * q
    return np.minimum(_two_rates(bits, holders, p, q, expected + away, bits - expected + away), 1.0)


def sampled_two_rates_exact(
    population: int, holders: Floats, bits: int, p: float, q: float, deviation: float
) -> Floats:
    """Return the same chance for the bits of a simple random sample, whose number of holders is hypergeometric.

    `holders` are whole numbers in ``[0, population]``, `bits` is the size of the sample, and the deviation is from what
    the whole population would send on average.

    >>> sampled_two_rates_exact(2, np.array([1.0]), 1, 0.75, 0.25, 0.5).round(12).tolist()
    [1.0]
    """
    away, expected = bits * deviation, bits * (q + holders / population * (p - q))
    return np.minimum(_sampled(population, holders, bits, p, q, expected + away, bits - expected + away), 1.0)


def sampled_tail(least: int, bits: int, population: int, holders: int, p: float, q: float) -> float:
    """Return the chance of `least` ones or more among the bits of a simple random sample.

    >>> round(sampled_tail(1, 1, 2, 1, 0.75, 0.25), 12)
    0.5
    """
    ones, none = np.array([float(least)]), np.array([np.inf])
    return float(_sampled(population, np.array([float(holders)]), bits, p, q, ones, none)[0])


def sampled_noisy_exact(population: int, holders: Floats, sample: int, deviation: float, scale: float) -> Floats:
    """Return the chance that a share in a simple random sample, with Laplace noise on the count, is as far off.

    Laws too wide to be listed are thinned, and every point then stands for the furthest of those it replaces.

    >>> sampled_noisy_exact(2, np.array([1.0]), 1, 0.6, 0.1 / np.log(2)).round(12).tolist()
    [0.250244140625]
    """
    points, weights = hypergeometric(float(population), holders, float(sample), FINE)
    step = np.diff(points, axis=1).max(axis=1, keepdims=True)
    away = np.abs(points - (sample * holders / population)[:, None]) + step / 2 * (step > 1)
    reach = sample * deviation
    same = np.exp(-np.abs(reach - away) / scale) / 2
    chances = np.where(away < reach, same, 1 - same) + np.exp(-(reach + away) / scale) / 2
    total: Floats = (weights * chances).sum(axis=1)
    return np.minimum(total, 1.0)


def _sampled(population: int, holders: Floats, bits: int, p: float, q: float, ones: Floats, zeros: Floats) -> Floats:
    """Mix the laws of `_two_rates` over the number of holders in the sample."""
    drawn, weights = hypergeometric(float(population), holders, float(bits))
    rows = (np.broadcast_to(ends[:, None], drawn.shape).ravel() for ends in (ones, zeros))
    chances: Floats = (weights * _two_rates(bits, drawn.ravel(), p, q, *rows).reshape(drawn.shape)).sum(axis=1)
    return chances


def _two_rates(bits: int, holders: Floats, p: float, q: float, ones: Floats, zeros: Floats) -> Floats:
    """Return the chance of so many ones or so many zeros: list the narrower binomial and close the other's tails."""
    others = bits - holders
    first = holders * p * (1 - p) <= others * q * (1 - q)
    listed, rate = np.where(first, holders, others), np.where(first, p, q)
    closed, closed_rate = np.where(first, others, holders)[:, None], np.where(first, q, p)[:, None]
    points, weights = _binomial_lattice(listed, rate)
    above = upper_tail(closed, closed_rate, ones[:, None] - points)
    below = upper_tail(closed, 1 - closed_rate, zeros[:, None] - (listed[:, None] - points))
    chance: Floats = (weights * (above + below)).sum(axis=1)
    return chance


def _binomial_lattice(trials: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """Return points, a row per binomial, that carry nearly all of its mass, and weights to sum with."""
    size = trials[:, None]
    points = _points(trials * rates, np.sqrt(trials * rates * (1 - rates)), trials)
    some = np.clip(points, 0.0, size)
    return some, _weights(stats.binom.pmf(some, size, rates[:, None]), points <= size)


def hypergeometric(
    population: float, holders: Floats, drawn: float, resolution: float = _RESOLUTION
) -> tuple[Floats, Floats]:
    """Return points and weights for the holders in a simple random sample, a row per number in the population.

    By two binomials of one rate: of logarithms of factorials of ``10^12`` no digit after the point would be left.
    """
    share = holders / population
    spread = np.sqrt(drawn * share * (1 - share) * (population - drawn) / max(population - 1, 1.0))
    points = _points(drawn * share, spread, np.minimum(holders, drawn), resolution)
    least, size = np.maximum(0.0, holders - (population - drawn))[:, None], np.minimum(holders, drawn)[:, None]
    some = np.clip(points, least, size)
    own, others, rate = holders[:, None], (population - holders)[:, None], drawn / population
    masses = stats.binom.pmf(some, own, rate) * stats.binom.pmf(drawn - some, others, rate)
    return some, _weights(masses, (points >= least) & (points <= size))


def _points(mean: Floats, deviation: Floats, most: Floats, resolution: float = _RESOLUTION) -> Floats:
    """Run over every ``step``-th whole number around a mean.

    For laws as smooth as a wide binomial, summed with a tail at least as smooth, that errs by less than any power of
    the step. Narrow laws are listed in full.
    """
    step = np.maximum(np.floor(deviation / resolution), 1.0)
    reach = _REACH * deviation + 12.0 * (step == 1)
    first = np.maximum(np.floor(mean - reach), 0.0)
    length = int(((np.minimum(mean + reach, most) - first) / step).max()) + 2
    return first[:, None] + step[:, None] * np.arange(length)


def _weights(masses: ArrayLike, inside: NDArray[np.bool_]) -> Floats:
    kept = np.where(inside, masses, 0.0)
    normalised: Floats = kept / kept.sum(axis=1, keepdims=True)
    return normalised
