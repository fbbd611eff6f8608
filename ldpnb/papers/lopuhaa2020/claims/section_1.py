"""Abstract, introduction and Section 2 of lopuhaa2020: what the estimates and bounds are said to achieve."""

import math
from functools import partial

import numpy as np

from ldpnb.accuracy import exact_risk, information
from ldpnb.accuracy.information import SymmetricDirichlet
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.claims import Evidence, claim
from ldpnb.deciders import budget, derivative, digits, identity, oo, positive, replaced, symbols, zeros
from ldpnb.deciders.algebra import limit
from ldpnb.estimators import frequency, likelihood
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import routes_old as routes
from ldpnb.papers.lopuhaa2020.proofs import section_3 as proofs
from ldpnb.papers.lopuhaa2020.proofs import section_4 as proofs_4
from ldpnb.papers.lopuhaa2020.tables import frequencies

section_1 = partial(claim, kind="identity", reach="all parameters")


@claim(
    "Abstract",
    likelihood.krr_mle,
    frequency.project_simplex,
    frequency.unbiased,
    KaryRandomisedResponse.p,
    KaryRandomisedResponse.q,
    kind="identity",
    otherwise="corrected",
    corrected="Under the prior of the experiments they do, or err alike. Where a few values are held by most users, "
    "Norm-Sub, which clips more, can have the smaller error: three users of one value, three values, k-RR, for every "
    "epsilon above 1.443.",
    reach="a box",
    over="every epsilon; three users of one value, three values, k-RR",
    assumption="Read as: the MLE has a smaller squared error than Norm-Sub.",
    argument="Of the tallies of three reports only (2, 1, 0), in any order, is estimated differently.",
)
def outperforms(e: Evidence) -> str:
    """the new estimators outperform the state of the art"""
    t = symbols("t")[0]
    crossing = zeros(lambda x: 4 * x * x * x - 17 * x * x + x - 3, 2, 10)
    e.sure(len(crossing) == 1 and digits(crossing[0], "4.233"))
    later = proofs.worse_at_one_value(t, ("4.2327", "4.2329"))
    e.proven(later)
    e.needs(not later)
    ratios = [_at_one_value(e, epsilon) for epsilon in (1.0, 2.0, 3.0, 4.0)]
    tail = frequencies.Truth.from_distribution("Zipf 1.5", frequencies.zipf(256, 1.5), 100_000)
    many = frequencies.compare("k-RR", tail, [1.0, 4.0], draws=100, seed=2022)
    low, high = many.query("target == 'distribution' and estimator == 'MLE'")["ratio"].to_numpy()
    return (
        f"MLE over Norm-Sub, exactly: {', '.join(f'{r:.3f}' for r in ratios)} at epsilon 1, 2, 3, 4, above 1 from "
        f"e^epsilon = {float(crossing[0].mid()):.3f} on; simulated on Zipf 1.5, a = 256, n = 10^5: {low:.2f} and "
        f"{high:.2f} at 1 and 4"
    )


def _at_one_value(e: Evidence, epsilon: float) -> float:
    """Return the MLE's error over Norm-Sub's, three users of one value, three values, over all tallies."""
    mechanism, tallies = KaryRandomisedResponse(epsilon, 3), exact_risk.compositions(3, 3)
    scale, plain = np.exp(epsilon) + 2, frequency.unbiased(tallies, 3, mechanism)
    e.same([mechanism.p, mechanism.q], [np.exp(epsilon) / scale, 1 / scale])
    e.same(plain, routes.inverted(routes.krr_channel(epsilon, 3), tallies))
    maximum, near = likelihood.krr_mle(tallies, epsilon=epsilon), frequency.project_simplex(plain)
    e.same([maximum, near], [routes.krr_maximum(tallies.astype(float), epsilon), routes.projected(plain)])
    chances = routes.multinomial_law(tallies, np.array([np.exp(epsilon), 1, 1]) / scale)
    one, other = (chances @ ((estimate - [1, 0, 0]) ** 2).sum(axis=1) for estimate in (maximum, near))
    shares = [found[(tallies == [2, 1, 0]).all(axis=1)][0, 1] for found in (maximum, near)]
    contrast = np.expm1(epsilon)
    e.same(shares, [max(1 / 3 - 1 / (3 * contrast), 0), max(1 / 3 - 1 / (2 * contrast), 0)])
    return float(one / other)


