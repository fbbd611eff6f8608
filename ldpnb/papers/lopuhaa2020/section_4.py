"""What decides Section 4 and Table I of lopuhaa2020; the words stand in ``section_4.toml``.

``t = e^epsilon`` and ``c = t - 1``; there are ``a = m + 1`` values.
"""

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import sympy
from scipy.special import roots_jacobi

from ldpnb.arithmetic import Floats
from ldpnb.claims import Evidence, agree, joined, within
from ldpnb.deciders import budget, expression, identity, limit, oo, positive, symbols
from ldpnb.estimators import frequency
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import routes
from ldpnb.papers.lopuhaa2020.formulas import best_channel, information
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.formulas.information import SymmetricDirichlet
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.sections import Numbers

BUDGETS, USERS, SMALL = (0.5, 1.0, 3.0), (10, 40, 100), 1e-3


def theorem_4_1(e: Evidence) -> Numbers:
    m, n, h, v = symbols("m n h v")
    many, two, three = EntropyBounds(m + 1), EntropyBounds(2), EntropyBounds(3)
    plain, mended = (many.frequency(h, n, jitter=jitter) for jitter in (False, True))
    # (23) is an equality for normal errors of variance v
    normal = many.limits(0, 0)[0] + m / 2 * np.log(v)
    e.proven(same_logarithm(many.distribution(normal), (m + 1) * v))
    e.proven(identity(plain * n * n, many.distribution(h)))
    e.proven(identity(plain - mended, (m + 1) / (12 * n * n)) and entropy_limits())
    plane = 0.3 * (np.eye(3) - 1 / 3)  # the covariance of Gaussian errors
    spread = 0.5 * np.log((2 * np.pi * math.e) ** 2 * np.linalg.det(plane[:2, :2]))
    attained = three.distribution(spread) / np.trace(plane)
    e.needs(agree(three.factor() * attained, 1))
    ratios, counted = [], {}
    for users, epsilon in product(USERS, (*BUDGETS, 12.0)):
        case = TwoValues(users, epsilon)
        (of_shares, of_tallies), least = case.entropies(), case.risk()
        if epsilon in BUDGETS:
            ratios.append(two.distribution(of_shares) / least.distribution)
        own = [two.frequency(of_tallies, users, jitter=jitter) / least.frequency for jitter in (False, True)]
        counted[users, epsilon] = own
    large = max(counted[USERS[-1], epsilon][0] for epsilon in BUDGETS)
    broken, (users, epsilon) = max((plain, setting) for setting, (plain, _) in counted.items())
    repaired = max(repaired for _, repaired in counted.values())
    e.needs(max(ratios) <= 1 and large <= 1 and repaired <= 1 < broken)
    shown = {"factor": EntropyBounds(10).factor(), "low": min(ratios), "high": max(ratios), "gaussian": attained}
    return shown | {"large": large, "users": users, "epsilon": epsilon, "broken": broken, "mended": repaired}


def same_logarithm(one: Any, other: Any) -> bool:
    """Return whether two products of positive factors and exponentials are the same."""
    logs = [sympy.expand_log(sympy.log(expression(side)), force=True) for side in (one, other)]
    return identity(sympy.expand(logs[0] - logs[1]))


def entropy_limits() -> bool:
    """Decide (41) and (42) for a normal posterior of information ``n J`` and tallies of covariance ``n C`` given P."""
    m, n, log_j, log_c, log_p = symbols("m n J C p")
    bounds = EntropyBounds(m + 1)
    standard = bounds.limits(0, 0)[0]  # of m standard normal variables
    posterior = standard - (log_j + m * np.log(n)) / 2
    tallies = standard + (log_c + m * np.log(n)) / 2
    gap = (log_j + log_p) / 2  # h(P|T) exceeds h(P|S) by this, as ln det J of the values themselves is -ln p
    limits = bounds.limits(log_j, log_c - log_p - log_j)
    shift = m / 2 * np.log(n)
    return identity(posterior + shift, limits[0]) and identity(tallies - gap - shift, limits[1])


