"""What is known and what is asked: one of count, epsilon, error and failure is left out, and `plan` computes it.

A question is complete once all four are there and one mechanism is named. Then it is the answer and says everything:
who is asked, for whom, by which estimator and by which law an error is promised, and what a report and a release lose.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from ldpnb import checks
from ldpnb.designs.strata import largest_remainder
from ldpnb.planning import mechanisms
from ldpnb.planning.laws import Design, Tail
from ldpnb.planning.reports import MANY, Variance
from ldpnb.planning.samples import Everyone
from ldpnb.words import listed

QUANTITIES = ("count", "epsilon", "error", "failure")
MOST_VALUES = 10**9
"""Largest number of values: up to there laws and tails are right to eight digits."""
MOST_STEPS = 64
"""Whole numbers below a solution that are tried one by one where the chance of an error is not monotone."""
SHORT = 0.1
"""Part of the failure that is spent on too few answers, where not everybody answers."""


def left_out(question: Any, among: tuple[str, ...] = QUANTITIES) -> str:
    """Return which one of some quantities is left out; if none is, or more are, a ValueError."""
    missing = [name for name in among if getattr(question, name) is None]
    if len(missing) != 1:
        left = f"{listed(missing)} are left out" if missing else "nothing is left out"
        raise ValueError(f"exactly one of {listed(among)} must be left out, to be computed; {left}")
    return missing[0]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What shares, means and gaps have in common.

    - `count`, int, optional: units that answer: people, or clusters that are drawn.
    - `epsilon`, float, optional: loss of a report, or of all that is released by a curator, nats in ``[1e-8, 700]``,
      under replacement of one person's value.
    - `error`, float, optional: the estimate shall be off by less than this.
    - `failure`, float, optional: except with this probability.
    - `design`, Design: by `Everyone`, `SimpleDesign`, `StratifiedDesign` or `ClusterDesign`; a gap's is `Everyone`.
    - `mechanism`, str: the only one to plan for; all if left out.
    - `response`, float: chance that somebody who is asked answers, whatever their value. The failure includes that
      too few do.
    - `releases`, int: estimates from one and the same sample, each with this error: people report as often, at
      `epsilon` each time, and a curator releases as many.
    - `tail`, {"guaranteed", "normal"}: a law or bound that holds for all data, or the normal law, an approximation.
    - `unknown`, str: of an answer, the quantity that was left out and computed.
    - `reason`, str: why the mechanism cannot answer; empty if it can.
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
    unknown: str = ""
    reason: str = ""

    known: ClassVar[mechanisms.Laws] = MappingProxyType({})
    """The mechanisms there are, each with the law of its estimate."""
    binary: ClassVar[bool] = False
    """Whether values are at the two ends of their range only."""
    events: ClassVar[int] = 1
    """Estimates whose errors must all be met."""
    sensitivity: ClassVar[float] = 1.0
    """How far a sum changes, summed over all that a curator releases, if one value does."""
    widest: ClassVar[float] = 1.0
    """Largest possible error, in lengths of the range."""
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        limits = self.design.limits
        checks.plain(self, releases=1, count=limits[0])
        checks.numbers((self.low, self.high), "range", low=-1e150, high=1e150)
        if not self.low < self.high:
            raise ValueError(f"low must be < high, got low={self.low!r}, high={self.high!r}")
        if (self.count or 0) > limits[1]:
            raise ValueError(
                f"count must be at most {limits[1]:,} {self.design.unit}, got {self.count:,}"
            )
        if self.epsilon is not None:
            checks.numbers(checks.positive(self.epsilon, "epsilon"), "epsilon", low=1e-8, high=700)
        if (
            self.error is not None
            and checks.positive(self.error, "error") >= self.widest * self.span
        ):
            raise ValueError(
                f"error must be < {self.widest * self.span:g}, the whole range, got error={self.error!r}"
            )
        if self.failure is not None:
            checks.open_probability(self.failure, "failure")
        checks.rate(self.response, "response")
        checks.numbers(self.releases, "releases", high=10**6)
        checks.choice(self.tail, "tail", among=("guaranteed", "normal"))
        if self.mechanism:
            checks.choice(self.mechanism, "mechanism", among=tuple(self.known))

    @property
    def span(self) -> float:
        """Length of the range of the values."""
        return self.high - self.low

    @property
    def candidates(self) -> tuple[str, ...]:
        """The mechanisms to plan for."""
        return (self.mechanism,) if self.mechanism else tuple(self.known)

    def with_value(self, name: str, value: Any) -> Self:
        """Return the question with one field changed."""
        return replace(self, **{name: value})

    @cached_property
    def law(self) -> Any:
        """The law of the estimate by the mechanism that is named."""
        return self.known[self.mechanism](self)

    @cached_property
    def sample(self) -> Design:
        """Who is asked for the mechanism that is named, people with values in ``[0, 1]``."""
        return self.design.at(int(self.count or 0), self.law.reports, self.span, self.response)

    @property
    def invited(self) -> tuple[int, ...]:
        """How many people to invite, per stratum."""
        return self.sample.invited(self.response, SHORT * float(self.failure or 0.05))

    def chance(self, tail: Tail | None = None) -> tuple[float, str]:
        """Return the chance of the error at the worst data, or a bound on it, and which; too few answers included."""
        law: Tail = "normal" if "normal" in (tail, self.tail) else tail or "guaranteed"
        chance, bound = self.law.failure(self.sample, float(self.error or 0) / self.span, law)
        if self.response < 1:
            empty = getattr(self.sample, "empty", None)
            chance = chance / (1 - SHORT) if empty is None else chance + empty
        return min(1.0, chance), bound

    @property
    def wobble(self) -> int:
        """How many counts below one that is enough may be enough although one in between is not."""
        simple = len(getattr(self.design, "sizes", ())) == 1
        return (
            MOST_STEPS
            if simple and self.central and self.binary and self.tail == "guaranteed"
            else 0
        )

    @property
    def feasible(self) -> bool:
        """Whether there is an answer."""
        return not self.reason

    @property
    def value(self) -> float:
        """What was asked; nan if there is no answer."""
        number: float = math.nan if self.reason else getattr(self, self.unknown)
        return number

    @property
    def least(self) -> bool:
        """Whether no smaller number will do; else it suffices, and smaller ones may."""
        return self.unknown != "count" or self.wobble <= MOST_STEPS

    @cached_property
    def promise(self) -> tuple[float, str]:
        """The chance of the error and its law or bound: "exact", "Chernoff", "Hoeffding", "Chebyshev" or "normal"."""
        return self.chance()

    @property
    def bound(self) -> str:
        """The law or bound of the error; none if there is no answer."""
        return "" if self.reason else self.promise[1]

    @property
    def central(self) -> bool:
        """Whether a curator needs the true values."""
        return self.mechanism == mechanisms.CURATOR

    @property
    def whom(self) -> str:
        """The people whom the error is promised for."""
        if self.sample.respondents:
            return "those who answer, not for a population they may be drawn from"
        return f"the population{f' of {self.sample.population:,}' if self.sample.population < MANY else ''}"

    @property
    def assumed(self) -> str:
        """What the promise takes as given, beside the design, in words; empty if nothing."""
        icc, sds = (
            getattr(self.design, "icc", None),
            getattr(self.design, "sds", None) or getattr(self.design, "sd", None),
        )
        words = [
            *([f"the intra-cluster correlation is {icc:g}"] if icc is not None else []),
            *(["standard deviations are as stated"] if sds else []),
            *(
                ["whether somebody answers does not depend on what they hold"]
                if self.response < 1
                else []
            ),
        ]
        return listed(words)

    @property
    def estimator(self) -> str:
        """The estimator that the error is promised for: one of `ldpnb.surveys.field_plan.ESTIMATORS`, or a gap's."""
        return "release" if self.central else self.sample.estimator

    @property
    def reported(self) -> float:
        """Loss of all reports of a person together, or of all that a curator releases, nats."""
        return float(self.epsilon or 0) * (1 if self.central else self.releases)

    @property
    def hidden(self) -> float:
        """Loss of all that is released if nobody who sees it can know who was asked, nats."""
        return self.reported if self.central else self.sample.loss(self.reported, self.invited)

    @property
    def noise(self) -> float:
        """Scale of a curator's noise on the estimate, in the unit of the values; 0 of reports."""
        return float(self.law.noise) * self.span

    @property
    def variance(self) -> Variance | None:
        """Variance of the estimate at the worst data, in the values' unit squared; none of a gap."""
        square, worst = self.span**2, self.sample.variance(self.law.reports)
        return Variance(
            square * worst.sampling, square * (worst.randomisation + 2 * self.law.noise**2)
        )


