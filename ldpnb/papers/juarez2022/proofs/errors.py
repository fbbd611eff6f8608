"""Section 5 and Appendix D of juarez2022 for every parameter: means, variances, crossings, sizes of groups, numbers.

Symbols as in `privacy`. For two equal groups `worst` is the variance of a mean with one member per group, so ``K / 4``
times the largest variance of the gap between groups of ``K / 2``; ``x`` is half of epsilon.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy
from flint import arb

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real
from ldpnb.deciders import ball, budget, digits, identity, limit, oo, positive, sign_changes, symbols, zeros
from ldpnb.deciders.algebra import derivative, expression, replaced
from ldpnb.deciders.balls import holds_on, slope
from ldpnb.mechanisms import groups, moves
from ldpnb.papers.juarez2022 import clients as population
from ldpnb.papers.juarez2022 import routes
from ldpnb.papers.juarez2022.proofs import privacy
from ldpnb.papers.juarez2022.proofs.privacy import BUDGETS, c, d, e, exact, k, n, nu2, t1, t2, y

x, v, share, wrong, mean, other = symbols("x v share wrong mean other")
THIRD = Fraction(1, 3)
SHARES = {share: (0, Fraction(1, 10))}
SMALLEST_POWER = Fraction(7, 8)
"""Below the power of the inverse share with which the variance grows, for shares up to 10%."""


def means_are_unbiased() -> bool:
    """Decide Proposition 5.2 client by client: the mean added is ``gain v`` to the own group, 0 to another."""
    signs, noise = privacy.signs(), privacy.noise()
    (down, up), (zero_down, zero_up) = (moves.sign_probabilities(value, signs.value_epsilon) for value in (v, 0 * v))
    keep = routes.printed_keep(budget(t1), d)
    own = identity(keep * (up - down), signs.gain * v) and identity(keep * v, noise.gain * v)
    return own and identity(zero_up - zero_down, 0)


def variance_of_signs() -> bool:
    """Decide (20): members add ``keep - (gain v)^2`` to the variance, others ``move``, over ``(gain n)^2``."""
    signs = privacy.signs()
    added = n * signs.keep - n * signs.gain * signs.gain * nu2 + c * n * signs.move
    unit = signs.gain * n
    return identity(gaps.variance_discretised_mean(signs, n, n + c * n, nu2), added / (unit * unit))


def variance_of_noise() -> bool:
    """Decide (19) likewise: members add ``keep (v^2 + 2 s^2) - (keep v)^2``, others ``move 2 s'^2``."""
    noise = privacy.noise()
    own, moved = 2 * noise.kept_scale * noise.kept_scale, 2 * noise.moved_scale * noise.moved_scale
    added = n * noise.keep * (nu2 + own) - n * noise.keep * noise.keep * nu2 + c * n * noise.move * moved
    unit = noise.keep * n
    return identity(gaps.variance_laplace_mean(noise, n, n + c * n, nu2), added / (unit * unit))


def printed_signs_agree() -> bool:
    """Decide that (20) as printed is the shipped variance for two groups."""
    shown = routes.printed_variance_discretised(budget(t1), budget(t2), size=n, clients=n + c * n, second_moment=nu2)
    two = groups.DiscretisedMeans(budget(t1), budget(t2))
    return identity(gaps.variance_discretised_mean(two, n, n + c * n, nu2), shown)


def printed_noise_agrees() -> bool:
    """Decide that (19) as printed is the shipped variance for two groups."""
    shown = routes.printed_variance_laplace(budget(t1), e, k, size=n, clients=n + c * n, second_moment=nu2)
    two = groups.LaplaceMeans(budget(t1), e, k)
    return identity(gaps.variance_laplace_mean(two, n, n + c * n, nu2), shown)


def worst_is_worst() -> bool:
    """Decide that the variance is largest at ``nu^2 = 0`` for signs and at ``nu^2 = 1`` for noise."""
    signs, noise = privacy.signs(), privacy.noise()
    lost = gaps.variance_discretised_mean(signs, n, n + c * n, 0) - gaps.variance_discretised_mean(
        signs, n, n + c * n, nu2
    )
    gained = gaps.variance_laplace_mean(noise, n, n + c * n, 1) - gaps.variance_laplace_mean(noise, n, n + c * n, nu2)
    left = gained * n / (1 - nu2)
    return identity(lost, nu2 / n) and identity(left, (d - 1) / t1)