def theorem_4_2(e: Evidence) -> Numbers:
    e.proven(entropy_limits())
    smooth, slow = _distances(4.0), _distances(0.5)
    ends = (8 * smooth[2] - 6 * smooth[1] + smooth[0]) / 3
    rate = slow[2, 0] / slow[1, 0]
    e.needs(np.abs(ends).max() < 0.005 and abs(rate - 2**-0.25) < 0.01)
    shown = {"smooth": smooth[:, 0], "tallies": smooth[:, 1], "slow": slow[:, 0]}
    return {name: joined(numbers, ".3f") for name, numbers in shown.items()} | {"rate": rate, "away": abs(slow[2, 0])}


def _distances(concentration: float) -> Floats:
    """Return how far ``h(P|Y) + ln(n) / 2`` and ``H(T|Y) - ln(n) / 2`` are from the limits (41) and (42).

    k-RR on two values at epsilon 1, a row for each of 100, 200 and 400 users; the limits are those of Gaussian
    posteriors.
    """
    nodes, weights = roots_jacobi(80, concentration - 1, concentration - 1)
    points, weights = (1 + nodes) / 2, weights / weights.sum()
    constants = [information.entropy_constants(routes.krr_channel(1.0, 2), [[p, 1 - p]]) for p in points]
    limits = EntropyBounds(2).limits(*(weights @ np.array(constants)))
    entropies = np.array([TwoValues(users, 1.0, concentration).entropies() for users in (100, 200, 400)])
    return np.asarray(entropies + np.outer(np.log([100, 200, 400]), [0.5, -0.5]) - limits)


def corollary_4_3(e: Evidence) -> Numbers:
    m, n, j, f = symbols("m n J F")
    many = EntropyBounds(m + 1)
    limits, shift, asymptotic = many.limits(j, f), m / 2 * np.log(n), many.asymptotic(j, f)
    e.proven(same_logarithm(n * many.distribution(limits[0] - shift), asymptotic[0]))
    e.proven(same_logarithm(n * many.frequency(limits[1] + shift, n, jitter=False), asymptotic[1]))
    points, texts = np.random.default_rng(2022).dirichlet(np.full(4, 0.5), size=40), {}
    for name, channel in {"krr": routes.krr_channel(1.0, 4), "oue": routes.oue_channel(1.0, 4)}.items():
        bounds, constants = EntropyBounds(4), information.entropy_constants(channel, points)
        leasts, limits = bounds.asymptotic(*constants), bounds.limits(*constants)
        e.same(leasts, [bounds.distribution(limits[0]), bounds.frequency(limits[1], 1, jitter=False)])
        formulas = information.distribution_error, information.frequency_error
        ratios = leasts / np.mean([[f(channel, p) for p in points] for f in formulas], axis=1)
        e.needs(ratios.max() <= 1)
        texts[name] = " and ".join(f"{ratio:.3f}" for ratio in ratios)
    return texts


def theorem_4_4(e: Evidence) -> Numbers:
    # entries of a row differ by at most c (Qp)_y and are at least (Qp)_y / t; where j values are favoured, of chance f,
    # the sum of ln(Q / (Qp)_y) is j epsilon - a ln(1 + c f), at least -(a - j) epsilon
    t, u, v, w, m = symbols("t u v w m")
    low, high, mean = (1 + (t - 1) * x for x in (u, v, w))  # entries and mean between 1 and t times the least
    box = {t: (1, oo)} | dict.fromkeys((u, v, w), (0, 1))
    e.proven(positive(((t - 1) * mean) * ((t - 1) * mean) - (high - low) * (high - low), box))
    e.proven(positive(t * low - mean, box))
    e.proven(positive(t - mean, box))  # f is w; one logarithm of t / mean > 0 for each value
    bounds = LowerBounds(m + 1, budget(t))
    e.proven(identity(bounds.log_information_ceiling(), 2 * m * np.log(t - 1)))
    e.proven(identity(bounds.log_covariance_floor(), -(m + 1) * np.log(t)))
    e.proven(identity(bounds.log_covariance_floor("sharp"), -m * np.log(t)))
    slack, rng = np.full(3, np.inf), np.random.default_rng(2022)
    for size, epsilon in ((3, 0.5), (4, 2.0)):
        bounds = LowerBounds(size, epsilon)
        ceiling = bounds.log_information_ceiling()
        floors = [bounds.log_covariance_floor(), bounds.log_covariance_floor("sharp")]
        for channel, concentration in product(routes.random_channels(size, epsilon, 24, rng), (1.0, 0.05)):
            point = np.maximum(rng.dirichlet(np.full(size, concentration)), 1e-6)
            point /= point.sum()
            one = np.linalg.slogdet(information.fisher_information(channel, point))[1]
            other = np.linalg.slogdet(information.conditional_covariance(channel, point))[1] - np.log(point).sum()
            slack = np.minimum(slack, [ceiling - one, *(other - floor for floor in floors)])
    e.needs(slack.min() >= 0)
    return dict(zip(("ceiling", "floor", "sharp"), slack, strict=True))


