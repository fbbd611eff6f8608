"""The mechanisms that can answer a question: the law of the estimate, the bits that a person sends, and remarks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb, lgamma
from typing import Any

import numpy as np

from ldpnb.accuracy import budgets
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.mechanisms.registry import FREQUENCY, GAP
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.planning import gaps
from ldpnb.planning.laws import Linear
from ldpnb.planning.reports import Reports

CURATOR = "central Laplace"
REAL = 64
"""Bits of a real number as computers hold it."""

_BEST_UP_TO = 30.0
"""Largest budget for which the best channel is computed; what exceeds it is not spent."""
_MOST_EDGES = 4096
_MANY = 10**9
_ROUNDED = "a value between the ends of its range is rounded to one of them"
_REAL = f"a real number counts {REAL} bits"


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One mechanism for a question.

    Parameters
    ----------
    name : str
    make : callable
        From the loss of a report and the question, which is complete, to the mechanism; none of a curator.
    law : callable
        From a mechanism and the question to the law of its estimate.
    bits : callable
        From a mechanism to the bits that a person sends.
    remark : str
        What else a reader should know.
    floor : str
        Why an error remains at any budget even when everybody reports.
    edges : callable, optional
        From the question and a budget to the smaller budgets, falling, at which a whole number of the mechanism steps:
        between them the chance of an error falls as the budget grows, at them it may rise.
    """

    name: str
    make: Callable[[float, Any], Any]
    law: Callable[[Any, Any], Linear | gaps.Gap]
    bits: Callable[[Any], int]
    remark: str = ""
    floor: str = ""
    edges: Callable[[Any, float], list[float]] = lambda question, epsilon: []

    @property
    def central(self) -> bool:
        """Whether a curator needs the true values."""
        return self.name == CURATOR


def shares(name: str, bits: Callable[[Any], int], **more: Any) -> Mechanism:
    """Return a mechanism for shares: a report supports the value or does not."""

    def law(mechanism: Any, question: Any) -> Linear:
        one = name == "k-RR" and question.values == 2
        return Linear(Reports.of(mechanism, ends=True), events=1 if one else question.events)

    return Mechanism(name, lambda epsilon, question: FREQUENCY[name](epsilon, question.values), law, bits, **more)


def _subset_bits(mechanism: SubsetSelection) -> int:
    """Return the bits that number all subsets; beyond some thousand values from Stirling's series, rounded up."""
    values, size = mechanism.domain_size, mechanism.subset_size
    if values <= 2000:
        return (comb(values, size) - 1).bit_length()
    return int(np.ceil((lgamma(values + 1) - lgamma(size + 1) - lgamma(values - size + 1)) / np.log(2)))


