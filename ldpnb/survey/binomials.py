"""How likely a sum of randomised bits is to stray from its mean: exact distributions.

Deviations are per bit and two-sided. A deviation ``a`` of ``n`` bits begins at a real number of
ones. There the binomial tail is continued by the incomplete beta function, which is at least as
large as every tail of whole numbers beyond and does not jump with them.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpnb.arithmetic import Floats

_REACH = 8.0
"""A law is listed up to so many standard deviations from its mean."""

_RESOLUTION = 1.4
"""A smooth law is summed over points that are at most a standard deviation over this apart."""

_FINE = 200.0
"""No law is summed over more points than this in a standard deviation."""


def upper_tail(bits: Floats | int, rate: Floats | float, ones: Floats) -> Floats:
    """Return ``Pr(Bin(bits, rate) >= ones)``.

    For real `ones` it is the continuation ``I_rate(ones, bits - ones + 1)``.

    >>> upper_tail(2, 0.5, np.array([0.0, 1.0, 2.0, 3.0])).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    inside = (ones > 0) & (ones < bits + 1)
    first = np.where(inside, ones, 1.0)
    second = np.where(inside, bits - ones + 1, 1.0)
    outside = np.where(ones > 0, 0.0, 1.0)
    return np.where(inside, special.betainc(first, second, rate), outside)


def one_rate_exact(bits: int, rates: Floats, deviation: float) -> Floats:
    """Return the probability that a mean of independent bits is off by `deviation` or more.

    There is a probability for each expectation in `rates`, ``(m,)``. Of all bits with that mean
    expectation, bits of equal rates stray most once the deviation amounts to a bit; below that 1 is
    returned.

    That is Theorem 5 of Hoeffding (1956), and so it holds for bits that stand for any numbers. It
    also holds for the bits of a simple random sample: their number of ones has a generating
    function with real zeros only, that of as many independent bits with the same mean (Borcea,
    Brändén and Liggett 2009, who show that samples are strongly Rayleigh).

    >>> one_rate_exact(4, np.array([0.5]), 0.5).tolist()
    [0.125]
    """
    above = upper_tail(bits, rates, bits * (rates + deviation))
    below = upper_tail(bits, 1 - rates, bits * (1 - rates + deviation))
    return np.where(bits * deviation < 1, 1.0, np.minimum(above + below, 1.0))


def two_rates_exact(
    population: int, holders: Floats, bits: int, p: float, q: float, deviation: float
) -> Floats:
    """Return the same probability for a simple random sample of holders and other people.

    Holders send a one with probability `p`, others with probability `q`, ``0 <= q < p <= 1``.
    `holders`, ``(m,)``, are whole numbers in ``[0, population]``, and `bits` is the size of the
    sample. The deviation is from what the whole population would send on average.

    >>> two_rates_exact(2, np.array([1.0]), 2, 0.75, 0.25, 0.5).round(12).tolist()
    [0.375]
    """
    away = bits * deviation
    expected = bits * (q + holders / population * (p - q))
    ones = expected + away
    zeros = bits - expected + away
    return np.minimum(_sampled(population, holders, bits, p, q, ones, zeros), 1.0)


def sampled_tail(least: int, bits: int, population: int, holders: int, p: float, q: float) -> float:
    """Return the probability of `least` ones or more among the bits of a simple random sample.

    >>> round(sampled_tail(1, 1, 2, 1, 0.75, 0.25), 12)
    0.5
    """
    ones = np.array([float(least)])
    none = np.array([np.inf])
    return float(_sampled(population, np.array([float(holders)]), bits, p, q, ones, none)[0])


def _sampled(
    population: int, holders: Floats, bits: int, p: float, q: float, ones: Floats, zeros: Floats
) -> Floats:
    """Mix the laws of `_two_rates` over the number of holders in the sample.

    The step follows the narrower of two spreads: that of the holders, and that of the bits counted
    in holders. Where it is still too wide, every point stands for the furthest one that it
    replaces.
    """
    share = holders / population
    bit_variances = share * p * (1 - p) + (1 - share) * q * (1 - q)
    noise = np.sqrt(bits * bit_variances) / (p - q)

    drawn, weights = _hypergeometric(population, holders, bits, noise)
    step = np.diff(drawn, axis=1).max(axis=1)
    is_wide = step > np.maximum(noise / _RESOLUTION, 1.0)
    furthest = (p - q) * step / 2 * is_wide

    def in_each_row(ends: Floats) -> Floats:
        return np.broadcast_to((ends - furthest)[:, None], drawn.shape).ravel()

    chances = _two_rates(bits, drawn.ravel(), p, q, in_each_row(ones), in_each_row(zeros))
    return np.asarray((weights * chances.reshape(drawn.shape)).sum(axis=1))


