"""Check the claims of the lecture on means: one function for each claim."""

from itertools import count, product

import numpy as np
import sympy

from ldpnb import claims
from ldpnb.accuracy import means
from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import (
    ball,
    derivative,
    digits,
    expression,
    identity,
    oo,
    positive,
    sign_changes,
    symbols,
    zeros,
)
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.lecture20 import proofs, written_out
from ldpnb.papers.lecture20.proofs import BIT, CURATOR, NOISE, eps, m, n, t, u, y
from ldpnb.papers.lecture20.written_out import FAILURE

NOISES = (LocalLaplace(0.5, 8.0), LocalLaplace(1.0))
"""Noise that users add, of the scales 16 and 1."""


def one_bit_is_understood(e: Evidence) -> None:
    """Decide that one bit is unbiased, which data are its worst, and how its error grows.

    The estimate depends on the mean of the bits alone, whose probability of a one is affine in the
    value. A user's part has the variance ``(m / slope)^2 P (1 - P)``, which is largest at m/2; at 0
    and m it is that of Warner's randomised response.
    """
    ones, share, f = symbols("ones share f")

    e.proven(identity(BIT.estimate(ones, n), BIT.estimate(ones / n, 1)))
    e.proven(identity(derivative(BIT.one_rate(y), y, 2)))
    e.proven(identity(BIT.estimate(BIT.one_rate(y), 1), y))

    rate = BIT.one_rate(share * m)
    unit = (m / BIT.slope) * (m / BIT.slope)
    below_the_worst = means.worst_variance(BIT, 1) - unit * rate * (1 - rate)
    e.proven(identity(below_the_worst, unit * (rate - Symbol("1/2")) ** 2))

    at_the_ends = unit * BIT.q * (1 - BIT.q)
    e.proven(identity(at_the_ends, m * m * means.warner_variance(BIT.epsilon, 1)))

    guaranteed = means.certain_error(OneBit(2 * u, m), n, f)
    square = guaranteed**2 * n * (2 * u) ** 2 / m**2
    e.proven(identity(square, 2 * np.log(2 / f) * proofs.unit_variance()))
    e.proven(proofs.bit_order())


def randomised_response(e: Evidence) -> Numbers:
    one_bit_is_understood(e)
    e.decides(proofs.positive_throughout(1 / (4 * u * u) - means.warner_variance(2 * u, 1)))

    bits = np.array([1, 1, 1, 1, 0, 0])
    for epsilon, chance in product((1e-2, 1.0, 8.0), (FAILURE, 0.3)):
        e.same(means.warner_error(epsilon, 6, 4, chance), _error_in_words(bits, epsilon, chance))

    # One or two users may all lie, and then err by e^epsilon / (e^epsilon - 1).
    largest = claims.published("lecture20")["largest_epsilon"]
    if_all_lie = largest / -np.expm1(-largest)
    worst = {
        users: means.largest_warner_constant(users, FAILURE, largest)
        for users in (1, 2, 5, 20, 100)
    }
    e.same(worst[1], if_all_lie, rel=1e-7)
    e.same(worst[2], np.sqrt(2) * if_all_lie, rel=1e-7)

    hoeffding = largest * float(means.certain_error(OneBit(largest), 1, FAILURE))
    e.sure(max(worst.values()) <= hoeffding)
    return {
        "chebyshev": 1 / np.sqrt(FAILURE),
        "hoeffding": claims.rounded_up(hoeffding),
        "worst": claims.joined((worst[users] for users in (1, 5, 20, 100)), ".4g"),
        "normal": means.normal_error(means.warner_variance(1.0, 1), FAILURE),
    }


def _error_in_words(bits: np.ndarray, epsilon: float, chance: float) -> float:
    """Return the error that is exceeded with a probability of at most `chance`, by enumeration."""
    outcomes = np.array(list(product((0, 1), repeat=bits.size)))
    rates = written_out.printed_rates(bits, epsilon, 1.0)
    chances = np.where(outcomes == 1, rates, 1 - rates).prod(axis=1)
    errors = np.abs(written_out.printed_means(outcomes, epsilon, 1.0) - bits.mean())

    enough = [
        error for error in errors if chances[errors > error * (1 + 1e-9)].sum() <= chance + 1e-12
    ]
    return float(min(enough))


def mean_central_laplace(e: Evidence) -> Numbers:
    f, alpha = symbols("f alpha")
    error = means.certain_error(CURATOR, n, f)
    users = means.users_needed(CURATOR, alpha, f)

    e.proven(proofs.noise_is_private(CURATOR))
    e.proven(proofs.noise_tail(CURATOR))
    e.proven(identity(CURATOR.estimate(y, n), y / n))
    e.decides(identity(np.exp(-error * n * eps / m), f))
    e.decides(identity(np.exp(-alpha * users * eps / m), f))
    return {
        "constant": means.certain_error(CentralLaplace(1.0), 1, FAILURE),
        "equality": -np.expm1(-1),
    }


def noise_averages() -> bool:
    """Decide that the local mean is off by the *mean* of the noises.

    Its variance is ``2 (m / epsilon)^2 / n``.
    """
    (total,) = symbols("total")
    is_mean = identity(NOISE.estimate(total + y, n) - NOISE.estimate(total, n), y / n)
    variance = proofs.noise_moment(NOISE, 2) / n
    return is_mean and identity(means.worst_variance(NOISE, n), variance)


