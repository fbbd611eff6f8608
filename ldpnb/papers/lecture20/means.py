"""What decides lecture20 on means: second routes, and a check for each claim of ``means.toml``."""

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


def one_bit_is_understood(e: Evidence) -> None:
    """Decide that one bit is unbiased, which data are its worst, and that its errors only grow with epsilon.

    The estimate depends on the mean of the bits alone, whose chance of a one is affine in the value. A user's part has
    variance ``(m / slope)^2 P (1 - P)``, which is largest at m/2; at 0 and m it is Warner's.
    """
    ones, share, f = symbols("ones share f")
    e.proven(
        identity(BIT.estimate(ones, n), BIT.estimate(ones / n, 1))
        and identity(derivative(BIT.one_rate(y), y, 2))
    )
    e.proven(identity(BIT.estimate(BIT.one_rate(y), 1), y))
    rate, unit = BIT.one_rate(share * m), (m / BIT.slope) * (m / BIT.slope)
    e.proven(
        identity(
            means.worst_variance(BIT, 1) - unit * rate * (1 - rate),
            unit * (rate - Symbol("1/2")) ** 2,
        )
    )
    e.proven(identity(unit * BIT.q * (1 - BIT.q), m * m * means.warner_variance(BIT.epsilon, 1)))
    square = means.certain_error(OneBit(2 * u, m), n, f) ** 2 * n * (2 * u) ** 2 / m**2
    e.proven(identity(square, 2 * np.log(2 / f) * proofs.unit_variance()) and proofs.bit_order())


def randomised_response(e: Evidence) -> Numbers:
    one_bit_is_understood(e)
    e.decides(proofs.positive_throughout(1 / (4 * u * u) - means.warner_variance(2 * u, 1)))
    largest = claims.published("lecture20")["largest_epsilon"]
    bits, f, outcomes = (
        np.array([1, 1, 1, 1, 0, 0]),
        FAILURE,
        np.array(list(product((0, 1), repeat=6))),
    )
    for epsilon, chance in product((1e-2, 1.0, 8.0), (f, 0.3)):
        rates = written_out.printed_rates(bits, epsilon, 1.0)
        chances = np.where(outcomes == 1, rates, 1 - rates).prod(axis=1)
        errors = np.abs(written_out.printed_means(outcomes, epsilon, 1.0) - bits.mean())
        least = min(
            one for one in errors if chances[errors > one * (1 + 1e-9)].sum() <= chance + 1e-12
        )
        e.same(means.warner_error(epsilon, 6, 4, chance), least)
    e.same(
        means.largest_warner_constant(1, f), np.log((1 - f) / f) * (1 - f) / (1 - 2 * f), rel=1e-7
    )
    # of two users a one and a zero are worst: a lie is undone by another, and just one is likely below this budget
    truth = np.sqrt(1 - 2 * f)
    e.same(
        means.largest_warner_constant(2, f),
        np.log((1 + truth) / (1 - truth)) / (np.sqrt(2) * truth),
        rel=1e-7,
    )
    worst = [means.largest_warner_constant(users, f) for users in (1, 5, 20, 100)]
    return {
        "chebyshev": 1 / np.sqrt(FAILURE),
        "hoeffding": claims.rounded_up(
            largest * float(means.certain_error(OneBit(largest), 1, FAILURE))
        ),
        "worst": claims.joined(worst, ".4g"),
        "normal": means.normal_error(means.warner_variance(1.0, 1), FAILURE),
    }


def mean_central_laplace(e: Evidence) -> Numbers:
    f, alpha = symbols("f alpha")
    error, users = means.certain_error(CURATOR, n, f), means.users_needed(CURATOR, alpha, f)
    e.proven(proofs.noise_is_private(CURATOR) and proofs.noise_tail(CURATOR))
    e.proven(identity(CURATOR.estimate(y, n), y / n))
    e.decides(
        identity(np.exp(-error * n * eps / m), f) and identity(np.exp(-alpha * users * eps / m), f)
    )
    return {
        "constant": means.certain_error(CentralLaplace(1.0), 1, FAILURE),
        "equality": -np.expm1(-1),
    }


def noise_averages() -> bool:
    """Decide that the local mean is off by the *mean* of the noises, of variance ``2 (m / epsilon)^2 / n``."""
    (total,) = symbols("total")
    off = identity(NOISE.estimate(total + y, n) - NOISE.estimate(total, n), y / n)
    return off and identity(means.worst_variance(NOISE, n), proofs.noise_moment(NOISE, 2) / n)


def mean_local_laplace(e: Evidence) -> Numbers:
    e.decides(proofs.noise_is_private(NOISE) and proofs.noise_tail(NOISE))
    e.proven(noise_averages())
    second, fourth = (proofs.noise_moment(NOISE, power) for power in (2, 4))
    spread = (n * fourth + 3 * n * (n - 1) * second * second) / (
        n * second
    ) ** 2  # E S^4 / (E S^2)^2 of their sum
    e.proven(identity(spread, 3 + 3 / n))
    fewest, most = 2 * (1 - np.sqrt(6 * FAILURE)), 2 / FAILURE
    least = next(
        users for users in count(1300) if written_out.inverted_tail(users, users * 0.1) <= FAILURE
    )
    e.same(means.users_for_certain(NOISES[0], 1.6, FAILURE), least)
    exact = least / 100
    e.sure(fewest <= exact <= most)
    limit, met = (
        means.users_needed(NOISES[0], 1.6, FAILURE) / 100,
        means.success(NOISES[0], 100, 1.6),
    )
    return {"fewest": fewest, "most": most, "exact": exact, "limit": limit, "met": met}


