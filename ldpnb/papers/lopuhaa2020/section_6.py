"""Decide the claims of Section 6; their words are in ``section_6.toml``."""

import numpy as np
from scipy.stats import binom

from ldpnb.claims import Evidence, Numbers, agree, joined
from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.estimators import likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.papers.lopuhaa2020 import written_out
from ldpnb.papers.lopuhaa2020.formulas import information, lower_bounds
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.formulas.information import SymmetricDirichlet
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import LowerBounds
from ldpnb.papers.lopuhaa2020.section_3 import krr_maximum
from ldpnb.papers.lopuhaa2020.tables.optimality import binary_mle
from ldpnb.papers.lopuhaa2020.uniform import best_subset_size, least_error, selection_gap
from ldpnb.rng import stream

SEED = 2022
SMALL_BUDGET = 1e-3
SKEWED = (
    (0.9, 0.1),
    (0.7, 0.2, 0.1),
    (0.97, 0.01, 0.01, 0.01),
    (0.5, 0.3, 0.1, 0.05, 0.03, 0.02),
)
"""Distributions far from the uniform one."""

GAP = 1e-3
"""Nats below the maximum of the log-likelihood within which a fit counts as found."""


# Protocols


def section_6_more_than_two_values(e: Evidence) -> Numbers:
    e.proven(least_error())
    _prove_that_selection_is_near(e)

    ratios = []
    over_published = []
    for weights in SKEWED:
        point = np.array(weights)
        bounds = LowerBounds(point.size, SMALL_BUDGET)
        selection = SubsetSelection(SMALL_BUDGET, point.size, point.size // 2)
        error = information.distribution_error(selection.channel(), point)
        at_point, _ = lower_bounds.any_channel_bound_at(point, SMALL_BUDGET)
        ratios.append(error / bounds.any_channel())
        ratios.append(error / at_point)
        over_published.append(error / bounds.distribution())

    e.needs(min(ratios) + 1e-9 >= 1)
    e.needs(max(ratios) < np.exp(3 * SMALL_BUDGET))
    e.needs(min(over_published[1:]) > 1.9)
    return {
        "low": min(ratios),
        "high": max(ratios),
        "published": joined(over_published, ".2f"),
    }


def _prove_that_selection_is_near(e: Evidence) -> None:
    """Prove that subset selection is within ``t^3`` of the bound at every distribution.

    The factor t is there because the probabilities of all outputs change by as much at most; at the
    uniform distribution it is within ``t^2``.
    """
    t, k, more = symbols("t k more")
    a = k + more
    best = (a - 1) * (a - 1) / LowerBounds(a, budget(t)).uniform_information(k)
    bound = a * (a - 1) * (a - 1) / (k * more * (t - 1) * (t - 1))
    share = (k * t + more) / a
    e.proven(positive(t - share, {t: (1, oo), k: (0, oo), more: (0, oo)}))
    e.proven(identity(best / bound, share * share))


def section_6_optimal_protocols(e: Evidence) -> Numbers:
    e.proven(least_error() and best_subset_size())
    e.needs(selection_gap() < 1e-6)

    switches = []
    for size in (4, 5, 6, 1024):
        switch = 0.5 * np.log((size - 1) * (size - 2) / 2)
        before = SubsetSelection.optimal(0.99 * switch, size)
        after = SubsetSelection.optimal(1.01 * switch, size)
        e.needs((before.subset_size, after.subset_size) == (2, 1))
        switches.append(switch)

    many = LowerBounds(1024, 1.0)
    least = many.uniform_optimum()
    krr = 1023**2 / many.uniform_information(1)

    # k-RR has as many outputs as values, so that no estimate beats the unbiased one.
    unbiased = information.unbiased_frequency_error(KaryRandomisedResponse(1.0, 1024))
    e.sure(agree(krr, unbiased + 1 - 1 / 1024))

    sketch = _hashing_over_the_best(100, 1.0)
    e.needs(1 <= sketch < 1.05)
    return {"switches": joined(switches, ".3f"), "krr": krr / least, "sketch": sketch}


def _hashing_over_the_best(size: int, epsilon: float) -> float:
    """Return the error of local hashing over the least one, at the uniform distribution.

    The values are hashed to ``t + 1`` buckets, with ``t = e^epsilon``, so that each value is in the
    set that is sent with probability ``1 / (t + 1)``, independently. A set of k values is sent in
    proportion to its probability and to ``k t + a - k``, and the traces of the information add up.
    """
    bounds = LowerBounds(size, epsilon)
    sizes = np.arange(1, size)
    odds = np.exp(epsilon)
    weights = binom.pmf(sizes, size, 1 / (odds + 1)) * (sizes * odds + size - sizes)
    traces = np.array([bounds.uniform_information(k) for k in sizes])
    trace = (weights / weights.sum()) @ traces
    return float((size - 1) ** 2 / trace / bounds.uniform_optimum())


# Estimates


def section_6_large_domains(e: Evidence) -> Numbers:
    for size in range(2, 13):
        outputs = UnaryEncoding.optimised(1.0, size).outputs()
        e.needs(len(np.unique(outputs, axis=0)) == 2**size)

    e.proven(krr_maximum())
    _prove_that_set_bits_count(e)

    values = 10**5
    users = 10**6
    rises = _slopes_of_one_sort(e, values, users)
    e.sure(rises < 1e-9)

    sent = 10**4
    _, lacks_of_128 = _unary_fit(1.0, 128, sent)
    seen, lacks_of_20 = _unary_fit(2.0, 20, users)
    e.sure(max(lacks_of_128, lacks_of_20) < GAP)

    return {
        "sent": sent,
        "gap": GAP,
        "seen": seen,
        "users": users,
        "values": values,
        "krr": 1e-9,
    }


def _prove_that_set_bits_count(e: Evidence) -> None:
    """Prove that a set bit makes its value ``e^epsilon`` times likelier, whatever the others are.

    So the set bits of an output alone decide its summand.
    """
    r, a = symbols("r a")
    optimised = UnaryEncoding.optimised(budget(r), a)
    symmetric = UnaryEncoding.symmetric(2 * budget(r), a)
    for encoding, odds in ((optimised, r), (symmetric, r * r)):
        ratio = (encoding.p / encoding.q) / (encoding.miss_rate / (1 - encoding.q))
        e.proven(identity(ratio, odds))


def _slopes_of_one_sort(e: Evidence, values: int, users: int) -> float:
    """Return by how much the slopes of the log-likelihood differ on the values that are kept.

    At the maximum they are alike there, and smaller elsewhere.
    """
    rng = stream("large domains", seed=SEED)
    counts = rng.multinomial(users, rng.dirichlet(np.full(values, 0.5)))
    tallies = KaryRandomisedResponse(1.0, values).sample_tallies(counts, rng=rng)
    estimate = likelihood.krr_mle(tallies, epsilon=1.0)
    e.sure(agree(estimate.sum(), 1))

    contrast = np.expm1(1.0)
    slopes = contrast * tallies / (1 + contrast * estimate)
    return float((slopes.max() - slopes[estimate > 0].min()) / slopes.max())


def _unary_fit(epsilon: float, size: int, users: int) -> tuple[int, float]:
    """Return how many outputs of OUE are seen, and how far the fit is from the maximum."""
    unary = UnaryEncoding.optimised(epsilon, size)
    rng = stream("unary", seed=SEED)
    counts = rng.multinomial(users, np.full(size, 1 / size))
    outputs, tallies = unary.sample_outputs(counts, rng=rng)
    fit = likelihood.support_mle(outputs, tallies, unary)

    rows = 1 + np.expm1(unary.epsilon) * outputs
    lacks = written_out.steepest(rows, tallies, fit.estimate) - users
    return len(tallies), max(lacks, abs(fit.estimate.sum() - 1))


def section_6_prior_knowledge(e: Evidence) -> Numbers:
    # As epsilon falls the MLE is all on one value, and the posterior mean the prior's.
    alpha = symbols("alpha")[0]
    variance = (1 - SymmetricDirichlet(2, alpha).diversity() - 0.5) / 2
    e.decides(identity((variance + 0.25) / variance, 2 + 2 * alpha))

    estimates = binary_mle(5, 1e-6)
    ratios = []
    for concentration in (0.5, 2.0):
        case = TwoValues(5, 1e-6, concentration)
        ratios.append(case.risk(estimates).distribution / case.risk().distribution)
    e.needs(agree(ratios, [3.0, 6.0], rel=1e-4))
    return {"jeffreys": ratios[0], "beta": ratios[1]}
