"""Plan a survey: sample size, budget, error or its probability, from the other three."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ldpnb import checks
from ldpnb.claims import rounded_up
from ldpnb.survey import laws
from ldpnb.survey.designs import (
    MANY,
    ClusteredSample,
    Design,
    Everyone,
    SimpleSample,
    StratifiedSample,
    Variance,
    most_reports,
)
from ldpnb.survey.device import BUDGETS, NUMBERS, SHARES, Device, device
from ldpnb.words import exact, listed

_LEAST_RESPONSE = 1e-6
"""The smallest fraction of the invited people that may be expected to report."""

QUANTITIES = ("count", "epsilon", "error", "failure")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a mechanism needs, or how well it does.

    Parameters
    ----------
    device : Device
        The mechanism at its budget.
    count : int
        People who report, or clusters drawn.
    error, failure : float
        An error of `error` or more, in the unit of the values, has a probability of at most
        `failure`; by the normal approximation it is about `failure`.
    law : {"exact", "normal"}
        Whether that probability is a bound from the exact distribution, which is a little too
        large because it is continued between whole numbers of reports, or the normal approximation.
    variance : Variance
        Both parts of the variance of the estimate, for the least favourable population, in squares
        of the unit of the values.
    """

    device: Device
    count: int
    error: float
    failure: float
    law: str
    variance: Variance

    @property
    def epsilon(self) -> float:
        return self.device.epsilon


@dataclass(frozen=True)
class Plan:
    """The answers to a question, the best mechanism first.

    ``print`` shows them. The last line is the command that estimates from the reports.

    Parameters
    ----------
    unknown : str
        The quantity that was left out: one of `QUANTITIES`.
    design : Design
        How people are drawn.
    answers : tuple of Answer
        What each mechanism needs, the best one first.
    impossible : dict of str to str
        Mechanisms that cannot do what was asked, and why.
    stated : dict
        The arguments of `plan` that state the device.
    asked_failure : float, optional
        The probability of an error that was asked for; None if it was the question.
    simultaneous : bool
        Whether the error is that of all shares at once.
    """

    unknown: str
    design: Design
    answers: tuple[Answer, ...]
    impossible: dict[str, str]
    stated: dict[str, Any]
    asked_failure: float | None
    simultaneous: bool

    @property
    def best(self) -> Answer | None:
        """The best mechanism; None if none can do it."""
        return self.answers[0] if self.answers else None

    def __str__(self) -> str:
        from ldpnb.survey.plan_text import plan_text

        return plan_text(self)


