"""From randomised reports to estimates with standard errors and intervals, also of groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ldpnb import checks
from ldpnb.survey import intervals, tables
from ldpnb.survey.device import Device, device
from ldpnb.survey.intervals import Interval
from ldpnb.survey.reports import (
    Cells,
    Said,
    cells_of,
    checked_missing,
    said,
    said_by_tallies,
    whole_counts,
)
from ldpnb.survey.sample import Point, Sample, drawn_sample, estimated

_DESIGN = ("stratum", "cluster", "cluster_size", "weight")
"""Columns that say how the sample was drawn."""


@dataclass(frozen=True)
class Estimate:
    """A share or a mean, and how far it may be off; nan where the reports do not tell.

    Parameters
    ----------
    of, group : str
        The answer whose share it is, or "mean"; the group, empty for everybody.
    reports : int
        The number of reports that it rests on.
    estimate, standard_error : float
        The estimate is unbiased, and therefore not cut to the possible values.
    low, high : float
        The confidence interval, cut to the possible values.
    sampling, randomisation : float
        The two parts of the standard error, whose squares add up to its square.
    interval, remark : str
        How the interval was found; a warning, if there is one.
    norm_sub, mle : float
        Of three or more answers: the share after projection to shares that are not negative and
        sum to 1, and the share in the most likely population. Both are biased.
    """

    of: str
    group: str
    reports: int
    estimate: float = math.nan
    standard_error: float = math.nan
    low: float = math.nan
    high: float = math.nan
    sampling: float = math.nan
    randomisation: float = math.nan
    interval: str = ""
    remark: str = ""
    norm_sub: float = math.nan
    mle: float = math.nan


@dataclass(frozen=True)
class Estimates:
    """The estimates of a survey: everybody's, those of groups, and the difference of two.

    ``print`` shows them with a paragraph on methods.

    Parameters
    ----------
    rows : tuple of Estimate
        Those of everybody first, then those of groups.
    device : Device
        The device by which people reported.
    sample : Sample
        How they were drawn.
    level : float
        How often an interval covers the true value.
    simultaneous : bool
        Whether all intervals for everybody cover at once so often.
    missing : int
        Rows without an answer, which were left out.
    unused : tuple of str
        Columns that were not used.
    remark : str
        What is odd about all reports together.
    """

    rows: tuple[Estimate, ...]
    device: Device
    sample: Sample
    level: float
    simultaneous: bool
    missing: int
    unused: tuple[str, ...] = ()
    remark: str = ""

    def to_frame(self) -> Any:
        """Return the estimates as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def __str__(self) -> str:
        from ldpnb.survey.estimate_text import estimates_text

        return estimates_text(self)


