"""Section 3.1, Appendix B and a sentence each of Sections 5 and 6 of lopuhaa2020: the maximum-likelihood estimate, how
to find it, what it equals and what it leaves out.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import exact_risk, information
from ldpnb.claims import Evidence, agree, claim, within
from ldpnb.deciders import budget, identity, symbols
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import routes_old as routes
from ldpnb.papers.lopuhaa2020.proofs import section_3 as proofs
from ldpnb.papers.lopuhaa2020.proofs import section_4 as proofs_4
from ldpnb.rng import stream

Array = NDArray[np.float64]

EPSILON = 1.0

section_3 = partial(claim, kind="certified", reach="all parameters")


@section_3(
    "Theorem 3.3",
    exact_risk.TwoValues.posteriors,
    likelihood.krr_mle,
    likelihood.mle,
    otherwise="open",
    corrected="Relative to the least error the squared distance falls like n^(-alpha/2) for Dirichlet(alpha), alpha < "
    "2, under k-RR (an outline, which the exact errors follow): only n^(-1/4) under Jeffreys' prior, because a share "
    "n^(-alpha/2) of the prior lies within sampling error of the boundary.",
    reading="reconstructed",
    assumption="What tends to what is lost; read as the MLE to the posterior mean. The outputs seen must determine the "
    "distribution; otherwise the MLE is not unique.",
    over="every prior, channel of rank a (least singular value s on vectors of sum 0), b outputs and n",
    argument="|S/n - Q p|_1^2 <= chi^2 (Cauchy) and |S/n - Q MLE|_1^2 <= 2 KL(S/n | Q p) <= 2 chi^2 (Pinsker; the MLE "
    "minimises KL), so E |MLE - P|^2 <= (1 + sqrt 2)^2 (b-1) / (n s^2); by Theorem 3.1 the MLE is nearer still to the "
    "posterior mean. The objective is a sum over the distinct outputs, whatever their tallies.",
)
def theorem_3_3(e: Evidence) -> str:
    """the MLE approaches the posterior mean as the number of users grows, and costs no more for more users (informally
    Theorem 1.3)
    """
    e.proven(proofs.consistency() and proofs.mean_is_best())
    ratios = np.array([[_distance(e, n, concentration) for n in (64, 256, 1024)] for concentration in (0.5, 1.0)])
    slopes = np.log(ratios[:, 2] / ratios[:, 1]) / np.log(4)
    e.needs((np.diff(ratios) < 0).all())
    channel, tallies = routes.unary_channel(0.5, 1 / (np.exp(EPSILON) + 1), 3), np.array([53, 52, 22, 14, 25, 19, 7, 8])
    once, often = likelihood.mle(channel, tallies), likelihood.mle(channel, 1000 * tallies)
    e.same(once.estimate, often.estimate, rel=1e-7)
    e.sure(routes.shortfall(channel, tallies[None].astype(float), once.estimate[None]) < 1e-6)
    e.sure(routes.shortfall(channel, 1000.0 * tallies[None], often.estimate[None]) < 1e-3)
    e.sure(abs(float(once.gap)) < 1e-6)
    return (
        f"squared distance over least error, two values, Jeffreys: {', '.join(f'{r:.3f}' for r in ratios[0])} at n = "
        f"64, 256, 1024 (exponent {slopes[0]:.2f}; {slopes[1]:.2f} under the uniform prior); 1000-fold tallies have "
        "the same MLE"
    )


def _distance(e: Evidence, users: int, concentration: float) -> float:
    """Return the mean squared distance between MLE and posterior mean over the least error, two values."""
    found, seen = exact_risk.TwoValues(users, EPSILON, concentration).posteriors(), np.arange(users + 1)
    tallies = np.column_stack([seen, users - seen])
    estimates = likelihood.krr_mle(tallies, epsilon=EPSILON)
    e.same(estimates, routes.krr_maximum(tallies.astype(float), EPSILON))
    some = tallies[users // 3]
    integral = routes.integral_mean(routes.krr_channel(EPSILON, 2), some, np.full(2, concentration))
    e.same(found.means[users // 3], integral[0])
    e.same(found.chances.sum(), 1.0)
    e.same(found.chances @ (found.variances + (found.means - 0.5) ** 2), 1 / (8 * concentration + 4))
    e.same(found.frequency_means, ((2 * concentration + users) * found.means - concentration) / users)
    distance = found.chances @ (estimates[:, 0] - found.means) ** 2
    e.sure(2 * distance <= (1 + np.sqrt(2)) ** 2 / (users * np.tanh(EPSILON / 2) ** 2))  # b = 2, s = p - q
    return float(distance / (found.chances @ found.variances))


@section_3(
    "Algorithm 1",
    likelihood.krr_mle,
    likelihood.certificate_gap,
    corrected="Remove the smallest tallies until (110) IS nonnegative for all that remain. One sort does it: the last "
    "rank K with u_K (e^epsilon - 1 + K) > u_1 + ... + u_K is the number that remain. As printed the rule never ends "
    "at the MLE: it stops at once, with a negative entry, or removes a value that belongs to it.",
    over="epsilon > 0, every number of values and all tallies",
    reading="reconstructed",
    assumption="(110), lost in the text, is rebuilt from (107) to (109).",
    argument="The likelihood is concave, so the conditions of optimality suffice; after sorting, the ranks kept are "
    "the first ones.",
)
def algorithm_1(e: Evidence) -> str:
    """under k-RR, removing the smallest tallies until (110) is no longer nonnegative yields the exact MLE in
    O(a log a)
    """
    e.proven(proofs.krr_maximum())
    rng, channel, flat = np.random.default_rng(2022), routes.krr_channel(EPSILON, 5), np.full(5, 0.2)
    cases = rng.multinomial(60, rng.dirichlet(np.full(5, 0.7), size=40))
    exact, tallies = likelihood.krr_mle(cases, epsilon=EPSILON), cases.astype(float)
    e.same(exact, routes.krr_maximum(tallies, EPSILON))
    e.same(likelihood.certificate_gap(channel, cases[0], flat), routes.shortfall(channel, tallies[:1], flat[None]))
    e.sure(routes.shortfall(channel, tallies, exact) < 1e-9)
    right = []
    for turned in (False, True):
        found = [routes.greedy(tally, EPSILON, stop_when_nonnegative=turned) for tally in tallies]
        right.append(sum(one is not None and agree(one, best) for one, best in zip(found, exact, strict=True)))
    printed, mended = right
    e.needs(printed == 40)
    e.otherwise = "corrected" if mended == 40 else "open"
    return (
        f"40 tallies of 60 reports: the rule as printed finds the MLE in {printed}, with its end turned round in "
        f"{mended}; the sorted form meets the optimality conditions at rounding level"
    )


@section_3(
    "Section 5, equivalence",
    likelihood.krr_mle,
    frequency.scale_simplex,
    frequency.normal_offset,
    frequency.unbiased,
    KaryRandomisedResponse.p,
    KaryRandomisedResponse.q,
    KaryRandomisedResponse.truthful_rate,
    kind="identity",
    otherwise="corrected",
    corrected="Both are max(gamma (f + k) - k, 0), with k = 1/c here and (1/c) (1 + e^epsilon / (a-2)) in [25]: equal "
    "if no unbiased estimate is negative, nearly equal while e^epsilon is small compared with a. Norm-Sub is the limit "
    "of large k.",
    over="epsilon > 0, a > 2, all tallies",
    reading="reconstructed",
    assumption="The MLE of [25] is rebuilt from its description: normal errors, a variance that depends on the "
    "frequency.",
    argument="Both maximise over the simplex with one multiplier for all values kept, found by the same sort.",
)
def equivalence(e: Evidence) -> str:
    """under k-RR the MLE is equivalent to the approximate one of Wang et al. [25]"""
    t, size = symbols("t a")
    e.proven(proofs.scaling_about_an_offset() and proofs.contrasts_grow_with_the_offset())
    mechanism = KaryRandomisedResponse(budget(t), size)
    e.decides(identity(frequency.normal_offset(mechanism), 1 / np.expm1(budget(t))))
    tallies = np.array([[500, 300, 150, 40, 10], [210, 205, 200, 195, 190]])
    exact, normal, plain = _three(e, tallies, EPSILON)
    e.same(exact[1], normal[1])
    e.same(exact[1], plain[1])
    ratios = [_error_ratio(e, epsilon) for epsilon in (0.5, 1.0, 4.0, 6.0, 10.0)]
    e.sure(within("equal", ratios, 1.0))
    return (
        f"tallies (500, 300, 150, 40, 10) at epsilon 1: MLE {exact[0].round(3).tolist()}, that of [25] "
        f"{normal[0].round(3).tolist()}; at the source's a = 1024, n = 10^4 the latter's squared error is "
        f"{', '.join(f'{r:.4f}' for r in ratios)} times the former's at epsilon .5, 1, 4, 6, 10"
    )


def _three(e: Evidence, tallies: NDArray[np.int64], epsilon: float) -> tuple[Array, Array, Array]:
    """Return MLE, that of [25] and unbiased estimates, each seen to agree with its definition."""
    users, size = int(tallies[0].sum()), tallies.shape[1]
    mechanism, contrast = KaryRandomisedResponse(epsilon, size), np.expm1(epsilon)
    plain = frequency.unbiased(tallies, users, mechanism)
    exact, offset = likelihood.krr_mle(tallies, epsilon=epsilon), frequency.normal_offset(mechanism)
    normal = frequency.scale_simplex(plain, offset)
    e.same(plain, (tallies / users * (contrast + size) - 1) / contrast)
    e.same(exact, routes.krr_maximum(tallies.astype(float), epsilon))
    e.same(exact, frequency.scale_simplex(plain, 1 / contrast))
    e.same(normal, routes.scaled(plain, (contrast + size - 1) / contrast / (size - 2)))
    return exact, normal, plain


def _error_ratio(e: Evidence, epsilon: float) -> float:
    """Return the squared error of [25] over that of the MLE in ten data sets of the source's second setting."""
    size, users, rng = 1024, 10_000, stream("equivalence", epsilon, seed=2022)
    truths = rng.dirichlet(np.full(size, 0.5), size=10)
    mechanism = KaryRandomisedResponse(epsilon, size)
    tallies = np.array([mechanism.sample_tallies(rng.multinomial(users, truth), rng=rng) for truth in truths])
    exact, normal, _ = _three(e, tallies, epsilon)
    return float(((normal - truths) ** 2).sum() / ((exact - truths) ** 2).sum())