def theorem_4_5(e: Evidence) -> Numbers:
    m, a, t = symbols("m a t")
    exact, entropies = LowerBounds(m + 1, budget(t)), EntropyBounds(m + 1)
    ceiling, floor = exact.log_information_ceiling(), exact.log_covariance_floor()
    e.proven(same_logarithm(entropies.asymptotic(ceiling, 0)[0], exact.distribution()))
    e.proven(same_logarithm(entropies.asymptotic(0, floor - ceiling)[1], exact.frequency()))
    makers = {"oue": UnaryEncoding.optimised, "sue": UnaryEncoding.symmetric}
    e.decides(all(limit(over_the_bound(make, a, t), t.expression, 1) == 4 for make in makers.values()))
    e.decides(limit(exact.frequency() / exact.distribution(), t.expression, 1) == 1)
    margin = _over_the_best_channel()
    e.needs(margin <= 1)
    least = {n: TwoValues(n, 0.5).risk().distribution for n in (1, 10, 20, *range(40, 80))}
    e.sure(all(LowerBounds(2, 0.5).finite_users(n) < least[n] for n in (1, 10, 20)))
    binary, many, size = LowerBounds(2, 0.5).distribution(), LowerBounds(1024, 0.5).distribution(), 1024
    enough = next((n for n in range(40, 80) if n * least[n] >= binary), 79)
    guess, scale, weak = 1 - 1 / size - SymmetricDirichlet(size).diversity(), SMALL**2 / size, LowerBounds(size, SMALL)
    unary = {name: scale * information.unbiased_frequency_error(make(SMALL, size)) for name, make in makers.items()}
    finite = {"before": (enough - 1) * least[enough - 1], "binary": binary, "after": enough * least[enough]}
    guessed = {"enough": enough, "many": many / 1e4, "guess": guess, "few": math.ceil(many / guess) - 1}
    table = {"new": scale * weak.distribution(), "fewer": scale * weak.frequency()}
    return {"margin": margin} | finite | guessed | table | unary


def _over_the_best_channel() -> float:
    """Return the largest ratio of (59) and (60) to the least limiting errors of any channel, over Jeffreys' prior."""
    margins, rng = [], np.random.default_rng(2022)
    for size in (2, 4):
        points = np.maximum(rng.dirichlet(np.full(size, 0.5), size=12), 1e-9)
        points /= points.sum(axis=1, keepdims=True)
        diversity = float(1 - (points**2).sum(axis=1).mean())
        for epsilon in BUDGETS:
            bounds, best = LowerBounds(size, epsilon), best_channel.best_channel(points, epsilon)
            margins += [bounds.distribution() / best.lower_bound, bounds.frequency() / (best.lower_bound - diversity)]
    return float(max(margins))


def over_the_bound(make: Any, a: Any, t: Any) -> Any:
    """Return n times the error of unary encoding's unbiased estimate over (59), in ``t = e^(epsilon/2)``."""
    epsilon = 2 * budget(t)
    return information.unbiased_frequency_error(make(epsilon, a)) / LowerBounds(a, epsilon).distribution()


