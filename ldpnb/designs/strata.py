"""Stratified samples: how many records to draw from each stratum, and the error that remains.

An allocation is computed in three steps: real-valued shares (`Strata.proportional`,
`Strata.neyman`), a cap at the stratum sizes (`Strata.capped`, which moves the surplus to the other
strata), and whole numbers (`largest_remainder`, or `rounded_shares`, which treats each stratum
separately). `Strata.best_whole` finds the best whole numbers at once.
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
    """Return ``s^2 (1/m - 1/n)``, the variance of the mean of ``m`` of ``n`` records.

    The `variance` ``s^2`` of all records has the divisor ``n - 1``.
    """
    return variance * (1 / drawn - 1 / size)


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """A population in strata: allocations of a sample, and the variance of the weighted mean.

    Parameters
    ----------
    sizes : array_like of int, shape (strata,)
        Records in each stratum, at least 1.
    variances : array_like, shape (strata,), optional
        Variance ``s_i^2`` of the study variable in each stratum, ``>= 0``, with the divisor ``n_i -
        1``. Methods that need it raise an error without it.
    means : array_like, shape (strata,), optional
        Mean of the study variable in each stratum.

    Raises
    ------
    TypeError
        If an argument is not numbers.
    ValueError
        If an argument is outside its range, or has another length.

    References
    ----------
    Sections 4 and 7 of Bun et al. (2022).

    Examples
    --------
    Eight records from two strata of the same size, with the standard deviations 1 and 3:

    >>> strata = Strata(sizes=[10, 10], variances=[1, 9])
    >>> strata.neyman(8).tolist()
    [2.0, 6.0]
    """

    sizes: Any
    variances: Any = None
    means: Any = None

    def __post_init__(self) -> None:
        checks.plain(self)
        object.__setattr__(self, "sizes", checks.counts(self.sizes, "sizes", least=1))
        if self.variances is not None:
            variances = self._one_per_stratum(self.variances, "variances", low=0.0)
            object.__setattr__(self, "variances", variances)
        if self.means is not None:
            object.__setattr__(self, "means", self._one_per_stratum(self.means, "means"))

    @property
    def population(self) -> int:
        """Number of records."""
        return int(self.sizes.sum())

    @property
    def mean(self) -> float:
        """Mean of the study variable over the whole population."""
        return self.weighted_mean(_given(self.means, "means"))

    def proportional(self, sampling_rate: float) -> Floats:
        """Return the same share of every stratum, as real numbers (proportional allocation).

        Parameters
        ----------
        sampling_rate : float
            Share of the records to draw, in ``(0, 1]``.

        Returns
        -------
        ndarray, shape (strata,)
            Records to draw from each stratum.

        References
        ----------
        Section 7.3 of Bun et al. (2022).

        Examples
        --------
        >>> Strata(sizes=[10, 25]).proportional(0.1).tolist()
        [1.0, 2.5]
        """
        return np.asarray(self.sizes * np.float64(checks.rate(sampling_rate, "sampling_rate")))

    def neyman(self, total: float) -> Floats:
        """Return Neyman's allocation ``m n_i s_i / sum_j n_j s_j``, as real numbers.

        It minimises the variance of the weighted mean over all real allocations of ``m`` records,
        if none of its numbers exceeds the stratum. If reports are randomised, add the mean variance
        of a report to `variances`.

        Parameters
        ----------
        total : float
            Records ``m`` to draw, ``> 0``.

        Returns
        -------
        ndarray, shape (strata,)
            Records to draw from each stratum; they may exceed it, see `capped`.

        Raises
        ------
        ValueError
            If `variances` is not given, or all are 0.

        References
        ----------
        Section 7.2 of Bun et al. (2022).

        Examples
        --------
        The ratio is 10 * 1 : 10 * 3.

        >>> Strata(sizes=[10, 10], variances=[1, 9]).neyman(8).tolist()
        [2.0, 6.0]
        """
        weights = self._weights()
        if not weights.sum() > 0:
            raise ValueError("variances must have a positive entry, got all zeros")
        return np.asarray(checks.positive(total, "total") * weights / weights.sum())

    def capped(self, asked: ArrayLike) -> Floats:
        """Cap an allocation at the sizes of the strata, and give the surplus to the others.

        The surplus is divided in proportion to what was asked. For Neyman's allocation the result
        is the best real-valued one under the cap, because the other strata keep their proportions.

        Parameters
        ----------
        asked : array_like, shape (strata,)
            Records to draw from each stratum, ``>= 0``. The strata with a positive number must have
            enough records for the sum.

        Returns
        -------
        ndarray, shape (strata,)
            Records to draw from each stratum, with the same sum.

        Examples
        --------
        The first stratum has 3 records, so 2 are left over, which the others get in the ratio 2 :
        1.

        >>> Strata(sizes=[3, 10, 10]).capped([5.0, 2.0, 1.0]).round(12).tolist()
        [3.0, 3.333333333333, 1.666666666667]
        """
        sizes = self.sizes.astype(float)
        wanted = self._one_per_stratum(asked, "asked", low=0)
        total = float(wanted.sum())
        most = sizes[wanted > 0].sum()
        if total > most * (1 + 1e-12):
            rule = f"sum to at most what its strata hold, {most:g}"
            raise ValueError(f"asked must {rule}, got {total:g}")

        shares = wanted
        is_full = np.zeros(sizes.shape, dtype=bool)
        while True:
            is_over = ~is_full & (shares > sizes * (1 + 1e-12))
            if not is_over.any():
                return shares

            is_full |= is_over
            rest = total - sizes[is_full].sum()
            free = wanted * ~is_full
            shares = np.where(is_full, sizes, free * rest / (free.sum() or 1.0))

    def best_whole(self, total: int) -> Ints:
        """Return the whole numbers that minimise the variance of the weighted mean.

        Equation (6) of Bun et al. (2022), solved exactly by `best_allocation`. A stratum whose
        values differ gets at least one record, one whose values are all equal gets none, and none
        gets more than it has. So fewer than `total` are drawn if the strata whose values differ
        have fewer.

        Parameters
        ----------
        total : int
            Records to draw, at least 1 for each stratum whose values differ.

        Returns
        -------
        ndarray of int, shape (strata,)

        Examples
        --------
        Neyman's allocation is whole already: 8 records in the ratio 10 * 1 : 10 * 3.

        >>> Strata(sizes=[10, 10], variances=[1, 9]).best_whole(8).tolist()
        [2, 6]
        """
        weights = self._weights()
        differs = (weights > 0).astype(np.int64)
        if int(checks.whole(total, "total")) < differs.sum():
            rule = f"at least 1 per stratum whose values differ, {differs.sum()}"
            raise ValueError(f"total must be {rule}, got total={total}")
        return best_allocation(weights, total, least=differs, most=self.sizes * differs)

    def weighted_mean(self, sample_means: ArrayLike) -> float:
        """Return ``sum_i (n_i / n) (sample mean of stratum i)``, unbiased for the mean.

        Parameters
        ----------
        sample_means : array_like, shape (strata,)
            Mean of the records drawn from each stratum.

        Returns
        -------
        float

        References
        ----------
        Section 7.2 of Bun et al. (2022).

        Examples
        --------
        Of 4 records, 1 has the weight 1/4 and 3 have the weight 3/4.

        >>> Strata(sizes=[1, 3]).weighted_mean([10.0, 2.0])
        4.0
        """
        means = self._one_per_stratum(sample_means, "sample_means")
        return float(self.sizes @ means / self.sizes.sum())

    def variance(self, drawn: ArrayLike) -> float:
        r"""Return the exact variance of the mean, with simple random samples within strata.

        .. math::

            \sum_i \Bigl(\frac{n_i}{n}\Bigr)^2 \Bigl(1 - \frac{m_i}{n_i}\Bigr)
            \frac{s_i^2}{m_i}

        Parameters
        ----------
        drawn : array_like, shape (strata,)
            Records ``m_i`` drawn from each stratum, from 0 to ``n_i``, as whole or real numbers.

        Returns
        -------
        float
            Infinite if nothing is drawn from a stratum whose values differ.

        Examples
        --------
        One of the two values -1 and 1, whose variance is 2, is drawn. It has the variance 1.

        >>> Strata(sizes=[2], variances=[2.0]).variance([1])
        1.0
        """
        sizes = self.sizes
        variances = _given(self.variances, "variances")
        m = self._one_per_stratum(drawn, "drawn", low=0)
        if (m > sizes * (1 + 1e-12)).any():
            worst = int(np.argmax(m - sizes))
            got = f"drawn[{worst}]={m[worst]:g} of {sizes[worst]}"
            raise ValueError(f"drawn must be <= sizes, got {got}")

        shares = sizes / sizes.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = shares**2 * mean_variance(sizes, variances, m)
        return float(np.where(variances > 0, terms, 0.0).sum())

    def _one_per_stratum(self, values: ArrayLike, name: str, *, low: float = -np.inf) -> Floats:
        """Return numbers of at least `low`, as many as there are strata."""
        numbers = checks.numbers(values, name, low=low)
        return checks.entries(numbers, name, self.sizes.size)

    def _weights(self) -> Floats:
        """Return ``n_i s_i`` of each stratum, to which Neyman's allocation is proportional."""
        return np.asarray(self.sizes * np.sqrt(_given(self.variances, "variances")))


