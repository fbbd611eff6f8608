"""The sample that reports came from: estimated means, and estimates of their variance, unbiased over samples.

Every design is the same: simple random samples of parts, which are all strata of a population, a simple random sample
of its clusters, or classes of such a sample of people. A simple random sample has one stratum; a cluster in which
everybody is asked is a full sample.

The variance of an estimate from randomised reports follows by one lemma. Imagine that everybody in the population had
drawn a report beforehand: given these, the survey is an ordinary one of fixed numbers, and a census of them would have
the variance ``v / N``, with ``v`` the mean variance of a report. So the usual estimate, applied to the unbiased values
of the reports, *plus* ``v / N`` is right in every design. The usual estimate alone is too small wherever it has a
finite-population correction, and says 0 of a census.

See Särndal, Swensson and Wretman (1992), chapters 2 to 4, and 9 for classes; Chaudhuri (2011) for the same variance as
a quadratic form.
"""

from dataclasses import dataclass

import numpy as np

from ldpnb.arithmetic import Floats, Ints
from ldpnb.surveys.reports import Reports


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Who the reports are from; those who answered in a part are a simple random sample of it.

    - `sizes`, (g,) float: people in each part: a stratum, a cluster that was drawn, or a class of those invited.
    - `part`, (n,) int: the part of each report. No part of more than one person has fewer than two.
    - `population`, int: people there are.
    - `clusters`, int, optional: clusters there are, if the parts are some of them. Else the people in the parts are all
      there are, or a simple random sample of them.
    """

    sizes: Floats
    part: Ints
    population: int
    clusters: int = 0

    @classmethod
    def simple(cls, reports: int, population: int) -> "Sample":
        """Return a simple random sample."""
        return cls(np.array([float(population)]), np.zeros(reports, dtype=np.int64), population)

    @property
    def counts(self) -> Ints:
        """Number of reports of each part, ``(g,)``."""
        return np.bincount(self.part)

    @property
    def complete(self) -> bool:
        """Whether the parts are all there are."""
        return not self.clusters and self.sizes.sum() == self.population

    @property
    def even(self) -> bool:
        """Whether the parts are strata, and every report stands for the same number of people."""
        return (
            self.complete and np.ptp(self.sizes * self.counts[0] - self.sizes[0] * self.counts) == 0
        )

    @property
    def is_simple(self) -> bool:
        """Whether it is a simple random sample: a single stratum."""
        return self.complete and len(self.sizes) == 1


@dataclass(frozen=True, slots=True)
class Point:
    """An estimate, its variance with the part of it by randomisation, and its degrees of freedom."""

    estimate: float
    variance: float
    randomisation: float
    freedom: float


def estimated_mean(
    sample: Sample, values: Floats, reports: Reports, members: Floats | None = None
) -> Point:
    """Return the estimate of the mean of the population, or of a group that is known of everybody who answered.

    Of the population by expansion (Horvitz-Thompson) around the middle of the range, ``c + sum of w (z - c) / N`` with
    the reports' unbiased `values`, ``(n,)``; in simple samples, strata and clusters of one size the centre cancels.
    Of a group by the ratio (Hájek) ``sum of w x z / sum of w x`` with `members` x, ``(n,)`` of 0 and 1, linearised; its
    bias is of the order of one over the number of reports or clusters.

    The variance of one bit of numbers is not estimable: each report is one bit, each person sends one, and no function
    of the bits has the mean of squared rates as its mean. It is too large by ``S^2 / N`` on average, exactly.

    Degrees of freedom are those of clusters that have members, less one, and in strata Satterthwaite's (1946): what is
    known of the variance, the reports' noise, has none.
    """
    sizes, part, counts, parts = sample.sizes, sample.part, sample.counts, len(sample.sizes)
    drawn = sample.clusters / parts if sample.clusters else sample.population / sizes.sum()
    weights, inside = (
        drawn * (sizes / counts)[part],
        np.ones(values.size) if members is None else members,
    )
    people = float(sample.population if members is None else weights @ members)
    centre = 1 / 2 if members is None else float(weights @ (values * members)) / people
    away = inside * (values - centre)
    means = np.bincount(part, away) / counts
    spreads = np.bincount(part, (away - means[part]) ** 2) / np.maximum(counts - 1, 1)
    within = sizes * (sizes - counts) * spreads / counts
    if sample.clusters:
        total = drawn * float(within.sum() + parts * (drawn - 1) * (sizes * means).var(ddof=1))
    else:
        share = sizes / sizes.sum()
        spread = share @ (spreads + (means - share @ means) ** 2)
        total = float(drawn**2 * within.sum() + sample.population * (drawn - 1) * spread)
    estimate = centre + float(weights @ away) / people
    noise = reports.variance(estimate)
    variance = total / people**2 + noise / people
    if reports.bits and not reports.ends and people > 1:
        variance *= people / (people - 1)
    by_chance = noise * float(weights**2 @ inside) / people**2
    if sample.complete and (counts == sizes).all():  # a census, whose error is that of the reports
        by_chance = variance
    if sample.clusters:
        freedom: float = np.unique(part[inside > 0]).size - 1
    elif sample.is_simple or not sample.complete:
        freedom = part.size - parts
    else:
        loose = float((within**2 / np.maximum(counts - 1, 1)).sum())
        freedom = (variance * people**2) ** 2 / loose if loose else np.inf
    return Point(estimate, variance, by_chance, freedom)


def released_mean(sample: Sample, release: float, reports: Reports) -> Point:
    """Return the estimate that a curator's noisy mean of a simple random sample is, and its variance by it alone.

    Of a share ``x`` that is unbiased: the mean of ``x (1 - x)`` is ``s (1 - s)`` less the variance. Of the spread of
    other values the release tells nothing, and the largest that there is is taken.
    """
    number, people, noise = sample.part.size, sample.population, 2 * reports.scale**2
    sampled = (people - number) / (people - 1) / number
    spread = (release * (1 - release) + noise) / (1 - sampled) if reports.ends else 1 / 4
    return Point(release, sampled * spread + noise, noise, np.inf)
