"""Sections 4.1 to 4.3 of lopuhaa2020: bounds from entropy, from information and from the privacy budget, and where they
are valid.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from ldpnb.accuracy import exact_risk, information, lower_bounds
from ldpnb.claims import Verdict, agree, judge
from ldpnb.claims import old_claim as claim
from ldpnb.papers.lopuhaa2020 import routes
from ldpnb.privacy import design

Array = NDArray[np.float64]

BUDGETS = (0.5, 1.0, 3.0)
USERS = (10, 40, 100)


def _gaussian_sound() -> bool:
    """Return whether the entropy bounds are equalities for Gaussian errors, where they must be."""
    variance = 0.3
    two = 0.5 * np.log(2 * np.pi * np.e * variance)
    plane = variance * (np.eye(3) - 1 / 3)
    three = 0.5 * np.log((2 * np.pi * np.e) ** 2 * np.linalg.det(plane[:2, :2]))
    raised = lower_bounds.hyperplane_factor(3) * lower_bounds.distribution_bound_from_entropy(three, 3)
    return agree(lower_bounds.distribution_bound_from_entropy(two, 2), 2 * variance) and agree(raised, np.trace(plane))


def _risk_sound() -> bool:
    """Return whether exact risks and entropies of randomised response agree with complete enumeration and with the
    posterior densities.
    """
    every = routes.all_sequences(routes.krr_channel(1.0, 2), 5, np.array([0.5, 0.5]))
    risk = exact_risk.binary_risk(5, 1.0)
    entropy, tallies = exact_risk.binary_entropies(20, 1.0)
    return (
        agree(risk.distribution, every.risk("distribution", every.means["distribution"]))
        and agree(risk.frequency, every.risk("frequency", every.means["frequency"]))
        and agree(entropy, routes.binary_entropy_of_distribution(20, 1.0))
        and agree(tallies, routes.binary_entropy_of_tallies(20, 1.0))
    )


@claim(
    "lopuhaa2020",
    "Theorem 4.1, distribution",
    says="the error of the distribution is at least a / (2 pi e) exp(2 h(P|Y) / (a - 1)), for any number of users",
    rests_on=(
        "accuracy.lower_bounds.distribution_bound_from_entropy",
        "accuracy.lower_bounds.hyperplane_factor",
        "accuracy.exact_risk.binary_risk",
        "accuracy.exact_risk.binary_entropies",
    ),
)
def theorem_4_1_distribution() -> Verdict:
    """Decide by exact errors and entropies on two values."""
    sound, ratios = _gaussian_sound() and _risk_sound(), []
    for users in USERS:
        for epsilon in BUDGETS:
            bound = lower_bounds.distribution_bound_from_entropy(exact_risk.binary_entropies(users, epsilon)[0], 2)
            ratios.append(bound / exact_risk.binary_risk(users, epsilon).distribution)
    evidence = (
        f"bound over least error, two values, n = 10, 40, 100, epsilon .5, 1, 3: between {min(ratios):.2f} and {max(ratios):.2f}; for Gaussian "
        f"errors on three values it is {1 / lower_bounds.hyperplane_factor(3):.3f}"
    )
    corrected = "It may be raised by (a-1)/a a^(1/(a-1)), 1.16 at a = 10, and is then an equality for Gaussian errors on the hyperplane."
    return Verdict(judge(max(ratios) <= 1, sound=sound, otherwise="open"), evidence, "identity", corrected=corrected)


@claim(
    "lopuhaa2020",
    "Theorem 4.1, frequencies",
    says="the error of the frequencies is at least a / (2 pi e n^2) exp(2 H(T|Y) / (a - 1)) as n grows",
    rests_on=(
        "accuracy.lower_bounds.frequency_bound_from_entropy",
        "accuracy.exact_risk.binary_risk",
        "accuracy.exact_risk.binary_entropies",
    ),
)
def theorem_4_1_frequencies() -> Verdict:
    """Decide for many users, show where a finite number breaks it, and check the repair there."""
    spread = 0.5 * np.log(2 * np.pi * np.e * 0.3)
    plain = lower_bounds.frequency_bound_from_entropy(spread, 2, 7, jitter=False)
    repaired = lower_bounds.frequency_bound_from_entropy(spread, 2, 7, jitter=True)
    sound = _risk_sound() and agree(plain, 2 * 0.3 / 49) and agree(plain - repaired, 2 / (12 * 49))
    ratios, mended = [], []
    for users in USERS:
        for epsilon in (*BUDGETS, 12.0):
            entropy = exact_risk.binary_entropies(users, epsilon)[1]
            error = exact_risk.binary_risk(users, epsilon).frequency
            bound = lower_bounds.frequency_bound_from_entropy(entropy, 2, users, jitter=False)
            ratios.append((bound / error, users, epsilon))
            mended.append(lower_bounds.frequency_bound_from_entropy(entropy, 2, users, jitter=True) / error)
    large = [ratio for ratio, users, epsilon in ratios if users == USERS[-1] and epsilon < 12]
    broken = max(ratios)
    evidence = (
        f"bound over least error, two values, n = 100, epsilon .5, 1, 3: at most {max(large):.2f}; at n = {broken[1]}, epsilon {broken[2]:g} it is "
        f"{broken[0]:.0f}; with the repair at most {max(mended):.2f} everywhere"
    )
    corrected = (
        "For every n: MSE >= a / n^2 (exp(2 H(T|Y) / (a-1)) / (2 pi e) - 1/12), by a uniform jitter on the tallies."
    )
    holds = max(large) <= 1 and max(mended) <= 1 < broken[0]
    assumption = "Read as the limit the source proves."
    return Verdict(
        judge(holds, sound=sound, otherwise="open"), evidence, "identity", corrected=corrected, assumption=assumption
    )


@claim(
    "lopuhaa2020",
    "Theorem 4.2",
    says="the entropies h(P|Y) + (a-1)/2 ln n and H(T|Y) - (a-1)/2 ln n tend to limits given by determinants of information matrices",
    rests_on=(
        "accuracy.lower_bounds.entropy_limits",
        "accuracy.information.entropy_constants",
        "accuracy.information.fisher_information",
        "accuracy.information.conditional_covariance",
        "accuracy.exact_risk.binary_entropies",
    ),
)
def theorem_4_2() -> Verdict:
    """Decide by exact entropies at 100, 200 and 400 users, extrapolated, under a smooth prior and under Jeffreys'."""
    channel, point = routes.krr_channel(1.0, 3), np.array([0.5, 0.3, 0.2])
    found = information.fisher_information(channel, point), information.conditional_covariance(channel, point)
    (limits, sound), (slow_limits, also) = _binary_limits(4.0), _binary_limits(0.5)
    sound &= also and agree(found, routes.information_sum(channel, point)) and _risk_sound()
    smooth, slow = ([_distance(n, c, lim) for n in (100, 200, 400)] for c, lim in ((4.0, limits), (0.5, slow_limits)))
    limit = (8 * smooth[2] - 6 * smooth[1] + smooth[0]) / 3
    rate = slow[2] / slow[1]
    evidence = (
        f"two values, epsilon 1, Dirichlet(4): distance to the limits {_listed(d[0] for d in smooth)} (P) and {_listed(d[1] for d in smooth)} (T) at "
        f"n = 100, 200, 400, extrapolated {limit[0]:.3f} and {limit[1]:.3f}; under Jeffreys' prior {_listed(d[0] for d in slow)}, "
        f"a factor {rate[0]:.2f} per doubling"
    )
    corrected = (
        "Under Jeffreys' prior the limits are approached like n^(-1/4) only: at n = 400 they are a third of a nat away."
    )
    holds = bool(np.abs(limit).max() < 0.005 and abs(rate[0] - 2**-0.25) < 0.01)
    return Verdict(judge(holds, sound=sound, otherwise="open"), evidence, "certified", corrected=corrected)


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.3f}" for number in numbers)


