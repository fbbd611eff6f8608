"""Which channels are best when all values are equally frequent: proofs for Sections 4.3 and 6.

At the uniform distribution the information of a channel is a sum over its outputs. Throughout,
``t = e^epsilon`` and ``c = t - 1``; there are ``a`` values, of which an output favours ``k``.
"""

from itertools import combinations, product

import numpy as np
import sympy

from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.papers.lopuhaa2020.formulas import best_channel
from ldpnb.papers.lopuhaa2020.formulas.lower_bounds import LowerBounds


def least_error() -> bool:
    """Decide three steps on the way to the least error of any channel.

    1. An output that favours k values adds ``k (a-k) c^2 / (a (1 + c s)^2)``, times its
       probability, to the trace of the information on vectors of sum 0, where ``s`` is the
       probability of its values.
    2. An output whose entries are a mixture of two such rows adds no more, because
       ``|q|^2 / (q p)`` is convex in q.
    3. The error is at least ``(a-1)^2`` over the trace, because ``1/u + 1/v >= 4 / (u + v)`` for
       any two eigenvalues.
    """
    t, k, a, s = symbols("t k a s")
    mean = (k * t + a - k) / a
    spread = k * (t - mean) * (t - mean) + (a - k) * (1 - mean) * (1 - mean)
    chance = 1 + (t - 1) * s
    adds = identity(
        spread / chance / chance, k * (a - k) * (t - 1) * (t - 1) / (a * chance * chance)
    )
    at_uniform = identity(spread / mean / mean, LowerBounds(a, budget(t)).uniform_information(k))
    best_at_half = identity(a * a / 4 - k * (a - k), (a / 2 - k) * (a / 2 - k))

    u, v, x, y = symbols("u v x y")
    of_mixture = (u + x) * (u + x) / (v + y)
    difference = u * y - x * v
    convex = identity(
        u * u / v + x * x / y - of_mixture, difference * difference / (v * y * (v + y))
    )
    inverse = identity(1 / u + 1 / v - 4 / (u + v), (u - v) * (u - v) / (u * v * (u + v)))

    return adds and at_uniform and best_at_half and convex and inverse


def best_subset_size() -> bool:
    """Decide when subsets of ``k + 1`` values tell more than subsets of k.

    They do if and only if ``t^2 < (a-k)(a-k-1) / (k (k+1))``. That threshold falls as k grows, so
    there is one best size, between two neighbouring thresholds.
    """
    t, k, rest = symbols("t k rest")
    a = k + 1 + rest
    bounds = LowerBounds(a, budget(t))
    gain = bounds.uniform_information(k) - bounds.uniform_information(k + 1)

    step = a * a * (t - 1) * (t - 1) * (k * (k + 1) * t * t - (a - k) * (a - k - 1))
    bottom = (k * t + a - k) * ((k + 1) * t + a - k - 1)
    sign_is_known = identity(gain, step / (bottom * bottom))

    threshold = (a - k) * (a - k - 1) / (k * (k + 1))
    following = (a - k - 1) * (a - k - 2) / ((k + 1) * (k + 2))
    falls = positive(threshold - following, {k: (0, oo), rest: (0, oo)})
    return sign_is_known and falls is True


def selection_gap() -> float:
    """Return by how much, relatively, the best channel found beats subset selection."""
    gaps = []
    for size, epsilon in product((2, 3, 4, 5), (0.1, 1.0, 3.0)):
        best = best_channel.best_channel(np.full(size, 1 / size), epsilon)
        selection = LowerBounds(size, epsilon).uniform_optimum()
        gaps.append(selection / best.lower_bound - 1)
    return float(max(gaps))


def pairs_of_four() -> bool:
    """Decide that outputs that favour two of four values are needed for all six pairs.

    The columns of a channel have equal sums, so the weights of the pairs make their signed
    indicators cancel, and then a pair weighs as much as its complement. The three pairs that are
    left are orthogonal; without one of them the information has rank 2.
    """
    pairs = list(combinations(range(4), 2))  # pair i is the complement of pair 5 - i
    signs = sympy.Matrix(4, 6, lambda value, i: 1 if value in pairs[i] else -1)

    balanced = signs.nullspace()
    complements_agree = all(
        weights[i] == weights[5 - i] for weights, i in product(balanced, range(3))
    )

    half = signs[:, :3]
    orthogonal = half.T * half == 4 * sympy.eye(3)
    return len(balanced) == 3 and complements_agree and orthogonal