@dataclass(frozen=True, kw_only=True)
class Frequency(Question):
    """The shares of people who hold each of some values.

    - `values`, int: number ``k >= 2`` of values.
    - `simultaneous`, bool: whether the error is that of all ``k`` shares at once, or of any one of them.
    """

    values: int = 2
    simultaneous: bool = False

    known: ClassVar = mechanisms.SHARES
    binary: ClassVar = True
    sensitivity: ClassVar = 2.0

    def __post_init__(self) -> None:
        checks.plain(self, values=2)
        checks.numbers(self.values, "values", high=MOST_VALUES)
        Question.__post_init__(self)

    @property
    def events(self) -> int:  # type: ignore[override]
        """Estimates whose errors must all be met."""
        return self.values if self.simultaneous else 1


@dataclass(frozen=True, kw_only=True)
class Mean(Question):
    """The mean of numbers in a known range.

    - `low`, `high`, float: the range, known beforehand. Values outside must be clipped by their holder.
    - `binary`, bool: whether values are `low` or `high` only.
    """

    low: float = 0.0  # type: ignore[misc]
    high: float = 1.0  # type: ignore[misc]
    binary: bool = False  # type: ignore[misc]

    @property
    def known(self) -> mechanisms.Laws:  # type: ignore[override]
        """The mechanisms there are."""
        return mechanisms.BINARY_MEANS if self.binary else mechanisms.MEANS


