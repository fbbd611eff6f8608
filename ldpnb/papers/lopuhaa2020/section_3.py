"""Decide the claims of Section 3 and of Appendices A and B; their words are in ``section_3.toml``.

Throughout, ``c = e^epsilon - 1``. The K largest tallies have the sum S, and u or v is the least of
them.
"""

from functools import partial
from itertools import product
from math import comb

import numpy as np
import sympy

from ldpnb.arithmetic import Floats, Ints
from ldpnb.claims import Evidence, Numbers, agree, joined
from ldpnb.deciders import identity, oo, positive, sign_changes, symbols
from ldpnb.estimators import likelihood
from ldpnb.papers.lopuhaa2020 import written_out
from ldpnb.papers.lopuhaa2020.formulas import bayes, exact_risk
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.tables.frequencies import krr_estimate
from ldpnb.papers.lopuhaa2020.tables.optimality import binary_mle
from ldpnb.papers.lopuhaa2020.written_out import JEFFREYS, drawn_tallies

EPSILON = 1.0
USERS = 4
KRR = written_out.krr_channel(EPSILON, 3)
GAP = 1e-9
"""Nats below the maximum of the log-likelihood within which an estimate is the maximum."""


# Theorem 3.1


def theorem_3_1(e: Evidence) -> Numbers:
    e.proven(mean_is_best())

    names = {
        "mle": "MLE",
        "norm_sub": "Norm-Sub",
        "unbiased": "unbiased",
        "uniform": "uniform guess",
    }
    rivals = {}
    for field, name in names.items():
        rivals[field] = partial(krr_estimate, name, epsilon=EPSILON)

    risks = exact_risk.exact_risks(KRR, USERS, JEFFREYS, rivals)
    least = risks.pop("Bayes")
    for risk in risks.values():
        e.needs(least.distribution < risk.distribution)
        e.needs(least.frequency < risk.frequency)

    errors = {field: risk.distribution for field, risk in risks.items()}
    return {"bayes": least.distribution, **errors}


def mean_is_best() -> bool:
    """Decide that the ratio of two integrals (21) is the estimate of least squared error.

    With moments ``m_0, m_1, m_2`` of a coordinate under prior times likelihood, an estimate d costs
    the least error and ``m_0`` times its squared distance from ``m_1 / m_0``.
    """
    zeroth, first, second, d = symbols("m0 m1 m2 d")
    mean = first / zeroth
    least = second - first * mean
    cost = second - 2 * d * first + d * d * zeroth
    return identity(cost, least + zeroth * (mean - d) * (mean - d))


# Proposition 3.2


def proposition_3_2(e: Evidence) -> Numbers:
    e.proven(mean_is_best())

    # p_x times the density of Dirichlet(alpha) is alpha_x / alpha_0 times that of alpha + e_x.
    x, rest = sympy.symbols("x rest", positive=True)
    raised = sympy.beta(x + 1, rest).rewrite(sympy.gamma)
    ratio = raised / sympy.beta(x, rest).rewrite(sympy.gamma)
    e.proven(identity(sympy.gammasimp(ratio), x / (x + rest)))

    # In units of C(n+m, m): Pascal's rule, which adds an output, and C(n+m, m) <= (n+1)^m.
    n, m, i = symbols("n m i")
    e.proven(identity((n + m + 1) / (m + 1) - n / (m + 1), 1))
    e.proven(positive((n + 1) - (n + i) / i, {n: (0, oo), i: (1, oo)}))

    counted = []
    for values, outputs, users in ((2, 2, 6), (3, 3, 4), (2, 4, 4)):
        terms = _summands(values, outputs, users)
        formula = comb(users + values * outputs - 1, users)
        e.needs(terms == formula)
        counted.append(f"{terms} = {formula}")

    tally = np.array([4, 1, 2])
    mean, terms = written_out.mixture(KRR, tally, JEFFREYS)
    e.needs(agree(bayes.posterior(KRR, tally, JEFFREYS).distribution, mean))
    e.needs(agree(bayes.krr_posterior(tally, JEFFREYS, epsilon=EPSILON).distribution, mean))
    return {"counts": ", ".join(counted), "terms": terms, "mean": f"({joined(mean, '.6f')})"}


def _summands(values: int, outputs: int, users: int) -> int:
    """Return how many Dirichlet laws the mixtures of all tallies have together."""
    channel = (1 + 0.1 * np.eye(outputs, values)) / outputs
    total = 0
    for tally in product(range(users + 1), repeat=outputs):
        if sum(tally) == users:
            _, terms = written_out.mixture(channel, np.array(tally), np.ones(values))
            total += terms
    return total


# Theorem 3.3


