"""The mechanisms that can answer a question: the law of the estimate from its reports, and remarks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import LaplaceMeans
from ldpnb.mechanisms.registry import FREQUENCY, GAP
from ldpnb.planning import gaps
from ldpnb.planning.laws import Linear
from ldpnb.planning.reports import Reports

CURATOR = "central Laplace"
Law = Linear | gaps.Gap

_MOST_EDGES = 4096
_ROUNDED = "a value between the ends of its range is rounded to one of them"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism for a question.

    Parameters
    ----------
    name : str
    law : callable
        From the loss of a report, or of a curator's releases, and the question to the law of the estimate.
    remark : str
        What else a reader should know.
    floor : str
        Why an error remains at any budget even when everybody reports.
    edges : callable, optional
        From the number of values and a budget to the smaller budgets, falling, at which a whole number of the mechanism
        steps: between them the chance of an error falls as the budget grows, at them it may rise.
    """

    name: str
    law: Callable[[float, Any], Law]
    remark: str = ""
    floor: str = ""
    edges: Callable[[int, float], list[float]] | None = None

    @property
    def central(self) -> bool:
        """Whether a curator needs the true values."""
        return self.name == CURATOR


def _share(name: str, **more: Any) -> Candidate:
    """Return a mechanism for shares: a report supports the value or does not."""

    def law(epsilon: float, question: Any) -> Linear:
        one = name == "k-RR" and question.values == 2
        reports = Reports.of(FREQUENCY[name](epsilon, question.values), ends=True)
        return Linear(reports, events=1 if one else question.events)

    return Candidate(name, law, **more)


def _subset_edges(values: int, epsilon: float) -> list[float]:
    """Return the budgets at which sizes ``k`` and ``k + 1`` are alike, ``e^(2 eps) = (a-k)(a-k-1) / (k (k+1))``."""
    first = max(1, int(values / (np.exp(epsilon) + 1)) - 1)
    k = np.arange(first, min(first + _MOST_EDGES, (values - 1) // 2 + 1), dtype=float)
    edges = np.log((values - k) * (values - k - 1) / (k * (k + 1))) / 2
    return [float(edge) for edge in edges if 0 < edge < epsilon]


def _hashing_edges(values: int, epsilon: float) -> list[float]:
    """Return the budgets at which ``g`` and ``g + 1`` cells are alike, ``e^(2 eps) = g (g - 1)``."""
    last = int(min(np.exp(min(epsilon, 40.0)) + 2, 1e15))
    g = np.arange(last, max(last - _MOST_EDGES, 1), -1, dtype=float)
    return [float(edge) for edge in np.log(g * (g - 1)) / 2 if edge < epsilon]


def _bit(epsilon: float, question: Any) -> Linear:
    return Linear(Reports.of(KaryRandomisedResponse(epsilon, 2), ends=question.binary))


def _noisy(epsilon: float, question: Any) -> Linear:
    return Linear(Reports(scale=1 / epsilon, ends=question.binary))


def _curated(epsilon: float, question: Any) -> Linear:
    """Return the law of a curator's release, one of several from the same sample whose budgets add up."""
    law = Linear(Reports(ends=question.ends))
    noise = question.sensitivity * question.releases * question.drawn(law).scale(epsilon)
    return Linear(law.reports, noise, question.events)


def _gap(name: str, law: Callable[[Any, tuple[int, ...]], gaps.Gap], floor: str = "") -> Candidate:
    """Return a mechanism for a gap by the law for the sizes of the groups."""

    def of_question(epsilon: float, question: Any) -> gaps.Gap:
        return law(GAP[name](epsilon, question.groups), question.groups)

    return Candidate(name, of_question, floor=floor)


@lru_cache(maxsize=64)
def _best_laplace(epsilon: float, shares: tuple[float, ...]) -> LaplaceMeans:
    """Return the best allocation, which depends on the proportion of the groups alone."""
    from ldpnb.accuracy import budgets

    if len(shares) != 2 or shares[0] == shares[1]:
        return LaplaceMeans.calibrated(epsilon, len(shares))
    first = max(1, round(shares[0] * 10**9))
    return budgets.best_laplace(epsilon, (first, 10**9 - first))


@lru_cache(maxsize=256)
def _best_channel(epsilon: float, groups: tuple[int, ...]) -> Any:
    """Return the best channel for at most 30 nats: what exceeds them is not spent."""
    from ldpnb.mechanisms.best_gap import BestGapChannel

    return BestGapChannel(min(epsilon, 30.0), groups[0] / sum(groups))


_CENTRAL = Candidate(CURATOR, _curated, "a trusted curator, who adds noise to the estimate from true values")
_LAPLACE = Candidate("local Laplace", _noisy)

FREQUENCIES = (
    _share("k-RR"),
    _share("SUE"),
    _share("OUE", floor="the bit of the person's value stays a fair coin"),
    _share("subset selection", edges=_subset_edges),
    _share("OLH", edges=_hashing_edges, remark="with a public hash function per person"),
    _share(
        "signs",
        remark="with public random signs, one per value and person",
        floor="the signs of other values stay fair coins",
    ),
    _CENTRAL,
)
MEANS = (Candidate("1-bit", _bit, floor=_ROUNDED), _LAPLACE, _CENTRAL)
BINARY_MEANS = (Candidate("Warner", _bit), _LAPLACE, _CENTRAL)
GAPS = (
    _gap("M_R", gaps.discretised, _ROUNDED),
    Candidate("M_L, k = 2", lambda epsilon, q: gaps.laplace_means(_best_laplace(epsilon, q.shares), q.groups)),
    _gap("signed bit", gaps.signed_bit, _ROUNDED),
    _gap("signed Laplace", gaps.signed_laplace),
)
UNEVEN_GAPS = (
    *GAPS,
    Candidate(
        "best channel",
        lambda epsilon, q: gaps.best_channel(_best_channel(epsilon, q.groups), q.groups),
        remark="least variance of all private channels for values at the ends; of two groups of different sizes",
        floor=_ROUNDED,
    ),
)
