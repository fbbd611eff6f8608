"""What decides Section 5 of juarez2022 with Appendices A.3 to A.5: unbiased means, their variances, that of the gap.

Symbols as in `section_4`; `v` is a value, `nu2` the mean square of a group's values.
"""

from dataclasses import replace
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from ldpnb.accuracy import gaps
from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, agree, within
from ldpnb.deciders import budget, identity, limit, oo, positive, symbols
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import groups, moves
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.papers.juarez2022 import routes
from ldpnb.papers.juarez2022.routes import HOLDERS, MECHANISMS, exact
from ldpnb.papers.juarez2022.section_4 import NOISE, SIGNS, c, d, n, nu2, t1, t2, y
from ldpnb.sections import Numbers, Pairs, second_route

(v,) = symbols("v")


@second_route(estimators.group_means, estimators.signed_gap)
def _estimates() -> Pairs:
    for m in MECHANISMS:  # sums as large as expected, of clients who all hold one value
        means = np.linspace(1, 0.25, m.groups)
        sizes = np.array(routes.sizes(m))
        yield estimators.group_means(m, means * sizes * routes.printed_gain(m), sizes), means
        yield estimators.signed_gap(means), -np.diff(means[:2])[0]


def _folded(gap: float, power: int) -> float:
    """Return the mean of the error of ``|gap + Z|``, ``Z`` standard normal, or of its square, or of its size (0)."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    total = 0.0
    for low, high in pairwise([-12.0, -2 * gap, -gap, 1e-9, 12.0]):
        x, half = low + (high - low) * (nodes + 1) / 2, (high - low) / 2
        error = np.abs(gap + x) - gap
        total += half * float(weights @ (np.exp(-(x**2) / 2) * (error**power if power else np.abs(error))))
    return total / float(np.sqrt(2 * np.pi))


@second_route(gaps.absolute_gap_bias, gaps.absolute_gap_mse, gaps.absolute_gap_error)
def _absolute_gap() -> Pairs:
    gap = np.array([0.0, 0.5, 1.0, 2.0])
    for power, formula in enumerate((gaps.absolute_gap_error, gaps.absolute_gap_bias, gaps.absolute_gap_mse)):
        for sd in (1.0, 0.3):
            yield formula(sd, sd * gap), [sd ** (power or 1) * _folded(x, power) for x in gap]


def means_are_unbiased(e: Evidence) -> None:
    """Decide client by client that the mean added is ``gain v`` to the own group, 0 to another."""
    (down, up), (zero_down, zero_up) = (moves.sign_probabilities(value, SIGNS.value_epsilon) for value in (v, 0 * v))
    e.proven(identity(SIGNS.keep * (up - down), SIGNS.gain * v) and identity(NOISE.keep * v, NOISE.gain * v))
    e.proven(identity(SIGNS.move * (zero_up - zero_down), 0))


def proposition_5_2(e: Evidence) -> Numbers:
    means_are_unbiased(e)
    for m in MECHANISMS:
        (_, first, (one, var_one)), (_, second, (other, var_other)), *_ = routes.group_examples(m)
        both = routes.gap_moments(m, HOLDERS[: m.groups], routes.VALUES)[1]
        e.needs(max(abs(one - first), abs(other - second)) < 1e-12)
        e.needs(abs(var_one + var_other - both) / both < 1e-12)
    return {"mechanisms": len(MECHANISMS)}


def added_up(mechanism: groups.GroupMeans, own: Real, other: Real) -> Real:
    """Return the variance of an estimated mean, where a member adds `own` to that of the sum and another `other`."""
    unit = mechanism.gain * n
    return n * (own + c * other) / (unit * unit)


def variance_of_signs() -> Real:
    """Return (20) for every number of groups: a member's sign counts if it stays, another's if it moves here."""
    return added_up(SIGNS, SIGNS.keep - SIGNS.gain * SIGNS.gain * nu2, SIGNS.move)


def as_printed(e: Evidence, shipped: Any, every: groups.GroupMeans, expected: Real, printed: Any) -> Numbers:
    """Decide a variance for every number of groups, and as printed for two; return what the latter is at three."""
    group, two = {"size": n, "clients": n + c * n, "second_moment": nu2}, replace(every, groups=2)
    e.proven(identity(shipped(every, *group.values()), expected))
    e.proven(identity(shipped(two, *group.values()), printed(two, group)))
    ratios: dict[int, list[float]] = {2: [], 3: []}
    for m in MECHANISMS:
        if isinstance(m, type(every)):
            ratios[m.groups] += [printed(m, one) / variance for one, _, (_, variance) in routes.group_examples(m)]
    e.sure(agree(ratios[2], np.ones(2)))
    e.needs(agree(ratios[3], np.ones(3)))
    return {"least": min(ratios[3]), "most": max(ratios[3])}


def equation_19(e: Evidence) -> Numbers:
    def printed(m: LaplaceMeans, group: dict[str, Any]) -> Real:
        return routes.printed_variance_laplace(m.group_epsilon, m.value_epsilon, m.k, **group)

    kept, moved = (2 * scale * scale for scale in (NOISE.kept_scale, NOISE.moved_scale))
    expected = added_up(NOISE, NOISE.keep * (nu2 + kept) - NOISE.keep * NOISE.keep * nu2, NOISE.move * moved)
    return as_printed(e, gaps.variance_laplace_mean, NOISE, expected, printed)


def equation_20(e: Evidence) -> Numbers:
    def printed(m: DiscretisedMeans, group: dict[str, Any]) -> Real:
        return routes.printed_variance_discretised(m.group_epsilon, m.value_epsilon, groups=m.groups, **group)

    return as_printed(e, gaps.variance_discretised_mean, SIGNS, variance_of_signs(), printed)


def signs_have_a_limit(e: Evidence, mechanism: DiscretisedMeans) -> None:
    """Decide that a mean of n, half of all, has variance ``1 / (gain^2 n)`` at most, and that the gain tends to 1."""
    equal = gaps.variance_discretised_mean(mechanism, n, 2 * n, 0)
    e.proven(identity(equal, 1 / (mechanism.gain * mechanism.gain * n)))
    e.proven(positive(1 - mechanism.gain, {y: (1, oo)}) and limit(mechanism.gain, y.expression, oo) == 1)


def section_5_largest_variance(e: Evidence) -> Numbers:
    largest = {}
    for name, epsilon in (("one", 1.0), ("four", 4.0), ("ten", 10.0)):
        gap = gaps.GroupGap.of_halves(DiscretisedMeans.published(epsilon), 20)
        e.needs(gap.worst_variance() >= max(gap.variance((nu, nu)) for nu in (0.0, 0.3, 1.0)))
        largest[name] = 10 * gap.worst_variance() / 2
    e.needs(within("about", largest["ten"], 1))
    every = gaps.variance_discretised_mean(SIGNS, n, n + c * n, 0)
    e.proven(identity(every - gaps.variance_discretised_mean(SIGNS, n, n + c * n, nu2), nu2 / n))
    signs_have_a_limit(e, DiscretisedMeans.published(budget(y)))
    return largest


def theorem_5_4_unbiased(e: Evidence) -> Numbers:
    distances = np.array([0.0, 0.5, 1.0, 2.0])
    bias, square = (formula(1.0, distances) for formula in (gaps.absolute_gap_bias, gaps.absolute_gap_mse))
    e.needs(bias.max() < 1e-9)
    means_are_unbiased(e)
    # all reports can pull the signed gap below 0: members of the first group with a minus, others by moving there
    down = [SIGNS.keep * moves.sign_probabilities(exact(end), SIGNS.value_epsilon)[0] for end in (-1, 1)]
    box = {t1: (1, oo), t2: (1, oo), d: (1, oo)}
    e.proven(all(positive(chance, box) for chance in (*down, SIGNS.move)))
    plus = np.arange(21)  # signs of 10 + 10 clients without a gap
    chances = np.array([comb(20, int(heads)) for heads in plus]) / 2**20
    small = float(chances @ np.abs(2 * plus - 20)) / 10 / routes.printed_gain(DiscretisedMeans(1.0, 1.0))
    halves = gaps.GroupGap.of_halves(DiscretisedMeans.published(0.1), 10**7)
    large = float(gaps.absolute_gap_bias(np.sqrt(halves.worst_variance()), 0.0))
    return routes.numbered(bias=bias, square=square) | {"small": small, "large": large}
