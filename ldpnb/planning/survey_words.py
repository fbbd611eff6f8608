"""The design of a survey as the command line and a table of strata describe it."""

from ldpnb import checks
from ldpnb.data.tables import Table, locate
from ldpnb.planning.survey import Collection
from ldpnb.surveys.designs import Allocation, ClusterDesign, Design, SimpleDesign, StratifiedDesign
from ldpnb.surveys.reports import MeanMechanism, NumberReports

DESIGN_OPTIONS = (*("design", "population", "clusters", "cluster_size", "take", "icc", "strata", "allocation", "sd"),)
"""Words of the command line that describe a design."""


def design_of(
    ends: tuple[float, float],
    *,
    design: str,
    population: int | None,
    clusters: int | None,
    cluster_size: int | None,
    take: int | None,
    icc: float | None,
    strata: str | None,
    allocation: Allocation,
    sd: float | None,
    mechanism: MeanMechanism,
    epsilon: float | None,
    collection: Collection,
    binary: bool,
) -> Design:
    """Return the design that the words of the command line describe.

    Raises
    ------
    ValueError
        If a word is missing or does not belong to the design.
    """
    words = {"population": population, "clusters": clusters, "cluster_size": cluster_size, "take": take}
    given = {n for n, v in (words | {"icc": icc, "strata": strata}).items() if v is not None}
    needs, may = _WORDS[design]
    for name in sorted(needs - given):
        raise ValueError(f"design {design} needs {name.replace('_', '-')}, got none")
    for name in sorted(given - needs - may):
        raise ValueError(
            f"design {design} has no {name.replace('_', '-')}, got {name}={(words | {'icc': icc})[name]!r}"
        )
    s2 = None if sd is None else checks.positive(sd=sd) ** 2
    if design == "simple":
        return SimpleDesign(int(population or 0), s2)
    if design == "cluster":
        return ClusterDesign(int(clusters or 0), int(cluster_size or 0), icc, take, s2)
    if allocation == "neyman" and collection == "local" and epsilon is None:
        raise ValueError("allocation neyman needs epsilon: it counts the reports' noise")
    noise = 0.0
    if collection == "local" and epsilon is not None:
        reports = NumberReports(mechanism, epsilon, *ends, binary)
        if allocation == "neyman" and mechanism == "one-bit" and not binary:
            raise ValueError(
                "allocation must be proportional for one-bit reports: their variance does not depend on sd"
            )
        noise = float(reports.worst)
    return strata_of_file(str(strata), allocation, noise)


_WORDS: dict[str, tuple[set[str], set[str]]] = {
    "simple": ({"population"}, set()),
    "cluster": ({"clusters", "cluster_size"}, {"take", "icc"}),
    "strata": ({"strata"}, set()),
}


def strata_of_file(path: str, allocation: Allocation = "proportional", noise: float = 0.0) -> StratifiedDesign:
    """Return the strata of a table with the columns ``stratum``, ``size`` and, if known, ``sd``.

    Raises
    ------
    ValueError
        For a missing column or entry, a stratum named twice, or a size that is no whole number.
    """
    import pandas as pd

    table = Table(locate(path, "strata"))
    known = {name.lower() for name in table.columns()}
    numbers = ("size", "sd") if "sd" in known else ("size",)
    frame = pd.concat([pd.concat(part, axis=1) for part in table.parts(numbers=numbers, texts=("stratum",))])
    if frame.isna().any(axis=None):
        raise ValueError(f"{path}: every stratum must have an entry in {', '.join(frame.columns)}")
    names = tuple(str(name).strip() for name in frame["stratum"])
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: strata must be named once each, got {max(names, key=names.count)!r} twice")
    if (frame["size"] != frame["size"].round()).any():
        raise ValueError(f"{path}: size must hold whole numbers")
    s2 = tuple((frame["sd"] ** 2).tolist()) if "sd" in numbers else None
    return StratifiedDesign(tuple(int(n) for n in frame["size"]), s2, allocation, noise, names)
