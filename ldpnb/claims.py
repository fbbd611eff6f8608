"""Claims of the sources and the evidence that decides them.

A source's sections hold the words of its claims, and a check for each (`ldpnb.sections`). Calling the check computes
the evidence and returns a `Verdict`. A check is sound only if its evidence comes by two independent routes that agree;
when they do not, the verdict is ``open``, never a guess. Every formula that a check calls is named in ``rests_on``; the
tests trace the calls, break each formula and see the verdict become ``open``.

Words of degree are judged by one rule for all sources (`within`, `better`).
"""

import importlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ldpnb import checks, extras, writing

Status = Literal["reproduced", "supported", "corrected", "refuted", "answered", "open"]
Kind = Literal["identity", "enumeration", "certified", "statistical", "proof"]
Reach = Literal["all parameters", "a box", "instances"]
Reading = Literal["printed", "reconstructed"]

SOURCES = MappingProxyType(
    {
        "biswas2022": "Biswas, Cormode, Maple: Impact of sampling on locally differentially private data collection",
        "bun2022": "Bun, Drechsler, Gaboardi, McMillan, Sarathy: Controlling privacy loss in sampling schemes",
        "lopuhaa2020": "Lopuhaä-Zwakenberg, Z. Li, Škorić, N. Li: Improving frequency estimation under local differential "
        "privacy",
        "juarez2022": "Juarez, Korolova: Privately measuring demographic performance disparities in federated learning",
        "lecture20": "Lecture 20: the local model of differential privacy",
    }
)

LEDGERS = MappingProxyType(
    SOURCES | {"companion": "Results of this companion, which no source states"}
)
"""The sources, and the companion's own results, which are decided like their claims but counted separately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of the evidence computed for a claim; its fields are columns of the ledger.

    - `status`, Status: *reproduced*: holds as stated (under `assumption`, if one is named); *supported*: holds wherever
      it was tried, but claims more; *corrected*: right in substance, wrong in a constant, sign, range or wording;
      *refuted*: false; *answered*: a question; *open*: the evidence does not decide.
    - `reach`, `over`, Reach, str: for which parameters the true statement (the claim or its correction) is decided:
      *all parameters* that it covers or *a box* of them, by a decider, or *instances*; and their domain, the box, or
      why no more instances.
    - `evidence`, str: one line with the deciding numbers.
    - `corrected`, `assumption`, `argument`, str: what does hold where the statement does not, or the answer to a
      question; what must be assumed beyond what the source says; steps of a proof that no decider checks.
    - `reading`, Reading: whether the source's statement can be read in the text at hand, or its formula is lost and was
      reconstructed, as the assumption then says.
    - `kind`, Kind: an algebraic identity checked at machine precision, a complete enumeration, numerics with a
      certificate, a test with a stated false-alarm rate, or a derivation that numbers confirm.
    - `false_alarm`, `power`, float, optional: of statistical evidence: the chance, at most 1e-6, that the verdict would
      differ though the claim is as decided, which is required, and the chance of detecting the alternative.
    """

    status: Status
    reach: Reach = "instances"
    over: str = ""
    evidence: str
    corrected: str = ""
    assumption: str = ""
    argument: str = ""
    reading: Reading = "printed"
    kind: Kind
    false_alarm: float | None = None
    power: float | None = None

    def __post_init__(self) -> None:
        if (
            self.kind == "statistical"
            and self.status != "open"
            and not 0 < (self.false_alarm or 0) <= 1e-6
        ):
            raise ValueError(
                f"statistical evidence needs a false-alarm rate in (0, 1e-6], got {self.false_alarm!r}"
            )
        if self.reading == "reconstructed" and not self.assumption:
            raise ValueError("a reconstructed reading is an assumption, and needs one")


@dataclass(frozen=True, slots=True)
class Claim:
    """One numbered statement, or question, of a source and the check that decides it."""

    source: str
    key: str
    place: str
    says: str
    rests_on: tuple[str, ...]
    check: Callable[[], Verdict] = field(repr=False)

    @property
    def id(self) -> str:
        """Return the identifier, such as ``biswas2022/theorem-3.5``."""
        return f"{self.source}/{self.key}"


class UnsoundError(Exception):
    """The evidence does not support a verdict: two routes disagree, or a step of a proof fails."""


