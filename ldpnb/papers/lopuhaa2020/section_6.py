"""What decides Section 6 of lopuhaa2020; the words stand in ``section_6.toml``."""

import numpy as np

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


def section_6_more_than_two_values(e: Evidence) -> Numbers:
    e.proven(least_error())
    # subset selection is within t^3 of the bound at every distribution: t as the chances of all outputs change by as
    # much at most, and t^2 at the uniform one
    t, k, more = symbols("t k more")
    a = k + more
    best = (a - 1) * (a - 1) / LowerBounds(a, budget(t)).uniform_information(k)
    bound = a * (a - 1) * (a - 1) / (k * more * (t - 1) * (t - 1))
    share = (k * t + more) / a
    e.proven(positive(t - share, {t: (1, oo), k: (0, oo), more: (0, oo)}))
    e.proven(identity(best / bound, share * share))
    small, ratios, published = 1e-3, [], []
    for weights in (
        [0.9, 0.1],
        [0.7, 0.2, 0.1],
        [0.97, 0.01, 0.01, 0.01],
        [0.5, 0.3, 0.1, 0.05, 0.03, 0.02],
    ):
        point, size, bounds = np.array(weights), len(weights), LowerBounds(len(weights), small)
        error = information.distribution_error(
            SubsetSelection(small, size, size // 2).channel(), point
        )
        ratios += [
            error / bounds.any_channel(),
            error / lower_bounds.any_channel_bound_at(point, small)[0],
        ]
        published.append(error / bounds.distribution())
    e.needs(
        min(ratios) + 1e-9 >= 1 and max(ratios) < np.exp(3 * small) and min(published[1:]) > 1.9
    )
    return {"low": min(ratios), "high": max(ratios), "published": joined(published, ".2f")}


def section_6_optimal_protocols(e: Evidence) -> Numbers:
    e.proven(least_error() and best_subset_size())
    e.needs(selection_gap() < 1e-6)
    switches = {size: 0.5 * np.log((size - 1) * (size - 2) / 2) for size in (4, 5, 6, 1024)}
    for size, at in switches.items():
        e.needs([SubsetSelection.optimal(at * f, size).subset_size for f in (0.99, 1.01)] == [2, 1])
    many = LowerBounds(1024, 1.0)
    error, krr = many.uniform_optimum(), 1023**2 / many.uniform_information(1)
    plain = information.unbiased_frequency_error(KaryRandomisedResponse(1.0, 1024)) + 1 - 1 / 1024
    e.sure(
        agree(krr, plain)
    )  # k-RR has as many outputs as values, so that no estimate beats the unbiased one
    return {"switches": joined(switches.values(), ".3f"), "krr": krr / error}


def section_6_large_domains(e: Evidence) -> Numbers:
    e.proven(krr_maximum())
    r, a = symbols("r a")
    # a set bit makes its value e^epsilon times likelier: an output counts with its set bits alone
    for one, odds in (
        (UnaryEncoding.optimised(budget(r), a), r),
        (UnaryEncoding.symmetric(2 * budget(r), a), r * r),
    ):
        e.proven(identity(one.p / one.q / (one.miss_rate / (1 - one.q)), odds))
    size, users, rng = 10**5, 10**6, stream("large domains", seed=2022)
    counts = rng.multinomial(users, rng.dirichlet(np.full(size, 0.5)))
    tallies = KaryRandomisedResponse(1.0, size).sample_tallies(counts, rng=rng)
    estimate = likelihood.krr_mle(tallies, epsilon=1.0)
    slopes = (
        np.expm1(1.0) * tallies / (1 + np.expm1(1.0) * estimate)
    )  # alike on the values kept, and smaller elsewhere
    rises = float((slopes.max() - slopes[estimate > 0].min()) / slopes.max())
    e.sure(agree(estimate.sum(), 1))
    seen, lacks = zip(
        *(_unary_fit(*setting) for setting in ((1.0, 128, 10**4), (2.0, 20, users))), strict=True
    )
    gap = 1e-3
    e.needs(not (rises < 1e-9 and max(lacks) < gap and seen[1] < 2**20 / 10))
    return {"values": size, "users": users, "krr": 1e-9, "gap": gap, "seen": seen[1]}


def _unary_fit(epsilon: float, size: int, users: int) -> tuple[int, float]:
    """Return how many outputs of OUE are seen, and by how much the MLE's largest slope exceeds the maximum's."""
    unary, rng = UnaryEncoding.optimised(epsilon, size), stream("unary", seed=2022)
    outputs, tallies = unary.sample_outputs(
        rng.multinomial(users, np.full(size, 1 / size)), rng=rng
    )
    fit = likelihood.support_mle(outputs, tallies, unary)
    lacks = (
        written_out.steepest(1 + np.expm1(unary.epsilon) * outputs, tallies, fit.estimate) - users
    )
    return len(tallies), max(lacks, abs(fit.estimate.sum() - 1))


def section_6_prior_knowledge(e: Evidence) -> Numbers:
    alpha = symbols("alpha")[0]
    variance = (1 - SymmetricDirichlet(2, alpha).diversity() - 0.5) / 2
    e.decides(
        identity((variance + 0.25) / variance, 2 + 2 * alpha)
    )  # at least twice, whatever the prior
    cases = [TwoValues(5, 1e-6, concentration) for concentration in (0.5, 2.0)]
    ratios = [
        case.risk(binary_mle(5, 1e-6)).distribution / case.risk().distribution for case in cases
    ]
    e.needs(agree(ratios, [3.0, 6.0], rel=1e-4))
    return {"jeffreys": ratios[0], "beta": ratios[1]}
