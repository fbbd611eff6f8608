"""Which rows of a channel tell most: steps that Sections 4.3 and 6 of lopuhaa2020 share.

``t = e^epsilon`` and ``c = t - 1``; rows have k entries t and the others 1.
"""

from itertools import product

from ldpnb.accuracy.lower_bounds import LowerBounds
from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.papers.lopuhaa2020.routes import uniform
from ldpnb.privacy import best_channel


def row_trace() -> bool:
    """Decide what a row of k entries t and others 1 adds to the trace, and that mixed rows add no more.

    On vectors of sum 0 it is ``k (a-k) c^2 / (a (1 + c s)^2)`` times its chance, s being the chance of its values;
    ``|q|^2 / (q p)`` is convex in q.
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
    return adds and at_uniform and convex and half


def inverse_trace() -> bool:
    """Decide ``1/u + 1/v >= 4 / (u + v)``; over ``a - 1`` eigenvalues it is ``(a-1)^2`` over the trace."""
    u, v = symbols("u v")
    return identity(1 / u + 1 / v - 4 / (u + v), (u - v) * (u - v) / (u * v * (u + v)))


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
        best = best_channel.best_channel(uniform(size), epsilon)
        gaps.append(LowerBounds(size, epsilon).uniform_optimum() / best.lower_bound - 1)
    return float(max(gaps))
