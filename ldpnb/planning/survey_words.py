"""The design of a survey as the command line, tables and a pilot describe it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from pathlib import Path
from statistics import NormalDist
from types import MappingProxyType
from typing import Any

from ldpnb import checks
from ldpnb.data.files import load_rows
from ldpnb.data.reading import Reading
from ldpnb.data.tables import locate
from ldpnb.planning import survey_files
from ldpnb.planning.survey import Collection
from ldpnb.surveys.noise import MeanMechanism, NumberReports
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign, SurveyDesign
from ldpnb.surveys.pilots import Pilot, pilot_of
from ldpnb.surveys.unequal_designs import PoissonDesign, UnequalClusterDesign
from ldpnb.surveys.variances import squared


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides the words of a design.

    Parameters
    ----------
    ends : (float, float)
        The range.
    mechanism, collection, epsilon, binary
        As of `ldpnb.planning.survey.Survey`.
    pilot : Pilot, optional
        Tells what words leave open.
    reading : Reading, optional
        How tables are to be understood.
    """

    ends: tuple[float, float]
    mechanism: MeanMechanism = "one-bit"
    collection: Collection = "local"
    epsilon: float | None = None
    binary: bool = False
    pilot: Pilot | None = None
    reading: Reading | None = None

    @property
    def reports(self) -> NumberReports | None:
        """The reports, if people make them and their budget is known."""
        if self.collection == "central" or self.epsilon is None:
            return None
        return NumberReports(self.mechanism, self.epsilon, *self.ends, self.binary)

    def mean(self, stated: float | None) -> float | None:
        """Return the mean, stated or the pilot's."""
        low, high = self.ends
        if stated is not None and not low <= stated <= high:
            raise ValueError(f"mean must lie in [{low:g}, {high:g}], got mean={stated!r}")
        return self.pilot.mean if stated is None and self.pilot else stated

    def require_use_of(self, mean: float | None) -> None:
        """Refuse a mean that would tell nothing, where all weights are equal."""
        if self.mean(mean) is not None and mean is not None and not self.binary:
            raise ValueError(
                f"mean is used in this design only to get the sd of yes/no questions (--binary), got mean={mean!r}"
            )

    def s2(self, sd: float | None, mean: float | None, population: int) -> float | None:
        """Return the variance: of a stated deviation, of the mean of a yes/no question, or the pilot's."""
        if sd is not None:
            if self.binary and mean is not None:
                raise ValueError(f"the mean of a yes/no question tells its sd; leave one out, got sd={sd!r} too")
            return squared(sd)
        if self.binary and mean is not None and population > 1:
            low, high = self.ends
            return population / (population - 1) * (float(self.mean(mean) or 0) - low) * (high - mean)
        return self.pilot.s2 if self.pilot else None


def design_of(known: Known, design: str, **words: Any) -> SurveyDesign:
    """Return the design that words describe; what they leave open a pilot may tell.

    Raises
    ------
    ValueError
        If a word is missing or does not belong to the design.
    """
    make, given = MAKERS[design], {name: value for name, value in words.items() if value is not None}
    may = signature(make).parameters
    needs = {name for name, word in may.items() if word.default is Parameter.empty} - {"known"}
    needs |= {"take"} if design == "two-stage" else set()
    for name in sorted(needs - given.keys()):
        raise ValueError(f"design {design} needs {name.replace('_', '-')}, got none")
    for name in sorted(given.keys() - may.keys()):
        raise ValueError(f"design {design} has no {name.replace('_', '-')}, got {name}={given[name]!r}")
    return make(known, **given)


def _simple(known: Known, *, population: int, sd: float | None = None, mean: float | None = None) -> SurveyDesign:
    known.require_use_of(mean)
    return SimpleDesign(population, known.s2(sd, mean, population))


def _clusters(
    known: Known,
    *,
    clusters: int | None = None,
    cluster_size: float | None = None,
    size_sd: float | None = None,
    cluster_sizes: str | None = None,
    take: int | None = None,
    icc: float | None = None,
    sd: float | None = None,
    mean: float | None = None,
    ratio: bool = False,
) -> SurveyDesign:
    if (cluster_sizes is None) == (clusters is None and cluster_size is None and size_sd is None):
        raise ValueError("clusters are described by --clusters and --cluster-size or by a file, --cluster-sizes")
    if cluster_sizes is None and (clusters is None or cluster_size is None):
        raise ValueError("design cluster needs clusters and cluster-size, got one of them")
    if known.pilot and not known.pilot.clusters:
        raise ValueError("a pilot for clusters needs --cluster, the column that names them, got none")
    # of clusters in a file a yes/no question's mean tells it below
    people = 1 if cluster_sizes else round((clusters or 2) * (cluster_size or 2))
    about: dict[str, Any] = {"take": take, "s2": known.s2(sd, mean, people)}
    if known.pilot and icc is None:
        # of clusters of any size it is hardly below 0
        icc = known.pilot.icc(round(cluster_size) if cluster_size and not size_sd else 10**9)
    centred = known.mean(mean)
    if cluster_sizes is not None:
        told: dict[str, Any] = {"mean": centred, "ends": known.ends}
        told |= {"ratio": ratio, "binary": known.binary, "reading": known.reading}
        return survey_files.load_clusters(cluster_sizes, icc=icc, **about, **told)
    if size_sd:
        offset = None if centred is None else centred - sum(known.ends) / 2
        average = float(cluster_size or 0)
        about |= {"icc": icc, "offset": offset, "ratio": ratio}
        return UnequalClusterDesign.of_moments(int(clusters or 0), average, size_sd, **about)
    if ratio:
        raise ValueError("ratio belongs to clusters whose sizes differ: with equal ones it is the mean, got ratio")
    if cluster_size != int(cluster_size or 0):
        raise ValueError(f"cluster-size must be whole unless sizes differ (--size-sd), got {cluster_size}")
    known.require_use_of(mean)
    return ClusterDesign(int(clusters or 0), int(cluster_size or 0), icc, **about)


