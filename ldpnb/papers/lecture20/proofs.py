"""Steps behind the claims of lecture20, decided for every parameter; each returns the decider's answer.

Budgets are ``epsilon = ln t`` where formulas are rational in ``t``, and ``epsilon = 2 u`` where they hold ``u`` and
``e^u``.
"""

from typing import Any

import numpy as np
import sympy

from ldpnb.accuracy import histograms, means
from ldpnb.arithmetic import Real, Symbol
from ldpnb.deciders import ball, budget, digits, identity, oo, positive, sign_changes, symbols, zeros
from ldpnb.deciders.algebra import derivative, expression, replaced
from ldpnb.estimators import frequency
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.privacy import purify

Noise = CentralLaplace | LocalLaplace
e, m, n, u, y = symbols("e m n u y")


def positive_throughout(value: Any) -> bool:
    """Decide whether a rational function of u and ``e^u`` is positive for every ``u > 0``: no sign changes."""
    parts = sympy.fraction(sympy.together(expression(value)))
    u_ = expression(u)
    return all(sign_changes(part, u_) == 0 for part in parts) and bool(expression(value).subs(u_, 1) > 0)


# --- Laplace noise ---


def noise_is_private(mechanism: Noise) -> bool | None:
    """Decide that log-densities of a report for two values differ by at most ``epsilon / upper`` times their distance.

    Of three points on a line, a report and two values, the report is the lowest, the highest or the middle one. Outside
    the values the difference is exactly that: the loss at distance `upper` is epsilon.
    """
    a, b, c = symbols("a b c")
    low, middle, high, price = a, a + b, a + b + c, mechanism.epsilon / mechanism.upper

    def ratio(report: Symbol, value: Symbol, other: Symbol) -> Any:
        return mechanism.log_density(report, value) - mechanism.log_density(report, other)

    outside = identity(ratio(low, middle, high), price * c) and identity(ratio(high, middle, low), price * b)
    return outside and identity(price * (b + c) - ratio(middle, low, high), 2 * price * b)


def noise_tail(mechanism: Noise) -> bool:
    """Decide that noise is further than y from 0 with chance ``exp(-y / scale)``, and as often above as below.

    The chance is 1 at 0, and its slope is minus the density on both sides.
    """
    chance, zero = np.exp(-y / mechanism.scale), Symbol(0)
    density = np.exp(mechanism.log_density(y, zero)) + np.exp(mechanism.log_density(zero, y))
    return identity(-derivative(chance, y), density)


def noise_moment(mechanism: Noise, power: int) -> Real:
    """Return a moment of ``|noise|``, by integrating the density."""
    y_, density = expression(y), expression(np.exp(mechanism.log_density(y, Symbol(0))))
    return Symbol(sympy.integrate(2 * y_**power * density, (y_, 0, oo)))


def noise_averages() -> bool:
    """Decide that the local mean is off by the *mean* of the noises, of variance ``2 (m / epsilon)^2 / n``."""
    noise, (total,) = LocalLaplace(e, m), symbols("total")
    off = identity(noise.estimate(total + y, n) - noise.estimate(total, n), y / n)
    return off and identity(means.worst_variance(noise, n), noise_moment(noise, 2) / n)


def noise_against_warner() -> bool:
    """Decide that noise has ``8 sinh^2(epsilon/2) / epsilon^2`` times the variance of randomised response, above 2."""
    ratio = means.worst_variance(LocalLaplace(2 * u), n) / means.warner_variance(2 * u, n)
    return identity(ratio, enough_users(2 * u)) and positive_throughout(ratio - 2)


def printed_error() -> bool:
    """Decide whether the local mean is off by the *sum* of the noises."""
    noise = LocalLaplace(e, m)
    return identity(noise.estimate(y, n), y)


def fourth_moment() -> bool:
    """Decide ``E S^4 / (E S^2)^2 = 3 + 3/n`` for a sum of n independent Laplace variables."""
    second, fourth = (noise_moment(LocalLaplace(e, m), power) for power in (2, 4))
    ratio = (n * fourth + 3 * n * (n - 1) * second * second) / (n * second) ** 2
    return identity(ratio, 3 + 3 / n)