def _given(values: Any, name: str) -> Floats:
    """Return an optional argument of `Strata`, and refuse a method that needs it without it."""
    if values is None:
        raise ValueError(f"{name} must be given for this, got none")
    return np.asarray(values)


def best_allocation(weights: ArrayLike, total: int, *, least: ArrayLike, most: ArrayLike) -> Ints:
    """Return whole numbers ``m_i`` in ``[least_i, most_i]`` that minimise ``sum_i w_i^2 / m_i``.

    One more record in stratum ``i`` lowers the sum by ``w_i^2 / (m_i (m_i + 1))``, which falls with
    ``m_i``. So the best records are those with the largest gains. A bisection finds the smallest
    gain that is still affordable; after it at most one more record a stratum is missing.

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

    # Gains span many orders of magnitude, so the bisection is one of their logarithm. It starts
    # from the largest gain there can be, which costs no record, and from one below the smallest.
    largest_square = squares.max(initial=1e-300)
    smallest_square = squares[squares > 0].min(initial=1.0)
    enough = math.log(largest_square)
    too_small = enough - 2 * math.log(float(highest.max()) + 1) - 1
    too_small -= math.log(largest_square / smallest_square)
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
    """Return the numbers with all records that gain more: ``m (m - 1) < w^2 / gain``."""
    numbers = np.floor((1 + np.sqrt(1 + 4 * squares / gain)) / 2)
    # Rounding of the root may be off by one. One record too few is mended by the queue.
    numbers -= numbers * (numbers - 1) >= squares / gain
    return np.asarray(np.clip(numbers, lowest, highest).astype(np.int64))


def strata_of(groups: Sequence[ArrayLike]) -> Strata:
    """Return the sizes, means and variances of strata whose values are listed.

    >>> strata_of([[1, 2, 3], [10]]).variances.tolist()
    [1.0, 0.0]
    """
    listed = [np.asarray(group, dtype=float) for group in groups]
    sizes = [group.size for group in listed]
    return strata_of_tallies(np.concatenate(listed), np.repeat(np.arange(len(listed)), sizes))


def strata_of_tallies(
    values: ArrayLike, stratum: ArrayLike, counts: ArrayLike | None = None
) -> Strata:
    """Return the sizes, means and variances of strata whose values are tallied.

    Parameters
    ----------
    values : array_like, shape (rows,)
        Value of the study variable.
    stratum : array_like of int, shape (rows,)
        Stratum of each row, from 0 on. None may be empty.
    counts : array_like of int, shape (rows,), optional
        How many records each row stands for; 1 by default.

    Returns
    -------
    Strata
    """
    study = np.asarray(values, dtype=float)
    where = np.asarray(stratum)
    if counts is None:
        records = np.ones(study.size, dtype=np.int64)
    else:
        records = checks.counts(counts, "counts")

    sizes = np.bincount(where, weights=records).astype(np.int64)
    if not sizes.all():
        got = f"no record in stratum {int(sizes.argmin())}"
        raise ValueError(f"stratum must leave none empty, got {got}")

    means = np.bincount(where, weights=records * study) / sizes
    squares = np.bincount(where, weights=records * (study - means[where]) ** 2)
    return Strata(sizes, squares / np.maximum(sizes - 1, 1), means)


def largest_remainder(shares: ArrayLike) -> Ints:
    """Round to whole numbers with the same (rounded) sum.

    Every share is rounded down, and one is added where the remainders are largest. Ties go to the
    earlier stratum. No stratum gets more than its share rounded up.

    >>> largest_remainder([0.75, 2.25, 6.0]).tolist()
    [1, 2, 6]
    """
    exact = np.asarray(shares, dtype=float)
    floor = np.floor(exact + 1e-9)  # a share just below a whole number is one by rounding
    missing = round(float(exact.sum() - floor.sum()))
    order = np.argsort(-(exact - floor), kind="stable")
    floor[order[:missing]] += 1
    return floor.astype(np.int64)


def rounded_shares(shares: ArrayLike) -> Ints:
    """Round every share to the nearest whole number, and halves up.

    It is the deterministic rounding in Section 4.3 of Bun et al. (2022).

    >>> rounded_shares([1.4, 1.5]).tolist()
    [1, 2]
    """
    exact = np.asarray(shares, dtype=float)
    floor = np.floor(exact)
    return np.asarray(floor.astype(np.int64) + (exact - floor >= 0.5))