def _strata(known: Known, *, strata: str, allocation: str = "proportional") -> SurveyDesign:
    if allocation == "neyman" and known.collection == "local" and known.epsilon is None:
        raise ValueError(f"allocation {allocation} needs epsilon: it counts the reports' noise")
    about: dict[str, Any] = {"ends": known.ends, "binary": known.binary, "reading": known.reading}
    told: Any = allocation
    design = survey_files.load_strata(strata, allocation=told, reports=known.reports, pilot=known.pilot, **about)
    bits = known.reports is not None and known.mechanism == "one-bit" and not known.binary
    if allocation == "neyman" and bits and design.spans is None:
        raise ValueError("allocation must be proportional for one-bit reports: their variance does not depend on sd")
    return design


def _poisson(
    known: Known,
    *,
    population: int | None = None,
    classes: str | None = None,
    trim: float | None = None,
    sd: float | None = None,
    mean: float | None = None,
) -> SurveyDesign:
    if (population is None) == (classes is None):
        raise ValueError("design poisson needs population, or classes with rates of their own, and not both")
    if classes is not None:
        if sd is not None or mean is not None:
            raise ValueError("mean and sd of classes stand in their table, got --mean or --sd")
        return survey_files.load_classes(classes, trim=trim, ends=known.ends, reading=known.reading)
    if trim is not None:
        raise ValueError(f"trim belongs to rates or weights that differ, got trim={trim!r}")
    s2, centre = known.s2(sd, mean, population or 2), known.mean(mean)
    if s2 is not None and centre is None:
        raise ValueError("design poisson needs mean beside sd: its error depends on how far values lie from the middle")
    if s2 is None or centre is None:
        return PoissonDesign((int(population or 0),))
    square = s2 * (1 - 1 / int(population or 1)) + (centre - sum(known.ends) / 2) ** 2
    return PoissonDesign((int(population or 0),), (), (square,))


MAKERS: Mapping[str, Callable[..., SurveyDesign]] = MappingProxyType(
    {
        "simple": _simple,
        "everyone": _simple,
        "cluster": _clusters,
        "two-stage": _clusters,
        "strata": _strata,
        "poisson": _poisson,
    }
)
"""Functions whose keywords are the words that a design needs, or may have."""

DESIGN_OPTIONS = tuple(sorted({name for make in MAKERS.values() for name in signature(make).parameters} - {"known"}))
"""Words of the command line that describe a design."""


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
    ends = survey_files.checked_ends(ends)
    labels = tuple(name for name in (cluster, stratum) if name)
    whole = load_rows(locate(path, "pilot"), numbers=(value,), texts=labels, reading=reading or Reading())
    frame = whole.dropna()
    if not frame[value].between(*ends).all():
        worst = frame[value].loc[~frame[value].between(*ends)].iloc[0]
        raise ValueError(f"{path}: column {value} must lie in [{ends[0]:g}, {ends[1]:g}], got {worst:g}")
    groups = {name: frame[column] for name, column in (("clusters", cluster), ("strata", stratum)) if column}
    found = pilot_of(frame[value], **groups)
    # with the divisor n - 1 a small pilot may exceed what a large population can
    most = (ends[1] - ends[0]) ** 2 / 4
    strata = {name: min(s2, most) for name, s2 in found.strata.items()}
    return replace(found, s2=min(found.s2, most), strata=strata, left_out=len(whole) - len(frame))


def pilot_notes(pilot: Pilot, size: int | None = None) -> tuple[str, ...]:
    """Return what a plan that rests on a pilot has to say of it."""
    spread = f"sd {pilot.s2**0.5:.3g}"
    if pilot.clusters and size:
        low, high = pilot.icc_interval()
        low = max(low, -1 / (size - 1)) if size > 1 else low
        spread += f" and icc {pilot.icc(size):.3g} (95% interval {low:.3g} to {high:.3g}, for normal values)"
    if pilot.strata:
        spread = ", ".join(f"sd {s2**0.5:.3g} in {name}" for name, s2 in pilot.strata.items())
    rows = "row without an entry was" if pilot.left_out == 1 else "rows without an entry were"
    left_out = f" ({pilot.left_out:,} {rows} left out)" if pilot.left_out else ""
    below = pilot.clusters and size is not None and pilot.icc(size) < 0
    return (
        f"{spread}: estimates from a pilot of {pilot.answers:,} answers{left_out}; where they err, so does this plan.",
        *(("An icc below 0 is rare: state --icc 0 or more for a plan that does not rest on it.",) if below else ()),
        "A pilot of people who are to be protected is itself a release: these numbers lose privacy of their own.",
    )