def absolute_gap_is_biased() -> bool:
    """Decide Theorem 5.4: the signed gap ``X`` is negative with some chance, and ``|X| - X`` is then ``-2 X > 0``.

    All reports can pull it down: from members of the first group by a minus, with a chance linear in the value, from
    others by moving there.
    """
    signs = privacy.signs()
    down = [signs.keep * moves.sign_probabilities(exact(end), signs.value_epsilon)[0] for end in (-1, 1)]
    return all(positive(chance, BUDGETS | {d: (1, oo)}) is True for chance in (*down, signs.move))


def worst(mechanism: groups.GroupMeans) -> Real:
    """Return the largest variance of a mean of one client in a group, of two groups alike."""
    if isinstance(mechanism, groups.LaplaceMeans):
        return gaps.variance_laplace_mean(mechanism, 1, 2, 1)
    return gaps.variance_discretised_mean(mechanism, 1, 2, 0)


CURVES = {
    "M_R": lambda half: worst(groups.DiscretisedMeans.published(2 * half)),
    "M_R kept": lambda half: worst(groups.DiscretisedMeans.calibrated(2 * half)),
    "M_L small": lambda half: worst(groups.LaplaceMeans.allowed(2 * half, _like(half, "2/3"))),
    "M_L": lambda half: worst(groups.LaplaceMeans.allowed(2 * half, 2 * half)),
    "k = 2": lambda half: worst(groups.LaplaceMeans.calibrated(2 * half)),
    "M_L of zeros": lambda half: gaps.variance_laplace_mean(groups.LaplaceMeans.allowed(2 * half, 2 * half), 1, 2, 0),
    "k = 2 of zeros": lambda half: gaps.variance_laplace_mean(groups.LaplaceMeans.calibrated(2 * half), 1, 2, 0),
}
"""Variances by half the budget, a symbol or a ball, largest but of zeros; *M_L small* is the source's choice to 2/3."""


def _like(half: Real, number: str) -> Real:
    return exact(number) if half is x else ball(number)


def most_crossings(one: str, other: str, factor: str = "1") -> int:
    """Return a bound on how often ``factor`` times one of `CURVES` meets another on the whole half line."""
    difference = exact(factor) * CURVES[one](x) - CURVES[other](x)
    top, _ = sympy.fraction(sympy.together(sympy.expand(expression(difference), power_exp=True)))
    return sign_changes(top, expression(x))


def crossings(one: str, other: str, low: Any, high: Any) -> list[Any]:
    """Return the budgets between two halves where two of `CURVES` cross, as balls."""
    return [2 * half for half in zeros(lambda h: CURVES[one](h) - CURVES[other](h), low, high)]


def all_crossings(one: str, other: str, low: Any, high: Any, elsewhere: int = 0) -> list[Any]:
    """Return all budgets where two of `CURVES` cross: as many between two halves as the bound on the half line allows.

    `elsewhere` are known to lie outside of the range in which a curve applies. Empty where the counts do not meet.
    """
    found = crossings(one, other, low, high)
    return found if len(found) + elsewhere == most_crossings(one, other) else []


def figure_1() -> tuple[list[Any], list[Any]]:
    """Return all budgets where ``M_R`` and the optimal ``M_L`` cross, as published and with budgets that are kept.

    The curve of ``k = epsilon`` applies from 2/3 on; continued below, it crosses once more.
    """
    below = len(crossings("M_R", "M_L", "0.01", THIRD))
    claimed = [*all_crossings("M_R", "M_L small", "0.01", THIRD), *all_crossings("M_R", "M_L", THIRD, 20, below)]
    return claimed, all_crossings("M_R kept", "k = 2", "0.01", 20)


def bounds_part() -> bool:
    """Decide that the largest variance of ``M_R`` over that of ``M_L`` rises, as published, for epsilon in 2.6 to 700.

    By its slope on cells. It comes to ``epsilon^2 / 8``; the difference stays below what ``M_R`` tends to, 1 here.
    """

    def ratio(half: Any) -> Any:
        return CURVES["M_R"](half) / CURVES["M_L"](half)

    ends = [Fraction(13, 10) * Fraction(33, 32) ** step for step in range(183)]  # up to 351
    rises = all(bool(slope(ratio, [ball(*cell)]) > 0) for cell in pairwise(ends))
    less = holds_on(lambda half: 1 + CURVES["M_L"](half) - CURVES["M_R"](half), (ends[0], ends[-1]))
    return rises and less is True and bool(limit(ratio(x) / (x * x), expression(x), oo) == Fraction(1, 2))