def plan(
    *,
    count: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    failure: float | None = None,
    p: float | str | None = None,
    q: float | str | None = None,
    mechanism: str | None = None,
    values: Any = None,
    low: float | None = None,
    high: float | None = None,
    simultaneous: bool = False,
    population: int | Mapping[str, int] | Literal["everyone"] | None = None,
    response: float | Mapping[str, float] = 1.0,
    sds: Mapping[str, float] | None = None,
    neyman: bool = False,
    clusters: int | None = None,
    cluster_size: int | None = None,
    take: int | None = None,
    icc: float | None = None,
    sd: float | None = None,
) -> Plan:
    """Find the one quantity that is left out of count, epsilon, error and failure.

    The exact distribution of the reports is used for everybody and for simple random samples, the
    normal approximation for strata, clusters, and Laplace noise in samples. The true values are the
    least favourable ones. Epsilon is the privacy loss of a single report to anybody who receives
    it, when its sender's true answer is replaced by another.

    Parameters
    ----------
    count : int, optional
        How many people report, or how many clusters are drawn.
    epsilon : float, optional
        The privacy budget of a report, in nats, from 1e-6 to 50. A device that is stated by `p` and
        `q` has its own.
    error : float, optional
        The error that is to be rare, in the unit of the values, ``> 0``. A share of 0.35 that is
        estimated as 0.40 is off by 0.05.
    failure : float, optional
        The largest probability of such an error or a larger one, in ``(0, 1)``.
    p, q, mechanism, values, low, high
        The device, as in `ldpnb.survey.device.device`. If no mechanism is stated, all that fit the
        answers are compared.
    simultaneous : bool
        Whether the error is that of all shares at once, for three answers or more.
    population : int, mapping of str to int, or "everyone", optional
        The number of people from whom the sample is drawn, or their number in each stratum, by its
        name. "everyone" says that all of them report, so that the survey has no sampling error. By
        default the population is very large.
    response : float or mapping of str to float
        The fraction of those invited who report, in ``(0, 1]``, or the fraction in each stratum.
    sds : mapping of str to float, optional
        Standard deviation of the true values in each stratum, in their unit. By default it is the
        largest possible one.
    neyman : bool
        Whether strata get reports by Neyman's allocation, with the randomisation included, and not
        in proportion to their sizes.
    clusters, cluster_size, take : int, optional
        The number of all clusters, of people in each, and of people who are asked in each cluster
        that is drawn; by default all of them are.
    icc, sd : float, optional
        Intra-cluster correlation, and standard deviation of the true values in their unit. By
        default they are the least favourable ones.

    Returns
    -------
    Plan
        ``plan.best`` is the best mechanism's answer; ``print(plan)`` prints everything.

    Raises
    ------
    ValueError
        If not exactly one quantity is left out, or something is stated that has no use.

    References
    ----------
    Särndal, Swensson and Wretman (1992), chapters 2 to 4, for the designs; Hoeffding (1956) for the
    exact distribution of bits.

    Examples
    --------
    A yes/no question for a simple random sample of 10,000 people:

    >>> plan(epsilon=1, error=0.05, failure=0.05, population=10_000).best.count
    1774

    A die that forces yes on one face and no on another:

    >>> plan(p="5/6", q="1/6", error=0.05, failure=0.05, population=10_000).best.count
    861
    """
    stated = {
        "p": p,
        "q": q,
        "mechanism": mechanism,
        "values": values,
        "low": low,
        "high": high,
    }
    is_stated_by_chances = p is not None or q is not None
    if is_stated_by_chances:
        devices = [device(epsilon=epsilon, **stated)]
        epsilon = devices[0].epsilon
    else:
        # If epsilon is what is asked for, any budget will do until it is found.
        some_epsilon = 1.0 if epsilon is None else epsilon
        devices = [
            device(**(stated | {"mechanism": name, "epsilon": some_epsilon}))
            for name in _mechanisms(mechanism, values, low, high)
        ]

    given = {"count": count, "epsilon": epsilon, "error": error, "failure": failure}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        left_out = f"{listed(missing)} are" if missing else "none is"
        raise ValueError(
            f"leave out exactly one of count, epsilon, error and failure, but {left_out} left out"
        )
    unknown = missing[0]

    length = devices[0].length
    if error is not None:
        checks.positive(error, "error")
        if not error < length:
            raise ValueError(f"error must be below the range, {exact(length)}, got error={error!r}")
    if failure is not None:
        checks.open_probability(failure, "failure")
    if simultaneous and len(devices[0].estimated) < 2:
        raise ValueError("simultaneous needs several shares, but one share or mean is estimated")

    is_clustered = any(one is not None for one in (clusters, cluster_size, take, icc, sd))
    if is_clustered:
        if isinstance(response, Mapping) or population is not None or sds is not None or neyman:
            raise ValueError(
                "population, sds, neyman and a response for each stratum must not be given for a "
                "cluster sample"
            )
        design: Design = _clustered(clusters, cluster_size, take, icc, sd, response, length)
    else:
        design = _unclustered(population, response, sds, neyman, length)

    least, most = design.limits
    if most < least:
        raise ValueError(f"a survey needs at least {least} reports, but at most {most} can come in")
    if count is not None:
        checks.whole(count, "count", at_least=least, at_most=most)

    answers = []
    impossible = {}
    for one in devices:
        answer = _Question(design, one, given, simultaneous).answer(unknown)
        if isinstance(answer, Answer):
            answers.append(answer)
        else:
            impossible[one.mechanism] = answer

    # The best one has the smallest count, epsilon, error or failure.
    answers.sort(key=operator.attrgetter(unknown))
    return Plan(unknown, design, tuple(answers), impossible, stated, failure, simultaneous)


