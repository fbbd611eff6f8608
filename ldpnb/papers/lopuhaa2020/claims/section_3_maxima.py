"""Section 3.1 and Appendix B of lopuhaa2020: the maximum-likelihood estimate, how to find it, and what it is not."""

import numpy as np

from ldpnb.accuracy import exact_risk
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020 import routes

EPSILON = 1.0


@claim(
    "Theorem 3.3",
    exact_risk.TwoValues.posteriors,
    likelihood.krr_mle,
    likelihood.mle,
    kind="certified",
    otherwise="open",
    corrected="Relative to the least error the squared distance falls like n^(-alpha/2) for Dirichlet(alpha), alpha < "
    "2: only n^(-1/4) under Jeffreys' prior, because a share n^(-alpha/2) of the prior lies within sampling error of "
    "the boundary.",
    assumption="The outputs seen must determine the distribution; otherwise the MLE is not unique.",
)
def theorem_3_3(e: Evidence) -> str:
    """the MLE approaches the posterior mean as the number of users grows, and costs no more for more users (informally
    Theorem 1.3)
    """
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
    return float(found.chances @ (estimates[:, 0] - found.means) ** 2 / (found.chances @ found.variances))


@claim(
    "Algorithm 1",
    likelihood.krr_mle,
    likelihood.certificate_gap,
    kind="certified",
    corrected="Remove the smallest tallies until (110) IS nonnegative for all that remain. One sort does it: the last "
    "rank K with u_K (e^epsilon - 1 + K) > u_1 + ... + u_K is the number that remain.",
)
def algorithm_1(e: Evidence) -> str:
    """under k-RR, removing the smallest tallies until (110) is no longer nonnegative yields the exact MLE in
    O(a log a)
    """
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


@claim(
    "Section 5, equivalence",
    likelihood.krr_mle,
    frequency.project_simplex,
    frequency.unbiased,
    kind="identity",
    corrected="The MLE scales where Norm-Sub shifts: max(s_x/lambda - 1/c, 0) against max(f_x - delta, 0). They are "
    "equal if no unbiased estimate is negative, the support of Norm-Sub lies in that of the MLE, and they differ by "
    "O(epsilon) at a fixed unbiased estimate.",
)
def equivalence(e: Evidence) -> str:
    """under k-RR the MLE is equivalent to the approximate one of Wang et al., and Norm-Sub is therefore as accurate"""
    rng = np.random.default_rng(2022)
    cases = np.vstack([[500, 300, 150, 40, 10], rng.multinomial(1000, rng.dirichlet(np.full(5, 5.0), size=60))])
    plain = frequency.unbiased(cases, 1000, KaryRandomisedResponse(EPSILON, 5))
    exact, near = likelihood.krr_mle(cases, epsilon=EPSILON), frequency.project_simplex(plain)
    written = (cases / 1000 * (np.exp(EPSILON) + 4) - 1) / np.expm1(EPSILON)
    e.same([plain, near], [written, routes.projected(written)])
    e.same(exact, routes.krr_maximum(cases.astype(float), EPSILON))
    e.needs(agree(exact, near))
    inside = (plain >= 0).all(axis=1)
    e.sure((exact[near > 0] > 0).all() and inside.any())
    e.same(exact[inside], near[inside])
    slopes = [_drift(epsilon) / epsilon for epsilon in (0.03, 0.01)]
    e.same(*slopes, rel=0.05)
    return (
        f"tallies (500, 300, 150, 40, 10) at epsilon 1: MLE {exact[0].round(3).tolist()}, Norm-Sub "
        f"{near[0].round(3).tolist()}; equal on {int(inside.sum())} of 61 data sets where nothing is clipped, support "
        f"of Norm-Sub inside that of the MLE on all 61; largest difference {slopes[1]:.3f} epsilon as epsilon falls at "
        "fixed unbiased estimate"
    )


def _drift(epsilon: float) -> float:
    """Return the largest difference between MLE and Norm-Sub at one unbiased estimate."""
    plain, contrast = np.array([0.7, 0.5, 0.2, -0.1, -0.3]), np.expm1(epsilon)
    tallies = np.round(10**15 * (plain * contrast + 1) / (contrast + 5))
    return float(np.abs(likelihood.krr_mle(tallies, epsilon=epsilon) - frequency.project_simplex(plain)).max())