@section_3(
    "Section 5, Norm-Sub",
    frequency.project_simplex,
    frequency.unbiased,
    kind="proof",
    over="every protocol, data set, distribution and report",
    argument="Norm-Sub is the projection onto the simplex: nearer to each of its points, report by report, unless the "
    "estimate is one of them already.",
)
def norm_sub_helps(e: Evidence) -> str:
    """Norm-Sub makes the unbiased estimate more accurate"""
    e.proven(proofs.projection_comes_nearer())
    e.needs(routes.never_further(frequency.project_simplex, 2022))
    users, mechanism = 4, KaryRandomisedResponse(EPSILON, 3)
    every = routes.all_sequences(routes.krr_channel(EPSILON, 3), users, np.full(3, 0.5))
    plain = frequency.unbiased(every.tallies, users, mechanism)
    near = frequency.project_simplex(plain)
    e.same(plain, routes.inverted(routes.krr_channel(EPSILON, 3), every.tallies))
    e.same(near, routes.projected(plain))
    before, after = (every.risk("distribution", estimate) for estimate in (plain, near))
    e.needs(after < before)
    return f"three values, four users, k-RR at epsilon 1, Jeffreys' prior, enumerated: {before:.4f} becomes {after:.4f}"


@section_3(
    "Section 5, unary encoding",
    likelihood.support_mle,
    UnaryEncoding.optimised,
    UnaryEncoding.channel,
    UnaryEncoding.symmetric,
    corrected="An output that nobody sent has no summand: there are at most n, of a values each, whatever 2^a is.",
    over="epsilon > 0 and every number of values, optimised and symmetric unary encoding",
    reading="reconstructed",
    assumption="The symbols are lost; read as 2^a outputs and large a.",
    argument="The summand of an output is its tally times a logarithm, 0 for tally 0; the factor common to all values "
    "of an output does not matter.",
)
def too_large_to_handle(e: Evidence) -> str:
    """under unary encoding the number of summands of the likelihood, 2^a, grows too large to handle for many values"""
    e.proven(proofs.unary_rows())
    small, size, users = UnaryEncoding.optimised(2.0, 6), 40, 2000
    every = np.array([17, *range(5, 68)])
    found = likelihood.support_mle(small.outputs(), every, small).estimate
    channel = routes.unary_channel(0.5, 1 / (np.exp(2.0) + 1), 6)
    e.same(small.channel(), channel)
    e.sure(routes.shortfall(channel, every[None].astype(float), found[None]) < 1e-3)
    large, rng = UnaryEncoding.optimised(2.0, size), stream("unary", seed=2022)
    outputs, tallies = large.sample_outputs(rng.multinomial(users, np.full(size, 1 / size)), rng=rng)
    fit = likelihood.support_mle(outputs, tallies, large)
    e.needs(not routes.shortfall(1 + np.expm1(2.0) * outputs, tallies[None].astype(float), fit.estimate[None]) < 1e-3)
    return (
        f"{size} values, {users} users, epsilon 2: {len(tallies)} of 2^{size} outputs seen, the MLE from them "
        "certified to 0.001 nats"
    )


