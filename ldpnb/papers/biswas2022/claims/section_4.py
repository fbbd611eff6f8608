"""Section 4 of biswas2022 and what Section 6 reads off its figures. The source gives no epsilon: statements are checked
over a family.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from ldpnb.accuracy import distances
from ldpnb.accuracy import sampling as accuracy
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
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
DISTANCE = (
    "accuracy.sampling.variance_realised_size",
    "accuracy.distances.expected_total_variation",
    "estimators.sampling.realised_size",
    "data.synthetic.binomial",
)


def _binomial(trials: int, probability: float) -> Array:
    """Write out the binomial distribution on the common domain."""
    chances = np.zeros(LARGEST + 1)
    for v in range(trials + 1):
        chances[v] = math.comb(trials, v) * probability**v * (1 - probability) ** (trials - v)
    return chances


def _first() -> Array:
    return synthetic.binomial(int(published()["first_trials"]), published()["first_probability"])


def _second() -> Array:
    chances = (published()["second_probability_high"], published()["second_probability_low"])
    return synthetic.binomial_mixture(int(published()["second_trials"]), chances, largest=LARGEST)


def _expected_distance(holders: Array, rate: float, epsilon: float) -> float:
    """Return the mean total variation distance between c-hat and the data, in closed form."""
    nodes = round(holders.sum())
    mechanism = KaryRandomisedResponse(epsilon, holders.size)
    variance = accuracy.variance_realised_size(holders, nodes=nodes, sampling_rate=rate, mechanism=mechanism)
    return distances.expected_total_variation(np.sqrt(variance), nodes=nodes)


def _distance_by_node(holders: Array, rate: float, epsilon: float) -> float:
    """Return the same by enumerating what one node does, adding independent nodes, and integrating the tail of a normal
    deviation.
    """
    one = all_reports((0,), (rate,), epsilon, holders.size)
    mechanism = KaryRandomisedResponse(epsilon, holders.size)
    estimates = estimators.realised_size(one.totals, sampling_rate=rate, mechanism=mechanism)
    centred = agree(one.mean(estimates), np.eye(holders.size)[0])
    holder, other = one.variance(estimates)[:2]
    deviations = np.sqrt(holders * holder + (holders.sum() - holders) * other)
    points, weights = np.polynomial.legendre.leggauss(40)
    mean_deviation = 5 * weights @ special.erfc(5 * (points + 1) / math.sqrt(2))
    return float(deviations.sum() * mean_deviation / (2 * holders.sum())) if centred else math.nan


def _routes_agree(holders: Array, rates: tuple[float, ...]) -> bool:
    pairs = [(rate, epsilon) for rate in rates for epsilon in FAMILY]
    closed = [_expected_distance(holders, *pair) for pair in pairs]
    return agree(closed, [_distance_by_node(holders, *pair) for pair in pairs])


def _simulated(distribution: Array, rate: float, epsilon: float) -> tuple[float, float]:
    """Return mean and standard error of the distance between c-hat and a drawn data set, over simulated collections."""
    rng = stream("distance", rate, epsilon, seed=2022)
    nodes, mechanism = int(published()["nodes"]), KaryRandomisedResponse(epsilon, distribution.size)
    counts = synthetic.sample_counts(distribution, nodes, rng=rng)
    tallies = np.array([reporters.sampled_tallies(counts, rate, mechanism, rng=rng) for _ in range(RUNS)])
    estimates = estimators.realised_size(tallies, sampling_rate=rate, mechanism=mechanism)
    found = np.abs(estimates - counts).sum(axis=1) / (2 * nodes)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(RUNS))


def _improves(distribution: Array, sound: bool, reading: str = "") -> Verdict:
    """Judge that the estimate is closer to the data at the high rate than at the low one."""
    low, high = published()["rate_low"], published()["rate_high"]
    holders = published()["nodes"] * distribution
    closed = {(r, e): _expected_distance(holders, r, e) for r in (low, high) for e in FAMILY}
    seen = {r: _simulated(distribution, r, 3.0) for r in (low, high)}
    near = all(abs(mean - closed[r, 3.0]) < 6 * error + 0.01 * mean for r, (mean, error) in seen.items())
    ratios = ", ".join(f"{closed[low, e]:.3f} -> {closed[high, e]:.3f}" for e in FAMILY)
    return Verdict(
        judge(
            all(closed[high, e] < closed[low, e] for e in FAMILY),
            sound=sound and near and _routes_agree(holders, (low, high)),
        ),
        f"expected total variation of c-hat from pi = .1 to .9, n = 50000, epsilon = 1, 2, 3, 5: {ratios}; simulated at 3: "
        f"{seen[low][0]:.3f} -> {seen[high][0]:.3f} ({RUNS} collections each)",
        "identity",
        assumption=NO_EPSILON + reading,
    )


@claim(
    "biswas2022",
    "Section 4, domain",
    says="The data follow Bin(100, .5) on a domain of 100 values.",
    rests_on=("data.synthetic.binomial",),
)
def domain() -> Verdict:
    """Count the values that can occur."""
    distribution = _first()
    values = int((distribution > 0).sum())
    return Verdict(
        judge(
            values == published()["domain_size"],
            sound=agree(distribution, _binomial(100, 0.5), abs=0),
            otherwise="corrected",
        ),
        f"Bin(100, .5) gives positive probability to {values} values",
        "enumeration",
        corrected="The domain is 0, ..., 100, of 101 values; the companion uses it for both data sets.",
    )


@claim(
    "biswas2022",
    "Figure 1",
    says="For Bin(100, .5) the estimate approximates the data, and better so at rate .9 than at .1.",
    rests_on=DISTANCE,
)
def figure_1() -> Verdict:
    """Compare the expected distances at both rates, in closed form, node by node and simulated."""
    distribution = _first()
    return _improves(distribution, sound=agree(distribution, _binomial(100, 0.5), abs=0))


@claim(
    "biswas2022",
    "Figure 2",
    says="For Bin(50, .6) + Bin(50, .4) the estimate approximates the data, and better so at rate .9 than at .1.",
    rests_on=(*DISTANCE[:-1], "data.synthetic.binomial_mixture"),
)
def figure_2() -> Verdict:
    """Compare the expected distances at both rates, for the mixture."""
    distribution, high, low = _second(), _binomial(50, 0.6), _binomial(50, 0.4)
    total = np.convolve(high, low)[: LARGEST + 1]
    apart = [np.abs(other - _binomial(100, 0.5)).sum() / 2 for other in (total, distribution)]
    return _improves(
        distribution,
        sound=agree(distribution, (high + low) / 2, abs=0),
        reading=f" The plus sign is read as a mixture in equal parts: the sum of the two variables differs from Bin(100, .5) by a total variation "
        f"of {apart[0]:.4f} only, the mixture by {apart[1]:.3f}.",
    )


@claim(
    "biswas2022",
    "Figure 3, communication cost",
    says="Sampling at rate pi costs of the order of n pi reports.",
    rests_on=("designs.reporters.expected_reports",),
)
def communication_cost() -> Verdict:
    """Average the number of reports over every outcome."""
    stated = [len(case.values) * case.sampling_rate for case in CASES]
    formula = [reporters.expected_reports(case.holders, case.sampling_rate) for case in CASES]
    enumerated = [float(case.reports.mean(case.reports.totals.sum(axis=1))) for case in CASES]
    nodes = int(published()["nodes"])
    low, high = (reporters.expected_reports(nodes, published()[key]) for key in ("rate_low", "rate_high"))
    return Verdict(
        judge(agree(stated, enumerated), sound=agree(formula, enumerated)),
        f"the expected number of reports is exactly n pi, by enumeration of {len(FIXED)} populations; {low:g} at pi = .1 and {high:g} at .9",
        "enumeration",
    )


@claim(
    "biswas2022",
    "Figure 3, diminishing returns",
    says="After a point the total variation distance does not decrease significantly compared to the growing cost.",
    rests_on=DISTANCE,
)
def diminishing_returns() -> Verdict:
    """Follow the expected distance over pi = .1, ..., 1 in steps of equal cost."""
    distribution = _first()
    holders = published()["nodes"] * distribution
    rates = np.arange(1, 11) / 10
    sound = agree(distribution, _binomial(100, 0.5), abs=0) and _routes_agree(holders, (0.1, 0.8, 0.9, 1.0))

    def drops(epsilon: float) -> Array:
        return -np.diff([_expected_distance(holders, rate, epsilon) for rate in rates])

    falling = all((np.diff(drops(epsilon)) < 0).all() for epsilon in FAMILY)
    turn = _root(lambda epsilon: float(drops(epsilon)[-1] - drops(epsilon)[-2]))
    at_3 = [_expected_distance(holders, rate, 3.0) for rate in (0.1, 0.2, 0.9, 1.0)]
    return Verdict(
        judge(falling, sound=sound),
        f"epsilon = 3: pi from .1 to .2 lowers the distance by {1 - at_3[1] / at_3[0]:.1%}, from .9 to 1 by {1 - at_3[3] / at_3[2]:.1%}, at "
        f"equal cost; it falls as 1/sqrt(pi) while the randomisation dominates; from epsilon = {turn:.2f} on the last step gains more than the "
        "one before",
        "identity",
        assumption=f"{NO_EPSILON} True below epsilon = {turn:.2f}.",
    )


@claim(
    "biswas2022",
    "Section 6, rate .1 against 1",
    says="Sampling each node with probability .1 and sampling every node make no drastic difference in total variation.",
    rests_on=DISTANCE,
)
def a_tenth_against_all() -> Verdict:
    """Bound the ratio of the expected distances for every epsilon and find where their difference is small."""
    distribution = _first()
    holders = published()["nodes"] * distribution
    low, full = published()["rate_low"], published()["rate_all"]
    sound = agree(distribution, _binomial(100, 0.5), abs=0) and _routes_agree(holders, (low, full))

    def difference(epsilon: float) -> float:
        return _expected_distance(holders, low, epsilon) - _expected_distance(holders, full, epsilon)

    ratios = [
        _expected_distance(holders, low, e) / _expected_distance(holders, full, e) for e in (0.01, *FAMILY, 8.0, 10.0)
    ]
    reached = [_root(difference, gap) for gap in (0.1, 0.05)]
    proper = _root(lambda e: _expected_distance(holders, low, e), 1.0)
    return Verdict(
        judge(min(ratios) < math.sqrt(full / low) * (1 - 1e-9), sound=sound),
        f"the distance at .1 is at least sqrt(10) = 3.162 times that at 1 for every epsilon ({ratios[3]:.2f} at 3, {ratios[-1]:.1f} at 10); the "
        f"difference is below .1 only from epsilon = {reached[0]:.2f} on, below .05 from {reached[1]:.2f}; the raw distance at .1 exceeds 1 for "
        f"epsilon < {proper:.2f}",
        "identity",
        corrected="A tenth of the reports makes the expected distance at least sqrt(10) times as large, whatever epsilon: pi Var(c-hat) falls in "
        "pi at every value. Only the absolute difference becomes small, for large epsilon.",
        assumption=NO_EPSILON,
    )


def _root(function: Callable[[float], float], level: float = 0.0) -> float:
    """Return the epsilon at which a function takes a level."""
    from scipy import optimize

    return float(optimize.brentq(lambda epsilon: function(epsilon) - level, 1.0, 12.0, xtol=1e-6))
