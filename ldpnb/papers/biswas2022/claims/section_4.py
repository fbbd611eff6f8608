"""Section 4 of biswas2022 and what Section 6 reads off its figures.

The source gives no epsilon, and its figures are not in the text at hand: statements are decided for every epsilon, and
shown over a family.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize, special

from ldpnb.accuracy import distances
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.claims import Evidence, better, claim
from ldpnb.data import synthetic
from ldpnb.deciders import identity, oo, symbols
from ldpnb.designs import reporters
from ldpnb.estimators import frequency
from ldpnb.estimators import sampling as estimators
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.proofs import everywhere, f, n, pi, survey, t
from ldpnb.papers.biswas2022.routes import CASES, FIXED, RANDOMISER, Array, all_reports, published
from ldpnb.rng import stream

FAMILY = (1.0, 2.0, 3.0, 5.0)
LARGEST = 100
NO_EPSILON = "The source gives no epsilon, and the figure is not in the text at hand."
NORMAL = "In the normal limit, where the expected distance is the sum of the standard deviations up to a constant."
RUNS = 30
G_DE, C_HAT = "rescaled", "realised_size"
DISTANCE = (distances.expected_total_variation, *RANDOMISER)

figures = partial(
    claim,
    kind="proof",
    reach="all parameters",
    over="every epsilon, k, n, every data and every two sampling rates",
    assumption=NO_EPSILON,
    argument=proofs.JENSEN,
)


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


def _estimate(name: str, tallies: Array, users: int, rate: float, epsilon: float) -> Array:
    """Return g_DE or c-hat."""
    known: dict[str, Any] = {"sampling_rate": rate, "mechanism": KaryRandomisedResponse(epsilon, tallies.shape[-1])}
    found = getattr(estimators, name)(tallies, **known | ({"users": users} if name == G_DE else {}))
    return np.asarray(found)


def _expected_distance(name: str, holders: Array, rate: float, epsilon: float) -> float:
    """Return the mean total variation distance between an estimate and the data, in the normal limit."""
    known = SampledCounts(round(holders.sum()), rate, KaryRandomisedResponse(epsilon, holders.size))
    deviations = np.sqrt(getattr(known, f"variance_{name}")(holders))
    return float(distances.expected_total_variation(deviations, users=known.users))


def _distance_by_user(name: str, holders: Array, rate: float, epsilon: float) -> float:
    """Return the same by enumerating one user, adding independent users, and integrating a normal deviation's tail."""
    one = all_reports((0,), (rate,), epsilon, holders.size)
    holder, other = one.variance(_estimate(name, one.totals, 1, rate, epsilon))[:2]
    deviations = np.sqrt(holders * holder + (holders.sum() - holders) * other)
    points, weights = np.polynomial.legendre.leggauss(40)
    mean_deviation = 5 * weights @ special.erfc(5 * (points + 1) / math.sqrt(2))
    return float(deviations.sum() * mean_deviation / (2 * holders.sum()))


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
    shares = _estimate(name, tallies, users, rate, epsilon) / users
    found = np.abs((frequency.project_simplex(shares) if projected else shares) - counts / users).sum(axis=1) / 2
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(RUNS))


def _nearest_by_bisection(vector: Array) -> Array:
    """Return the nearest distribution: what exceeds a level, which is bisected until that is 1 in all."""
    low, high = vector.min() - 1, vector.max()
    for _ in range(100):
        level = (low + high) / 2
        low, high = (level, high) if np.maximum(vector - level, 0).sum() > 1 else (low, level)
    return np.maximum(vector - low, 0)