def curator_error() -> bool:
    """Decide that a curator's error and number of users are exceeded, or short, with exactly the failure's chance."""
    f, alpha = symbols("f alpha")
    curator = CentralLaplace(e, m)
    error, users = means.certain_error(curator, n, f), means.users_needed(curator, alpha, f)
    return identity(np.exp(-error * n / curator.scale), f) and identity(np.exp(-alpha * users / curator.scale), f)


# --- One bit ---


def bit_is_private() -> bool | None:
    """Decide that either bit is at most ``e^epsilon`` times as likely at one value as at another.

    Its chances are between q and p, those at 0 and m, and ``p = e^epsilon q``.
    """
    t, share = symbols("t share")
    bit = OneBit(budget(t), m)
    one, zero = bit.one_rate(share * m), bit.one_rate(m - share * m)
    inside = {t: (1, oo), share: (0, 1), m: (0, oo)}
    between = all(positive(gap, inside) for rate in (one, zero) for gap in (rate - bit.q, bit.p - rate))
    return between and identity(one + zero, 1) and identity(bit.p, t * bit.q)


def bit_is_unbiased() -> bool:
    """Decide that the estimate has the users' mean as expectation.

    It depends on the mean of the bits only; the chance of a one is affine in the value, so that its mean is that at the
    mean value, and there the estimate is that value.
    """
    t, ones = symbols("t ones")
    bit = OneBit(budget(t), m)
    of_the_mean = identity(bit.estimate(ones, n), bit.estimate(ones / n, 1))
    affine = identity(derivative(bit.one_rate(y), y, 2))
    return of_the_mean and affine and identity(bit.estimate(bit.one_rate(y), 1), y)


def bit_variance() -> bool:
    """Decide that m/2 is the worst value, with ``m^2 coth^2(epsilon/2) / 4``, and what bits have instead.

    A user's part has variance ``(m / (p - q))^2 P (1 - P)``; 0 and m give Warner's.
    """
    t, share = symbols("t share")
    bit = OneBit(budget(t), m)
    rate, unit = bit.one_rate(share * m), (m / bit.slope) * (m / bit.slope)
    worst = means.worst_variance(bit, 1)
    nearer = identity(worst - unit * rate * (1 - rate), unit * (rate - Symbol("1/2")) ** 2)
    return nearer and identity(unit * bit.q * (1 - bit.q), m * m * means.warner_variance(budget(t), 1))


def warner_below_order() -> bool:
    """Decide ``1 / (4 sinh^2(epsilon/2)) < 1 / epsilon^2`` for every budget."""
    return positive_throughout(1 / (4 * u * u) - means.warner_variance(2 * u, 1))


def certain_constant(failure: float, epsilon: float) -> tuple[bool, float]:
    """Decide that Hoeffding's error in units of ``m / (epsilon sqrt n)`` grows with epsilon; return it at one."""
    (f,) = symbols("f")
    square = means.certain_error(OneBit(2 * u, m), n, f) ** 2 * n * (2 * u) ** 2 / m**2
    hoeffding = identity(square, 2 * np.log(2 / f) * unit_variance())
    at_one = epsilon * float(means.certain_error(OneBit(epsilon), 1, failure))
    return hoeffding and positive_throughout(derivative(unit_variance(), u)), at_one


def unit_variance() -> Any:
    """Return the worst variance of one bit in units of ``(m / epsilon)^2 / n``."""
    return means.worst_variance(OneBit(2 * u, m), n) * n * (2 * u) ** 2 / m**2


def bit_order() -> bool:
    """Decide that the worst standard deviation exceeds ``m / (epsilon sqrt n)``, the more the larger epsilon is."""
    return positive_throughout(unit_variance() - 1) and positive_throughout(derivative(unit_variance(), u))


def crossing(printed: str) -> bool | None:
    """Decide that one bit has less than the variance of noise below one budget, more above, and that it prints so."""

    def difference(epsilon: Real) -> Real:
        noise, bit = LocalLaplace(epsilon), OneBit(epsilon)
        return (means.worst_variance(noise, 1) - means.worst_variance(bit, 1)) * epsilon * epsilon

    top, bottom = sympy.fraction(sympy.together(expression(difference(u))))
    found = zeros(difference, "1/10", 10)
    once = sign_changes(top, expression(u)) == len(found) == 1 and sign_changes(bottom, expression(u)) == 0
    return once and bool(difference(ball(1)) > 0) and digits(found[0], printed)


