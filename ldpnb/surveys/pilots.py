"""Estimates from a pilot: the variance of the values, overall and in strata, and the intra-cluster correlation.

A pilot of people who are to be protected is itself a release: the estimates here are not private.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


@dataclass(frozen=True, slots=True)
class Pilot:
    """Estimates from the values of some people.

    Parameters
    ----------
    answers : int
        Number of values.
    mean, s2 : float
        Of the values; with clusters, `s2` is the sum of the variance components.
    strata : dict
        Variance in each stratum, by its name.
    between, within : float
        Mean squares of clusters and of people within clusters.
    take : float
        People per cluster, ``(n - sum n_g^2 / n) / (clusters - 1)``.
    clusters : int
        Their number; 0 if they are not known.
    left_out : int
        Rows of its table without an entry.
    """

    answers: int
    mean: float
    s2: float
    strata: dict[str, float] = field(default_factory=dict)
    between: float = 0.0
    within: float = 0.0
    take: float = 0.0
    clusters: int = 0
    left_out: int = 0

    def icc(self, size: int) -> float:
        """Return the intra-cluster correlation by analysis of variance, for clusters of that size.

        ``(B - W) / (B + (take - 1) W)`` of the mean squares ``B`` and ``W``, not below ``-1 / (size - 1)``.
        """
        found = _correlation(self.between, self.within, self.take)
        return max(found, -1 / (size - 1)) if size > 1 else found

    def icc_interval(self, failure: float = 0.05) -> tuple[float, float]:
        """Return an interval that misses the correlation with probability `failure`: normal values, equal takes."""
        if not self.between and not self.within:
            return 0.0, 1.0
        own, rest = self.clusters - 1, self.answers - self.clusters
        ratio = self.between / self.within if self.within else np.inf
        least = ratio / stats.f.isf(failure / 2, own, rest)
        most = ratio * stats.f.isf(failure / 2, rest, own)
        return _correlation(least, 1.0, self.take), _correlation(most, 1.0, self.take)


def pilot_of(values: ArrayLike, *, clusters: ArrayLike | None = None, strata: ArrayLike | None = None) -> Pilot:
    """Return estimates from the values of some people, and their clusters or strata.

    Raises
    ------
    ValueError
        For fewer than two values, in all or in a stratum, or clusters of which none has two.

    Examples
    --------
    >>> found = pilot_of([0.0, 0.2, 1.0, 0.8, 0.5, 0.5], clusters=[1, 1, 2, 2, 3, 3])
    >>> round(found.s2, 6), round(found.icc(2), 6)
    (0.166667, 0.92)
    """
    held = np.asarray(values, dtype=float)
    if held.size < 2:
        raise ValueError(f"a pilot needs two values, got {held.size}")
    about: dict[str, Any] = {"answers": held.size, "mean": float(held.mean())}
    parts: dict[str, float] = {}
    if strata is not None:
        for name, own in _groups(held, strata):
            if own.size < 2:
                raise ValueError(f"a pilot needs two values in every stratum, got {own.size} in {name!r}")
            parts[name] = float(own.var(ddof=1))
    if clusters is None:
        return Pilot(**about, s2=float(held.var(ddof=1)), strata=parts)
    groups = [own for _, own in _groups(held, clusters)]
    sizes = np.array([own.size for own in groups])
    if not 1 < sizes.size < held.size:
        raise ValueError(f"a pilot needs two clusters, and two people in one, got {sizes.size} of {held.size} people")
    means = np.array([own.mean() for own in groups])
    between = float(sizes @ (means - held.mean()) ** 2) / (sizes.size - 1)
    within = float(sum(((own - own.mean()) ** 2).sum() for own in groups)) / (held.size - sizes.size)
    take = float(held.size - (sizes**2).sum() / held.size) / (sizes.size - 1)
    s2 = (between + (take - 1) * within) / take
    return Pilot(**about, s2=s2, strata=parts, between=between, within=within, take=take, clusters=sizes.size)


def _correlation(between: float, within: float, take: float) -> float:
    if np.isinf(between):
        return 1.0
    spread = between + (take - 1) * within
    return (between - within) / spread if spread else 0.0


def _groups(values: NDArray[np.float64], labels: ArrayLike) -> list[tuple[str, NDArray[np.float64]]]:
    names, codes = np.unique(np.asarray(labels).astype(str), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))[:-1]
    return list(zip(names.tolist(), np.split(values[order], ends), strict=True))
