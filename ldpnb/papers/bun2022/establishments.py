"""Simulated establishments that agree with a published tabulation.

`simulate` makes establishments that agree exactly with the counts by class of size and with the employment totals of
counties and industries (Appendix E.1 of bun2022): a linear program splits each total over the classes, and within a
class sizes follow Zipf's law, bent until they sum to the class's employment. The result is a tally, a row per size with
the number of establishments that have it. Whatever is drawn from it is *simulated*, and figures must say so. The
tabulations themselves are read by `ldpnb.papers.bun2022.tabulations`.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ldpnb import checks
from ldpnb.arithmetic import read_only
from ldpnb.papers.bun2022.tabulations import CLASSES, SizeClass, Tabulation

Whole = NDArray[np.int64]

_PIECES = 6
"""Linear pieces of the convex cost of moving a class's employment either way."""


def simulate(tabulation: Tabulation) -> pd.DataFrame:
    """Make establishments that agree exactly with a tabulation, the same ones every time.

    Every cell's employment must be attainable by its class counts (see `tabulations.attainable`); a total that cannot
    be met is refused. A row of ``county, industry, size_class, employees, establishments`` per size that occurs.

    >>> from ldpnb.papers.bun2022.tabulations import stand_in
    >>> tally = simulate(stand_in())
    >>> int(tally["establishments"].sum()), int((tally["employees"] * tally["establishments"]).sum())
    (7663938, 124085947)
    """
    split = employment_by_class(tabulation)
    kinds = {kind.label: kind for kind in CLASSES}
    columns = (split[name].tolist() for name in ("size_class", "establishments", "employees"))
    made = [_sizes_within(kinds[label], count, total) for label, count, total in zip(*columns, strict=True)]
    rows = np.repeat(np.arange(len(split)), [sizes.size for sizes, _ in made])
    tally = split[["county", "industry", "size_class"]].iloc[rows].reset_index(drop=True)
    return tally.assign(
        employees=np.concatenate([sizes for sizes, _ in made]),
        establishments=np.concatenate([held for _, held in made]),
    )


def employment_by_class(tabulation: Tabulation) -> pd.DataFrame:
    """Split every cell's employment over its classes by linear programming.

    The split stays as close as the totals allow to Zipf's law in every class. Deviations are charged piecewise
    linearly, with rising slopes and breakpoints at whole numbers; the totals of cells and counties on one side and of
    industries on the other form two nested families, so the vertices of the program are whole numbers. A row of
    ``county, industry, size_class, establishments, employees`` per class that occurs in a cell.
    """
    cells = tabulation.cells
    joined = bool(tabulation.industry_employment)
    blocks = [cells] if joined else [block for _, block in cells.groupby("county", sort=False)]
    return pd.concat([_split(block, tabulation) for block in blocks], ignore_index=True)


def _split(cells: pd.DataFrame, tabulation: Tabulation) -> pd.DataFrame:
    held = cells[[c.column for c in CLASSES]].to_numpy()
    cell, kind = np.nonzero(held)
    count = held[cell, kind]
    least = count * np.array([CLASSES[k].low for k in kind])
    most = count * np.array([CLASSES[k].high for k in kind])
    usual = np.rint(count * np.array([_zipf_mean(CLASSES[k]) for k in kind])).astype(np.int64)
    low, high = (cells[f"employment_{side}"].to_numpy() for side in ("low", "high"))
    groups = [(cell == i, low[i], high[i]) for i in range(len(cells))]
    for i, (members, lower, upper) in enumerate(groups):
        allowed = least[members].sum(), most[members].sum()
        if lower > allowed[1] or upper < allowed[0]:
            county, industry = cells["county"].iloc[i], cells["industry"].iloc[i]
            raise ValueError(
                f"employment of county {county}, industry {industry} must lie between {allowed[0]} and {allowed[1]} by "
                f"its class counts, got {lower}"
            )
    for column, totals in (("county", tabulation.county_employment), ("industry", tabulation.industry_employment)):
        names = cells[column].to_numpy()[cell]
        groups += [(names == name, total, total) for name, total in totals.items() if (names == name).any()]
    place = cells[["county", "industry"]].iloc[cell].reset_index(drop=True)
    labels = [CLASSES[k].label for k in kind]
    return place.assign(size_class=labels, establishments=count, employees=_closest(usual, least, most, groups))


