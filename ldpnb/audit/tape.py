"""The random choices of a client, one path after another.

A client is run again and again. A `Tape` holds the choices of one run. The next run repeats all of
them but the last, so that every path of the client is taken exactly once.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

DEEPEST = 500
"""Choices on one path, beyond which a client is taken to loop for ever."""


class AuditError(ValueError):
    """The client does something that an exact audit cannot follow."""


class Left(BaseException):
    """A path was left before its end. No `Exception`, so that a client does not handle it."""


class Tape:
    """The choices of one run of a client, and the probability of its path.

    Parameters
    ----------
    limit : int
        The largest number of paths, over all inputs.
    cut : Fraction
        Paths that are less likely than this are left; 0 to leave none.

    Attributes
    ----------
    paths : int
        How many paths were begun.
    depth, steps, runs : int
        How many choices this run has made, all choices that were made, and all runs.
    is_over : bool
        Whether this run was left before its end.
    lost : Fraction
        The probability of all paths that were left, since the last `start`.
    refusal : str
        Why the client cannot be followed, empty while it can.
    """

    def __init__(self, limit: int, cut: Fraction) -> None:
        self.limit = limit
        self.cut = cut
        self.paths = 0
        self.steps = 0
        self.runs = 0
        self.refusal = ""
        self._forget()

    def _forget(self) -> None:
        self.lost = Fraction(0)
        self._weights: list[Sequence[int]] = []
        self._branches: list[int] = []
        self._favourable: list[int] = [1]
        self._possible: list[int] = [1]
        self.rewind()

    def start(self) -> None:
        """Forget every choice: the next run takes the first path of another input."""
        self._forget()
        self._count_path()

    def rewind(self) -> None:
        """Return to the beginning of the path."""
        self.runs += 1
        self.depth = 0
        self.is_over = False

    @property
    def is_complete(self) -> bool:
        """Whether this run has made every choice of the path."""
        return self.depth == len(self._branches)

    @property
    def mass(self) -> tuple[int, int]:
        """The probability of the path: favourable and possible cases, not reduced."""
        return self._favourable[-1], self._possible[-1]

    @property
    def path(self) -> list[tuple[Sequence[int], int]]:
        """Every choice of the path: the weights of its branches, and the branch taken."""
        return list(zip(self._weights, self._branches, strict=True))

    def repeat(self, path: list[tuple[Sequence[int], int]]) -> None:
        """Make the next run take a path again."""
        self._weights = [weights for weights, _ in path]
        self._branches = [branch for _, branch in path]
        self.rewind()

    def advance(self) -> bool:
        """Move to the next path; return False after the last."""
        while self._branches:
            weights = self._weights[-1]
            for branch in range(self._branches[-1] + 1, len(weights)):
                if self._take(branch):
                    self.rewind()
                    self._count_path()
                    return True
            self._forget_last()
        return False

    def choose(self, weights: Sequence[int]) -> int:
        """Return the branch that this path takes, by its index.

        Parameters
        ----------
        weights : sequence of int
            The weight of each branch, which is its probability times their sum.
        """
        if self.is_over:  # the client handled even that its path was left
            raise Left
        self.steps += 1
        depth = self.depth
        if depth == len(self._branches):
            self._add(weights)
        elif self._weights[depth] is not weights and self._weights[depth] != weights:
            self.refuse("does not repeat itself: it remembers something between calls")
        self.depth = depth + 1
        return self._branches[depth]

    def below(self, count: int) -> int:
        """Return one of `count` equally likely integers, from 0."""
        if count > self.limit:
            self.refuse(f"draws one of {count:,} integers, more than the limit of {self.limit:,}")
        return 0 if count == 1 else self.choose(_equal(count))

    def chance(self, probability: float) -> bool:
        """Return whether something of this probability happens."""
        favourable, possible = float(probability).as_integer_ratio()
        if favourable in (0, possible):
            return favourable == possible
        return self.choose((favourable, possible - favourable)) == 0

    def order(self, count: int, size: int) -> list[int]:
        """Return `size` different integers below `count`; every order is equally likely."""
        left = list(range(count))
        return [left.pop(self.below(len(left))) for _ in range(size)]

    def refuse(self, what: str) -> NoReturn:
        """End the audit, even if the client handles every exception."""
        self.refusal = self.refusal or f"the client {what}"
        self.leave()

    def leave(self) -> NoReturn:
        """Leave the path before its end."""
        self.is_over = True
        raise Left

    def _add(self, weights: Sequence[int]) -> None:
        """Add a choice, and take its first branch that is not left."""
        if self.depth >= DEEPEST and not self.cut:
            self.refuse(
                f"makes more than {DEEPEST:,} random choices on one path; "
                "if it has a loop that may never end, give cut=1e-12"
            )
        self._weights.append(weights)
        self._branches.append(-1)
        self._favourable.append(0)
        self._possible.append(self._possible[-1] * sum(weights))

        if not any(self._take(branch) for branch in range(len(weights))):
            self._forget_last()
            self.leave()

    def _take(self, branch: int) -> bool:
        """Take a branch of the last choice, unless it is impossible or too unlikely."""
        favourable = self._favourable[-2] * self._weights[-1][branch]
        if favourable == 0:
            return False
        if self.cut:
            mass = Fraction(favourable, self._possible[-1])
            if mass < self.cut:
                self.lost += mass
                return False

        self._favourable[-1] = favourable
        self._branches[-1] = branch
        return True

    def _forget_last(self) -> None:
        for values in (self._weights, self._branches, self._favourable, self._possible):
            values.pop()

    def _count_path(self) -> None:
        self.paths += 1
        if self.paths > self.limit:
            self.refusal = (
                f"the client has more than {self.limit:,} paths: "
                "give fewer or smaller inputs, or raise the limit"
            )
            raise AuditError(self.refusal)


@lru_cache(maxsize=64)
def _equal(count: int) -> tuple[int, ...]:
    return (1,) * count
