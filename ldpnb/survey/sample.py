"""The sample that reports came from, and the one estimator: a weighted mean of unbiased values.

The variance follows by one argument. Imagine that everybody in the population had drawn a report
beforehand. Given these, the survey is an ordinary one of fixed numbers, and the textbook variance
estimate is right for it. What that leaves out is how far a complete count of these reports would be
from the truth. With the finite population correction it is ``sum of f w^2 v`` over the reports:
`f` is the fraction of the population that reported, `w` the weight, and `v` the variance of a
report by the device. In a simple random sample this is ``v / N``. Without the correction the
textbook estimate already has all of the randomisation in it, and `f` is 0.

Reports that have the same stratum, cluster, weight and group form a *cell*. The estimator needs the
number of reports in a cell, their mean and their sum of squares, and nothing else. So a million
reports in a few cells take about as long as a few reports.

See Särndal, Swensson and Wretman (1992), chapters 4 and 5, for the estimator, and Chaudhuri (2011)
for the same variance as a quadratic form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpnb.arithmetic import Floats, Ints
from ldpnb.survey.device import Device

_REPLACED = (
    "Clusters are treated as if they had been drawn with replacement, which makes the standard "
    "error too large rather than too small. A finite population correction needs a column called "
    "cluster_size."
)
_SINGLE = (
    "Some clusters have only one report. Their strata get no finite population correction, which "
    "makes the standard error too large rather than too small."
)


@dataclass(frozen=True, eq=False)
class Values:
    """The unbiased values in each cell: their mean, and the sum of squares about it."""

    mean: Floats
    squares: Floats


@dataclass(frozen=True, eq=False)
class Sample:
    """Who the reports are from.

    Parameters
    ----------
    number : (cells,) float
        Reports in each cell.
    weight : (cells,) float
        How many people a report of the cell stands for, up to a factor.
    stratum : (cells,) int
        The stratum of each cell.
    cluster : (cells,) int, optional
        The cluster of each cell; without clusters every report is one of its own.
    cluster_stratum : (clusters,) int, optional
        The stratum of each cluster.
    drawn : (strata,) float
        Fraction of the clusters that were drawn; 0 without a finite population correction.
    answered : (cells,) float
        Fraction of the people in the cell's cluster who reported.
    population : float
        People there are; infinite if not stated, nan of a sample of clusters.
    notes : tuple of str
        What a reader of the estimates must know about the sample.
    """

    number: Floats
    weight: Floats
    stratum: Ints
    drawn: Floats
    answered: Floats
    population: float
    cluster: Ints | None = None
    cluster_stratum: Ints | None = None
    notes: tuple[str, ...] = ()

    @property
    def reports(self) -> float:
        return float(self.number.sum())

    @property
    def is_simple(self) -> bool:
        """Whether it is a simple random sample of people, or all of them."""
        has_one_weight = bool(np.ptp(self.weight) == 0)
        return self.drawn.size == 1 and self.cluster is None and has_one_weight

    @property
    def fraction(self) -> Floats:
        """The fraction of the population that reported, for each cell."""
        return np.asarray(self.drawn[self.stratum] * self.answered)

    def units(self, members: Any = slice(None)) -> int:
        """Return how many clusters, or people if there are none, have reports."""
        if self.cluster is None:
            return int(self.number[members].sum())
        return int(np.unique(self.cluster[members]).size)

    def strata(self, members: Any = slice(None)) -> Ints:
        """Return the strata that have reports."""
        return np.unique(self.stratum[members])

    def freedom(self, members: Any) -> int:
        """Return the degrees of freedom: clusters with members, less strata with members."""
        return self.units(members) - self.strata(members).size

    def textbook(self, residuals: Values) -> float:
        """Return the variance estimate of a sum of fixed numbers, by clusters within strata.

        With a finite population correction the people within clusters are a second stage.
        """
        if self.cluster is None or self.cluster_stratum is None:
            between = self._number_times_spread(self.stratum, residuals)
            return float(((1 - self.drawn) * between).sum())

        totals = np.asarray(np.bincount(self.cluster, self.number * residuals.mean), dtype=float)
        ones = np.ones(totals.size)
        of_clusters = Values(totals, np.zeros(totals.size))
        between = _number_times_spread(self.cluster_stratum, ones, of_clusters)

        within = self._number_times_spread(self.cluster, residuals)
        answered = np.zeros(totals.size)
        answered[self.cluster] = self.answered
        second = np.bincount(self.cluster_stratum, within * (1 - answered))
        return float(((1 - self.drawn) * between + self.drawn * second).sum())

    def _number_times_spread(self, group: Ints, values: Values) -> Floats:
        return _number_times_spread(group, self.number, values)


def _number_times_spread(group: Ints, number: Floats, values: Values) -> Floats:
    """Return ``n s^2`` of each group of cells, `s^2` the sample variance; 0 of a single number."""
    counts = np.bincount(group, number)
    safe = np.maximum(counts, 1)
    means = np.bincount(group, number * values.mean) / safe
    away = values.mean - means[group]
    squares = np.bincount(group, values.squares + number * away**2)
    return np.asarray(counts * squares / np.maximum(counts - 1, 1))


@dataclass(frozen=True, eq=False)
class Point:
    """An estimate with what its variance is made of.

    Parameters
    ----------
    estimate : float
    residuals : Values
        The linearised values, whose sum varies as the estimate does.
    missing : float
        The part of the variance that the textbook estimate leaves out.
    randomisation : float
        The part of the variance that is the device's.
    excess : float
        The fraction by which the variance is too small, where no unbiased one exists.
    """

    estimate: float
    residuals: Values
    missing: float
    randomisation: float
    excess: float = 0.0

    def minus(self, other: "Point") -> "Point":
        """Return the difference from the estimate of another group, which has no common members."""
        residuals = Values(
            self.residuals.mean - other.residuals.mean,
            self.residuals.squares + other.residuals.squares,
        )
        return Point(
            self.estimate - other.estimate,
            residuals,
            self.missing + other.missing,
            self.randomisation + other.randomisation,
            self.excess + other.excess,
        )

    def variance(self, sample: Sample) -> float:
        """Return the estimated variance, unbiased unless cluster sizes or weights are random.

        From bits that stand for numbers no function of the reports is unbiased for it. There it is
        too large, in a simple random sample by ``S^2 / N`` on average.
        """
        return (sample.textbook(self.residuals) + self.missing) / (1 - self.excess)


def estimated(sample: Sample, device: Device, values: Values, members: Any = None) -> Point:
    """Return the weighted mean of the unbiased values of everybody, or of a group's `members`.

    `members` says which cells belong to the group. Its residuals are scaled as Bessel's correction
    would for the group alone, which is exact in a simple random sample.
    """
    inside = np.ones(sample.number.size, dtype=bool) if members is None else members
    weights = np.where(inside, sample.weight, 0.0)
    share = weights / (sample.number @ weights)
    estimate = float((sample.number * share) @ values.mean)

    present = sample.units(inside)
    there = sample.units(np.isin(sample.stratum, sample.strata(inside)))
    bessel = present * (there - 1) / ((present - 1) * there) if 1 < present < there else 1.0
    residuals = Values(
        np.sqrt(bessel) * share * (values.mean - estimate), bessel * share**2 * values.squares
    )

    is_bit_of_number = device.mechanism == "1-bit"
    of_reports = device.variance(estimate if is_bit_of_number else values.mean)
    noise = sample.number * share**2 * of_reports
    excess = float(sample.fraction @ (sample.number * share**2)) if is_bit_of_number else 0.0
    return Point(
        estimate=estimate,
        residuals=residuals,
        missing=float(sample.fraction @ noise),
        randomisation=float(noise.sum()),
        excess=excess,
    )


def drawn_sample(
    number: Floats,
    *,
    stratum: Sequence[str] | None = None,
    cluster: Sequence[Any] | None = None,
    weight: Floats | None = None,
    cluster_size: Floats | None = None,
    population: int | Mapping[str, int] | str | None = None,
    clusters: int | Mapping[str, int] | None = None,
) -> Sample:
    """Return the sample from the number of reports in each cell and the sizes of the population.

    Without clusters a report stands for ``N_h / n_h`` people. With clusters it stands for
    ``(M_h / m_h) (N_g / n_g)``, where a factor that was not stated is left out. Weights replace
    both.

    Raises
    ------
    ValueError
        If something contradicts itself, or the variance cannot be estimated.
    """
    number = np.asarray(number, dtype=float)
    in_strata = [""] * number.size if stratum is None else stratum
    names = sorted(set(in_strata))
    places = {name: place for place, name in enumerate(names)}
    of_cell = np.fromiter(map(places.__getitem__, in_strata), np.int64, number.size)
    of_cluster = None
    stratum_of_cluster = None
    units = "people"
    stated: Any = population
    counts = np.asarray(np.bincount(of_cell, number), dtype=float)
    if cluster is not None:
        of_cluster, stratum_of_cluster = _clusters(of_cell, cluster)
        units = "clusters"
        stated = clusters
        counts = np.bincount(stratum_of_cluster).astype(float)
    elif cluster_size is not None or clusters is not None:
        raise ValueError("clusters and cluster_size need a column called cluster")

    there = _sizes(stated, names, counts, units)
    drawn = counts / there
    answered = np.ones(number.size)
    notes = []
    if of_cluster is not None and stratum_of_cluster is not None:
        if cluster_size is not None:
            answered = _answered(of_cluster, number, cluster_size)
            is_single = (np.bincount(of_cluster, number)[of_cluster] == 1) & (answered < 1)
            single = np.unique(of_cell[is_single])
            if (drawn[single] > 0).any():
                drawn[single] = 0.0
                notes.append(_SINGLE)
        elif (drawn > 0).any():
            drawn = np.zeros(counts.size)
            notes.append(_REPLACED)

    _refuse_lonely(names, (counts == 1) & (drawn < 1), units)
    if weight is None:
        if len(names) > 1 and np.isinf(there).any():
            raise ValueError(
                f"strata need the number of {units} in each, or a column called weight"
            )
        between = there / counts if len(names) > 1 else np.ones(1)
        weight = between[of_cell] / answered
    _, exponent = np.frexp(np.max(weight))
    return Sample(
        number=number,
        weight=np.ldexp(np.asarray(weight, dtype=float), -exponent),  # so that no sum overflows
        stratum=of_cell,
        drawn=drawn,
        answered=answered,
        population=float(there.sum()) if cluster is None else np.nan,
        cluster=of_cluster,
        cluster_stratum=stratum_of_cluster,
        notes=tuple(notes),
    )


def _clusters(of_cell: Ints, cluster: Sequence[Any]) -> tuple[Ints, Ints]:
    """Return the cluster of each cell, and the stratum of each cluster.

    Clusters of the same name in two strata are two clusters.
    """
    _, named = np.unique(np.asarray(cluster), return_inverse=True)
    keys = of_cell * (int(named.max()) + 1) + named
    _, first, of_cluster = np.unique(keys, return_index=True, return_inverse=True)
    return of_cluster, of_cell[first]


def _sizes(stated: Any, names: list[str], counts: Floats, units: str) -> Floats:
    """Return how many units there are in each stratum; infinitely many if that is not stated."""
    if stated is None:
        return np.full(len(names), np.inf)
    if isinstance(stated, str):
        if stated != "everyone":
            raise ValueError(f"population must be a whole number or everyone, got {stated!r}")
        return counts.copy()
    if not isinstance(stated, Mapping):
        if len(names) > 1:
            raise ValueError(f"the number of {units} must be given for each stratum")
        stated = {names[0]: stated}
    elif names == [""]:
        raise ValueError(f"the number of {units} in each stratum needs a column called stratum")

    if missing := sorted(set(names) - set(stated)):
        raise ValueError(
            f"stratum {missing[0]!r} has reports, but its number of {units} is not given"
        )
    if absent := sorted(set(stated) - set(names)):
        raise ValueError(f"stratum {absent[0]!r} has no reports: merge it with a similar stratum")
    sizes = np.array([float(stated[name]) for name in names])
    for name, size, count in zip(names, sizes, counts, strict=True):
        if not size >= count:
            where = f"in stratum {name} " if name else ""
            raise ValueError(
                f"{where}{count:,.0f} {units} have reports, but there are only {size:,.0f}"
            )
    return sizes


def _answered(of_cluster: Ints, number: Floats, cluster_size: Floats) -> Floats:
    """Return the fraction of the people of each cell's cluster who reported."""
    reports = np.bincount(of_cluster, number)
    size = np.zeros(reports.size)
    size[of_cluster] = cluster_size
    wrong = (size[of_cluster] != cluster_size) | (size < reports)[of_cluster]
    if wrong.any():
        cell = int(wrong.argmax())
        least = reports[of_cluster[cell]]
        raise ValueError(
            "cluster_size must be the same in all rows of a cluster, and at least its number of "
            f"reports, {least:,.0f}, got {cluster_size[cell]:g}"
        )
    return np.asarray((reports / size)[of_cluster])


def _refuse_lonely(names: list[str], is_lonely: Any, units: str) -> None:
    if not is_lonely.any():
        return
    first = names[int(np.argmax(is_lonely))]
    one = "cluster" if units == "clusters" else "report"
    if len(names) == 1:
        raise ValueError(f"there is only one {one}, which is too few for a standard error")
    raise ValueError(
        f"stratum {first} has only one {one}, which is too few for a standard error: merge it with "
        "a similar stratum by giving both the same name, and choose that stratum without looking "
        "at the reports"
    )
