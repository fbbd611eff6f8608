"""Explicit sample laws of small populations: every sample with its probability.

A law is a dictionary from a sample, a sorted tuple of records, to its probability. Samples are multisets: equal records
are interchangeable, and samples of the same records count as one. Use these laws to enumerate a design completely, and
`ldpnb.papers.bun2022.formulas.samples` and `ldpnb.designs.strata` to draw from one of any size.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks

Sample = tuple[Any, ...]
"""A multiset of records, as a sorted tuple."""

Law = dict[Sample, float]
"""A sample law: what `ldpnb.privacy.optimiser` compares."""


def mixture(parts: Iterable[tuple[float, Mapping[Sample, float]]]) -> Law:
    """Return the law that draws from the i-th given law with the i-th given probability.

    >>> mixture([(0.5, {(1,): 1.0}), (0.5, {(1,): 0.5, (2,): 0.5})])
    {(1,): 0.75, (2,): 0.25}
    """
    total: defaultdict[Sample, float] = defaultdict(float)
    for weight, law in parts:
        for sample, probability in law.items():
            if weight * probability > 0:
                total[tuple(sorted(sample))] += weight * probability
    return dict(total)


def independent(*laws: Mapping[Sample, float]) -> Law:
    """Return the law of the union of independent samples, as of a stratified design.

    >>> independent({("a",): 1.0}, {("b",): 0.5, (): 0.5})
    {('a', 'b'): 0.5, ('a',): 0.5}
    """
    parts = product(*(law.items() for law in laws))
    return mixture(
        (prod(p for _, p in part), {sum((s for s, _ in part), ()): 1.0}) for part in parts
    )


def subsets(records: Sequence[Any], size: int) -> Law:
    """Return the law of a simple random sample of `size` records without replacement.

    >>> subsets([0, 1, 1], 2) == {(0, 1): 2 / 3, (1, 1): 1 / 3}
    True
    """
    size = checks.whole(size, "size", at_most=len(records))
    share = 1 / comb(len(records), size)
    return mixture((share, {sample: 1.0}) for sample in combinations(records, size))


def subsets_of_random_size(records: Sequence[Any], size_law: ArrayLike) -> Law:
    """Return the law of a simple random sample whose size has the law `size_law` on ``0, 1, ...``."""
    sizes = checks.distribution(size_law, "size_law")
    return mixture((float(p), subsets(records, m)) for m, p in enumerate(sizes) if p > 0)


def whole_clusters(clusters: Sequence[Sequence[Any]], chosen: int) -> Law:
    """Return the law of the union of `chosen` clusters drawn without replacement.

    >>> whole_clusters([[1, 2], [3]], 1)
    {(1, 2): 0.5, (3,): 0.5}
    """
    chosen = checks.whole(chosen, "chosen", at_most=len(clusters))
    share = 1 / comb(len(clusters), chosen)
    return mixture(
        (share, {sum(map(tuple, drawn), ()): 1.0}) for drawn in combinations(clusters, chosen)
    )


def poisson(records: Sequence[Any], rates: ArrayLike) -> Law:
    """Return the law of a sample that includes each record independently with its own rate.

    >>> poisson([7], [0.25])
    {(7,): 0.25, (): 0.75}
    """
    include = np.broadcast_to(checks.numbers(rates, "rates", low=0, high=1), (len(records),))
    return independent(
        *({(r,): float(p), (): float(1 - p)} for r, p in zip(records, include, strict=True))
    )


def one_draw(units: Sequence[Sequence[Any]], weights: ArrayLike) -> Law:
    """Return the law of one unit (a record or a whole cluster) drawn with probability proportional to its weight.

    >>> one_draw([[1], [2, 2]], [1, 3])
    {(1,): 0.25, (2, 2): 0.75}
    """
    shares = np.asarray(weights, dtype=float)
    shares = checks.distribution(shares / shares.sum(), "weights")
    return mixture((float(p), {tuple(unit): 1.0}) for p, unit in zip(shares, units, strict=True))


def every_kth(records: Sequence[Any], step: int) -> Law:
    """Return the law of a systematic sample in the given order: a uniform start, then every `step`-th record.

    >>> every_kth([1, 2, 3, 4], 2)
    {(1, 3): 0.5, (2, 4): 0.5}
    """
    step = checks.whole(step, "step", at_least=1)
    if len(records) % step:
        raise ValueError(
            f"step must divide the number of records, got step={step} and {len(records)} records"
        )
    return mixture((1 / step, {tuple(records[start::step]): 1.0}) for start in range(step))
