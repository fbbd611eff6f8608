"""A sheet to authors counts what holds, groups what does not by its cause, and shows each once.

The ledger here is made up, with the places and numbers of a source that exists.
"""

import pytest

from ldpnb import claims
from ldpnb.run import errata

SOURCE = "bun2022"


def row(key: str, status: str, **words: str) -> dict[str, str]:
    """Return a claim as the committed ledger has it."""
    empty = dict.fromkeys(
        [
            *("cause", "counterexample", "python", "rests", "change", "instead", "says"),
            *("quoted", "reading", "evidence", "more", "remark", "place"),
        ],
        "",
    )
    flags = {"question": "False", "numbered": "False", "rebuilt": "False"}
    return empty | flags | {"claim": f"{SOURCE}/{key}", "status": status, "place": key} | words


def told(monkeypatch: pytest.MonkeyPatch, *rows: dict[str, str]) -> str:
    """Return the sheet of a source whose claims are these, and those on which it remarks."""
    observed = [row(key, "holds") for key in claims.sources()[SOURCE].observations]
    monkeypatch.setattr(errata, "committed_ledger", lambda: [*rows, *observed])
    return errata.sheet(SOURCE)


WRONG = {"cause": "A sign", "says": "It rises.", "instead": "It falls."}
OBSERVED = len(claims.sources()[SOURCE].observations)

COUNTED = {
    "one that fails": (
        [row("a", "fails", **WRONG)],
        f"{OBSERVED + 1} statements of the paper. Of these, {OBSERVED} hold as they stand, "
        "and one needs the correction below.",
    ),
    "two with one cause": (
        [row("a", "fails", **WRONG), row("b", "holds with a change", **WRONG)],
        f"Of these, {OBSERVED} hold as they stand, "
        "and the others need corrections, which have one cause.",
    ),
    "two causes": (
        [row("a", "fails", **WRONG), row("b", "fails", **(WRONG | {"cause": "A factor"}))],
        "and the others need corrections, which have 2 causes.",
    ),
    "one that is not settled": (
        [row("a", "fails", **WRONG), row("b", "not settled"), row("c", "holds")],
        f"{OBSERVED + 3} statements of the paper. Of these, {OBSERVED + 1} hold as they stand, "
        "one could not be settled, and one needs the correction below.",
    ),
    "two that are not settled": (
        [row("a", "fails", **WRONG), row("b", "not settled"), row("c", "not settled")],
        f"Of these, {OBSERVED} hold as they stand, 2 could not be settled, and one needs",
    ),
    "a question": (
        [row("a", "fails", **WRONG), row("b", "answered", question="True")],
        f"{OBSERVED + 1} statements of the paper. Of these,",
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_sheet_counts_what_holds_what_is_not_settled_and_what_does_not_hold(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, words = COUNTED[name]
    assert words in " ".join(told(monkeypatch, *rows).split())


def test_a_source_of_which_all_holds_gets_no_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="bun2022 needs no sheet: all its claims hold"):
        told(monkeypatch, row("a", "holds"))
    assert SOURCE not in errata.sheets()


def test_causes_come_by_weight_what_fails_before_what_others_rest_on_before_what_is_numbered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = "holds with a change"
    sheet = told(
        monkeypatch,
        row("a", changed, **(WRONG | {"cause": "An aside"})),
        row("b", changed, **(WRONG | {"cause": "A later aside"})),
        row("c", changed, numbered="True", **(WRONG | {"cause": "A theorem"})),
        row("d", changed, **(WRONG | {"cause": "A lemma", "rests": "Section 5."})),
        row("e", "fails", **(WRONG | {"cause": "A failure"})),
        row("f", changed, **(WRONG | {"cause": "A failure"})),
    )
    headings = [line for line in sheet.splitlines() if line.startswith("## ")]
    assert headings[:5] == [
        "## 1. A failure",
        "## 2. A lemma",
        "## 3. A theorem",
        "## 4. An aside",
        "## 5. A later aside",
    ]


def test_an_item_has_all_claims_of_its_cause_and_one_counterexample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = {"counterexample": "Two users.", "python": "print(1 + 1)"}
    sheet = told(
        monkeypatch,
        row("Lemma 1", "fails", quoted="it rises", reading="for all n.", **WRONG),
        row("Lemma 2", "fails", rests="Lemma 3.", **(WRONG | shown)),
    )
    assert "    - **Lemma 1**: It rises. (“it rises”) How we read it: for all n." in sheet
    assert "    - **Lemma 2**: It rises.\n" in sheet
    assert "- *A counterexample.* Two users.\n" in sheet
    assert "- *What depends on it.* Lemma 3.\n" in sheet
    assert "    - **Lemma 2**: It falls.\n" in sheet
    assert "```python\nprint(1 + 1)\n# prints 2\n```" in sheet
    assert "†" not in sheet

    alone = told(monkeypatch, row("Lemma 1", "fails", rebuilt="True", **WRONG))
    assert "- *The paper.* **Lemma 1**†: It rises.\n" in alone
    assert "- *What holds.* It falls.\n" in alone
    assert "- *What depends on it.* Nothing else that we found." in alone
    assert "Items marked † are about a formula that is missing" in alone
    assert "```" not in alone
