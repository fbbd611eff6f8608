"""The randomising device: what a respondent reports, given the true answer.

Every report is turned into an *unbiased value*: a number whose expectation over the device is the
true answer, whatever that is. A survey of randomised reports is then an ordinary survey of these
values.
"""

import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.checks import shown
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.survey.tables import word_of

SHARES = ("k-RR", "SUE", "OUE")
"""Mechanisms for the shares of several answers that are stated by their budget."""

NUMBERS = ("1-bit", "Laplace")
"""Mechanisms for the mean of a number in a range."""

MECHANISMS = ("Warner", *SHARES, "unary", *NUMBERS)
"""Every mechanism that `device` knows."""

BUDGETS = (1e-6, 50.0)
"""The smallest and the largest epsilon of a mechanism that is stated by its budget."""

MOST_ANSWERS = 100_000

_LARGEST_ODDS = 10**300

_LEAST_GAP = 1e-12
"""Probabilities p and q that are stated differ by at least this."""

_FRACTION = re.compile(r"(\d{1,15})/(\d{1,15})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A randomising device whose probabilities are known; `device` makes it.

    Parameters
    ----------
    mechanism : str
        One of `MECHANISMS`.
    epsilon : float
        The exact privacy loss: a report is at most ``e^epsilon`` times as likely under one true
        answer as under another. It is infinite if some report rules a true answer out.
    odds : Fraction, optional
        ``e^epsilon`` as a fraction, for a device that is stated by fractions.
    p, q : float
        Probability that a report says *yes* (supports an answer) if that is the truth, and if it
        is not. They differ; `p` may be the smaller one.
    gap : float
        ``p - q``, given apart because it cancels where epsilon is small.
    scale : float
        Scale of the Laplace noise, in lengths of the range.
    answers : tuple of str
        The possible answers; of a yes/no question the words for yes and for no.
    low, high : float
        The range of the number; 0 and 1 for shares.
    """

    mechanism: str
    epsilon: float
    odds: Fraction | None = None
    p: float = math.nan
    q: float = math.nan
    gap: float = math.nan
    scale: float = 0.0
    answers: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0

    @property
    def is_unary(self) -> bool:
        """Whether a report has a bit for each answer."""
        return self.mechanism in ("SUE", "OUE", "unary")

    @property
    def is_noisy(self) -> bool:
        """Whether reports are numbers with Laplace noise, and not bits."""
        return self.mechanism == "Laplace"

    @property
    def is_of_numbers(self) -> bool:
        """Whether the true answer is a number in a range, and not one of several answers."""
        return self.mechanism in NUMBERS

    @property
    def length(self) -> float:
        """The length of the range."""
        return self.high - self.low

    @property
    def estimated(self) -> tuple[str, ...]:
        """What is estimated: "mean", or the answers whose shares are."""
        if self.is_of_numbers:
            return ("mean",)
        return self.answers[:1] if self.mechanism == "Warner" else self.answers

    @property
    def base(self) -> float:
        """Variance of the unbiased value of somebody who does not hold the answer."""
        if self.is_noisy:
            return 2 * self.scale**2
        return self.q * (1 - self.q) / self.gap**2

    @property
    def slope(self) -> float:
        """How much larger that variance is for somebody who holds the answer."""
        return 0.0 if self.is_noisy else (1 - self.p - self.q) / self.gap

    def value(self, reports: Any) -> Any:
        """Return the unbiased values of bits; noisy numbers are unbiased as they are."""
        return reports if self.is_noisy else (reports - self.q) / self.gap

    def variance(self, truth: Any) -> Any:
        """Return the variance of the unbiased value of a report if `truth`, in ``[0, 1]``, is true.

        It is linear in `truth`, and so unbiased at an unbiased value, except for a bit that stands
        for a number. There rounding adds ``truth (1 - truth)``.
        """
        rounding = truth * (1 - truth) if self.mechanism == "1-bit" else 0.0
        return self.base + self.slope * truth + rounding

    def upright(self) -> "Device":
        """Return the device with ``p > q``: if need be that in which yes and no are exchanged."""
        if self.is_noisy or self.p > self.q:
            return self
        return replace(self, p=1 - self.p, q=1 - self.q, gap=-self.gap)

    def at(self, epsilon: float) -> "Device":
        """Return the same mechanism at another budget."""
        chances = _of_budget(self.mechanism, epsilon, len(self.answers))
        return replace(self, epsilon=epsilon, **chances)


def device(
    *,
    p: float | str | None = None,
    q: float | str | None = None,
    mechanism: str | None = None,
    epsilon: float | None = None,
    values: int | Sequence[str] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Device:
    """Return the device that is stated by its probabilities, or by a mechanism and its budget.

    Parameters
    ----------
    p, q : float or str, optional
        Probability of a *yes* from somebody whose true answer is yes, and from somebody whose true
        answer is no, ``0 <= q <= 1`` and ``0 <= p <= 1``, not equal. Numbers or fractions such as
        ``"5/6"``. For unary encoding they are those of one bit.
    mechanism : str, optional
        One of `MECHANISMS`. If left out it is one bit for a number in a range, k-ary randomised
        response (k-RR) for three answers or more, and Warner's yes/no question else.
    epsilon : float, optional
        The privacy budget, instead of `p` and `q`.
    values : int or sequence of str, optional
        The possible answers or their number; of a yes/no question the words for yes and for no.
    low, high : float, optional
        The range of a number whose mean is asked for.

    Returns
    -------
    Device
        It has its exact epsilon.

    Raises
    ------
    ValueError
        If the device is not stated, is stated twice, or cannot tell answers apart.

    Notes
    -----
    *Warner's question*: with probability `t` the statement "I have", else "I have not": ``p = t``
    and ``q = 1 - t``. *Forced response*: the truth with probability `t`, yes with `y`, no else:
    ``p = t + y`` and ``q = y``. *Unrelated question* with a known share `s` of yes, asked with
    probability ``1 - t``: ``p = t + (1 - t) s`` and ``q = (1 - t) s``. *Basic RAPPOR* calls the two
    probabilities of a bit by the other letters in some papers: here `p` belongs to the true answer.

    References
    ----------
    Warner (1965); Boruch (1971) and Fox and Tracy (1986) for forced response; Greenberg et al.
    (1969) for the unrelated question; Wang et al. (2017) for unary encoding.

    Examples
    --------
    With a die, 1 is a forced yes, 6 a forced no, and all else the truth.

    >>> die = device(p="5/6", q="1/6")
    >>> round(die.epsilon, 6), die.odds
    (1.609438, Fraction(5, 1))
    >>> device(p=1, q=0.5).epsilon
    inf
    """
    answers = _answers(values)
    is_ranged = low is not None or high is not None
    if mechanism is None:
        mechanism = "1-bit" if is_ranged else "k-RR" if len(answers) > 2 else "Warner"
    checks.choice(mechanism, "mechanism", among=MECHANISMS)
    low, high = _range(mechanism, low, high)

    if mechanism in NUMBERS and answers:
        raise ValueError(f"values must not be given with {mechanism}, which takes a number")
    if mechanism == "Warner":
        answers = answers or ("yes", "no")
        if len(answers) > 2:
            raise ValueError(f"Warner needs exactly 2 values, got {len(answers)}")
    elif mechanism not in NUMBERS and not answers:
        raise ValueError(f"{mechanism} needs values: the possible answers, or their number")

    if p is None and q is None:
        if epsilon is None:
            raise ValueError("the device must be given by p and q, or by epsilon")
        if mechanism == "unary":
            raise ValueError("unary needs p and q; give epsilon with SUE or OUE instead")
        smallest, largest = BUDGETS
        budget = float(checks.positive(epsilon, "epsilon"))
        if not smallest <= budget <= largest:
            raise ValueError(f"epsilon must lie in [{smallest:g}, {largest:g}], got {epsilon!r}")
        chances = _of_budget(mechanism, budget, len(answers)) | {"epsilon": budget}
    else:
        if p is None or q is None:
            raise ValueError("p and q must be given together")
        if epsilon is not None:
            raise ValueError("epsilon must not be given with p and q, because they determine it")
        if mechanism in ("SUE", "OUE", "Laplace"):
            other = "" if mechanism == "Laplace" else "; give p and q with unary instead"
            raise ValueError(f"{mechanism} needs epsilon{other}")
        chances = _of_probabilities(mechanism, _chance(p, "p"), _chance(q, "q"), len(answers))
    return Device(mechanism=mechanism, answers=answers, low=low, high=high, **chances)


def _answers(values: int | Sequence[str] | None) -> tuple[str, ...]:
    """Return the words of the possible answers: 1 to k if only their number is known."""
    if values is None:
        return ()
    if isinstance(values, int | float | np.number):
        number = checks.whole(values, "values", at_least=2, at_most=MOST_ANSWERS)
        return tuple(str(place + 1) for place in range(number))

    if isinstance(values, Set):
        raise ValueError("values must be in order, got a set: the first answer is the yes")
    words = tuple(word_of(word) for word in values)
    if isinstance(values, str) or len(words) < 2:
        raise ValueError(f"values must be at least two words, got {checks.shortened(values)}")
    if "" in words or len(set(words)) < len(words):
        raise ValueError(f"values must be different words, got {checks.shortened(list(words))}")
    return words


def _range(mechanism: str, low: float | None, high: float | None) -> tuple[float, float]:
    """Return the range of a number; 0 and 1 for shares."""
    if mechanism not in NUMBERS:
        if low is not None or high is not None:
            raise ValueError(f"a range must not be given with {mechanism}, which estimates shares")
        return 0.0, 1.0

    if low is None or high is None:
        raise ValueError(f"{mechanism} needs a range: low and high")
    ends = checks.numbers([low, high], "range")
    if not ends[0] < ends[1]:
        raise ValueError(f"low must be < high, got low={low!r}, high={high!r}")
    if not float(ends[1]) - float(ends[0]) < math.inf:
        raise ValueError(f"high - low must be finite, got low={low!r}, high={high!r}")
    return float(ends[0]), float(ends[1])


def _chance(given: Any, name: str) -> Fraction:
    """Return a probability exactly: 0.7 is 7/10."""
    text = str(given).strip()
    try:
        if parts := _FRACTION.fullmatch(text):
            chance = Fraction(int(parts[1]), int(parts[2]))
        else:
            chance = Fraction(repr(float(text)))
    except (ValueError, ZeroDivisionError):
        found = checks.shortened(given)
        raise ValueError(f"{name} must be a number or a fraction, got {found}") from None
    if not 0 <= chance <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {name}={shown(text)}")
    digits = text.lower().partition("e")[0]
    if chance == 0 and any(digit in "123456789" for digit in digits):
        raise ValueError(f"{name} must be a number that a float can hold, got {shown(text)}")
    return chance


def _of_budget(mechanism: str, epsilon: float, answers: int) -> dict[str, Any]:
    if mechanism == "Laplace":
        return {"scale": 1 / epsilon}
    name = mechanism if mechanism in SHARES else "k-RR"
    rates = FREQUENCY[name](epsilon, max(answers, 2))
    return {"p": float(rates.p), "q": float(rates.q), "gap": float(rates.truthful_rate)}


def _of_probabilities(mechanism: str, p: Fraction, q: Fraction, answers: int) -> dict[str, Any]:
    if abs(p - q) < _LEAST_GAP:
        raise ValueError(
            f"p and q must differ by {_LEAST_GAP:g} or more, or reports say nothing, "
            f"got p={float(p)!r}, q={float(q)!r}"
        )

    total = p + (answers - 1) * q
    if mechanism == "k-RR" and abs(total - 1) > 1e-9:
        raise ValueError(
            f"p + (k - 1) q must be 1 for k = {answers} answers, got {float(total):.9g}; if a "
            "report has a bit for each answer, the mechanism is unary"
        )

    yes = _odds(p, q)
    no = _odds(1 - q, 1 - p)
    if mechanism == "k-RR":
        odds = yes
    elif mechanism == "unary":  # two answers differ in two bits
        odds = None if yes is None or no is None else yes * no
    else:
        odds = None if yes is None or no is None else max(yes, no)
    epsilon = math.inf if odds is None else _log(odds)
    return {"p": float(p), "q": float(q), "gap": float(p - q), "odds": odds, "epsilon": epsilon}


def _odds(first: Fraction, second: Fraction) -> Fraction | None:
    """Return the ratio of two probabilities that is at least 1; None if it is infinite."""
    if first == 0 or second == 0:
        return None
    return max(first / second, second / first)


def _log(odds: Fraction) -> float:
    """Return ``ln(odds)``, also of odds near 1 and of odds that no float holds."""
    if odds > _LARGEST_ODDS:
        return math.log(odds.numerator) - math.log(odds.denominator)
    return math.log1p(float(odds - 1))
