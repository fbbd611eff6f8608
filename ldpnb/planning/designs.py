"""Who is asked: everybody who answers, a simple random sample, one in every stratum, or clusters in one or two stages.

A design says who may be asked, and `at` a number of units who is: people, or clusters. Standard deviations have the
divisor ``N - 1``; where one is left out, the worst is assumed.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from ldpnb import checks
from ldpnb.designs.strata import Strata
from ldpnb.planning.reports import MANY, Reports
from ldpnb.planning.samples import Clusters, Parts


@dataclass(frozen=True, slots=True)
class Everyone:
    """Everybody who answers; nothing is claimed of anybody else."""

    unit: ClassVar[str] = "people"
    least: ClassVar[int] = 2
    most: ClassVar[int] = MANY

    def within(self, span: float) -> Self:
        """Return the design for values divided by the length of their range."""
        return self

    def at(self, count: int, reports: Reports, response: float = 1.0) -> Parts:
        """Return who is asked if so many answer."""
        return Parts((count,), (count,), respondents=True)

    def __str__(self) -> str:
        return "everybody who answers"


@dataclass(frozen=True, slots=True)
class SimpleDesign:
    """A simple random sample of a population.

    Parameters
    ----------
    population : int, optional
        So many that the sample is a small part of them, if left out.
    sd : float, optional
        Standard deviation of the values.
    """

    population: int = MANY
    sd: float | None = None
    unit: ClassVar[str] = "people"
    least: ClassVar[int] = 2

    def __post_init__(self) -> None:
        checks.plain(self, population=2)
        checks.numbers(population=self.population, low=2, high=MANY)
        _check_sds(self.sd)

    @property
    def most(self) -> int:
        """People there are."""
        return self.population

    def within(self, span: float) -> Self:
        """Return the design for values divided by the length of their range."""
        return self if self.sd is None else replace(self, sd=self.sd / span)

    def at(self, count: int, reports: Reports, response: float = 1.0) -> Parts:
        """Return who is asked if so many answer."""
        return Parts((self.population,), (count,), None if self.sd is None else (self.sd**2,))

    def __str__(self) -> str:
        return f"a simple random sample of {_number(self.population)} people"


@dataclass(frozen=True, slots=True)
class StratifiedDesign:
    """A simple random sample of every stratum.

    Parameters
    ----------
    sizes : tuple of int
        People in each.
    sds : tuple of float, optional
        Standard deviation of the values in each.
    allocation : {"proportional", "neyman"}
        By size, or with the least variance, the reports' noise included; both in whole numbers, one at least.
    names : tuple of str, optional

    Examples
    --------
    >>> StratifiedDesign((6000, 3000, 1000), (0.1, 0.3, 0.5), "neyman").at(1000, Reports(scale=1.0)).answers
    (593, 302, 105)
    """

    sizes: tuple[int, ...]
    sds: tuple[float, ...] | None = None
    allocation: Literal["proportional", "neyman"] = "proportional"
    names: tuple[str, ...] = ()
    unit: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        checks.plain(self)
        if checks.counts(sizes=self.sizes).min() < 1:
            raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
        checks.numbers(population=sum(self.sizes), high=MANY)
        checks.choice(allocation=self.allocation, among=("proportional", "neyman"))
        if not self.names:
            object.__setattr__(self, "names", tuple(str(i + 1) for i in range(len(self.sizes))))
        for name in ("sds", "names"):
            if getattr(self, name) is not None:
                checks.entries(len(self.sizes), **{name: getattr(self, name)})
        _check_sds(*(self.sds or ()))
        if self.allocation == "neyman" and self.sds is None:
            raise ValueError("allocation neyman needs the standard deviation in each stratum, got none")

    @property
    def least(self) -> int:
        """One person of every stratum."""
        return len(self.sizes)

    @property
    def most(self) -> int:
        """People there are."""
        return sum(self.sizes)

    def within(self, span: float) -> Self:
        """Return the design for values divided by the length of their range."""
        return self if self.sds is None else replace(self, sds=tuple(sd / span for sd in self.sds))

    def at(self, count: int, reports: Reports, response: float = 1.0) -> Parts:
        """Return who is asked if so many answer; with one more, no stratum has fewer."""
        s2 = None if self.sds is None else tuple(sd**2 for sd in self.sds)
        neyman = self.allocation == "neyman" and s2 is not None
        spreads = np.array(s2) + reports.worst if neyman else np.ones(len(self.sizes))
        drawn = Strata(self.sizes, spreads).best_whole(max(count, self.least))
        return Parts(self.sizes, tuple(np.maximum(drawn, 1).tolist()), s2)

    def __str__(self) -> str:
        by = {"proportional": "by size", "neyman": "by Neyman's allocation, noise included"}[self.allocation]
        return f"a sample of each of {len(self.sizes):,} strata of {sum(self.sizes):,} people, {by}"


@dataclass(frozen=True, slots=True)
class ClusterDesign:
    """A simple random sample of clusters; in those everybody is asked, or a simple random sample of them.

    Parameters
    ----------
    clusters : int
    size : float
        People in each, or their mean number.
    take : int, optional
        People asked in each cluster that is drawn, all of whom answer or not; everybody if left out.
    icc : float, optional
        Intra-cluster correlation, ``1 - N s2_w / ((N - 1) s2)`` with the variance ``s2_w`` within clusters; the worst
        if left out.
    sd : float, optional
        Standard deviation of the values.
    size_sd : float
        Standard deviation of the clusters' sizes.
    """

    clusters: int
    size: float
    take: int | None = None
    icc: float | None = None
    sd: float | None = None
    size_sd: float = 0.0
    unit: ClassVar[str] = "clusters"
    least: ClassVar[int] = 2

    def __post_init__(self) -> None:
        checks.plain(self, clusters=2)
        checks.numbers(size=self.size, low=1, high=MANY)
        checks.numbers(population=self.clusters * self.size, low=2, high=MANY)
        checks.numbers(size_sd=self.size_sd, low=0)
        _check_sds(self.sd)
        if self.size_sd == 0:
            object.__setattr__(self, "size", checks.whole(size=self.size, at_least=1))
        elif self.icc is None:
            raise ValueError(f"icc must be given where sizes differ, got icc=None with size_sd={self.size_sd!r}")
        if self.take is not None and not 1 <= checks.whole(take=self.take) <= self.size:
            raise ValueError(f"take must be 1 to size={self.size:g}, got take={self.take}")
        if self.icc is not None:
            checks.numbers(icc=self.icc, low=-1 / (self.size - 1) if self.size > 1 else -1.0, high=1)

    @property
    def most(self) -> int:
        """Clusters there are."""
        return self.clusters

    def within(self, span: float) -> Self:
        """Return the design for values divided by the length of their range."""
        return self if self.sd is None else replace(self, sd=self.sd / span)

    def at(self, count: int, reports: Reports, response: float = 1.0) -> Clusters:
        """Return who is asked in so many clusters."""
        s2 = None if self.sd is None else self.sd**2
        return Clusters(self.clusters, self.size, count, self.take, self.icc, s2, self.size_sd, response)

    def __str__(self) -> str:
        spread = f" on average (sd {self.size_sd:g})" if self.size_sd else ""
        asked = "everybody" if self.take is None else f"{self.take:,} people"
        return f"{asked} in clusters drawn of {self.clusters:,}, of {self.size:g} people{spread}"


Design = Everyone | SimpleDesign | StratifiedDesign | ClusterDesign
Sample = Parts | Clusters


def _check_sds(*sds: float | None) -> None:
    for sd in sds:
        if sd is not None:
            checks.numbers(sd=sd, low=0)


def _number(people: int) -> str:
    return "very many" if people == MANY else f"{people:,}"
