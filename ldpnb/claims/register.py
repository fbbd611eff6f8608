"""The claims of the sources, their words, and their verdicts.

The words are read from TOML files without importing any code. The check of a claim is looked up by
its name in the Python file beside its words, and only when the claim is decided: this folder knows
no paper, just as a test runner knows no test.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ldpnb import extras, writing
from ldpnb.claims.evidence import Evidence, How, Status, UnsoundError

TEXTS = MappingProxyType(
    {
        "place": "where the claim stands, if its key does not tell",
        "says": "what the source says, in our words",
        "quoted": "at most eight words of the source, where the wording decides",
        "asks": "a question of the source, instead of what it says",
        "over": "the parameters that the claim is decided for",
        "reading": "how it is read: measure, threshold and parameters of a word of degree",
        "evidence": "the deciding numbers, in whole sentences",
        "change": "what must be changed for the claim to hold",
        "instead": "what is true instead of a claim that fails",
        "more": "a sharper or a further result, which changes no status",
        "answer": "the answer to a question",
        "step": "a step of the proof that is argued in words",
        "remark": "other readings, and what holds of them",
        "cause": "the heading in the erratum sheet; claims with one cause stand together there",
        "counterexample": "the smallest counterexample",
        "python": "one line, or few, that computes it without this package",
        "rests": "what in the source rests on the claim",
    }
)
"""The keys of a claim's table that are texts, and what each is for."""

_NUMBERED = "Theorem|Lemma|Proposition|Corollary|Definition|Remark|Figure|Table|Algorithm|Equation"

# 3.6, (7), A.2 or I.
_NUMBER = r"\(?(?:[A-D]\.\d+|\d+(?:\.\d+)*|[IVX]+\b)\)?"

# Theorem 3.6; equations (7) to (9); Lemmas A.2, A.3 and A.4.
_KIND_AND_NUMBERS = re.compile(
    rf"\b({_NUMBERED})s? ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)", re.IGNORECASE
)

# @{name}, or with a format @{name:.3f}.
_FIELD = re.compile(r"@\{(\w+)(?::([^{}]*))?\}")

Numbers = Mapping[str, Any] | None
"""What a check returns: the numbers for the fields ``@{name}`` of the claim's words."""

Check = Callable[[Evidence], Numbers]


@dataclass(frozen=True, slots=True)
class Source:
    """A source: who wrote it, and which text of it was read.

    Attributes
    ----------
    key : str
        The name of its folder in ``ldpnb/papers``.
    number : int
        Its place among the sources, and in the name of its folder of notebooks; 0 for the
        companion's own results, which no source states.
    authors, title, version, read : str
        As in its ``source.toml``: `version` says which text was read and what is lost in it, and
        `read` when.
    no_claim : mapping of str to str
        What the source numbers and no claim covers, each with the reason.
    observations : sequence of str
        The keys of claims of which the authors are told although they hold, at the end of the
        erratum sheet.
    sections : sequence of str
        The files of its claims in their order, if their names have no numbers that give it.
    """

    key: str
    number: int
    authors: str
    title: str
    version: str
    read: str
    no_claim: Mapping[str, str] = field(default_factory=dict)
    observations: Sequence[str] = ()
    sections: Sequence[str] = ()

    @property
    def heading(self) -> str:
        """Authors and title."""
        return ": ".join(filter(None, (self.authors, self.title)))

    @property
    def folder(self) -> str:
        """The name of its folder of notebooks and figures, such as ``1_biswas2022``."""
        return f"{self.number}_{self.key}"


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A claim or a question of a source.

    Attributes
    ----------
    source, key : str
        The source, and the name of the claim's table and, with underscores, of its check.
    section : str
        The section of the source, such as ``Section 3``: the name of the claim's file.
    words : mapping of str to str
        The texts of its table, with ``@{name}`` where a number of the check belongs.
    rebuilt : bool
        Whether the formula is missing from the text that we read, so that it had to be rebuilt.
    """

    source: str
    key: str
    section: str
    words: Mapping[str, str] = field(repr=False)
    rebuilt: bool = False

    @property
    def id(self) -> str:
        """The identifier, such as ``biswas2022/theorem-3.5``."""
        return f"{self.source}/{self.key}"

    @property
    def place(self) -> str:
        """Where the claim stands in the source."""
        return self.words.get("place") or place_of(self.key)

    @property
    def says(self) -> str:
        """What the source says or asks."""
        return self.words.get("says") or self.words["asks"]

    @property
    def numbers(self) -> list[str]:
        """What the source numbers and this claim covers; empty for any other sentence."""
        return numbers_in(self.place)

    @property
    def is_question(self) -> bool:
        """Whether the source asks rather than claims."""
        return "asks" in self.words

    @property
    def check(self) -> Check:
        """The function that gathers the evidence and returns the numbers for the words.

        The check of ``theorem-3.5`` in ``section_3.toml`` is ``theorem_3_5`` in ``section_3.py``.

        Raises
        ------
        ValueError
            If the file of checks, or the check in it, does not exist.
        """
        module = self.section.lower().replace(" ", "_")
        name = re.sub(r"\W", "_", self.key)
        if name[0].isdigit():
            name = f"claim_{name}"
        place = f"ldpnb.papers.{self.source}.{module}"
        checks = vars(import_module(place)) if find_spec(place) else {}
        if name not in checks:
            file = f"ldpnb/papers/{self.source}/{module}.py"
            raise ValueError(f"{self.id} needs a check: the function {name} in {file}")

        check: Check = checks[name]
        return check


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the evidence says about a claim, as `decide` returns it.

    Parameters
    ----------
    status : str
        *holds*, *holds with a change*, *fails* or *not settled*; a question is *answered*.
    how : str
        *proved*, *proved, with a step in words*, *computed* or *simulated*.
    words : mapping of str to str
        The claim's texts (`TEXTS`) with their numbers, such as ``words["evidence"]``.
    doubt : str
        Why the claim is not settled, if it is not.

    Examples
    --------
    >>> decide("biswas2022/theorem-3.5").status
    'fails'
    """

    status: Status
    how: How
    words: Mapping[str, str] = field(repr=False)
    doubt: str = ""