def least_error() -> bool:
    """Decide what a row of k entries t and others 1 adds to the trace, that mixed rows add no more, and what is left.

    On vectors of sum 0 it is ``k (a-k) c^2 / (a (1 + c s)^2)`` times its chance, s being the chance of its values;
    ``|q|^2 / (q p)`` is convex in q. The error is ``(a-1)^2`` over the trace at least: ``1/u + 1/v >= 4 / (u + v)``.
    """
    t, k, a, s = symbols("t k a s")
    mean = (k * t + a - k) / a
    square = k * (t - mean) * (t - mean) + (a - k) * (1 - mean) * (1 - mean)
    row = 1 + (t - 1) * s
    adds = identity(square / row / row, k * (a - k) * (t - 1) * (t - 1) / (a * row * row))
    at_uniform = identity(square / mean / mean, LowerBounds(a, budget(t)).uniform_information(k))
    u, v, x, y = symbols("u v x y")
    mixed = (u + x) * (u + x) / (v + y)
    convex = identity(u * u / v + x * x / y - mixed, (u * y - x * v) * (u * y - x * v) / (v * y * (v + y)))
    half = identity(a * a / 4 - k * (a - k), (a / 2 - k) * (a / 2 - k))
    inverse = identity(1 / u + 1 / v - 4 / (u + v), (u - v) * (u - v) / (u * v * (u + v)))  # of two eigenvalues
    return adds and at_uniform and convex and half and inverse


def best_subset_size() -> bool:
    """Decide that sets of ``k + 1`` tell more than sets of k iff ``t^2 < (a-k)(a-k-1) / (k (k+1))``, which falls in k.

    At the uniform distribution: one size is best between two neighbouring thresholds.
    """
    t, k, rest = symbols("t k rest")
    a = k + 1 + rest
    information, more = (LowerBounds(a, budget(t)).uniform_information(size) for size in (k, k + 1))
    bottom = (k * t + a - k) * ((k + 1) * t + a - k - 1)
    step = a * a * (t - 1) * (t - 1) * (k * (k + 1) * t * t - (a - k) * (a - k - 1))
    threshold = (a - k) * (a - k - 1) / (k * (k + 1))
    following = (a - k - 1) * (a - k - 2) / ((k + 1) * (k + 2))
    falls = positive(threshold - following, {k: (0, oo), rest: (0, oo)})
    return identity(information - more, step / (bottom * bottom)) and falls is True


def selection_gap() -> float:
    """Return by how much, relatively, a channel may err less than subset selection at the uniform distribution."""
    gaps = []
    for size, epsilon in product((2, 3, 4, 5), (0.1, 1.0, 3.0)):
        best = best_channel.best_channel(np.full(size, 1 / size), epsilon)
        gaps.append(LowerBounds(size, epsilon).uniform_optimum() / best.lower_bound - 1)
    return float(max(gaps))


def section_4_3_nearness(e: Evidence) -> Numbers:
    t, a = symbols("t a")
    largest = limit(over_the_bound(UnaryEncoding.optimised, a, t), t.expression, 1)
    e.decides(within("near", float(largest), 1.0))
    e.proven(identity(largest, 4) and least_error())
    exact = LowerBounds(a, budget(t))
    e.proven(limit(exact.frequency() / exact.distribution(), t.expression, 1) == 1)  # (60) comes to (59)
    mean, square = a / 2, a / 4 + a * a / 4  # of the number of bits set as epsilon falls
    trace = (a * mean - square) / a  # over c^2: that of k bits is k (a - k) c^2 / a
    e.proven(identity((a - 1) * (a - 1) / trace, 4 * (a - 1)))  # OUE with the best estimate, times c^2
    e.proven(identity(4 * (a - 1) / (a * (a - 1) * (a - 1) / (a * a / 4)), a / (a - 1)))
    e.proven(identity(4 * (a - 1) / (a * (a - 1) * (a - 1) / ((a * a - 1) / 4)), (a + 1) / a))
    e.sure(selection_gap() < 1e-6)
    texts = {}
    for name, size in (("two", 2), ("ten", 10)):
        bounds, unary = LowerBounds(size, SMALL), UnaryEncoding.optimised(SMALL, size)
        least, used = bounds.uniform_optimum(), information.distribution_error(unary.channel(), np.full(size, 1 / size))
        e.sure(agree(used / least, size / (size - 1), rel=5e-3))
        errors = least, used, information.unbiased_frequency_error(unary)
        texts[name] = joined(np.array(errors) / bounds.distribution(), ".2f")
    return texts | {"largest": largest}