@section_3(
    "Section 5, Jeffreys' prior",
    information.fisher_information,
    information.krr_log_det_information,
    kind="identity",
    otherwise="open",
    corrected="It is that of the values themselves. That of reports is proportional to sqrt(det J_P), under k-RR to "
    "the product of (1 + (e^epsilon - 1) P_x)^(-1/2) over the values: bounded, and uniform in the limit of strong "
    "privacy.",
    reading="reconstructed",
    assumption="The symbols are lost; read as parameter 1/2, and as the prior of P.",
    over="every number of values",
    argument="With other parameters the score is multiplied by the Jacobian, so sqrt(det J) changes as a density does. "
    "J is the inverse of the covariance diag(p) - p p^T without one coordinate, whose determinant is the product of "
    "all p.",
)
def jeffreys_prior(e: Evidence) -> str:
    """Jeffreys' prior is the symmetric Dirichlet distribution with parameter 1/2, and does not depend on how the
    distribution is parametrised
    """
    e.proven(proofs_4.determinants() and proofs_4.information_of_values())
    rng, tops = np.random.default_rng(2022), []
    for size in (2, 3, 6):
        point = np.maximum(rng.dirichlet(np.full(size, 0.5)), 1e-3)
        point /= point.sum()
        plain = np.linalg.slogdet(information.fisher_information(np.eye(size), point))[1]
        e.needs(agree(plain, -np.log(point).sum()))
        channel = routes.krr_channel(EPSILON, size)
        e.same(
            information.krr_log_det_information(point, epsilon=EPSILON),
            np.linalg.slogdet(routes.information_sum(channel, point)[0])[1],
        )
    for epsilon in (0.1, 5.0):
        logs = [information.krr_log_det_information(p, epsilon=epsilon) for p in ([1.0, 0.0, 0.0], [1 / 3] * 3)]
        tops.append(float(np.exp((logs[0] - logs[1]) / 2)))
    e.same(tops, [np.sqrt((1 + np.expm1(x) / 3) ** 3 / np.exp(x)) for x in (0.1, 5.0)])
    return (
        "det J of 2, 3 and 6 values is the inverse product of their shares; under k-RR on three values the density at "
        f"a corner, infinite without noise, is {tops[0]:.4f} times that at the centre at epsilon .1 and {tops[1]:.2f} "
        "times at 5"
    )


