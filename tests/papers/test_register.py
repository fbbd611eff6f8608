"""Check how the words of a claim are read, and how its evidence becomes a verdict.

The words here are a small table of an invented source, and the evidence is invented, too. So each
rule is seen alone: which faults of a table are named, and which status follows from what.
"""

from collections.abc import Callable

import pytest

from ldpnb.claims import Claim, Evidence, UnsoundError, claims, decide, find, select, verdict
from ldpnb.claims.register import claims_in, source_in

TABLE = """
["theorem-1.1"]
says = "One is at most two."
over = "everything"
evidence = "it is"
"""

ERRATUM = 'cause = "c"\ncounterexample = "1"\npython = "print(1)"\n'


def read(text: str) -> list[Claim]:
    return list(claims_in("own", "section_1.toml", text))


# Words


def test_a_table_is_a_claim() -> None:
    (claim,) = read(TABLE)
    assert claim.id == "own/theorem-1.1"
    assert claim.place == "Theorem 1.1"
    assert claim.section == "Section 1"
    assert claim.numbers == ["Theorem 1.1"]
    assert not claim.rebuilt


def test_a_section_shares_texts_and_a_claim_may_do_without_them() -> None:
    shared = '[section]\nrebuilt = true\nstep = "a step"\nreading = "r"\n'
    other = TABLE.replace("1.1", "1.2") + 'rebuilt = false\nstep = ""\n'
    with_shared, without = read(shared + TABLE + other)

    assert with_shared.words["step"] == "a step"
    assert with_shared.rebuilt
    assert "step" not in without.words
    assert not without.rebuilt


