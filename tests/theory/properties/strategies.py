"""What the properties are checked on, and how draws are compared with an exact law.

Parameters lie at the ends of their ranges and between them. ``LDPNB_THOROUGH=1`` tries fifty times
as many examples, other ones in every run.
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

Vector = tuple[float, ...]
Law = Mapping[Vector, float]


def examples(number: int) -> settings:
    """Settings for a property: the same examples in every run that is not thorough."""
    return settings(
        max_examples=number * (50 if THOROUGH else 1),
        derandomize=not THOROUGH,
        deadline=None,
        database=None,
    )


def logarithmic(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers from `low` to `high`, all orders of magnitude alike, and the two ends."""

    def exponential(logarithm: float) -> float:
        return min(max(float(np.exp(logarithm)), low), high)

    between = st.floats(np.log(low), np.log(high)).map(exponential)
    return st.sampled_from([low, high]) | between


epsilons = logarithmic(1e-8, 60.0)
moderate = logarithmic(0.01, 10.0)
rates = st.sampled_from([1e-9, 0.5, 1 - 1e-9, 1.0]) | st.floats(1e-9, 1.0)
inner_rates = st.sampled_from([1e-9, 0.5, 1 - 1e-9]) | st.floats(1e-9, 1 - 1e-9)
users = st.sampled_from([1, 2, 10**12]) | logarithmic(1, 1e12).map(int)


@st.composite
def small_mechanisms(draw: st.DrawFn) -> Any:
    """Any mechanism for categorical answers whose outputs can be listed."""
    size = draw(st.integers(2, 6))
    epsilon = draw(epsilons)
    kind = draw(st.sampled_from(["krr", "symmetric", "optimised", "unary", "subset", "signs"]))
    if kind == "unary":
        q = draw(st.floats(0.01, 0.9))
        p = q + draw(st.floats(0.01, 0.99)) * (0.99 - q)
        return UnaryEncoding(p, q, size)
    if kind == "subset":
        return SubsetSelection(epsilon, size, draw(st.integers(1, size - 1)))

    makers = {
        "krr": KaryRandomisedResponse,
        "symmetric": UnaryEncoding.symmetric,
        "optimised": UnaryEncoding.optimised,
        "signs": SignRandomiser,
    }
    return makers[kind](epsilon, size)


def supports(mechanism: Any) -> np.ndarray:
    """Which values each output supports, ``(outputs, k)``."""
    if isinstance(mechanism, KaryRandomisedResponse):
        return np.eye(mechanism.domain_size, dtype=int)
    return (mechanism.outputs() > 0).astype(int)


def distributions(size: int, least: float = 0.0) -> st.SearchStrategy[np.ndarray]:
    """Probability vectors of a given size."""
    smallest = 1 if least else 0
    parts = st.lists(st.integers(smallest, 100), min_size=size, max_size=size).filter(any)
    return parts.map(lambda x: np.array(x) / sum(x))


def law_of(rows: np.ndarray, chances: np.ndarray) -> dict[Vector, float]:
    """The law of a vector that is each row with its chance."""
    return {tuple(row): float(chance) for row, chance in zip(rows.tolist(), chances, strict=True)}


def law_of_sum(laws: Iterable[Law]) -> dict[Vector, float]:
    """The law of the sum of independent vectors."""
    first, *others = laws
    total = dict(first)
    for law in others:
        grown: defaultdict[Vector, float] = defaultdict(float)
        for before, chance_before in total.items():
            for added, chance in law.items():
                vector = tuple(np.add(before, added).tolist())
                grown[vector] += chance_before * chance
        total = dict(grown)
    return total


def law_of_reports(rows: np.ndarray, channel: np.ndarray, counts: Any) -> dict[Vector, float]:
    """The law of the sum of the rows that users report.

    There are `counts` users of each column of the channel, and a row of `rows` for each output.
    """
    values = np.repeat(range(channel.shape[1]), np.ravel(counts))
    return law_of_sum([law_of(rows, channel[:, value]) for value in values])


def fits(draws: Iterable[Any], law: Mapping[Any, float]) -> bool:
    """Whether draws pass the chi-square test of an exact law.

    Cells that are expected less than ten times are put together. If they are expected less than
    ten times even so, a Poisson tail decides whether there are too many of them.
    """
    seen = Counter(draws)
    number = seen.total()
    if not seen.keys() <= law.keys():
        return False

    common = [cell for cell, chance in law.items() if number * chance >= 10]
    observed = [seen[cell] for cell in common]
    expected = [number * law[cell] for cell in common]
    rare = number - sum(observed)
    rare_expected = max(number - sum(expected), 0.0)

    if rare_expected >= 10:
        observed.append(rare)
        expected.append(rare_expected)
    elif stats.poisson.sf(rare - 1, max(rare_expected, 1e-9)) < FALSE_ALARM:
        return False
    else:
        scale = sum(observed) / sum(expected)
        expected = [times * scale for times in expected]
    return bool(len(observed) < 2 or stats.chisquare(observed, expected).pvalue > FALSE_ALARM)
