"""Stratified samples: how many records to draw from each stratum, and the weighted mean of the sample.

An allocation is computed in three steps: real-valued shares (`Strata.proportional`, `Strata.neyman`), a cap at the
stratum sizes (`Strata.capped`, which moves the surplus to the other strata), and whole numbers
(`largest_remainder`, or `rounded_shares`, which treats each stratum separately).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints, Real


def mean_variance(size: Real, variance: Real, drawn: Real) -> Real:
    """Return ``s^2 (1/m - 1/n)``, the variance of the mean of ``m`` of ``n`` records; ``s^2`` has divisor ``n - 1``."""
    return variance * (1 / drawn - 1 / size)


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """A stratified population: allocations of a sample to its strata, and the variance of the weighted mean.

    - `sizes`, (strata,) int: records per stratum, each ``>= 1``.
    - `variances`, (strata,) float, optional: variance of the study variable in each, ``>= 0``, with the divisor ``n_i -
      1``; methods that need it refuse to do without.
    - `means`, (strata,) float, optional: its means.
    """

    sizes: Any
    variances: Any = None
    means: Any = None

    def __post_init__(self) -> None:
        checks.plain(self)
        object.__setattr__(self, "sizes", checks.counts(self.sizes, "sizes", least=1))
        for name, low in (("variances", 0.0), ("means", -np.inf)):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, self._each(low=low, **{name: given}))

    @property
    def population(self) -> int:
        """Number of records."""
        return int(self.sizes.sum())

    @property
    def mean(self) -> float:
        """Mean of the study variable over the whole population."""
        return self.weighted_mean(self._given("means"))

    def proportional(self, sampling_rate: float) -> Floats:
        """Return the same fraction of every stratum, real-valued (proportional allocation, Section 7.3 of bun2022).

        >>> Strata([10, 25]).proportional(0.1).tolist()
        [1.0, 2.5]
        """
        return np.asarray(self.sizes * np.float64(checks.rate(sampling_rate, "sampling_rate")))

    def neyman(self, total: float) -> Floats:
        """Return Neyman's allocation ``m n_i s_i / sum_j n_j s_j``, real-valued and uncapped (Section 7.2 of bun2022).

        It minimises the variance of the weighted mean over all real allocations of ``m = total`` records, provided none
        exceeds its stratum. Where reports are randomised, the mean variance of a report belongs to `variances`.

        >>> Strata([10, 10], [1, 9]).neyman(8).tolist()
        [2.0, 6.0]
        """
        weights = self._weights()
        if not weights.sum() > 0:
            raise ValueError("variances must have a positive one, got all zeros")
        return np.asarray(checks.positive(total, "total") * weights / weights.sum())

    def capped(self, asked: ArrayLike) -> Floats:
        """Return shares capped at the size of their stratum, the surplus spread over the others in proportion.

        For Neyman shares the result is the best real-valued allocation under the cap: the remaining strata keep their
        Neyman proportions. The strata with a positive share must be large enough for the total.

        >>> Strata([3, 10, 10]).capped([5.0, 2.0, 1.0]).round(12).tolist()
        [3.0, 3.333333333333, 1.666666666667]
        """
        sizes, wanted = self.sizes.astype(float), self._each(asked=asked, low=0)
        total, most = float(wanted.sum()), sizes[wanted > 0].sum()
        if total > most * (1 + 1e-12):
            raise ValueError(
                f"asked must sum to at most what its strata hold, {most:g}, got {total:g}"
            )
        shares, full = wanted, np.zeros(sizes.shape, dtype=bool)
        while (over := ~full & (shares > sizes * (1 + 1e-12))).any():
            full |= over
            free = wanted * ~full
            shares = np.where(full, sizes, free * (total - sizes[full].sum()) / (free.sum() or 1.0))
        return shares

    def best_whole(self, total: int) -> Ints:
        """Return the whole numbers that minimise the variance of the weighted mean.

        Equation (6) of Bun et al. (2022), solved exactly by `best_allocation`. A stratum whose values
        differ gets at least one record, one whose values are all equal gets none, and none gets more
        than it has. So fewer than `total` are drawn if the strata whose values differ have fewer.

        >>> Strata([10, 10], [1, 9]).best_whole(8).tolist()
        [2, 6]
        """
        weights = self._weights()
        differs = (weights > 0).astype(np.int64)
        if int(checks.whole(total, "total")) < differs.sum():
            raise ValueError(
                f"total must be at least 1 per stratum whose values differ, {differs.sum()}, "
                f"got total={total}"
            )
        return best_allocation(weights, total, least=differs, most=self.sizes * differs)

    def weighted_mean(self, sample_means: ArrayLike) -> float:
        """Return ``sum_i (n_i / n) (sample mean of stratum i)``, unbiased for the mean (Section 7.2 of bun2022).

        >>> Strata([1, 3]).weighted_mean([10.0, 2.0])
        4.0
        """
        return float(self.sizes @ self._each(sample_means=sample_means) / self.sizes.sum())

    def variance(self, drawn: ArrayLike) -> float:
        r"""Return the exact variance of the weighted mean under simple random sampling within strata.

        .. math:: \sum_i \Bigl(\frac{n_i}{n}\Bigr)^2 \Bigl(1 - \frac{m_i}{n_i}\Bigr) \frac{s_i^2}{m_i}

        The records drawn ``m_i <= n_i`` may be whole or real-valued. It is infinite if nothing is drawn from a stratum
        whose values differ.

        One of the two values -1 and 1 (variance 2) is drawn: the mean's variance is 1.

        >>> Strata([2], [2.0]).variance([1])
        1.0
        """
        sizes, spread, m = self.sizes, self._given("variances"), self._each(drawn=drawn, low=0)
        if (m > sizes * (1 + 1e-12)).any():
            worst = int(np.argmax(m - sizes))
            raise ValueError(
                f"drawn must be <= sizes, got drawn[{worst}]={m[worst]:g} of {sizes[worst]}"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(
                spread > 0, (sizes / sizes.sum()) ** 2 * mean_variance(sizes, spread, m), 0.0
            )
        return float(terms.sum())

    def _each(self, *, low: float = -np.inf, **named: Any) -> Floats:
        """Return finite numbers, one per stratum."""
        ((name, values),) = named.items()
        return checks.entries(checks.numbers(values, name, low=low), name, self.sizes.size)

    def _given(self, name: str) -> Floats:
        if (known := getattr(self, name)) is None:
            raise ValueError(f"{name} must be given for this, got none")
        return np.asarray(known)

    def _weights(self) -> Floats:
        return np.asarray(self.sizes * np.sqrt(self._given("variances")))


def best_allocation(weights: ArrayLike, total: int, *, least: ArrayLike, most: ArrayLike) -> Ints:
    """Return whole numbers ``m_i`` in ``[least_i, most_i]`` that minimise ``sum_i w_i^2 / m_i``.

    One more record in stratum ``i`` lowers the sum by ``w_i^2 / (m_i (m_i + 1))``, which falls with
    ``m_i``. So the best records are those with the largest gains. A bisection finds the smallest gain
    that is still affordable; after it at most one more record a stratum is missing.

    Parameters
    ----------
    weights : array_like, shape (strata,)
        Size of each stratum times the standard deviation in it, ``>= 0``.
    total : int
        The sum of the numbers; it is lowered to the sum of `most` of the positive weights.
    least, most : array_like of int, shape (strata,)
        Bounds of each number. ``least >= 1`` where the weight is positive.

    Returns
    -------
    ndarray of int, shape (strata,)
        Among equal gains those of earlier strata are taken.

    Examples
    --------
    >>> best_allocation([10, 30], 8, least=[1, 1], most=[10, 10]).tolist()
    [2, 6]
    """
    squares = np.asarray(weights, dtype=float) ** 2
    lowest = np.asarray(least, dtype=np.int64)
    highest = np.maximum(np.asarray(most, dtype=np.int64), lowest)
    highest = np.where(squares > 0, highest, lowest)
    total = min(int(total), int(highest.sum()))

    # Gains span many orders of magnitude, so the bisection is one of their logarithm.
    enough = math.log(squares.max(initial=1e-300))
    too_small = enough - 2 * math.log(float(highest.max()) + 1) - 1
    too_small -= math.log(squares.max(initial=1e-300) / squares[squares > 0].min(initial=1.0))
    for _ in range(200):
        middle = (enough + too_small) / 2
        if middle in (enough, too_small):
            break
        if _gaining(squares, math.exp(middle), lowest, highest).sum() > total:
            too_small = middle
        else:
            enough = middle
    drawn = _gaining(squares, math.exp(enough), lowest, highest)

    def next_gain(i: int) -> tuple[float, int]:
        number = float(drawn[i])
        return -squares[i] / (number * (number + 1)), i

    queue = [next_gain(int(i)) for i in np.flatnonzero(drawn < highest)]
    heapify(queue)
    for _ in range(total - int(drawn.sum())):
        _, i = heappop(queue)
        drawn[i] += 1
        if drawn[i] < highest[i]:
            heappush(queue, next_gain(i))
    return drawn


def _gaining(squares: Floats, gain: float, lowest: Ints, highest: Ints) -> Ints:
    """Return the numbers after all records that gain more than `gain`: ``m (m - 1) < w^2 / gain``."""
    numbers = np.floor((1 + np.sqrt(1 + 4 * squares / gain)) / 2)
    # Rounding of the root may be off by one. One record too few is mended by the queue.
    numbers -= numbers * (numbers - 1) >= squares / gain
    return np.asarray(np.clip(numbers, lowest, highest).astype(np.int64))


def strata_of(groups: Sequence[ArrayLike]) -> Strata:
    """Return the sizes, means and variances of listed strata.

    >>> strata_of([[1, 2, 3], [10]]).variances.tolist()
    [1.0, 0.0]
    """
    listed = [np.asarray(group, dtype=float) for group in groups]
    return strata_of_tallies(
        np.concatenate(listed), np.repeat(np.arange(len(listed)), [g.size for g in listed])
    )


def strata_of_tallies(
    values: ArrayLike, stratum: ArrayLike, counts: ArrayLike | None = None
) -> Strata:
    """Return the sizes, means and variances of strata given as tallies.

    - `values`, (rows,) float: value of the study variable.
    - `stratum`, (rows,) int: stratum ``0 .. strata - 1`` of each row; none may be empty.
    - `counts`, (rows,) int, optional: how many records each row stands for; 1 by default.
    """
    study, where = np.asarray(values, dtype=float), np.asarray(stratum)
    records = (
        np.ones(study.size, dtype=np.int64) if counts is None else checks.counts(counts, "counts")
    )
    sizes = np.bincount(where, weights=records).astype(np.int64)
    if not sizes.all():
        raise ValueError(
            f"stratum must leave none empty, got no record in stratum {int(sizes.argmin())}"
        )
    means = np.bincount(where, weights=records * study) / sizes
    squares = np.bincount(where, weights=records * (study - means[where]) ** 2)
    return Strata(sizes, squares / np.maximum(sizes - 1, 1), means)


def largest_remainder(shares: ArrayLike) -> Ints:
    """Return whole numbers with the same (rounded) sum: floors, and one more where the remainders are largest.

    Ties go to the earlier stratum. No stratum gets more than its share rounded up.

    >>> largest_remainder([0.75, 2.25, 6.0]).tolist()
    [1, 2, 6]
    """
    exact = np.asarray(shares, dtype=float)
    floor = np.floor(exact + 1e-9)
    missing = round(float(exact.sum() - floor.sum()))
    order = np.argsort(-(exact - floor), kind="stable")
    floor[order[:missing]] += 1
    return floor.astype(np.int64)


def rounded_shares(shares: ArrayLike) -> Ints:
    """Return every share rounded to the nearest whole number, halves up (deterministic, Section 4.3 of bun2022).

    >>> rounded_shares([1.4, 1.5]).tolist()
    [1, 2]
    """
    exact = np.asarray(shares, dtype=float)
    return np.asarray(np.floor(exact).astype(np.int64) + (exact - np.floor(exact) >= 0.5))
