"""Plan a survey: a mean or a share from a designed sample, randomised by everybody or by a curator.

One of number of units, epsilon, error and failure is left out and computed. `Survey` is the question, `SurveyPlan` the
answer; ``ldpnb plan survey`` is the same on the command line.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy import special
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.surveys import needed, response
from ldpnb.surveys.designs import ClusterDesign, Design, SimpleDesign
from ldpnb.surveys.reports import MeanMechanism, NumberReports
from ldpnb.surveys.variances import Variance

Collection = Literal["local", "central"]
Tail = Literal["guaranteed", "normal"]

QUANTITIES = ("count", "epsilon", "error", "failure")
_BUDGETS = (1e-6, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A mean of values in a known range, from a designed sample.

    Parameters
    ----------
    design : SimpleDesign, ClusterDesign or StratifiedDesign
    count : int, optional
        Units (people, or clusters) that answer.
    epsilon : float, optional
        Of every report (local), or of the release (central), nats, under replacement of a value.
    error, failure : float, optional
        The estimate is off by `error` or more with probability `failure` at most.
    collection : {"local", "central"}
        Whether people randomise their answers, or a curator the estimate.
    mechanism : {"one-bit", "Laplace"}
        Of the people.
    low, high : float
        The range, known beforehand.
    binary : bool
        Whether values are its two ends only.
    secret : bool
        Whether nobody who sees the release can know who was asked; only then may a sample amplify privacy.
    response, response_failure : float
        Chance that somebody who is asked answers, whatever their value; and the chance allowed that too few do.
    weights : float
        Kish's design effect of unequal weights that are unrelated to the values, in a simple random sample.
    tail : {"guaranteed", "normal"}
        Bounds that hold for certain (Hoeffding or Chebyshev, the better), or the normal law, an approximation.
    notes : tuple of str
        What the answer is to say besides, such as that a variance is a pilot's.

    Raises
    ------
    ValueError
        Unless exactly one of the four quantities is left out, or for a combination that has no answer.

    Examples
    --------
    >>> from ldpnb.surveys.designs import ClusterDesign
    >>> design = ClusterDesign(400, 25, icc=0.05)
    >>> survey = Survey(design=design, epsilon=1, error=0.05, failure=0.05, binary=True, tail="normal")
    >>> survey.plan().count
    84
    """

    design: Design
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
    weights: float = 1.0
    tail: Tail = "guaranteed"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checks.choice(collection=self.collection, among=("local", "central"))
        checks.choice(tail=self.tail, among=("guaranteed", "normal"))
        checks.positive(range=self.high - self.low)
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
        if self.count is not None:
            checks.whole(count=self.count, at_least=1)
            if self.count > self.design.most:
                most = f"at most {self.design.most:,}, the {self.design.unit} there are"
                raise ValueError(f"count must be {most}, got count={self.count}")
        for name in ("epsilon", "error"):
            if getattr(self, name) is not None:
                checks.positive(**{name: getattr(self, name)})
        if self.failure is not None:
            checks.open_probability(failure=self.failure)
        missing = [name for name in QUANTITIES if getattr(self, name) is None]
        if len(missing) != 1:
            raise ValueError(f"exactly one of {', '.join(QUANTITIES)} must be left out, got {missing or 'none'}")

    @property
    def unknown(self) -> str:
        """The quantity that is left out."""
        return next(name for name in QUANTITIES if getattr(self, name) is None)

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
        """Return the question with the unknown quantity filled in, for its formulas."""
        filled = object.__new__(Survey)
        for key in self.__dataclass_fields__:
            object.__setattr__(filled, key, value if key == name else getattr(self, key))
        return filled

    def variance(self) -> Variance:
        """Return the variance of the estimate, a curator's noise apart, at the worst data that what is known allows."""
        if isinstance(self.design, SimpleDesign):
            return self.design.variance(int(self.count or 0), self.reports, self.span, weights=self.weights)
        return self.design.variance(int(self.count or 0), self.reports, self.span)

    def scale(self) -> float:
        """Return the scale of a curator's noise, 0 if people randomise."""
        if self.collection == "local":
            return 0.0
        return self.design.scale(int(self.count or 0), float(self.epsilon or 0), self.span, secret=self.secret)

    def chance(self) -> tuple[float, str]:
        """Return a bound on the probability of the error, or the normal law's, and its name."""
        error, parts, scale = float(self.error or 0), self.variance(), self.scale()
        total = float(parts.total)
        if self.tail == "normal":
            if scale:
                return needed.normal_laplace_tail(math.sqrt(max(total, 1e-300)), scale, error), "normal"
            return float(2 * special.ndtr(-error / math.sqrt(max(total, 1e-300)))), "normal"
        bounds = {"Chebyshev": min(1.0, (total + 2 * scale * scale) / error**2)}
        reports = self.reports
        if reports is not None and reports.mechanism == "one-bit" and self.weights == 1:
            proxy = self.design.proxy(int(self.count or 0), reports)
            if proxy is not None:
                bounds["Hoeffding"] = min(1.0, 2 * math.exp(-2 * error * error / proxy))
        name = min(bounds, key=lambda bound: bounds[bound])
        return bounds[name], name

    def plan(self) -> "SurveyPlan":
        """Return the answer."""
        value = _SEARCHES[self.unknown](self)
        return SurveyPlan(self.with_value(self.unknown, value), self.unknown)


def _meets(survey: Survey) -> bool:
    return survey.chance()[0] <= float(survey.failure or 0) * (1 + 1e-12)


