"""Section 3 and Appendix A of lopuhaa2020: the estimates of least error, and what they cost."""

from functools import partial
from itertools import product
from math import comb

import numpy as np
from scipy.stats import dirichlet

from ldpnb.accuracy import exact_risk
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.claims import Evidence, agree, claim
from ldpnb.deciders import symbols
from ldpnb.estimators import bayes, frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.papers.lopuhaa2020 import routes_old as routes
from ldpnb.papers.lopuhaa2020.proofs import section_3 as proofs

EPSILON = 1.0
PRIOR = np.array([0.5, 0.5, 0.5])
UNEVEN = np.array([0.5, 1.0, 2.0])
USERS = 4
KRR = routes.krr_channel(EPSILON, 3)

LOST = "The formula, lost in the text, is rebuilt from its proof."

section_3 = partial(
    claim,
    kind="enumeration",
    otherwise="open",
    reach="all parameters",
    over="every Dirichlet prior, channel, data and number of users",
)
rebuilt = partial(section_3, reading="reconstructed", assumption=LOST)


@rebuilt(
    "Theorem 3.1",
    exact_risk.exact_risks,
    bayes.posterior,
    bayes.frequency_mean,
    likelihood.krr_mle,
    frequency.unbiased,
    frequency.project_simplex,
    over="every prior with a variance, channel and number of users, and every estimator",
    argument="Coordinate by coordinate and report by report; every estimate is a function of the reports.",
)
def theorem_3_1(e: Evidence) -> str:
    """for a given protocol the posterior means of distribution and frequencies have the least mean squared error
    (informally Theorem 1.2)
    """
    e.proven(proofs.mean_is_best())
    mechanism, every = KaryRandomisedResponse(EPSILON, 3), routes.all_sequences(KRR, USERS, PRIOR)
    rivals: dict[str, exact_risk.Estimator] = {
        "MLE": lambda s: likelihood.krr_mle(s, epsilon=EPSILON),
        "Norm-Sub": lambda s: frequency.project_simplex(frequency.unbiased(s, USERS, mechanism)),
        "unbiased": lambda s: frequency.unbiased(s, USERS, mechanism),
        "uniform": lambda s: np.full(s.shape, 1 / 3),
    }
    plain = (every.tallies / USERS * (np.exp(EPSILON) + 2) - 1) / np.expm1(EPSILON)
    written = [routes.krr_maximum(every.tallies.astype(float), EPSILON), routes.projected(plain), plain]
    by_sequence = dict(zip(rivals, [*written, np.full(plain.shape, 1 / 3)], strict=True))
    found = [bayes.posterior(KRR, tally, PRIOR) for tally in every.tallies]
    e.same([one.distribution for one in found], every.means["distribution"])
    e.same(
        bayes.frequency_mean(every.means["distribution"], PRIOR, USERS), np.array([one.frequencies for one in found])
    )
    risks = exact_risk.exact_risks(KRR, USERS, PRIOR, rivals)
    for target, (name, risk) in product(every.means, risks.items()):
        estimates = every.means[target] if name == "Bayes" else by_sequence[name]
        e.same(getattr(risk, target), every.risk(target, estimates))
        e.needs(name == "Bayes" or getattr(risks["Bayes"], target) < getattr(risk, target))
    return (
        f"k-RR, 3 values, {USERS} users, epsilon 1, Jeffreys' prior, all 81 x 81 sequences: error of the distribution "
        f"{risks['Bayes'].distribution:.4f}, " + ", ".join(f"{name} {risks[name].distribution:.4f}" for name in rivals)
    )


@rebuilt(
    "Equation (21)",
    bayes.posterior,
    bayes.krr_posterior,
    kind="identity",
    over="every prior with a density, channel and number of users",
    argument="Given P the reports are independent, y with chance (QP)_y: their likelihood is a product over outputs, "
    "in which only the tallies appear. The moments under prior times likelihood are the integrals.",
)
def equation_21(e: Evidence) -> str:
    """the posterior mean is a ratio of two integrals over the simplex that depend on the reports through their tallies
    only
    """
    e.proven(proofs.mean_is_best())
    unary = routes.unary_channel(0.5, 1 / (np.exp(1.5) + 1), 2)
    cases = [(KRR, np.array([4, 1, 2]), PRIOR), (unary, np.array([2, 4, 1, 2]), np.array([0.5, 1.5]))]
    integrals = [routes.integral_mean(*case) for case in cases]
    for case, integral in zip(cases, integrals, strict=True):
        e.same(bayes.posterior(*case).distribution, integral)
    e.same(bayes.krr_posterior(cases[0][1], PRIOR, epsilon=EPSILON).distribution, integrals[0])
    every = routes.all_sequences(KRR, USERS, PRIOR)
    same = [every.means["distribution"][(every.tallies == t).all(axis=1)] for t in np.unique(every.tallies, axis=0)]
    e.needs(max(float(np.ptp(rows, axis=0).max()) for rows in same) < 1e-12)
    return (
        f"tallies (4, 1, 2) under k-RR at epsilon 1: {integrals[0].round(6).tolist()} by quadrature and by "
        f"enumeration; {len(every.chances)} sequences of {USERS} reports have {len(same)} posteriors, one per tally"
    )


