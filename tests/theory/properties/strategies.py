"""What the properties are checked on: parameters at and between the ends of their ranges, and
mechanisms made of them.

``LDPNB_THOROUGH=1`` tries fifty times as many examples, other ones in every run.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection

THOROUGH = os.environ.get("LDPNB_THOROUGH") == "1"

FALSE_ALARM = 2e-8
"""Of one chi-square or Kolmogorov-Smirnov test; there are fewer than fifty, so 1e-6 in all."""

DRAWS = 2000
"""Repetitions of a test of a law."""


def examples(number: int) -> settings:
    """Settings for a property, the same examples in every run unless a thorough one is asked
    for.
    """
    return settings(
        max_examples=number * (50 if THOROUGH else 1),
        derandomize=not THOROUGH,
        deadline=None,
        database=None,
    )


def logarithmic(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers from `low` to `high`, all orders of magnitude alike, and the two ends."""
    between = st.floats(np.log(low), np.log(high)).map(
        lambda x: min(max(float(np.exp(x)), low), high)
    )
    return st.sampled_from([low, high]) | between


epsilons = logarithmic(1e-8, 60.0)
moderate = logarithmic(0.01, 10.0)
rates = st.sampled_from([1e-9, 0.5, 1 - 1e-9, 1.0]) | st.floats(1e-9, 1.0)
inner_rates = st.sampled_from([1e-9, 0.5, 1 - 1e-9]) | st.floats(1e-9, 1 - 1e-9)
users = st.sampled_from([1, 2, 10**12]) | logarithmic(1, 1e12).map(int)


@st.composite
def small_mechanisms(draw: st.DrawFn) -> Any:
    """Any mechanism for categorical answers whose outputs can be listed."""
    size, epsilon = draw(st.integers(2, 6)), draw(epsilons)
    kind = draw(st.sampled_from(["krr", "symmetric", "optimised", "unary", "subset", "signs"]))
    if kind == "unary":
        q = draw(st.floats(0.01, 0.9))
        return UnaryEncoding(q + draw(st.floats(0.01, 0.99)) * (0.99 - q), q, size)
    if kind == "subset":
        return SubsetSelection(epsilon, size, draw(st.integers(1, size - 1)))
    return {
        "krr": KaryRandomisedResponse,
        "symmetric": UnaryEncoding.symmetric,
        "optimised": UnaryEncoding.optimised,
        "signs": SignRandomiser,
    }[kind](epsilon, size)


def supports(mechanism: Any) -> np.ndarray:
    """Which values each output supports, ``(outputs, k)``."""
    if isinstance(mechanism, KaryRandomisedResponse):
        return np.eye(mechanism.domain_size, dtype=int)
    return (mechanism.outputs() > 0).astype(int)


def distributions(size: int, least: float = 0.0) -> st.SearchStrategy[np.ndarray]:
    """Probability vectors of a given size."""
    parts = st.lists(st.integers(1 if least else 0, 100), min_size=size, max_size=size).filter(any)
    return parts.map(lambda x: np.array(x) / sum(x))


def law_of(rows: np.ndarray, chances: np.ndarray) -> dict[tuple[float, ...], float]:
    """The law of a vector that is each row with its chance."""
    return {tuple(row): float(p) for row, p in zip(rows.tolist(), chances, strict=True)}


def sum_law(*laws: Mapping[tuple[float, ...], float]) -> dict[tuple[float, ...], float]:
    """The law of the sum of independent vectors."""
    total: Mapping[tuple[float, ...], float] = {(): 1.0}
    for law in laws:
        grown: defaultdict[tuple[float, ...], float] = defaultdict(float)
        for have, p in total.items():
            for more, q in law.items():
                grown[tuple(np.add(have, more).tolist()) if have else more] += p * q
        total = grown
    return dict(total)


def law_of_reports(
    rows: np.ndarray, channel: np.ndarray, counts: Any
) -> dict[tuple[float, ...], float]:
    """The law of the sum of the rows that users report, so many of each column of a channel."""
    return sum_law(
        *(law_of(rows, channel[:, x]) for x in np.repeat(range(channel.shape[1]), np.ravel(counts)))
    )


def fits(draws: Iterable[Any], law: Mapping[Any, float]) -> bool:
    """Whether draws pass the chi-square test of an exact law; cells expected less than ten times
    are one.
    """
    seen = Counter(draws)
    number = seen.total()
    if set(seen) - set(law):
        return False
    common = [cell for cell, p in law.items() if number * p >= 10]
    observed, expected = [seen[cell] for cell in common], [number * law[cell] for cell in common]
    observed.append(number - sum(observed))
    expected.append(max(number - sum(expected), 0.0))
    if expected[-1] < 10:
        rare, rare_expected = observed.pop(), expected.pop()
        if stats.poisson.sf(rare - 1, max(rare_expected, 1e-9)) < FALSE_ALARM:
            return False
        expected = [e * sum(observed) / sum(expected) for e in expected]
    return bool(len(observed) < 2 or stats.chisquare(observed, expected).pvalue > FALSE_ALARM)
