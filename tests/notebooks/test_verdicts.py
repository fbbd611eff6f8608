"""Claims and their verdicts are read at a glance, and in full where a reader unfolds them."""

from types import MappingProxyType
from typing import Any

import pytest

from ldpnb.claims import Claim, Verdict, find, select
from ldpnb.notebook import verdicts
from ldpnb.notebook.verdicts import Verdicts, details, sentence, words_of

CLAIM = Claim("own", "theorem-1.1", "Section 1", MappingProxyType({"says": "one is two"}))
WORDS = {
    "says": "one is two",
    "evidence": "They differ by 1.",
    "over": "every number",
    "instead": "One is one.",
    "quoted": "one equals two",
    "remark": "Nobody doubts it.",
}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("one is two", "One is two."),
        ("One is two.", "One is two."),
        ("is it?", "Is it?"),
        ("one (of two.)", "One (of two.)"),
        ("one (of two)", "One (of two)."),
        ("", "."),
    ],
)
def test_what_a_claim_says_is_a_sentence(words: str, shown: str) -> None:
    assert sentence(words) == shown


def test_details_come_in_one_order_with_their_labels_and_only_if_there_are_any() -> None:
    assert list(details(WORDS)) == [
        ("What is true instead", "One is one."),
        ("In the source's words", "one equals two"),
        ("Decided for", "every number"),
        ("Evidence", "They differ by 1."),
        ("Remark", "Nobody doubts it."),
    ]


@pytest.mark.parametrize(("rebuilt", "told"), [("yes", True), ("True", True), ("", False)])
def test_a_rebuilt_formula_is_said_to_be_rebuilt(rebuilt: str, told: bool) -> None:
    labels = [label for label, _ in details({"evidence": "e", "rebuilt": rebuilt})]
    assert labels == ["Evidence", *["Rebuilt"] * told]


def test_a_claim_that_is_not_settled_says_why() -> None:
    found = words_of(CLAIM, Verdict("not settled", "computed", WORDS, "two routes disagree"))
    assert ("Why it is not settled", "two routes disagree") in list(details(found))
    assert "rebuilt" not in found


def decided(monkeypatch: pytest.MonkeyPatch, verdict: Verdict) -> Verdicts:
    module: Any = __import__("importlib").import_module("ldpnb.notebook.verdicts")
    monkeypatch.setattr(module, "decide", lambda _: verdict)
    return Verdicts([CLAIM], "glossary.md")


def test_plain_text_has_a_line_for_the_claim_and_one_for_what_is_true(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = decided(monkeypatch, Verdict("fails", "proved", WORDS))
    assert repr(shown).splitlines() == [
        "Theorem 1.1: fails (proved). One is two.",
        "    What is true instead: One is one.",
    ]


def test_markdown_has_a_line_for_the_claim_and_folds_all_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = decided(monkeypatch, Verdict("fails", "proved", WORDS))
    first, _, rest = shown._repr_markdown_().partition("\n\n")
    assert first == "**Theorem 1.1: [fails](glossary.md#verdicts).** One is two."
    assert rest.startswith("<details><summary>proved: details</summary>\n\n- What is true instead")
    assert rest.count("\n- ") == 5
    assert rest.endswith("\n\n</details>")


def test_verdicts_of_a_section_are_those_of_its_claims(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[Verdicts] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    monkeypatch.chdir(tmp_path)
    verdicts("biswas2022", "Theorem 3.5")
    (tmp_path / "glossary.md").touch()
    verdicts("biswas2022/theorem-3.5")

    several, one = shown
    assert [claim.id for claim, _ in several.decided] == [
        claim.id for claim in select("biswas2022", "Theorem 3.5")
    ]
    assert [claim.id for claim, _ in one.decided] == [find("biswas2022/theorem-3.5").id]
    assert one.decided[0][1].status == "fails"
    assert several.glossary == "../glossary.md"
    assert one.glossary == "glossary.md"
