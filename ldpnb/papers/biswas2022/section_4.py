"""What decides Section 4 of biswas2022, and what Section 6 reads off its figures: second routes and checks."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import optimize, special

from ldpnb.accuracy import distances
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, better
from ldpnb.data import synthetic
from ldpnb.deciders import identity, oo, symbols
from ldpnb.designs import reporters
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.proofs import everywhere, f, n, pi, survey, t
from ldpnb.papers.biswas2022.routes import CASES, Array, published
from ldpnb.rng import stream
from ldpnb.sections import Numbers, Pairs, second_route

FAMILY = (1.0, 2.0, 3.0, 5.0)
LARGEST = 100
RUNS = 30
G_DE, C_HAT = "rescaled", "realised_size"


def _binomial(trials: int, probability: float) -> Array:
    """Write out the binomial distribution on the common domain."""
    chances = np.zeros(LARGEST + 1)
    for v in range(trials + 1):
        chances[v] = math.comb(trials, v) * probability**v * (1 - probability) ** (trials - v)
    return chances


@second_route(synthetic.binomial)
def _first() -> Pairs:
    yield first(), _binomial(100, 0.5), 1e-12


@second_route(synthetic.binomial_mixture)
def _second() -> Pairs:
    yield second(), (_binomial(50, 0.6) + _binomial(50, 0.4)) / 2, 1e-12


@second_route(distances.expected_total_variation)
def _expected_total_variation() -> Pairs:
    points, weights = np.polynomial.legendre.leggauss(40)
    mean_deviation = 5 * weights @ special.erfc(5 * (points + 1) / math.sqrt(2))  # of a standard normal variable
    deviations = np.array([3.0, 0.5, 7.0])
    yield distances.expected_total_variation(deviations, users=20), deviations.sum() * mean_deviation / (2 * 20)


@second_route(reporters.expected_reports)
def _expected_reports() -> Pairs:
    for case in CASES:
        enumerated = case.reports.mean(case.reports.totals.sum(axis=1))
        yield reporters.expected_reports(case.holders, case.rates[0]), enumerated


@second_route(frequency.project_simplex)
def _project_simplex() -> Pairs:
    """Bisect the level above which entries add up to 1."""
    vector = np.random.default_rng(2022).normal(0.01, 0.1, 101)
    level = optimize.brentq(lambda x: np.maximum(vector - x, 0).sum() - 1, -2, vector.max(), xtol=1e-15)
    yield frequency.project_simplex(vector), np.maximum(vector - level, 0)


def first() -> Array:
    """Return the distribution of the first data set."""
    return synthetic.binomial(int(published()["first_trials"]), published()["first_probability"])


def second() -> Array:
    """Return the distribution of the second data set."""
    given = published()
    chances = given["second_probability_high"], given["second_probability_low"]
    return synthetic.binomial_mixture(int(given["second_trials"]), chances, largest=LARGEST)


def _distance(name: str, distribution: Array, rate: float, epsilon: float) -> float:
    """Return the mean total variation distance between an estimate and the data, in the normal limit."""
    users = int(published()["nodes"])
    known = SampledCounts(users, rate, KaryRandomisedResponse(epsilon, distribution.size))
    deviations = np.sqrt(getattr(known, f"variance_{name}")(users * distribution))
    return float(distances.expected_total_variation(deviations, users=users))


def _simulated(
    name: str, distribution: Array, rate: float, epsilon: float, *, projected: bool = False
) -> tuple[float, float]:
    """Return mean and standard error of the distance of an estimate to a drawn data set, over simulated collections.

    An estimate has negative entries unless it is projected onto the simplex.
    """
    rng = stream("distance", rate, epsilon, seed=2022)
    users, mechanism = int(published()["nodes"]), KaryRandomisedResponse(epsilon, distribution.size)
    counts = synthetic.sample_counts(distribution, users, rng=rng)
    tallies = np.array([reporters.sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(RUNS)])
    known: dict[str, Any] = {"sampling_rate": rate, "mechanism": mechanism}
    shares = getattr(estimators, name)(tallies, **known | ({"users": users} if name == G_DE else {})) / users
    off = np.abs((frequency.project_simplex(shares) if projected else shares) - counts / users).sum(axis=1) / 2
    return float(off.mean()), float(off.std(ddof=1) / np.sqrt(RUNS))


def section_4_domain(e: Evidence) -> Numbers:
    values = int((first() > 0).sum())
    e.needs(values == published()["domain_size"])
    return {"values": values}


def figure_1_and_2(e: Evidence) -> Numbers:
    rates = low, high = published()["rate_low"], published()["rate_high"]
    e.proven(all(identity(proofs.moments(proofs.rescaled, law)[0], n * f) for law in proofs.DATA.values()))
    e.proven(proofs.sums_over_users("variance_rescaled") and proofs.thinned(proofs.rescaled))
    e.proven(proofs.improves("variance_rescaled"))
    numbers: dict[str, object] = {}
    for name, distribution in (("first", first()), ("second", second())):
        closed = {(r, epsilon): _distance(G_DE, distribution, r, epsilon) for r in rates for epsilon in FAMILY}
        e.needs(all(better(closed[high, epsilon], closed[low, epsilon]) for epsilon in FAMILY))
        drawn = {r: _simulated(G_DE, distribution, r, 3.0) for r in rates}
        e.sure(all(abs(mean - closed[r, 3.0]) < 6 * error + 0.01 * mean for r, (mean, error) in drawn.items()))
        numbers[name] = ", ".join(
            rf"${closed[low, epsilon]:.3f} \to {closed[high, epsilon]:.3f}$" for epsilon in FAMILY
        )
        numbers[f"{name}_drawn"] = rf"${drawn[low][0]:.3f} \to {drawn[high][0]:.3f}$"
    sums = np.convolve(_binomial(50, 0.6), _binomial(50, 0.4))[: LARGEST + 1], second()
    of_sum, of_mixture = (np.abs(other - first()).sum() / 2 for other in sums)
    return numbers | {"sum": of_sum, "mixture": of_mixture}


def figure_3_trade_off(e: Evidence) -> Numbers:
    e.decides(identity(reporters.expected_reports([n * f, n - n * f], pi), n * pi))
    e.proven(proofs.sums_over_users("variance_realised_size") and proofs.thinned(proofs.realised))
    part = symbols("w")[0]
    for share in (f, 0, 1):
        fewer, more = (survey(rate=rate).variance_realised_size(n * share) for rate in (part * pi, pi))
        e.decides(everywhere(fewer - more, w=(0, 1)))
    low, high = published()["rate_low"], published()["rate_high"]
    few, many = (reporters.expected_reports(int(published()["nodes"]), rate) for rate in (low, high))
    far, near = (_distance(C_HAT, first(), rate, 3.0) for rate in (low, high))
    e.needs(better(near, far))
    return {"few": few, "far": far, "many": many, "near": near}


def figure_3_diminishing_returns(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_realised_size") and proofs.thinned(proofs.realised))
    e.proven(proofs.fewer_gains(pi=(0, Fraction(3, 4))))
    least = 1 + (t - 1) * (t - 1) / (3 * t)
    e.proven(proofs.fewer_gains(least + symbols("more")[0], more=(0, oo)))
    at_3 = [_distance(C_HAT, first(), rate, 3.0) for rate in (0.1, 0.2, 0.9, 1.0)]
    e.needs(at_3[0] - at_3[1] > at_3[2] - at_3[3] > 0)
    return {
        "largest": math.acosh(1 + 3 * LARGEST / 2),
        "early": 1 - at_3[1] / at_3[0],
        "late": 1 - at_3[3] / at_3[2],
    }


def section_6_rate__1_against_1(e: Evidence) -> Numbers:
    e.proven(proofs.sums_over_users("variance_realised_size") and proofs.improves("variance_realised_size"))
    low, full = published()["rate_low"], published()["rate_all"]
    tenth, all_of_them = (survey(rate=r).variance_realised_size(n * f) for r in (0.1, 1))
    e.decides(everywhere(4 * all_of_them - tenth))

    def lost(epsilon: float) -> float:
        return _distance(C_HAT, first(), low, epsilon) - _distance(C_HAT, first(), full, epsilon)

    raw = [_tenth_against_all(epsilon)[0] for epsilon in (1.0, 3.0, 8.0)]
    e.sure(min(raw) > 2)
    projected = {epsilon: _tenth_against_all(epsilon, projected=True) for epsilon in (0.25, 0.5, 1.0, 3.0)}
    e.sure(all((ratio + 4 * error < 2) == (epsilon <= 1) for epsilon, (ratio, error) in projected.items()))
    return {
        "tenth": _root(lost, 0.1),
        "twentieth": _root(lost, 0.05),
        "runs": RUNS,
        "raw": ", ".join(f"{ratio:.2f}" for ratio in raw),
        "projected": ", ".join(f"{ratio:.2f}" for ratio, _ in projected.values()),
    }


def _tenth_against_all(epsilon: float, *, projected: bool = False) -> tuple[float, float]:
    """Return the ratio of the distances of c-hat at a tenth of the reports and at all of them, and its error."""
    (few, few_error), (many, many_error) = (
        _simulated(C_HAT, first(), published()[rate], epsilon, projected=projected) for rate in ("rate_low", "rate_all")
    )
    return few / many, few / many * math.hypot(few_error / few, many_error / many)


def _root(function: Callable[[float], float], level: float) -> float:
    """Return the epsilon at which a function takes a level."""
    return float(optimize.brentq(lambda epsilon: function(epsilon) - level, 1.0, 12.0, xtol=1e-6))
