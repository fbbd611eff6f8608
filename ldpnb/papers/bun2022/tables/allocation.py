"""Neyman allocation on establishments: what one growing establishment moves, what a count of the sample then tells, and
what it is worth.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ldpnb.designs import samples, strata
from ldpnb.designs.strata import Strata
from ldpnb.papers.bun2022 import establishments, tabulations
from ldpnb.privacy import data_dependent
from ldpnb.rng import stream


def population(path: str, *, top_code: int) -> tuple[pd.DataFrame, str]:
    """Return simulated, top-coded establishments as a tally, and a title that says what they are simulated from.

    Parameters
    ----------
    path : str
        A Census file in the county layout, or empty for the national stand-in.
    top_code : int
        Larger establishments count as having this many employees.
    """
    if path:
        tabulation, moved = tabulations.attainable(tabulations.read_tabulation(path))
        origin = f"simulated from a Census file, employment adjusted in {moved} of {len(tabulation.cells)} cells"
    else:
        tabulation, origin = tabulations.stand_in(), "simulated establishments, U.S. totals of 2015"
    return establishments.top_coded(establishments.simulate(tabulation), top_code), origin


def by_size(tally: pd.DataFrame, boundaries: Sequence[int]) -> Strata:
    """Return strata of establishments by number of employees, each from one boundary up to the next."""
    employees = tally["employees"].to_numpy()
    stratum = np.searchsorted(np.asarray(boundaries), employees, side="right") - 1
    return strata.strata_of_tallies(employees, stratum, tally["establishments"].to_numpy())


def labels(boundaries: Sequence[int]) -> list[str]:
    """Return names such as ``1-4`` and ``1000+``.

    >>> labels([1, 5, 1000])
    ['1-4', '5-999', '1000+']
    """
    ends = [f"-{b - 1}" for b in boundaries[1:]]
    return [f"{low}{end}" for low, end in zip(boundaries, [*ends, "+"], strict=True)]


def allocations(before: Strata, after: Strata, names: Sequence[str], total: int) -> pd.DataFrame:
    """Return Neyman's allocation of `total` records before and after, real-valued and in whole numbers.

    Returns
    -------
    DataFrame
        ``stratum, establishments, deviation`` (before), ``before, after`` (whole numbers, largest remainder),
        ``change`` (real-valued).
    """
    real = [
        strata.capped_shares(s.sizes, strata.neyman_shares(s.sizes, s.variances, total)).shares for s in (before, after)
    ]
    whole = [strata.largest_remainder(shares) for shares in real]
    return pd.DataFrame(
        {
            "stratum": list(names),
            "establishments": before.sizes,
            "deviation": np.sqrt(before.variances),
            "before": whole[0],
            "after": whole[1],
            "change": real[1] - real[0],
        }
    )


def top_stratum_moves(
    tally: pd.DataFrame,
    grown_to: int,
    divisions: Mapping[str, Sequence[int]],
    totals: Sequence[int],
    published_change: int,
) -> pd.DataFrame:
    """Return how far the top stratum's allocation moves, up to the total at which that stratum is taken completely.

    Returns
    -------
    DataFrame
        ``strata, total, change (records)``: real-valued, and the published change at every total.
    """
    parts = {f"the source's {published_change}": ([float(m) for m in totals], [float(published_change)] * len(totals))}
    limits = top_stratum_limits(tally, grown_to, divisions)
    columns = (limits[name] for name in ("strata", "move per record", "exhausted at"))
    for name, per_record, last in zip(*columns, strict=True):
        reached = [*(float(m) for m in totals if m < last), float(last)]
        parts[name] = (reached, [m * per_record for m in reached])
    made = [pd.DataFrame({"strata": name, "total": m, "change (records)": move}) for name, (m, move) in parts.items()]
    return pd.concat(made, ignore_index=True)


def top_stratum_limits(tally: pd.DataFrame, grown_to: int, divisions: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """Return what one establishment grown to `grown_to` moves per record drawn, and the largest move there can be.

    Returns
    -------
    DataFrame
        ``strata, top share, move per record, exhausted at`` (the total at which Neyman asks for the whole top stratum),
        ``largest move`` (there), ``approximation`` (`largest_move_approximation`).
    """
    grown = establishments.with_smallest_grown(tally, grown_to)
    rows = []
    for name, boundaries in divisions.items():
        before, after = by_size(tally, boundaries), by_size(grown, boundaries)
        share, later = (strata.neyman_shares(s.sizes, s.variances, 1.0)[-1] for s in (before, after))
        exhausted = before.sizes[-1] / share if share > 0 else np.nan
        largest = exhausted * (later - share) if share > 0 else 0.0
        rows.append(
            (name, share, later - share, exhausted, largest, largest_move_approximation(before, share, grown_to))
        )
    columns = ["strata", "top share", "move per record", "exhausted at", "largest move", "approximation"]
    return pd.DataFrame(rows, columns=columns)


def largest_move_approximation(before: Strata, top_share: float, grown_to: int) -> float:
    """Return ``(z^2 + 1)(1 - share)/2`` with ``z`` the newcomer's distance from the top stratum's mean in standard
    deviations.

    A newcomer raises ``n s`` of its stratum by about ``s (z^2 + 1)/2``; that is what the allocation moves when the
    stratum is nearly exhausted.
    """
    if before.variances[-1] == 0:
        return 0.0
    z = (grown_to - before.means[-1]) / np.sqrt(before.variances[-1])
    return float((z**2 + 1) * (1 - top_share) / 2)


def leaks(moves: Mapping[str, int], epsilons: Sequence[float]) -> pd.DataFrame:
    """Return what a private count of a stratum's sample tells if neighbours move it: loss and the advantage of the best
    test.

    Returns
    -------
    DataFrame
        ``move, panel, epsilon, value``.
    """
    rows = []
    for name, gap in moves.items():
        for epsilon in epsilons:
            rows.append((name, "privacy loss (nats)", epsilon, data_dependent.size_count_loss(gap, epsilon)))
            rows.append((name, "advantage of the best test", epsilon, data_dependent.size_test_advantage(gap, epsilon)))
    return pd.DataFrame(rows, columns=["move", "panel", "epsilon", "value"]).sort_values("panel", kind="stable")


def standard_errors(population: Strata, overall_variance: float, totals: Sequence[int]) -> pd.DataFrame:
    """Return the exact standard error of the weighted mean under three designs.

    Parameters
    ----------
    population : Strata
    overall_variance : float
        Variance over all records, divisor ``n - 1``, for simple random sampling.
    totals : sequence of int
        Sample sizes.

    Returns
    -------
    DataFrame
        ``design, total, standard error (employees)``. Allocations are real-valued, Neyman's capped at the stratum
        sizes.
    """
    sizes, variances, count = population.sizes, population.variances, int(population.sizes.sum())
    rows = []
    for m in totals:
        neyman = strata.capped_shares(sizes, strata.neyman_shares(sizes, variances, m)).shares
        proportional = strata.proportional_shares(sizes, m / count)
        squares = {
            "Neyman": strata.weighted_mean_variance(sizes, variances, neyman),
            "proportional": strata.weighted_mean_variance(sizes, variances, proportional),
            "simple random sampling": strata.weighted_mean_variance([count], [overall_variance], [m]),
        }
        rows += [(name, m, float(np.sqrt(value))) for name, value in squares.items()]
    return pd.DataFrame(rows, columns=["design", "total", "standard error (employees)"])


def drawn_means(
    tally: pd.DataFrame, boundaries: Sequence[int], total: int, *, repetitions: int, seed: int
) -> pd.DataFrame:
    """Return weighted means of drawn samples, by their tallies, beside the exact standard error; at least one record
    per stratum.

    Returns
    -------
    DataFrame
        ``design, population mean, mean of estimates, standard error of that mean, deviation of estimates, exact``.
    """
    population = by_size(tally, boundaries)
    employees, counts = tally["employees"].to_numpy(), tally["establishments"].to_numpy()
    stratum = np.searchsorted(np.asarray(boundaries), employees, side="right") - 1
    shares = {
        "Neyman": strata.neyman_shares(population.sizes, population.variances, total),
        "proportional": strata.proportional_shares(population.sizes, total / int(population.sizes.sum())),
    }
    rows = []
    for name, asked in shares.items():
        drawn = np.maximum(strata.largest_remainder(strata.capped_shares(population.sizes, asked).shares), 1)
        rng = stream("weighted means", name, total, seed=seed)
        estimates = []
        for _ in range(repetitions):
            parts = zip(range(drawn.size), drawn.tolist(), strict=True)
            found = [
                (samples.simple_random_tallies(counts[stratum == i], m, rng=rng), employees[stratum == i])
                for i, m in parts
            ]
            means = [float(tallies @ sizes / tallies.sum()) for tallies, sizes in found]
            estimates.append(strata.weighted_mean(population.sizes, means))
        spread = float(np.std(estimates, ddof=1))
        exact = float(np.sqrt(strata.weighted_mean_variance(population.sizes, population.variances, drawn)))
        rows.append((name, population.mean, np.mean(estimates), spread / np.sqrt(repetitions), spread, exact))
    names = [
        "design",
        "population mean",
        "mean of estimates",
        "standard error of that mean",
        "deviation of estimates",
        "exact",
    ]
    return pd.DataFrame(rows, columns=names)
