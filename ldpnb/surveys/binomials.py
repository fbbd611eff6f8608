"""How likely a sum of randomised bits is to stray from its mean: exact laws.

Deviations are per bit and two-sided. A deviation ``a`` of ``n`` bits starts at a real number of ones; the binomial tail
is continued to real numbers by the incomplete beta function, which exceeds every tail of the lattice and does not jump
with it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpnb.arithmetic import Floats

_REACH, _RESOLUTION, _FINE = 8.0, 1.4, 200.0


def upper_tail(bits: Floats | int, rate: Floats | float, ones: Floats) -> Floats:
    """Return ``Pr(Bin(bits, rate) >= ones)``, for real `ones` its continuation ``I_rate(ones, bits - ones + 1)``.

    >>> upper_tail(2, 0.5, np.array([0.0, 1.0, 2.0, 3.0])).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    inside = (ones > 0) & (ones < bits + 1)
    first, second = np.where(inside, ones, 1.0), np.where(inside, bits - ones + 1, 1.0)
    return np.where(inside, special.betainc(first, second, rate), np.where(ones > 0, 0.0, 1.0))


def one_rate_exact(bits: int, rates: Floats, deviation: float) -> Floats:
    """Return the chance that a mean of independent bits is `deviation` or more off its expectation, by expectation.

    Of all bits whose mean expectation is one of `rates`, ``(m,)``, those of equal rates stray most, once the deviation
    amounts to a bit (below, 1 is returned).

    That is Theorem 5 of Hoeffding (1956), which extends the check of lecture20's 1-bit mean to any values. It holds for
    the bits of a simple random sample too: the number of ones has a generating function with real zeros only, that of
    as many independent bits with the same mean (Borcea, Brändén and Liggett 2009: samples are strongly Rayleigh).

    >>> one_rate_exact(4, np.array([0.5]), 0.5).tolist()
    [0.125]
    """
    above = upper_tail(bits, rates, bits * (rates + deviation))
    below = upper_tail(bits, 1 - rates, bits * (1 - rates + deviation))
    return np.where(bits * deviation < 1, 1.0, np.minimum(above + below, 1.0))


def two_rates_exact(
    population: int, holders: Floats, bits: int, p: float, q: float, deviation: float
) -> Floats:
    """Return the same chance for the bits of a simple random sample, whose number of holders is hypergeometric.

    Holders send a one with chance `p`, others with `q`, ``0 < q < p < 1``. `holders`, ``(m,)``, are whole numbers in
    ``[0, population]``, `bits` is the size of the sample, and the deviation is from what the whole population would
    send on average.

    >>> [two_rates_exact(2, np.array([1.0]), bits, 0.75, 0.25, 0.5).round(12).tolist() for bits in (1, 2)]
    [[1.0], [0.375]]
    """
    away, expected = bits * deviation, bits * (q + holders / population * (p - q))
    return np.minimum(
        _sampled(population, holders, bits, p, q, expected + away, bits - expected + away), 1.0
    )


def sampled_tail(least: int, bits: int, population: int, holders: int, p: float, q: float) -> float:
    """Return the chance of `least` ones or more among the bits of a simple random sample.

    >>> round(sampled_tail(1, 1, 2, 1, 0.75, 0.25), 12)
    0.5
    """
    ones, none = np.array([float(least)]), np.array([np.inf])
    return float(_sampled(population, np.array([float(holders)]), bits, p, q, ones, none)[0])


def sampled_noisy_exact(
    population: int, holders: Floats, sample: int, deviation: float, scale: float
) -> Floats:
    """Return the chance that a share in a simple random sample, with Laplace noise on the count, is as far off.

    Laws too wide to be listed are thinned, and every point then stands for the furthest of those it replaces.

    >>> sampled_noisy_exact(2, np.array([1.0]), 1, 0.6, 0.1 / np.log(2)).round(12).tolist()
    [0.250244140625]
    """
    points, weights = hypergeometric(population, holders, sample)
    step = np.diff(points, axis=1).max(axis=1, keepdims=True)
    away = np.abs(points - (sample * holders / population)[:, None]) + step / 2 * (step > 1)
    reach = sample * deviation
    same = np.exp(-np.abs(reach - away) / scale) / 2
    chances = np.where(away < reach, same, 1 - same) + np.exp(-(reach + away) / scale) / 2
    return np.minimum((weights * chances).sum(axis=1), 1.0)


