"""Sections of a source: a claim's words stand in a TOML file, what decides it in the Python file beside it.

A table of ``section_5.toml`` is a claim, and the function of ``section_5.py`` of the same name decides it; ``@{name}``
in its words is a phrase of the file's ``[phrases]`` or a number that the check returns. CONTRIBUTING.md says what each
key is for. Second routes are registered once: before a check runs, those of every formula in ``rests_on`` are compared,
and the verdict is *open* where two part.
"""

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

from ldpnb import checks
from ldpnb.claims import (
    Claim,
    Evidence,
    Kind,
    Reach,
    Reading,
    Status,
    UnsoundError,
    Verdict,
    path_of,
)

Pairs = Iterable[tuple[Any, ...]]
"""A value of the package, that of the second route, and the relative tolerance where 1e-9 is too fine."""
Numbers = Mapping[str, object] | None
"""What the fields of a claim's words stand for."""

_routes: dict[str, dict[Callable[[], Pairs], list[str]]] = {}
"""The second routes of a source, each with the formulas that it is for."""

_WORDS = ("evidence", "over", "corrected", "answer", "assumption", "conflict", "argument")
_TYPES: dict[str, type] = dict.fromkeys(("place", "says", "asks", *_WORDS), str)
_TYPES |= {"rests_on": list, "example": bool, "false_alarm": float}
_CHOICES: Mapping[str, Any] = {
    "kind": Kind,
    "reach": Reach,
    "reading": Reading,
    "otherwise": Status,
}
_FIELD = re.compile(r"@\{(\w+)(?::([^{}]*))?\}")


def second_route(*formulas: Any) -> Callable[[Callable[[], Pairs]], Callable[[], Pairs]]:
    """Register pairs of values for some formulas: the formula's own, and that of an independent route."""

    def register(pairs: Callable[[], Pairs]) -> Callable[[], Pairs]:
        own = _routes.setdefault(pairs.__module__.split(".")[2], {}).setdefault(pairs, [])
        own += map(path_of, formulas)
        return pairs

    return register


@cache
def parted(pairs: Callable[[], Pairs]) -> str:
    """Return where a formula and its second route part, or nothing; kept, so clear it when a formula is replaced."""
    evidence = Evidence()
    try:
        for one, other, *rel in pairs():
            evidence.same(one, other, rel=rel[0] if rel else 1e-9)
    except UnsoundError as reason:
        return str(reason)
    return ""


def load(source: str) -> list[Claim]:
    """Return the claims of a source, from the sections that its package lists in ``SECTIONS``.

    A wrong key, word, phrase or formula, or a claim without a check, is a `ValueError` that names file and key.
    """
    package = f"ldpnb.papers.{source}"
    return [
        claim
        for name in importlib.import_module(package).SECTIONS
        for claim in _section(source, package, name)
    ]


def _section(source: str, package: str, name: str) -> list[Claim]:
    module = importlib.import_module(f"{package}.{name}")
    file = Path(str(module.__file__)).with_suffix(".toml")
    tables = tomllib.loads(text := file.read_text(encoding="utf-8"))
    shared, phrases, formulas = (tables.pop(key, {}) for key in ("section", "phrases", "formulas"))
    formulas = {
        pairs.__name__.strip("_"): own for pairs, own in _routes.get(source, {}).items()
    } | formulas
    if unused := sorted(phrases.keys() - {name for name, _ in _FIELD.findall(text)}):
        raise ValueError(
            f"{file.name}, [phrases]: every phrase must be used, got {', '.join(unused)}"
        )
    for key, phrase in phrases.items():  # which may use those above it
        phrases[key] = _filled(phrase, phrases)
    loaded = []
    for key, row in tables.items():
        try:
            own = {"place": _place(key)} | shared | row
            words = {k: _filled(v, phrases) if isinstance(v, str) else v for k, v in own.items()}
            loaded.append(_claim(source, key, module, words, formulas))
        except (ValueError, AttributeError, ImportError) as error:
            raise ValueError(f"{file.name}, [{key}]: {error}") from error
    return loaded


