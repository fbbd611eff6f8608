"""The mechanisms for shares, means and gaps, with the law of the estimate from their reports."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.registry import FREQUENCY, GAP
from ldpnb.planning import gaps
from ldpnb.planning.laws import Linear
from ldpnb.planning.reports import Reports
from ldpnb.planning.samples import Floats

CURATOR = "central Laplace"
_MOST_EDGES = 1024


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism for a question.

    - `name`, str
    - `law`, callable: from the question, with its budget, to the law of the estimate, `Linear` or a gap's `Sums`.
    - `remark`, str: what else a reader should know.
    - `edges`, callable, optional: from the number of values and a budget to budgets, falling, at which a whole number
      of the mechanism steps: between them the chance of an error falls as the budget grows, at them it may rise.
    - `central`, bool: whether a curator needs the true values.
    """

    name: str
    law: Callable[[Any], Any]
    remark: str = ""
    edges: Callable[[int, float], Floats] | None = None
    central: bool = False


def _share(name: str, *more: Any) -> Candidate:
    """Return a mechanism for shares: a report supports the value or does not."""

    def law(question: Any) -> Linear:
        reports = Reports.of(FREQUENCY[name](question.epsilon, question.values), ends=True)
        alike = name == "k-RR" and question.values == 2  # both shares are off together
        return Linear(reports, events=1 if alike else question.events)

    return Candidate(name, law, *more)


def _subset_edges(values: int, epsilon: float) -> Floats:
    """Return the budgets at which sizes ``k`` and ``k + 1`` are alike, ``e^(2 eps) = (a-k)(a-k-1) / (k (k+1))``."""
    first = max(1, int(values / (np.exp(epsilon) + 1)) - 1)
    k = np.arange(first, min(first + _MOST_EDGES, (values - 1) // 2 + 1), dtype=float)
    return np.asarray(np.log((values - k) * (values - k - 1) / (k * (k + 1))) / 2)


def _hashing_edges(values: int, epsilon: float) -> Floats:
    """Return the budgets at which ``g`` and ``g + 1`` cells are alike, ``e^(2 eps) = g (g - 1)``."""
    g = np.arange(_MOST_EDGES, 1, -1, dtype=float)
    return np.asarray(np.log(g * (g - 1)) / 2)


def _bit(question: Any) -> Linear:
    return Linear(Reports.of(KaryRandomisedResponse(question.epsilon, 2), ends=question.binary))


def _curated(question: Any) -> Linear:
    """Return the law of a curator's release, one of several from the same sample whose budgets add up."""
    reports = Reports(ends=question.binary)
    scale = question.design.at(question.count, reports, question.span, question.response).scale(question.epsilon)
    return Linear(reports, question.sensitivity * question.releases * scale, question.events)


def _gap(name: str) -> Candidate:
    return Candidate(name, lambda q: gaps.law(GAP[name](q.epsilon, q.groups), q.groups))


_LAPLACE = Candidate("local Laplace", lambda q: Linear(Reports(scale=1 / q.epsilon, ends=q.binary)))
_CENTRAL = Candidate(
    CURATOR, _curated, "a trusted curator, who adds noise to the estimate from true values", central=True
)

FREQUENCIES = (
    _share("k-RR"),
    _share("SUE"),
    _share("OUE"),
    _share("subset selection", "", _subset_edges),
    _share("OLH", "with a public hash function per person", _hashing_edges),
    _share("signs", "with public random signs, one per value and person"),
    _CENTRAL,
)
MEANS = (Candidate("1-bit", _bit), _LAPLACE, _CENTRAL)
BINARY_MEANS = (Candidate("Warner", _bit), _LAPLACE, _CENTRAL)
GAPS = (_gap("M_R"), _gap("M_L, k = 2"), _gap("signed bit"), _gap("signed Laplace"))
_BEST = "least variance of all private channels for values at the ends; of two groups of different sizes"
UNEVEN_GAPS = (*GAPS, Candidate("best channel", gaps.best_channel, _BEST))