FAULTS = {
    "unknown key": (
        ("over =", "ower ="),
        r"own/section_1.toml, \[theorem-1.1\]: no such key: ower",
    ),
    "question without its answer": (
        ("says =", "asks ="),
        "a question .asks. needs its answer",
    ),
    "no domain": (
        ('over = "everything"', ""),
        "evidence and over must be given",
    ),
    "nine quoted words": (
        ("evidence =", 'quoted = "a b c d e f g h i"\nevidence ='),
        "at most eight words",
    ),
    "rebuilt without a reading": (
        ("evidence =", "rebuilt = true\nevidence ="),
        "a rebuilt formula needs a reading",
    ),
    "change without a cause": (
        ("evidence =", 'change = "two"\nevidence ='),
        "needs its cause",
    ),
    "cause without a change": (
        ("evidence =", ERRATUM + "evidence ="),
        "needs its cause",
    ),
    "change and instead": (
        ("evidence =", 'change = "2"\ninstead = "3"\nevidence ='),
        "change or instead, not both",
    ),
    "counterexample without python": (
        ("evidence =", 'counterexample = "1"\nevidence ='),
        "needs the python",
    ),
    "number for a text": (
        ('"it is"', "1"),
        "evidence must be a text",
    ),
    "no TOML": (
        ('"it is"', '"it is'),
        "section_1.toml: ",
    ),
}
"""What is replaced in the table, and the rule that the message must name."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_table_is_named(fault: str) -> None:
    (old, new), rule = FAULTS[fault]
    with pytest.raises(ValueError, match=rule):
        read(TABLE.replace(old, new))


def test_a_claim_without_a_check_says_where_to_write_it() -> None:
    words = claims("lecture20")[0].words
    claim = Claim("lecture20", "theorem-1.1", "Means", words)

    with pytest.raises(ValueError, match=r"function theorem_1_1 in ldpnb/papers/lecture20/means"):
        claim.check


SOURCE = 'number = 9\nauthors = "A"\ntitle = "T"\nversion = "print"\nread = "2026"\n'


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("number = 9", "", "own/source.toml: number must be given"),
        ("authors =", "author =", "own/source.toml: no such key: author"),
        ('"A"', '"A', "own/source.toml: "),
    ],
    ids=["no number", "misspelt key", "no TOML"],
)
def test_a_wrong_description_of_a_source_is_named(old: str, new: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        source_in("own", SOURCE.replace(old, new))


# Evidence


def simulated(evidence: Evidence) -> None:
    evidence.simulated(True, false_alarm=1e-6)


def proved(evidence: Evidence) -> None:
    evidence.decides(True)


def refuted(evidence: Evidence) -> None:
    evidence.decides(False)


def computed(evidence: Evidence) -> None:
    evidence.needs(True)


def tried(evidence: Evidence) -> None:
    evidence.tried(True)


def failed_when_tried(evidence: Evidence) -> None:
    evidence.tried(False)


def proved_and_tried(evidence: Evidence) -> None:
    evidence.decides(True)
    evidence.tried(True)


def computed_after_a_step_was_proved(evidence: Evidence) -> None:
    evidence.proven(True)
    evidence.needs(True)


Gather = Callable[[Evidence], None]


def gathered(gather: Gather) -> Evidence:
    evidence = Evidence()
    gather(evidence)
    return evidence


@pytest.mark.parametrize(
    ("gather", "changed", "status", "how"),
    [
        (proved, "", "holds", "proved"),
        (computed, "", "holds", "computed"),
        (simulated, "", "holds", "simulated"),
        (tried, "", "not settled", "computed"),
        (proved_and_tried, "", "not settled", "computed"),
        (refuted, "change", "holds with a change", "proved"),
        (refuted, "instead", "fails", "proved"),
        (failed_when_tried, "instead", "fails", "computed"),
        (computed_after_a_step_was_proved, "", "holds", "proved"),
    ],
)
def test_a_status_follows_from_the_evidence_and_the_words(
    gather: Gather, changed: str, status: str, how: str
) -> None:
    evidence = gathered(gather)
    assert evidence.status(question=False, changed=changed) == status
    assert evidence.how(step_in_words=False) == how


@pytest.mark.parametrize(
    ("gather", "changed"),
    [
        (refuted, ""),  # nobody has written what holds
        (proved, "change"),  # the words name a fault, the evidence finds none
        (computed, "instead"),
    ],
)
def test_words_and_evidence_that_part_settle_nothing(gather: Gather, changed: str) -> None:
    evidence = gathered(gather)
    with pytest.raises(UnsoundError):
        evidence.status(question=False, changed=changed)


def test_a_decider_that_finds_nothing_ends_the_check() -> None:
    with pytest.raises(UnsoundError):
        Evidence().decides(None)


@pytest.mark.parametrize("answer", [None, False], ids=["undecided", "false"])
def test_a_step_that_is_not_proved_ends_the_check(answer: bool | None) -> None:
    with pytest.raises(UnsoundError):
        Evidence().proven(answer)


def test_doubtful_evidence_ends_the_check() -> None:
    with pytest.raises(UnsoundError):
        Evidence().sure(False)


def test_a_test_that_often_rejects_the_truth_is_refused() -> None:
    with pytest.raises(ValueError, match="false_alarm must lie in"):
        Evidence().simulated(True, false_alarm=0.01)


# Verdicts


@pytest.mark.parametrize(("holds", "status"), [(True, "answered"), (False, "not settled")])
def test_a_question_is_answered_if_its_answer_holds(holds: bool, status: str) -> None:
    (question,) = read(TABLE.replace("says =", 'answer = "yes"\nasks ='))
    assert verdict(question, lambda evidence: evidence.needs(holds)).status == status


def test_a_check_fills_its_numbers_in() -> None:
    (claim,) = read(TABLE.replace("it is", "it is @{size:.2f}"))
    assert verdict(claim, lambda _: {"size": 1}).words["evidence"] == "it is 1.00"


@pytest.mark.parametrize("numbers", [{}, {"size": 1, "more": 2}], ids=["too few", "too many"])
def test_words_and_check_name_the_same_numbers(numbers: dict[str, int]) -> None:
    (claim,) = read(TABLE.replace("it is", "it is @{size:.2f}"))
    rule = r"own/theorem-1\.1: words and check must name the same"
    with pytest.raises(ValueError, match=rule):
        verdict(claim, lambda _: numbers)


def test_a_verdict_and_its_claim_are_shown_in_a_short_line() -> None:
    (claim,) = read(TABLE)
    decided = verdict(claim, proved)
    assert repr(decided) == "Verdict(status='holds', how='proved', doubt='')"
    assert "One is at most two" not in repr(claim)


# Names


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("biswas2022/theorem-3.55", "biswas2022/theorem-3.5"),
        ("theorem-3.5", "biswas2022/theorem-3.5"),
        ("biswas/theorem-3.5", "biswas2022/theorem-3.5"),
    ],
)
def test_a_wrong_claim_is_told_what_is_near(wrong: str, near: str) -> None:
    with pytest.raises(ValueError, match=f"similar: .*{near}"):
        decide(wrong)


def test_claims_are_selected_by_section_place_or_identifier() -> None:
    of_section = select("biswas2022", "Section 3")
    assert {claim.section for claim in of_section} == {"Section 3"}

    at_place = select("biswas2022", "Theorem 3.5")
    assert {claim.key for claim in at_place} == {"theorem-3.5", "theorem-3.5-proof"}

    (named,) = select("biswas2022/theorem-3.5")
    assert named.key == "theorem-3.5"


def test_a_section_that_a_source_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="'Section 9' must be a section of biswas2022"):
        select("biswas2022", "Section 9")


def test_a_claim_leads_to_its_check() -> None:
    check = find("biswas2022/theorem-3.5").check
    assert check.__module__ == "ldpnb.papers.biswas2022.section_3"
    assert check.__name__ == "theorem_3_5"
