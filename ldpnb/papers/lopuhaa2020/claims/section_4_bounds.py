"""Sections 4.1 to 4.3 of lopuhaa2020: bounds from entropy, information and privacy budget, and where they are valid."""

import math
from collections.abc import Iterable
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from ldpnb.accuracy import information, lower_bounds
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.claims import Evidence, claim
from ldpnb.papers.lopuhaa2020 import routes_old as routes
from ldpnb.papers.lopuhaa2020.proofs import section_4 as proofs
from ldpnb.privacy import best_channel

Array = NDArray[np.float64]

BUDGETS = (0.5, 1.0, 3.0)
USERS = (10, 40, 100)
FORMS: tuple[lower_bounds.Form, ...] = ("published", "sharp")

LOST = "The formula, lost in the text, is rebuilt from its proof"

WITHOUT_B = (
    f"{LOST}. Section 4.3 says that (60) seems to imply that as many outputs as possible are best; what is rebuilt "
    "does not depend on their number, so it is in conflict with that remark, and the printed (55) and (60) differ."
)
section_4 = partial(
    claim, kind="identity", otherwise="open", reach="all parameters", reading="reconstructed", assumption=f"{LOST}."
)


def _check_two_values(e: Evidence) -> None:
    """Compare exact risks and entropies with complete enumeration and with the posterior densities."""
    every, few, some = routes.all_sequences(routes.krr_channel(1.0, 2), 5, np.full(2, 0.5)), TwoValues(5, 1.0), 20
    risk, entropies = few.risk(), TwoValues(some, 1.0).entropies()
    e.same([risk.distribution, risk.frequency], [every.risk(target, every.means[target]) for target in every.means])
    e.same(entropies, [routes.binary_entropy_of_distribution(some, 1.0), routes.binary_entropy_of_tallies(some, 1.0)])


@section_4(
    "Theorem 4.1, distribution",
    EntropyBounds.distribution,
    EntropyBounds.factor,
    TwoValues.risk,
    TwoValues.entropies,
    EntropyBounds.frequency,
    EntropyBounds.limits,
    corrected="It may be raised by (a-1)/a a^(1/(a-1)), 1.16 at a = 10, and is then an equality for Gaussian errors "
    "alike in all directions of the hyperplane.",
    over="every n, a >= 2, channel, estimator and prior with a density",
    argument="With any one coordinate left out: the inequality of arithmetic and geometric means, Hadamard's "
    "inequality, the largest entropy of the normal law, Jensen's inequality. Summed over the a coordinates left out "
    "each variance counts a - 1 times.",
)
def theorem_4_1_distribution(e: Evidence) -> str:
    """the error of the distribution is at least a / (2 pi e) exp(2 h(P|Y) / (a - 1)), for any number of users"""
    e.proven(proofs.gaussian_errors())
    _check_two_values(e)
    two, three, variance, plane = EntropyBounds(2), EntropyBounds(3), 0.3, 0.3 * (np.eye(3) - 1 / 3)  # Gaussian errors
    e.same(two.distribution(0.5 * np.log(2 * np.pi * math.e * variance)), 2 * variance)
    spread = 0.5 * np.log((2 * np.pi * math.e) ** 2 * np.linalg.det(plane[:2, :2]))
    e.same(three.factor() * three.distribution(spread), np.trace(plane))
    cases = [TwoValues(users, epsilon) for users, epsilon in product(USERS, BUDGETS)]
    ratios = [two.distribution(case.entropies()[0]) / case.risk().distribution for case in cases]
    e.needs(max(ratios) <= 1)
    return (
        f"bound over least error, two values, n = 10, 40, 100, epsilon .5, 1, 3: between {min(ratios):.2f} and "
        f"{max(ratios):.2f}; for Gaussian errors on three values it is {1 / three.factor():.3f}"
    )