@section_3(
    "Proposition 3.2",
    bayes.posterior,
    bayes.krr_posterior,
    exact_risk.compositions,
    corrected="O(n^(b(a-1))) and O(n^(a b - 1)) count the formula's summands; fewer do. For the estimate "
    "C(n + a - 1, a - 1) terms suffice under any channel, O(n^2) steps under k-RR with any number of values; for the "
    "error as many for each tally, O(n^(a+b-2)) terms under any channel.",
    over="every a, b and n",
    argument="C(s+a-1, a-1) is the coefficient of z^s in (1-z)^-a; the product over b outputs, summed over tallies, "
    "has C(n + a b - 1, a b - 1) = O(n^(a b - 1)), and one tally's product is at most (n+1)^(b(a-1)).",
    reading="reconstructed",
    assumption="The exponents, lost in the text, are rebuilt from its proof.",
)
def proposition_3_2(e: Evidence) -> str:
    """with a Dirichlet prior the estimate and its error cost a number of steps that is exponential in the numbers of
    values and outputs
    """
    e.proven(proofs.counted_terms())
    counted = []
    for values, outputs, users in ((2, 2, 6), (3, 3, 4), (2, 4, 4)):
        channel = np.full((outputs, values), 1 / outputs) + 0.1 * np.eye(outputs, values) / outputs
        tallies = [t for t in product(range(users + 1), repeat=outputs) if sum(t) == users]
        e.same(exact_risk.compositions(users, outputs), tallies)
        terms = sum(routes.mixture_posterior(channel, np.array(tally), np.ones(values))[2] for tally in tallies)
        counted.append((terms, comb(users + values * outputs - 1, users)))
        e.needs(counted[-1][0] == counted[-1][1])
    tally = np.array([2, 1, 1])
    exponential = routes.mixture_posterior(KRR, tally, UNEVEN)[0]
    e.same(exponential, bayes.posterior(KRR, tally, UNEVEN).distribution)
    e.same(exponential, bayes.krr_posterior(tally, UNEVEN, epsilon=EPSILON).distribution)
    return (
        "summands of the error counted and C(n + a b - 1, a b - 1): "
        f"{', '.join(f'{terms} = {formula}' for terms, formula in counted)}; the same estimates come from "
        "C(n + a - 1, a - 1) coefficients for any number of outputs, and under k-RR from O(n^2) steps whatever the "
        "number of values"
    )


@section_3(
    "Section 3.1, frequencies",
    bayes.frequency_mean,
    bayes.posterior,
    likelihood.krr_mle,
    kind="identity",
    otherwise="corrected",
    corrected="Under a Dirichlet prior F_opt = ((alpha_0 + n) P_opt - alpha) / n, an affine map of the estimate of the "
    "distribution. The likeliest frequencies solve a program over whole numbers, which is harder.",
    reading="reconstructed",
    assumption="The symbol is lost; read as the estimate of least error, not as the likeliest frequencies.",
    argument="Given the users' values P is Dirichlet with parameter alpha + T; take the mean over T given the reports.",
)
def section_3_1_frequencies(e: Evidence) -> str:
    """an expression for the optimal estimate of the frequencies is more complicated than that for the distribution"""
    every = routes.all_sequences(KRR, USERS, UNEVEN)
    distribution, frequencies = every.means["distribution"], every.means["frequency"]
    affine = ((UNEVEN.sum() + USERS) * distribution - UNEVEN) / USERS
    e.same(bayes.frequency_mean(distribution, UNEVEN, USERS), affine)
    found = bayes.posterior(KRR, every.tallies[5], UNEVEN)
    e.same([found.distribution, found.frequencies], [distribution[5], frequencies[5]])
    e.proven(proofs.frequencies_are_affine())
    e.needs(not agree(affine, frequencies))
    tallies = np.array([[6, 4]])
    maximum = likelihood.krr_mle(tallies, epsilon=EPSILON)[0, 0]
    e.same(maximum, routes.krr_maximum(tallies.astype(float), EPSILON)[0, 0])
    likeliest = routes.likeliest_holders(10, 6, EPSILON)
    return (
        f"((alpha_0 + n) P - alpha) / n gives the posterior mean of the frequencies on all {len(every.chances)} "
        f"sequences of {USERS} reports; where 6 of 10 users report the first of two values most likely {likeliest} "
        f"hold it, and the MLE of its probability is {maximum:.3f}"
    )