def mean_error_of_local_laplace(e: Evidence) -> Numbers:
    e.proven(noise_averages())
    e.decides(identity(NOISE.estimate(y, n), y))
    constant = np.sqrt(2) * means.normal_quantile(FAILURE)
    printed = {
        users: 1 - means.laplace_sum_tail(users, constant / np.sqrt(users))
        for users in (100, 10_000)
    }
    e.sure(all(chance <= constant / np.sqrt(users) for users, chance in printed.items()))
    numbers = {f"printed_{users}": chance for users, chance in printed.items()}
    numbers |= {
        f"mended_{users}": means.success(NOISES[0], users, constant * 16 / np.sqrt(users))
        for users in printed
    }
    return numbers | {"chebyshev": claims.rounded_up(np.sqrt(2 / FAILURE)), "constant": constant}


def mean_communication(e: Evidence) -> Numbers:
    """Bound the entropy of a whole number K by ``-E log2 g(K)``, for any law g (Gibbs).

    With ``g(k)`` proportional to ``e^(-|k|/M)`` and ``M = (m/r)(1 + 1/epsilon) + 1/2``, which is at least ``E|K|``, it
    is at most ``log2(e coth(1/(2M)))``, and ``coth x < 1 + 1/x``.
    """
    (resolution,) = symbols("r")
    coth = (np.exp(2 * u) + 1) / (np.exp(2 * u) - 1)
    e.proven(
        identity(coth, 1 + 2 * np.exp(-2 * u) / (1 - np.exp(-2 * u)))
    )  # all e^(-|k|/M) add up to it, u = 1/(2M)
    e.proven(
        identity(proofs.noise_moment(NOISE, 1) + m, m * (1 + 1 / eps))
    )  # a report's mean size: m, and the noise's
    bits = means.laplace_report_bits(NOISE, resolution) * np.log(2)
    most = m / resolution * (1 + 1 / eps) + Symbol("1/2")
    e.proven(identity(2 * most + 1, np.exp(bits - 1) * (1 + eps + eps * resolution / m)))
    e.decides(proofs.positive_throughout(1 + 1 / u - coth))
    shown = {
        size: means.laplace_report_bits(LocalLaplace(1.0, float(size)), 1.0)
        for size in (1024, 2048)
    }
    e.same(list(shown.values()), list(map(written_out.rounded_entropy, shown)), rel=1e-6)
    return {f"bits_{size}": entropy for size, entropy in shown.items()}


def claim_1_bit_mean(e: Evidence) -> Numbers:
    (share,) = symbols("share")
    one, zero = BIT.one_rate(share * m), BIT.one_rate(m - share * m)
    inside = {
        t: (1, oo),
        share: (0, 1),
        m: (0, oo),
    }  # chances are between q and p, those at 0 and m, and p = t q
    e.decides(
        all(positive(gap, inside) for rate in (one, zero) for gap in (rate - BIT.q, BIT.p - rate))
    )
    e.decides(identity(one + zero, 1) and identity(BIT.p, t * BIT.q))
    crossing = means.one_bit_crossing()
    one_bit_is_understood(e)

    def difference(
        epsilon: Real,
    ) -> Real:  # one bit has less than the variance of noise below one budget, more above
        noise, bit = LocalLaplace(epsilon), OneBit(epsilon)
        return (means.worst_variance(noise, 1) - means.worst_variance(bit, 1)) * epsilon * epsilon

    top, bottom = sympy.fraction(sympy.together(expression(difference(u))))
    (root,) = zeros(difference, "1/10", 10)
    e.proven(sign_changes(top, expression(u)) == 1 and sign_changes(bottom, expression(u)) == 0)
    e.proven(bool(difference(ball(1)) > 0) and digits(root, f"{crossing:.4f}"))
    shown = (0.1, 1.0, 3.0)
    needed = [means.users_needed(OneBit(b), 0.01, FAILURE) * (b * 0.01) ** 2 for b in shown]
    met = [
        1 - written_out.normal_tail(0.01, means.worst_variance(OneBit(b), round((b * 0.01) ** -2)))
        for b in shown
    ]
    floor = means.users_needed(OneBit(30.0), 0.01, FAILURE)  # what no budget saves
    e.sure(
        claims.agree(
            floor,
            (means.one_bit_floor(1.0, 1) * means.normal_quantile(FAILURE) / 0.01) ** 2,
            rel=1e-6,
        )
    )
    return {
        "hoeffding": claims.rounded_up(float(means.certain_error(OneBit(1.0), 1, FAILURE)) ** 2),
        "needed": claims.joined(needed, ".4g"),
        "success": claims.joined(met, ".3g"),
        "crossing": crossing,
    }