def _binary_limits(concentration: float) -> tuple[tuple[float, float], bool]:
    """Return the limits (41) and (42) for k-RR on two values at epsilon 1, and whether they are those of Gaussian
    posteriors.
    """
    contrast, (nodes, weights) = np.expm1(1.0), roots_jacobi(80, concentration - 1, concentration - 1)
    points, weights = (1 + nodes) / 2, weights / weights.sum()
    constants = [information.entropy_constants(routes.krr_channel(1.0, 2), [[p, 1 - p]]) for p in points]
    first, second = (float(weights @ np.array(values)) for values in zip(*constants, strict=True))
    variance = (1 + contrast * points) * (1 + contrast * (1 - points)) / contrast**2
    gaussian = [0.5 * weights @ np.log(2 * np.pi * np.e * v) for v in (variance, variance - points * (1 - points))]
    limits = lower_bounds.entropy_limits(first, second, 2)
    return limits, agree(limits, gaussian)


def _distance(users: int, concentration: float, limits: tuple[float, float]) -> Array:
    """Return how far ``h(P|Y) + ln(n) / 2`` and ``H(T|Y) - ln(n) / 2`` are from their limits."""
    entropies = exact_risk.binary_entropies(users, 1.0, concentration)
    distance: Array = np.array(entropies) + np.array([0.5, -0.5]) * np.log(users) - limits
    return distance