def small_budgets(ratio: str) -> bool:
    """Decide that with ``k = 2/3`` the variance is below `ratio` times that with ``k = 2`` for all epsilon up to 2/3.

    The difference changes sign once at most, and later: it is negative at 2/3 and positive at 4.
    """
    factor = Fraction(ratio)

    def difference(half: Any) -> Any:
        return CURVES["M_L small"](half) - ball(factor) * CURVES["k = 2"](half)

    signs = difference(ball(THIRD)) < 0 < difference(ball(2))
    return bool(signs) and most_crossings("M_L small", "k = 2", str(1 / factor)) == 1


def ratio_at_zero() -> Any:
    """Return the limit, for small budgets, of the variance with ``k = 2/3`` over that with ``k = 2``."""
    return limit(CURVES["M_L small"](x) / CURVES["k = 2"](x), expression(x), 0)


def smaller_k_is_better() -> bool:
    """Decide Appendix B: along equation (1) the variance still grows in `k` at ``k = epsilon``, and beyond.

    It grows in `k`, falls in ``eps1``, and ``eps1`` has the slope ``(epsilon - k) / k^2``, negative beyond epsilon. So
    2/3 is best for ``epsilon <= 2/3``, and above less than epsilon is.
    """
    variance = gaps.variance_laplace_mean(groups.LaplaceMeans(budget(t1), e, k), 1, 2, 1)
    along = derivative(groups.largest_group_epsilon(e, k), k)
    slope = derivative(variance, k) + derivative(variance, t1) * t1 * along
    box = {e: (0, oo), t1: (1, oo)}
    beyond = positive(replaced(slope, k, e + y), box | {y: (0, oo)})
    return beyond is True and positive(replaced(slope, k, e), box) is True


def power_of_the_share() -> bool:
    """Decide that below 10% the largest variance of the gap grows with a power of 1/share between 7/8 and 2."""
    signs, noise = groups.DiscretisedMeans(budget(t1), budget(t2)), groups.LaplaceMeans(budget(t1), e)
    sizes = (share, 1 - share)
    by_sign = sum(gaps.variance_discretised_mean(signs, size, exact(1), 0) for size in sizes)
    by_noise = sum(gaps.variance_laplace_mean(noise, size, exact(1), 1) for size in sizes)
    return _power_within(by_sign, BUDGETS) and _power_within(by_noise, {t1: (1, oo), e: (0, oo)})


def others_outweigh() -> bool:
    """Decide what `c` others per member add to the largest variance of a mean of two groups.

    ``c e^-eps1`` times what the group's own reports make under ``M_R``, and less under ``M_L`` with ``k = 2``.
    """
    signs, noise = groups.DiscretisedMeans(budget(t1), budget(t2)), groups.LaplaceMeans(budget(t1), e)
    by_sign = [gaps.variance_discretised_mean(signs, 1, 1 + others, 0) for others in (0 * c, c)]
    by_noise = [gaps.variance_laplace_mean(noise, 1, 1 + others, exact(1)) for others in (0 * c, c)]
    exactly = identity(by_sign[1] - by_sign[0], c / t1 * by_sign[0])
    less = positive(c / t1 * by_noise[0] - (by_noise[1] - by_noise[0]), {c: (0, oo), t1: (1, oo), e: (0, oo)})
    return exactly and less is True


def _power_within(variance: Real, budgets: dict[Any, Any]) -> bool:
    slope = -share * derivative(variance, share)
    box = SHARES | budgets
    return positive(2 * variance - slope, box) is True and positive(slope - SMALLEST_POWER * variance, box) is True