def _sampled(
    population: int, holders: Floats, bits: int, p: float, q: float, ones: Floats, zeros: Floats
) -> Floats:
    """Mix the laws of `_two_rates` over the number of holders in the sample.

    The step follows the narrower of two spreads: of the holders, and of the bits counted in holders. Where it would
    still be too wide, every point stands for the furthest of those that it replaces.
    """
    share = holders / population
    noise = np.sqrt(bits * (share * p * (1 - p) + (1 - share) * q * (1 - q))) / (p - q)
    drawn, weights = hypergeometric(population, holders, bits, noise)
    step = np.diff(drawn, axis=1).max(axis=1)
    wide = (p - q) * step / 2 * (step > np.maximum(noise / _RESOLUTION, 1.0))
    rows = (np.broadcast_to((ends - wide)[:, None], drawn.shape).ravel() for ends in (ones, zeros))
    return np.asarray(
        (weights * _two_rates(bits, drawn.ravel(), p, q, *rows).reshape(drawn.shape)).sum(axis=1)
    )


def _two_rates(
    bits: int, holders: Floats, p: float, q: float, ones: Floats, zeros: Floats
) -> Floats:
    """Return the chance of so many ones or so many zeros: list the narrower binomial and close the other's tails."""
    others = bits - holders
    first = holders * p * (1 - p) <= others * q * (1 - q)
    listed, rate = np.where(first, holders, others), np.where(first, p, q)
    closed, closed_rate = np.where(first, others, holders)[:, None], np.where(first, q, p)[:, None]
    points, inside = _points(
        listed * rate, np.sqrt(listed * rate * (1 - rate)), np.zeros(1), listed, np.inf
    )
    weights = _weights(_log_binomial(listed[:, None], points, rate[:, None]), inside)
    above = upper_tail(closed, closed_rate, ones[:, None] - points)
    below = upper_tail(closed, 1 - closed_rate, zeros[:, None] - (listed[:, None] - points))
    return np.asarray((weights * (above + below)).sum(axis=1))


def hypergeometric(
    population: int, holders: Floats, drawn: int, width: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Return points and weights for the holders in a simple random sample, a row per number in the population.

    They are to be summed with a tail of the given width; of a narrow one every point may have to stand for the furthest
    of those that it replaces, which are at most a 200th of the deviation of their number.
    """
    share = holders / population
    spread = np.sqrt(drawn * share * (1 - share) * (population - drawn) / max(population - 1, 1))
    least, most = np.maximum(0.0, holders - (population - drawn)), np.minimum(holders, drawn)
    some, inside = _points(drawn * share, spread, least, most, width)
    own, others, rate = holders[:, None], (population - holders)[:, None], drawn / population
    logs = _log_binomial(own, some, rate) + _log_binomial(others, drawn - some, rate)
    return some, _weights(logs, inside)


def _points(
    mean: Floats, deviation: Floats, least: Floats, most: Floats, width: Floats | float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return every ``step``-th whole number around a mean, a row each, and which of them are in range.

    For laws as smooth as a wide binomial, summed with a tail of some width, that errs by less than any power of the
    step if both are wider than it. Narrow laws are listed in full.
    """
    step = np.maximum(np.minimum(deviation, width) / _RESOLUTION, deviation / _FINE)
    step = np.maximum(np.floor(step), 1.0)
    reach = _REACH * deviation + 12.0 * (step == 1) * (deviation > 0)
    first = np.maximum(np.floor(mean - reach), 0.0)
    length = int(((np.minimum(mean + reach, most) - first) / step).max()) + 2
    points = first[:, None] + step[:, None] * np.arange(length)
    some = np.clip(points, least[:, None], most[:, None])
    return some, some == points


def _weights(logs: Floats, inside: NDArray[np.bool_]) -> Floats:
    masses = np.where(inside, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


def _log_binomial(trials: Floats, ones: Floats, rate: Floats | float) -> Floats:
    """Return the logarithm of the binomial probability of `ones`, but for a constant of each number of trials.

    Factorials by Stirling's formula and its remainder, which are small, and the deviations from the expected numbers:
    of logarithms of factorials of ``10^12`` no digit after the point would be left (Loader 2000).
    """
    zeros = trials - ones
    missing = _remainder(ones) + _excess(ones, trials * rate)
    return np.asarray(-missing - _remainder(zeros) - _excess(zeros, trials * (1 - rate)))


def _remainder(number: Floats) -> Floats:
    """Return ``ln n! - n ln n + n``, by three terms of Stirling's series from 100 on."""
    inverse, few = 1 / np.maximum(number, 100.0), number < 100
    remainder: Floats = inverse * (1 / 12 - inverse * inverse / 360) - 0.5 * np.log(
        inverse / (2 * np.pi)
    )
    small = number[few]
    remainder[few] = special.gammaln(small + 1) - special.xlogy(small, small) + small
    return remainder


def _excess(number: Floats, expected: Floats) -> Floats:
    """Return ``n ln(n / e) - n + e``, in which rounding of ``e`` cancels."""
    away = number - expected
    return np.asarray(special.xlog1py(number, away / np.maximum(expected, 1e-300)) - away)
