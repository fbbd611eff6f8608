"""What is known and what is asked: one of count, epsilon, error and failure is left out, and `plan` computes it.

A question is complete once all four are there and one mechanism is named. Then it says everything: who is asked, by
which law its error is bounded, and what a report and a release lose.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ldpnb import checks
from ldpnb.designs.strata import largest_remainder
from ldpnb.notebook.prose import listed
from ldpnb.planning import mechanisms
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.laws import Tail
from ldpnb.planning.mechanisms import Candidate
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import Everyone, StratifiedDesign

QUANTITIES = ("count", "epsilon", "error", "failure")
MOST_VALUES = 10**9
"""Largest number of values: up to there laws and tails are right to eight digits."""
SHORT = 0.1
"""Part of the failure that is spent on too few answers, where not everybody answers."""

Design = StratifiedDesign | ClusterDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What shares, means and gaps have in common.

    - `count`, int, optional: units that answer: people, or clusters that are drawn.
    - `epsilon`, float, optional: loss of a report, or of all that is released by a curator, nats in ``[1e-8, 700]``,
      under replacement of one person's value.
    - `error`, float, optional: the estimate shall be off by less than this.
    - `failure`, float, optional: except with this probability.
    - `design`, Design: by `Everyone`, `SimpleDesign`, `StratifiedDesign` or `ClusterDesign`.
    - `mechanism`, str: the only one to plan for; all if left out.
    - `response`, float: chance that somebody who is asked answers, whatever their value. The failure includes that
      too few do.
    - `releases`, int: estimates from one and the same sample, each with this error: people report as often, at
      `epsilon` each time, and a curator releases as many.
    - `tail`, {"guaranteed", "normal"}: a law or bound that holds for all data, or the normal law, an approximation.
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

    binary: ClassVar[bool] = False
    """Whether values are at the two ends of their range only."""
    events: ClassVar[int] = 1
    """Estimates whose errors must all be met."""
    sensitivity: ClassVar[float] = 1.0
    """How far a sum changes, summed over all that a curator releases, if one value does."""
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        checks.plain(self)
        checks.numbers(range=(self.low, self.high), low=-1e150, high=1e150)
        if not self.low < self.high:
            raise ValueError(f"low must be < high, got low={self.low!r}, high={self.high!r}")
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
        return self.high - self.low

    @property
    def scale(self) -> float:
        """Largest possible error."""
        return self.span

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
        """The one quantity that is left out; if none is, or more are, a ValueError."""
        missing = [name for name in QUANTITIES if getattr(self, name) is None]
        if len(missing) != 1:
            left = f"{listed(missing)} are left out" if missing else "nothing is left out"
            raise ValueError(f"exactly one of {listed(QUANTITIES)} must be left out, to be computed; {left}")
        return missing[0]

    def with_value(self, name: str, value: Any) -> Self:
        """Return the question with one field changed."""
        return replace(self, **{name: value})

    @property
    def candidate(self) -> Candidate:
        """The mechanism that is named."""
        (one,) = self.candidates
        return one

    @property
    def law(self) -> Any:
        """The law of the estimate by the mechanism that is named."""
        return _law(self)

    def drawn(self, reports: Reports) -> Design:
        """Return who is asked, people with values in ``[0, 1]``, for reports of a kind."""
        return self.design.at(int(self.count or 0), reports, self.span, self.response)

    @property
    def sample(self) -> Design:
        """Who is asked for the mechanism that is named."""
        return self.drawn(self.law.reports)

    @property
    def invited(self) -> tuple[int, ...]:
        """How many people to invite, per stratum."""
        return self.sample.invited(self.response, SHORT * float(self.failure or 0.05))

    def chance(self, tail: Tail | None = None) -> tuple[float, str]:
        """Return the chance of the error at the worst data, or a bound on it, and which; too few answers included."""
        return _chance(self, "normal" if "normal" in (tail, self.tail) else tail or "guaranteed")


@lru_cache(maxsize=64)
def _law(question: Question) -> Any:
    return question.candidate.law(question)


@lru_cache(maxsize=1024)
def _chance(question: Question, tail: Tail) -> tuple[float, str]:
    sample = question.sample
    chance, bound = question.law.failure(sample, float(question.error or 0) / question.span, tail)
    if question.response < 1:
        chance = chance + sample.empty if isinstance(sample, ClusterDesign) else chance / (1 - SHORT)
    return min(1.0, chance), bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(Question):
    """The shares of people who hold each of some values.

    - `values`, int: number ``k >= 2`` of values.
    - `simultaneous`, bool: whether the error is that of all ``k`` shares at once, or of any one of them.
    """

    values: int = 2
    simultaneous: bool = False

    binary: ClassVar[bool] = True
    sensitivity: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        checks.numbers(values=checks.whole(values=self.values, at_least=2), high=MOST_VALUES)
        Question.__post_init__(self)

    @property
    def events(self) -> int:  # type: ignore[override]
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

    - `low`, `high`, float: the range, known beforehand. Values outside must be clipped by their holder.
    - `binary`, bool: whether values are `low` or `high` only.
    """

    low: float = 0.0  # type: ignore[misc]
    high: float = 1.0  # type: ignore[misc]
    binary: bool = False  # type: ignore[misc]

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

    - `shares`, tuple of float: share of the people in every group; the first two are compared.
    - `low`, `high`, float: range of the values, known beforehand.
    """

    low: float = 0.0  # type: ignore[misc]
    high: float = 1.0  # type: ignore[misc]
    design: StratifiedDesign = field(default_factory=Everyone)
    shares: tuple[float, ...] = (0.5, 0.5)

    def __post_init__(self) -> None:
        checks.plain(self)
        if isinstance(self.design, ClusterDesign) or len(self.design.sizes) > 1:
            raise ValueError(f"design of a gap must be everyone or simple, got {self.design}")
        checks.distribution(shares=self.shares)
        if len(self.shares) < 2 or min(self.shares) <= 0:
            raise ValueError(f"shares must be > 0 for at least two groups, got shares={self.shares!r}")
        Question.__post_init__(self)

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
        people = sum(self.design.sizes) or int(self.count or 0)
        return tuple(np.maximum(largest_remainder(np.array(self.shares) * people), 1).tolist())

    @property
    def _known(self) -> tuple[Candidate, ...]:
        from ldpnb.planning import gaps

        uneven = len(self.shares) == 2 and abs(self.shares[0] - self.shares[1]) > 1e-12
        return (*gaps.GAPS, gaps.BEST_CHANNEL) if uneven else gaps.GAPS