# --- Reports of whole numbers ---


def report_bits() -> bool:
    """Decide that a rounded Laplace report has at most ``log2(2 e (1 + (m/r) (1 + 1/epsilon)))`` bits of entropy.

    Gibbs: the entropy of a whole number K is at most ``-E log2 g(K)`` for any law g. With ``g(k)`` proportional to
    ``e^(-|k|/M)`` and ``M = (m/r)(1 + 1/epsilon) + 1/2``, which is at least ``E|K|``, this is at most ``log2(e coth(1 /
    (2M)))``, and ``coth x < 1 + 1/x``.
    """
    (resolution,) = symbols("r")
    coth = (np.exp(2 * u) + 1) / (np.exp(2 * u) - 1)
    bits = means.laplace_report_bits(LocalLaplace(e, m), resolution) * np.log(2)
    most = m / resolution * (1 + 1 / e) + Symbol("1/2")
    total = identity(coth, 1 + 2 * np.exp(-2 * u) / (1 - np.exp(-2 * u)))  # of all e^(-|k|/M), u = 1 / (2M)
    bound = identity(2 * most + 1, np.exp(bits - 1) * (1 + e + e * resolution / m))
    return positive_throughout(1 + 1 / u - coth) and total and bound


def mean_size() -> bool:
    """Decide that a report is at most ``m (1 + 1/epsilon)`` in expectation: m, and the noise's mean size."""
    return identity(noise_moment(LocalLaplace(e, m), 1) + m, m * (1 + 1 / e))


# --- Counts ---


def counts_of_noise() -> bool:
    """Decide that all of k independent noises are within the largest error with probability ``1 - failure = e^-g``."""
    g, k = symbols("g k")
    curator = CentralLaplace(e, m)
    error = histograms.central_laplace_largest_error(e, k, 1 - np.exp(-g), m)
    every = identity(k * np.log1p(-np.exp(-error / curator.scale)), -g)
    return every and identity(noise_moment(curator, 2), histograms.central_laplace_count_variance(e, m))


def sign_loss() -> bool | None:
    """Decide that the exact loss of signs of bias b is ``ln((1 + b)/(1 - b))``, above 2 b and convex in b.

    The laws for two values differ in two signs; all others cancel and leave the chance p or 1 - p of the one over that
    of the other, at most ``p / (1 - p)``, which is met. By convexity the loss is at most ``(b/c)`` times that at c, up
    to any c.
    """
    b, d, t = symbols("b d t")
    exact, inside = signs.exact_epsilon(b), {b: (0, 1)}
    printed, mended = SignRandomiser.as_printed(b, d), SignRandomiser(budget(t), d)
    own = identity(printed.p, (1 + b) / 2) and identity(printed.p + printed.miss_rate, 1)
    ratio = identity(np.exp(exact), printed.p / printed.miss_rate) and identity(mended.p, t * mended.miss_rate)
    bias = identity(signs.calibrated_bias(budget(t)), 2 * mended.p - 1)
    above = positive(derivative(exact - 2 * b, b), inside) and identity(replaced(exact, b, 0))
    return own and ratio and bias and above and positive(derivative(exact, b, 2), inside)


def printed_loss() -> bool:
    """Decide whether the exact loss of signs is their bias."""
    (b,) = symbols("b")
    return identity(np.exp(signs.exact_epsilon(b)), np.exp(b))


def sign_counts() -> bool:
    """Decide mean and variance of a count: a holder's sign has expectation b, another's 0, and all signs square 1."""
    b, d, f = symbols("b d f")
    mechanism = SignRandomiser.as_printed(b, d)
    tally = f * mechanism.p + (n - f) * mechanism.q
    variance = (f * (1 - b * b) + (n - f)) / (b * b)
    unbiased = identity(n * frequency.unbiased(tally, n, mechanism), f)
    shown = identity(histograms.sign_variance(f, users=n, bias=b), variance)
    return unbiased and shown and identity(histograms.pure_variance(f, users=n, mechanism=mechanism), variance)


def sign_bits() -> bool:
    """Decide that the entropy of d signs is ``d - 1 + h(p)`` bits."""
    d, t = symbols("d t")
    mechanism = SignRandomiser(budget(t), d)
    nats = histograms.unary_report_bits(mechanism.p, Symbol(expression(mechanism.q)), d) * np.log(2)
    own = -mechanism.p * np.log(mechanism.p) - (1 - mechanism.p) * np.log(1 - mechanism.p)
    return identity(nats, own + (d - 1) * sympy.log(2))


