"""Simulated establishments that agree with U.S. totals of 2015, as in Appendix E.1.

Bun et al. (2022) simulate them in this way. In every class of size, the sizes follow Zipf's law.
The open class employs whoever is left of the total, and its distribution is tilted to that. What is
drawn from this population is *simulated*, and figures must say so.
"""

from bisect import bisect

import numpy as np
import pandas as pd

from ldpnb import checks
from ldpnb.arithmetic import Floats, Ints

EMPLOYED = 124_085_947
"""People employed in U.S. establishments in 2015.

The source is the U.S. Census Bureau, *County Business Patterns 2015*.
"""

CLASSES = (
    (1, 4, 4_199_138),
    (5, 9, 1_410_000),
    (10, 19, 965_000),
    (20, 49, 679_000),
    (50, 99, 227_000),
    (100, 249, 131_500),
    (250, 499, 33_000),
    (500, 999, 12_100),
    (1000, 1499, 3050),
    (1500, 2499, 2250),
    (2500, 4999, 1300),
    (5000, 50_000, 600),
)
"""Smallest and largest size of a class, and its number of establishments.

They sum to the published 7,663,938. The classes are **approximate shares, not published figures**.
The last class is open in the source: its end is a choice.
"""


def simulate(*, top_code: int) -> pd.DataFrame:
    """Return a tally of establishments, with a row for each size. It is the same one every time.

    Sizes above `top_code` count as `top_code`.

    >>> tally = simulate(top_code=50_000)
    >>> int(tally["establishments"].sum())
    7663938
    >>> int((tally["employees"] * tally["establishments"]).sum())
    124085947
    """
    limit = checks.whole(top_code, "top_code", at_least=1)

    employed = []
    for low, high, count in CLASSES[:-1]:
        mean = float(_zipf(low, high, 0.0) @ np.arange(low, high + 1))
        employed.append(round(count * mean))
    employed.append(EMPLOYED - sum(employed))

    sizes = []
    counts = []
    for (low, high, count), people in zip(CLASSES, employed, strict=True):
        of_class, held = sizes_within(low, high, count, people)
        sizes.append(of_class)
        counts.append(held)

    return pd.DataFrame(
        {
            "employees": np.minimum(np.concatenate(sizes), limit),
            "establishments": np.concatenate(counts),
        }
    )


def _zipf(low: int, high: int, tilt: float) -> Floats:
    """Return Zipf's law on the sizes from `low` to `high`, tilted.

    The probabilities are proportional to ``size^-2 e^(tilt * size)``.
    """
    sizes = np.arange(low, high + 1.0)
    logs = tilt * sizes - 2 * np.log(sizes)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def sizes_within(low: int, high: int, establishments: int, employees: int) -> tuple[Ints, Ints]:
    """Return sizes, and how many establishments have each.

    They follow Zipf's law, tilted so that the mean is right, and corrected so that the sum is.

    >>> sizes_within(1, 4, 2, 5)
    (array([1, 4]), array([1, 1]))
    """
    sizes = np.arange(low, high + 1)
    mean = employees / establishments

    def mean_size(tilt: float) -> float:
        return float(_zipf(low, high, tilt) @ sizes)

    tilts = np.sinh(np.linspace(-6, 6, 121)) / (high - low)
    above = bisect(tilts, mean, 1, 120, key=mean_size)
    near = tilts[above - 1 : above + 1]
    tilt = float(np.interp(mean, [mean_size(one) for one in near], near))

    ends = np.minimum(np.cumsum(_zipf(low, high, tilt)), 1.0)
    counts = np.diff(np.rint(establishments * ends), prepend=0).astype(np.int64)
    counts[-1] += establishments - counts.sum()

    surplus = int(sizes @ counts) - employees
    corrected = _raised(counts[::-1], surplus)[::-1] if surplus > 0 else _raised(counts, -surplus)
    return sizes[corrected > 0], corrected[corrected > 0]


def _raised(counts: Ints, missing: int) -> Ints:
    """Move establishments towards the last size, by `missing` steps in all.

    They move in proportion to their distance from it.
    """
    distance = np.arange(counts.size)[::-1]
    steps = distance * missing // max(int(distance @ counts), 1)
    places = np.arange(counts.size) + steps
    moved = np.bincount(places, weights=counts, minlength=counts.size).astype(np.int64)

    left = missing - int(steps @ counts)
    movable = np.where(distance > 0, moved, 0)
    edges = np.cumsum(movable) * left // max(int(movable.sum()), 1)
    further = np.diff(edges, prepend=0)
    moved -= further
    moved[1:] += further[:-1]
    return moved


def with_smallest_grown(tally: pd.DataFrame, to: int) -> pd.DataFrame:
    """Return the neighbouring population in which one of the smallest establishments grows.

    >>> tally = pd.DataFrame({"employees": [1, 5], "establishments": [2, 1]})
    >>> with_smallest_grown(tally, 9).values.tolist()
    [[1, 1], [5, 1], [9, 1]]
    """
    size = checks.whole(to, "to", at_least=1)
    counts = tally["establishments"].to_numpy().copy()
    counts[np.argmin(tally["employees"].to_numpy())] -= 1

    rest = tally.assign(establishments=counts)
    grown = pd.DataFrame({"employees": [size], "establishments": [1]})
    return pd.concat([rest[counts > 0], grown], ignore_index=True)