def mean_local_laplace(e: Evidence) -> Numbers:
    e.decides(proofs.noise_is_private(NOISE))
    e.decides(proofs.noise_tail(NOISE))
    e.proven(noise_averages())

    # E S^4 / (E S^2)^2 of the sum S of the noises, for the Paley-Zygmund inequality.
    second = proofs.noise_moment(NOISE, 2)
    fourth = proofs.noise_moment(NOISE, 4)
    fourth_of_sum = n * fourth + 3 * n * (n - 1) * second * second
    e.proven(identity(fourth_of_sum / (n * second) ** 2, 3 + 3 / n))
    fewest = 2 * (1 - np.sqrt(6 * FAILURE))
    most = 2 / FAILURE

    least = next(
        users for users in count(1300) if written_out.inverted_tail(users, users * 0.1) <= FAILURE
    )
    e.same(means.users_for_certain(NOISES[0], 1.6, FAILURE), least)
    exact = least / 100
    e.sure(fewest <= exact <= most)
    return {
        "fewest": fewest,
        "most": most,
        "exact": exact,
        "limit": means.users_needed(NOISES[0], 1.6, FAILURE) / 100,
        "met": means.success(NOISES[0], 100, 1.6),
    }


def mean_error_of_local_laplace(e: Evidence) -> Numbers:
    e.proven(noise_averages())
    e.decides(identity(NOISE.estimate(y, n), y))

    constant = np.sqrt(2) * means.normal_quantile(FAILURE)
    numbers = {
        "constant": constant,
        "chebyshev": claims.rounded_up(np.sqrt(2 / FAILURE)),
    }
    for users in (100, 10_000):
        reach = constant / np.sqrt(users)
        within = 1 - means.laplace_sum_tail(users, reach)
        e.sure(within <= reach)
        numbers[f"printed_{users}"] = within
        numbers[f"mended_{users}"] = means.success(NOISES[0], users, 16 * reach)
    return numbers


def mean_communication(e: Evidence) -> Numbers:
    """Bound the entropy of a whole number K by ``-E log2 g(K)``, for any law g (Gibbs).

    With ``g(k)`` proportional to ``e^(-|k|/M)`` and ``M = (m/r)(1 + 1/epsilon) + 1/2``, which is at
    least ``E|K|``, it is at most ``log2(e coth(1/(2M)))``, and ``coth x < 1 + 1/x``.
    """
    (resolution,) = symbols("r")

    # All e^(-|k|/M) add up to coth u, with u = 1/(2M).
    coth = (np.exp(2 * u) + 1) / (np.exp(2 * u) - 1)
    e.proven(identity(coth, 1 + 2 * np.exp(-2 * u) / (1 - np.exp(-2 * u))))

    # The mean size of a report is at most m and that of the noise.
    e.proven(identity(proofs.noise_moment(NOISE, 1) + m, m * (1 + 1 / eps)))

    bits = means.laplace_report_bits(NOISE, resolution) * np.log(2)
    most = m / resolution * (1 + 1 / eps) + Symbol("1/2")
    e.proven(identity(2 * most + 1, np.exp(bits - 1) * (1 + eps + eps * resolution / m)))
    e.decides(proofs.positive_throughout(1 + 1 / u - coth))

    shown = {
        size: means.laplace_report_bits(LocalLaplace(1.0, float(size)), 1.0)
        for size in (1024, 2048)
    }
    for size, entropy in shown.items():
        e.same(entropy, written_out.rounded_entropy(size), rel=1e-6)
    return {f"bits_{size}": entropy for size, entropy in shown.items()}


def claim_1_bit_mean(e: Evidence) -> Numbers:
    one_bit_is_understood(e)

    # The probabilities of a one and of a zero lie between q and p = t q, their values at 0 and m.
    (share,) = symbols("share")
    one = BIT.one_rate(share * m)
    zero = BIT.one_rate(m - share * m)
    box = {t: (1, oo), share: (0, 1), m: (0, oo)}
    for rate in (one, zero):
        e.decides(positive(rate - BIT.q, box))
        e.decides(positive(BIT.p - rate, box))
    e.decides(identity(one + zero, 1))
    e.decides(identity(BIT.p, t * BIT.q))

    crossing = means.one_bit_crossing()
    top, bottom = sympy.fraction(sympy.together(expression(_saved_by_a_bit(u))))
    (root,) = zeros(_saved_by_a_bit, "1/10", 10)
    e.proven(sign_changes(top, expression(u)) == 1)
    e.proven(sign_changes(bottom, expression(u)) == 0)
    e.proven(bool(_saved_by_a_bit(ball(1)) > 0))
    e.proven(digits(root, f"{crossing:.4f}"))

    # However large the budget, some users are needed.
    quantile = means.normal_quantile(FAILURE)
    floor = (means.one_bit_floor(1.0, 1) * quantile / 0.01) ** 2
    at_large_budget = means.users_needed(OneBit(30.0), 0.01, FAILURE)
    e.sure(claims.agree(at_large_budget, floor, rel=1e-6))

    needed = []
    success = []
    for epsilon in (0.1, 1.0, 3.0):
        bit = OneBit(epsilon)
        users = round((epsilon * 0.01) ** -2)
        needed.append(means.users_needed(bit, 0.01, FAILURE) * (epsilon * 0.01) ** 2)
        success.append(1 - written_out.normal_tail(0.01, means.worst_variance(bit, users)))
    return {
        "hoeffding": claims.rounded_up(float(means.certain_error(OneBit(1.0), 1, FAILURE)) ** 2),
        "needed": claims.joined(needed, ".4g"),
        "success": claims.joined(success, ".3g"),
        "crossing": crossing,
    }


def _saved_by_a_bit(epsilon: Real) -> Real:
    """Return how much smaller the worst variance of one bit is than that of noise, scaled."""
    noise = means.worst_variance(LocalLaplace(epsilon), 1)
    bit = means.worst_variance(OneBit(epsilon), 1)
    return (noise - bit) * epsilon * epsilon