def _subset_edges(question: Any, epsilon: float) -> list[float]:
    """Return the budgets at which sizes ``k`` and ``k + 1`` are alike, ``e^(2 eps) = (a-k)(a-k-1) / (k (k+1))``."""
    values = question.values
    first = max(1, int(values / (np.exp(epsilon) + 1)) - 1)
    k = np.arange(first, min(first + _MOST_EDGES, (values - 1) // 2 + 1), dtype=float)
    edges = np.log((values - k) * (values - k - 1) / (k * (k + 1))) / 2
    return [float(edge) for edge in edges if 0 < edge < epsilon]


def _hashing_edges(question: Any, epsilon: float) -> list[float]:
    """Return the budgets at which ``g`` and ``g + 1`` cells are alike, ``e^(2 eps) = g (g - 1)``."""
    last = int(min(np.exp(min(epsilon, 40.0)) + 2, 1e15))
    g = np.arange(last, max(last - _MOST_EDGES, 1), -1, dtype=float)
    return [float(edge) for edge in np.log(g * (g - 1)) / 2 if edge < epsilon]


_FREQUENCY = (
    shares("k-RR", lambda m: int(m.domain_size - 1).bit_length()),
    shares("SUE", lambda m: int(m.domain_size)),
    shares("OUE", lambda m: int(m.domain_size), floor="the bit of the person's value stays a fair coin"),
    shares("subset selection", _subset_bits, edges=_subset_edges),
    shares(
        "OLH",
        lambda m: int(m.cells - 1).bit_length(),
        edges=_hashing_edges,
        remark="with a public hash function per person; its values in a cell are the bits of a unary encoding",
    ),
    shares(
        "signs",
        lambda m: 1,
        remark="1 bit with public random signs, one per value and person; k bits without, as where nobody may know "
        "whose report it is",
        floor="the signs of other values stay fair coins",
    ),
)


def _bit(epsilon: float, question: Any) -> KaryRandomisedResponse:
    return KaryRandomisedResponse(epsilon, 2)


def _bit_law(mechanism: KaryRandomisedResponse, question: Any) -> Linear:
    return Linear(Reports.of(mechanism, ends=question.binary))


def _curated(epsilon: float, question: Any) -> Linear:
    """Return the law of a curator's release: budgets of several from one sample add up before it hides anybody."""
    reports = Reports(ends=question.ends)
    one = question.sample(reports).scale(epsilon, secret=question.secret and question.response == 1)
    return Linear(reports, question.sensitivity * question.releases * one, question.events)


_CENTRAL = Mechanism(
    CURATOR,
    lambda epsilon, question: epsilon,
    _curated,
    lambda epsilon: 0,
    "a trusted curator, who adds noise to the estimate from true values",
)
_WARNER = Mechanism("Warner", _bit, _bit_law, lambda m: 1)
_ONE_BIT = Mechanism("1-bit", _bit, _bit_law, lambda m: 1, floor=_ROUNDED)
_LAPLACE = Mechanism(
    "local Laplace",
    lambda epsilon, question: epsilon,
    lambda epsilon, question: Linear(Reports(scale=1 / epsilon, ends=question.binary)),
    lambda epsilon: REAL,
    _REAL,
)


def _gap(name: str, law: Callable[[Any, Any], Linear | gaps.Gap], bits: Callable[[Any], int], **more: Any) -> Mechanism:
    make = more.pop("make", lambda epsilon, question: GAP[name](epsilon, question.groups))
    return Mechanism(name, make, lambda mechanism, question: law(mechanism, question.groups), bits, **more)


def _best_laplace(epsilon: float, question: Any) -> LaplaceMeans:
    shares = question.shares if question.sizes is None else tuple(size / sum(question.sizes) for size in question.sizes)
    if len(shares) == 2 and shares[0] != shares[1]:
        return _best_for_shares(epsilon, shares[0])
    return LaplaceMeans.calibrated(epsilon, len(shares))


@lru_cache(maxsize=64)
def _best_for_shares(epsilon: float, share: float) -> LaplaceMeans:
    """Return the best allocation for two groups, which depends on their proportion alone."""
    first = max(1, round(share * _MANY))
    return budgets.best_laplace(epsilon, (first, _MANY - first))


def _best_channel(epsilon: float, question: Any) -> BestGapChannel:
    sizes = question.groups
    return _best_for_share(min(epsilon, _BEST_UP_TO), sizes[0] / sum(sizes))


@lru_cache(maxsize=256)
def _best_for_share(epsilon: float, share: float) -> BestGapChannel:
    return BestGapChannel(epsilon, share)


_GAP = (
    _gap("M_R", gaps.discretised, lambda m: (2 * m.groups - 1).bit_length(), floor=_ROUNDED),
    _gap(
        "M_L, k = 2",
        gaps.laplace_means,
        lambda m: REAL + (m.groups - 1).bit_length(),
        make=_best_laplace,
        remark=_REAL,
    ),
    _gap("signed bit", gaps.signed_bit, lambda m: 1, floor=_ROUNDED),
    _gap("signed Laplace", gaps.signed_laplace, lambda m: REAL, remark=_REAL),
)
_BEST = _gap(
    "best channel",
    gaps.best_channel,
    lambda m: int(np.count_nonzero(m.weights > 0) - 1).bit_length(),
    make=_best_channel,
    remark="least variance of all private channels for values at the ends; of two groups of different sizes",
    floor=_ROUNDED,
)


FREQUENCIES = (*_FREQUENCY, _CENTRAL)
MEANS, BINARY_MEANS = (_ONE_BIT, _LAPLACE, _CENTRAL), (_WARNER, _LAPLACE, _CENTRAL)
GAPS, UNEVEN_GAPS = _GAP, (*_GAP, _BEST)