def _count(survey: Survey) -> int:
    most = survey.design.most
    if not _meets(survey.with_value("count", most)):
        census = replace(survey, count=most, error=None).plan().error
        way = _way_out(survey, most)
        raise ValueError(f"asking all {most:,} {survey.design.unit} still leaves an error of {census:.3g}: {way}")
    low, high = 0, 1
    while not _meets(survey.with_value("count", high)):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _meets(survey.with_value("count", middle)) else (middle, high)
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


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """A survey with the quantity filled in that was left out, and everything that follows.

    Parameters
    ----------
    survey : Survey
        Complete.
    unknown : str
        What was asked.
    """

    survey: Survey
    unknown: str

    @property
    def count(self) -> int:
        """Units that answer."""
        return int(self.survey.count or 0)

    @property
    def epsilon(self) -> float:
        """Loss of a report, or of a curator's release."""
        return float(self.survey.epsilon or 0)

    @property
    def error(self) -> float:
        """What the estimate is off by at most, except with probability `failure`."""
        return float(self.survey.error or 0)

    @property
    def failure(self) -> float:
        """The chance of a larger error; the chance that too few answer comes on top."""
        return float(self.survey.failure or 0)

    @property
    def people(self) -> int:
        """People who answer."""
        return self.survey.design.people(self.count)

    @property
    def invited(self) -> int:
        """People to be asked so that enough answer."""
        if self.survey.response == 1:
            return self.people
        return response.invitations(self.people, self.survey.response, self.survey.response_failure)

    @property
    def released(self) -> float:
        """Loss of what is released, under replacement, to readers who cannot know who was asked."""
        s = self.survey
        if s.collection == "central" or not s.secret:
            return self.epsilon
        return s.design.loss(self.count, self.epsilon)

    @property
    def design_effects(self) -> tuple[float, float]:
        """Sampling variance, and all variance, over those of a simple random sample of as many people, at its worst."""
        s, parts = self.survey, self.survey.variance()
        if not isinstance(s.design, SimpleDesign | ClusterDesign):
            return math.nan, math.nan
        simple = SimpleDesign(s.design.population, s.design.s2)
        plain = simple.variance(self.people, s.reports, s.span)
        ratio = float(parts.sampling / plain.sampling) if plain.sampling else math.nan
        return ratio, float(parts.total / plain.total) if plain.total else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the answer, unrounded."""
        s, parts = self.survey, self.survey.variance()
        return {
            "asked": self.unknown,
            "collection": s.collection,
            "mechanism": s.mechanism if s.collection == "local" else "Laplace noise of a curator",
            "unit": s.design.unit,
            "count": self.count,
            "population": s.design.population,
            "answers": self.people,
            "invited": self.invited,
            "epsilon": self.epsilon,
            "error": self.error,
            "failure": self.failure,
            "failure_with_response": self.failure + (s.response_failure if s.response < 1 else 0.0),
            "bound": s.chance()[1],
            "sampling_sd": math.sqrt(float(parts.sampling)),
            "randomisation_sd": math.sqrt(float(parts.randomisation) + 2 * s.scale() ** 2),
            "noise_scale": s.scale() or None,
            "design_effect_sampling": self.design_effects[0],
            "design_effect_total": self.design_effects[1],
            "loss_of_report": self.epsilon if s.collection == "local" else None,
            "loss_of_release": self.released,
            "neighbours": "replacement of one person's value",
            "secret_sample": s.secret,
            "notes": " ".join(s.notes) or None,
        }

    def to_frame(self) -> Any:
        """Return the answer as a table of one row."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def to_json(self) -> str:
        """Return the answer as a JSON object; what is not defined is null."""
        told = self.to_dict().items()
        plain = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in told}
        return json.dumps(plain, indent=1)

    def __str__(self) -> str:
        s, told = self.survey, self.to_dict()
        lines = [f"{s.design.describe(self.count)[:1].upper()}{s.design.describe(self.count)[1:]}."]
        if s.response < 1:
            lines[0] += f" {s.response:.0%} of those asked answer: invite {self.invited:,} people."
        lines.append(
            f"The mean is off by {_up(self.error)} or more with probability {_up(told['failure_with_response'])}"
            f" at most ({told['bound']}{', an approximation' if s.tail == 'normal' else ''})."
        )
        effect = told["design_effect_sampling"]
        effects = f"; design effect {effect:.3g} of sampling, {told['design_effect_total']:.3g} in all"
        lines.append(
            f"Standard deviation: sampling {told['sampling_sd']:.3g}, randomisation {told['randomisation_sd']:.3g}"
            f"{effects if math.isfinite(effect) else ''}."
        )
        return "\n".join([*lines, *self._privacy(), *s.notes])

    def _privacy(self) -> list[str]:
        s = self.survey
        if s.collection == "central":
            known = "a secret sample" if s.secret else "a sample that may be known"
            noise = f"A curator adds Laplace noise of scale {s.scale():.4g}"
            return [f"{noise}; the release loses {_up(self.epsilon)} ({known})."]
        reports = f"A report loses {_up(self.epsilon)} to whoever receives it"
        if s.secret:
            told = "to readers who see neither who was asked nor the order of reports"
            return [f"{reports}; what is released {_up(self.released)}, under replacement, {told}."]
        kept = s.design.loss(self.count, self.epsilon)
        if kept > 0.99 * self.epsilon:
            return [f"{reports}, and so does what is released: a secret sample would gain nothing."]
        return [f"{reports}, and so does what is released: {_up(kept)} if the sample is secret (add --secret-sample)."]


def _up(value: float, digits: int = 4) -> str:
    """Return a positive number with a few significant digits, rounded up."""
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{math.ceil(value / unit - 1e-6) * unit:.{digits}g}"