def place_of(key: str) -> str:
    """Return the place that a key names.

    Examples
    --------
    >>> place_of("theorem-4.1-allocation"), place_of("equation-7"), place_of("abstract")
    ('Theorem 4.1, allocation', 'Equation (7)', 'Abstract')
    """
    parts = re.fullmatch(r"([a-z]+)-([a-z\d][\d.]*)(?:-(.+))?", key)
    if parts is None:
        return key.capitalize().replace("-", " ")

    kind, number, more = parts.groups(default="")
    number = f"({number})" if kind == "equation" else number.upper()
    place = f"{kind.capitalize()} {number}"
    if more:
        place += f", {more.replace('-', ' ')}"
    return place


def numbers_in(place: str) -> list[str]:
    """Return what the source numbers and a place names; a sentence or a proof has none.

    Examples
    --------
    >>> numbers_in("Theorem 3.6, equations (7) to (9)")
    ['Theorem 3.6', 'Equation (7)', 'Equation (8)', 'Equation (9)']
    >>> numbers_in("Lemmas A.2 to A.4 and Table I"), numbers_in("Theorem 3.2, proof")
    (['Lemma A.2', 'Lemma A.3', 'Lemma A.4', 'Table I'], [])
    >>> numbers_in("Section 3, before Theorem 3.2")
    []
    """
    if not re.match(_NUMBERED, place) or place.endswith("proof"):
        return []

    found = []
    for kind, several in _KIND_AND_NUMBERS.findall(place):
        for part in re.split(r", | and ", several):
            low, _, high = part.partition(" to ")
            found += [f"{kind.capitalize()} {number}" for number in _between(low, high)]
    return found


def _between(low: str, high: str) -> Iterator[str]:
    """Yield a number, or all from one to another that differ in their last digits."""
    if not high:
        yield low
        return

    last_digits = re.compile(r"\d+(?=\)?$)")
    first = last_digits.search(low)
    last = last_digits.search(high)
    if first is None or last is None:
        raise ValueError(f"place must name numbers, got {low!r} to {high!r}")

    before = low[: first.start()]
    after = low[first.end() :]
    for number in range(int(first[0]), int(last[0]) + 1):
        yield f"{before}{number}{after}"


def _papers() -> Traversable:
    return files("ldpnb").joinpath("papers")


@cache
def sources() -> Mapping[str, Source]:
    """Return all sources by key, in the order of their numbers; the companion comes last.

    Raises
    ------
    ValueError
        If a ``source.toml`` has a wrong key or lacks one, or two sources have one number.
    """
    found: list[Source] = []
    for folder in _papers().iterdir():
        file = folder.joinpath("source.toml")
        if file.is_file():
            found.append(source_in(folder.name, file.read_text(encoding="utf-8")))

    found.sort(key=lambda source: (source.number == 0, source.number, source.key))
    for one, other in pairwise(found):
        if one.number == other.number:
            raise ValueError(
                f"{other.key}/source.toml: number must be another than that of {one.key}, "
                f"got number={other.number}"
            )
    return MappingProxyType({source.key: source for source in found})