def _two_rates(
    bits: int, holders: Floats, p: float, q: float, ones: Floats, zeros: Floats
) -> Floats:
    """Return the probability of so many ones or so many zeros.

    The narrower one of two binomials is listed, and the tails of the other one are in closed form.
    """
    others = bits - holders
    list_holders = holders * p * (1 - p) <= others * q * (1 - q)
    listed = np.where(list_holders, holders, others)
    listed_rate = np.where(list_holders, p, q)
    closed = np.where(list_holders, others, holders)[:, None]
    closed_rate = np.where(list_holders, q, p)[:, None]

    spread = np.sqrt(listed * listed_rate * (1 - listed_rate))
    points, inside = _points(listed * listed_rate, spread, np.zeros(1), listed, np.inf)
    weights = _weights(_log_binomial(listed[:, None], points, listed_rate[:, None]), inside)

    above = upper_tail(closed, closed_rate, ones[:, None] - points)
    below = upper_tail(closed, 1 - closed_rate, zeros[:, None] - (listed[:, None] - points))
    return np.asarray((weights * (above + below)).sum(axis=1))


def _hypergeometric(
    population: int, holders: Floats, drawn: int, width: Floats
) -> tuple[Floats, Floats]:
    """Return points and weights for the holders in a sample, a row for each number of `holders`.

    They are to be summed with a tail of the given width. If that is narrow, every point may have to
    stand for the furthest one that it replaces, which is at most 1/200 of a standard deviation off.
    """
    share = holders / population
    left_out = (population - drawn) / max(population - 1, 1)
    spread = np.sqrt(drawn * share * (1 - share) * left_out)
    least = np.maximum(0.0, holders - (population - drawn))
    most = np.minimum(holders, drawn)
    some, inside = _points(drawn * share, spread, least, most, width)

    # Of those drawn, `some` hold the answer and the others do not.
    holding = holders[:, None]
    not_holding = (population - holders)[:, None]
    rate = drawn / population
    logs = _log_binomial(holding, some, rate) + _log_binomial(not_holding, drawn - some, rate)
    return some, _weights(logs, inside)


def _points(
    mean: Floats, deviation: Floats, least: Floats, most: Floats, width: Floats | float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return every ``step``-th whole number around a mean, a row each, and which are in range.

    The error for a law as smooth as a wide binomial, summed with a tail of some width, is less than
    any power of the step if both are wider than it. Narrow laws are listed in full.
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
    largest = logs.max(axis=1, keepdims=True)
    masses = np.where(inside, np.exp(logs - largest), 0.0)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


def _log_binomial(trials: Floats, ones: Floats, rate: Floats | float) -> Floats:
    """Return the log of the binomial probability of `ones`, up to a constant of the trials.

    Factorials are taken by Stirling's formula and its remainder, which are small, and by the
    deviations from the expected numbers. The logarithms of factorials of ``10^12`` would leave no
    digit after the point (Loader 2000).
    """
    zeros = trials - ones
    of_ones = _remainder(ones) + _excess(ones, trials * rate)
    of_zeros = _remainder(zeros) + _excess(zeros, trials * (1 - rate))
    return np.asarray(-of_ones - of_zeros)


def _remainder(number: Floats) -> Floats:
    """Return ``ln n! - n ln n + n``, by three terms of Stirling's series from 100 on."""
    inverse = 1 / np.maximum(number, 100.0)
    series = inverse * (1 / 12 - inverse * inverse / 360)
    remainder: Floats = series - 0.5 * np.log(inverse / (2 * np.pi))

    is_small = number < 100
    small = number[is_small]
    remainder[is_small] = special.gammaln(small + 1) - special.xlogy(small, small) + small
    return remainder


def _excess(number: Floats, expected: Floats) -> Floats:
    """Return ``n ln(n / e) - n + e``, in which the rounding of ``e`` cancels."""
    away = number - expected
    return np.asarray(special.xlog1py(number, away / np.maximum(expected, 1e-300)) - away)
