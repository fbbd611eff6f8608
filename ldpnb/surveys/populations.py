"""Exact errors of surveys of people whose values are all known: the second route to what a plan says at the worst.

Values are one number per person; `noises`, of the same shape, are the variances of everybody's unbiased report
(`NumberReports.variance`, `share_noises`), all 0 where a curator has the values. Neither is above 1e38, and no rate
below 1e-38. Errors are in the values' unit, variances in its square. Centred estimates subtract a public value from
every report and add it back.

What does not fit is refused by a `ValueError` or `TypeError` that says name, rule and value.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from ldpnb import checks
from ldpnb.arithmetic import Real
from ldpnb.designs.strata import Strata
from ldpnb.mechanisms.frequency import FrequencyMechanism
from ldpnb.surveys.variances import Variance

Floats = NDArray[np.float64]
_MOST_SAMPLES = 10**5
_LARGEST = 1e38
"""Of values, noises and one over a rate: what is made of them is a float, and as a float of 32 bits it is one too."""


def simple_variance(values: ArrayLike, noises: ArrayLike, sample: int) -> Variance:
    """Return the variance of the mean of the reports of a simple random sample, ``(1 - n/N) S2/n + v/n``.

    >>> round(simple_variance([0, 0, 1, 1], [2, 2, 2, 2], 2).total, 6)
    1.083333
    """
    held, noise = _people(values, noises)
    n = _drawn(held.size, sample=sample)
    return Variance((1 - n / held.size) * float(held.var(ddof=1)) / n, float(noise.mean()) / n)


def strata_variance(strata: Strata, noises: ArrayLike, drawn: ArrayLike) -> Variance:
    """Return the variance of the weighted mean of a stratified sample, ``sum W_h^2 [(1 - n_h/N_h) S2_h + v_h] / n_h``.

    Sizes and variances are those of `strata` (`ldpnb.designs.strata.strata_of` takes them from listed values); `noises`
    is the mean variance of a report in each, and `drawn`, at least 1, how many are asked: both ``(strata,)``.
    """
    known = checks.instance(Strata, strata=strata)
    noise = checks.entries(known.sizes.size, noises=checks.numbers(noises=noises, low=0, high=_LARGEST))
    asked = checks.entries(known.sizes.size, drawn=checks.numbers(drawn=drawn, low=1))
    return Variance(known.variance(asked), float(np.sum((known.sizes / known.population) ** 2 * noise / asked)))


def clusters_variance(
    values: Sequence[ArrayLike],
    noises: Sequence[ArrayLike],
    chosen: int,
    takes: ArrayLike | None = None,
    *,
    centre: float = 0.0,
) -> Variance:
    """Return the variance of ``c + M / (m N) sum over drawn clusters of N_g (mean of the reports - c)``.

    Values and noises are one array per cluster. Of the clusters `chosen` are drawn simply at random, and in each of
    them everybody is asked, or in two stages as many as `takes`, ``(clusters,)``, says.
    """
    sizes, totals, squares, noise = _clusters(values, noises)
    clusters, m = sizes.size, _drawn(sizes.size, chosen=chosen)
    asked = sizes if takes is None else checks.entries(clusters, takes=checks.counts(takes=takes))
    if (asked < 1).any() or (asked > sizes).any():
        raise ValueError(
            f"takes must lie between 1 and the size of each cluster, got takes={checks.shortened(asked.tolist())}"
        )
    factor = clusters / (m * sizes.sum() ** 2)
    between = (clusters - m) * float(np.var(sizes * _centred(totals / sizes, centre), ddof=1))
    s2 = squares / np.maximum(sizes - 1, 1)
    within = float(np.sum(sizes * (sizes - asked) * s2 / asked))
    return Variance(float(factor * (between + within)), float(factor * np.sum(sizes * noise / asked)))


def ratio_errors(values: Sequence[ArrayLike], noises: Sequence[ArrayLike], chosen: int) -> tuple[float, float]:
    """Return bias and mean squared error of the ratio estimate: reports of whole clusters over the people in them.

    By all samples of clusters, 100,000 at most; arguments as of `clusters_variance`.
    """
    sizes, totals, _, noise = _clusters(values, noises)
    m = _drawn(sizes.size, chosen=chosen)
    if math.comb(sizes.size, m) > _MOST_SAMPLES:
        raise ValueError(f"chosen must leave at most {_MOST_SAMPLES:,} samples, got chosen={m} of {sizes.size}")
    samples = np.array(list(combinations(range(sizes.size), m)))
    people = sizes[samples].sum(axis=1)
    errors = totals[samples].sum(axis=1) / people - totals.sum() / sizes.sum()
    return float(errors.mean()), float(np.mean(errors**2 + noise[samples].sum(axis=1) / people**2))


def intracluster_correlation(values: Sequence[ArrayLike]) -> float:
    """Return the intra-cluster correlation of all values, clusters being of one size of two or more.

    The mean product of two deviations in a cluster over the mean square, in ``[-1 / (size - 1), 1]``.

    >>> round(intracluster_correlation([[0.0, 0.25], [1.0, 0.75], [0.5, 0.5]]), 9)
    0.8
    """
    sizes, totals, squares, _ = _clusters(values, [np.zeros(part.shape) for part in _listed(values=values)])
    size = int(sizes[0])
    if size < 2 or (sizes != size).any():
        raise ValueError(f"values must be clusters of one size >= 2, got sizes {checks.shortened(sizes.tolist())}")
    between = float(np.sum((totals - totals.mean()) ** 2)) / size
    spread = between + float(squares.sum())
    if not spread > 0:
        raise ValueError("values must differ, got one value only")
    return (size * between / spread - 1) / (size - 1)


def poisson_variance(values: ArrayLike, noises: ArrayLike, rates: ArrayLike, *, centre: float = 0.0) -> Variance:
    """Return the variance of the Horvitz-Thompson mean of a Poisson sample, everybody at a rate of their own in (0, 1].

    ``sum [(1 - pi) (y - c)^2 + v] / pi / N^2``, centred at ``c``.
    """
    held, noise = _people(values, noises)
    chance = checks.entries(held.size, rates=_rates(rates=rates))
    away = _centred(held, centre)
    parts = np.sum((1 - chance) * away**2 / chance), np.sum(noise / chance)
    return Variance(*(float(part) / held.size**2 for part in parts))


def fixed_size_variance(values: ArrayLike, noises: ArrayLike, joint: ArrayLike, *, centre: float = 0.0) -> Variance:
    """Return the variance of the Horvitz-Thompson mean of a sample of fixed size, in the form of Yates and Grundy.

    `joint`, ``(people, people)``, are the chances that two take part both, on its diagonal everybody's own: its rows
    sum to the size of the sample times the diagonal.
    """
    held, noise = _people(values, noises)
    both = np.asarray(checks.numbers(joint=joint, low=0, high=1))
    if both.shape != (held.size, held.size) or not np.allclose(both, both.T, rtol=0, atol=1e-9):
        raise ValueError(f"joint must be symmetric, a row per person, {held.size}, got shape {both.shape}")
    chance = np.asarray(_rates(joint=np.diag(both)))
    if not np.allclose(both.sum(axis=1), chance.sum() * chance, rtol=0, atol=1e-9):
        raise ValueError("joint must be of a sample of fixed size: rows sum to the size times the diagonal")
    ratios = _centred(held, centre) / chance
    sampling = np.sum((np.outer(chance, chance) - both) * np.subtract.outer(ratios, ratios) ** 2) / 2
    return Variance(*(float(part) / held.size**2 for part in (sampling, np.sum(noise / chance))))


def answers_variance(values: ArrayLike, noises: ArrayLike, invited: int, response: float) -> Variance:
    """Return the variance of the mean of the answers to a simple random sample, given that there is one.

    ``(S2 + v) E[1/K | K >= 1] - S2/N`` with ``K ~ Bin(invited, response)`` answers, at random whatever the value.
    """
    held, noise = _people(values, noises)
    n, rate = _drawn(held.size, invited=invited), _rates(response=checks.rate(response=response))
    number = np.arange(1, n + 1)
    inverse = float(special.softmax(stats.binom.logpmf(number, n, rate)) @ (1 / number))
    return Variance(float(held.var(ddof=1)) * (inverse - 1 / held.size), float(noise.mean()) * inverse)


def known_rate_variance(
    values: ArrayLike, noises: ArrayLike, invited: int, response: float, *, centre: float = 0.0
) -> Variance:
    """Return the variance of the answers to a simple random sample weighted by ``1 / (invited response)``, centred.

    That of the full sample plus ``(1 - r) / (r n)`` times the mean of ``(y - c)^2 + v``.
    """
    full, rate = simple_variance(values, noises, invited), _rates(response=checks.rate(response=response))
    square = float(np.mean(_centred(np.asarray(values, dtype=float), centre) ** 2))
    return Variance(full.sampling + float((1 - rate) / (rate * invited)) * square, full.randomisation / float(rate))


def share_noises(mechanism: FrequencyMechanism) -> tuple[Real, Real]:
    """Return the variance of the unbiased report of one value's share, of its holder and of anybody else.

    ``p (1 - p) / (p - q)^2`` and ``q (1 - q) / (p - q)^2``.
    """
    scale = mechanism.truthful_rate * mechanism.truthful_rate
    misses = mechanism.miss_rate + mechanism.truthful_rate  # 1 - q, which does not cancel
    return mechanism.p * mechanism.miss_rate / scale, mechanism.q * misses / scale


def worst_share_variance(mechanism: FrequencyMechanism, population: int, sample: int) -> Variance:
    """Return the variance of a share in a simple random sample at the worst number of holders.

    Of whole numbers of holders next to ``N clip((c + d) / (2 c), 0, 1)``, where ``c = (1 - n/N) N / (N - 1)`` and ``d``
    is by how much a holder's report varies more than another's.
    """
    people = checks.whole(population=population, at_least=2)
    n = _drawn(people, sample=sample)
    ratio, (held, other) = (1 - n / people) * people / (people - 1), map(float, share_noises(mechanism))
    best = np.clip(0.5 + (held - other) / (2 * ratio), 0, 1) if ratio > 0 else held > other
    shares = [round_(people * float(best)) / people for round_ in (math.floor, math.ceil)]
    found = [Variance(ratio * t * (1 - t) / n, (t * held + (1 - t) * other) / n) for t in shares]
    return max(found, key=lambda variance: float(variance.total))


def _people(values: ArrayLike, noises: ArrayLike) -> tuple[Floats, Floats]:
    held, noise = (
        np.asarray(checks.numbers(values=values, low=-_LARGEST, high=_LARGEST)),
        checks.numbers(noises=noises, low=0, high=_LARGEST),
    )
    if held.ndim != 1 or held.size < 2:
        raise ValueError(f"values must be one number per person, of two people or more, got shape {held.shape}")
    if noise.shape != held.shape:
        raise ValueError(f"noises must be one number per person, {held.size}, got shape {noise.shape}")
    return held, noise


def _clusters(values: Sequence[ArrayLike], noises: Sequence[ArrayLike]) -> tuple[Any, Floats, Floats, Floats]:
    """Return each cluster's size, sum of values, sum of squared deviations from its mean, and sum of noises."""
    parts, other = _listed(values=values), _listed(noises=noises)
    sizes = np.array([part.size for part in parts])
    if len(parts) < 2 or sizes.min() < 1 or [part.shape for part in parts] != [part.shape for part in other]:
        raise ValueError(
            f"values must be two clusters or more, none empty, with as many noises, got {len(parts)} and {len(other)}"
        )
    held, noise = _people(np.concatenate(parts), np.concatenate(other))
    firsts = np.append(0, np.cumsum(sizes)[:-1])
    totals = np.add.reduceat(held, firsts)
    squares = np.add.reduceat((held - np.repeat(totals / sizes, sizes)) ** 2, firsts)
    return sizes, totals, squares, np.add.reduceat(noise, firsts)


def _listed(**named: Any) -> list[NDArray[Any]]:
    ((name, parts),) = named.items()
    if not np.iterable(parts):
        raise TypeError(f"{name} must be one list per cluster, got {name}={checks.shortened(parts)}")
    return [np.atleast_1d(part) for part in parts]


def _centred(held: Floats, centre: float) -> Floats:
    number = checks.numbers(centre=centre, low=-_LARGEST, high=_LARGEST)
    if np.ndim(number):
        raise ValueError(f"centre must be one number, got centre={checks.shortened(centre)}")
    return np.asarray(held - number)


def _rates(**named: Any) -> Any:
    return checks.numbers(**named, low=1 / _LARGEST, high=1)


def _drawn(population: int, **named: Any) -> int:
    """Return a number of units drawn, a whole number from 1 to how many there are."""
    number = checks.whole(**named, at_least=1)
    checks.numbers(**named, low=1, high=population)
    return int(number)
