"""Simple random samples of the strata of a population: variance of the mean, bounds on its tails, invitations, losses.

The mean is that of unbiased reports of values in ``[0, 1]``, of every stratum, weighted by size. A simple random sample
has one stratum, and everybody who answers is one of itself.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import special

from ldpnb import checks
from ldpnb.arithmetic import Floats, read_only
from ldpnb.designs.strata import Strata
from ldpnb.planning.reports import MANY, Reports, UnableError, Variance, largest
from ldpnb.planning.search import least
from ldpnb.privacy.subsampling import srs_loss


@dataclass(frozen=True, slots=True)
class StratifiedDesign:
    """A simple random sample of every stratum.

    - `sizes`, tuple of int: people in each stratum; empty if nobody is meant but those who answer.
    - `sds`, tuple of float, optional: standard deviation of the values in each, divisor ``N - 1``; the worst if left
      out.
    - `allocation`, {"proportional", "neyman"}: by size, or with the least variance, the reports' noise included; both
      in whole numbers, one at least.
    - `names`, tuple of str, optional
    - `answers`, tuple of int: of every stratum, set by `at`; the standard deviations then are those of values in
      ``[0, 1]``.

    >>> StratifiedDesign((6000, 3000, 1000), (0.1, 0.3, 0.5), "neyman").at(1000, Reports(scale=1.0)).answers
    (593, 302, 105)
    """

    sizes: tuple[int, ...]
    sds: tuple[float, ...] | None = None
    allocation: Literal["proportional", "neyman"] = "proportional"
    names: tuple[str, ...] = ()
    answers: tuple[int, ...] = ()
    unit: ClassVar[str] = "people"

    def __post_init__(self) -> None:
        checks.plain(self)
        if self.sizes and checks.counts(self.sizes, "sizes").min() < 1:
            raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
        checks.numbers(sum(self.sizes), "population", high=MANY)
        checks.choice(self.allocation, "allocation", among=("proportional", "neyman"))
        object.__setattr__(
            self, "names", self.names or tuple(str(i + 1) for i in range(len(self.sizes)))
        )
        checks.entries(self.names, "names", len(self.sizes))
        if self.sds is not None:
            checks.numbers(checks.entries(self.sds, "sds", len(self.sizes)), "sds", low=0)
        elif self.allocation == "neyman":
            raise ValueError(
                "allocation neyman needs the standard deviation in each stratum, got none"
            )

    @property
    def respondents(self) -> bool:
        """Whether nobody is meant but those who answer."""
        return not self.sizes

    @property
    def limits(self) -> tuple[int, int]:
        """Fewest and most answers."""
        return max(len(self.sizes), 2), sum(self.sizes) or MANY

    def at(self, count: int, reports: Reports, span: float = 1.0, response: float = 1.0) -> Self:
        """Return the sample in which so many answer, of values in a range of length `span`."""
        sds, spreads = self.sds and tuple(sd / span for sd in self.sds), (1.0,) * len(self.sizes)
        if len(self.sizes) < 2:
            return replace(self, sds=sds, answers=(count,))
        if self.allocation == "neyman" and sds:
            spreads = tuple(sd * sd + reports.worst for sd in sds)
        return replace(
            self, sds=sds, answers=_allocated(self.sizes, spreads, max(count, len(self.sizes)))
        )

    @property
    def estimator(self) -> str:
        """The estimator of the mean, one of `ldpnb.surveys.field_plan.ESTIMATORS`."""
        return "stratified mean" if len(self.sizes) > 1 else "mean"

    @property
    def parts(self) -> tuple[int, ...]:
        """People in each stratum, of a drawn sample."""
        return self.sizes or self.answers

    @property
    def population(self) -> int:
        """People there are, of a drawn sample."""
        return sum(self.parts)

    @property
    def people(self) -> int:
        """People who answer."""
        return sum(self.answers)

    def variance(self, reports: Reports) -> Variance:
        """Return the largest variance of the mean: ``sum of W_h^2 [(1 - n_h/N_h) S2_h + v_h] / n_h``."""
        known = [None] * len(self.parts) if self.sds is None else [sd**2 for sd in self.sds]
        rows = zip(self.parts, self.answers, known, strict=True)
        worst = [largest(reports, 1 / n - 1 / size, 1 / n, size, s2) for size, n, s2 in rows]
        sampling, randomisation = (np.array(self.parts) / self.population) ** 2 @ np.array(worst)
        return Variance(float(sampling), float(randomisation))

    def exponent(self, tilts: Floats, reports: Reports) -> Floats:
        """Return a bound on ``ln E exp(tilt (mean - truth))`` over all values, ``(tilts,)``."""
        sizes = np.array(self.parts)
        each = exponent(
            np.multiply.outer(tilts, sizes / self.population),
            np.array(self.answers),
            sizes,
            reports,
        )
        return np.asarray(each.sum(axis=-1))

    def invited(self, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people to invite in each stratum for answers enough in all, but for a chance `failure`."""
        numbers = tuple(invitations(n, response, failure / len(self.parts)) for n in self.answers)
        for number, answers, size in zip(numbers, self.answers, self.sizes, strict=False):
            if number > size:
                raise UnableError(
                    f"{number:,} of {size:,} people would have to be invited for {answers:,} answers"
                )
        return numbers

    def loss(self, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports if who was asked is secret, as if all who are invited answered."""
        if self.population >= MANY:
            return epsilon
        return float(
            srs_loss(epsilon, float(np.max(np.array(invited) / np.array(self.sizes or invited))))
        )

    def scale(self, epsilon: float) -> float:
        """Return the scale of a curator's noise on the mean."""
        return (
            float(np.max(np.array(self.parts) / np.array(self.answers))) / self.population / epsilon
        )

    def __str__(self) -> str:
        people = sum(self.sizes)
        if self.respondents:
            return "everybody who answers"
        if len(self.sizes) == 1:
            return f"a simple random sample of {'very many' if people == MANY else f'{people:,}'} people"
        by = {"proportional": "by size", "neyman": "by Neyman's allocation, noise included"}[
            self.allocation
        ]
        return f"a sample of each of {len(self.sizes):,} strata of {people:,} people, {by}"


@lru_cache(maxsize=256)
def _allocated(sizes: tuple[int, ...], spreads: tuple[float, ...], count: int) -> tuple[int, ...]:
    """Return the answers of each stratum that make the variance least, at least one; more people, none has fewer."""
    return tuple(np.maximum(Strata(sizes, spreads).best_whole(count), 1).tolist())


def Everyone() -> StratifiedDesign:  # noqa: N802, one of the designs
    """Return the design of everybody who answers; nothing is claimed of anybody else."""
    return StratifiedDesign(())


def SimpleDesign(population: int = MANY, sd: float | None = None) -> StratifiedDesign:  # noqa: N802
    """Return a simple random sample of a population, of very many people if left out.

    `sd` is the standard deviation of the values, the worst if left out.
    """
    people = checks.whole(population, "population", at_least=2)
    return StratifiedDesign((people,), None if sd is None else (sd,))


def exponent(tilts: Floats, answers: Any, people: Any, reports: Reports) -> Floats:
    """Return a bound on ``ln E exp(tilt (mean - truth))`` of simple random samples of so many answers, over all values.

    The bits of a sample without replacement have no larger one than independent bits (Hoeffding 1963); that of the
    values themselves is at most ``tilt^2 (1 - (n - 1)/N) / (8 n)`` (Serfling 1974), or what the same bound of those who
    are not asked implies, and Laplace noise adds its own.
    """
    if reports.bits:
        return np.asarray(tilts * tilts / (8 * answers * reports.truth**2))
    noise = np.minimum((tilts * reports.scale / answers) ** 2, 1.0)
    left = np.minimum(1 - (answers - 1) / people, (1 - answers / people) * (1 + 1 / answers))
    with np.errstate(divide="ignore"):
        return np.asarray(tilts * tilts * left / (8 * answers) - answers * np.log1p(-noise))


@lru_cache(maxsize=256)
def answering(asked: int, response: float) -> tuple[Floats, Floats]:
    """Return how many of those asked may answer, at least one, and the chances of these numbers given one answer."""
    numbers = np.array([float(asked)]) if response == 1 else np.arange(1.0, asked + 1)
    others = asked - numbers
    logs = special.xlogy(numbers, response) + special.xlog1py(others, -response)
    chances = special.softmax(logs - special.gammaln(numbers + 1) - special.gammaln(others + 1))
    return read_only(numbers), read_only(chances)


def invitations(needed: int, response: float, failure: float) -> int:
    """Return the fewest invitations that bring `needed` answers except with probability `failure`.

    Everybody answers independently with probability `response`, whatever their value, report and design.

    >>> invitations(1842, 0.6, 0.05)
    3145
    """

    def excess(invited: int) -> float:
        return float(special.betainc(invited - needed + 1, needed, 1 - response)) - failure

    number = needed if response == 1 else least(excess, needed, MANY**2, needed)
    if number is None:
        raise UnableError(f"too few answer for {needed:,} answers")
    return number