def _mechanisms(
    mechanism: str | None, values: Any, low: float | None, high: float | None
) -> tuple[str, ...]:
    """Return the names of the mechanisms that fit the answers."""
    if mechanism is not None:
        return (mechanism,)
    if low is not None or high is not None:
        return NUMBERS
    several = values is not None and (values if isinstance(values, int) else len(values)) > 2
    return SHARES if several else ("Warner",)


def _clustered(
    clusters: int | None,
    cluster_size: int | None,
    take: int | None,
    icc: float | None,
    sd: float | None,
    response: float,
    length: float,
) -> ClusteredSample:
    """Return the design of a cluster sample, after checking its arguments."""
    if clusters is None or cluster_size is None:
        raise ValueError(
            "a cluster sample needs clusters (their number) and cluster_size (the number of people "
            "in each); take, icc and sd are for cluster samples"
        )
    _require_response(response, "response")

    spread = None if sd is None else checks.positive(sd, "sd") / length
    asked = cluster_size if take is None else take
    return ClusteredSample(clusters, cluster_size, asked, icc, spread, response)


def _require_response(rate: float, name: str) -> None:
    checks.rate(rate, name)
    if rate < _LEAST_RESPONSE:
        raise ValueError(f"{name} must be at least {_LEAST_RESPONSE:g}, got {name}={rate!r}")


def _unclustered(
    population: Any,
    response: float | Mapping[str, float],
    sds: Mapping[str, float] | None,
    neyman: bool,
    length: float,
) -> Design:
    """Return the design of a sample without clusters, after checking its arguments."""
    if isinstance(population, Mapping):
        return _stratified(population, response, sds, neyman, length)

    if sds is not None or neyman or isinstance(response, Mapping):
        raise ValueError(
            "sds, neyman and a response for each stratum need strata: give population as the "
            "number of people in each stratum"
        )

    _require_response(response, "response")
    if population == "everyone":
        if response != 1:
            raise ValueError("response must be 1 if population is everyone")
        return Everyone()

    if population is None:
        return SimpleSample(math.inf, response)
    people = checks.whole(population, "population", at_least=2, at_most=MANY)
    return SimpleSample(people, response)


def _stratified(
    population: Mapping[str, int],
    response: float | Mapping[str, float],
    sds: Mapping[str, float] | None,
    neyman: bool,
    length: float,
) -> StratifiedSample:
    """Return the design of a stratified sample, after checking its arguments."""
    sizes = {
        name: checks.whole(size, f"size of stratum {name}", at_least=1, at_most=MANY)
        for name, size in population.items()
    }

    if not sizes:
        raise ValueError("strata must be named, got none")
    if neyman and sds is None:
        raise ValueError("neyman needs sds, a standard deviation for each stratum")

    rates = response if isinstance(response, Mapping) else dict.fromkeys(sizes, response)
    for name, by_stratum in {"response": rates, "sds": sds}.items():
        if by_stratum is not None and set(by_stratum) != set(sizes):
            odd = sorted(set(by_stratum) ^ set(sizes))[0]
            raise ValueError(
                f"{name} and population must have the same strata, but only one has {odd!r}"
            )

    for name, rate in rates.items():
        _require_response(rate, f"response in stratum {name}")
        if most_reports(sizes[name], rate) < min(sizes[name], 2):
            raise ValueError(
                f"stratum {name} has {sizes[name]} people, of whom fewer than two respond: merge "
                "it with a similar stratum"
            )

    spreads = None
    if sds is not None:
        spreads = {
            name: checks.non_negative(sd, f"sd of stratum {name}") / length
            for name, sd in sds.items()
        }
        for name, spread in spreads.items():
            bessel = sizes[name] / max(sizes[name] - 1, 1)
            if spread * spread > bessel * (1 + 1e-9) / 4:
                raise ValueError(
                    f"sd of stratum {name} must be at most half the range, got {sds[name]!r}"
                )
    return StratifiedSample(sizes, dict(rates), spreads, neyman)


