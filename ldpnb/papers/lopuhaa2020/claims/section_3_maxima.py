"""Section 3.1 and Appendix B of lopuhaa2020: the maximum-likelihood estimate, how to find it, and what it is not."""

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import exact_risk
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020 import routes

Array = NDArray[np.float64]

EPSILON = 1.0


def _distance(users: int, concentration: float) -> tuple[float, bool]:
    """Return the mean squared distance between MLE and posterior mean over the least error, two values, and whether the
    routes agree.
    """
    found, seen = exact_risk.binary_posteriors(users, EPSILON, concentration), np.arange(users + 1)
    tallies = np.column_stack([seen, users - seen])
    estimates = likelihood.krr_mle(tallies, epsilon=EPSILON)
    sound = agree(estimates, routes.krr_maximum(tallies.astype(float), EPSILON))
    some = tallies[users // 3]
    integral = routes.integral_mean(routes.krr_channel(EPSILON, 2), some, np.full(2, concentration))
    sound &= agree(found.means[users // 3], integral[0]) and agree(found.chances.sum(), 1.0)
    sound &= agree(found.chances @ (found.variances + (found.means - 0.5) ** 2), 1 / (8 * concentration + 4))
    sound &= agree(found.frequency_means, ((2 * concentration + users) * found.means - concentration) / users)
    return float(found.chances @ (estimates[:, 0] - found.means) ** 2 / (found.chances @ found.variances)), sound


@claim(
    "lopuhaa2020",
    "Theorem 3.3",
    says="the MLE approaches the posterior mean as the number of users grows, and costs no more for more users (informally Theorem 1.3)",
    rests_on=(
        "accuracy.exact_risk.binary_posteriors",
        "estimators.likelihood.krr_mle",
        "estimators.likelihood.mle",
    ),
)
def theorem_3_3() -> Verdict:
    """Decide by the exact distance between the two on two values, and find its rate."""
    sizes = (64, 256, 1024)
    found = {c: [_distance(n, c) for n in sizes] for c in (0.5, 1.0)}
    sound = all(s for pairs in found.values() for _, s in pairs)
    ratios = {c: [r for r, _ in pairs] for c, pairs in found.items()}
    slopes = {c: float(np.log(r[2] / r[1]) / np.log(4)) for c, r in ratios.items()}
    channel, tallies = routes.unary_channel(0.5, 1 / (np.exp(EPSILON) + 1), 3), np.array([53, 52, 22, 14, 25, 19, 7, 8])
    once, often = likelihood.mle(channel, tallies), likelihood.mle(channel, 1000 * tallies)
    sound &= routes.shortfall(channel, tallies[None].astype(float), once.estimate[None]) < 1e-6
    sound &= routes.shortfall(channel, 1000.0 * tallies[None], often.estimate[None]) < 1e-3 and agree(
        once.estimate, often.estimate, rel=1e-7
    )
    sound &= abs(float(once.gap)) < 1e-6
    holds = all(r[0] > r[1] > r[2] for r in ratios.values())
    evidence = (
        f"squared distance over least error, two values, Jeffreys: {', '.join(f'{r:.3f}' for r in ratios[0.5])} at n = 64, 256, 1024 "
        f"(exponent {slopes[0.5]:.2f}; {slopes[1.0]:.2f} under the uniform prior); 1000-fold tallies have the same MLE"
    )
    corrected = (
        "Relative to the least error the squared distance falls like n^(-alpha/2) for Dirichlet(alpha), alpha < 2: only n^(-1/4) under Jeffreys' "
        "prior, because a share n^(-alpha/2) of the prior lies within sampling error of the boundary."
    )
    assumption = "The outputs seen must determine the distribution; otherwise the MLE is not unique."
    return Verdict(
        judge(holds, sound=sound, otherwise="open"), evidence, "certified", corrected=corrected, assumption=assumption
    )


@claim(
    "lopuhaa2020",
    "Algorithm 1",
    says="under k-RR, removing the smallest tallies until (110) is no longer nonnegative yields the exact MLE in O(a log a)",
    rests_on=("estimators.likelihood.krr_mle", "estimators.likelihood.certificate_gap"),
)
def algorithm_1() -> Verdict:
    """Decide by running the rule as printed and with its end turned round, against the conditions of optimality."""
    rng = np.random.default_rng(2022)
    channel, printed, mended = routes.krr_channel(EPSILON, 5), 0, 0
    cases = rng.multinomial(60, rng.dirichlet(np.full(5, 0.7), size=40))
    exact = likelihood.krr_mle(cases, epsilon=EPSILON)
    sound = agree(exact, routes.krr_maximum(cases.astype(float), EPSILON))
    flat = np.full(5, 0.2)
    gap = likelihood.certificate_gap(channel, cases[0], flat)
    sound &= agree(gap, routes.shortfall(channel, cases[:1].astype(float), flat[None]))
    for tallies, best in zip(cases.astype(float), exact, strict=True):
        as_printed = routes.greedy(tallies, EPSILON, stop_when_nonnegative=False)
        turned = routes.greedy(tallies, EPSILON, stop_when_nonnegative=True)
        printed += as_printed is not None and agree(as_printed, best)
        mended += turned is not None and agree(turned, best)
    worst = routes.shortfall(channel, cases.astype(float), exact)
    evidence = (
        f"40 tallies of 60 reports: the rule as printed finds the MLE in {printed}, with its end turned round in {mended}; the sorted form "
        "meets the optimality conditions at rounding level"
    )
    corrected = (
        "Remove the smallest tallies until (110) IS nonnegative for all that remain. One sort does it: the last rank K with "
        "u_K (e^epsilon - 1 + K) > u_1 + ... + u_K is the number that remain."
    )
    status = judge(printed == 40, sound=sound and worst < 1e-9, otherwise="corrected" if mended == 40 else "open")
    return Verdict(status, evidence, "certified", corrected=corrected)


@claim(
    "lopuhaa2020",
    "Section 5, equivalence",
    says="under k-RR the MLE is equivalent to the approximate one of Wang et al., and Norm-Sub is therefore as accurate",
    rests_on=(
        "estimators.likelihood.krr_mle",
        "estimators.frequency.project_simplex",
        "estimators.frequency.unbiased",
    ),
)
def equivalence() -> Verdict:
    """Decide by a data set, and state how the two do relate."""
    mechanism, tallies = KaryRandomisedResponse(EPSILON, 5), np.array([500, 300, 150, 40, 10])
    rng = np.random.default_rng(2022)
    cases = np.vstack([tallies, rng.multinomial(1000, rng.dirichlet(np.full(5, 5.0), size=60))])
    plain = frequency.unbiased(cases, 1000, mechanism)
    exact, near = likelihood.krr_mle(cases, epsilon=EPSILON), frequency.project_simplex(plain)
    written = (cases / 1000 * (np.exp(EPSILON) + 4) - 1) / np.expm1(EPSILON)
    sound = agree(plain, written) and agree(near, routes.projected(written))
    sound &= agree(exact, routes.krr_maximum(cases.astype(float), EPSILON))
    nested = bool((exact[near > 0] > 0).all())
    inside = (plain >= 0).all(axis=1)
    equal_inside = inside.any() and agree(exact[inside], near[inside])
    equal = agree(exact, near)
    slopes = [_drift(e) / e for e in (0.03, 0.01)]
    evidence = (
        f"tallies (500, 300, 150, 40, 10) at epsilon 1: MLE {exact[0].round(3).tolist()}, Norm-Sub {near[0].round(3).tolist()}; equal on "
        f"{int(inside.sum())} of 61 data sets where nothing is clipped, support of Norm-Sub inside that of the MLE on all 61; "
        f"largest difference {slopes[1]:.3f} epsilon as epsilon falls at fixed unbiased estimate"
    )
    corrected = (
        "The MLE scales where Norm-Sub shifts: max(s_x/lambda - 1/c, 0) against max(f_x - delta, 0). They are equal if no unbiased estimate is "
        "negative, the support of Norm-Sub lies in that of the MLE, and they differ by O(epsilon) at a fixed unbiased estimate."
    )
    linear = agree(slopes[0], slopes[1], rel=0.05)
    return Verdict(
        judge(equal, sound=sound and nested and bool(equal_inside) and linear),
        evidence,
        "identity",
        corrected=corrected,
    )


def _drift(epsilon: float) -> float:
    """Return the largest difference between MLE and Norm-Sub at one unbiased estimate."""
    plain, users = np.array([0.7, 0.5, 0.2, -0.1, -0.3]), 10**15
    contrast = np.expm1(epsilon)
    tallies = np.round(users * (plain * contrast + 1) / (contrast + 5))
    return float(np.abs(likelihood.krr_mle(tallies, epsilon=epsilon) - frequency.project_simplex(plain)).max())