@section_1(
    "Section 1.1, any epsilon",
    LowerBounds.distribution,
    SymmetricDirichlet.diversity,
    information.distribution_error,
    information.frequency_error,
    EntropyBounds.asymptotic,
    LowerBounds.log_information_ceiling,
    otherwise="corrected",
    corrected="For the distribution they do so only while (e^epsilon - 1)^2 < a / E(1 - |P|^2): beyond that, even the "
    "users' own values, without any privacy, leave a larger error. (60) plus E(1 - |P|^2) holds for every epsilon.",
    over="epsilon > 0, a >= 2, every prior with a continuous density; many users",
    reading="reconstructed",
    assumption="The symbol after 'for any' is lost; read as epsilon. The bounds of [13] and [4] are lost as well; "
    "compared with E(1 - |P|^2) / n, the least error when the values themselves are reported.",
    argument="A report cannot tell more about the distribution than the value does: n MSE_P is n MSE_F plus the mean "
    "of 1 - |P|^2 in the limit.",
)
def any_epsilon(e: Evidence) -> str:
    """the new bounds improve the known ones for any epsilon"""
    size, diversity = symbols("a d")
    e.proven(proofs_4.distribution_bound())
    beyond = 1 + symbols("x")[0]  # (e^epsilon - 1)^2 = beyond a / d
    root = np.sqrt(beyond * size / diversity)
    says_less = positive(diversity - LowerBounds(size, np.log1p(root)).distribution(), _EVERY)
    e.proven(says_less)
    e.needs(not says_less)
    point, channel = np.array([0.5, 0.3, 0.2]), routes.krr_channel(2.0, 3)
    both = information.distribution_error(channel, point), information.frequency_error(channel, point)
    exact = routes.completed_trace(routes.information_sum(channel, point)[0])
    e.same(both, [exact, exact - (1 - point @ point)])
    prior = SymmetricDirichlet(10).diversity()
    e.same(prior, 0.75)
    large, corner = LowerBounds(10, 3.0).distribution(), np.array([1 - 1e-13, 1e-13])
    most = routes.information_sum(routes.krr_channel(3.0, 2), corner)[0].item()  # of two values: e^-epsilon short
    e.same(large, 10 / (most * np.exp(3.0)))
    return (
        f"a = 10, Jeffreys' prior: (59) is {large:.3f} at epsilon 3, the values themselves leave {prior:g}; less from "
        f"epsilon {np.log1p(np.sqrt(10 / prior)):.3f} on"
    )


_EVERY = dict.fromkeys(symbols("a d x"), (0, oo))


@section_1(
    "Section 1.2, optimised unary encoding",
    information.unbiased_frequency_error,
    UnaryEncoding.optimised,
    UnaryEncoding.symmetric,
    otherwise="corrected",
    corrected="It is better while e^(epsilon/2) + e^(-epsilon/2) < a - 2, so never for four values or fewer; at weaker "
    "privacy the symmetric one is.",
    over="epsilon > 0, a >= 2, every n and data",
    reading="reconstructed",
    assumption="The limit in which the order stays the same is lost; read as epsilon to 0.",
    argument="The error of a pure protocol's unbiased estimate is the same for all data.",
)
def optimised_encoding(e: Evidence) -> str:
    """optimised unary encoding improves upon symmetric unary encoding, and the order of the error stays the same"""
    size, root = symbols("a s")  # root = e^(epsilon / 2)
    optimised, symmetric = (
        information.unbiased_frequency_error(make(2 * budget(root), size))
        for make in (UnaryEncoding.optimised, UnaryEncoding.symmetric)
    )
    e.proven(identity(symmetric - optimised, size * root / ((root + 1) * (root + 1)) - 1))
    e.proven(limit(optimised / symmetric, root.expression, 1) == 1)
    e.decides(positive(symmetric - optimised, {size: (2, oo), root: (1, oo)}))
    shown = []
    for epsilon in (2.0, 6.0):
        p, q, half = 0.5, 1 / (np.exp(epsilon) + 1), 1 / (np.exp(epsilon / 2) + 1)
        pairs = [(UnaryEncoding.optimised(epsilon, 10), p, q), (UnaryEncoding.symmetric(epsilon, 10), 1 - half, half)]
        e.same([[made.p, made.q] for made, _, _ in pairs], [[p, q] for _, p, q in pairs])
        errors = [float(information.unbiased_frequency_error(made)) for made, _, _ in pairs]
        e.same(errors, [routes.unary_error(p, q, 10) for _, p, q in pairs])
        shown.append(f"{errors[0]:.3f} and {errors[1]:.3f} at epsilon {epsilon:g}")
    return (
        f"n MSE_F of optimised and symmetric encoding, a = 10: {', '.join(shown)}; equal at {2 * np.arccosh(4.0):.3f}"
    )


@section_1(
    "Section 2.1",
    SymmetricDirichlet.diversity,
    frequency.unbiased,
    KaryRandomisedResponse.channel,
    reading="reconstructed",
    assumption="The symbols are lost; read as F near P for many users.",
    over="every n and prior",
    argument="Given the distribution the users' values are independent: the variance of a frequency is P_x (1 - P_x) "
    "/ n.",
)
def closely_aligned(e: Evidence) -> str:
    """for many users the frequencies are near the distribution, and estimating one is estimating the other"""
    size, alpha, chance, n = symbols("a alpha p n")
    held = chance * (1 - chance) * (1 - chance) + (1 - chance) * chance * chance  # variance of one user's indicator
    e.proven(identity(held / n, chance * (1 - chance) / n))
    square = (alpha + 1) / (size * alpha + 1)  # mean of |P|^2
    e.decides(identity(SymmetricDirichlet(size, alpha).diversity() / n, (1 - square) / n))
    users, mechanism = 4, KaryRandomisedResponse(1.0, 3)
    every = routes.all_sequences(mechanism.channel(), users, np.full(3, 0.5))
    plain = frequency.unbiased(every.tallies, users, mechanism)
    e.same(plain, routes.inverted(routes.krr_channel(1.0, 3), every.tallies))
    apart = users * (every.risk("distribution", plain) - every.risk("frequency", plain))
    e.same(apart, SymmetricDirichlet(3).diversity())
    return f"n E |F - P|^2 is the mean of 1 - |P|^2: {apart:.3f} for three values, Jeffreys' prior, {users} users"


