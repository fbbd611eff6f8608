"""Simulated establishments that agree with U.S. totals of 2015, as Appendix E.1 of bun2022 simulates them.

In every class of size the sizes follow Zipf's law; the open class employs whoever is left of the total, its law bent to
that. What is drawn from this population is *simulated*, and figures must say so.
"""

from bisect import bisect

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints

EMPLOYED = 124_085_947
"""People employed in U.S. establishments in 2015 (U.S. Census Bureau, *County Business Patterns 2015*)."""
CLASSES = (
    *(
        (1, 4, 4_199_138),
        (5, 9, 1_410_000),
        (10, 19, 965_000),
        (20, 49, 679_000),
        (50, 99, 227_000),
    ),
    *(
        (100, 249, 131_500),
        (250, 499, 33_000),
        (500, 999, 12_100),
        (1000, 1499, 3050),
        (1500, 2499, 2250),
    ),
    *((2500, 4999, 1300), (5000, 50_000, 600)),
)
"""Smallest and largest size of a class, and its number of establishments.

They sum to the published 7,663,938; the classes are **approximate shares, not published figures**. The last class is
open in the source: its end is a choice.
"""


def simulate(*, top_code: int) -> pd.DataFrame:
    """Return a tally of establishments, a row per size, the same ones every time; larger sizes count as `top_code`.

    >>> tally = simulate(top_code=50_000)
    >>> int(tally["establishments"].sum()), int((tally["employees"] * tally["establishments"]).sum())
    (7663938, 124085947)
    """
    limit = checks.whole(top_code, "top_code", at_least=1)
    usual = [
        round(count * float(_law(low, high, 0.0) @ np.arange(low, high + 1)))
        for low, high, count in CLASSES
    ]
    people = [*usual[:-1], EMPLOYED - sum(usual[:-1])]
    parts = [
        sizes_within(low, high, count, some)
        for (low, high, count), some in zip(CLASSES, people, strict=True)
    ]
    sizes, counts = map(np.concatenate, zip(*parts, strict=True))
    return pd.DataFrame({"employees": np.minimum(sizes, limit), "establishments": counts})


def _law(low: int, high: int, exponent: float) -> Floats:
    """Return Zipf's law on the sizes ``low .. high``, bent: proportional to ``size^-2 e^(exponent x size)``."""
    sizes = np.arange(low, high + 1.0)
    logs = exponent * sizes - 2 * np.log(sizes)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def sizes_within(low: int, high: int, establishments: int, employees: int) -> tuple[Ints, Ints]:
    """Return sizes and how many establishments have each: Zipf's law, bent to the mean and mended to the sum.

    >>> sizes_within(1, 4, 2, 5)
    (array([1, 4]), array([1, 1]))
    """
    sizes = np.arange(low, high + 1)
    exponents = np.sinh(np.linspace(-6, 6, 121)) / (high - low)
    mean = employees / establishments
    above = bisect(
        exponents, mean, 1, 120, key=lambda exponent: float(_law(low, high, exponent) @ sizes)
    )
    near = exponents[above - 1 : above + 1]
    shape = _law(
        low,
        high,
        float(np.interp(mean, [_law(low, high, exponent) @ sizes for exponent in near], near)),
    )
    counts = np.diff(np.rint(establishments * np.minimum(np.cumsum(shape), 1.0)), prepend=0).astype(
        np.int64
    )
    counts[-1] += establishments - counts.sum()
    excess = int(sizes @ counts) - employees
    mended = _raised(counts[::-1], excess)[::-1] if excess > 0 else _raised(counts, -excess)
    return sizes[mended > 0], mended[mended > 0]


def _raised(counts: Ints, missing: int) -> Ints:
    """Move establishments towards the last size by `missing` steps in all, in proportion to their distance from it."""
    distance = np.arange(counts.size)[::-1]
    steps = distance * missing // max(int(distance @ counts), 1)
    moved = np.bincount(
        np.arange(counts.size) + steps, weights=counts, minlength=counts.size
    ).astype(np.int64)
    left = missing - int(steps @ counts)
    movable = np.where(distance > 0, moved, 0)
    edges = np.cumsum(movable) * left // max(int(movable.sum()), 1)
    further = np.diff(edges, prepend=0)
    moved -= further
    moved[1:] += further[:-1]
    return moved


def with_smallest_grown(tally: pd.DataFrame, to: int) -> pd.DataFrame:
    """Return the neighbouring population in which one of the smallest establishments grows to `to`.

    >>> with_smallest_grown(pd.DataFrame({"employees": [1, 5], "establishments": [2, 1]}), 9).values.tolist()
    [[1, 1], [5, 1], [9, 1]]
    """
    size = checks.whole(to, "to", at_least=1)
    counts = tally["establishments"].to_numpy().copy()
    counts[np.argmin(tally["employees"].to_numpy())] -= 1
    rest = tally.assign(establishments=counts)
    grown = pd.DataFrame({"employees": [size], "establishments": [1]})
    return pd.concat([rest[counts > 0], grown], ignore_index=True)
