"""Claims of the sources and the evidence that decides them.

A source's module holds one function per numbered claim, in the source's order, registered with `claim`. Calling it
computes the evidence and returns a `Verdict`. A check is sound only if its evidence comes by two independent routes
that agree; when they do not, the verdict is ``open``, never a guess. Every formula a check relies on is named in
``rests_on``; the tests break each of them and see the verdict change.
"""

import importlib
import re
from collections.abc import Callable, Iterable
from csv import DictReader
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

Status = Literal["reproduced", "corrected", "refuted", "open"]
Kind = Literal["identity", "enumeration", "certified", "statistical", "proof"]

SOURCES = {
    "biswas2022": "Biswas, Cormode, Maple: Impact of sampling on locally differentially private data collection",
    "bun2022": "Bun, Drechsler, Gaboardi, McMillan, Sarathy: Controlling privacy loss in sampling schemes",
    "lopuhaa2020": "Lopuhaä-Zwakenberg, Li, Škorić, Wang: Improving frequency estimation under local differential "
    "privacy",
    "juarez2022": "Juarez, Korolova: Privately measuring demographic performance disparities in federated learning",
    "lecture20": "Lecture 20: the local model of differential privacy",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What computed evidence says of a claim.

    Parameters
    ----------
    status : {"reproduced", "corrected", "refuted", "open"}
        *reproduced*: holds as stated (under `assumption`, if one is named); *corrected*: right in substance, wrong in a
        constant, sign, range or wording that `corrected` mends; *refuted*: false; *open*: the evidence does not decide.
    evidence : str
        One line with the deciding numbers.
    kind : {"identity", "enumeration", "certified", "statistical", "proof"}
        An algebraic identity checked at machine precision, a complete enumeration, numerics with a certificate, a test
        with a stated false-alarm rate, or a derivation that numbers confirm.
    corrected : str
        The statement that does hold, where the source's does not.
    assumption : str
        What has to be assumed that the source does not say.
    false_alarm : float, optional
        Required of statistical evidence: the chance, at most 1e-6, that the verdict would differ though the claim is as
        decided.
    power : float, optional
        For statistical evidence: the chance of detecting the alternative.

    Raises
    ------
    ValueError
        If a word is not one of the above, a refuted or corrected claim lacks its corrected statement, or statistical
        evidence its rate.
    """

    status: Status
    evidence: str
    kind: Kind
    corrected: str = ""
    assumption: str = ""
    false_alarm: float | None = None
    power: float | None = None

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise ValueError(f"status must be one of {', '.join(get_args(Status))}, got status={self.status!r}")
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got kind={self.kind!r}")
        if self.status in ("refuted", "corrected") and not self.corrected:
            raise ValueError(f"a {self.status} claim needs its corrected statement")
        if self.kind == "statistical" and not (self.false_alarm is not None and 0 < self.false_alarm <= 1e-6):
            raise ValueError(f"statistical evidence needs a false-alarm rate in (0, 1e-6], got {self.false_alarm!r}")


@dataclass(frozen=True, slots=True)
class Claim:
    """One numbered statement of a source and the check that decides it."""

    source: str
    place: str
    says: str
    rests_on: tuple[str, ...]
    check: Callable[[], Verdict] = field(repr=False)

    @property
    def id(self) -> str:
        """Return the identifier, such as ``biswas2022/theorem-3.5``."""
        return f"{self.source}/{re.sub(r'[^a-z0-9.]+', '-', self.place.lower()).strip('-')}"


_registry: dict[str, Claim] = {}


@dataclass(slots=True)
class Evidence:
    """What a check gathers: are its routes sound, does the claim hold, and what the verdict says beside that.

    Every attribute but the first two starts as the decorator states it; a check that computes one sets it.
    """

    sound: bool = True
    holds: bool = True
    corrected: str = ""
    assumption: str = ""
    otherwise: Status = "refuted"
    false_alarm: float | None = None
    power: float | None = None

    def same(self, one: ArrayLike, other: ArrayLike, **tolerance: float) -> None:
        """Require that two independent routes agree (see `agree`), else the verdict is ``open``."""
        self.sure(agree(one, other, **tolerance))

    def sure(self, condition: object) -> None:
        """Require something of the evidence itself, else the verdict is ``open``."""
        self.sound &= bool(condition)

    def needs(self, condition: object) -> None:
        """Require what the claim states."""
        self.holds &= bool(condition)


def claim(
    place: str,
    *rests_on: Any,
    kind: Kind,
    source: str = "",
    **words: Any,
) -> Callable[[Callable[[Evidence], str]], Callable[[Evidence], str]]:
    """Register the decorated check: it gathers `Evidence` and returns the line with the deciding numbers.

    The check's docstring says the claim in one's own words. What holds for a whole section is stated once, by
    ``functools.partial``.

    Parameters
    ----------
    place : str
        Where the source says it: ``"Theorem 3.5"``.
    *rests_on : function, method or property
        The formulas behind the check. It must reach them through their module or class (``sampling.variance_scaled``),
        so that a test can put a broken one in their place.
    kind : {"identity", "enumeration", "certified", "statistical", "proof"}
        Of the evidence, see `Verdict`.
    source : str
        A key of `SOURCES`; left out, the folder of the check's module.
    **words
        ``corrected``, ``assumption``, ``otherwise`` (the status where the claim does not hold), ``false_alarm`` and
        ``power`` of the verdict, where they are not computed.
    """

    def register(check: Callable[[Evidence], str]) -> Callable[[Evidence], str]:
        def decided() -> Verdict:
            found = Evidence(**words)
            text = check(found)
            status = judge(found.holds, sound=found.sound, otherwise=found.otherwise)
            told = (found.corrected, found.assumption, found.false_alarm, found.power)
            return Verdict(status, text, kind, *told)

        decided.__wrapped__ = check  # type: ignore[attr-defined]
        says = " ".join((check.__doc__ or "").split())
        new = Claim(source or check.__module__.split(".")[2], place, says, tuple(map(path_of, rests_on)), decided)
        if new.source not in SOURCES or new.id in _registry or not (new.rests_on and says):
            raise ValueError(f"{new.id}: unknown source, registered twice, saying nothing or resting on nothing")
        _registry[new.id] = new
        return check

    return register


def path_of(formula: Any) -> str:
    """Return where a formula lives within ``ldpnb``.

    >>> path_of(agree), path_of(Claim.id)
    ('claims.agree', 'claims.Claim.id')
    """
    function = getattr(formula, "fget", None) or getattr(formula, "__func__", formula)
    return f"{function.__module__}.{function.__qualname__}".removeprefix("ldpnb.")


def claims(source: str | None = None) -> tuple[Claim, ...]:
    """Return every registered claim, or those of one source, in the sources' order."""
    if source is not None and source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, got source={source!r}")
    for key in SOURCES if source is None else (source,):
        importlib.import_module(f"ldpnb.papers.{key}.claims")
    order = list(SOURCES)
    chosen = [c for c in _registry.values() if source in (None, c.source)]
    return tuple(sorted(chosen, key=lambda c: order.index(c.source)))


def find(identifier: str) -> Claim:
    """Return the claim of that identifier."""
    known = {c.id: c for c in claims(identifier.split("/")[0])}
    if identifier not in known:
        raise ValueError(f"claim must be a registered one, got claim={identifier!r}; {known and list(known)}")
    return known[identifier]


@cache
def decide(identifier: str) -> Verdict:
    """Return the verdict of a claim, computed once per process."""
    return find(identifier).check()


@cache
def published(source: str) -> dict[str, float]:
    """Return the numbers printed in a source that its checks use, by key, from ``papers/<source>/printed.csv``."""
    text = files("ldpnb").joinpath(f"papers/{source}/printed.csv").read_text(encoding="utf-8")
    return {row["key"]: float(row["value"]) for row in DictReader(text.splitlines())}


def agree(one: ArrayLike, other: ArrayLike, *, rel: float = 1e-9, abs: float = 1e-12) -> bool:
    """Return whether two routes to a value agree.

    >>> agree([1.0, 2.0], [1.0, 2.0 + 1e-12])
    True
    """
    return bool(np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=rel, atol=abs))


