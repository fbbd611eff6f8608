"""Decide the claims of Section 4 and Table I; their words are in ``section_4.toml``.

Throughout, ``t = e^epsilon`` and ``c = t - 1``. There are ``a = m + 1`` values and ``n`` users; P
is the distribution of the values, T their tallies, and Y the reports.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import sympy
from scipy.special import roots_jacobi

from ldpnb.arithmetic import Floats, Real
from ldpnb.claims import Evidence, Numbers, agree, joined
from ldpnb.deciders import budget, expression, identity, limit, oo, positive, symbols
from ldpnb.estimators import frequency
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.papers.lopuhaa2020 import written_out
from ldpnb.papers.lopuhaa2020.formulas import best_channel, information
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues
from ldpnb.papers.lopuhaa2020.formulas.information import SymmetricDirichlet
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import EntropyBounds, LowerBounds
from ldpnb.papers.lopuhaa2020.uniform import (
    best_subset_size,
    least_error,
    pairs_of_four,
    selection_gap,
)

BUDGETS = (0.5, 1.0, 3.0)
LARGE_BUDGET = 12.0
SMALL_BUDGET = 1e-3
USERS = (10, 40, 100)
SEED = 2022


# Theorem 4.1


@dataclass(frozen=True, slots=True)
class Ratios:
    """Bounds over the least errors for two values; a bound that holds is at most 1."""

    users: int
    epsilon: float
    distribution: float
    printed: float
    """Of the frequencies, with the bound as printed."""
    jittered: float
    """Of the frequencies, with the bound put right by a jitter on the tallies."""


def theorem_4_1(e: Evidence) -> Numbers:
    m, n, h, v = symbols("m n h v")
    bounds = EntropyBounds(m + 1)

    # (23) is an equality for normal errors of variance v.
    normal = bounds.limits(0, 0)[0] + m / 2 * np.log(v)
    e.proven(same_logarithm(bounds.distribution(normal), (m + 1) * v))

    printed = bounds.frequency(h, n, jitter=False)
    jittered = bounds.frequency(h, n, jitter=True)
    e.proven(identity(printed * n * n, bounds.distribution(h)))
    e.proven(identity(printed - jittered, (m + 1) / (12 * n * n)))
    e.proven(entropy_limits())

    gaussian = _bound_over_gaussian_error()
    e.needs(agree(EntropyBounds(3).factor() * gaussian, 1))

    cases = [_ratios(*case) for case in product(USERS, (*BUDGETS, LARGE_BUDGET))]
    moderate = [case for case in cases if case.epsilon in BUDGETS]
    lowest = min(case.distribution for case in moderate)
    highest = max(case.distribution for case in moderate)
    at_most_users = max(case.printed for case in moderate if case.users == USERS[-1])
    worst = max(cases, key=lambda case: case.printed)
    repaired = max(case.jittered for case in cases)
    e.needs(highest <= 1 and at_most_users <= 1)
    e.needs(repaired <= 1 < worst.printed)

    return {
        "factor": EntropyBounds(10).factor(),
        "gaussian": gaussian,
        "low": lowest,
        "high": highest,
        "large": at_most_users,
        "broken": worst.printed,
        "users": worst.users,
        "epsilon": worst.epsilon,
        "mended": repaired,
    }


def _bound_over_gaussian_error() -> float:
    """Return the bound (23) over the error, for Gaussian errors alike in all directions."""
    covariance = 0.3 * (np.eye(3) - 1 / 3)
    determinant = np.linalg.det(covariance[:2, :2])
    entropy = 0.5 * np.log((2 * np.pi * math.e) ** 2 * determinant)
    return float(EntropyBounds(3).distribution(entropy) / np.trace(covariance))


def _ratios(users: int, epsilon: float) -> Ratios:
    bounds = EntropyBounds(2)
    case = TwoValues(users, epsilon)
    least = case.risk()
    of_shares, of_tallies = case.entropies()

    return Ratios(
        users,
        epsilon,
        distribution=bounds.distribution(of_shares) / least.distribution,
        printed=bounds.frequency(of_tallies, users, jitter=False) / least.frequency,
        jittered=bounds.frequency(of_tallies, users, jitter=True) / least.frequency,
    )


def same_logarithm(one: Any, other: Any) -> bool:
    """Return whether two products of positive factors and exponentials are the same."""
    logs = []
    for side in (one, other):
        logs.append(sympy.expand_log(sympy.log(expression(side)), force=True))
    return identity(sympy.expand(logs[0] - logs[1]))


# Theorem 4.2


def entropy_limits() -> bool:
    """Decide (41) and (42) for normal laws.

    The posterior has information ``n J``, and given P the tallies have covariance ``n C``.
    """
    m, n, log_j, log_c, log_p = symbols("m n J C p")
    bounds = EntropyBounds(m + 1)
    standard = bounds.limits(0, 0)[0]  # the entropy of m standard normal variables
    posterior = standard - (log_j + m * np.log(n)) / 2
    tallies = standard + (log_c + m * np.log(n)) / 2

    # h(P|T) exceeds h(P|S) by this, because ln det J of the values themselves is -ln p.
    gap = (log_j + log_p) / 2

    limits = bounds.limits(log_j, log_c - log_p - log_j)
    shift = m / 2 * np.log(n)
    of_shares = identity(posterior + shift, limits[0])
    of_tallies = identity(tallies - gap - shift, limits[1])
    return of_shares and of_tallies


def theorem_4_2(e: Evidence) -> Numbers:
    e.proven(entropy_limits())

    smooth = _distances_to_limits(concentration=4.0)
    jeffreys = _distances_to_limits(concentration=0.5)

    # With n, 2 n and 4 n users, terms of order 1/n and 1/n^2 cancel in this sum.
    extrapolated = (8 * smooth[2] - 6 * smooth[1] + smooth[0]) / 3
    e.needs(np.abs(extrapolated).max() < 0.005)

    rate = jeffreys[2, 0] / jeffreys[1, 0]
    e.needs(abs(rate - 2**-0.25) < 0.01)

    return {
        "smooth": joined(smooth[:, 0], ".3f"),
        "tallies": joined(smooth[:, 1], ".3f"),
        "slow": joined(jeffreys[:, 0], ".3f"),
        "rate": rate,
        "away": abs(jeffreys[2, 0]),
    }


def _distances_to_limits(concentration: float) -> Floats:
    """Return how far the entropies are from (41) and (42), for k-RR on two values at epsilon 1.

    There is a row for each of 100, 200 and 400 users, and a column for each of
    ``h(P|Y) + ln(n) / 2`` and ``H(T|Y) - ln(n) / 2``. The limits are averages over the prior,
    which is Dirichlet.
    """
    nodes, weights = roots_jacobi(80, concentration - 1, concentration - 1)
    points = (1 + nodes) / 2
    channel = written_out.krr_channel(1.0, 2)
    constants = [information.entropy_constants(channel, [[p, 1 - p]]) for p in points]
    means = (weights / weights.sum()) @ np.array(constants)
    limits = EntropyBounds(2).limits(*means)

    users = (100, 200, 400)
    entropies = np.array([TwoValues(n, 1.0, concentration).entropies() for n in users])
    shifts = np.outer(np.log(users), [0.5, -0.5])
    return np.asarray(entropies + shifts - limits)


# Corollary 4.3


def corollary_4_3(e: Evidence) -> Numbers:
    m, n, j, f = symbols("m n J F")
    bounds = EntropyBounds(m + 1)
    limits = bounds.limits(j, f)
    asymptotic = bounds.asymptotic(j, f)
    shift = m / 2 * np.log(n)

    of_shares = n * bounds.distribution(limits[0] - shift)
    of_tallies = n * bounds.frequency(limits[1] + shift, n, jitter=False)
    e.proven(same_logarithm(of_shares, asymptotic[0]))
    e.proven(same_logarithm(of_tallies, asymptotic[1]))

    points = np.random.default_rng(SEED).dirichlet(np.full(4, 0.5), size=40)
    return {
        "krr": _bounds_over_errors(e, written_out.krr_channel(1.0, 4), points),
        "oue": _bounds_over_errors(e, written_out.oue_channel(1.0, 4), points),
    }


def _bounds_over_errors(e: Evidence, channel: Floats, points: Floats) -> str:
    """Compare the bounds with the limiting errors of distribution and frequencies."""
    bounds = EntropyBounds(4)
    constants = information.entropy_constants(channel, points)
    least = bounds.asymptotic(*constants)

    limits = bounds.limits(*constants)
    of_tallies = bounds.frequency(limits[1], 1, jitter=False)
    e.same(least, [bounds.distribution(limits[0]), of_tallies])

    errors = [
        np.mean([information.distribution_error(channel, point) for point in points]),
        np.mean([information.frequency_error(channel, point) for point in points]),
    ]
    ratios = np.array(least) / errors
    e.needs(ratios.max() <= 1)
    return " and ".join(f"{ratio:.3f}" for ratio in ratios)


# Theorem 4.4


def theorem_4_4(e: Evidence) -> Numbers:
    # Scale the row of an output y such that its entries lie between 1 and t. Then two of its
    # entries, and their mean (Qp)_y, are 1 + (t - 1) x with an x between 0 and 1.
    t, u, v, w, m = symbols("t u v w m")
    low = 1 + (t - 1) * u
    high = 1 + (t - 1) * v
    mean = 1 + (t - 1) * w
    box = {t: (1, oo), u: (0, 1), v: (0, 1), w: (0, 1)}

    # For (54): entries differ by at most c (Qp)_y.
    furthest = (t - 1) * mean
    e.proven(positive(furthest * furthest - (high - low) * (high - low), box))

    # For (55): an entry is at least (Qp)_y / t.
    e.proven(positive(t * low - mean, box))

    # For the sharp floor: where j values are favoured, of probability f, the sum of ln(Q / (Qp)_y)
    # is j epsilon - a ln(1 + c f), at least -(a - j) epsilon. Here f is w, and ln(t / mean) > 0.
    e.proven(positive(t - mean, box))

    bounds = LowerBounds(m + 1, budget(t))
    e.proven(identity(bounds.log_information_ceiling(), 2 * m * np.log(t - 1)))
    e.proven(identity(bounds.log_covariance_floor(), -(m + 1) * np.log(t)))
    e.proven(identity(bounds.log_covariance_floor("sharp"), -m * np.log(t)))

    slack = _slack_of_random_channels()
    e.needs(slack.min() >= 0)
    return {"ceiling": slack[0], "floor": slack[1], "sharp": slack[2]}


def _slack_of_random_channels() -> Floats:
    """Return the least slack in (54), in (55) and in the sharp form of (55)."""
    rng = np.random.default_rng(SEED)
    slack = np.full(3, np.inf)
    for size, epsilon in ((3, 0.5), (4, 2.0)):
        bounds = LowerBounds(size, epsilon)
        ceiling = bounds.log_information_ceiling()
        floor = bounds.log_covariance_floor()
        sharp = bounds.log_covariance_floor("sharp")

        channels = written_out.random_channels(size, epsilon, 24, rng)
        for channel, concentration in product(channels, (1.0, 0.05)):
            point = np.maximum(rng.dirichlet(np.full(size, concentration)), 1e-6)
            point /= point.sum()

            log_information = _log_det(information.fisher_information(channel, point))
            log_covariance = _log_det(information.conditional_covariance(channel, point))
            excess = log_covariance - np.log(point).sum()
            slack = np.minimum(slack, [ceiling - log_information, excess - floor, excess - sharp])
    return slack


def _log_det(matrix: Floats) -> float:
    return float(np.linalg.slogdet(matrix)[1])


# Theorem 4.5 and Table I


def theorem_4_5(e: Evidence) -> Numbers:
    m, a, t = symbols("m a t")
    bounds = LowerBounds(m + 1, budget(t))
    entropies = EntropyBounds(m + 1)

    # (59) and (60) are Corollary 4.3 at the ceiling and the floor of Theorem 4.4.
    ceiling = bounds.log_information_ceiling()
    floor = bounds.log_covariance_floor()
    of_shares = entropies.asymptotic(ceiling, 0)[0]
    of_tallies = entropies.asymptotic(0, floor - ceiling)[1]
    e.proven(same_logarithm(of_shares, bounds.distribution()))
    e.proven(same_logarithm(of_tallies, bounds.frequency()))

    # Table I: as epsilon falls, (60) comes to (59), and unary encoding to four times that.
    for make in (UnaryEncoding.optimised, UnaryEncoding.symmetric):
        e.decides(limit(over_the_bound(make, a, t), t.expression, 1) == 4)
    e.decides(limit(bounds.frequency() / bounds.distribution(), t.expression, 1) == 1)

    margin = _over_the_best_channel()
    e.needs(margin <= 1)

    return {
        "margin": margin,
        **_users_from_which_it_holds(e),
        **_uniform_guess_of_many_values(),
        **_table_1(),
    }


def over_the_bound(make: Callable[[Real, Real], UnaryEncoding], a: Real, t: Real) -> Real:
    """Return the error of unary encoding's unbiased estimate over (59), in ``t = e^(epsilon/2)``.

    The error is ``n`` times the mean squared error, as in (59).
    """
    epsilon = 2 * budget(t)
    error = information.unbiased_frequency_error(make(epsilon, a))
    return error / LowerBounds(a, epsilon).distribution()


def _over_the_best_channel() -> float:
    """Return the largest ratio of (59) and (60) to the least limiting errors of any channel.

    The prior is Jeffreys'.
    """
    rng = np.random.default_rng(SEED)
    ratios = []
    for size in (2, 4):
        points = np.maximum(rng.dirichlet(np.full(size, 0.5), size=12), 1e-9)
        points /= points.sum(axis=1, keepdims=True)
        diversity = float(1 - (points**2).sum(axis=1).mean())

        for epsilon in BUDGETS:
            bounds = LowerBounds(size, epsilon)
            best = best_channel.best_channel(points, epsilon)
            ratios.append(bounds.distribution() / best.lower_bound)
            ratios.append(bounds.frequency() / (best.lower_bound - diversity))
    return float(max(ratios))


def _users_from_which_it_holds(e: Evidence) -> dict[str, object]:
    """Find the number of users from which (59) holds, for two values at epsilon 0.5."""
    bounds = LowerBounds(2, 0.5)
    few = (1, 10, 20)
    errors = {n: TwoValues(n, 0.5).risk().distribution for n in (*few, *range(40, 80))}
    e.sure(all(bounds.finite_users(n) < errors[n] for n in few))

    bound = bounds.distribution()
    enough = next((n for n in range(40, 80) if n * errors[n] >= bound), 79)
    return {
        "enough": enough,
        "binary": bound,
        "before": (enough - 1) * errors[enough - 1],
        "after": enough * errors[enough],
    }


def _uniform_guess_of_many_values() -> dict[str, object]:
    """Compare (59) with the error of guessing that 1,024 values are equally frequent."""
    size = 1024
    bound = LowerBounds(size, 0.5).distribution()
    guess = 1 - 1 / size - SymmetricDirichlet(size).diversity()
    return {"many": bound / 1e4, "guess": guess, "few": math.ceil(bound / guess) - 1}


def _table_1() -> dict[str, object]:
    """Return the bounds and errors of Table I at a small epsilon, in units of a / epsilon^2."""
    size = 1024
    unit = size / SMALL_BUDGET**2
    bounds = LowerBounds(size, SMALL_BUDGET)
    oue = UnaryEncoding.optimised(SMALL_BUDGET, size)
    sue = UnaryEncoding.symmetric(SMALL_BUDGET, size)

    return {
        "new": bounds.distribution() / unit,
        "fewer": bounds.frequency() / unit,
        "oue": information.unbiased_frequency_error(oue) / unit,
        "sue": information.unbiased_frequency_error(sue) / unit,
    }


# Section 4.3


def section_4_3_nearness(e: Evidence) -> Numbers:
    t, a = symbols("t a")
    largest = limit(over_the_bound(UnaryEncoding.optimised, a, t), t.expression, 1)
    e.decides(identity(largest, 4))
    e.decides(limit(_hashing_over_the_bound(a, t), t.expression, 1) == 4)
    e.proven(least_error())

    # As epsilon falls, (60) comes to (59).
    bounds = LowerBounds(a, budget(t))
    e.proven(limit(bounds.frequency() / bounds.distribution(), t.expression, 1) == 1)

    # As epsilon falls, every set of bits is equally likely. An output with k bits set adds
    # k (a - k) / a to the trace of the information, over c^2.
    mean = a / 2
    mean_square = a / 4 + a * a / 4
    trace = (a * mean - mean_square) / a
    of_best_estimate = (a - 1) * (a - 1) / trace
    e.proven(identity(of_best_estimate, 4 * (a - 1)))

    # That error over the least one of any channel, for even and for odd a.
    least_if_even = a * (a - 1) * (a - 1) / (a * a / 4)
    least_if_odd = a * (a - 1) * (a - 1) / ((a * a - 1) / 4)
    e.proven(identity(4 * (a - 1) / least_if_even, a / (a - 1)))
    e.proven(identity(4 * (a - 1) / least_if_odd, (a + 1) / a))
    e.sure(selection_gap() < 1e-6)

    unary = UnaryEncoding.optimised(0.5, 10)
    at_half = information.unbiased_frequency_error(unary) / LowerBounds(10, 0.5).frequency()
    return {
        "largest": largest,
        "two": _errors_over_the_bound(e, 2),
        "ten": _errors_over_the_bound(e, 10),
        "half": at_half,
    }


def _hashing_over_the_bound(a: Real, t: Real) -> Real:
    """Return the error of local hashing's unbiased estimate over (59), in ``t = e^epsilon``.

    Optimised local hashing hashes to the whole number nearest to ``t + 1``, which is 2 at small
    budgets. A report then supports the true value with probability ``t / (t + 1)``, and any other
    with probability 1/2.
    """
    p = t / (t + 1)
    q = t / (2 * t)
    gap = p - q
    error = ((a - 1) * q * (1 - q) + p * (1 - p)) / (gap * gap)
    return error / LowerBounds(a, budget(t)).distribution()


def _errors_over_the_bound(e: Evidence, size: int) -> str:
    """Return three errors over (59) at a small epsilon and the uniform distribution.

    They are those of the best channel, of the best estimate from OUE, and of its unbiased one.
    """
    bounds = LowerBounds(size, SMALL_BUDGET)
    unary = UnaryEncoding.optimised(SMALL_BUDGET, size)
    least = bounds.uniform_optimum()
    best_estimate = information.distribution_error(unary.channel(), np.full(size, 1 / size))
    unbiased = information.unbiased_frequency_error(unary)
    e.sure(agree(best_estimate / least, size / (size - 1), rel=5e-3))

    errors = np.array([least, best_estimate, unbiased])
    return joined(errors / bounds.distribution(), ".2f")


def section_4_3_number_of_outputs(e: Evidence) -> Numbers:
    e.proven(best_subset_size() and least_error() and pairs_of_four())
    _prove_that_designs_tell_alike(e)

    # The seven lines of the Fano plane, against all 35 subsets of three of seven values.
    lines = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]
    fano = written_out.limiting_error(written_out.set_channel(0.5, 7, lines), np.full(7, 1 / 7))
    seven = LowerBounds(7, 0.5)
    every = seven.uniform_optimum()
    e.needs(agree(fano, every) and agree(36 / seven.uniform_information(3), every))

    # The six pairs of four values, against k-RR with its four outputs.
    four = LowerBounds(4, 0.5)
    pairs = 9 / four.uniform_information(2)
    krr = 9 / four.uniform_information(1)
    e.needs(agree(four.uniform_optimum(), pairs) and pairs < krr)

    return {"fano": fano, "every": every, "six": pairs, "krr": krr}


def _prove_that_designs_tell_alike(e: Evidence) -> None:
    """Prove that the number b of sets in a balanced design does not matter.

    Each of the b sets has k values, and each pair of values is in equally many of them. At the
    uniform distribution they tell as much as all subsets of k values.
    """
    t, a, b, k = symbols("t a b k")
    sets_of_a_value = b * k / a
    sets_of_a_pair = sets_of_a_value * (k - 1) / (a - 1)

    # The weight of a set makes the columns of the channel sum to 1.
    weight = a / (b * (k * t + a - k))
    e.proven(identity(weight * (sets_of_a_value * t + b - sets_of_a_value), 1))

    chance = weight * (k * t + a - k) / a
    contrast = weight * (t - 1)
    trace = (a - 1) * contrast * contrast * (sets_of_a_value - sets_of_a_pair) / chance
    e.proven(identity(trace, LowerBounds(a, budget(t)).uniform_information(k)))


# Proposition 4.6 and Corollary 4.7


def proposition_4_6(e: Evidence) -> Numbers:
    t, f, alpha, diversity = symbols("t f alpha d")
    krr = KaryRandomisedResponse(budget(t), 2)
    error = information.unbiased_frequency_error(krr)
    printed = 2 * t / ((t - 1) * (t - 1))
    e.proven(identity(error, printed))

    # The error of a mean of independent reports, each true with probability p.
    gap = krr.truthful_rate
    for chance in (krr.p, krr.q):
        e.proven(identity(2 * chance * (1 - chance) / gap / gap, printed))

    # If the users are drawn as well, with share f of the first value, it adds 2 f (1 - f).
    chance = f * krr.p + (1 - f) * krr.q
    e.proven(identity(2 * chance * (1 - chance) / gap / gap, printed + 2 * f * (1 - f)))
    beta = SymmetricDirichlet(2, alpha)
    e.proven(identity(beta.diversity(), 2 * alpha * alpha / (2 * alpha * (2 * alpha + 1))))

    # Corollary 4.7: both bounds are attained as epsilon falls.
    bounds = LowerBounds(2, budget(t))
    of_shares = bounds.distribution() / (error + diversity)
    of_tallies = bounds.frequency() / error
    e.decides(limit(of_shares, t.expression, 1) == 1)
    e.decides(limit(of_tallies, t.expression, 1) == 1)

    fixed = information.unbiased_frequency_error(KaryRandomisedResponse(1.0, 2))
    _enumerate_four_users(e, fixed)

    return {
        "fixed": fixed,
        "drawn": fixed + SymmetricDirichlet(2).diversity(),
        "ratios": joined(_bounds_over_warner(e, 1.0), ".3f"),
        "small": joined(_bounds_over_warner(e, SMALL_BUDGET), ".4f"),
    }


def _enumerate_four_users(e: Evidence, fixed: float) -> None:
    """Compare with every sequence of four reports at epsilon 1, under three Beta priors."""
    channel = written_out.krr_channel(1.0, 2)
    for prior in ([0.5, 0.5], [1.0, 1.0], [0.5, 1.5]):
        alphas = np.array(prior)
        total = alphas.sum()
        every = written_out.all_sequences(channel, 4, alphas)
        estimates = frequency.unbiased(every.tallies, 4, KaryRandomisedResponse(1.0, 2))

        drawn = fixed + 2 * alphas[0] * alphas[1] / (total * (total + 1))
        e.needs(agree(4 * every.risks(estimates), [drawn, fixed]))


def _bounds_over_warner(e: Evidence, epsilon: float) -> list[float]:
    """Return (59) and (60) over the errors of Warner's estimate, which are larger."""
    bounds = LowerBounds(2, epsilon)
    error = information.unbiased_frequency_error(KaryRandomisedResponse(epsilon, 2))
    diversity = SymmetricDirichlet(2).diversity()

    ratios = [bounds.distribution() / (error + diversity), bounds.frequency() / error]
    e.needs(max(ratios) < 1)
    return ratios
