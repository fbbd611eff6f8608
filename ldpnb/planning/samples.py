"""Simple random samples of known size: variance of the mean, bounds on its tails, invitations, and losses.

The mean is that of unbiased reports of values in ``[0, 1]``, of every part of the population, weighted by size.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ldpnb.arithmetic import read_only
from ldpnb.planning.reports import Reports, UnableError, Variance, largest
from ldpnb.privacy.subsampling import srs_loss

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parts:
    """Simple random samples of the parts of a population: of its strata, or of the whole.

    Parameters
    ----------
    sizes, answers : tuple of int
        People in each part, and of those who answer.
    s2 : tuple of float, optional
        Variance of the values in each; the worst if left out.
    respondents : bool
        Whether nobody is meant but those who answer.
    """

    sizes: tuple[int, ...]
    answers: tuple[int, ...]
    s2: tuple[float, ...] | None = None
    respondents: bool = False

    @property
    def population(self) -> int:
        """People there are."""
        return sum(self.sizes)

    @property
    def people(self) -> int:
        """People who answer."""
        return sum(self.answers)

    @property
    def _weights(self) -> Floats:
        return np.array(self.sizes) / self.population

    def variance(self, reports: Reports) -> Variance:
        """Return the largest variance of the mean: ``sum of W_h^2 [(1 - n_h/N_h) S2_h + v_h] / n_h``."""
        known = self.s2 or [None] * len(self.sizes)
        rows = zip(self.sizes, self.answers, known, strict=True)
        worst = [largest(reports, 1 / n - 1 / size, 1 / n, size, s2) for size, n, s2 in rows]
        squares = self._weights**2
        sampling, noise = (squares @ [getattr(one, part) for one in worst] for part in ("sampling", "randomisation"))
        return Variance(float(sampling), float(noise))

    def exponent(self, tilts: Floats, reports: Reports) -> Floats:
        """Return a bound on ``ln E exp(tilt (mean - truth))`` over all values, ``(tilts,)``."""
        each = np.multiply.outer(tilts, self._weights)
        return np.asarray(exponent(each, np.array(self.answers), np.array(self.sizes), reports).sum(axis=-1))

    def invited(self, response: float, failure: float) -> tuple[int, ...]:
        """Return how many people to invite in each part so that all have enough answers but for a chance `failure`."""
        each = failure / len(self.sizes)
        numbers = tuple(invitations(n, response, each) for n in self.answers)
        for number, answers, size in zip(numbers, self.answers, self.sizes, strict=True):
            if number > size and not self.respondents:
                raise UnableError(f"{number:,} of {size:,} people would have to be invited for {answers:,} answers")
        return numbers

    def loss(self, epsilon: float, invited: tuple[int, ...]) -> float:
        """Return the exact joint loss of the reports if who was asked is secret, as if all who are invited answered."""
        if self.respondents:
            return epsilon
        return float(srs_loss(epsilon, float(np.max(np.array(invited) / np.array(self.sizes)))))

    def scale(self, epsilon: float) -> float:
        """Return the scale of a curator's noise on the mean."""
        return float(np.max(self._weights / np.array(self.answers))) / epsilon


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
    if response == 1:
        return needed
    low, high = needed, 2 * needed

    def short(invited: int) -> float:
        return float(special.betainc(invited - needed + 1, needed, 1 - response))

    while short(high) > failure:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if short(middle) <= failure else (middle + 1, high)
    return high
