"""The mechanisms for shares, means and gaps, with the law of the estimate from their reports."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ldpnb.arithmetic import Floats
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.registry import FREQUENCY
from ldpnb.planning import gaps
from ldpnb.planning.laws import Linear
from ldpnb.planning.reports import Reports

CURATOR = "central Laplace"
_MOST_EDGES = 1024


def _share(question: Any) -> Linear:
    """Return the law of shares: a report supports the value or does not."""
    reports = Reports.of(
        FREQUENCY[question.mechanism](question.epsilon, question.values), ends=True
    )
    alike = question.mechanism == "k-RR" and question.values == 2  # both shares are off together
    return Linear(reports, events=1 if alike else question.events)


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
    scale = question.design.at(question.count, reports, question.span, question.response).scale(
        question.epsilon
    )
    return Linear(reports, question.sensitivity * question.releases * scale, question.events)


def _laplace(question: Any) -> Linear:
    return Linear(Reports(scale=1 / question.epsilon, ends=question.binary))


Laws = Mapping[str, Callable[[Any], Any]]
"""By the name of a mechanism, from a question of it to the law of the estimate, `Linear` or a gap's `Sums`."""

_BOTH = {"local Laplace": _laplace, CURATOR: _curated}
_SHARES = ("k-RR", "SUE", "OUE", "subset selection", "OLH", "signs")
_GAPS = dict.fromkeys(("M_R", "M_L, k = 2", "signed bit", "signed Laplace"), gaps.law)
SHARES: Laws = MappingProxyType(dict.fromkeys(_SHARES, _share) | {CURATOR: _curated})
MEANS: Laws = MappingProxyType({"1-bit": _bit} | _BOTH)
BINARY_MEANS: Laws = MappingProxyType({"Warner": _bit} | _BOTH)
GAPS: Laws = MappingProxyType(_GAPS)
UNEVEN_GAPS: Laws = MappingProxyType(_GAPS | {"best channel": gaps.best_channel})

EDGES = MappingProxyType({"subset selection": _subset_edges, "OLH": _hashing_edges})
"""From the number of values and a budget to budgets, falling, at which a whole number of a mechanism steps: between
them the chance of an error falls as the budget grows, at them it may rise."""
