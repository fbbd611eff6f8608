"""Sections 2 to 4 of juarez2022 for every parameter: exact losses, and the best split of a budget.

Throughout ``t1 = e^eps1``, ``t2 = e^eps2`` and ``y = e^epsilon``; `d` is the number of groups.
"""

from typing import Any

import numpy as np
import sympy
from flint import arb

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real, Symbol
from ldpnb.deciders import ball, budget, holds_on, identity, limit, oo, positive, sign_changes, symbols, zeros
from ldpnb.deciders.algebra import derivative, replaced
from ldpnb.mechanisms import frequency, groups, moves

t1, t2, y, d, e, k, n, c, nu2 = symbols("t1 t2 y d e k n c nu2")
BUDGETS = {t1: (1, oo), t2: (1, oo)}
GROUPS = {d: (1, oo)}
FAR = 40
"""Half a budget from which on the terms of `fall` that can be negative are below ``2^-50``."""


def exact(value: Any) -> Real:
    """Return a number, exact if it is whole, a fraction or text, as formulas of symbols take it."""
    return Symbol(value)


def signs() -> groups.DiscretisedMeans:
    """Return ``M_R`` at every pair of budgets and every number of groups."""
    return groups.DiscretisedMeans(budget(t1), budget(t2), d)


def noise() -> groups.LaplaceMeans:
    """Return ``M_L`` at every pair of budgets, every ``k`` and every number of groups; `e` is ``eps2``."""
    return groups.LaplaceMeans(budget(t1), e, k, d)


def response_is_private() -> bool:
    """Decide that with d values chances sum to 1, the truth is ``e^eps1`` times as likely, and likelier than 1/d."""
    kary = frequency.KaryRandomisedResponse(budget(t1), d)
    exact = identity(kary.p + (d - 1) * kary.q, 1) and identity(kary.p / kary.q, t1)
    return exact and positive(kary.p - 1 / d, {t1: (1, oo), d: (1, oo)}) is True


def one_value_too_many() -> bool:
    """Decide that over d + 1 values the chances exceed 1, and that the truth has less than 1/2 iff ``t1 < d - 1``."""
    keep = frequency.KaryRandomisedResponse(budget(t1), d).p
    total = keep + d * (1 - keep) / (d - 1)
    half = identity(2 * keep - 1, (t1 - d + 1) / (t1 + d - 1))
    return half and positive(total - 1, {t1: (1, oo), d: (1, oo)}) is True


def losses_of_signs() -> bool:
    """Decide Theorem 4.1 as corrected: three ratios of chances, linear in the values, can be largest.

    Same group, values 1 and -1: ``t2``. Kept at value 1 over moved: ``t1 2 t2 / (1 + t2)``. Moved over kept at value
    -1: below ``t2``.
    """
    mechanism = signs()
    kept_up, kept_down = (
        mechanism.keep * moves.sign_probabilities(v, mechanism.value_epsilon)[1] for v in (exact(1), exact(-1))
    )
    moved = mechanism.move / 2
    same = identity(kept_up / kept_down, t2)
    apart = identity(kept_up / moved, np.exp(mechanism.group_loss))
    return same and apart and positive(t2 - moved / kept_down, BUDGETS) is True


def loss_exceeds_claim() -> bool:
    """Decide where ``max(eps1, eps2)`` is too small: for ``eps1 >= eps2`` always, else iff ``2 t1 > 1 + t2``."""
    loss = np.exp(signs().group_loss)
    return positive(loss - t1, BUDGETS) is True and identity(loss - t2, t2 * (2 * t1 - 1 - t2) / (1 + t2))


def best_split_of_signs() -> bool:
    """Decide that the variance (20) at an exact loss epsilon falls up to ``eps2 = epsilon``, for any sizes and groups.

    It falls in ``eps1``, so ``eps1`` is as large as the loss allows, ``t1 = y (1 + t2) / (2 t2)``; along that line it
    falls in ``t2``, up to ``y``. Here ``y = t2 + w`` with ``w > 0``, and `c` others per member.
    """
    (w,) = symbols("w")
    mechanism = signs()
    one = gaps.variance_discretised_mean(mechanism, 1, 1 + c, 0)
    apart = identity(gaps.variance_discretised_mean(mechanism, n, n + c * n, nu2), (one - nu2) / n)
    along = replaced(one, t1, y * (1 + t2) / (2 * t2))
    falls = replaced(-derivative(along, t2), y, t2 + w)
    best = groups.DiscretisedMeans.calibrated(budget(y))
    spent = identity(np.exp(best.group_epsilon), (1 + y) / 2) and identity(np.exp(best.group_loss), y)
    first = positive(-derivative(one, t1), BUDGETS | GROUPS | {c: (0, oo)})
    return bool(apart and spent and first and positive(falls, {t2: (1, oo), w: (0, oo), c: (0, oo)} | GROUPS))