def theorem_3_3(e: Evidence) -> Numbers:
    # The Kullback-Leibler divergence is at most chi^2, by ln u <= u - 1 at u = e^x and e^-x.
    x = sympy.Symbol("x")
    for above in (sympy.exp(x) - 1 - x, 1 - sympy.exp(x) + x * sympy.exp(x)):
        e.proven(sign_changes(above, x) == 0)
        e.proven(bool(above.subs(x, 1) > 0))

    # The chi^2 of n reports, output by output.
    n, chance = symbols("n chance")
    e.proven(identity(chance * (1 - chance) / n / chance, (1 - chance) / n))
    e.proven(mean_is_best())

    ratios = []
    for concentration in (0.5, 1.0):
        ratios.append([_distance(e, users, concentration) for users in (64, 256, 1024)])
    jeffreys, uniform = np.array(ratios)
    e.needs((np.diff(ratios) < 0).all())

    channel = written_out.oue_channel(EPSILON, 3)
    tallies = np.array([53, 52, 22, 14, 25, 19, 7, 8])
    once = likelihood.mle(channel, tallies).estimate
    often = likelihood.mle(channel, 1000 * tallies).estimate
    e.needs(agree(once, often, rel=1e-7))

    return {
        "first": jeffreys[0],
        "second": jeffreys[1],
        "third": jeffreys[2],
        "slope": _exponent(jeffreys),
        "uniform": _exponent(uniform),
    }


def _distance(e: Evidence, users: int, concentration: float) -> float:
    """Return the mean squared distance of MLE and posterior mean over the least error."""
    posteriors = TwoValues(users, EPSILON, concentration).posteriors()
    distance = posteriors.chances @ (binary_mle(users, EPSILON) - posteriors.means) ** 2

    outputs = 2
    singular_value = np.tanh(EPSILON / 2)
    bound = (1 + np.sqrt(outputs)) ** 2 / (users * singular_value**2)
    e.needs(2 * distance <= bound)
    return float(distance / (posteriors.chances @ posteriors.variances))


def _exponent(ratios: Floats) -> float:
    """Return the power of n by which the ratio falls from 256 to 1024 users."""
    return float(np.log(ratios[2] / ratios[1]) / np.log(4))


# Appendix B


def algorithm_1(e: Evidence) -> Numbers:
    e.proven(krr_maximum())

    tallies = drawn_tallies(5)
    exact = likelihood.krr_mle(tallies, epsilon=EPSILON)
    found = [greedy(tally, stop_when_nonnegative=True) for tally in tallies]
    e.needs(agree(found, exact))

    channel = written_out.krr_channel(EPSILON, 5)
    for tally, estimate in zip(tallies, exact, strict=True):
        e.sure(likelihood.certificate_gap(channel, tally, estimate) < GAP)
    return {"cases": len(tallies), "gap": GAP}


def appendix_b_last_sentence(e: Evidence) -> Numbers:
    e.proven(krr_maximum())

    tallies = drawn_tallies(5)
    exact = likelihood.krr_mle(tallies, epsilon=EPSILON)
    printed = 0
    mended = 0
    for tally, maximum in zip(tallies, exact, strict=True):
        printed += agree(greedy(tally, stop_when_nonnegative=False), maximum)
        mended += agree(greedy(tally, stop_when_nonnegative=True), maximum)

    e.needs(printed == len(tallies))
    e.sure(mended == len(tallies), "the changed rule misses a maximum")
    return {"cases": len(tallies), "printed": printed, "mended": mended}


def krr_maximum() -> bool:
    """Decide where the likelihood under k-RR has its maximum.

    It is ``s / lambda - 1/c`` on the K largest tallies if and only if K is the last rank with
    ``u_K (c + K) > S_K``: that meets the conditions of optimality, and the ranks that pass are the
    first ones. With k values dropped, and q the probability of each false report, it is
    ``((1 - kq) u - q S) / (S (p - q))``, a formula as Pinzón and others (2026) give one.
    """
    c, total, kept, u, v, k = symbols("c S K u v k")
    level = c * total / (c + kept)
    estimate = u / level - 1 / c

    multiplier = identity(c * u / (1 + c * estimate), level)
    sums_to_one = identity(total / level - kept / c, 1)
    sign = identity(estimate, (u * (c + kept) - total) / (c * total))  # and elsewhere c u <= level

    next_rank = identity(v * (c + kept + 1) - (total + v), v * (c + kept) - total)
    excess_of_u = u * (c + kept) - total
    excess_of_v = v * (c + kept) - total
    run = identity(excess_of_u - excess_of_v, (u - v) * (c + kept))

    q = 1 / (c + kept + k)
    same = identity(((1 - k * q) * u - q * total) / (total * c * q), estimate)
    return multiplier and sums_to_one and sign and next_rank and run and same


def greedy(tallies: Ints, *, stop_when_nonnegative: bool) -> Floats:
    """Return the estimate of Appendix B: remove the smallest tally until the rule stops.

    The rule stops when (110) is nonnegative for all values that remain or, as the last sentence of
    the appendix has it, when it is not. It may then remove every value, which gives nan.
    """
    contrast = np.expm1(EPSILON)
    order = np.argsort(tallies)
    for removed in range(tallies.size):
        kept = order[removed:]
        reported = tallies[kept] / tallies[kept].sum()
        shares = (reported * (contrast + kept.size) - 1) / contrast
        if (shares.min() >= 0) == stop_when_nonnegative:
            estimate = np.zeros(tallies.size)
            estimate[kept] = shares
            return estimate
    return np.full(tallies.size, np.nan)
