"""What decides Section 3 and Appendices A and B of lopuhaa2020; the words stand in ``section_3.toml``.

``c = e^epsilon - 1``; the K largest tallies, u or v the least of them, sum to S.
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

EPSILON, USERS = 1.0, 4
KRR = written_out.krr_channel(EPSILON, 3)


def mean_is_best() -> bool:
    """Decide that the ratio of two integrals (21) is the estimate of least squared error.

    With moments ``m_0, m_1, m_2`` of a coordinate under prior times likelihood, an estimate d costs the least cost
    and ``m_0`` times its squared distance from ``m_1 / m_0``.
    """
    zeroth, first, second, d = symbols("m0 m1 m2 d")
    mean = first / zeroth
    least = second - first * mean
    return identity(
        second - 2 * d * first + d * d * zeroth, least + zeroth * (mean - d) * (mean - d)
    )


def theorem_3_1(e: Evidence) -> Numbers:
    e.proven(mean_is_best())
    names = {
        "mle": "MLE",
        "norm_sub": "Norm-Sub",
        "unbiased": "unbiased",
        "uniform": "uniform guess",
    }
    rivals = {field: partial(krr_estimate, name, epsilon=EPSILON) for field, name in names.items()}
    risks = exact_risk.exact_risks(KRR, USERS, JEFFREYS, rivals)
    least = risks.pop("Bayes")
    e.needs(
        all(
            least.distribution < one.distribution and least.frequency < one.frequency
            for one in risks.values()
        )
    )
    return {"bayes": least.distribution} | {
        field: risk.distribution for field, risk in risks.items()
    }


def proposition_3_2(e: Evidence) -> Numbers:
    e.proven(mean_is_best())
    # p_x times the density of Dirichlet(alpha) is alpha_x / alpha_0 times that of alpha + e_x
    x, rest = sympy.symbols("x rest", positive=True)
    ratio = sympy.beta(x + 1, rest).rewrite(sympy.gamma) / sympy.beta(x, rest).rewrite(sympy.gamma)
    e.proven(identity(sympy.gammasimp(ratio), x / (x + rest)))
    n, m, i = symbols(
        "n m i"
    )  # in units of C(n+m, m): Pascal's rule, which adds an output, and C(n+m, m) <= (n+1)^m
    e.proven(identity((n + m + 1) / (m + 1) - n / (m + 1), 1))
    e.proven(positive((n + 1) - (n + i) / i, {n: (0, oo), i: (1, oo)}))
    counted = []
    for values, outputs, users in ((2, 2, 6), (3, 3, 4), (2, 4, 4)):
        channel = np.full((outputs, values), 1 / outputs) + 0.1 * np.eye(outputs, values) / outputs
        tallies = [t for t in product(range(users + 1), repeat=outputs) if sum(t) == users]
        terms = sum(
            written_out.mixture(channel, np.array(tally), np.ones(values))[1] for tally in tallies
        )
        counted.append((terms, comb(users + values * outputs - 1, users)))
    e.needs(all(terms == formula for terms, formula in counted))
    tally = np.array([4, 1, 2])
    mean, terms = written_out.mixture(KRR, tally, JEFFREYS)
    e.needs(agree(bayes.posterior(KRR, tally, JEFFREYS).distribution, mean))
    e.needs(agree(bayes.krr_posterior(tally, JEFFREYS, epsilon=EPSILON).distribution, mean))
    shown = ", ".join(f"{terms} = {formula}" for terms, formula in counted)
    return {"counts": shown, "terms": terms, "mean": f"({joined(mean, '.6f')})"}


def section_3_monte_carlo(e: Evidence) -> Numbers:
    shares = {"two": np.array([0.6, 0.4]), "three": np.array([0.5, 0.3, 0.2])}
    draws = {
        name: [_draws(users, share) for users in (10, 40, 160)] for name, share in shares.items()
    }
    e.tried(all((np.diff(needed) > 0).all() for needed in draws.values()))
    return {name: joined(needed, ".3g") for name, needed in draws.items()}


def _draws(users: int, shares: Floats) -> float:
    """Return how many draws from the prior, weighted by the likelihood, are worth one from the posterior."""
    channel, prior = written_out.krr_channel(EPSILON, shares.size), np.full(shares.size, 0.5)
    tally = np.rint(users * shares).astype(int)
    once, twice = (bayes.posterior(channel, times * tally, prior).log_marginal for times in (1, 2))
    return float(np.exp(twice - 2 * once))


def theorem_3_3(e: Evidence) -> Numbers:
    x = sympy.Symbol("x")  # KL <= chi^2 by ln u <= u - 1 at u = e^x and e^-x
    for above in (sympy.exp(x) - 1 - x, 1 - sympy.exp(x) + x * sympy.exp(x)):
        e.proven(sign_changes(above, x) == 0 and bool(above.subs(x, 1) > 0))
    n, chance = symbols("n chance")
    e.proven(
        identity(chance * (1 - chance) / n / chance, (1 - chance) / n)
    )  # chi^2 of n reports, output by output
    e.proven(mean_is_best())
    ratios = np.array([[_distance(e, n, alpha) for n in (64, 256, 1024)] for alpha in (0.5, 1.0)])
    e.needs((np.diff(ratios) < 0).all())
    channel, tallies = written_out.oue_channel(EPSILON, 3), np.array([53, 52, 22, 14, 25, 19, 7, 8])
    once, often = (likelihood.mle(channel, times * tallies).estimate for times in (1, 1000))
    e.needs(agree(once, often, rel=1e-7))
    slope, uniform = np.log(ratios[:, 2] / ratios[:, 1]) / np.log(4)
    return dict(zip(("first", "second", "third"), ratios[0], strict=True)) | {
        "slope": slope,
        "uniform": uniform,
    }


def _distance(e: Evidence, users: int, concentration: float) -> float:
    """Return the mean squared distance between MLE and posterior mean over the least error, two values."""
    posteriors = TwoValues(users, EPSILON, concentration).posteriors()
    distance = posteriors.chances @ (binary_mle(users, EPSILON) - posteriors.means) ** 2
    e.needs(
        2 * distance <= (1 + np.sqrt(2)) ** 2 / (users * np.tanh(EPSILON / 2) ** 2)
    )  # b = 2, s = p - q
    return float(distance / (posteriors.chances @ posteriors.variances))


def section_3_1_frequencies(e: Evidence) -> Numbers:
    n, *alpha = symbols("n a1 a2 a3")
    h1, h2 = symbols("h1 h2")
    holders, total = (h1, h2, n - h1 - h2), alpha[0] + alpha[1] + alpha[2]
    means = bayes.frequency_mean(
        [(x + h) / (total + n) for x, h in zip(alpha, holders, strict=True)], alpha, n
    )
    e.proven(
        all(identity(mean, h / n) for mean, h in zip(means, holders, strict=True))
    )  # the second reading
    maxima = 10 * binary_mle(10, 2.0)[5:9]
    likeliest = written_out.holders_laws(10, 2.0)[:, 5:9].argmax(axis=0)
    e.sure(agree(np.diff(maxima, 2), [0.0, 0.0]))
    e.needs(np.diff(likeliest, 2).any() and (likeliest != maxima.round()).any())
    return {"mle": joined(maxima.round(2).tolist(), ""), "holders": joined(likeliest.tolist(), "")}


def algorithm_1(e: Evidence) -> Numbers:
    e.proven(krr_maximum())
    tallies = drawn_tallies(5)
    exact = likelihood.krr_mle(tallies, epsilon=EPSILON)
    estimates = [
        [greedy(tally, stop_when_nonnegative=turned) for tally in tallies]
        for turned in (False, True)
    ]
    right = [sum(map(agree, every, exact)) for every in estimates]
    e.needs(right[0] == len(tallies))
    e.sure(right[1] == len(tallies), "the changed rule misses a maximum")
    channel, gap = written_out.krr_channel(EPSILON, 5), 1e-9
    pairs = zip(tallies, exact, strict=True)
    e.sure(max(likelihood.certificate_gap(channel, tally, one) for tally, one in pairs) < gap)
    return {"cases": len(tallies), "printed": right[0], "mended": right[1], "gap": gap}


def krr_maximum() -> bool:
    """Decide that ``s / lambda - 1/c`` on the K largest is the maximum iff K is the last rank with ``u_K (c+K) > S_K``.

    It meets the conditions of optimality, and the ranks that pass are the first ones. With k values dropped, and q the
    chance of each false report, it is ``((1 - kq) u - q S) / (S (p - q))``, the form of Pinzón and others.
    """
    c, total, kept, u, v, k = symbols("c S K u v k")
    level = c * total / (c + kept)
    estimate = u / level - 1 / c
    multiplier = identity(c * u / (1 + c * estimate), level)
    sums_to_one = identity(total / level - kept / c, 1)
    sign = identity(estimate, (u * (c + kept) - total) / (c * total))  # and elsewhere c u <= level
    next_rank = identity(v * (c + kept + 1) - (total + v), v * (c + kept) - total)
    run = identity((u * (c + kept) - total) - (v * (c + kept) - total), (u - v) * (c + kept))
    q = 1 / (c + kept + k)
    same = identity(((1 - k * q) * u - q * total) / (total * c * q), estimate)
    return multiplier and sums_to_one and sign and next_rank and run and same


def greedy(tallies: Ints, *, stop_when_nonnegative: bool) -> Floats:
    """Return the estimate of Appendix B, the smallest tally removed until (110) is nonnegative or, as printed, is not.

    The printed rule may remove every value: nan.
    """
    contrast, order = np.expm1(EPSILON), np.argsort(tallies)
    for removed in range(tallies.size):
        kept = order[removed:]
        shares = ((tallies[kept] / tallies[kept].sum()) * (contrast + kept.size) - 1) / contrast
        if (shares.min() >= 0) == stop_when_nonnegative:
            estimate = np.zeros(tallies.size)
            estimate[kept] = shares
            return estimate
    return np.full(tallies.size, np.nan)
