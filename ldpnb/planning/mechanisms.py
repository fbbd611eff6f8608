"""The mechanisms for shares and means, with the law of the estimate from their reports; `gaps` has those for gaps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.planning.laws import Linear
from ldpnb.planning.reports import Reports

CURATOR = "central Laplace"
ROUNDED = "a value between the ends of its range is rounded to one of them"
_MOST_EDGES = 4096


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism for a question.

    - `name`, str
    - `law`, callable: from the question, with its budget, to the law of the estimate, `Linear` or a gap's `Sums`.
    - `remark`, str: what else a reader should know.
    - `floor`, str: why an error remains at any budget even when everybody reports.
    - `edges`, callable, optional: from the number of values and a budget to the smaller budgets, falling, at which a
      whole number of the mechanism steps: between them the chance of an error falls as the budget grows, at them it
      may rise.
    """

    name: str
    law: Callable[[Any], Any]
    remark: str = ""
    floor: str = ""
    edges: Callable[[int, float], list[float]] | None = None

    @property
    def central(self) -> bool:
        """Whether a curator needs the true values."""
        return self.name == CURATOR


def _share(name: str, remark: str = "", floor: str = "", edges: Any = None) -> Candidate:
    """Return a mechanism for shares: a report supports the value or does not."""

    def law(question: Any) -> Linear:
        reports = Reports.of(FREQUENCY[name](question.epsilon, question.values), ends=True)
        alike = name == "k-RR" and question.values == 2  # both shares are off together
        return Linear(reports, events=1 if alike else question.events)

    return Candidate(name, law, remark, floor, edges)


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


def _bit(question: Any) -> Linear:
    return Linear(Reports.of(KaryRandomisedResponse(question.epsilon, 2), ends=question.binary))


def _noisy(question: Any) -> Linear:
    return Linear(Reports(scale=1 / question.epsilon, ends=question.binary))


def _curated(question: Any) -> Linear:
    """Return the law of a curator's release, one of several from the same sample whose budgets add up."""
    reports = Reports(ends=question.binary)
    scale = question.drawn(reports).scale(question.epsilon)
    return Linear(reports, question.sensitivity * question.releases * scale, question.events)


_LAPLACE = Candidate("local Laplace", _noisy)
_CENTRAL = Candidate(CURATOR, _curated, "a trusted curator, who adds noise to the estimate from true values")

FREQUENCIES = (
    _share("k-RR"),
    _share("SUE"),
    _share("OUE", floor="the bit of the person's value stays a fair coin"),
    _share("subset selection", edges=_subset_edges),
    _share("OLH", "with a public hash function per person", edges=_hashing_edges),
    _share("signs", "with public random signs, one per value and person", "the signs of other values stay fair coins"),
    _CENTRAL,
)
MEANS = (Candidate("1-bit", _bit, floor=ROUNDED), _LAPLACE, _CENTRAL)
BINARY_MEANS = (Candidate("Warner", _bit), _LAPLACE, _CENTRAL)