@claim(
    "lopuhaa2020",
    "Corollary 4.3",
    says="in the limit n times the errors are at least a exp(-c_P / (a-1)) and a exp(c_F / (a-1))",
    rests_on=(
        "accuracy.lower_bounds.asymptotic_bounds",
        "accuracy.information.entropy_constants",
        "accuracy.information.distribution_error",
        "accuracy.information.frequency_error",
        "accuracy.information.krr_log_det_information",
    ),
)
def corollary_4_3() -> Verdict:
    """Decide by the limiting errors themselves, the mean traces of the inverse information, over draws from Jeffreys'
    prior.
    """
    points = np.random.default_rng(2022).dirichlet(np.full(4, 0.5), size=100)
    channels = {"k-RR": routes.krr_channel(1.0, 4), "OUE": routes.unary_channel(0.5, 1 / (np.e + 1), 4)}
    sound, ratios = True, {}
    for name, channel in channels.items():
        constants = information.entropy_constants(channel, points)
        bounds = lower_bounds.asymptotic_bounds(*constants, 4)
        sums = [routes.information_sum(channel, point) for point in points]
        logs = [[np.linalg.slogdet(m)[1] for m in pair] for pair in sums]
        first = np.mean([j for j, _ in logs])
        second = np.mean([c - np.log(p).sum() - j for (j, c), p in zip(logs, points, strict=True)])
        sound &= agree(bounds, (4 * np.exp(-first / 3), 4 * np.exp(second / 3)))
        traces = np.array([routes.completed_trace(j) for j, _ in sums])
        errors = np.array([information.distribution_error(channel, p) for p in points])
        fewer = np.array([information.frequency_error(channel, p) for p in points])
        sound &= agree(errors, traces) and agree(errors - fewer, 1 - (points**2).sum(axis=1))
        ratios[name] = (bounds[0] / errors.mean(), bounds[1] / fewer.mean())
    closed = information.krr_log_det_information(points[0], epsilon=1.0)
    sound &= agree(closed, np.linalg.slogdet(routes.information_sum(channels["k-RR"], points[0])[0])[1])
    text = "; ".join(f"{name} {r[0]:.3f} and {r[1]:.3f}" for name, r in ratios.items())
    evidence = f"bound over limiting error of distribution and frequencies, 4 values, epsilon 1, 100 draws from Jeffreys' prior: {text}"
    corrected = (
        "Exactly, n MSE_P tends to the mean trace of J_P^-1 and n MSE_F to that less the mean of 1 - |P|^2; the bounds may be raised by "
        "(a-1)/a a^(1/(a-1))."
    )
    holds = max(max(pair) for pair in ratios.values()) <= 1
    return Verdict(judge(holds, sound=sound, otherwise="open"), evidence, "identity", corrected=corrected)