def source_in(key: str, text: str) -> Source:
    """Return the source that the text of a ``source.toml`` describes.

    Raises
    ------
    ValueError
        If the text is no TOML, or has a wrong key or lacks one.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{key}/source.toml: {error}") from error

    described = [each for each in fields(Source) if each.name != "key"]
    known = {each.name for each in described}
    needed = {
        each.name
        for each in described
        if each.default is MISSING and each.default_factory is MISSING
    }
    if table.keys() - known:
        unknown = ", ".join(sorted(table.keys() - known))
        raise ValueError(f"{key}/source.toml: no such key: {unknown}")
    if needed - table.keys():
        missing = ", ".join(sorted(needed - table.keys()))
        raise ValueError(f"{key}/source.toml: {missing} must be given")

    for name, value in table.items():
        if isinstance(value, str):
            table[name] = _one_paragraph(name, value)
    return Source(key=key, **table)


@cache
def claims(source: str | None = None) -> tuple[Claim, ...]:
    """Return every claim, or those of one source, in the order of the sections.

    Raises
    ------
    ValueError
        If there is no such source, or if a table has a wrong key or lacks one. The message names
        file, table and rule.
    """
    found: list[Claim] = []
    if source is None:
        for key in sources():
            found += claims(key)
        return tuple(found)

    _require_known(source, "source", tuple(sources()))
    folder = _papers().joinpath(source)
    for section in _sections(source, folder):
        file = f"{section}.toml"
        found += claims_in(source, file, folder.joinpath(file).read_text(encoding="utf-8"))
    return tuple(found)


def _sections(source: str, folder: Traversable) -> Sequence[str]:
    """Return the names of a source's files of claims, section 9 before section 10."""
    files_of_claims = [file.name for file in folder.iterdir() if file.name.endswith(".toml")]
    names = {name.removesuffix(".toml") for name in files_of_claims} - {"source"}

    # A folder lists its files in another order on another file system.
    if all(re.fullmatch(r"section_\d+", name) for name in names):
        return sorted(names, key=lambda name: int(name.removeprefix("section_")))

    listed = sources()[source].sections
    if set(listed) != names:
        raise ValueError(
            f"{source}/source.toml: sections must name {', '.join(sorted(names))}, "
            f"got {', '.join(listed)}"
        )
    return listed


def find(identifier: str) -> Claim:
    """Return the claim of that identifier.

    Raises
    ------
    ValueError
        If there is no such source or claim. The message names the nearest.
    """
    source, _, key = identifier.partition("/")
    candidates = claims(source) if source in sources() else claims()
    by_identifier = {claim.id: claim for claim in candidates}

    same_key = [claim.id for claim in claims() if claim.key in (key, identifier)]
    _require_known(identifier, "claim", tuple(by_identifier), same_key)
    return by_identifier[identifier]


def select(*which: str) -> list[Claim]:
    """Return the claims that are named by identifiers, or by a source and parts of it.

    Parameters
    ----------
    *which : str
        Identifiers, such as ``"biswas2022/theorem-3.5"``; or a source and sections of it
        (``"biswas2022", "Section 2", "Section 3"``) or beginnings of places (``"Theorem 3.5"``);
        or a source alone, for all its claims.

    Raises
    ------
    ValueError
        If there is no such source or claim, or a part names none.

    Examples
    --------
    >>> [claim.key for claim in select("biswas2022", "Theorem 3.5")]
    ['theorem-3.5', 'theorem-3.5-proof']
    """
    if not which:
        raise ValueError("name a source, and perhaps its sections, or claims")
    if "/" in which[0]:
        return [find(identifier) for identifier in which]

    source, *parts = which
    of_source = claims(source)
    for part in parts:
        if not any(_stands_in(claim, part) for claim in of_source):
            sections = ", ".join(dict.fromkeys(claim.section for claim in of_source))
            raise ValueError(
                f"{part!r} must be a section of {source} ({sections}) or begin a claim's place"
            )

    if not parts:
        return list(of_source)
    return [claim for claim in of_source if any(_stands_in(claim, part) for part in parts)]


def _stands_in(claim: Claim, part: str) -> bool:
    """Return whether a claim stands in a section, or has a place that begins with the part.

    "Theorem 3.1" begins "Theorem 3.1, proof", but not "Theorem 3.10".
    """
    begins = re.match(rf"{re.escape(part)}(?!\d)", claim.place)
    return claim.section == part or begins is not None