def _closest(usual: Whole, least: Whole, most: Whole, groups: list[tuple[Any, int, int]]) -> Whole:
    """Return whole numbers near `usual`, from `least` to `most`, whose sum over each group lies in its range."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    share = np.arange(1, _PIECES + 1) / _PIECES
    room = np.concatenate([most - usual, usual - least])
    lengths = np.diff(np.floor(room[:, None] * share**2), axis=1, prepend=0.0).ravel()
    owner = np.tile(np.repeat(np.arange(usual.size), _PIECES), 2)
    sign = np.repeat([1.0, -1.0], usual.size * _PIECES)
    moves: Any = csr_array((sign, (owner, np.arange(owner.size))), shape=(usual.size, owner.size))
    members: Any = csr_array(np.array([inside for inside, _, _ in groups], dtype=float))
    totals: Any = members @ moves
    base = np.asarray(members @ usual)
    upper, lower = np.array([high for _, _, high in groups]) - base, base - np.array([low for _, low, _ in groups])
    sides: Any = vstack([totals, -totals])
    bounds: Any = np.column_stack([np.zeros(lengths.size), lengths])
    costs, most_moved = np.tile(share, 2 * usual.size), np.concatenate([upper, lower])
    found = linprog(costs, A_ub=sides, b_ub=most_moved, bounds=bounds, method="highs-ds")
    if found.status != 0:
        raise ValueError(f"county and industry totals must be attainable together, got: {found.message}")
    shift = np.rint(moves @ np.asarray(found.x)).astype(np.int64)
    return np.asarray(usual + shift)


@cache
def _zipf_mean(kind: SizeClass) -> float:
    sizes = np.arange(kind.low, kind.high + 1.0)
    return float(sizes**-1 @ np.ones(sizes.size) / (sizes**-2).sum())


@cache
def _bends(low: int, high: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return exponents and the means of ``size^-2 e^(exponent x size)`` on ``low .. high``, for interpolation."""
    exponents = np.sinh(np.linspace(-6, 6, 121)) / (high - low)
    means = [_bent(low, high, b) @ np.arange(low, high + 1) for b in exponents]
    return read_only(exponents), read_only(means)


def _bent(low: int, high: int, exponent: float) -> NDArray[np.float64]:
    sizes = np.arange(low, high + 1.0)
    logs = exponent * sizes - 2 * np.log(sizes)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _sizes_within(kind: SizeClass, establishments: int, employees: int) -> tuple[Whole, Whole]:
    """Return sizes and how many establishments have each: Zipf's law, bent to the mean and mended to the sum."""
    exponents, means = _bends(kind.low, kind.high)
    shape = _bent(kind.low, kind.high, float(np.interp(employees / establishments, means, exponents)))
    counts = np.diff(np.rint(establishments * np.minimum(np.cumsum(shape), 1.0)), prepend=0).astype(np.int64)
    counts[-1] += establishments - counts.sum()
    sizes = np.arange(kind.low, kind.high + 1)
    excess = int(sizes @ counts) - employees
    if excess > 0:
        return _raised(sizes[::-1], counts[::-1], excess)
    return _raised(sizes, counts, -excess)


def _raised(sizes: Whole, counts: Whole, missing: int) -> tuple[Whole, Whole]:
    """Move establishments towards the last size by `missing` steps in all, in proportion to their distance from it."""
    distance = np.arange(sizes.size)[::-1]
    steps = distance * missing // max(int(distance @ counts), 1)
    target = np.arange(sizes.size) + steps
    moved = np.bincount(target, weights=counts, minlength=sizes.size).astype(np.int64)
    left = missing - int(steps @ counts)
    movable = np.where(distance > 0, moved, 0)
    edges = np.cumsum(movable) * left // max(int(movable.sum()), 1)
    further = np.diff(edges, prepend=0)
    moved -= further
    moved[1:] += further[:-1]
    present = np.flatnonzero(moved)
    order = present[np.argsort(sizes[present])]
    return sizes[order], moved[order]


def top_coded(tally: pd.DataFrame, at: int) -> pd.DataFrame:
    """Return the tally with every establishment above `at` employees recorded as having `at` (Section 7.2)."""
    limit = checks.whole(at=at, at_least=1)
    return tally.assign(employees=np.minimum(tally["employees"], limit))


def with_smallest_grown(tally: pd.DataFrame, to: int) -> pd.DataFrame:
    """Return the neighbouring population in which one of the smallest establishments grows to `to` (Appendix E.1).

    >>> with_smallest_grown(pd.DataFrame({"employees": [1, 5], "establishments": [2, 1]}), 9).values.tolist()
    [[1, 1], [5, 1], [9, 1]]
    """
    size = checks.whole(to=to, at_least=1)
    smallest = int(np.argmin(tally["employees"].to_numpy()))
    grown = tally.iloc[[smallest]].assign(employees=size, establishments=1)
    rest = tally["establishments"].to_numpy().copy()
    rest[smallest] -= 1
    kept = tally.assign(establishments=rest)
    return pd.concat([kept[kept["establishments"] > 0], grown], ignore_index=True)