def every_sign_counts() -> bool:
    """Decide that one sign that flips changes its count by ``2 / b``, whatever the others are."""
    b, d, tally = symbols("b d tally")
    mechanism = SignRandomiser.as_printed(b, d)
    moved = frequency.unbiased(tally + 1, n, mechanism) - frequency.unbiased(tally, n, mechanism)
    return identity(n * moved, 2 / b)


# --- The local model ---


def curator_is_better() -> bool | None:
    """Decide how many times a curator's variance the local ones are.

    More than n/2 with one bit, n with noise, and for bits and counts at least n over ``8 sinh^2(epsilon/2) /
    epsilon^2``, which grows with epsilon from 2.
    """
    d, f = symbols("d f")
    epsilon, signs_ = 2 * u, SignRandomiser(2 * u, d)
    curator, count = means.worst_variance(CentralLaplace(epsilon, m), n), Symbol(8) / (epsilon * epsilon)
    bit = identity(means.worst_variance(OneBit(epsilon, m), n) / curator, n / 2 * unit_variance())
    noise = identity(means.worst_variance(LocalLaplace(epsilon, m), n) / curator, n)
    bits = identity(means.warner_variance(epsilon, n) * m**2 / curator, n / enough_users(epsilon))
    variance = histograms.sign_variance(f, users=n, bias=signs_.bias)
    everybody = identity(variance - (n - f), histograms.sign_variance(n, users=n, bias=signs_.bias))
    counts = identity(histograms.sign_variance(n, users=n, bias=signs_.bias) / count, n / enough_users(epsilon))
    grows = positive_throughout(derivative(enough_users(epsilon), u)) and positive_throughout(enough_users(epsilon) - 2)
    return bit and bit_order() and noise and bits and everybody and counts and grows


def enough_users(epsilon: Real) -> Real:
    """Return how many users make a curator's Laplace noise as good as randomised response."""
    root = np.sinh(epsilon / 2)
    return 8 * (root * root) / (epsilon * epsilon)


def with_deletion() -> bool:
    """Decide that ``p <= t h + d`` and ``h <= t p' + d``, with h for no data, give ``p <= t^2 p' + (1 + t) d``."""
    t, delta, p, h, other = symbols("t delta p h other")
    slack = t * (t * other + delta - h) + (t * h + delta - p)
    return identity(t * t * other + (1 + t) * delta - p, slack)


def purification() -> bool | None:
    """Decide the steps behind `purify.purified`.

    The band's ends are ``e^(2 epsilon)`` apart; the way back into the band is shorter than it and restores the mass;
    what is filled up is what ``rho`` exceeds ``e^epsilon P`` by, over ``e^epsilon``.
    """
    t, excess, rho, law = symbols("t excess rho law")
    apart = identity(rho * t / (rho / t), t * t)
    filled = identity(rho / t - law, (rho - t * law) / t)
    box = {t: (1, oo), excess: (0, 1)}
    steps = []
    for mass, end in ((1 - excess, t), (1 + excess, 1 / t)):
        share = purify.refill(1 - mass, end)
        steps += [positive(share, box), positive(1 - share, box), identity(mass + share * (end - mass), 1)]
    return apart and filled and all(steps)


def best_weights() -> bool:
    """Decide the least variance of weights a (the bit is shown) and b (it is kept as by Warner), both signs alike.

    Cauchy-Schwarz: ``(delta a^2 + (1 - delta) b^2)(delta + (1 - delta) T^2)`` exceeds the square of ``delta a + (1 -
    delta) T b``, which unbiasedness makes 1/2, by ``delta (1 - delta) (T a - b)^2``.
    """
    t, delta, a, b = symbols("t delta a b")
    slope = OneBit(budget(t)).slope
    second, information = delta * a * a + (1 - delta) * b * b, delta + (1 - delta) * (slope * slope)
    mean = delta * a + (1 - delta) * slope * b
    gap = identity(second * information - mean * mean, delta * (1 - delta) * (slope * a - b) * (slope * a - b))
    return gap and identity(means.approximate_bit_variance(budget(t), delta, 1), 1 / (4 * information) - Symbol("1/4"))