def estimate(
    table: Any,
    *,
    p: float | str | None = None,
    q: float | str | None = None,
    mechanism: str | None = None,
    epsilon: float | None = None,
    values: int | Sequence[str] | None = None,
    low: float | None = None,
    high: float | None = None,
    population: int | Mapping[str, int] | Literal["everyone"] | None = None,
    clusters: int | Mapping[str, int] | None = None,
    reports: int | None = None,
    missing: str | Sequence[str] = (),
    by: str | None = None,
    difference: tuple[str, str] | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
) -> Estimates:
    """Estimate shares, or a mean, from the reports of a randomising device.

    Each report becomes an unbiased value. The estimate is their weighted mean, and its variance is
    that of the design, with the randomisation in it once.

    Parameters
    ----------
    table : path to a CSV file, sequence, mapping of columns, or DataFrame
        The reports, or a table with a column ``report`` (or ``value``). A column ``count`` says how
        many reports a row stands for. ``stratum``, ``cluster``, ``cluster_size`` and ``weight``
        say how the sample was drawn. Rows without a report are left out and counted.
    p, q, mechanism, epsilon, values, low, high
        The device, as in `ldpnb.survey.device.device`.
    population : int, mapping of str to int, or "everyone", optional
        The number of people from whom the sample was drawn, or their number in each stratum, by its
        name; the finite population correction needs it. "everyone" says that the result is about
        those who reported and nobody else. By default the population is very large.
    clusters : int or mapping of str to int, optional
        The number of all clusters, or the number in each stratum. The finite population correction
        needs the column ``cluster_size`` too, the people in each cluster.
    reports : int, optional
        The number of reports, for unary encoding whose table has one row for each answer. Its
        column ``count`` says how many reports have a one for that answer.
    missing : str or sequence of str, optional
        Words that stand for a missing report, such as ``"NA"``; else only an empty entry does.
    by : str, optional
        A public column, such as sex. Each of its values gets estimates too.
    difference : tuple of str, optional
        Two values of `by`: the estimate for the first less that for the second is reported too. If
        the column has just two values, it always is.
    level : float
        How often an interval covers the true value, in ``(0, 1)``.
    simultaneous : bool
        Whether that is to hold for all shares at once, by Bonferroni's inequality.

    Returns
    -------
    Estimates
        Its `rows` are an `Estimate` for each share or mean. `to_frame` returns them as a table, and
        ``print`` shows them with a paragraph on methods.

    Raises
    ------
    ValueError
        If a report cannot come from the device, the design contradicts itself, or something is
        stated that has no use.

    References
    ----------
    Särndal, Swensson and Wretman (1992) for the designs; Chaudhuri (2011), *Randomized Response and
    Indirect Questioning Techniques in Surveys*, for the variance.

    Examples
    --------
    Of 500 people in a simple random sample of 1,000, Warner's device made 213 say yes.

    >>> tallies = {"report": ["yes", "no"], "count": [213, 287]}
    >>> found = estimate(tallies, mechanism="Warner", epsilon=1, population=1000).rows[0]
    >>> round(found.estimate, 6), round(found.standard_error, 6), found.low, found.high
    (0.339867, 0.045475, 0.25, 0.431)
    """
    checks.open_probability(level, "level")
    used = device(p=p, q=q, mechanism=mechanism, epsilon=epsilon, values=values, low=low, high=high)
    if simultaneous and len(used.estimated) < 2:
        raise ValueError("simultaneous needs several shares, but one share or mean is estimated")
    if difference is not None:
        if by is None:
            raise ValueError("difference needs by, the column with the two groups")
        difference = _two_groups(difference)
    absent = checked_missing(missing, used)
    columns = _columns(table)
    group = None if by is None else _group(columns, by)

    if reports is not None:
        if set(columns) & set(_DESIGN) or group or clusters or absent:
            raise ValueError(
                "reports (their number) must not be given with a design, groups or missing"
            )
        checks.whole(reports, "reports", at_least=2)
        spoken = said_by_tallies(used, columns, reports)
        sample = drawn_sample(spoken.number, population=_sizes(population, "population"))
        cells = None
        left_out = 0
    else:
        cells, left_out = _cells(columns, group, absent)
        spoken = said(used, columns["report"], cells)
        sample = _sample(columns, cells, population, clusters)

    parts = len(used.estimated) if simultaneous else 1
    survey = _Survey(used, sample, spoken, (1 - level) / parts, population == "everyone")
    rows = survey.of("")
    if group is not None and cells is not None:
        words = ["" if word in absent else word for word in cells.words(columns[group])]
        rows += survey.by(group, words, difference)

    unused = tuple(name for name in columns if name not in ("report", "count", group, *_DESIGN))
    return Estimates(
        rows=tuple(rows),
        device=used,
        sample=sample,
        level=level,
        simultaneous=simultaneous,
        missing=left_out,
        unused=unused,
        remark=spoken.remark,
    )


def _columns(table: Any) -> tables.Table:
    """Return the columns of a table; the one with reports is called report."""
    found = tables.table(table)
    if "report" not in found and "value" in found:
        found["report"] = found.pop("value")
    if "report" not in found:
        names = checks.shown(", ".join(found))
        raise ValueError(f"one of the columns must be called report, got {names}")
    return found


def _two_groups(pair: Any) -> tuple[str, str]:
    """Return the words of two groups."""
    if isinstance(pair, str) or len(pair) != 2:
        raise ValueError(f"difference must be two groups, got {checks.shortened(pair)}")
    return tables.word_of(pair[0]), tables.word_of(pair[1])