@dataclass(frozen=True)
class _Question:
    """What is asked of one mechanism.

    `given` has the four quantities by name, with None for the one that is asked for.
    """

    design: Design
    device: Device
    given: dict[str, Any]
    simultaneous: bool

    @property
    def events(self) -> int:
        """How many estimates must all be near the truth."""
        return len(self.device.estimated) if self.simultaneous else 1

    def device_at(self, epsilon: float) -> Device:
        """Return the mechanism at a budget; a device that is stated by p and q has only one."""
        return self.device if epsilon == self.device.epsilon else self.device.at(epsilon)

    def chance(self, **changed: Any) -> tuple[float, str]:
        """Return the probability of the error, and its law; `changed` replaces what is given."""
        quantities = self.given | changed
        device = self.device_at(quantities["epsilon"])
        error = quantities["error"] / device.length
        return laws.chance(self.design, device, quantities["count"], error, self.events)

    def excess(self, **changed: Any) -> float:
        """Return by how much the log of that probability is too large."""
        chance, _ = self.chance(**changed)
        return math.log(max(chance, 1e-300) / self.given["failure"])

    def answer(self, unknown: str) -> Answer | str:
        """Return the answer, or in words why there is none."""
        if unknown == "count":
            found: Any = self.least_count()
        elif unknown == "epsilon":
            found = _root(lambda epsilon: self.excess(epsilon=epsilon), *BUDGETS)
        elif unknown == "error":
            found = self.least_error()
        else:
            found, _ = self.chance()

        if found is None and unknown == "count":
            most = self.design.limits[1]
            return self._remaining(f"with all {most:,} {self.design.unit}", count=most)
        if found is None and unknown == "epsilon":
            return self._remaining("even without privacy", epsilon=BUDGETS[1])
        if found is None:
            return "no error smaller than the whole range can be guaranteed"

        complete = self.given | {unknown: found}
        device = self.device_at(complete["epsilon"])
        _, law = self.chance(**{unknown: found})
        parts = self.design.variance(complete["count"], device)
        unit = device.length**2
        return Answer(
            device=device,
            count=complete["count"],
            error=complete["error"],
            failure=complete["failure"],
            law=law,
            variance=Variance(unit * parts.sampling, unit * parts.randomisation),
        )

    def least_error(self, **changed: Any) -> float | None:
        """Return the smallest error that is rare enough; None if it must be below the range."""
        length = self.device.length
        ends = (1e-12 * length, (1 - 1e-12) * length)
        return _root(lambda error: self.excess(error=error, **changed), *ends)

    def least_count(self) -> int | None:
        """Return the smallest count; the normal approximation says where to begin."""
        least, most = self.design.limits
        device = self.device_at(self.given["epsilon"])
        error = self.given["error"] / device.length

        def is_enough_by_the_normal_law(count: int) -> bool:
            chance = laws.normal_chance(self.design, device, count, error, self.events)
            return chance <= self.given["failure"]

        start = _least_count(is_enough_by_the_normal_law, least, most, least)
        return _least_count(lambda count: self.excess(count=count) <= 0, least, most, start or most)

    def _remaining(self, words: str, **changed: Any) -> str:
        """Return a sentence on the error that remains at best, which begins with `words`."""
        smallest = self.least_error(**changed)
        if smallest is None:
            return f"{words}, no error smaller than the whole range can be guaranteed"
        return f"{words}, the smallest error is {rounded_up(smallest)}"


def _least_count(enough: Callable[[int], bool], least: int, most: int, start: int) -> int | None:
    """Return the smallest number that is enough, if more are never worse; None if none is.

    The search moves away from `start` in growing steps, and then halves the last one.
    """
    step = max(start // 256, 1)
    low = least - 1
    high = start
    while not enough(high):
        if high == most:
            return None
        low = high
        high = min(high + step, most)
        step *= 2

    while high - step > low and enough(high - step):
        high -= step
        step *= 2

    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _root(excess: Callable[[float], float], low: float, high: float) -> float | None:
    """Return where a falling function reaches 0, or a billionth above; None if it does not.

    It is `low` if the function is not positive there.
    """
    from scipy.optimize import brentq  # its import takes half a second

    if excess(high) > 0:
        return None
    if excess(low) <= 0:
        return low
    logs = brentq(lambda log: excess(math.exp(log)), math.log(low), math.log(high), xtol=1e-10)
    return min(math.exp(logs + 1e-9), high)