@section_3(
    "Fact A.1",
    SymmetricDirichlet.diversity,
    bayes.posterior,
    kind="identity",
    over="every Dirichlet parameter",
    reading="reconstructed",
    assumption="(78) and (79) are lost in the text; read as mean and covariance.",
    argument="The moments of a Dirichlet law are ratios of beta functions, so of rising factorials.",
)
def fact_a_1(e: Evidence) -> str:
    """a Dirichlet distribution has mean alpha / alpha_0, variances alpha_x (alpha_0 - alpha_x) / (alpha_0^2 (alpha_0 +
    1)) and covariances -alpha_x alpha_y / (alpha_0^2 (alpha_0 + 1))
    """
    e.proven(proofs.dirichlet_step())
    e.decides(proofs.dirichlet_moments(*symbols("a alpha")))
    held = np.array([4, 1, 2])  # reports without noise: the posterior is Dirichlet
    found, law = bayes.posterior(np.eye(3), held, UNEVEN), dirichlet(UNEVEN + held)
    e.same(found.distribution, law.mean())
    e.same(found.distribution_variance, law.var().sum())
    diversity, spread = SymmetricDirichlet(3, 2.0).diversity(), dirichlet(np.full(3, 2.0)).var().sum()
    e.same(diversity, 1 - 1 / 3 - spread)
    return (
        f"three values, Dirichlet(2): total variance {spread:.6f}, mean of 1 - |P|^2 {diversity:.6f}, 1 - 1/3 less that"
    )


@section_3(
    "Fact A.2",
    bayes.posterior,
    kind="identity",
    over="every mixture of laws with variances",
    reading="reconstructed",
    assumption="(80) and (81) are lost in the text; read as mean and covariance.",
    argument="Direction by direction; a mixture of more than two is one of mixtures.",
)
def fact_a_2(e: Evidence) -> str:
    """a mixture has the mixed mean, and the mixed covariance plus that of the means"""
    e.proven(proofs.mixture_moments())
    tally = np.array([2, 1, 1])
    every = routes.all_sequences(KRR, USERS, UNEVEN)
    index = int(np.flatnonzero((every.tallies == tally).all(axis=1))[0])
    mean, found = every.means["distribution"][index], bayes.posterior(KRR, tally, UNEVEN)
    variance = every.squares["distribution"][index] - mean @ mean
    e.same(found.distribution, mean)
    e.same(found.distribution_variance, variance)
    shares, held = routes.mixture_terms(KRR, tally, UNEVEN)
    parts = [dirichlet(UNEVEN + row) for row in held]
    apart = np.array([part.mean() for part in parts]) - mean
    traces = [np.trace(part.cov()) for part in parts]
    e.needs(agree(shares @ apart, np.zeros(3)) and agree(shares @ (traces + (apart**2).sum(axis=1)), variance))
    return f"tallies (2, 1, 1) under k-RR at epsilon 1: total variance {found.distribution_variance:.6f} by both routes"


@rebuilt(
    "Proposition A.3",
    bayes.posterior,
    bayes.krr_posterior,
    exact_risk.exact_risks,
    argument="The likelihood multiplied out is a sum of products of P's coordinates; each in turn raises one "
    "parameter of the Dirichlet density. Means and errors are those of Facts A.1 and A.2.",
)
def proposition_a_3(e: Evidence) -> str:
    """the posterior is a mixture of Dirichlet distributions, which gives the estimate and its error in closed form"""
    e.proven(proofs.dirichlet_step() and proofs.mixture_moments())
    tally = np.array([4, 1, 2])
    mixture, _, terms = routes.mixture_posterior(KRR, tally, PRIOR)
    general, quadratic = bayes.posterior(KRR, tally, PRIOR), bayes.krr_posterior(tally, PRIOR, epsilon=EPSILON)
    e.same([general.distribution, quadratic.distribution], [mixture, mixture])
    e.same(general.frequencies, quadratic.frequencies)
    unary, prior = routes.unary_channel(0.5, 1 / (np.exp(1.5) + 1), 2), np.array([0.5, 1.5])
    risk, every = exact_risk.exact_risks(unary, 3, prior, {})["Bayes"], routes.all_sequences(unary, 3, prior)
    e.needs(agree([getattr(risk, t) for t in every.means], [every.risk(t, every.means[t]) for t in every.means]))
    return (
        f"{terms} mixture terms for tallies (4, 1, 2): means agree with two other routes; error of the distribution "
        f"{risk.distribution:.6f}, of the frequencies {risk.frequency:.6f} for OUE, 2 values, 3 users, as enumerated"
    )
