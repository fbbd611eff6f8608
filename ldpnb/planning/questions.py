"""What is known and what is asked: one quantity of a question is None, and `ldpnb.planning.solve` computes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ldpnb import checks
from ldpnb.planning.design import Design, Draw

Protects = Literal["report", "release"]

MOST_USERS, MOST_VALUES = 10**12, 10**9
"""Largest numbers that a question may give or an answer be: up to there the laws and tails are right to eight digits.

Beyond, floats no longer tell the expected numbers from their neighbours, and the law of a sum of noise, listed over
many multiples of the root of the number of users, no longer fits into memory.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What frequencies, means and gaps have in common.

    Parameters
    ----------
    users : int, optional
        Number of users, whether they report or not.
    epsilon : float, optional
        Privacy budget, nats, in ``[1e-8, 700]``.
    error : float, optional
        The estimate shall be off by less than this.
    failure : float, optional
        Except with this probability.
    design : Design
        Who reports. Its sampling rate may be what is asked.
    protects : {"report", "release"}
        What `epsilon` bounds: the loss of every single report, or of all that is released after sampling and
        shuffling.
    bits : int, optional
        Most bits that a user may send.
    """

    users: int | None = None
    epsilon: float | None = None
    error: float | None = None
    failure: float | None = None
    design: Design = field(default_factory=Design)
    protects: Protects = "report"
    bits: int | None = None

    quantities: ClassVar[tuple[str, ...]] = ("users", "epsilon", "error", "failure")
    """What may be asked, besides the sampling rate."""
    exact_law: ClassVar[str] = ""
    """The law behind the exact tail of an answer, in words."""

    def __post_init__(self) -> None:
        checks.plain(self)
        for name, least, most in (("users", 2, MOST_USERS), ("values", 2, MOST_VALUES), ("bits", 1, np.inf)):
            value = getattr(self, name, None)
            if value is not None:
                object.__setattr__(self, name, checks.whole(at_least=least, **{name: value}))
                _check_most(name, value, most)
        if self.epsilon is not None:
            checks.numbers(epsilon=checks.positive(epsilon=self.epsilon), low=1e-8, high=700)
        if self.error is not None:
            checks.positive(error=self.error)
        if self.failure is not None:
            checks.open_probability(failure=self.failure)
        checks.choice(protects=self.protects, among=("report", "release"))
        if self.error is not None and self.error >= self.scale:
            raise ValueError(f"error must be < {self.scale:g}, the whole range, got error={self.error!r}")
        if self.protects == "release" and not self.design.amplifies:
            raise ValueError(
                "protects=release needs a simple random sample or a shuffler: otherwise what is released loses what a "
                f"report loses, got design {self.design.kind}"
            )

    @property
    def scale(self) -> float:
        """Largest possible error."""
        return 1.0

    @property
    def relative_error(self) -> float:
        """Target error over the largest possible one, 0 if it is what is asked."""
        return float(self.error or 0) / self.scale

    @property
    def draw(self) -> Draw:
        """How many of the users report."""
        return self.design.draw(int(self.users or 0))

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        raise NotImplementedError

    @property
    def unknown(self) -> str:
        """Return the name of the one quantity that is not given.

        Raises
        ------
        ValueError
            If there is none or more than one.
        """
        rates = ("sampling_rate",) if self.design.kind != "everyone" else ()
        missing = [name for name in self.quantities if getattr(self, name) is None]
        missing += [name for name in rates if self.design.sampling_rate is None]
        if len(missing) != 1:
            left = "nothing is left out" if not missing else f"{_listed(missing)} are left out"
            names = _listed((*self.quantities, *rates))
            raise ValueError(f"exactly one of {names} must be left out, to be computed; {left}")
        return missing[0]

    def with_value(self, name: str, value: Any) -> Self:
        """Return the question with one quantity given."""
        if name == "sampling_rate":
            return replace(self, design=replace(self.design, sampling_rate=value))
        return replace(self, **{name: value})

    def with_users(self, users: int) -> Self:
        """Return the question for that many users, or the next larger number that is possible."""
        return self.with_value("users", users)

    def known(self) -> dict[str, Any]:
        """Return what is given, for printing."""
        names = [f.name for f in fields(self) if f.name not in ("design", "protects")]
        given = {name: getattr(self, name) for name in names if getattr(self, name) not in (None, False)}
        if self.design.sampling_rate is not None:
            given["sampling_rate"] = self.design.sampling_rate
        return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(Question):
    """The shares of users who hold each of some values.

    Parameters
    ----------
    values : int, optional
        Number ``k >= 2`` of values.
    simultaneous : bool
        Whether all ``k`` shares must be met at once, or any one of them.
    """

    values: int | None = None
    simultaneous: bool = False

    quantities: ClassVar[tuple[str, ...]] = ("users", "epsilon", "error", "failure", "values")
    exact_law: ClassVar[str] = "the law of the reports at the worst share of holders"

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        which = "all shares at once" if self.simultaneous else "any one share"
        return which if self.values is None else f"{self.values:,} values, {which}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Question):
    """The mean of numbers in a known range.

    Parameters
    ----------
    low, high : float
        The range, known beforehand. Values outside must be clipped by the user.
    binary : bool
        Whether values are `low` or `high` only.
    """

    low: float = 0.0
    high: float = 1.0
    binary: bool = False

    exact_law: ClassVar[str] = (
        "the law of the reports at the worst data (for one bit: Hoeffding 1956), of the noise otherwise"
    )

    def __post_init__(self) -> None:
        checks.plain(self)
        _check_range(self.low, self.high)
        Question.__post_init__(self)

    @property
    def scale(self) -> float:
        """Largest possible error."""
        return self.high - self.low

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        ends = f"{self.low:g} or {self.high:g}" if self.binary else f"in [{self.low:g}, {self.high:g}]"
        return f"the mean of values {ends}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Question):
    """The gap between the means of two groups, when both value and group are sensitive.

    Parameters
    ----------
    shares : tuple of float
        Share of the users in every group; the first two are compared. Not used if `sizes` are given.
    sizes : tuple of int, optional
        Users of every group.
    low, high : float
        Range of the values, known beforehand; rates are in ``[0, 1]``.
    """

    shares: tuple[float, ...] = (0.5, 0.5)
    sizes: tuple[int, ...] | None = None
    low: float = 0.0
    high: float = 1.0

    exact_law: ClassVar[str] = (
        "the law of the reports at the worst data for signs (Hoeffding 1956), of the noise otherwise"
    )

    def __post_init__(self) -> None:
        checks.plain(self)
        _check_range(self.low, self.high)
        checks.distribution(shares=self.shares)
        if len(self.shares) < 2 or min(self.shares) <= 0:
            raise ValueError(f"shares must be > 0 for at least two groups, got shares={self.shares!r}")
        if self.sizes is not None:
            if all(isinstance(size, int) for size in self.sizes):
                _check_most("sizes", float(checks.numbers(sizes=self.sizes).max(initial=0)), MOST_USERS)
            numbers = checks.counts(sizes=self.sizes, minimum_size=2)
            _check_most("sizes", int(numbers.max()), MOST_USERS)
            if numbers.min() < 1:
                raise ValueError(f"sizes must be >= 1, got sizes={self.sizes!r}")
            if self.users is not None and self.users != numbers.sum():
                raise ValueError(f"users must be the sum of sizes, {numbers.sum()}, got users={self.users!r}")
            object.__setattr__(self, "users", int(numbers.sum()))
        Question.__post_init__(self)

    @property
    def scale(self) -> float:
        """Largest possible error."""
        return 2 * (self.high - self.low)

    @property
    def subject(self) -> str:
        """What is estimated, in words."""
        sizes = [f"{n:,}" for n in self.sizes or ()]
        groups = f"sizes {' : '.join(sizes)}" if sizes else f"shares {' : '.join(f'{s:g}' for s in self.shares)}"
        return (
            f"the gap between the first two of {len(self.sizes or self.shares)} groups ({groups}), "
            f"values in [{self.low:g}, {self.high:g}]"
        )

    @property
    def groups(self) -> tuple[int, ...]:
        """Return the users of every group, at least 1 each: shares of the users by largest remainder."""
        if self.sizes is not None:
            return self.sizes
        total = int(self.users or 0)
        wanted = [share * total for share in self.shares]
        numbers = [int(w + 1e-9) for w in wanted]
        order = sorted(range(len(wanted)), key=lambda g: numbers[g] - wanted[g])
        for group in order[: total - sum(numbers)]:
            numbers[group] += 1
        return tuple(max(1, number) for number in numbers)

    @property
    def even(self) -> bool:
        """Whether the two groups compared are of one size."""
        return self.equal if self.sizes is None else self.sizes[0] == self.sizes[1]

    @property
    def equal(self) -> bool:
        """Whether all groups have the same share."""
        return self.sizes is None and max(self.shares) - min(self.shares) < 1e-12

    def with_users(self, users: int) -> Self:
        """Return the question for that many users; groups of equal shares get equal numbers."""
        groups = len(self.shares)
        return self.with_value("users", max(groups, -(-users // groups) * groups if self.equal else users))


def _check_range(low: float, high: float) -> None:
    checks.numbers(range=(low, high))
    if not low < high:
        raise ValueError(f"low must be < high, got low={low!r}, high={high!r}")
    checks.positive(range=high - low)


def _check_most(name: str, value: float, most: float) -> None:
    if value > most:
        shown = f"{value:,}" if value < 10**16 else f"{value:g}"
        raise ValueError(f"{name} must be at most {most:,}, the most that is planned for, got {shown}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
