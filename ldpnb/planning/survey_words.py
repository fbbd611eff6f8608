"""The design of a survey as the command line, a table of strata and a pilot describe it."""

from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

from ldpnb import checks
from ldpnb.data.reading import Reading
from ldpnb.data.tables import Table, locate
from ldpnb.planning.survey import Collection
from ldpnb.surveys.noise import MeanMechanism, NumberReports
from ldpnb.surveys.open_designs import Allocation, ClusterDesign, Design, SimpleDesign, StratifiedDesign, squared
from ldpnb.surveys.pilots import Pilot, pilot_of

DESIGN_OPTIONS = ("design", "population", "clusters", "cluster_size", "take", "icc", "strata", "allocation", "sd")
"""Words of the command line that describe a design."""

_WORDS: dict[str, tuple[set[str], set[str]]] = {
    "simple": ({"population"}, set()),
    "cluster": ({"clusters", "cluster_size"}, {"take", "icc"}),
    "strata": ({"strata"}, set()),
}


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
    pilot: Pilot | None = None,
) -> Design:
    """Return the design that the words of the command line describe; what they leave open a pilot may tell.

    Raises
    ------
    ValueError
        If a word is missing or does not belong to the design.
    """
    words = {"population": population, "clusters": clusters, "cluster_size": cluster_size, "take": take}
    given: dict[str, Any] = {n: v for n, v in (words | {"icc": icc, "strata": strata}).items() if v is not None}
    _require_words(design, given)
    s2 = squared(sd)
    s2 = pilot.s2 if pilot and s2 is None else s2
    if design == "simple":
        return SimpleDesign(int(population or 0), s2)
    if design == "cluster":
        if pilot and not pilot.clusters:
            raise ValueError("a pilot for clusters needs --cluster, the column that names them, got none")
        icc = pilot.icc(int(cluster_size or 0)) if pilot and icc is None else icc
        return ClusterDesign(int(clusters or 0), int(cluster_size or 0), icc, take, s2)
    if allocation == "neyman" and collection == "local" and epsilon is None:
        raise ValueError("allocation neyman needs epsilon: it counts the reports' noise")
    noise = 0.0
    if collection == "local" and epsilon is not None:
        if allocation == "neyman" and mechanism == "one-bit" and not binary:
            raise ValueError(
                "allocation must be proportional for one-bit reports: their variance does not depend on sd"
            )
        noise = float(NumberReports(mechanism, epsilon, *ends, binary).worst)
    return strata_of_file(str(strata), allocation, noise, pilot)


def _require_words(design: str, given: dict[str, Any]) -> None:
    needs, may = _WORDS[design]
    for name in sorted(needs - given.keys()):
        raise ValueError(f"design {design} needs {name.replace('_', '-')}, got none")
    for name in sorted(given.keys() - needs - may):
        raise ValueError(f"design {design} has no {name.replace('_', '-')}, got {name}={given[name]!r}")


def target_of_cv(
    cv: float, mean: float, *, error: float | None, failure: float | None, collection: Collection
) -> dict[str, Any]:
    """Return the error, failure and tail that ask for a standard deviation of `cv` times the mean.

    >>> round(target_of_cv(0.1, 0.5, error=None, failure=None, collection="local")["error"], 6)  # 1.96 of them
    0.097998
    """
    if error is not None or failure is not None or collection == "central":
        raise ValueError("cv stands for error and failure where people randomise, got one of them or a curator")
    checks.positive(cv=cv)
    checks.positive(mean=mean)
    return {"error": cv * mean * NormalDist().inv_cdf(0.975), "failure": 0.05, "tail": "normal"}