@section_4(
    "Theorem 4.1, frequencies",
    EntropyBounds.frequency,
    TwoValues.risk,
    TwoValues.entropies,
    EntropyBounds.distribution,
    EntropyBounds.limits,
    corrected="For every n: MSE >= a / n^2 (exp(2 H(T|Y) / (a-1)) / (2 pi e) - 1/12), by a uniform jitter on the "
    "tallies.",
    assumption=f"{LOST}, as the limit that the proof states.",
    over="every a >= 2, channel that leaves the values uncertain, estimator and prior with a density, as n grows; "
    "with the repair every n",
    argument="Tallies with a uniform jitter have a density, of entropy H(T|Y) and variances larger by 1/12: Theorem "
    "4.1 for them. By Theorem 4.2, exp(2 H(T|Y) / (a-1)) grows like n, so in the limit 1/12 does not matter.",
)
def theorem_4_1_frequencies(e: Evidence) -> str:
    """the error of the frequencies is at least a / (2 pi e n^2) exp(2 H(T|Y) / (a - 1)) as n grows"""
    e.proven(proofs.gaussian_errors() and proofs.entropy_limits())
    _check_two_values(e)
    two, spread, ratios = EntropyBounds(2), 0.5 * np.log(2 * np.pi * math.e * 0.3), {}
    e.same([two.frequency(spread, 7, jitter=j) for j in (False, True)], [2 * 0.3 / 49, 2 * (0.3 - 1 / 12) / 49])
    for users, epsilon in product(USERS, (*BUDGETS, 12.0)):
        case = TwoValues(users, epsilon)
        entropy, error = case.entropies()[1], case.risk().frequency
        ratios[users, epsilon] = [two.frequency(entropy, users, jitter=j) / error for j in (False, True)]
    large = max(ratios[USERS[-1], epsilon][0] for epsilon in BUDGETS)
    broken, (users, epsilon) = max((plain, setting) for setting, (plain, _) in ratios.items())
    mended = max(repaired for _, repaired in ratios.values())
    e.needs(large <= 1 and mended <= 1 < broken)
    return (
        f"bound over least error, two values, n = 100, epsilon .5, 1, 3: at most {large:.2f}; at n = {users}, epsilon "
        f"{epsilon:g} it is {broken:.0f}; with the repair at most {mended:.2f} everywhere"
    )


@section_4(
    "Theorem 4.2",
    EntropyBounds.limits,
    information.entropy_constants,
    information.fisher_information,
    information.conditional_covariance,
    TwoValues.entropies,
    TwoValues.risk,
    kind="certified",
    corrected="Under Jeffreys' prior the limits of two values are approached like n^(-1/4) only, as far as computed: "
    "at epsilon 1 and n = 400 they are still a third of a nat away.",
    over="every a >= 2, channel of rank a with positive entries, and prior with a continuous density of finite entropy",
    argument="The posterior is asymptotically normal (Clarke and Barron 1994; the source's [19]), and so are the "
    "tallies given reports and distribution (de Moivre and Laplace); H(T|Y) = H(T|Y,P) + h(P|Y) - h(P|T).",
)
def theorem_4_2(e: Evidence) -> str:
    """the entropies h(P|Y) + (a-1)/2 ln n and H(T|Y) - (a-1)/2 ln n tend to limits given by determinants of information
    matrices
    """
    e.proven(proofs.entropy_limits() and proofs.determinants())
    _check_two_values(e)
    _check_matrices(e, routes.krr_channel(1.0, 3))
    smooth, slow = _distances(e, 4.0), _distances(e, 0.5)
    limit = (8 * smooth[2] - 6 * smooth[1] + smooth[0]) / 3
    rate = slow[2, 0] / slow[1, 0]
    e.needs(np.abs(limit).max() < 0.005 and abs(rate - 2**-0.25) < 0.01)
    return (
        f"two values, epsilon 1, Dirichlet(4): distance to the limits {_listed(smooth[:, 0])} (P) and "
        f"{_listed(smooth[:, 1])} (T) at n = 100, 200, 400, extrapolated {limit[0]:.3f} and {limit[1]:.3f}; under "
        f"Jeffreys' prior {_listed(slow[:, 0])}, a factor {rate:.2f} per doubling"
    )


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.3f}" for number in numbers)