def wrong_sizes_are_a_bias() -> bool:
    """Decide what sizes taken to be ``1 +- wrong`` times theirs do to equal groups, at all budgets.

    Equal means show the gap ``-2 wrong mean / (1 - wrong^2)``; each mean's variance is divided by its squared factor,
    which is ``(1 + wrong^2) / (1 - wrong^2)^2`` times the gap's if both are the same.
    """
    factors, left = (1 + wrong, 1 - wrong), 1 - wrong * wrong
    bias = gaps.misestimated_gap_bias(factors, (mean, mean))
    ratios, parts = [], True
    for mechanism in (groups.DiscretisedMeans(budget(t1), budget(t2)), groups.LaplaceMeans(budget(t1), e, k)):
        gap = gaps.GroupGap(mechanism, (1, 1))
        ratios.append(gap.misestimated_variance(factors, (nu2, nu2)) / gap.variance((nu2, nu2)))
        own = [gaps.mean_variance(mechanism, 1, 2, moment) / f / f for moment, f in zip((nu2, v), factors, strict=True)]
        parts = parts and identity(gap.misestimated_variance(factors, (nu2, v)), own[0] + own[1])
    larger = (1 + wrong * wrong) / (left * left)
    return parts and identity(bias, -2 * wrong * mean / left) and all(identity(ratio, larger) for ratio in ratios)


def dropouts_are_a_bias() -> bool:
    """Decide what shares of absent clients do, if sizes count them: each mean shrinks by its group's share."""
    factors = (1 / (1 - share), 1 / (1 - wrong))
    return identity(gaps.misestimated_gap_bias(factors, (mean, other)), wrong * other - share * mean)


def signs_have_a_limit() -> bool:
    """Decide that under ``M_R`` the gap between halves of K clients has variance ``4 / (K gain^2)``, ``gain -> 1``."""
    published, kept = groups.DiscretisedMeans.published(budget(y)), groups.DiscretisedMeans.calibrated(budget(y))
    box = {y: (1, oo)}
    for mechanism in (published, kept):
        exactly = identity(worst(mechanism), 1 / (mechanism.gain * mechanism.gain))
        below = positive(1 - mechanism.gain, box) is True
        if not (exactly and below and limit(mechanism.gain, expression(y), oo) == 1):
            return False
    return True


FAMILIES: dict[str, list[tuple[Callable[[Any], groups.GroupMeans], Any, Any]]] = {
    "M_R": [(lambda epsilon: groups.DiscretisedMeans.published(epsilon), "0.002", 200)],
    "M_L": [
        (lambda epsilon: groups.LaplaceMeans.allowed(epsilon, ball("2/3")), "0.002", THIRD),
        (lambda epsilon: groups.LaplaceMeans.allowed(epsilon, epsilon), THIRD, 200),
    ],
    "M_R kept": [(lambda epsilon: groups.DiscretisedMeans.calibrated(epsilon), "0.002", 200)],
    "M_L kept": [(lambda epsilon: groups.LaplaceMeans.calibrated(epsilon), "0.002", 200)],
}
"""Mechanisms by budget, as published and as their budgets are kept, and the halves of budgets where each applies."""


def smallest_budgets(name: str, clients: int, alpha: str, failure: str) -> list[Any]:
    """Return all budgets from 0.004 to 400 at which Chebyshev's inequality gives `failure` for an error `alpha`."""
    square = ball(alpha) * ball(alpha)

    def excess(family: Callable[[Any], groups.GroupMeans]) -> Callable[[Any], Any]:
        return lambda half: gaps.GroupGap.of_halves(family(2 * half), clients).worst_variance() / square - ball(failure)

    return [2 * half for family, low, high in FAMILIES[name] for half in zeros(excess(family), low, high)]


def error_bound(name: str, epsilon: str, clients: int, failure: str) -> Any:
    """Return a ball around the error of a rate that is exceeded with probability `failure` at most, by Chebyshev."""
    applies = [
        family for family, low, high in FAMILIES[name] if 2 * Fraction(low) <= Fraction(epsilon) <= 2 * Fraction(high)
    ]
    return gaps.GroupGap.of_halves(applies[-1](ball(epsilon)), clients).error_bound(ball(failure)) / 2


def difference_prints_as(column: str, printed: str) -> bool | None:
    """Decide whether the difference of a column of the published rates prints as a number."""
    first, second = (ball(f"{rate}") for rate in population.published_rates(column))
    return digits(first - second, printed)


def equal_counts_are_likely(kinds: int, copies: int, level: float) -> bool:
    """Decide whether draws with replacement give every one of some kinds the same count with at least a chance."""
    draws = kinds * copies
    chance = arb(draws + 1).lgamma() - kinds * arb(copies + 1).lgamma() - draws * arb(kinds).log()
    return bool(chance > arb(level).log())
