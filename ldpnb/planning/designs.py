"""Who is asked: everybody who answers, a simple random sample, one in every stratum, or clusters in one or two stages.

A design says who may be asked, and `at` a number of units who is: people, or clusters. Clusters are in
`ldpnb.planning.clusters`. Standard deviations have the
divisor ``N - 1``; where one is left out, the worst is assumed.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ldpnb import checks
from ldpnb.designs.strata import Strata
from ldpnb.planning.clusters import ClusterDesign, Clusters, check_sds
from ldpnb.planning.reports import MANY, Reports
from ldpnb.planning.samples import Parts


@dataclass(frozen=True, slots=True)
class Everyone:
    """Everybody who answers; nothing is claimed of anybody else."""

    unit: ClassVar[str] = "people"
    least: ClassVar[int] = 2
    most: ClassVar[int] = MANY

    def at(self, count: int, reports: Reports, span: float = 1.0, response: float = 1.0) -> Parts:
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
        check_sds(self.sd)

    @property
    def most(self) -> int:
        """People there are."""
        return self.population

    def at(self, count: int, reports: Reports, span: float = 1.0, response: float = 1.0) -> Parts:
        """Return who is asked if so many answer, of values in a range of length `span`."""
        return Parts((self.population,), (count,), None if self.sd is None else ((self.sd / span) ** 2,))

    def __str__(self) -> str:
        number = "very many" if self.population == MANY else f"{self.population:,}"
        return f"a simple random sample of {number} people"


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
        check_sds(*(self.sds or ()))
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

    def at(self, count: int, reports: Reports, span: float = 1.0, response: float = 1.0) -> Parts:
        """Return who is asked if so many answer; with one more, no stratum has fewer."""
        s2 = None if self.sds is None else tuple((sd / span) ** 2 for sd in self.sds)
        neyman = self.allocation == "neyman" and s2 is not None
        spreads = np.array(s2) + reports.worst if neyman else np.ones(len(self.sizes))
        drawn = Strata(self.sizes, spreads).best_whole(max(count, self.least))
        return Parts(self.sizes, tuple(np.maximum(drawn, 1).tolist()), s2)

    def __str__(self) -> str:
        by = {"proportional": "by size", "neyman": "by Neyman's allocation, noise included"}[self.allocation]
        return f"a sample of each of {len(self.sizes):,} strata of {sum(self.sizes):,} people, {by}"


Design = Everyone | SimpleDesign | StratifiedDesign | ClusterDesign
Sample = Parts | Clusters