def strata_of_file(
    path: str, allocation: Allocation = "proportional", noise: float = 0.0, pilot: Pilot | None = None
) -> StratifiedDesign:
    """Return the strata of a table with the columns ``stratum``, ``size`` and, if known and not in a pilot, ``sd``.

    Raises
    ------
    ValueError
        For a missing column or entry, a stratum named twice or not in the pilot, or a size that is no whole number.
    """
    import pandas as pd

    table = Table(locate(path, "strata"))
    known = {name.lower() for name in table.columns()}
    numbers = ("size", "sd") if "sd" in known and pilot is None else ("size",)
    frame = pd.concat([pd.concat(part, axis=1) for part in table.parts(numbers=numbers, texts=("stratum",))])
    if frame.isna().any(axis=None):
        raise ValueError(f"{path}: every stratum must have an entry in {', '.join(frame.columns)}")
    names = tuple(str(name).strip() for name in frame["stratum"])
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: strata must be named once each, got {max(names, key=names.count)!r} twice")
    if (frame["size"] != frame["size"].round()).any():
        raise ValueError(f"{path}: size must hold whole numbers")
    s2 = tuple((frame["sd"] ** 2).tolist()) if "sd" in numbers else None
    if pilot is not None:
        if missing := [name for name in names if name not in pilot.strata]:
            raise ValueError(f"{path}: every stratum must be in the pilot's --stratum, got {missing[0]!r}")
        s2 = tuple(pilot.strata[name] for name in names)
    return StratifiedDesign(tuple(int(n) for n in frame["size"]), s2, allocation, noise, names)


def pilot(
    path: str | Path,
    value: str,
    *,
    cluster: str = "",
    stratum: str = "",
    reading: Reading | None = None,
    ends: tuple[float, float] = (0.0, 1.0),
) -> Pilot:
    """Return what a table of a pilot's answers tells; rows without an entry are left out.

    Parameters
    ----------
    path : path
        CSV, TSV, Parquet, JSON lines or Excel.
    value, cluster, stratum : str
        Columns: the number of interest, and what the design draws by.
    reading : Reading, optional
        How the file is to be understood; what is not stated is found.
    ends : (float, float)
        The range, known beforehand.

    Raises
    ------
    ValueError
        If the file cannot be read, a value lies outside the range, or there are too few.

    Notes
    -----
    A pilot of people who are to be protected is itself a release: variances and correlation are published with it.
    """
    import pandas as pd

    labels = tuple(name for name in (cluster, stratum) if name)
    table = Table(locate(path, "pilot"), reading or Reading())
    columns = [pd.concat(part, axis=1) for part in table.parts(numbers=(value,), texts=labels)]
    frame = pd.concat(columns).dropna()
    if not frame[value].between(*ends).all():
        worst = frame[value].loc[~frame[value].between(*ends)].iloc[0]
        raise ValueError(f"{path}: column {value} must lie in [{ends[0]:g}, {ends[1]:g}], got {worst:g}")
    groups = {name: frame[column] for name, column in (("clusters", cluster), ("strata", stratum)) if column}
    found = pilot_of(frame[value], **groups)
    # with the divisor n - 1 a small pilot may exceed what a large population can
    most = (ends[1] - ends[0]) ** 2 / 4
    strata = {name: min(s2, most) for name, s2 in found.strata.items()}
    return replace(found, s2=min(found.s2, most), strata=strata)


def pilot_notes(pilot: Pilot, size: int | None = None) -> tuple[str, ...]:
    """Return what a plan that rests on a pilot has to say of it."""
    spread = f"sd {pilot.s2**0.5:.3g}"
    if pilot.clusters and size:
        low, high = pilot.icc_interval()
        spread += f" and icc {pilot.icc(size):.3g} (95% interval {low:.3g} to {high:.3g}, for normal values)"
    if pilot.strata:
        spread = ", ".join(f"sd {s2**0.5:.3g} in {name}" for name, s2 in pilot.strata.items())
    return (
        f"{spread}: estimates from a pilot of {pilot.answers:,} answers; where they err, so does this plan.",
        "A pilot of people who are to be protected is itself a release: these numbers lose privacy of their own.",
    )