def _require_known(
    wanted: str, kind: str, known: tuple[str, ...], hint: list[str] | None = None
) -> None:
    """Refuse a name that is not known; the message gives the hint, or the names like it."""
    if wanted in known:
        return
    near = hint or difflib.get_close_matches(wanted, known, 3, 0.4) or known[:3]
    raise ValueError(
        f"{kind} must be one of {len(known)} known, got {wanted!r}; similar: {', '.join(near)}"
    )


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
        Its `status` says whether the claim holds, and its `words` hold the evidence and, where the
        source errs, what holds instead. A check whose evidence does not suffice gives the status
        *not settled*; it does not raise an error.

    Raises
    ------
    ValueError
        If there is no such source or claim. The message names the nearest.

    Examples
    --------
    >>> decide("biswas2022/theorem-3.5").status
    'fails'
    """
    claim = find(identifier)
    return verdict(claim, claim.check)


def verdict(claim: Claim, check: Check) -> Verdict:
    """Return the verdict of a claim by its check, computed anew.

    Raises
    ------
    ValueError
        If words and check do not name the same numbers.
    """
    evidence = Evidence()
    changed = next((key for key in ("change", "instead") if key in claim.words), "")

    try:
        words = _with_numbers(claim, check(evidence) or {})
        status = evidence.status(question=claim.is_question, changed=changed)
        doubt = "it held in every case that was tried" if status == "not settled" else ""
    except UnsoundError as reason:
        words = {name: _FIELD.sub("?", text) for name, text in claim.words.items()}
        status = "not settled"
        doubt = str(reason)

    how = evidence.how(step_in_words="step" in claim.words)
    return Verdict(status, how, words, doubt)


def claims_in(source: str, file: str, text: str) -> Iterator[Claim]:
    """Yield the claims that the text of a file words, such as that of ``section_3.toml``.

    Raises
    ------
    ValueError
        If the text is no TOML, or a table has a wrong key or lacks one.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source}/{file}: {error}") from error

    shared = tables.pop("section", {})
    section = file.removesuffix(".toml").capitalize().replace("_", " ")
    for key, table in tables.items():
        entries = shared | table
        rebuilt = entries.pop("rebuilt", False)
        words = {name: _one_paragraph(name, text) for name, text in entries.items()}
        words = {name: text for name, text in words.items() if text}

        fault = _fault(words, rebuilt)
        if fault:
            raise ValueError(f"{source}/{file}, [{key}]: {fault}")
        yield Claim(source, key, section, MappingProxyType(words), rebuilt)


def _one_paragraph(name: str, text: Any) -> str:
    """Return a text on one line, unless it is code."""
    if not isinstance(text, str):
        raise ValueError(f"{name} must be a text, got {name}={text!r}")
    if name == "python":
        return text.strip()
    return " ".join(text.split())


def _fault(words: Mapping[str, str], rebuilt: object) -> str:
    """Return the rule that the words of a claim break; an empty text if they break none."""
    keys = words.keys()
    unknown = ", ".join(sorted(keys - TEXTS.keys()))
    source_is_wrong = "change" in keys or "instead" in keys

    if unknown:
        return f"no such key: {unknown}"
    if not isinstance(rebuilt, bool):
        return f"rebuilt must be true or false, got {rebuilt!r}"
    if ("says" in keys) == ("asks" in keys):
        return "give either says or asks"
    if ("asks" in keys) != ("answer" in keys):
        return "a question (asks) needs its answer"
    if not keys >= {"evidence", "over"}:
        return "evidence and over must be given"
    if keys >= {"change", "instead"}:
        return "give change or instead, not both"
    if source_is_wrong != ("cause" in keys):
        return "what the source has wrong (change, instead) needs its cause"
    if ("counterexample" in keys) != ("python" in keys):
        return "a counterexample needs the python that computes it"
    if len(words.get("quoted", "").split()) > 8:
        return "quoted has at most eight words"
    if rebuilt and "reading" not in keys:
        return "a rebuilt formula needs a reading"
    return ""


def _with_numbers(claim: Claim, numbers: Mapping[str, Any]) -> dict[str, str]:
    """Return the words of a claim with the numbers of its check in them."""
    fields: set[str] = set()
    for text in claim.words.values():
        fields.update(name for name, _ in _FIELD.findall(text))
    if fields != numbers.keys():
        apart = ", ".join(sorted(fields ^ numbers.keys()))
        raise ValueError(f"{claim.id}: words and check must name the same numbers, got {apart}")

    def formatted(match: re.Match[str]) -> str:
        name, format_spec = match.groups(default="")
        return format(numbers[name], format_spec)

    return {name: _FIELD.sub(formatted, text) for name, text in claim.words.items()}


@cache
def published(source: str) -> dict[str, float]:
    """Return the printed numbers of a source, by key, from ``papers/<source>/printed.csv``."""
    rows = writing.rows(f"papers/{source}/printed.csv")
    return {row["key"]: float(row["value"]) for row in rows}