def losses_of_noise() -> bool:
    """Decide Theorem 4.3 for ``k = 2``: the log-ratios at the values and reports where they are largest.

    Both scales are ``2 / eps2``. Same group: ``|v - v'| / scale`` at most, ``eps2`` for values 1 and -1. Kept over
    moved: ``eps1 + 1 / scale``. Moved over kept: ``1 / scale - eps1``, less than the former.
    """
    mechanism = groups.LaplaceMeans(budget(t1), e, 2, d)
    scale = mechanism.kept_scale
    alike = identity(scale, mechanism.moved_scale) and identity(2 / scale, e)
    apart = identity(mechanism.keep / mechanism.move, t1)
    return alike and apart and identity(mechanism.group_loss, budget(t1) + 1 / scale)


def loss_without_end() -> bool:
    """Decide Theorem 4.3 for other ``k``: far out the log-ratio of kept to moved grows by ``eps2 (2 - k)/(2k)`` a unit.

    That is zero at ``k = 2`` alone. Clipped at 1 the two atoms still have the log-ratio
    ``eps1 + eps2 / k``, which for ``k < 2`` exceeds the last term of equation (1) by ``ln(2/k)``.
    """
    mechanism = noise()
    growth = 1 / mechanism.moved_scale - 1 / mechanism.kept_scale
    return identity(growth, e * (2 - k) / (2 * k)) and identity(1 / mechanism.moved_scale, e / k)


def published_is_not_private() -> bool:
    """Decide Appendix B: ``k = epsilon`` gives growth ``1 - epsilon/2``, ``k = 2/3`` growth ``epsilon``, per unit."""
    above, below = groups.LaplaceMeans.allowed(e, e), groups.LaplaceMeans.allowed(e, exact("2/3"))
    growths = [1 / m.moved_scale - 1 / m.kept_scale for m in (above, below)]
    return identity(growths[0], 1 - e / 2) and identity(growths[1], e)


def delta_of_small_budgets() -> bool:
    """Decide that delta tends to 1/2, the integral of ``3/4 (e^-u - e^-3u)``: limits of the densities of ``u``.

    Here ``u = epsilon |v'| / 2``. The second is ``move kept_scale / (keep moved_scale)`` times the first at 0, and
    falls ``kept_scale / moved_scale`` times as fast.
    """
    mechanism = groups.LaplaceMeans.allowed(e, exact("2/3"))
    keep = limit(mechanism.keep, e.expression, 0)
    at_zero = limit(mechanism.move * mechanism.kept_scale / (mechanism.keep * mechanism.moved_scale), e.expression, 0)
    faster = (mechanism.kept_scale / mechanism.moved_scale).expression
    return bool(sympy.simplify(keep * (1 - at_zero / faster) - sympy.Rational(1, 2)) == 0 and at_zero == 1)


def claimed_terms(mechanism: groups.LaplaceMeans) -> tuple[Real, Real]:
    """Return the second and the third term of equation (1)."""
    spread = np.log(exact(2) / mechanism.k)
    first, second = mechanism.group_epsilon, mechanism.value_epsilon
    return spread + second / 2 - first, second / mechanism.k + first - spread


def capped_noise() -> bool:
    """Decide that ``k`` capped at 2 with the ``eps1`` of ``k = epsilon`` exceeds epsilon for every ``epsilon > 2``.

    The last term of equation (1) is then ``epsilon + x - 1 - ln x`` with ``x = epsilon / 2``, and ``x - 1 - ln x`` is 0
    at 1 and grows.
    """
    first = groups.largest_group_epsilon(e, e)
    excess = claimed_terms(groups.LaplaceMeans(first, e, exact(2)))[1] - e
    at_two = replaced(excess, e, exact(2)).expression
    return bool(sympy.simplify(at_two) == 0 and positive(derivative(excess, e), {e: (2, oo)}))


def equation_21() -> bool:
    """Decide equation (21): its bounds are ordered iff ``k >= 2/3``; the upper is largest at ``k = epsilon``.

    At the upper bound the last term of equation (1) is epsilon. Its slope in `k` is ``(epsilon - k) / k^2``, so among
    ``k >= 2/3`` it is largest at ``max(2/3, epsilon)``.
    """
    upper = groups.LaplaceMeans.allowed(e, k)
    flipped, kept = claimed_terms(upper)
    met = sympy.simplify(sympy.expand_log((kept - e).expression)) == 0
    lower = np.log(exact(2) / k) - e / 2
    ordered = identity(upper.group_epsilon - lower, e * (3 * k - 2) / (2 * k))
    same = identity(flipped - e, lower - upper.group_epsilon)
    return bool(met and same and ordered and identity(derivative(upper.group_epsilon, k), (e - k) / (k * k)))


def below_sequential_composition() -> bool:
    """Decide that both exact losses stay below ``eps1 + eps2``: ``t1 2 t2 / (1 + t2) < t1 t2``, ``eps1 + eps2/2``."""
    signed, noisy = signs(), groups.LaplaceMeans(budget(t1), e, 2, d)
    less = positive(t1 * t2 - np.exp(signed.group_loss), BUDGETS) is True
    return less and identity(budget(t1) + e - noisy.group_loss, e / 2)


