"""Plan a survey: a mean or a share from a designed sample, randomised by everybody or by a curator.

One of number of units, epsilon, error and failure is left out and computed. `Survey` is the question, `SurveyPlan` the
answer; ``ldpnb plan survey`` is the same on the command line.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy import special
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.accuracy import tails
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.planning.design import Draw
from ldpnb.planning.errors import Bits
from ldpnb.planning.survey_plan import SurveyPlan
from ldpnb.surveys.noise import MeanMechanism, NumberReports
from ldpnb.surveys.open_designs import SimpleDesign, SurveyDesign
from ldpnb.surveys.unequal_designs import PoissonDesign
from ldpnb.surveys.variances import Variance

Collection = Literal["local", "central"]
Tail = Literal["guaranteed", "normal"]

QUANTITIES = ("count", "epsilon", "error", "failure")
_BUDGETS = (1e-6, 100.0)
MOST_BUDGET = 1e4
"""A budget, in nats, that leaves next to no noise."""
_WIDEST = 1e150
_MOST_RELEASES = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A mean of values in a known range, from a designed sample.

    Parameters
    ----------
    design : SimpleDesign, ClusterDesign, UnequalClusterDesign, StratifiedDesign or PoissonDesign
    count : int, optional
        Units (people, or clusters) that answer.
    epsilon : float, optional
        Of every report (local), or of all that is released (central), nats in ``[1e-6, 1e4]``, under replacement of a
        value.
    error, failure : float, optional
        The estimate is off by `error` or more with probability `failure` at most.
    collection : {"local", "central"}
        Whether people randomise their answers, or a curator the estimate.
    mechanism : {"one-bit", "Laplace"}
        With which people randomise.
    low, high : float
        The range, known beforehand.
    binary : bool
        Whether values are its two ends only.
    secret : bool
        Whether nobody who sees the release can know who was asked; only then may a sample amplify privacy.
    response, response_failure : float
        Chance that somebody who is asked answers, whatever their value; and the chance allowed that too few do.
    response_range : (float, float), optional
        Lowest and highest chance to answer, if it depends on the value: the answer then tells bias and loss.
    weights : float
        Kish's design effect of unequal weights that are unrelated to the values, in a simple random sample.
    releases : int
        Estimates from one and the same sample, each with the stated error: people report as often, or a curator
        releases as many. Budgets add up before a sample hides anybody.
    tail : {"guaranteed", "normal"}
        Bounds that hold for certain (the best of the exact law of one-bit reports, Hoeffding's, Bernstein's and
        Chebyshev's), or the normal law, an approximation.
    notes : tuple of str
        Further remarks for the answer, such as that a variance comes from a pilot.

    Raises
    ------
    ValueError
        Unless exactly one of the four quantities is left out, or for a combination that has no answer.

    Examples
    --------
    >>> from ldpnb.surveys.open_designs import ClusterDesign
    >>> design = ClusterDesign(400, 25, icc=0.05)
    >>> survey = Survey(design=design, epsilon=1, error=0.05, failure=0.05, binary=True, tail="normal")
    >>> survey.plan().count
    84
    """

    design: SurveyDesign
    count: int | None = None
    epsilon: float | None = None
    error: float | None = None
    failure: float | None = None
    collection: Collection = "local"
    mechanism: MeanMechanism = "one-bit"
    low: float = 0.0
    high: float = 1.0
    binary: bool = False
    secret: bool = False
    response: float = 1.0
    response_failure: float = 0.05
    response_range: tuple[float, float] | None = None
    weights: float = 1.0
    releases: int = 1
    tail: Tail = "guaranteed"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.plain(self, releases=1)
        checks.choice(collection=self.collection, among=("local", "central"))
        checks.choice(tail=self.tail, among=("guaranteed", "normal"))
        checks.numbers(range=(self.low, self.high))
        if checks.positive(range=self.high - self.low) > _WIDEST:
            raise ValueError(f"range must be at most {_WIDEST:g} wide, got low={self.low!r}, high={self.high!r}")
        checks.numbers(releases=self.releases, low=1, high=_MOST_RELEASES)
        checks.rate(response=self.response)
        checks.open_probability(response_failure=self.response_failure)
        if self.weights < 1:
            raise ValueError(f"weights must be a Kish design effect >= 1, got weights={self.weights!r}")
        if self.weights > 1 and not isinstance(self.design, SimpleDesign):
            raise ValueError(f"weights belong to a simple random sample, got weights={self.weights!r}")
        if self.secret and self.weights > 1:
            raise ValueError(
                "secret cannot be claimed with unequal weights: a weight reveals the rate, got secret=True"
            )
        if self.secret and (why := self.design.visible(local=self.collection == "local")):
            raise ValueError(f"secret gains nothing with this design: {why}, got secret=True")
        if getattr(self.design, "ratio", False) and self.tail == "guaranteed":
            raise ValueError("a ratio has no guaranteed bound, only tail normal, got tail='guaranteed'")
        if isinstance(self.design, PoissonDesign) and self.response < 1:
            raise ValueError(f"response belongs into the rate of design poisson, got response={self.response!r}")
        if self.response_range is not None:
            low, high = (checks.rate(response_range=rate) for rate in self.response_range)
            if low > high:
                raise ValueError(f"response_range must rise, got response_range={self.response_range!r}")
            if self.secret:
                raise ValueError(
                    "secret cannot be claimed where response depends on the value, got secret=True with response_range"
                )
        if self.count is not None:
            checks.whole(count=self.count, at_least=1)
            if self.count > self.design.most:
                most = f"at most {self.design.most:,}, the {self.design.unit} there are"
                raise ValueError(f"count must be {most}, got count={self.count}")
        if self.epsilon is not None:
            checks.numbers(epsilon=checks.positive(epsilon=self.epsilon), low=_BUDGETS[0], high=MOST_BUDGET)
        if self.error is not None:
            checks.numbers(error=checks.positive(error=self.error), low=0, high=_WIDEST)
        if self.failure is not None:
            checks.open_probability(failure=self.failure)
        missing = [name for name in QUANTITIES if getattr(self, name) is None]
        if len(missing) != 1:
            raise ValueError(f"exactly one of {', '.join(QUANTITIES)} must be left out, got {missing or 'none'}")

    @property
    def nonresponse(self) -> bool:
        """Whether some of those who are asked do not answer."""
        return self.response < 1 or bool(getattr(self.design, "responses", None))

    @property
    def hidden(self) -> bool:
        """Whether a curator's sample amplifies privacy: not with nonresponse, which the number of answers shows."""
        return self.secret and not self.nonresponse

    @property
    def unknown(self) -> str:
        """The quantity that is left out, if one is."""
        return next((name for name in QUANTITIES if getattr(self, name) is None), "")

    @property
    def span(self) -> float:
        """Length of the range."""
        return self.high - self.low

    @property
    def reports(self) -> NumberReports | None:
        """The reports, None if a curator has the values themselves."""
        if self.collection == "central":
            return None
        return NumberReports(self.mechanism, float(self.epsilon or 1), self.low, self.high, self.binary)

    def with_value(self, name: str, value: Any) -> "Survey":
        """Return the question with one field changed, unchecked, to evaluate its formulas."""
        filled = object.__new__(Survey)
        for key in self.__dataclass_fields__:
            object.__setattr__(filled, key, value if key == name else getattr(self, key))
        return filled

    def variance(self) -> Variance:
        """Return the estimate's variance without a curator's noise, the largest consistent with what is known."""
        if isinstance(self.design, SimpleDesign):
            return self.design.variance(int(self.count or 0), self.reports, self.span, weights=self.weights)
        return self.design.variance(int(self.count or 0), self.reports, self.span)

    def scale(self) -> float:
        """Return the scale of a curator's noise on every release, 0 if people randomise."""
        if self.collection == "local":
            return 0.0
        one = self.design.scale(int(self.count or 0), float(self.epsilon or 0), self.span, secret=self.hidden)
        return one * self.releases

    def chance(self) -> tuple[float, str]:
        """Return a bound on the probability of the error, or the normal law's, and its name."""
        error, parts, scale = float(self.error or 0), self.variance(), self.scale()
        total = float(parts.total)
        if self.tail == "normal":
            if scale:
                return tails.normal_laplace(math.sqrt(max(total, 1e-300)), scale, error), "normal"
            return float(2 * special.ndtr(-error / math.sqrt(max(total, 1e-300)))), "normal"
        ratio = math.sqrt(total + 2 * scale * scale) / error
        bounds = {"Chebyshev": min(1.0, ratio * ratio)}
        reports = self.reports
        if reports is not None and reports.mechanism == "one-bit" and self.weights == 1:
            proxy = self.design.proxy(int(self.count or 0), reports)
            if isinstance(self.design, SimpleDesign):
                bounds["exact law of the bits"] = self._exact()
            elif proxy is not None:
                bounds["Hoeffding"] = min(1.0, 2 * math.exp(-2 * error * error / proxy))
            reach = self.design.reach(int(self.count or 0), reports)
            if reach is not None:
                bounds["Bernstein"] = min(1.0, 2 * math.exp(-error * error / (2 * total + 2 * reach * error / 3)))
        name = min(bounds, key=lambda bound: bounds[bound])
        return bounds[name], name

    def meets(self) -> bool:
        """Return whether the error is as improbable as it shall be."""
        return self.chance()[0] <= float(self.failure or 0) * (1 + 1e-12)

    def _exact(self) -> float:
        """Return the chance of the error at the worst values, for one-bit reports of a simple random sample.

        The bits of the sample are distributed as independent ones (`ldpnb.planning.binomials.one_rate_exact`).
        """
        bit = KaryRandomisedResponse(float(self.epsilon or 0), 2)
        deviation = float(self.error or 0) / self.span * bit.truthful_rate
        bits = Bits(bit.p, max(bit.q, 1e-300), deviation, ends=self.binary)
        return bits.failure(Draw(self.design.population, int(self.count or 0) / self.design.population), "exact")

    @property
    def invited(self) -> tuple[int, ...]:
        """People to be asked, per stratum, so that enough answer."""
        if not self.nonresponse:
            return self.design.invited(int(self.count or 0), 1.0, 0.5)
        return self.design.invited(int(self.count or 0), self.response, self.response_failure)

    def plan(self) -> SurveyPlan:
        """Return the answer."""
        complete = self.with_value(self.unknown, _SEARCHES[self.unknown](self))
        complete.invited  # noqa: B018, who cannot be invited is refused here
        return SurveyPlan(complete, self.unknown)