@claim(
    "lopuhaa2020",
    "Theorem 4.4",
    says="every epsilon-LDP channel has ln det J_p <= 2 (a-1) ln(e^epsilon - 1) and ln det C_p - sum ln p_x >= -a epsilon",
    rests_on=(
        "accuracy.lower_bounds.log_information_ceiling",
        "accuracy.lower_bounds.log_covariance_floor",
        "accuracy.information.fisher_information",
        "accuracy.information.conditional_covariance",
    ),
)
def theorem_4_4() -> Verdict:
    """Decide by channels and distributions pushed to the extremes; the equality cases tie the constants down."""
    sound, slack = _extremes_sound(), np.full(3, np.inf)
    rng = np.random.default_rng(2022)
    for size in (3, 4):
        for epsilon in (0.5, 2.0):
            ceiling = lower_bounds.log_information_ceiling(size, epsilon)
            floors = [lower_bounds.log_covariance_floor(size, epsilon, form=form) for form in ("published", "sharp")]
            for channel in routes.random_channels(size, epsilon, 24, rng):
                for concentration in (1.0, 0.05):
                    point = np.maximum(rng.dirichlet(np.full(size, concentration)), 1e-6)
                    point /= point.sum()
                    one = np.linalg.slogdet(information.fisher_information(channel, point))[1]
                    other = (
                        np.linalg.slogdet(information.conditional_covariance(channel, point))[1] - np.log(point).sum()
                    )
                    slack = np.minimum(slack, [ceiling - one, other - floors[0], other - floors[1]])
    evidence = (
        f"192 channels and distributions on 3 and 4 values: slack at least {slack[0]:.2f} in (54), {slack[1]:.2f} in (55), {slack[2]:.2f} with "
        "the floor -(a-1) epsilon; on two values the least slack of (54) is epsilon exactly"
    )
    corrected = "(55) holds with -(a-1) epsilon in place of -a epsilon: that is the least ln det E_{y,p} - sum ln p_x of a single output can be."
    return Verdict(judge(bool(slack.min() >= 0), sound=sound, otherwise="open"), evidence, "proof", corrected=corrected)


def _finite_sound() -> bool:
    """Return whether the bound for every number of users is its own derivation on two values, and never passes the
    exact error.
    """
    angle = (np.arange(40) + 0.5) * np.pi / 40
    share, held = (np.exp(0.5) - 1) / (np.exp(0.5) + 1), (1 + np.cos(angle)) / 2
    divergence = float(np.mean(4 * share**2 * (held - 0.5) ** 2))
    sound = True
    for users in (1, 10, 20):
        written = np.exp(2 * (np.log(np.pi / 4) - users * divergence)) / (np.pi * np.e)
        found = lower_bounds.finite_users_bound(2, users, 0.5)
        sound &= agree(found, written) and found < exact_risk.binary_risk(users, 0.5).distribution
    return sound


def _extremes_sound() -> bool:
    """Return whether the constants of Theorem 4.4 stand at their extremes, and the matrices are those of the
    definitions.
    """
    epsilon, point, channel = 0.7, np.array([0.5, 0.3, 0.2]), routes.krr_channel(0.7, 3)
    corner = np.array([1 - 1e-13, 1e-13])
    attained = np.log(routes.information_sum(routes.krr_channel(epsilon, 2), corner)[0].item())
    pattern, heavy = np.exp(epsilon * np.array([1, 0, 0, 0])), np.array([1 - 3e-13, 1e-13, 1e-13, 1e-13])
    lowest = np.log(pattern / (pattern @ heavy)).sum()
    floors = [lower_bounds.log_covariance_floor(4, epsilon, form=form) for form in ("published", "sharp")]
    found = information.fisher_information(channel, point), information.conditional_covariance(channel, point)
    return (
        agree(lower_bounds.log_information_ceiling(2, epsilon), attained + epsilon)
        and agree(lower_bounds.log_information_ceiling(4, epsilon), 3 * (attained + epsilon))
        and agree(floors, [lowest * 4 / 3, lowest])
        and agree(found, routes.information_sum(channel, point))
    )