def strangers(share: Any) -> Any:
    """Return the mean of others per member of two groups, weighted by 1/size: 1 if equal, growing as one shrinks."""
    return (1 - share) * (1 - share) / share + share * share / (1 - share)


def coefficients(z: Any, mean: Any) -> tuple[Any, Any]:
    """Return the coefficients of ``growth`` and its square in `fall`."""
    return (1 + mean) * (16 - 8 * z) - 4 * z * z * z, 16 * mean * (1 - z)


def fall(z: Any, growth: Any, mean: Any) -> Any:
    """Return, up to a positive factor, how fast the worst variance for ``k = 2`` falls in ``eps2 = 2 z``.

    Here ``eps1 = epsilon - z`` and ``growth = e^-eps1``, at most ``e^-z``; `mean` as `strangers` returns it.
    """
    linear, quadratic = coefficients(z, mean)
    return 16 + growth * (linear + growth * quadratic)


def fall_is_that_of_the_variance() -> bool:
    """Decide that `fall` is minus the slope of the shipped variance of the gap, times ``eps2^3 / (1/n1 + 1/n2)``."""
    share, growth, total, second = symbols("share growth total second")
    mechanism = groups.LaplaceMeans(total - second / 2, second)
    sizes = (share, 1 - share)
    first, other = (gaps.variance_laplace_mean(mechanism, size, exact(1), 1) for size in sizes)
    slope = replaced(derivative(first + other, second), total, second / 2 - np.log(growth))
    scaled = -slope * second * second * second * share * (1 - share)
    return identity(scaled, fall(second / 2, growth, strangers(share)))


def far_budgets(most: int = 100_000) -> bool:
    """Decide that `fall` is positive beyond ``z = 40`` for a mean of up to `most`.

    There both coefficients are negative and fall in the mean, so that `fall` is least at the largest growth, which is
    below ``2^-57 e^-x`` at ``z = 40 + x``, and the largest mean.
    """
    box = {y: (0, oo), c: (0, oo)}
    values = [value for one in coefficients(FAR + y, c) for value in (one, derivative(one, c))]
    negative = all(positive(-value, box) is True for value in values)
    x = sympy.Symbol("x", positive=True)
    least = sympy.expand(fall(FAR + x, sympy.exp(-x) / 2**57, most) * sympy.exp(2 * x))
    return bool(negative and np.exp(-FAR) < 2.0**-57 and sign_changes(least, x) == 0 and least.subs(x, 0) > 0)


def the_end_decides() -> bool:
    """Decide that `fall` is positive for every smaller ``eps2`` too where it is not negative at ``eps2 = epsilon``.

    Up to ``z = 1`` it always is. Beyond, at ``z - x`` the growth is ``e^-x`` times that at z, and as both coefficients
    of `fall` fall in z, it is at least ``16 (1 - e^-x) + e^-x`` times its value at z.
    """
    x, z, growth, shrunk, above = symbols("x z growth shrunk above")  # shrunk = e^-x, above = z - 1
    early = positive(fall(z, growth, c), {z: (0, 1), growth: (0, oo), c: (0, oo)})
    later, sooner = coefficients(1 + above, c), coefficients(1 + above - x, c)
    cubic = 4 * (3 * z * z * x + 3 * z * x * x + x * x * x)  # at z + x against z, so that both are positive
    falls = identity(coefficients(z, c)[0] - coefficients(z + x, c)[0], 8 * x * (1 + c) + cubic)
    box = {x: (0, oo), above: (0, oo), shrunk: (0, 1), c: (0, oo)}
    return bool(early and falls and positive(shrunk * sooner[1] - later[1], box))


def positive_at_the_end(mean: Any, low: Any, high: Any) -> bool | None:
    """Decide that `fall` is positive at ``eps2 = epsilon``, where ``growth = e^-z``, for z from `low` to `high`."""
    return holds_on(lambda z: fall(z, (-z).exp(), mean), (low, high))


def best_at_every_budget(share: str) -> bool | None:
    """Decide that the end is positive at all budgets from a `share` of the smaller group on: linear in the mean."""
    means = (arb(1), strangers(ball(share)))
    return all(positive_at_the_end(mean, 0, FAR) for mean in means) and far_budgets()


def best_at_small_budgets(half: str) -> bool | None:
    """Decide that the end is positive up to ``epsilon = 2 half`` for all shares: it grows in the mean, from 1 on."""

    def slope(z: Any) -> Any:
        return fall(z, (-z).exp(), arb(2)) - fall(z, (-z).exp(), arb(1))  # linear in the mean

    return holds_on(slope, (0, half)) and positive_at_the_end(arb(1), 0, half)


def window(share: str) -> list[arb]:
    """Return all budgets at which the slope at ``eps2 = epsilon`` changes its sign, for a smaller group's `share`."""
    mean = strangers(ball(share))
    found = zeros(lambda z: fall(z, (-z).exp(), mean), "0.01", FAR)
    return [2 * z for z in found] if far_budgets() else []
