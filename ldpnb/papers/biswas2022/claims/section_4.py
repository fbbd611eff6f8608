"""Section 4 of biswas2022 and what Section 6 reads off its figures.

The source gives no epsilon: statements are checked over a family.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import optimize, special

from ldpnb.accuracy import distances
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, agree, claim
from ldpnb.data import synthetic
from ldpnb.designs import reporters
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022.routes import CASES, FIXED, Array, all_reports, published
from ldpnb.rng import stream

FAMILY = (1.0, 2.0, 3.0, 5.0)
LARGEST = 100
NO_EPSILON = "The source gives no epsilon."
RUNS = 30
DISTANCE = (SampledCounts.variance_realised_size, distances.expected_total_variation, estimators.realised_size)

figures = partial(claim, kind="identity", assumption=NO_EPSILON)
counted = partial(claim, kind="enumeration")


def _binomial(trials: int, probability: float) -> Array:
    """Write out the binomial distribution on the common domain."""
    chances = np.zeros(LARGEST + 1)
    for v in range(trials + 1):
        chances[v] = math.comb(trials, v) * probability**v * (1 - probability) ** (trials - v)
    return chances


def _first(e: Evidence) -> Array:
    """Return the first data set's distribution, written out and as the package has it."""
    written = _binomial(100, 0.5)
    e.same(synthetic.binomial(int(published()["first_trials"]), published()["first_probability"]), written, abs=0)
    return written


def _expected_distance(holders: Array, rate: float, epsilon: float) -> float:
    """Return the mean total variation distance between c-hat and the data, in closed form."""
    survey = SampledCounts(round(holders.sum()), rate, KaryRandomisedResponse(epsilon, holders.size))
    deviations = np.sqrt(survey.variance_realised_size(holders))
    return float(distances.expected_total_variation(deviations, users=survey.users))


def _distance_by_user(e: Evidence, holders: Array, rate: float, epsilon: float) -> float:
    """Return the same by enumerating one user, adding independent users, and integrating a normal deviation's tail."""
    one = all_reports((0,), (rate,), epsilon, holders.size)
    mechanism = KaryRandomisedResponse(epsilon, holders.size)
    estimates = estimators.realised_size(one.totals, sampling_rate=rate, mechanism=mechanism)
    e.same(one.mean(estimates), np.eye(holders.size)[0])
    holder, other = one.variance(estimates)[:2]
    deviations = np.sqrt(holders * holder + (holders.sum() - holders) * other)
    points, weights = np.polynomial.legendre.leggauss(40)
    mean_deviation = 5 * weights @ special.erfc(5 * (points + 1) / math.sqrt(2))
    return float(deviations.sum() * mean_deviation / (2 * holders.sum()))


def _routes_agree(e: Evidence, holders: Array, rates: tuple[float, ...]) -> None:
    for rate in rates:
        for epsilon in FAMILY:
            e.same(_expected_distance(holders, rate, epsilon), _distance_by_user(e, holders, rate, epsilon))


def _simulated(distribution: Array, rate: float, epsilon: float) -> tuple[float, float]:
    """Return mean and standard error of the distance between c-hat and a drawn data set, over simulated collections."""
    rng = stream("distance", rate, epsilon, seed=2022)
    users, mechanism = int(published()["nodes"]), KaryRandomisedResponse(epsilon, distribution.size)
    counts = synthetic.sample_counts(distribution, users, rng=rng)
    tallies = np.array([reporters.sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(RUNS)])
    estimates = estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism)
    found = np.abs(estimates - counts).sum(axis=1) / (2 * users)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(RUNS))


def _improves(e: Evidence, distribution: Array) -> str:
    """Require that the estimate is closer to the data at the high rate than at the low one."""
    low, high = published()["rate_low"], published()["rate_high"]
    holders = published()["nodes"] * distribution
    _routes_agree(e, holders, (low, high))
    closed = {(r, epsilon): _expected_distance(holders, r, epsilon) for r in (low, high) for epsilon in FAMILY}
    seen = {r: _simulated(distribution, r, 3.0) for r in (low, high)}
    for rate, (mean, error) in seen.items():
        e.sure(abs(mean - closed[rate, 3.0]) < 6 * error + 0.01 * mean)
    e.needs(all(closed[high, epsilon] < closed[low, epsilon] for epsilon in FAMILY))
    ratios = ", ".join(f"{closed[low, epsilon]:.3f} -> {closed[high, epsilon]:.3f}" for epsilon in FAMILY)
    return (
        f"expected total variation of c-hat from pi = .1 to .9, n = 50000, epsilon = 1, 2, 3, 5: {ratios}; simulated "
        f"at 3: {seen[low][0]:.3f} -> {seen[high][0]:.3f} ({RUNS} collections each)"
    )


@counted(
    "Section 4, domain",
    synthetic.binomial,
    otherwise="corrected",
    corrected="The domain is 0, ..., 100, of 101 values; the companion uses it for both data sets.",
)
def domain(e: Evidence) -> str:
    """The data follow Bin(100, .5) on a domain of 100 values."""
    values = int((_first(e) > 0).sum())
    e.needs(values == published()["domain_size"])
    return f"Bin(100, .5) gives positive probability to {values} values"