def _check_matrices(e: Evidence, channel: Array) -> None:
    point = np.array([0.5, 0.3, 0.2])
    found = information.fisher_information(channel, point), information.conditional_covariance(channel, point)
    e.same(found, routes.information_sum(channel, point))


def _distances(e: Evidence, concentration: float) -> Array:
    """Return how far ``h(P|Y) + ln(n) / 2`` and ``H(T|Y) - ln(n) / 2`` are from the limits (41) and (42).

    k-RR on two values at epsilon 1, a row for each of 100, 200 and 400 users; the limits are those of Gaussian
    posteriors.
    """
    contrast, (nodes, weights) = np.expm1(1.0), roots_jacobi(80, concentration - 1, concentration - 1)
    points, weights = (1 + nodes) / 2, weights / weights.sum()
    constants = [information.entropy_constants(routes.krr_channel(1.0, 2), [[p, 1 - p]]) for p in points]
    limits = EntropyBounds(2).limits(*(weights @ np.array(constants)))
    variance = (1 + contrast * points) * (1 + contrast * (1 - points)) / contrast**2
    variances = (variance, variance - points * (1 - points))
    e.same(limits, [0.5 * weights @ np.log(2 * np.pi * math.e * v) for v in variances])
    entropies = np.array([TwoValues(users, 1.0, concentration).entropies() for users in (100, 200, 400)])
    distances: Array = entropies + np.outer(np.log([100, 200, 400]), [0.5, -0.5]) - limits
    return distances


@section_4(
    "Corollary 4.3",
    EntropyBounds.asymptotic,
    information.entropy_constants,
    information.distribution_error,
    information.frequency_error,
    information.krr_log_det_information,
    EntropyBounds.distribution,
    EntropyBounds.frequency,
    EntropyBounds.limits,
    corrected="Exactly, n MSE_P tends to the mean over the prior of the trace of J_P^-1, completed to all a values by "
    "the sum of its entries, and n MSE_F to that less the mean of 1 - |P|^2; the bounds may be raised by (a-1)/a "
    "a^(1/(a-1)).",
    over="every a >= 2, channel of rank a with positive entries, and prior with a continuous density, as n grows",
    argument="Theorem 4.1 at the limits of Theorem 4.2.",
)
def corollary_4_3(e: Evidence) -> str:
    """in the limit n times the errors are at least a exp(-c_P / (a-1)) and a exp(c_F / (a-1))"""
    e.proven(proofs.corollary())
    points = np.random.default_rng(2022).dirichlet(np.full(4, 0.5), size=40)
    krr, diversity = routes.krr_channel(1.0, 4), 1 - (points**2).sum(axis=1)
    channels, texts = {"k-RR": krr, "OUE": routes.unary_channel(0.5, 1 / (math.e + 1), 4)}, []
    for name, channel in channels.items():
        bounds = EntropyBounds(4).asymptotic(*information.entropy_constants(channel, points))
        sums = [routes.information_sum(channel, point) for point in points]
        first, covariance = np.array([[np.linalg.slogdet(m)[1] for m in pair] for pair in sums]).T
        second = covariance - np.log(points).sum(axis=1) - first
        e.same(bounds, (4 * np.exp(-first.mean() / 3), 4 * np.exp(second.mean() / 3)))
        errors = np.array([information.distribution_error(channel, p) for p in points])
        fewer = np.array([information.frequency_error(channel, p) for p in points])
        e.same(errors, [routes.completed_trace(j) for j, _ in sums])
        e.same(errors - fewer, diversity)
        ratios = (bounds[0] / errors.mean(), bounds[1] / fewer.mean())
        e.needs(max(ratios) <= 1)
        texts.append(f"{name} {ratios[0]:.3f} and {ratios[1]:.3f}")
    determinant = np.linalg.slogdet(routes.information_sum(krr, points[0])[0])[1]
    e.same(information.krr_log_det_information(points[0], epsilon=1.0), determinant)
    return (
        "bound over limiting error of distribution and frequencies, 4 values, epsilon 1, 40 draws from Jeffreys' "
        "prior: " + "; ".join(texts)
    )


