"""Neyman allocation on establishments: what one that grows moves, and what it is worth."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ldpnb.arithmetic import Ints
from ldpnb.designs import strata
from ldpnb.designs.strata import Strata
from ldpnb.notebook import Rows, table
from ldpnb.papers.bun2022 import establishments
from ldpnb.papers.bun2022.formulas import samples
from ldpnb.rng import stream

DRAWN = "records drawn"
MOVE = "change (records)"


# Strata of establishments


def by_size(tally: pd.DataFrame, boundaries: Sequence[int]) -> Strata:
    """Return strata of establishments by number of employees.

    Each stratum reaches from one boundary up to the next.
    """
    employees = tally["employees"].to_numpy()
    counts = tally["establishments"].to_numpy()
    return strata.strata_of_tallies(employees, _stratum(employees, boundaries), counts)


def _stratum(employees: Any, boundaries: Sequence[int]) -> Any:
    return np.searchsorted(boundaries, employees, side="right") - 1


def labels(boundaries: Sequence[int]) -> list[str]:
    """Return names such as ``1-4`` and ``1000+``.

    >>> labels([1, 5, 1000])
    ['1-4', '5-999', '1000+']
    """
    names = []
    for low, following in pairwise(boundaries):
        names.append(f"{low}-{following - 1}")
    return [*names, f"{boundaries[-1]}+"]


# What one establishment moves


def allocations(before: Strata, after: Strata, names: Sequence[str], total: int) -> pd.DataFrame:
    """Return Neyman's allocation of `total` records before and after a change.

    The allocations are in whole numbers, the change is real-valued.
    """
    shares = before.capped(before.neyman(total))
    later_shares = after.capped(after.neyman(total))

    return pd.DataFrame(
        {
            "stratum": list(names),
            "establishments": before.sizes,
            "deviation": np.sqrt(before.variances),
            "before": strata.largest_remainder(shares),
            "after": strata.largest_remainder(later_shares),
            "change": later_shares - shares,
        }
    )


@table
def top_stratum_limits(
    tally: pd.DataFrame, grown_to: int, divisions: Mapping[str, Sequence[int]]
) -> Rows:
    """Tabulate what one establishment that grows moves, and the largest move that there can be.

    The move is that of the top stratum's allocation, per record drawn. It is largest where Neyman
    asks for the whole top stratum. A newcomer at `z` deviations from its mean raises ``n s`` by
    about ``s (z^2 + 1)/2``, so there the allocation moves by about ``(z^2 + 1)(1 - share)/2``.

    Parameters
    ----------
    tally : pandas.DataFrame
        Establishments by number of employees.
    grown_to : int
        Number of employees to which one of the smallest grows.
    divisions : mapping of str to sequence of int
        Boundaries of strata, by the name of the division.
    """
    grown = establishments.with_smallest_grown(tally, grown_to)

    for name, boundaries in divisions.items():
        before = by_size(tally, boundaries)
        after = by_size(grown, boundaries)
        share = before.neyman(1.0)[-1]
        move = after.neyman(1.0)[-1] - share

        row = {"strata": name, "top share": share, "move per record": move}
        if share == 0:
            row["exhausted at"] = np.nan
            row["largest move"] = 0.0
            row["approximation"] = 0.0
        else:
            exhausted_at = before.sizes[-1] / share
            z = (grown_to - before.means[-1]) / np.sqrt(before.variances[-1])
            row["exhausted at"] = exhausted_at
            row["largest move"] = exhausted_at * move
            row["approximation"] = (z**2 + 1) * (1 - share) / 2
        yield row


# Standard errors


@table
def standard_errors(population: Strata, overall_variance: float, totals: Sequence[int]) -> Rows:
    """Tabulate the exact standard error of the weighted mean under three designs.

    Allocations are real-valued, and Neyman's are capped at the sizes of the strata.

    Parameters
    ----------
    population : Strata
        Sizes and variances of the strata.
    overall_variance : float
        Variance over all records, with divisor ``n - 1``, for simple random sampling.
    totals : sequence of int
        Numbers of records drawn.
    """
    count = population.population
    everything = Strata([count], [overall_variance])

    for m in totals:
        variances = {
            "Neyman": population.variance(population.capped(population.neyman(m))),
            "proportional": population.variance(population.proportional(m / count)),
            "simple random sampling": everything.variance([m]),
        }
        for name, variance in variances.items():
            yield {"design": name, DRAWN: m, "standard error (employees)": float(np.sqrt(variance))}


@table
def drawn_means(
    tally: pd.DataFrame, boundaries: Sequence[int], total: int, *, repetitions: int, seed: int
) -> Rows:
    """Tabulate weighted means of drawn samples, with the exact standard error.

    Samples have at least one record of every stratum.
    """
    population = by_size(tally, boundaries)
    members = _members(tally, boundaries, population.sizes.size)
    designs = {
        "Neyman": population.neyman(total),
        "proportional": population.proportional(total / population.population),
    }

    for name, shares in designs.items():
        drawn = np.maximum(strata.largest_remainder(population.capped(shares)), 1)
        rng = stream("weighted means", name, total, seed=seed)
        estimates = []
        for _ in range(repetitions):
            means = np.empty(drawn.size)

            for i, (sizes, counts) in enumerate(members):
                sampled = samples.simple_random_tallies(counts, int(drawn[i]), rng=rng)
                means[i] = sampled @ sizes / drawn[i]
            estimates.append(population.weighted_mean(means))

        deviation = float(np.std(estimates, ddof=1))

        yield {
            "design": name,
            "population mean": population.mean,
            "mean of estimates": np.mean(estimates),
            "standard error of that mean": deviation / np.sqrt(repetitions),
            "deviation of estimates": deviation,
            "exact": float(np.sqrt(population.variance(drawn))),
        }


def _members(
    tally: pd.DataFrame, boundaries: Sequence[int], strata_count: int
) -> list[tuple[Ints, Ints]]:
    """Return the sizes in each stratum, and how many establishments have each."""
    employees = tally["employees"].to_numpy()
    counts = tally["establishments"].to_numpy()
    stratum = _stratum(employees, boundaries)
    return [(employees[stratum == i], counts[stratum == i]) for i in range(strata_count)]
