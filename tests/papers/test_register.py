"""The loader names what is wrong with a table, and a status follows from the evidence."""

from collections.abc import Mapping

import pytest

from ldpnb.claims import Claim, Evidence, UnsoundError, decide, find, register, select, verdict

ROW = """
["theorem-1.1"]
says = "One is at most two."
over = "everything"
evidence = "it is"
"""
ERRATUM = 'cause = "c"\ncounterexample = "1"\npython = "print(1)"\n'


def read(words: str) -> list[Claim]:
    return list(register._read("own", "section_1.toml", words))


def test_a_table_is_a_claim() -> None:
    (claim,) = read(ROW)
    assert (claim.id, claim.place, claim.section) == ("own/theorem-1.1", "Theorem 1.1", "Section 1")
    assert claim.numbers == ["Theorem 1.1"]
    assert not claim.rebuilt


def test_a_section_shares_texts_and_a_claim_may_do_without_them() -> None:
    shared = '[section]\nrebuilt = true\nstep = "a step"\nreading = "r"\n'
    other = ROW.replace("1.1", "1.2") + 'rebuilt = false\nstep = ""\n'
    one, two = read(shared + ROW + other)
    assert (one.words["step"], one.rebuilt) == ("a step", True)
    assert ("step" in two.words, two.rebuilt) == (False, False)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("over =", "ower =", r"own/section_1.toml, \[theorem-1.1\]: no such key: ower"),
        ("says =", "asks =", "a question .asks. needs its answer"),
        ('over = "everything"', "", "evidence and over must be given"),
        ("evidence =", 'quoted = "a b c d e f g h i"\nevidence =', "at most eight words"),
        ("evidence =", "rebuilt = true\nevidence =", "a rebuilt formula needs a reading"),
        ("evidence =", 'change = "two"\nevidence =', "needs its cause"),
        ("evidence =", ERRATUM + "evidence =", "needs its cause"),
        ("evidence =", 'change = "2"\ninstead = "3"\nevidence =', "change or instead, not both"),
        ("evidence =", 'counterexample = "1"\nevidence =', "needs the python"),
        ('"it is"', "1", "evidence must be a text"),
        ('"it is"', '"it is', "section_1.toml: "),
    ],
)
def test_a_wrong_table_is_named(old: str, new: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        read(ROW.replace(old, new))


def gathered(calls: Mapping[str, object]) -> Evidence:
    evidence = Evidence()
    for name, answer in calls.items():
        more = {"false_alarm": 1e-6} if name == "simulated" else {}
        getattr(evidence, name)(answer, **more)
    return evidence


@pytest.mark.parametrize(
    ("calls", "changed", "status", "how"),
    [
        ({"decides": True}, "", "holds", "proved"),
        ({"needs": True}, "", "holds", "computed"),
        ({"simulated": True}, "", "holds", "simulated"),
        ({"tried": True}, "", "not settled", "computed"),
        ({"decides": True, "tried": True}, "", "not settled", "computed"),
        ({"decides": False}, "change", "holds with a change", "proved"),
        ({"decides": False}, "instead", "fails", "proved"),
        ({"tried": False}, "instead", "fails", "computed"),
        ({"proven": True, "needs": True}, "", "holds", "proved"),
    ],
)
def test_a_status_follows_from_the_evidence_and_the_words(
    calls: Mapping[str, object], changed: str, status: str, how: str
) -> None:
    evidence = gathered(calls)
    assert evidence.status(question=False, changed=changed) == status
    assert evidence.how(step_in_words=False) == how


@pytest.mark.parametrize(
    ("calls", "changed"),
    [
        ({"decides": False}, ""),  # nobody has written what holds
        ({"decides": True}, "change"),  # the words name a fault, the evidence finds none
        ({"needs": True}, "instead"),
    ],
)
def test_words_and_evidence_that_part_settle_nothing(
    calls: Mapping[str, object], changed: str
) -> None:
    with pytest.raises(UnsoundError):
        gathered(calls).status(question=False, changed=changed)


@pytest.mark.parametrize(
    ("name", "answer"), [("decides", None), ("proven", None), ("proven", False), ("sure", False)]
)
def test_evidence_that_bears_no_verdict_ends_the_check(name: str, answer: bool | None) -> None:
    with pytest.raises(UnsoundError):
        getattr(Evidence(), name)(answer)


def test_a_test_that_often_rejects_the_truth_is_refused() -> None:
    with pytest.raises(ValueError, match="false_alarm must lie in"):
        Evidence().simulated(True, false_alarm=0.01)


@pytest.mark.parametrize(("holds", "status"), [(True, "answered"), (False, "not settled")])
def test_a_question_is_answered_if_its_answer_holds(holds: bool, status: str) -> None:
    (question,) = read(ROW.replace("says =", 'answer = "yes"\nasks ='))
    assert verdict(question, lambda e: e.needs(holds)).status == status


def test_a_check_fills_its_numbers_in() -> None:
    (claim,) = read(ROW.replace("it is", "it is @{size:.2f}"))
    assert verdict(claim, lambda e: {"size": 1}).words["evidence"] == "it is 1.00"
    for numbers in ({}, {"size": 1, "more": 2}):
        with pytest.raises(
            ValueError, match=r"own/theorem-1\.1: words and check must name the same"
        ):
            verdict(claim, lambda e, numbers=numbers: numbers)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("biswas2022/theorem-3.55", "biswas2022/theorem-3.5"),
        ("theorem-3.5", "biswas2022/theorem-3.5"),
        ("biswas/theorem-3.5", "biswas2022/theorem-3.5"),
    ],
)
def test_a_wrong_claim_is_told_what_is_near(wrong: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"near are .*{near}"):
        decide(wrong)


def test_claims_are_named_by_sections_places_and_identifiers() -> None:
    whole = select("biswas2022", "Section 3")
    assert {claim.section for claim in whole} == {"Section 3"}
    assert [claim.key for claim in select("biswas2022/theorem-3.5")] == ["theorem-3.5"]
    assert all(
        claim.place.startswith("Theorem 3.5") for claim in select("biswas2022", "Theorem 3.5")
    )
    with pytest.raises(ValueError, match="'Section 9' must be a section of biswas2022"):
        select("biswas2022", "Section 9")


def test_a_claim_leads_to_its_check() -> None:
    check = find("biswas2022/theorem-3.5").check
    assert check.__module__ == "ldpnb.papers.biswas2022.section_3"
    assert check.__name__ == "theorem_3_5"