@section_4(
    "Theorem 4.4",
    LowerBounds.log_information_ceiling,
    LowerBounds.log_covariance_floor,
    information.fisher_information,
    information.conditional_covariance,
    kind="proof",
    corrected="(55) holds with -(a-1) epsilon in place of -a epsilon: ln det E_(y,p) - sum ln p_x of a single output "
    "can come as near to that as one likes.",
    assumption=WITHOUT_B,
    over="epsilon > 0, a >= 2, every channel and every distribution, in (55) one without zeros",
    argument="(54): Hadamard, and an entry of the diagonal averages ((Q_yx - Q_ya) / (Q p)_y)^2. (55): the "
    "logarithm of a determinant is concave, the determinant of an output is a product (matrix determinant lemma), and "
    "sum ln(Q_yx / (Q p)_y) is concave in ln Q_y, so least where Q_y takes two values.",
)
def theorem_4_4(e: Evidence) -> str:
    """every epsilon-LDP channel has ln det J_p <= 2 (a-1) ln(e^epsilon - 1) and ln det C_p - sum ln p_x >= -a
    epsilon
    """
    e.proven(proofs.rows_of_a_channel() and proofs.determinants())
    _check_extremes(e)
    slack, rng = np.full(3, np.inf), np.random.default_rng(2022)
    for size, epsilon in ((3, 0.5), (4, 2.0)):
        bounds = LowerBounds(size, epsilon)
        ceiling, floors = bounds.log_information_ceiling(), [bounds.log_covariance_floor(form) for form in FORMS]
        for channel, concentration in product(routes.random_channels(size, epsilon, 24, rng), (1.0, 0.05)):
            point = np.maximum(rng.dirichlet(np.full(size, concentration)), 1e-6)
            point /= point.sum()
            one = np.linalg.slogdet(information.fisher_information(channel, point))[1]
            other = np.linalg.slogdet(information.conditional_covariance(channel, point))[1] - np.log(point).sum()
            slack = np.minimum(slack, [ceiling - one, *(other - floor for floor in floors)])
    e.needs(slack.min() >= 0)
    return (
        f"96 channels and distributions on 3 and 4 values: slack at least {slack[0]:.2f} in (54), {slack[1]:.2f} in "
        f"(55), {slack[2]:.2f} with the floor -(a-1) epsilon; on two values the least slack of (54) is epsilon exactly"
    )


def _check_extremes(e: Evidence) -> None:
    """See the constants of Theorem 4.4 at their extremes, and the matrices as defined."""
    epsilon, corner = 0.7, np.array([1 - 1e-13, 1e-13])
    attained = np.log(routes.information_sum(routes.krr_channel(epsilon, 2), corner)[0].item())
    pattern, heavy = np.exp(epsilon * np.array([1, 0, 0, 0])), np.array([1 - 3e-13, 1e-13, 1e-13, 1e-13])
    lowest, bounds = np.log(pattern / (pattern @ heavy)).sum(), LowerBounds(4, epsilon)
    e.same(LowerBounds(2, epsilon).log_information_ceiling(), attained + epsilon)
    e.same(bounds.log_information_ceiling(), 3 * (attained + epsilon))
    e.same([bounds.log_covariance_floor(form) for form in FORMS], [lowest * 4 / 3, lowest])
    _check_matrices(e, routes.krr_channel(epsilon, 3))