@section_1(
    "Section 2.2",
    KaryRandomisedResponse.p,
    KaryRandomisedResponse.q,
    likelihood.krr_mle,
    over="every epsilon-LDP channel whose outputs can occur, every n and estimator",
    assumption="A bound counts only if it is below 1 - 1/a, which the constant estimate 1/a meets without any report.",
    argument="Every report is possible from every value, at worst e^epsilon times less likely, so every sequence of "
    "reports can come from users who all hold one value, whichever it is; over these a data sets the mean squared "
    "error is |F-hat - 1/a|^2 + 1 - 1/a, coordinate by coordinate.",
)
def no_guarantee(e: Evidence) -> str:
    """no estimator has a bound on its error that holds for every output of the protocol"""
    t, size, d = symbols("t a d")
    mechanism = KaryRandomisedResponse(budget(t), size)
    e.proven(identity(mechanism.p, t * mechanism.q) and positive(mechanism.q, {t: (1, oo), size: (2, oo)}))
    mean = ((d - 1) * (d - 1) + (size - 1) * d * d) / size  # of a coordinate's squared error over the a data sets
    e.proven(identity(derivative(mean, d), 2 * (d - 1 / size)))  # least at the constant 1/a
    e.proven(identity(size * replaced(mean, d, 1 / size), 1 - 1 / size))
    krr, tallies = KaryRandomisedResponse(1.0, 3), exact_risk.compositions(4, 3)
    maximum = likelihood.krr_mle(tallies, epsilon=1.0)
    rivals = [maximum, routes.projected(tallies / 4), tallies / 4, np.full(tallies.shape, 1 / 3)]
    off = [((rival[:, None] - np.eye(3)) ** 2).sum(axis=2).max(axis=1) for rival in rivals]
    e.same(maximum, routes.krr_maximum(tallies.astype(float), 1.0))
    e.same([krr.p, krr.q], [math.e / (math.e + 2), 1 / (math.e + 2)])
    errors = ((maximum - [1, 0, 0]) ** 2).sum(axis=1)
    chances = routes.multinomial_law(tallies, np.array([krr.p, krr.q, krr.q]))
    e.needs(chances.min() > 0 and np.min(off) >= 1 - 1 / 3 - 1e-12)
    worst = errors >= 1 - 1 / 3
    return (
        f"four users of one of three values, k-RR at epsilon 1: the MLE errs by 2/3 or more with chance "
        f"{chances[worst].sum():.3f}, by up to {errors.max():g}"
    )


@section_1(
    "Equations (11) and (12)",
    information.unbiased_frequency_error,
    SymmetricDirichlet.diversity,
    frequency.unbiased,
    over="every estimator and prior; the excess for k-RR and the unbiased estimate, epsilon > 0, a >= 2, symmetric "
    "priors",
    reading="reconstructed",
    assumption="Both are lost in the text; read as MSE <= WMSE.",
    argument="A mean over the prior is at most a supremum over what it averages.",
)
def worst_case(e: Evidence) -> str:
    """the mean squared error is at most the worst-case one, so a lower bound on the former is one on the latter"""
    size, alpha = symbols("a alpha")
    excess = (1 - 1 / (1 + size)) - SymmetricDirichlet(1 + size, alpha).diversity()
    e.decides(positive(excess, {size: (1, oo), alpha: (0, oo)}))
    users, channel = 4, routes.krr_channel(1.0, 2)
    mechanism, every = KaryRandomisedResponse(1.0, 2), routes.all_sequences(channel, users, np.full(2, 0.5))
    plain = frequency.unbiased(every.tallies, users, mechanism)
    mean = users * every.risk("distribution", plain)
    error, spread = information.unbiased_frequency_error(mechanism), SymmetricDirichlet(2).diversity()
    e.same(mean, error + spread)
    tallies = np.column_stack([np.arange(users + 1), users - np.arange(users + 1)])
    written = (tallies / users * (math.e + 1) - 1) / (math.e - 1)
    errors = []
    for share in np.linspace(0, 1, 21):
        point = np.array([share, 1 - share])
        law = routes.multinomial_law(tallies, channel @ point)
        errors.append(users * float(law @ ((written - point) ** 2).sum(axis=1)))
    worst = max(errors)
    e.same(worst, error + 0.5)
    e.needs(mean <= worst)
    return (
        f"two values, epsilon 1, Jeffreys' prior, unbiased estimate, enumerated: n MSE_P {mean:.4f}, n WMSE_P "
        f"{worst:.4f}"
    )