def _group(columns: tables.Table, by: str) -> str:
    """Return the name of the column whose groups get estimates, as the table has it."""
    name = str(by).strip().lower()
    if name not in columns or name in ("report", "count"):
        others = [column for column in columns if column not in ("report", "count")]
        among = f"one of {checks.shown(', '.join(others))}" if others else "but there is none"
        raise ValueError(f"by must be a public column, {among}, got {checks.shown(str(by))}")
    return name


def _cells(columns: tables.Table, group: str | None, absent: tuple[str, ...]) -> tuple[Cells, int]:
    """Return the cells of all rows that have a report, and how many reports are missing."""
    is_present = columns["report"].is_present(absent)
    count = np.ones(is_present.size)
    if "count" in columns:
        count = whole_counts(columns["count"])
    kept = np.flatnonzero(is_present & (count > 0))
    if not kept.size:
        raise ValueError("there must be at least one report, got none")

    names = [name for name in (*_DESIGN, group) if name in columns]
    alike = [columns[name] for name in dict.fromkeys(names)]
    return cells_of(alike, kept, count[kept]), int(count[~is_present].sum())


def _sample(columns: tables.Table, cells: Cells, population: Any, clusters: Any) -> Sample:
    """Return the sample that the columns and the sizes describe."""
    if population is not None and "cluster" in columns:
        raise ValueError(
            "population must not be given for a cluster sample: give clusters, their number"
        )

    drawn: dict[str, Any] = {}
    where = np.zeros(columns["report"].codes.size, dtype=bool)
    where[cells.kept] = True
    for name in ("stratum", "cluster"):
        if name in columns:
            empty = where & ~columns[name].is_present()
            if empty.any():
                row = int(np.argmax(empty)) + 1
                raise ValueError(f"{name} must have an entry in every row, got none in row {row}")
    if "stratum" in columns:
        drawn["stratum"] = cells.words(columns["stratum"])
    if "cluster" in columns:
        drawn["cluster"] = columns["cluster"].codes[cells.first]
    if "weight" in columns:
        weights = columns["weight"].numbers("weight", is_positive=True, where=where)
        drawn["weight"] = weights[cells.first]
    if "cluster_size" in columns:
        sizes = columns["cluster_size"].numbers("cluster_size", least=1.0, where=where)
        drawn["cluster_size"] = sizes[cells.first]
    return drawn_sample(
        cells.number,
        population=_sizes(population, "population"),
        clusters=_sizes(clusters, "clusters"),
        **drawn,
    )


def _sizes(stated: Any, name: str) -> Any:
    """Return a number of people or clusters, or one for each stratum, after checking it."""
    if isinstance(stated, Mapping):
        sizes = {
            tables.word_of(stratum): checks.whole(size, f"{name} of stratum {stratum}", at_least=1)
            for stratum, size in stated.items()
        }
        if len(sizes) < len(stated):
            raise ValueError(f"{name} must name every stratum once, got {list(stated)}")
        return sizes
    if stated is None or isinstance(stated, str):
        return stated
    return checks.whole(stated, name, at_least=1)


