"""Sampling designs of small populations, written out: every sample with its probability.

A design is a dictionary from a sample, a sorted tuple of records, to its probability. Samples are
multisets: equal records are interchangeable, and samples of the same records count as one. Use this
module to enumerate a design completely. To draw from a design of any size use
`ldpnb.papers.bun2022.formulas.samples` and `ldpnb.designs.strata`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, product
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks

Sample = tuple[Any, ...]
"""A multiset of records, as a sorted tuple."""

Law = dict[Sample, float]
"""The probability of every sample; `ldpnb.privacy.optimiser` compares two of them."""


def mixture(parts: Iterable[tuple[float, Mapping[Sample, float]]]) -> Law:
    """Return the law of a sample from a design that is itself drawn at random.

    Each part is the probability of a design, and its law.

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
    parts = []
    for choice in product(*(law.items() for law in laws)):
        union = _union(sample for sample, _ in choice)
        probability = prod(chance for _, chance in choice)
        parts.append((probability, {union: 1.0}))
    return mixture(parts)


def subsets(records: Sequence[Any], size: int) -> Law:
    """Return the law of a simple random sample of `size` records, without replacement.

    >>> subsets([0, 1, 1], 2) == {(0, 1): 2 / 3, (1, 1): 1 / 3}
    True
    """
    size = checks.whole(size, "size", at_most=len(records))
    share = 1 / comb(len(records), size)
    return mixture((share, {sample: 1.0}) for sample in combinations(records, size))


def subsets_of_random_size(records: Sequence[Any], size_law: ArrayLike) -> Law:
    """Return the law of a simple random sample of random size.

    ``size_law[m]`` is the probability of the size ``m``.
    """
    sizes = checks.distribution(size_law, "size_law")
    return mixture((float(p), subsets(records, m)) for m, p in enumerate(sizes) if p > 0)


def whole_clusters(clusters: Sequence[Sequence[Any]], chosen: int) -> Law:
    """Return the law of the union of `chosen` clusters, drawn without replacement.

    >>> whole_clusters([[1, 2], [3]], 1)
    {(1, 2): 0.5, (3,): 0.5}
    """
    chosen = checks.whole(chosen, "chosen", at_most=len(clusters))
    share = 1 / comb(len(clusters), chosen)
    return mixture((share, {_union(drawn): 1.0}) for drawn in combinations(clusters, chosen))


def poisson(records: Sequence[Any], rates: ArrayLike) -> Law:
    """Return the law of a sample that includes each record independently, with its own rate.

    >>> poisson([7], [0.25])
    {(7,): 0.25, (): 0.75}
    """
    probabilities = checks.numbers(rates, "rates", low=0, high=1)
    if probabilities.ndim:
        checks.entries(probabilities, "rates", len(records))
    one_each = np.broadcast_to(probabilities, (len(records),))
    single = [
        {(record,): float(p), (): float(1 - p)} for record, p in zip(records, one_each, strict=True)
    ]
    return independent(*single)


def one_draw(units: Sequence[Sequence[Any]], weights: ArrayLike) -> Law:
    """Return the law of one unit, drawn with a probability proportional to its weight.

    A unit is a record or a whole cluster, given as the sequence of its records.

    >>> one_draw([[1], [2, 2]], [1, 3])
    {(1,): 0.25, (2, 2): 0.75}
    """
    sizes = checks.numbers(weights, "weights", low=0)
    checks.entries(sizes, "weights", len(units))
    if not sizes.any():
        raise ValueError("weights must have a positive entry, got all zeros")
    shares = sizes / sizes.sum()
    return mixture((float(p), {tuple(unit): 1.0}) for p, unit in zip(shares, units, strict=True))


def every_kth(records: Sequence[Any], step: int) -> Law:
    """Return the law of a systematic sample: a uniform start, then every `step`-th record.

    >>> every_kth([1, 2, 3, 4], 2)
    {(1, 3): 0.5, (2, 4): 0.5}
    """
    step = checks.whole(step, "step", at_least=1)
    if len(records) % step:
        got = f"step={step} and {len(records)} records"
        raise ValueError(f"step must divide the number of records, got {got}")
    return mixture((1 / step, {tuple(records[start::step]): 1.0}) for start in range(step))


def _union(samples: Iterable[Sequence[Any]]) -> Sample:
    return tuple(chain.from_iterable(samples))