def _improves(e: Evidence, distribution: Array) -> str:
    """Require that g_DE is unbiased, and closer to the data at the high rate than at the low one."""
    rates = low, high = published()["rate_low"], published()["rate_high"]
    for data, law in proofs.DATA.items():
        mean, variance = proofs.moments(proofs.rescaled, law)
        e.proven(identity(mean, n * f))
        e.proven(identity(variance, survey(data).variance_rescaled(n * f)))
    e.proven(proofs.thinned(proofs.rescaled))
    e.proven(proofs.improves("variance_rescaled"))
    holders = published()["nodes"] * distribution
    closed = {(r, epsilon): _expected_distance(G_DE, holders, r, epsilon) for r in rates for epsilon in FAMILY}
    e.needs(all(better(closed[high, epsilon], closed[low, epsilon]) for epsilon in FAMILY))
    seen = {r: _simulated(G_DE, distribution, r, 3.0) for r in rates}
    for rate, (mean, error) in seen.items():
        e.same(closed[rate, 3.0], _distance_by_user(G_DE, holders, rate, 3.0))
        e.sure(abs(mean - closed[rate, 3.0]) < 6 * error + 0.01 * mean)
    ratios = ", ".join(f"{closed[low, epsilon]:.3f} -> {closed[high, epsilon]:.3f}" for epsilon in FAMILY)
    return (
        "the root mean square error at .1 is at least 3 times that at .9 at every value, and the expected distance no "
        f"smaller; distance of g_DE, n = 50000, epsilon = 1, 2, 3, 5: {ratios}; simulated at 3: {seen[low][0]:.3f} "
        f"-> {seen[high][0]:.3f} ({RUNS} collections each)"
    )


@claim(
    "Section 4, domain",
    synthetic.binomial,
    kind="enumeration",
    over="Bin(100, .5), the only data set it speaks of",
    otherwise="corrected",
    corrected="The domain is 0, ..., 100, of 101 values; the companion uses it for both data sets.",
)
def domain(e: Evidence) -> str:
    """The data follow Bin(100, .5) on a domain of 100 values."""
    values = int((_first(e) > 0).sum())
    e.needs(values == published()["domain_size"])
    return f"Bin(100, .5) gives positive probability to {values} values"


@figures("Figure 1", SampledCounts.variance_rescaled, estimators.rescaled, *DISTANCE, synthetic.binomial)
def figure_1(e: Evidence) -> str:
    """For Bin(100, .5) the estimate g_DE approximates the data better at rate .9 than at .1."""
    return _improves(e, _first(e))


@figures("Figure 2", SampledCounts.variance_rescaled, estimators.rescaled, *DISTANCE, synthetic.binomial_mixture)
def figure_2(e: Evidence) -> str:
    """For Bin(50, .6) + Bin(50, .4) the estimate g_DE approximates the data better at rate .9 than at .1."""
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


@claim(
    "Figure 3, communication cost",
    reporters.expected_reports,
    kind="proof",
    reach="all parameters",
    over="every n, every sampling rate and every data",
    argument="A sum over users, decided for two groups of them.",
)
def communication_cost(e: Evidence) -> str:
    """Sampling at rate pi costs of the order of n pi reports."""
    for case in CASES:
        enumerated = case.reports.mean(case.reports.totals.sum(axis=1))
        e.same(reporters.expected_reports(case.holders, case.sampling_rate), enumerated)
    e.decides(identity(reporters.expected_reports([n * f, n - n * f], pi), n * pi))
    users = int(published()["nodes"])
    low, high = (reporters.expected_reports(users, published()[key]) for key in ("rate_low", "rate_high"))
    return (
        f"the expected number of reports is exactly n pi, as by enumeration of {len(FIXED)} populations; {low:g} at pi "
        f"= .1 and {high:g} at .9"
    )


@figures(
    "Figure 3, diminishing returns",
    SampledCounts.variance_realised_size,
    estimators.realised_size,
    *DISTANCE,
    synthetic.binomial,
    reach="a box",
    over="every epsilon, k, n and every data: up to pi = 3/4, and up to pi = 1 where (e^epsilon - 1)^2 <= 3 (k - 1) "
    "e^epsilon",
    argument=f"The distance is a sum over values, decided for each. {proofs.JENSEN}",
)
def diminishing_returns(e: Evidence) -> str:
    """After a point the total variation distance does not decrease significantly compared to the growing cost."""
    e.assumption += f" {NORMAL} Read as: every further report lowers the distance by less than the one before."
    variance = proofs.moments(proofs.realised, proofs.FIXED)[1]
    e.proven(identity(survey().variance_realised_size(n * f), variance))
    e.proven(proofs.thinned(proofs.realised))
    e.proven(proofs.fewer_gains(pi=(0, Fraction(3, 4))))
    least = 1 + (t - 1) * (t - 1) / (3 * t)
    e.proven(proofs.fewer_gains(least + symbols("more")[0], more=(0, oo)))
    holders = published()["nodes"] * _first(e)
    at_3 = [_expected_distance(C_HAT, holders, rate, 3.0) for rate in (0.1, 0.2, 0.9, 1.0)]
    e.same(at_3[0], _distance_by_user(C_HAT, holders, 0.1, 3.0))
    e.needs(at_3[0] - at_3[1] > at_3[2] - at_3[3] > 0)
    largest = math.acosh(1 + 3 * LARGEST / 2)
    return (
        f"with 101 values returns diminish at every rate, whatever the data, up to epsilon = {largest:.2f}; epsilon = "
        f"3: pi from .1 to .2 lowers the distance by {1 - at_3[1] / at_3[0]:.1%}, from .9 to 1 by "
        f"{1 - at_3[3] / at_3[2]:.1%}, at equal cost"
    )


