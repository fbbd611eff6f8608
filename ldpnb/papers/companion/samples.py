"""What decides what a random sample hides: a check for each claim of ``samples.toml``.

``t = e^epsilon``, ``q`` a sampling rate.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ldpnb.arithmetic import Real
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, derivative, identity, oo, positive, replaced, symbols
from ldpnb.designs import laws
from ldpnb.papers.bun2022.formulas import clusters, releases
from ldpnb.papers.bun2022.shared import BUDGET, eps, optimum, small, t
from ldpnb.privacy import optimiser, subsampling

(q,) = symbols("q")
RATE = {q: (0, 1)}


def _poisson_growth() -> list[Real]:
    """Return ``e^loss`` of an independent sample, if the record is replaced and if it is deleted."""
    return [
        np.exp(subsampling.poisson_loss(eps, q, neighbours=name))
        for name in ("replacement", "deletion")
    ]


def poisson_from_above() -> bool | None:
    """No mechanism exceeds `poisson_loss`, whatever the others' values and rates.

    Given who else is drawn, an event has the chance ``absent`` without the record, ``present <= t absent`` with it and
    ``new >= absent/t`` with its replacement: multipliers prove the bound, and means over the others keep it.
    """
    present, new, absent = symbols("present new absent")
    replaced, deleted = _poisson_growth()
    here, there = q * present + (1 - q) * absent, q * new + (1 - q) * absent
    least = 1 - q + q / t
    gained = deleted * q * (new - absent / t) + least * q * (t * absent - present)
    both = identity((replaced * there - here) * least, gained)
    added = identity(deleted * absent - here, q * (t * absent - present))
    rest = deleted * q * (t * new - absent) + q * (1 - q) * (t - 1) ** 2 * absent
    removed = identity((deleted * there - absent) * t, rest)
    return both and added and removed


def one_sample_or_fresh() -> bool | None:
    """Releases of growth ``u`` and ``v``: what one sample loses more than fresh ones, ``F(u v) - F(u) F(v)``.

    ``q (1 - q)(u - 1)(v - 1)`` for a simple random sample (and for a stratum, and independent samples under deletion).
    Independent samples under replacement: the sign of ``1 - 2 q``.
    """
    u, v = symbols("u v")
    box = RATE | {u: (1, oo), v: (1, oo)}

    def excess(loss: Callable[[Real], Real]) -> Real:
        one, other, both = (np.exp(loss(budget(growth))) for growth in (u, v, u * v))
        return both - one * other

    mixed = q * (1 - q) * (u - 1) * (v - 1)
    fixed = identity(excess(lambda b: subsampling.srs_loss(b, q)), mixed)
    added = identity(excess(lambda b: subsampling.poisson_loss(b, q, neighbours="deletion")), mixed)
    replaced = excess(lambda b: subsampling.poisson_loss(b, q))
    below = (1 - q + q / u) * (1 - q + q / v) * (1 - q + q / (u * v))
    sign = identity(replaced, mixed * (1 - 2 * q) * (u * v - 1) / (u * v) / below)
    return fixed and added and sign and positive(below, box)


def one_cluster_sample_or_fresh() -> bool | None:
    """Clusters of one size: one sample always loses more, in both relations.

    ``F(u) = (u + c a)/(1 + c a)`` with ``c = 1/q - 1`` and a power ``a = u^-m`` of the growth; decided for every ``a``
    and ``b`` in (0, 1), ``a b`` belonging to ``u v``. Under replacement put ``u^2`` for ``u``.
    """
    u, v, a, b, c = symbols("u v a b c")

    def growth(x: Real, power: Real) -> Real:
        return (x + c * power) / (1 + c * power)

    for records in (0, 1, 5):
        loss = clusters.cluster_loss_at(
            records, epsilon=budget(u), changed_size=1, sampling_rate=1 / (1 + c)
        )
        if not identity(np.exp(loss), growth(u, 1 / u**records)):
            return False
    box = {u: (1, oo), v: (1, oo), a: (0, 1), b: (0, 1), c: (0, oo)}
    return positive(growth(u * v, a * b) - growth(u, a) * growth(v, b), box)


def poisson_against_fixed_size(e: Evidence) -> Numbers:
    e.proven(poisson_from_above())
    # attained by tails with absent = 1, present = t and new = 1/t, as noise on a sum of +1 and -1 has
    exchanged, deleted = _poisson_growth()
    here, there = (q * growth + 1 - q for growth in (t, 1 / t))
    e.proven(identity(here / there, exchanged) and identity(here, deleted))
    # a fixed size loses more under replacement, for every budget; both are 2 q eps to first order
    fixed_size = np.exp(subsampling.srs_loss(2 * eps, q))
    e.proven(
        identity(fixed_size, 1 + q * (t * t - 1))
        and positive(fixed_size - exchanged, BUDGET | RATE)
    )
    for loss in (subsampling.srs_loss(2 * small, q), subsampling.poisson_loss(small, q)):
        e.proven(identity(replaced(derivative(loss, small), small, 0), 2 * q))
    free, rare = (subsampling.poisson_loss(1.0, rate) for rate in (0.2, 0.05))
    fixed, few = (subsampling.srs_loss(2.0, rate) for rate in (0.2, 0.05))
    e.needs(free < fixed and rare < few)
    both = [laws.poisson([changed, 0, 0], [0.2] * 3) for changed in (1, 2)]
    whole = optimiser.largest_loss(*both, epsilon=1.0, mechanism="replacement").loss
    e.same(whole, 1.0)
    return {"free": free, "fixed": fixed, "rare": rare, "few": few, "whole": whole}


def several_releases_from_one_sample(e: Evidence) -> Numbers:
    e.proven(one_sample_or_fresh() and one_cluster_sample_or_fresh())
    tenth = partial(subsampling.srs_loss, sampling_rate=0.1)
    often = partial(subsampling.poisson_loss, sampling_rate=0.8)
    one, fresh, kept, anew = (
        releases.releases_loss([1.0, 1.0], loss, fresh=new)
        for loss in (tenth, often)
        for new in (False, True)
    )
    drawn = partial(optimum, partial(laws.subsets, size=1), 10, mechanism="replacement")
    e.same([one, fresh], [drawn(2.0), 2 * drawn(1.0)])
    design = clusters.ClusterSample([5] * 10, 1)
    e.same(releases.releases_loss([1.0, 1.0], design.loss), design.upper_bound(2.0))
    e.needs(one > fresh and kept < anew)
    return {"one": one, "fresh": fresh, "kept": kept, "anew": anew}
