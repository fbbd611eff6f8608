"""Check the companion's claims on what a random sample hides: one function for each claim.

Here ``t = e^epsilon`` is the growth of a budget, and ``q`` is a sampling rate.
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
    """Return ``e^loss`` of an independent sample, under replacement and under deletion."""
    return [
        np.exp(subsampling.poisson_loss(eps, q, neighbours="replacement")),
        np.exp(subsampling.poisson_loss(eps, q, neighbours="deletion")),
    ]


def poisson_from_above() -> bool | None:
    """Show that no mechanism exceeds `poisson_loss`, for all values and rates of the other records.

    Given which other records are drawn, an event has the probability ``absent`` without the record,
    at most ``t absent`` with it (``present``), and at least ``absent/t`` with its replacement
    (``new``). Sums of these inequalities, with positive factors, prove the bound; means over the
    other records keep it.
    """
    present, new, absent = symbols("present new absent")
    replaced, deleted = _poisson_growth()
    here = q * present + (1 - q) * absent
    there = q * new + (1 - q) * absent
    least = 1 - q + q / t

    gained = deleted * q * (new - absent / t) + least * q * (t * absent - present)
    both = identity((replaced * there - here) * least, gained)

    added = identity(deleted * absent - here, q * (t * absent - present))

    rest = deleted * q * (t * new - absent) + q * (1 - q) * (t - 1) ** 2 * absent
    removed = identity((deleted * there - absent) * t, rest)
    return both and added and removed


def one_sample_or_fresh() -> bool | None:
    """Show how one sample and fresh ones differ for two releases, of growth ``u`` and ``v``.

    With ``F`` the growth of the loss, the difference is ``F(u v) - F(u) F(v)``. It is
    ``q (1 - q)(u - 1)(v - 1)`` for a simple random sample, which a stratum is, and for independent
    samples under deletion. For independent samples under replacement it has the sign of
    ``1 - 2 q``.
    """
    u, v = symbols("u v")
    box = RATE | {u: (1, oo), v: (1, oo)}

    def excess(loss: Callable[[Real], Real]) -> Real:
        first = np.exp(loss(budget(u)))
        second = np.exp(loss(budget(v)))
        together = np.exp(loss(budget(u * v)))
        return together - first * second

    mixed = q * (1 - q) * (u - 1) * (v - 1)
    fixed_size = excess(lambda b: subsampling.srs_loss(b, q))
    deletion = excess(lambda b: subsampling.poisson_loss(b, q, neighbours="deletion"))
    are_equal = identity(fixed_size, mixed) and identity(deletion, mixed)

    replacement = excess(lambda b: subsampling.poisson_loss(b, q))
    below = (1 - q + q / u) * (1 - q + q / v) * (1 - q + q / (u * v))
    with_sign = mixed * (1 - 2 * q) * (u * v - 1) / (u * v) / below
    return are_equal and identity(replacement, with_sign) and positive(below, box)


def one_cluster_sample_or_fresh() -> bool | None:
    """Show that one sample of clusters of one size always loses more than fresh samples do.

    The growth of the loss is ``F(u) = (u + c a)/(1 + c a)``, with ``c = 1/q - 1`` and the power
    ``a = u^-m`` for clusters of ``m`` records. This is decided for all ``a`` and ``b`` in (0, 1),
    with ``a b`` in the place of the power of ``u v``. Under replacement put ``u^2`` for ``u``.
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

    # attained by an event of probability 1 without the record, t with it, and 1/t with its
    # replacement
    exchanged, deleted = _poisson_growth()
    here = q * t + 1 - q
    there = q / t + 1 - q
    e.proven(identity(here / there, exchanged) and identity(here, deleted))

    # a fixed size loses more under replacement, at every budget
    fixed_size = np.exp(subsampling.srs_loss(2 * eps, q))
    e.proven(
        identity(fixed_size, 1 + q * (t * t - 1))
        and positive(fixed_size - exchanged, BUDGET | RATE)
    )

    # both are 2 q epsilon to first order
    for loss in (subsampling.srs_loss(2 * small, q), subsampling.poisson_loss(small, q)):
        e.proven(identity(replaced(derivative(loss, small), small, 0), 2 * q))

    free = subsampling.poisson_loss(1.0, 0.2)
    rare = subsampling.poisson_loss(1.0, 0.05)
    fixed = subsampling.srs_loss(2.0, 0.2)
    few = subsampling.srs_loss(2.0, 0.05)
    e.needs(free < fixed and rare < few)

    # a mechanism that is private under replacement alone
    before = laws.poisson([1, 0, 0], [0.2] * 3)
    after = laws.poisson([2, 0, 0], [0.2] * 3)
    whole = optimiser.largest_loss(before, after, epsilon=1.0, mechanism="replacement").loss
    e.same(whole, 1.0)
    return {"free": free, "fixed": fixed, "rare": rare, "few": few, "whole": whole}


def several_releases_from_one_sample(e: Evidence) -> Numbers:
    e.proven(one_sample_or_fresh() and one_cluster_sample_or_fresh())

    tenth = partial(subsampling.srs_loss, sampling_rate=0.1)
    one = releases.releases_loss([1.0, 1.0], tenth, fresh=False)
    fresh = releases.releases_loss([1.0, 1.0], tenth, fresh=True)

    often = partial(subsampling.poisson_loss, sampling_rate=0.8)
    kept = releases.releases_loss([1.0, 1.0], often, fresh=False)
    anew = releases.releases_loss([1.0, 1.0], often, fresh=True)
    e.needs(one > fresh and kept < anew)

    # the optimiser finds the same losses, and the design of clusters its own bound
    drawn = partial(optimum, partial(laws.subsets, size=1), 10, mechanism="replacement")
    e.same([one, fresh], [drawn(2.0), 2 * drawn(1.0)])
    design = clusters.ClusterSample([5] * 10, 1)
    e.same(releases.releases_loss([1.0, 1.0], design.loss), design.upper_bound(2.0))
    return {"one": one, "fresh": fresh, "kept": kept, "anew": anew}