def section_4_3_number_of_outputs(e: Evidence) -> Numbers:
    e.proven(best_subset_size() and least_error() and pairs_of_four())
    # b sets of k values, each pair of values in equally many, tell at the uniform distribution what subset selection
    # tells; b drops out
    t, a, b, k = symbols("t a b k")
    replication = b * k / a
    pairs = replication * (k - 1) / (a - 1)
    weight = a / (b * (k * t + a - k))  # of a set: the columns sum to 1
    e.proven(identity(weight * (replication * t + b - replication), 1))
    trace = (a - 1) * weight * weight * (t - 1) * (t - 1) * (replication - pairs) / (weight * (k * t + a - k) / a)
    e.proven(identity(trace, LowerBounds(a, budget(t)).uniform_information(k)))
    lines = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]  # of the Fano plane
    fano = routes.limiting_error(routes.set_channel(0.5, 7, lines), np.full(7, 1 / 7))
    seven, four = LowerBounds(7, 0.5), LowerBounds(4, 0.5)
    every, (six, krr) = seven.uniform_optimum(), (9 / four.uniform_information(k) for k in (2, 1))
    e.needs(agree(fano, every) and agree(36 / seven.uniform_information(3), every))
    e.needs(agree(four.uniform_optimum(), six) and six < krr)
    return {"fano": fano, "every": every, "six": six, "krr": krr}


def pairs_of_four() -> bool:
    """Decide that rows that favour pairs of four values make a channel of full rank only if all six have weight.

    Equal sums of the columns are weights whose signed indicators cancel: then complements weigh alike. The three that
    are left are orthogonal, so without one of them the information has rank 2.
    """
    pairs = list(combinations(range(4), 2))  # complements stand at i and 5 - i
    signs = sympy.Matrix(4, 6, lambda value, i: 1 if value in pairs[i] else -1)
    balanced, half = signs.nullspace(), signs[:, :3]
    alike = all(weights[i] == weights[5 - i] for weights in balanced for i in range(3))
    return len(balanced) == 3 and alike and half.T * half == 4 * sympy.eye(3)


def proposition_4_6(e: Evidence) -> Numbers:
    t, f, alpha, spread = symbols("t f alpha d")
    krr, written = KaryRandomisedResponse(budget(t), 2), 2 * t / ((t - 1) * (t - 1))
    error, gap = information.unbiased_frequency_error(krr), krr.truthful_rate
    e.proven(identity(error, written))
    e.proven(all(identity(2 * chance * (1 - chance) / gap / gap, written) for chance in (krr.p, krr.q)))
    chance = f * krr.p + (1 - f) * krr.q
    e.proven(identity(2 * chance * (1 - chance) / gap / gap, written + 2 * f * (1 - f)))
    e.proven(identity(SymmetricDirichlet(2, alpha).diversity(), 2 * alpha * alpha / (2 * alpha * (2 * alpha + 1))))
    exact = LowerBounds(2, budget(t))
    for ratio in (exact.distribution() / (error + spread), exact.frequency() / error):
        e.decides(limit(ratio, t.expression, 1) == 1)
    fixed = information.unbiased_frequency_error(KaryRandomisedResponse(1.0, 2))
    for prior in ([0.5, 0.5], [1.0, 1.0], [0.5, 1.5]):
        alphas = np.array(prior)
        every = routes.all_sequences(routes.krr_channel(1.0, 2), 4, alphas)
        plain = frequency.unbiased(every.tallies, 4, KaryRandomisedResponse(1.0, 2))
        mixed = 2 * alphas[0] * alphas[1] / (alphas.sum() * (alphas.sum() + 1))
        e.needs(agree(4 * every.risks(plain), [fixed + mixed, fixed]))
    diversity, shown = SymmetricDirichlet(2).diversity(), {}
    for name, epsilon, digits in (("ratios", 1.0, 3), ("small", SMALL, 4)):
        bounds, own = LowerBounds(2, epsilon), information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, 2))
        ratios = [bounds.distribution() / (own + diversity), bounds.frequency() / own]
        e.needs(max(ratios) < 1)
        shown[name] = joined(ratios, f".{digits}f")
    return shown | {"fixed": fixed, "drawn": fixed + diversity}
