"""Neyman allocation on establishments: what one that grows moves, and what it is worth."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.designs import strata
from ldpnb.designs.strata import Strata
from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022 import establishments
from ldpnb.papers.bun2022.formulas import samples
from ldpnb.rng import stream

DRAWN, MOVE = "records drawn", "change (records)"


def by_size(tally: pd.DataFrame, boundaries: Sequence[int]) -> Strata:
    """Return strata of establishments by number of employees, each from one boundary up to the next."""
    employees, counts = tally["employees"].to_numpy(), tally["establishments"].to_numpy()
    return strata.strata_of_tallies(employees, _stratum(employees, boundaries), counts)


def _stratum(employees: Any, boundaries: Sequence[int]) -> Any:
    return np.searchsorted(boundaries, employees, side="right") - 1


def labels(boundaries: Sequence[int]) -> list[str]:
    """Return names such as ``1-4`` and ``1000+``.

    >>> labels([1, 5, 1000])
    ['1-4', '5-999', '1000+']
    """
    ends = [f"-{b - 1}" for b in boundaries[1:]]
    return [f"{low}{end}" for low, end in zip(boundaries, [*ends, "+"], strict=True)]


def allocations(before: Strata, after: Strata, names: Sequence[str], total: int) -> pd.DataFrame:
    """Return Neyman's allocation of `total` records before and after, in whole numbers, and the real-valued change."""
    real = [s.capped(s.neyman(total)) for s in (before, after)]
    whole = [strata.largest_remainder(shares) for shares in real]
    columns = {
        "stratum": list(names),
        "establishments": before.sizes,
        "deviation": np.sqrt(before.variances),
    }
    return pd.DataFrame(
        columns | {"before": whole[0], "after": whole[1], "change": real[1] - real[0]}
    )


@table
def top_stratum_limits(
    tally: pd.DataFrame, grown_to: int, divisions: Mapping[str, Sequence[int]]
) -> Rows:
    """Yield what one establishment grown to `grown_to` moves per record drawn, and the largest move there can be.

    That is where Neyman asks for the whole top stratum. A newcomer at `z` deviations from its mean raises ``n s`` by
    about ``s (z^2 + 1)/2``, so the allocation moves by about ``(z^2 + 1)(1 - share)/2`` there.
    """
    grown = establishments.with_smallest_grown(tally, grown_to)
    for name, boundaries in divisions.items():
        before, after = by_size(tally, boundaries), by_size(grown, boundaries)
        share, later = (s.neyman(1.0)[-1] for s in (before, after))
        row = {"strata": name, "top share": share, "move per record": later - share}
        if share == 0:
            yield row | {"exhausted at": np.nan, "largest move": 0.0, "approximation": 0.0}
            continue
        exhausted = before.sizes[-1] / share
        z = (grown_to - before.means[-1]) / np.sqrt(before.variances[-1])
        largest = {"exhausted at": exhausted, "largest move": exhausted * (later - share)}
        yield row | largest | {"approximation": (z**2 + 1) * (1 - share) / 2}


@table
def standard_errors(population: Strata, overall_variance: float, totals: Sequence[int]) -> Rows:
    """Yield the exact standard error of the weighted mean under three designs.

    `overall_variance` is that over all records, divisor ``n - 1``, for simple random sampling. Allocations are
    real-valued, Neyman's capped at the stratum sizes.
    """
    count = population.population
    for m in totals:
        squares = {
            "Neyman": population.variance(population.capped(population.neyman(m))),
            "proportional": population.variance(population.proportional(m / count)),
            "simple random sampling": Strata([count], [overall_variance]).variance([m]),
        }
        for name, square in squares.items():
            yield {"design": name, DRAWN: m, "standard error (employees)": float(np.sqrt(square))}


@table
def drawn_means(
    tally: pd.DataFrame, boundaries: Sequence[int], total: int, *, repetitions: int, seed: int
) -> Rows:
    """Yield weighted means of samples with a record of every stratum at least, beside the exact standard error."""
    population = by_size(tally, boundaries)
    employees, counts = tally["employees"].to_numpy(), tally["establishments"].to_numpy()
    stratum = _stratum(employees, boundaries)
    members = [
        (employees[stratum == i], counts[stratum == i]) for i in range(population.sizes.size)
    ]
    even = population.proportional(total / population.population)
    for name, asked in (("Neyman", population.neyman(total)), ("proportional", even)):
        drawn = np.maximum(strata.largest_remainder(population.capped(asked)), 1)
        rng = stream("weighted means", name, total, seed=seed)
        means = np.empty((repetitions, len(members)))
        for run in range(repetitions):
            for i, (sizes, held) in enumerate(members):
                means[run, i] = (
                    samples.simple_random_tallies(held, int(drawn[i]), rng=rng) @ sizes / drawn[i]
                )
        estimates = [population.weighted_mean(one) for one in means]
        spread = float(np.std(estimates, ddof=1))
        yield {
            "design": name,
            "population mean": population.mean,
            "mean of estimates": np.mean(estimates),
            "standard error of that mean": spread / np.sqrt(repetitions),
            "deviation of estimates": spread,
            "exact": float(np.sqrt(population.variance(drawn))),
        }