@section_4(
    "Theorem 4.5",
    LowerBounds.distribution,
    LowerBounds.frequency,
    LowerBounds.finite_users,
    LowerBounds.log_information_ceiling,
    LowerBounds.log_covariance_floor,
    information.SymmetricDirichlet.diversity,
    TwoValues.risk,
    best_channel.best_channel,
    TwoValues.entropies,
    EntropyBounds.asymptotic,
    kind="certified",
    assumption=WITHOUT_B,
    over="epsilon > 0, a >= 2, every channel and prior with a continuous density, as n grows",
    argument="Theorem 4.4 in Corollary 4.3.",
    corrected="A statement about the limit only: with fewer than a / ((e^epsilon - 1)^2 tr Cov P) users the prior "
    "mean, without any report, has the smaller error. For every n under a symmetric Dirichlet prior: MSE_P >= kappa a "
    "/ (2 pi e) exp(2 (h(P) - n t tr Cov P / (a-1)) / (a-1)), t the largest trace of the information at the uniform "
    "distribution and kappa the factor of Theorem 4.1.",
)
def theorem_4_5(e: Evidence) -> str:
    """as n grows, n MSE_P is at least a / (e^epsilon - 1)^2, and n MSE_F at least that times e^(-a epsilon / (a-1))
    (informally Theorem 1.4)
    """
    e.proven(proofs.budget_bounds())
    _check_two_values(e)
    _check_few_users(e)
    margins, rng = [], np.random.default_rng(2022)
    for size in (2, 4):
        points = np.maximum(rng.dirichlet(np.full(size, 0.5), size=12), 1e-9)
        points /= points.sum(axis=1, keepdims=True)
        diversity = float(1 - (points**2).sum(axis=1).mean())
        for epsilon in BUDGETS:
            bounds, best = LowerBounds(size, epsilon), best_channel.best_channel(points, epsilon)
            bound, fewer, ceiling = bounds.distribution(), bounds.frequency(), bounds.log_information_ceiling()
            written = size / (np.exp(epsilon) - 1) ** 2
            e.same([bound, size * np.exp(-ceiling / (size - 1))], [written, written])
            exponent = (bounds.log_covariance_floor() - ceiling) / (size - 1)
            written *= np.exp(-size * epsilon / (size - 1))
            e.same([fewer, size * np.exp(exponent)], [written, written])
            e.same(best.channel.sum(axis=0), np.ones(size))
            trace = np.mean([routes.completed_trace(routes.information_sum(best.channel, p)[0]) for p in points])
            e.same([best.error, best.lower_bound], [trace, trace], rel=1e-6)
            margins += [bound / best.lower_bound, fewer / (best.lower_bound - diversity)]
    e.needs(max(margins) <= 1)
    binary, many = LowerBounds(2, 0.5).distribution(), LowerBounds(1024, 0.5).distribution()
    scaled = {n: n * TwoValues(n, 0.5).risk().distribution for n in range(40, 80)}
    enough = next((n for n in scaled if scaled[n] >= binary), 79)
    guess = 1 - 1 / 1024 - information.SymmetricDirichlet(1024).diversity()
    e.same(guess, (1 - 1 / 1024) / (1024 / 2 + 1))
    return (
        "over the least limiting error of any channel, 2 and 4 values, epsilon .5, 1, 3, certified: at most "
        f"{max(margins):.2f}. Not a bound at finite n: two values at epsilon .5 need n = {enough} "
        f"({scaled[enough]:.4f} >= {binary:.4f} > {scaled[enough - 1]:.4f}); with 1024 values at .5 and n = 10^4 it "
        f"says {many / 1e4:.3f}, but guessing the uniform distribution errs by {guess:.5f}, less than the bound with "
        f"up to {math.ceil(many / guess) - 1} users"
    )


def _check_few_users(e: Evidence) -> None:
    """See the bound for every number of users follow its derivation on two values, below the exact error."""
    angle = (np.arange(40) + 0.5) * np.pi / 40
    share, held = (np.exp(0.5) - 1) / (np.exp(0.5) + 1), (1 + np.cos(angle)) / 2
    divergence = float(np.mean(4 * share**2 * (held - 0.5) ** 2))
    for users in (1, 10, 20):
        found = LowerBounds(2, 0.5).finite_users(users)
        e.same(found, np.exp(2 * (np.log(np.pi / 4) - users * divergence)) / (np.pi * math.e))
        e.sure(found < TwoValues(users, 0.5).risk().distribution)