@figures("Figure 1", *DISTANCE, synthetic.binomial)
def figure_1(e: Evidence) -> str:
    """For Bin(100, .5) the estimate approximates the data, and better so at rate .9 than at .1."""
    return _improves(e, _first(e))


@figures("Figure 2", *DISTANCE, synthetic.binomial_mixture)
def figure_2(e: Evidence) -> str:
    """For Bin(50, .6) + Bin(50, .4) the estimate approximates the data, and better so at rate .9 than at .1."""
    high, low = _binomial(50, 0.6), _binomial(50, 0.4)
    given = published()
    chances = given["second_probability_high"], given["second_probability_low"]
    drawn_from = synthetic.binomial_mixture(int(given["second_trials"]), chances, largest=LARGEST)
    e.same(drawn_from, (high + low) / 2, abs=0)
    sums = np.convolve(high, low)[: LARGEST + 1], (high + low) / 2
    apart = [np.abs(other - _binomial(100, 0.5)).sum() / 2 for other in sums]
    e.assumption += (
        " The plus sign is read as a mixture in equal parts: the sum of the two variables differs from Bin(100, .5) by "
        f"a total variation of {apart[0]:.4f} only, the mixture by {apart[1]:.3f}."
    )
    return _improves(e, (high + low) / 2)


@counted("Figure 3, communication cost", reporters.expected_reports)
def communication_cost(e: Evidence) -> str:
    """Sampling at rate pi costs of the order of n pi reports."""
    for case in CASES:
        enumerated = case.reports.mean(case.reports.totals.sum(axis=1))
        e.same(reporters.expected_reports(case.holders, case.sampling_rate), enumerated)
        e.needs(agree(len(case.values) * case.sampling_rate, enumerated))
    users = int(published()["nodes"])
    low, high = (reporters.expected_reports(users, published()[key]) for key in ("rate_low", "rate_high"))
    return (
        f"the expected number of reports is exactly n pi, by enumeration of {len(FIXED)} populations; {low:g} at pi = "
        f".1 and {high:g} at .9"
    )


@figures("Figure 3, diminishing returns", *DISTANCE, synthetic.binomial)
def diminishing_returns(e: Evidence) -> str:
    """After a point the total variation distance does not decrease significantly compared to the growing cost."""
    holders = published()["nodes"] * _first(e)
    _routes_agree(e, holders, (0.1, 0.8, 0.9, 1.0))

    def drops(epsilon: float) -> Array:
        return -np.diff([_expected_distance(holders, tenths / 10, epsilon) for tenths in range(1, 11)])

    e.needs(all((np.diff(drops(epsilon)) < 0).all() for epsilon in FAMILY))
    turn = _root(lambda epsilon: float(drops(epsilon)[-1] - drops(epsilon)[-2]))
    at_3 = [_expected_distance(holders, rate, 3.0) for rate in (0.1, 0.2, 0.9, 1.0)]
    e.assumption += f" True below epsilon = {turn:.2f}."
    return (
        f"epsilon = 3: pi from .1 to .2 lowers the distance by {1 - at_3[1] / at_3[0]:.1%}, from .9 to 1 by "
        f"{1 - at_3[3] / at_3[2]:.1%}, at equal cost; it falls as 1/sqrt(pi) while the randomisation dominates; from "
        f"epsilon = {turn:.2f} on the last step gains more than the one before"
    )


@figures(
    "Section 6, rate .1 against 1",
    *DISTANCE,
    synthetic.binomial,
    corrected="A tenth of the reports makes the expected distance at least sqrt(10) times as large, whatever epsilon: "
    "pi Var(c-hat) falls in pi at every value. Only the absolute difference becomes small, for large epsilon.",
)
def a_tenth_against_all(e: Evidence) -> str:
    """Sampling each node with probability .1 and sampling every node make no drastic difference in total variation."""
    holders = published()["nodes"] * _first(e)
    low, full = published()["rate_low"], published()["rate_all"]
    _routes_agree(e, holders, (low, full))

    def tenth(epsilon: float) -> float:
        return _expected_distance(holders, low, epsilon)

    def everybody(epsilon: float) -> float:
        return _expected_distance(holders, full, epsilon)

    ratios = [tenth(epsilon) / everybody(epsilon) for epsilon in (0.01, *FAMILY, 8.0, 10.0)]
    e.needs(min(ratios) < math.sqrt(full / low) * (1 - 1e-9))
    reached = [_root(lambda epsilon: tenth(epsilon) - everybody(epsilon), gap) for gap in (0.1, 0.05)]
    return (
        f"the distance at .1 is at least sqrt(10) = 3.162 times that at 1 for every epsilon ({ratios[3]:.2f} at 3, "
        f"{ratios[-1]:.1f} at 10); the difference is below .1 only from epsilon = {reached[0]:.2f} on, below .05 from "
        f"{reached[1]:.2f}; the raw distance at .1 exceeds 1 for epsilon < {_root(tenth, 1.0):.2f}"
    )


def _root(function: Callable[[float], float], level: float = 0.0) -> float:
    """Return the epsilon at which a function takes a level."""
    return float(optimize.brentq(lambda epsilon: function(epsilon) - level, 1.0, 12.0, xtol=1e-6))