def _count(survey: Survey) -> int:
    most = survey.design.most
    if not survey.with_value("count", most).meets():
        census = replace(survey, count=most, error=None).plan().error
        way = _way_out(survey, most)
        raise ValueError(f"asking all {most:,} {survey.design.unit} still leaves an error of {census:.3g}: {way}")
    return fewest(lambda count: survey.with_value("count", count).meets(), 1, most)


def fewest(enough: Callable[[int], bool], least: int, most: int) -> int:
    """Return the smallest whole number from `least` to `most` that is enough, as `most` is."""
    low, high = least - 1, least
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _way_out(survey: Survey, most: int) -> str:
    try:
        least = replace(survey, count=most, epsilon=None).plan().epsilon
    except ValueError:
        return "no budget reaches the target, for sampling alone is too coarse"
    return f"an epsilon of {math.ceil(least * 1000) / 1000:g} reaches the target"


def _root(survey: Survey, name: str, low: float, high: float, reason: str) -> float:
    """Return the least value in a range that meets the target; the chance falls as it grows."""

    def excess(logarithm: float) -> float:
        chance = survey.with_value(name, math.exp(logarithm)).chance()[0]
        return math.log(max(chance, 1e-300)) - math.log(float(survey.failure or 1))

    if excess(math.log(high)) > 0:
        raise ValueError(reason)
    if excess(math.log(low)) <= 0:
        return low
    found = float(brentq(excess, math.log(low), math.log(high), xtol=1e-13))
    return math.exp(found + 1e-12)


def _epsilon(survey: Survey) -> float:
    return _root(survey, "epsilon", *_BUDGETS, "no epsilon up to 100 reaches the target: sampling alone is too coarse")


def _error(survey: Survey) -> float:
    return _root(survey, "error", survey.span * 1e-9, survey.span * 1e6, "no error can be promised")


def _failure(survey: Survey) -> float:
    return survey.chance()[0]


_SEARCHES: dict[str, Callable[[Survey], Any]] = {
    "count": _count,
    "epsilon": _epsilon,
    "error": _error,
    "failure": _failure,
}