def _place(key: str) -> str:
    """Return where a claim stands: ``theorem-4.1-allocation`` is *Theorem 4.1, allocation*, ``equation-7`` *(7)*."""
    if not (place := re.fullmatch(r"([a-z]+)-([a-z\d][\d.]*)(?:-(.+))?", key)):
        return key.capitalize().replace("-", " ")
    kind, number, more = place.groups(default="")
    number = f"({number})" if kind == "equation" else number.upper()
    return ", ".join(filter(None, (f"{kind.capitalize()} {number}", more.replace("-", " "))))


def _filled(text: str, phrases: Mapping[str, str]) -> str:
    """Return text on one line, its phrases filled in."""
    return _FIELD.sub(lambda field: phrases.get(field[1], field[0]), " ".join(text.split()))


def _claim(
    source: str, key: str, module: Any, row: dict[str, Any], groups: Mapping[str, list[str]]
) -> Claim:
    for name, value in row.items():
        if name in _CHOICES:
            checks.choice(value, name, among=get_args(_CHOICES[name]))
        elif not isinstance(value, _TYPES[checks.choice(name, "key", among=(*_TYPES, *_CHOICES))]):
            raise ValueError(
                f"{name} must be of type {_TYPES[name].__name__}, got {name}={value!r}"
            )
    question = "asks" in row
    if missing := {"asks" if question else "says", "kind", "evidence", "rests_on"} - row.keys():
        raise ValueError(f"{', '.join(sorted(missing))} must be given")
    if question != ("answer" in row):
        raise ValueError("a question (asks) and its answer must be given together")
    rests_on = tuple(
        dict.fromkeys(
            _path(f, module) for name in row["rests_on"] for f in groups.get(name, [name])
        )
    )
    check: Callable[[Evidence], Numbers] = getattr(
        module, re.sub(r"\W", "_", re.sub(r"^(?=\d)", "claim_", key))
    )
    prose = {"corrected" if name == "answer" else name: row[name] for name in _WORDS if name in row}
    settings = {name: row[name] for name in ("reach", "reading", "false_alarm") if name in row}

    def decided() -> Verdict:
        evidence = Evidence(otherwise=row.get("otherwise", "corrected"))
        try:
            for path in rests_on:
                for pairs, own in _routes.get(source, {}).items():
                    if path in own:
                        evidence.sure(not parted(pairs), parted(pairs))
            texts: dict[str, Any] = _numbered(prose, check(evidence) or {}, f"{source}/{key}")
            conflict = texts.pop("conflict", "")
            stated = Verdict(
                status="open", kind=row["kind"], power=evidence.power, **settings, **texts
            )
            return evidence.verdict(
                stated, example=row.get("example", False), question=question, conflict=conflict
            )
        except UnsoundError as reason:
            return Verdict(
                status="open",
                evidence=str(reason),
                kind=row["kind"],
                false_alarm=row.get("false_alarm"),
            )

    decided.__wrapped__ = check  # type: ignore[attr-defined]  # where `inspect` finds what decides
    return Claim(source, key, row["place"], row["asks" if question else "says"], rests_on, decided)


def _path(formula: str, module: Any) -> str:
    """Return the path in ``ldpnb`` of a formula that is named as in the module of checks, or by that path."""
    try:
        return path_of(pkgutil.resolve_name(f"{module.__name__}:{formula}"))
    except AttributeError:
        return path_of(pkgutil.resolve_name(f"ldpnb.{formula}"))


def _numbered(
    words: Mapping[str, str], numbers: Mapping[str, object], claim: str
) -> dict[str, str]:
    """Return the words of a claim with the numbers of its check filled in."""
    fields = {name for text in words.values() for name, _ in _FIELD.findall(text)}
    if fields != numbers.keys():
        rule = "the fields of its words must be the numbers that its check returns"
        raise ValueError(
            f"{claim}: {rule}, one of both lacks {', '.join(sorted(fields ^ numbers.keys()))}"
        )
    filled = partial(_FIELD.sub, lambda field: format(numbers[field[1]], field[2] or ""))
    return {name: filled(text) for name, text in words.items()}