@claim(
    "lopuhaa2020",
    "Theorem 4.5",
    says="as n grows, n MSE_P is at least a / (e^epsilon - 1)^2, and n MSE_F at least that times e^(-a epsilon / (a-1)) (informally Theorem 1.4)",
    rests_on=(
        "accuracy.lower_bounds.distribution_bound",
        "accuracy.lower_bounds.frequency_bound",
        "accuracy.lower_bounds.finite_users_bound",
        "accuracy.lower_bounds.log_information_ceiling",
        "accuracy.lower_bounds.log_covariance_floor",
        "accuracy.information.dirichlet_diversity",
        "accuracy.exact_risk.binary_risk",
        "privacy.design.best_channel",
    ),
)
def theorem_4_5() -> Verdict:
    """Decide in the limit by the best channels there are, and find how many users it takes before the bound is one."""
    sound, margins = _risk_sound() and _finite_sound(), []
    rng = np.random.default_rng(2022)
    for size in (2, 3, 4):
        points = np.maximum(rng.dirichlet(np.full(size, 0.5), size=12), 1e-9)
        points /= points.sum(axis=1, keepdims=True)
        for epsilon in BUDGETS:
            bound = lower_bounds.distribution_bound(size, epsilon)
            ceiling = lower_bounds.log_information_ceiling(size, epsilon)
            floor = lower_bounds.log_covariance_floor(size, epsilon)
            sound &= agree(bound, size * np.exp(-ceiling / (size - 1))) and agree(
                bound, size / (np.exp(epsilon) - 1) ** 2
            )
            fewer = lower_bounds.frequency_bound(size, epsilon)
            sound &= agree(fewer, size * np.exp((floor - ceiling) / (size - 1)))
            sound &= agree(fewer, bound * np.exp(-size * epsilon / (size - 1)))
            best = design.best_channel(points, epsilon)
            sound &= agree(best.channel.sum(axis=0), np.ones(size))
            traces = [routes.completed_trace(routes.information_sum(best.channel, p)[0]) for p in points]
            sound &= agree(best.error, np.mean(traces), rel=1e-6) and agree(best.lower_bound, np.mean(traces), rel=1e-6)
            margins += [
                bound / best.lower_bound,
                fewer / (best.lower_bound - float(1 - (points**2).sum(axis=1).mean())),
            ]
    binary, many = lower_bounds.distribution_bound(2, 0.5), lower_bounds.distribution_bound(1024, 0.5)
    enough = next(n for n in range(10, 400, 10) if n * exact_risk.binary_risk(n, 0.5).distribution >= binary)
    guess = 1 - 1 / 1024 - information.dirichlet_diversity(1024)
    sound &= agree(guess, (1 - 1 / 1024) / (1024 / 2 + 1))
    evidence = (
        f"over the least limiting error of any channel, 2 to 4 values, epsilon .5, 1, 3, certified: at most {max(margins):.2f}. "
        f"Not a bound at finite n: two values at epsilon .5 need n = {enough}; with 1024 values at .5 and n = 10^4 it says {many / 1e4:.3f}, "
        f"but guessing the uniform distribution errs by {guess:.5f}"
    )
    corrected = (
        "A statement about the limit only: below about n = a^2 / epsilon^2 users the error is smaller. For every n under a Dirichlet prior: "
        "MSE_P >= kappa a / (2 pi e) exp(2 (h(P) - n t tr Cov P / (a-1)) / (a-1)), t the trace of the information at the uniform distribution."
    )
    holds = max(margins) <= 1
    return Verdict(judge(holds, sound=sound, otherwise="open"), evidence, "certified", corrected=corrected)
