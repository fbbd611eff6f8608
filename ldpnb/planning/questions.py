"""What is known and what is asked: one of count, epsilon, error and failure is left out, and `plan` computes it.

A question is complete once all four are there. Then it says everything: who is asked, by which law its error is
bounded, and what a report and a release lose.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ldpnb import checks
from ldpnb.notebook.prose import listed
from ldpnb.planning import mechanisms
from ldpnb.planning.clusters import Clusters
from ldpnb.planning.designs import Design, Everyone, Sample, SimpleDesign
from ldpnb.planning.laws import Linear, Tail
from ldpnb.planning.mechanisms import Candidate
from ldpnb.planning.reports import Reports

QUANTITIES = ("count", "epsilon", "error", "failure")
MOST_VALUES = 10**9
"""Largest number of values: up to there laws and tails are right to eight digits."""
SHORT = 0.1
"""Part of the failure that is spent on too few answers, where not everybody answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What shares, means and gaps have in common.

    Parameters
    ----------
    count : int, optional
        Units that answer: people, or clusters that are drawn.
    epsilon : float, optional
        Loss of a report, or of all that is released by a curator, nats in ``[1e-8, 700]``, under replacement of one
        person's value.
    error : float, optional
        The estimate shall be off by less than this.
    failure : float, optional
        Except with this probability.
    design : Everyone, SimpleDesign, StratifiedDesign or ClusterDesign
    mechanism : str
        The only one to plan for; all if left out.
    response : float
        Chance that somebody who is asked answers, whatever their value. The failure includes that too few do.
    releases : int
        Estimates from one and the same sample, each with this error: people report as often, at `epsilon` each time,
        and a curator releases as many.
    tail : {"guaranteed", "normal"}
        A law or bound that holds for all data, or the normal law, an approximation.
    """

    count: int | None = None
    epsilon: float | None = None
    error: float | None = None
    failure: float | None = None
    design: Design = field(default_factory=Everyone)
    mechanism: str = ""
    response: float = 1.0
    releases: int = 1
    tail: Tail = "guaranteed"

    sensitivity: ClassVar[float] = 1.0
    """How far a sum changes, summed over all that a curator releases, if one value does."""

    def __post_init__(self) -> None:
        checks.plain(self)
        if self.count is not None:
            count = checks.whole(count=self.count, at_least=self.design.least)
            if count > self.design.most:
                shown = f"{count:,}" if count < 10**16 else f"{count:g}"
                raise ValueError(f"count must be at most {self.design.most:,} {self.design.unit}, got {shown}")
        if self.epsilon is not None:
            checks.numbers(epsilon=checks.positive(epsilon=self.epsilon), low=1e-8, high=700)
        if self.error is not None and checks.positive(error=self.error) >= self.scale:
            raise ValueError(f"error must be < {self.scale:g}, the whole range, got error={self.error!r}")
        if self.failure is not None:
            checks.open_probability(failure=self.failure)
        checks.rate(response=self.response)
        checks.numbers(releases=checks.whole(releases=self.releases, at_least=1), high=10**6)
        checks.choice(tail=self.tail, among=("guaranteed", "normal"))
        if self.mechanism:
            checks.choice(mechanism=self.mechanism, among=tuple(one.name for one in self._known))

    @property
    def span(self) -> float:
        """Length of the range of the values."""
        return 1.0

    @property
    def scale(self) -> float:
        """Largest possible error."""
        return self.span

    @property
    def ends(self) -> bool:
        """Whether values are at the two ends of their range only."""
        return False

    @property
    def events(self) -> int:
        """Estimates whose errors must all be met."""
        return 1

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        raise NotImplementedError

    @property
    def _known(self) -> tuple[Candidate, ...]:
        raise NotImplementedError

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The mechanisms to plan for."""
        return tuple(one for one in self._known if self.mechanism in ("", one.name))

    @property
    def unknown(self) -> str:
        """The one quantity that is left out.

        Raises
        ------
        ValueError
            If there is none or more than one.
        """
        missing = [name for name in QUANTITIES if getattr(self, name) is None]
        if len(missing) != 1:
            left = f"{listed(missing)} are left out" if missing else "nothing is left out"
            raise ValueError(f"exactly one of {listed(QUANTITIES)} must be left out, to be computed; {left}")
        return missing[0]

    def with_value(self, name: str, value: Any) -> Self:
        """Return the question with one field changed."""
        return replace(self, **{name: value})

    def law(self, mechanism: Candidate) -> Any:
        """Return the law of a mechanism's estimate."""
        return mechanism.law(float(self.epsilon or 0), self)

    def sample(self, reports: Reports) -> Sample:
        """Return who is asked, people with values in ``[0, 1]`` who make such reports."""
        return self.design.at(int(self.count or 0), reports, self.span, self.response)

    def drawn(self, mechanism: Candidate) -> Sample:
        """Return who is asked if this is the mechanism."""
        law = self.law(mechanism)
        return self.sample(law.reports if isinstance(law, Linear) else Reports())

    def invited(self, sample: Sample) -> tuple[int, ...]:
        """Return how many people to invite, per stratum."""
        return sample.invited(self.response, SHORT * float(self.failure or 0.05))

    def chance(self, mechanism: Candidate, tail: Tail | None = None) -> tuple[float, str]:
        """Return the chance of the error at the worst data, or a bound on it, and which; too few answers included."""
        law = self.law(mechanism)
        sample = self.sample(law.reports if isinstance(law, Linear) else Reports())
        chance, bound = law.failure(sample, float(self.error or 0) / self.span, tail or self.tail)
        if self.response < 1:
            chance = chance + sample.empty if isinstance(sample, Clusters) else chance / (1 - SHORT)
        return min(1.0, chance), bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(Question):
    """The shares of people who hold each of some values.

    Parameters
    ----------
    values : int
        Number ``k >= 2`` of values.
    simultaneous : bool
        Whether the error is that of all ``k`` shares at once, or of any one of them.
    """

    values: int = 2
    simultaneous: bool = False

    sensitivity: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", checks.whole(values=self.values, at_least=2))
        checks.numbers(values=self.values, high=MOST_VALUES)
        Question.__post_init__(self)

    @property
    def ends(self) -> bool:
        """Whether values are at the two ends of their range only: one is held or not."""
        return True

    @property
    def events(self) -> int:
        """Estimates whose errors must all be met."""
        return self.values if self.simultaneous else 1

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        return f"the shares of {self.values:,} values, {'all at once' if self.simultaneous else 'any one of them'}"

    @property
    def _known(self) -> tuple[Candidate, ...]:
        return mechanisms.FREQUENCIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Question):
    """The mean of numbers in a known range.

    Parameters
    ----------
    low, high : float
        The range, known beforehand. Values outside must be clipped by their holder.
    binary : bool
        Whether values are `low` or `high` only.
    """

    low: float = 0.0
    high: float = 1.0
    binary: bool = False

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)
        Question.__post_init__(self)

    @property
    def span(self) -> float:
        """Length of the range of the values."""
        return self.high - self.low

    @property
    def ends(self) -> bool:
        """Whether values are at the two ends of their range only."""
        return self.binary

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        ends = f"{self.low:g} or {self.high:g}" if self.binary else f"in [{self.low:g}, {self.high:g}]"
        return f"the mean of values {ends}"

    @property
    def _known(self) -> tuple[Candidate, ...]:
        return mechanisms.BINARY_MEANS if self.binary else mechanisms.MEANS


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Question):
    """The gap between the means of two groups, when both value and group are sensitive.

    Parameters
    ----------
    shares : tuple of float
        Share of the people in every group; the first two are compared.
    low, high : float
        Range of the values, known beforehand.
    """

    shares: tuple[float, ...] = (0.5, 0.5)
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        checks.plain(self)
        _check_range(self.low, self.high)
        if not isinstance(self.design, Everyone | SimpleDesign):
            raise ValueError(f"design of a gap must be everyone or simple, got {self.design}")
        checks.distribution(shares=self.shares)
        if len(self.shares) < 2 or min(self.shares) <= 0:
            raise ValueError(f"shares must be > 0 for at least two groups, got shares={self.shares!r}")
        Question.__post_init__(self)

    @property
    def span(self) -> float:
        """Length of the range of the values."""
        return self.high - self.low

    @property
    def scale(self) -> float:
        """Largest possible error."""
        return 2 * self.span

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        groups = f"{len(self.shares)} groups (shares {' : '.join(f'{share:g}' for share in self.shares)})"
        return f"the gap between the first two of {groups}, values in [{self.low:g}, {self.high:g}]"

    @property
    def groups(self) -> tuple[int, ...]:
        """People in every group, at least 1 each: shares by largest remainder."""
        total = int(self.count or 0) if isinstance(self.design, Everyone) else self.design.most
        wanted = np.array(self.shares) * total
        numbers = np.floor(wanted + 1e-9).astype(np.int64)
        order = np.argsort(numbers - wanted, kind="stable")
        numbers[order[: total - int(numbers.sum())]] += 1
        return tuple(np.maximum(numbers, 1).tolist())

    @property
    def _known(self) -> tuple[Candidate, ...]:
        uneven = len(self.shares) == 2 and abs(self.shares[0] - self.shares[1]) > 1e-12
        return mechanisms.UNEVEN_GAPS if uneven else mechanisms.GAPS


def _check_range(low: float, high: float) -> None:
    checks.numbers(range=(low, high), low=-1e150, high=1e150)
    if not low < high:
        raise ValueError(f"low must be < high, got low={low!r}, high={high!r}")
