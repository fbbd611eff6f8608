"""The loader of sections names file and key of whatever is wrong in a section's words."""

import sys
import types
from pathlib import Path

import pytest

from ldpnb import claims, sections

ROW = """
["theorem-1"]
place = "Theorem 1"
says = "One is @{little}."
kind = "proof"
over = "$x > 0$"
evidence = "it is @{size:.2f}"
rests_on = ["claims.agree"]
[phrases]
little = "at most two"
"""


def load(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, numbers: object = None
) -> list[claims.Claim]:
    package, checks = (
        types.ModuleType("ldpnb.papers.own"),
        types.ModuleType("ldpnb.papers.own.section_1"),
    )
    package.SECTIONS = ("section_1",)  # type: ignore[attr-defined]
    checks.__file__ = str(folder / "section_1.py")

    def theorem_1(e: claims.Evidence) -> object:
        e.needs(claims.agree(1, 1))
        return {"size": 1} if numbers is None else numbers

    checks.theorem_1 = theorem_1  # type: ignore[attr-defined]
    for module in (package, checks):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    (folder / "section_1.toml").write_text(words)
    return sections.load("own")


def test_words_and_numbers_come_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = load(tmp_path, monkeypatch, ROW)
    assert (claim.id, claim.says, claim.rests_on) == (
        "own/theorem-1",
        "One is at most two.",
        ("claims.agree",),
    )
    verdict = claim.check()
    assert (verdict.status, verdict.evidence, verdict.over) == (
        "supported",
        "it is 1.00",
        "$x > 0$",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'kind = "proof"',
            'kind = "hope"',
            r"section_1.toml, \[theorem-1\]: kind must be one of .*got kind='hope'",
        ),
        ('place = "Theorem 1"', "place = 1", "place must be of type str, got place=1"),
        ('kind = "proof"', "", "kind must be given"),
        ("over =", "ower =", "key must be one of .*got key='ower'"),
        ("claims.agree", "claims.no_such", "no_such"),
        ("theorem-1", "theorem-2", "theorem_2"),
        ("says =", "asks =", "a question .* must be given together"),
        (
            "One is @{little}.",
            "One.",
            r"section_1.toml, \[phrases\]: every phrase must be used, got little",
        ),
    ],
)
def test_a_wrong_row_is_named(
    old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=message):
        load(tmp_path, monkeypatch, ROW.replace(old, new))


@pytest.mark.parametrize("numbers", [{}, {"size": 1, "more": 2}])
def test_fields_and_numbers_agree(
    numbers: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claim,) = load(tmp_path, monkeypatch, ROW, numbers)
    with pytest.raises(ValueError, match=r"own/theorem-1: the fields .* lacks (size|more)"):
        claim.check()


def test_a_question_is_answered_or_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ROW.replace("says =", 'answer = "yes"\nasks =')
    (claim,) = load(tmp_path, monkeypatch, words)
    assert (claim.check().status, claim.check().corrected) == ("answered", "yes")
    monkeypatch.setattr(claims, "agree", lambda *_: False)
    assert claim.check().status == "open"


def test_a_key_tells_the_place() -> None:
    places = {
        "theorem-4.1": "Theorem 4.1",
        "theorem-4.1-allocation": "Theorem 4.1, allocation",
        "abstract": "Abstract",
    }
    places |= {
        "equation-7": "Equation (7)",
        "appendix-b-error": "Appendix B, error",
        "randomised-response": "Randomised response",
    }
    assert {key: sections._place(key) for key in places} == places


def test_parted_routes_open_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (claim,) = load(tmp_path, monkeypatch, ROW)

    def pairs() -> sections.Pairs:
        yield 1.0, 1.01

    monkeypatch.setitem(sections._routes, "own", {pairs: ["claims.agree"]})
    assert claim.check().status == "open"