@figures(
    "Section 6, rate .1 against 1",
    SampledCounts.variance_realised_size,
    estimators.realised_size,
    frequency.project_simplex,
    *DISTANCE,
    synthetic.binomial,
    otherwise="corrected",
    over="every epsilon, k, n and every data (root mean square error); the distance in the normal limit",
    argument="Users are independent, so that variances are sums over them.",
    corrected="A tenth of the reports makes the root mean square error at every value at least sqrt(10) times as "
    "large, whatever epsilon and the data, and so in the normal limit the expected distance of the estimate as it is. "
    "Projected onto the simplex, without which it is no distribution, the ratio is smaller, and below 2 up to epsilon "
    "1. The absolute difference becomes small for many users (for 50000 of them at large epsilon): as a statement "
    "about that the sentence holds.",
)
def a_tenth_against_all(e: Evidence) -> str:
    """Sampling each user with probability .1 and sampling every user make no drastic difference in total variation."""
    variance = proofs.moments(proofs.realised, proofs.FIXED)[1]
    e.proven(identity(survey().variance_realised_size(n * f), variance))
    e.proven(proofs.improves("variance_realised_size"))
    tenth, all_of_them = (survey(rate=r).variance_realised_size(n * f) for r in (0.1, 1))
    e.decides(everywhere(4 * all_of_them - tenth))
    holders, (low, full) = published()["nodes"] * _first(e), (published()["rate_low"], published()["rate_all"])
    for rate in (low, full):
        e.same(_expected_distance(C_HAT, holders, rate, 3.0), _distance_by_user(C_HAT, holders, rate, 3.0))

    def lost(epsilon: float) -> float:
        return _expected_distance(C_HAT, holders, low, epsilon) - _expected_distance(C_HAT, holders, full, epsilon)

    seen = {}
    for epsilon in (1.0, 3.0, 8.0):
        few, many = (_simulated(C_HAT, _first(e), rate, epsilon)[0] for rate in (low, full))
        seen[epsilon] = few / many
    e.sure(min(seen.values()) > 2)
    raw = np.random.default_rng(2022).normal(0.01, 0.1, 101)
    e.same(frequency.project_simplex(raw), _nearest_by_bisection(raw))
    inside = {}
    for epsilon in (0.25, 0.5, 1.0, 3.0):
        tenth_seen, all_seen = (_simulated(C_HAT, _first(e), rate, epsilon, projected=True) for rate in (low, full))
        inside[epsilon] = tenth_seen[0] / all_seen[0]
        spread = inside[epsilon] * math.hypot(tenth_seen[1] / tenth_seen[0], all_seen[1] / all_seen[0])
        e.sure((inside[epsilon] + 4 * spread < 2) == (epsilon <= 1))
    reached = [_root(lost, gap) for gap in (0.1, 0.05)]
    e.assumption += (
        " Drastic is read as a ratio of at least 2, of estimates as they are. As an absolute difference it depends on "
        "epsilon: below .1 for "
        f"epsilon above {reached[0]:.2f}, below .05 above {reached[1]:.2f} (normal limit)."
    )
    ratios = ", ".join(f"{ratio:.2f} at {epsilon:g}" for epsilon, ratio in seen.items())
    simplex = ", ".join(f"{ratio:.2f} at {epsilon:g}" for epsilon, ratio in inside.items())
    return (
        f"the distance at .1 over that at 1, simulated ({RUNS} collections each), n = 50000: {ratios}; of estimates "
        f"projected onto the simplex {simplex}"
    )


def _root(function: Callable[[float], float], level: float) -> float:
    """Return the epsilon at which a function takes a level."""
    return float(optimize.brentq(lambda epsilon: function(epsilon) - level, 1.0, 12.0, xtol=1e-6))
