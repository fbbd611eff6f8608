"""A plan for the field, and its file: question, design, mechanism, estimator, promise.

What is estimated afterwards, and how, is fixed before anybody is asked. A file carries a checksum of its content, so
that a plan that was changed by hand is refused rather than estimated from.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ldpnb import checks
from ldpnb.surveys.reports import DEVICES, KINDS, Reports, odds
from ldpnb.writing import write

ESTIMATORS: Mapping[str, str] = MappingProxyType(
    {
        "mean": "the plain mean of the unbiased reports of all who answered",
        "stratified mean": "shares of the population times the strata's means of the unbiased reports; the pooled mean "
        "only if numbers are exactly proportional",
        "expansion": "c + M/(m N) times the sum over the clusters drawn of N_g (mean of the unbiased reports - c), c "
        "the middle of the range; the mean of all reports only if all sizes are equal",
        "class mean": "shares of those asked in each class times the class's mean of the unbiased reports",
        "release": "the one number that the curator released",
    }
)
"""Estimators of means; that by nonresponse classes is of no plan."""

_DESIGNS = {
    "everyone": ("", "mean"),
    "simple": ("", "mean"),
    "strata": ("stratum", "stratified mean"),
    "clusters": ("cluster", "expansion"),
    "two stages": ("cluster", "expansion"),
}
"""Designs: the column that tells the parts of the sample apart, and the estimator."""

_FORMAT, _SUM = "ldpnb plan 1", "sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlan:
    """What the field needs to know and the estimate will use.

    - `design`, `kind`, `device`, str: the kind of the reports, and one of `ldpnb.surveys.reports.DEVICES`; or
      ``curator``, who releases one number with Laplace noise, of a simple sample's yes/no answers or numbers.
    - `p`, `q`, str: chances that a report supports what its sender holds, and another given value: those of the device
      that is used, as fractions such as ``"73/100"``. Not of Laplace noise.
    - `epsilon`, float: exact loss of a report or a release, nats; it must be given of Laplace noise.
    - `question`, str: as it will be asked.
    - `low`, `high`, `labels`: the range of numbers, or the values of no and yes, and what people choose from.
    - `population`, int: people there are; not with `everyone`, whose promise is for the respondents.
    - `strata`, mapping: from a stratum to its size and how many to ask; `needed`, tuple of int: answers of each that
      the promise needs.
    - `clusters`, `chosen`, `take`, `cluster_size`, int: clusters there are and to draw, people to ask in each (0: all),
      people in each (0: they differ).
    - `asked`, `answers`, int: people to invite, and answers that the promise needs, or that are in a release.
    - `error`, `failure`, `bound`: an error of `error` or more has probability `failure` at most, by this law or bound.
    - `assumed`, str: what that takes as given, in words; empty if nothing.

    >>> plan = FieldPlan(design="everyone", kind="binary", p="3/4", q="1/4", asked=500)
    >>> plan.estimator, round(plan.epsilon, 4)
    ('mean', 1.0986)
    """

    design: str
    kind: str
    p: str = ""
    q: str = ""
    epsilon: float = math.nan
    question: str = ""
    device: str = "form"
    low: float = 0.0
    high: float = 1.0
    labels: tuple[str, ...] = ()
    population: int = 0
    strata: Mapping[str, tuple[int, int]] | None = None
    needed: tuple[int, ...] = ()
    clusters: int = 0
    chosen: int = 0
    take: int = 0
    cluster_size: int = 0
    asked: int = 0
    answers: int = 0
    error: float = math.nan
    failure: float = math.nan
    bound: str = ""
    assumed: str = ""

    def __post_init__(self) -> None:
        checks.plain(self, asked=1)
        for name, among in {
            "design": _DESIGNS,
            "kind": KINDS,
            "device": (*DEVICES, "curator"),
        }.items():
            checks.choice(getattr(self, name), name, among=tuple(among))
        k, strata, (p, q) = len(self.labels), self.strata or {}, self.chances
        counted, curator = self.design not in ("everyone", "strata"), self.device == "curator"
        rules = (
            ("high", "be > low", self.low < self.high),
            ("epsilon", "be > 0 with Laplace noise", not self.noisy or self.epsilon > 0),
            ("q", "satisfy 0 < q < p < 1", self.noisy or 0 < q < p < 1),
            (
                "labels",
                "be given for kinds labels and bits",
                (self.kind in ("labels", "bits")) == (k > 0),
            ),
            ("labels", "be there once each", len(set(self.labels)) == k),
            (
                "p",
                "be 1 - (k - 1) q of k labels",
                self.kind != "labels" or abs(p + (k - 1) * q - 1) < 1e-9,
            ),
            (
                "strata",
                "be given with design strata and no other",
                bool(strata) == (self.unit == "stratum"),
            ),
            (
                "strata",
                "be asked 1 to all of their people",
                all(1 <= asked <= n for n, asked in strata.values()),
            ),
            (
                "population",
                "be all who are asked, or more",
                not counted or self.population >= self.asked,
            ),
            (
                "chosen",
                "be 2 to all clusters",
                self.unit != "cluster" or 2 <= self.chosen <= self.clusters,
            ),
            ("design", "be simple with a curator", not curator or self.design == "simple"),
            (
                "kind",
                "be binary or number with a curator",
                not curator or self.kind in ("binary", "number"),
            ),
            (
                "answers",
                "be 2 to all asked with a curator",
                not curator or 2 <= self.answers <= self.asked,
            ),
        )
        for name, rule, kept in rules:
            if not kept:
                raise ValueError(f"{name} must {rule}, got {name}={getattr(self, name)!r}")
        if math.isnan(self.epsilon):
            object.__setattr__(self, "epsilon", math.log(odds(self.kind, float(p), float(q))))

    @property
    def noisy(self) -> bool:
        """Whether reports are numbers with Laplace noise."""
        return self.kind == "Laplace" or self.device == "curator"

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chances `p` and `q` of the device; 1 and 0 with Laplace noise."""
        try:
            return Fraction(self.p or 1), Fraction(self.q or 0)
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"p and q must be fractions such as 73/100, got p={self.p!r}, q={self.q!r}"
            ) from None

    @property
    def reports(self) -> Reports:
        """The law of the reports, of values as shares of the range; of any one label."""
        (p, q), ends = self.chances, self.kind not in ("number", "Laplace")
        scale = (
            1 / self.epsilon / (self.answers if self.device == "curator" else 1)
            if self.noisy
            else 0.0
        )
        return Reports(float(p), float(q), float(p - q), float(1 - p), scale, ends)

    @property
    def span(self) -> float:
        """Length of the range."""
        return self.high - self.low

    @property
    def estimator(self) -> str:
        """Name of the estimator that the promise is for, one of `ESTIMATORS`."""
        return "release" if self.device == "curator" else _DESIGNS[self.design][1]

    @property
    def unit(self) -> str:
        """Name of the parts of the sample and of the column that tells them apart, if there are any."""
        return _DESIGNS[self.design][0]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the file of reports."""
        size = "cluster_size" if self.clusters and not self.cluster_size else ""
        return ("report", *filter(None, [self.unit, size]))

    def parts(self, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """Return how many people there are and are asked in each part of the sample: of clusters with these sizes."""
        if self.unit == "cluster":
            return {name: (size, min(self.take or size, size)) for name, size in sizes.items()}
        return dict(self.strata or {"all": (self.population, self.asked)})

    def to_json(self) -> str:
        """Return the plan as a JSON object with its checksum; fields that do not apply are left out."""
        return json.dumps(self._content | {_SUM: self.checksum}, indent=1) + "\n"

    @property
    def checksum(self) -> str:
        """SHA-256 of the content, which the plan's file has."""
        return _checksum(self._content)

    @property
    def _content(self) -> dict[str, Any]:
        given = {"format": _FORMAT} | asdict(self) | {"estimator": self.estimator}
        return {key: value for key, value in given.items() if value and value == value}

    def save(self, path: str | Path) -> None:
        """Write the plan to a file, completely or not at all.

        A file that holds something else is a ValueError: reports may have been collected by that plan.
        """
        file, content = Path(path), self.to_json().encode()
        if file.exists() and not (file.is_file() and file.read_bytes() == content):
            raise ValueError(
                f"save must name a new file, got {checks.shown(str(path))}, which holds something else"
            )
        write(file, content)

    @classmethod
    def load(cls, path: str | Path) -> "FieldPlan":
        """Read a plan, and refuse a file that is none, or was changed after it was written."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(content, dict) or content.get("format") != _FORMAT:
                raise ValueError(f"format must be {_FORMAT!r}, as `ldpnb plan --save` writes it")
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{path}: cannot be read as a plan: {checks.shown(str(error))}"
            ) from None
        if content.pop(_SUM, None) != _checksum(content):
            raise ValueError(
                f"{path}: sha256 must be that of the content: the file was changed after it was written"
            )
        return cls(
            **{field.name: content[field.name] for field in fields(cls) if field.name in content}
        )


def tickets_of(span: float) -> int:
    """Return how many tickets stand for the range of a number: one a unit if 10 to 100 do, else 100."""
    return int(span) if span == int(span) and 10 <= span <= 100 else 100


def _checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the content, whatever the order and layout of its entries."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