@dataclass(frozen=True, kw_only=True)
class Gap(Question):
    """The gap between the means of two groups of those who answer, when both value and group are sensitive.

    - `shares`, tuple of float: share of the people in every group; the first two are compared.
    - `low`, `high`, float: range of the values, known beforehand.
    """

    low: float = 0.0  # type: ignore[misc]
    high: float = 1.0  # type: ignore[misc]
    shares: tuple[float, ...] = (0.5, 0.5)

    widest: ClassVar = 2.0
    estimator: ClassVar = "gap"
    variance: ClassVar = None

    def __post_init__(self) -> None:
        checks.plain(self)
        if not self.design.respondents:
            raise ValueError(f"design of a gap must be everyone, got {self.design}")
        checks.distribution(self.shares, "shares")
        if len(self.shares) < 2 or min(self.shares) <= 0:
            raise ValueError(
                f"shares must be > 0 for at least two groups, got shares={self.shares!r}"
            )
        Question.__post_init__(self)

    @property
    def wobble(self) -> int:
        """How many counts below one that is enough may be enough: groups are rounded to whole people."""
        return math.ceil(2 / min(self.shares)) if len(set(self.shares)) > 1 else 0

    @property
    def groups(self) -> tuple[int, ...]:
        """People in every group, at least 1 each: shares by largest remainder."""
        whole = largest_remainder(np.array(self.shares) * int(self.count or 0))
        return tuple(np.maximum(whole, 1).tolist())

    @property
    def known(self) -> mechanisms.Laws:  # type: ignore[override]
        """The mechanisms there are."""
        uneven = len(self.shares) == 2 and abs(self.shares[0] - self.shares[1]) > 1e-12
        return mechanisms.UNEVEN_GAPS if uneven else mechanisms.GAPS