@section_3(
    "Section 6, prior knowledge",
    exact_risk.TwoValues.risk,
    likelihood.krr_mle,
    information.SymmetricDirichlet.diversity,
    kind="identity",
    over="two values, every prior Beta(alpha, alpha) and odd number of users, as epsilon falls to 0",
    argument="In the limit the reports are independent of the distribution: the posterior mean is 1/2, and the MLE "
    "gives all to the value with more reports.",
)
def prior_knowledge(e: Evidence) -> str:
    """prior knowledge, which the MLE ignores, can have a significant impact on the error"""
    alpha = symbols("alpha")[0]
    e.decides(identity(proofs.prior_against_none(alpha), 2 + 2 * alpha))  # at least twice, whatever the prior
    users, ratios = 5, []
    for concentration in (0.5, 2.0):
        case, seen = exact_risk.TwoValues(users, 1e-6, concentration), np.arange(users + 1)
        tallies = np.column_stack([seen, users - seen])
        maximum = likelihood.krr_mle(tallies, epsilon=1e-6)[:, 0]
        e.same(maximum, routes.krr_maximum(tallies.astype(float), 1e-6)[:, 0])
        least = case.risk().distribution
        e.same(least, 1 / (4 * concentration + 2), rel=1e-4)
        ratios.append(case.risk(maximum).distribution / least)
    e.same(ratios, [3.0, 6.0], rel=1e-4)
    return (
        f"five users, epsilon 1e-6: MLE over least error {ratios[0]:.4f} under Jeffreys' prior, {ratios[1]:.4f} under "
        "Beta(2, 2)"
    )
