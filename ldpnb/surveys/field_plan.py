"""A plan for the field, and its file: question, design, mechanism, estimator, promise.

What is estimated afterwards, and how, is fixed before anybody is asked. A file carries a checksum of its content, so
that a plan that was changed by hand is refused rather than estimated from.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from ldpnb import checks
from ldpnb.surveys.reports import DEVICES, Kind, Reports
from ldpnb.writing import write

DesignName = Literal["everyone", "simple", "strata", "clusters", "two stages"]

ESTIMATORS: Mapping[str, str] = MappingProxyType(
    {
        "mean": "the plain mean of the unbiased reports of all who answered",
        "stratified mean": "shares of the population times the strata's means of the unbiased reports; the pooled mean "
        "only if numbers are exactly proportional",
        "expansion": "c + M/(m N) times the sum over the clusters drawn of N_g (mean of the unbiased reports - c), c "
        "the middle of the range; the mean of all reports only if all sizes are equal",
        "release": "the one number that the curator released",
    }
)
"""Estimators, each of which `ldpnb.surveys.estimation` computes under this name."""

_DESIGNS = {
    "everyone": ("mean", ""),
    "simple": ("mean", ""),
    "strata": ("stratified mean", "stratum"),
    "clusters": ("expansion", "cluster"),
    "two stages": ("expansion", "cluster"),
}
"""The estimator of each design, and the column that tells the parts of its sample apart."""

_FORMAT, _SUM = "ldpnb plan 1", "sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlan:
    """What the field needs to know and the estimate will use.

    Parameters
    ----------
    design, kind, collection, device : str
        The kind is that of the reports, or of the values that a curator has (``binary`` or ``number``); the device is
        one of `ldpnb.surveys.reports.DEVICES`.
    p, q : str, optional
        Chances of the device as fractions, ``"73/100"``; see `ldpnb.surveys.reports.Reports`.
    epsilon : float
        Exact loss of a report, or of the release, nats.
    question : str
        As it will be asked.
    low, high, labels
        The range of numbers, and what people choose from.
    population : int, optional
        People there are; not with `everyone`, whose promise is for the respondents.
    strata : mapping, optional
        From a stratum to its size and how many to ask.
    clusters, chosen, take, cluster_size : int, optional
        Clusters there are and to draw, people to ask in each (0: all), people in each (0: they differ).
    asked, answers : int
        People to invite, and answers that the promise needs.
    scale : float, optional
        Of a curator's noise.
    error, failure, bound
        The promise: an error of `error` or more has probability `failure` at most, by this law or bound.

    Examples
    --------
    >>> plan = FieldPlan(design="everyone", kind="binary", p="3/4", q="1/4", asked=500)
    >>> plan.estimator, round(plan.reports.epsilon, 4)
    ('mean', 1.0986)
    """

    design: DesignName
    kind: Kind
    p: str = ""
    q: str = ""
    epsilon: float = math.nan
    question: str = ""
    collection: Literal["local", "curator"] = "local"
    device: str = "form"
    low: float = 0.0
    high: float = 1.0
    labels: tuple[str, ...] = ()
    population: int = 0
    strata: Mapping[str, tuple[int, int]] | None = None
    clusters: int = 0
    chosen: int = 0
    take: int = 0
    cluster_size: int = 0
    asked: int = 0
    answers: int = 0
    scale: float = 0.0
    error: float = math.nan
    failure: float = math.nan
    bound: str = ""

    def __post_init__(self) -> None:
        checks.choice(design=self.design, among=tuple(_DESIGNS))
        checks.choice(device=self.device, among=tuple(DEVICES))
        checks.whole(asked=self.asked, at_least=1)
        self.reports  # noqa: B018, refuses chances that no device has
        if bool(self.strata) != (self.design == "strata"):
            raise ValueError(f"strata must be given with design strata and no other, got design={self.design}")
        for name, (size, asked) in (self.strata or {}).items():
            if not 1 <= asked <= size:
                raise ValueError(f"stratum {name} must be asked 1 to {size:,} people, got {asked:,}")
        if self.design not in ("everyone", "strata"):
            checks.whole(population=self.population, at_least=self.asked)
        if self.unit == "cluster" and not 2 <= self.chosen <= self.clusters:
            raise ValueError(f"chosen must be 2 to {self.clusters:,} clusters, got {self.chosen:,}")
        if self.collection == "curator" and (self.design != "simple" or self.kind not in ("binary", "number")):
            raise ValueError(f"a curator's release is estimated of a simple sample's mean only, got {self.design}")

    @property
    def reports(self) -> Reports:
        """What a report is."""
        if self.collection == "curator" or self.kind == "Laplace":
            return Reports("Laplace", low=self.low, high=self.high, budget=self.epsilon)
        p, q = map(float, self.chances)
        return Reports(self.kind, p, q, self.low, self.high, self.labels)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Exact chances `p` and `q` of the device; not of Laplace noise."""
        try:
            return Fraction(self.p), Fraction(self.q)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"p and q must be fractions such as 73/100, got p={self.p!r}, q={self.q!r}") from None

    @property
    def estimator(self) -> str:
        """Name of the estimator that the promise is for, one of `ESTIMATORS`."""
        return "release" if self.collection == "curator" else _DESIGNS[self.design][0]

    @property
    def unit(self) -> str:
        """Name of the parts of the sample and of the column that tells them apart, if there are any."""
        return _DESIGNS[self.design][1]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the file of reports."""
        size = "cluster_size" if self.clusters and not self.cluster_size else ""
        return ("report", *filter(None, [self.unit, size]))

    @property
    def open_size(self) -> bool:
        """Whether it is open how many people are asked: everybody in clusters whose sizes differ."""
        return self.design == "clusters" and not self.cluster_size

    def to_json(self) -> str:
        """Return the plan as a JSON object with its checksum; fields that do not apply are left out."""
        return json.dumps(self._content | {_SUM: self.checksum}, indent=1, default=np.generic.item) + "\n"

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

        Raises
        ------
        ValueError
            If the file holds something else: reports may have been collected by another plan, which is never replaced.
        """
        file, content = Path(path), self.to_json().encode()
        if file.exists() and not (file.is_file() and file.read_bytes() == content):
            raise ValueError(f"save must name a new file, got {checks.shown(str(path))}, which holds something else")
        write(file, content)

    @classmethod
    def load(cls, path: str | Path) -> "FieldPlan":
        """Read a plan, and refuse a file that is none, or was changed after it was written."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(content, dict) or content.get("format") != _FORMAT:
                raise ValueError(f"format must be {_FORMAT!r}, as `ldpnb plan --save` writes it")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: cannot be read as a plan: {checks.shown(str(error))}") from None
        if content.pop(_SUM, None) != _checksum(content):
            raise ValueError(f"{path}: sha256 must be that of the content: the file was changed after it was written")
        own = {name: value for name, value in content.items() if name not in ("format", "estimator")}
        return cls(**own | {"labels": tuple(content.get("labels", ()))})


def _checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the content, whatever the order and layout of its entries."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=np.generic.item).encode()).hexdigest()