def judge(holds: bool, *, sound: bool, otherwise: Status = "refuted") -> Status:
    """Return ``reproduced`` or `otherwise`, and ``open`` when the evidence itself is not sound (its routes disagree).

    >>> judge(True, sound=True), judge(False, sound=True, otherwise="corrected"), judge(False, sound=False)
    ('reproduced', 'corrected', 'open')
    """
    if not sound:
        return "open"
    return "reproduced" if holds else otherwise


def ledger(identifiers: Iterable[str]) -> Any:
    """Return the verdicts of some claims as a tidy table.

    Returns
    -------
    pandas.DataFrame
        Columns ``claim, place, says, status, evidence, corrected, assumption, kind, false_alarm, power``, a row per
        claim.
    """
    import pandas as pd

    rows = []
    for identifier in identifiers:
        c, v = find(identifier), decide(identifier)
        rows.append(
            {"claim": c.id, "place": c.place, "says": c.says, "status": v.status, "evidence": v.evidence}
            | {"corrected": v.corrected, "assumption": v.assumption, "kind": v.kind}
            | {"false_alarm": v.false_alarm, "power": v.power}
        )
    columns = [
        "claim",
        "place",
        "says",
        "status",
        "evidence",
        "corrected",
        "assumption",
        "kind",
        "false_alarm",
        "power",
    ]
    return pd.DataFrame(rows, columns=columns)