@dataclass(slots=True)
class Evidence:
    """What a check gathers: whether the claim holds, and whether a decider has answered.

    A check may also set what the claim is `otherwise`, and the `power` of a test. The first doubt about the evidence
    itself ends the check, and the verdict is ``open``.
    """

    holds: bool = True
    decided: bool = False
    otherwise: Status = "refuted"
    power: float | None = None

    def same(self, one: ArrayLike, other: ArrayLike, **tolerance: float) -> None:
        """Require that two independent routes agree (see `agree`), else the verdict is ``open``."""
        if not agree(one, other, **tolerance):
            raise UnsoundError(
                f"two routes part: {np.asarray(one)!r:.60} and {np.asarray(other)!r:.60}"
            )

    def sure(
        self, condition: object, doubt: str = "something that the evidence rests on does not hold"
    ) -> None:
        """Require a property of the evidence itself, else the verdict is ``open``, for that doubt."""
        if not condition:
            raise UnsoundError(doubt)

    def needs(self, condition: object) -> None:
        """Require what the claim states."""
        self.holds &= bool(condition)

    def proven(self, answer: bool | None) -> None:
        """Require a step of a proof, answered by a decider for every parameter, else the verdict is ``open``."""
        self.sure(
            answer is True, f"a step of the proof is {'false' if answer is False else 'undecided'}"
        )
        self.decided = True

    def decides(self, answer: bool | None) -> None:
        """Take a decider's answer about the claim: False is a counterexample, None leaves it ``open``."""
        self.sure(answer is not None, "the decider finds neither a proof nor a counterexample")
        self.holds, self.decided = self.holds and bool(answer), True

    def verdict(
        self, stated: Verdict, *, example: bool = False, question: bool = False, conflict: str = ""
    ) -> Verdict:
        """Return the verdict that the claim's words state, its status and reach by the evidence.

        A reach beyond instances requires an answer by a decider. A claim that holds on instances is *supported*, unless
        it is about these instances only (`example`); so is one whose reconstructed formula is in `conflict` with a
        sentence of the source. One that fails, though nobody has written what holds instead, is ``open``; so is a
        question whose answer fails.
        """
        reach = stated.reach if self.decided else "instances"
        status: Status = "reproduced" if self.holds else self.otherwise
        if status in ("refuted", "corrected") and not stated.corrected:
            raise UnsoundError(
                f"what the claim states fails, and no corrected statement is known: {stated.evidence}"
            )
        if question:
            self.sure(self.holds, f"the answer given does not hold: {stated.evidence}")
            status = "answered"
        elif status == "reproduced" and (conflict or (reach == "instances" and not example)):
            status = "supported"
        assumption = "; in conflict with the source: ".join(
            filter(None, (stated.assumption, conflict))
        )
        return replace(stated, status=status, reach=reach, assumption=assumption)


def path_of(formula: Any) -> str:
    """Return where a formula lives within ``ldpnb``, such as ``privacy.subsampling.srs_loss``."""
    function = getattr(formula, "fget", None) or getattr(formula, "__func__", formula)
    return f"{function.__module__}.{function.__qualname__}".removeprefix("ldpnb.")


@cache
def claims(source: str | None = None) -> tuple[Claim, ...]:
    """Return every registered claim, or those of one source, in the order of `LEDGERS`."""
    if source is None:
        return tuple(claim for key in LEDGERS for claim in claims(key))
    return tuple(
        importlib.import_module("ldpnb.sections").load(
            checks.choice(source, "source", among=tuple(LEDGERS))
        )
    )


def find(identifier: str) -> Claim:
    """Return the claim of that identifier."""
    known = {c.id: c for c in claims(identifier.split("/")[0])}
    return known[checks.choice(identifier, "claim", among=tuple(known))]


@cache
@extras.needed()
def decide(identifier: str) -> Verdict:
    """Decide a claim of one of the sources.

    The claim is checked anew when it is first asked for; the verdict is kept until Python ends.

    Parameters
    ----------
    identifier : str
        Source and claim, such as ``"biswas2022/theorem-3.5"``. ``ldpnb verdicts`` lists them all.

    Returns
    -------
    Verdict
        Its `status` says whether the claim holds, `evidence` gives the numbers that decide, and
        `corrected` says what does hold if the claim does not. A check whose evidence does not suffice
        gives the status ``open``; it does not raise an error.

    Raises
    ------
    ValueError
        If there is no such source or claim.

    Examples
    --------
    >>> decide("biswas2022/theorem-3.5").status
    'refuted'
    """
    return find(identifier).check()


@cache
def published(source: str) -> dict[str, float]:
    """Return the printed numbers of a source that its checks use, by key, from ``papers/<source>/printed.csv``."""
    return {row["key"]: float(row["value"]) for row in writing.rows(f"papers/{source}/printed.csv")}


def agree(one: ArrayLike, other: ArrayLike, *, rel: float = 1e-9, abs: float = 1e-12) -> bool:
    """Return whether two routes to a value, or to values of one shape, agree."""
    return bool(np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=rel, atol=abs))


WORDS = MappingProxyType({"equal": 1.05, "about": 1.1, "similar": 1.25, "near": 4.0})
"""Words of degree, and the largest ratio of two quantities (errors, costs, losses) for which they hold."""


def within(word: str, one: ArrayLike, other: ArrayLike) -> bool:
    """Return whether positive quantities are everywhere ``equal``, ``about`` the same, ``similar`` or ``near``.

    >>> within("equal", 1.0, 1.04), within("equal", 1.0, 1.06), within("near", [1.0, 2.0], [3.0, 2.0])
    (True, False, True)
    """
    ratio = np.asarray(one, dtype=float) / np.asarray(other, dtype=float)
    return bool(np.all((ratio <= WORDS[word]) & (1 / ratio <= WORDS[word])))


def better(one: ArrayLike, other: ArrayLike) -> bool:
    """Return whether one error is everywhere smaller than another, and not `within` ``equal`` of it.

    >>> better(1.0, 1.06), better(1.0, 1.04)
    (True, False)
    """
    return bool(
        np.all(np.asarray(one, dtype=float) * WORDS["equal"] < np.asarray(other, dtype=float))
    )


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a positive number with a few significant digits, rounded up, so that what is printed is promised as well.

    >>> rounded_up(0.557711), rounded_up(1.0), rounded_up(0.0)
    ('0.5578', '1', '0')
    """
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{math.ceil(value / unit - 1e-6) * unit:.{digits}g}"


def joined(numbers: Iterable[object], form: str = ".4f") -> str:
    """Return numbers with commas between them, all in one format."""
    return ", ".join(format(number, form) for number in numbers)
