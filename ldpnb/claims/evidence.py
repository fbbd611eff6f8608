"""What the check of a claim gathers, and what is known about the claim once it has run."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Status = Literal["holds", "holds with a change", "fails", "not settled", "answered"]
How = Literal["proved", "proved, with a step in words", "computed", "simulated"]


class UnsoundError(Exception):
    """The evidence does not bear a verdict: two routes disagree, or a step of a proof fails."""


class Evidence:
    """What a check has found so far.

    Four methods are about the claim itself: `decides` takes a proof or a counterexample, `needs` a
    condition that was computed, `simulated` one that was simulated, and `tried` one case of a
    statement about many. Three are about the evidence: `proven` takes a step of a proof, `same` two
    routes to one value, and `sure` anything else that the evidence rests on. When one of these
    three fails, the check ends there and the claim is not settled.

    Attributes
    ----------
    holds : bool
        Whether everything that the claim states was found to be true.
    """

    def __init__(self) -> None:
        self.holds = True
        self._proved = False
        self._simulated = False
        self._only_tried = False

    def decides(self, answer: bool | None) -> None:
        """Take a decider's answer about the claim, for every parameter that it covers."""
        self.sure(answer is not None, "the decider found neither a proof nor a counterexample")
        self.holds &= bool(answer)
        self._proved = True

    def needs(self, condition: object) -> None:
        """Require what the claim states about the very cases that were computed."""
        self.holds &= bool(condition)

    def tried(self, condition: object) -> None:
        """Try one case of a claim about many: it can fail here, but cannot be settled."""
        self.holds &= bool(condition)
        self._only_tried = True

    def simulated(self, condition: object, *, false_alarm: float) -> None:
        """Require what the claim states, tested on simulated data.

        Parameters
        ----------
        condition : object
            The outcome of the test.
        false_alarm : float
            The probability that the test rejects a claim that is true, at most 1e-6.

        Raises
        ------
        ValueError
            If the probability is larger.
        """
        if not 0 < false_alarm <= 1e-6:
            raise ValueError(f"false_alarm must lie in (0, 1e-6], got false_alarm={false_alarm!r}")
        self.holds &= bool(condition)
        self._simulated = True

    def proven(self, answer: bool | None) -> None:
        """Require a step of the proof, answered by a decider for every parameter."""
        finding = "false" if answer is False else "undecided"
        self.sure(answer is True, f"a step of the proof is {finding}")
        self._proved = True

    def same(self, one: ArrayLike, other: ArrayLike, **tolerance: float) -> None:
        """Require that two independent routes to a value agree (see `agree`)."""
        if not agree(one, other, **tolerance):
            first = f"{np.asarray(one)!r:.60}"
            second = f"{np.asarray(other)!r:.60}"
            raise UnsoundError(f"two routes disagree: {first} and {second}")

    def sure(self, condition: object, doubt: str = "the evidence itself is in doubt") -> None:
        """Require something that the evidence rests on."""
        if not condition:
            raise UnsoundError(doubt)

    def how(self, *, step_in_words: bool) -> How:
        """Return how the claim was decided: the weakest kind of evidence that was used.

        Parameters
        ----------
        step_in_words : bool
            Whether the words of the claim have a ``step``, which no decider checks.
        """
        if self._simulated:
            return "simulated"
        if self._only_tried or not self._proved:
            return "computed"
        if step_in_words:
            return "proved, with a step in words"
        return "proved"

    def status(self, *, question: bool, changed: str) -> Status:
        """Return the status of the claim.

        Parameters
        ----------
        question : bool
            Whether the source asks rather than claims.
        changed : {"change", "instead", ""}
            The key by which the words say that the source is wrong, if they do.

        Raises
        ------
        UnsoundError
            If the words say that the source is wrong and the evidence does not, or the reverse.
        """
        if question:
            self.sure(self.holds, "the answer given does not hold")
            return "answered"

        if not self.holds:
            self.sure(changed, "the claim does not hold, and nobody has written what does")
            return "holds with a change" if changed == "change" else "fails"

        self.sure(not changed, "the evidence finds no fault, though the words name one")
        return "not settled" if self._only_tried else "holds"


def agree(one: ArrayLike, other: ArrayLike, *, rel: float = 1e-9, abs: float = 1e-12) -> bool:
    """Return whether two routes to a value, or to values of one shape, agree.

    Parameters
    ----------
    one, other : array_like
        The two results.
    rel, abs : float
        The largest relative and absolute difference of two that agree.

    Examples
    --------
    >>> agree(0.1 + 0.2, 0.3), agree([1.0, 2.0], [1.0, 2.1]), agree(1.0, [1.0])
    (True, False, False)
    """
    if np.shape(one) != np.shape(other):
        return False
    return bool(np.allclose(one, other, rtol=rel, atol=abs))