@dataclass(frozen=True, eq=False)
class _Survey:
    """What the estimates of everybody, of groups and of differences have in common."""

    device: Device
    sample: Sample
    said: Said
    alpha: float
    is_census: bool

    def of(self, group: str, members: Any = None) -> list[Estimate]:
        """Return the estimates of everybody, or of a group's `members`, a choice of cells."""
        inside = np.ones(self.sample.number.size, dtype=bool) if members is None else members
        if self.sample.units(inside) < 2:
            return self.too_few(group, inside)

        rows = []
        for place, of in enumerate(self.device.estimated):
            point = self.point(place, members)
            rows.append(self.row(of, group, inside, point, self.exact(place, members)))
        return self.with_shares(rows, members)

    def too_few(self, group: str, inside: Any) -> list[Estimate]:
        """Return rows without estimates, for a group that has too few reports for them."""
        number = int(self.sample.number[inside].sum())
        units = "people" if self.sample.cluster is None else "clusters"
        remark = f"fewer than two {units} have reports, which is too few for a standard error."
        return [Estimate(of, group, number, remark=remark) for of in self.device.estimated]

    def by(
        self, column: str, words: list[str], difference: tuple[str, str] | None
    ) -> list[Estimate]:
        """Return the estimates of the groups that a column names, and the difference of two."""
        entries = np.array(words, dtype=str)
        members = {name: entries == name for name in sorted(set(words) - {""})}
        rows = []
        for name, inside in members.items():
            rows += self.of(f"{column} {name}", inside)

        pair = difference or (tuple(members) if len(members) == 2 else ())
        for name in pair:
            if name not in members:
                raise ValueError(
                    f"difference must be of two of {', '.join(members)}, got {checks.shown(name)}"
                )
        if difference is not None and pair[0] == pair[1]:
            raise ValueError(f"difference must be of two different groups, got {pair[0]} twice")
        if not pair:
            return rows

        first = members[pair[0]]
        second = members[pair[1]]
        group = f"{column} {pair[0]} minus {pair[1]}"
        if self.sample.units(first) < 2 or self.sample.units(second) < 2:
            return [*rows, *self.too_few(group, first | second)]
        for place, of in enumerate(self.device.estimated):
            point = self.point(place, first).minus(self.point(place, second))
            rows.append(self.row(of, group, first | second, point, None, is_difference=True))
        return rows

    def point(self, place: int, members: Any = None) -> Point:
        """Return the estimate for an answer."""
        return estimated(self.sample, self.device, self.said.values(place), members)

    def exact(self, place: int, members: Any) -> Interval | None:
        """Return the exact interval, or None where the design has none."""
        if self.said.ones is None or not self.sample.is_simple:
            return None

        inside = slice(None) if members is None else members
        number = int(self.sample.number[inside].sum())
        ones = int(self.said.ones(place)[inside].sum())
        people = self.sample.population
        if members is not None and math.isfinite(people):
            # How large the group is in the population is not known, unless all are here.
            people = float(number) if self.is_census else math.nan

        rates = self.device.upright()
        if not self.device.is_of_numbers and not math.isnan(people):
            return intervals.exact_share(ones, number, people, self.device, self.alpha)
        if math.isinf(people) or number * min(rates.q, 1 - rates.p) > 1:
            return intervals.through_device(ones, number, self.device, self.alpha)
        return None

    def row(
        self,
        of: str,
        group: str,
        inside: Any,
        point: Point,
        found: Interval | None,
        *,
        is_difference: bool = False,
    ) -> Estimate:
        """Return an estimate in the unit of the range."""
        variance = point.variance(self.sample)
        if found is None:
            freedom = self.sample.freedom(inside)
            found = intervals.student(
                point.estimate, variance, freedom, self.alpha, is_difference=is_difference
            )
        length = self.device.length
        start = 0.0 if is_difference else self.device.low
        value = start + length * point.estimate
        number = int(self.sample.number[inside].sum())
        is_complete = bool((self.sample.fraction == 1).all())
        if not variance > intervals.NOTHING and not (is_complete and found.low == found.low):
            return Estimate(
                of=of,
                group=group,
                reports=number,
                estimate=value,
                low=start + length * found.low,
                high=start + length * found.high,
                interval=found.how if found.low == found.low else "",
                remark=found.warning or intervals.CONSTANT,
            )

        variance = max(variance, 0.0)
        noise = min(point.randomisation, variance)
        if is_complete:  # of a census all of the error is the device's
            noise = variance
        return Estimate(
            of=of,
            group=group,
            reports=number,
            estimate=value,
            standard_error=length * math.sqrt(variance),
            low=start + length * found.low,
            high=start + length * found.high,
            sampling=length * math.sqrt(variance - noise),
            randomisation=length * math.sqrt(noise),
            interval=found.how,
            remark=found.warning,
        )

    def with_shares(self, rows: list[Estimate], members: Any) -> list[Estimate]:
        """Return estimates of three or more shares with those that sum to 1 beside them."""
        if len(rows) < 3:
            return rows

        from ldpnb.survey.shares import most_likely, norm_sub

        unbiased = np.array([row.estimate for row in rows])
        projected = norm_sub(unbiased)
        likely = most_likely(self.device, self.said, unbiased, self.sample.weight, members)
        return [
            replace(row, norm_sub=float(one), mle=float(other))
            for row, one, other in zip(rows, projected, likely, strict=True)
        ]
