"""The ledger's own rules: what earns a status, a reach and a reading, and what the words of degree mean."""

import re
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest

from ldpnb import claims
from ldpnb.claims import Evidence, Verdict
from ldpnb.run.catalogue import catalogue, home
from ldpnb.run.ledger import committed_ledger

LEDGER = pd.DataFrame(committed_ledger())
stated = partial(Verdict, status="open", evidence="1", kind="proof")


@pytest.mark.parametrize(
    ("gather", "status", "reach"),
    [
        (lambda e: e.needs(True), "supported", "instances"),
        (lambda e: e.same(1.0, 1.0), "supported", "instances"),
        (lambda e: e.sure(True), "supported", "instances"),
        (lambda e: e.needs(False), "refuted", "instances"),
        (lambda e: e.proven(True), "reproduced", "all parameters"),
        (lambda e: e.decides(True), "reproduced", "all parameters"),
        (lambda e: e.decides(False), "refuted", "all parameters"),
        (lambda e: (e.decides(True), e.needs(False)), "refuted", "all parameters"),
    ],
)
def test_only_a_decider_grants_a_reach_beyond_instances(
    gather: Callable[[Evidence], object], status: str, reach: str
) -> None:
    evidence = Evidence()
    gather(evidence)
    verdict = evidence.verdict(stated(corrected="what holds", reach="all parameters"))
    assert (verdict.status, verdict.reach) == (status, reach)


@pytest.mark.parametrize(
    "gather",
    [
        lambda e: e.same(1.0, 1.01),
        lambda e: e.sure(False),
        lambda e: e.proven(False),
        lambda e: e.proven(None),
        lambda e: e.decides(None),
        lambda e: (e.needs(False), e.verdict(stated())),  # what holds instead is not known
    ],
)
def test_what_evidence_cannot_bear_ends_the_check(gather: Callable[[Evidence], object]) -> None:
    with pytest.raises(claims.UnsoundError):
        gather(Evidence())


@pytest.mark.parametrize(("example", "status"), [(False, "supported"), (True, "reproduced")])
def test_instances_support_and_examples_reproduce(example: bool, status: str) -> None:
    evidence = Evidence(decided=True)
    assert evidence.verdict(stated(), example=example).status == status
    beyond = evidence.verdict(stated(reach="a box"), example=example)
    assert beyond.status == "reproduced"


def test_a_reconstructed_reading_names_its_assumption() -> None:
    with pytest.raises(ValueError, match="a reconstructed reading is an assumption, and needs one"):
        stated(reading="reconstructed")


def test_every_committed_row_keeps_the_rules() -> None:
    for row in LEDGER.itertuples():
        assert row.over or row.status == "open", row.claim
        assert len(row.evidence.split()) <= 30, row.claim
        assert row.status not in ("refuted", "corrected") or row.corrected, row.claim
        assert (
            row.status != "supported"
            or row.reach == "instances"
            or "in conflict with the source" in row.assumption
        )


@pytest.mark.parametrize("source", claims.LEDGERS)
def test_the_readme_counts_the_ledger(source: str) -> None:
    lines = (home() / "README.md").read_text(encoding="utf-8").splitlines()
    heads = next(line for line in lines if line.startswith("| source |"))
    row = next((line for line in lines if line.startswith(f"| [`{source}`]")), "")
    assert row, f"give {source} a row in the table of README.md"
    shown = dict(zip(re.split(r" *\| *", heads), re.split(r" *\| *", row), strict=True))
    own = LEDGER[LEDGER["claim"].str.startswith(f"{source}/")]
    read = Counter(own[own["status"] == "reproduced"]["reading"])
    counted = Counter([*own["status"], *own["reach"], *["claims"] * len(own)])
    counted |= {"reproduced as printed": read["printed"], "as reconstructed": read["reconstructed"]}
    assert shown["notebooks"] == str(sum(n.source == source for n in catalogue()) or "")
    words = shown.keys() - {"", "source", "about", "notebooks"}
    assert {word: int(shown[word]) for word in words} == {word: counted[word] for word in words}


@pytest.mark.parametrize(
    ("word", "largest"), [("equal", 1.05), ("about", 1.1), ("similar", 1.25), ("near", 4.0)]
)
def test_a_word_of_degree_ends_at_its_ratio_either_way(word: str, largest: float) -> None:
    inside, beyond = np.array([1.0, largest, 1 / largest]), largest * (1 + 1e-9)
    assert claims.within(word, inside, 1.0)
    pairs = ((beyond, 1.0), (1.0, beyond), ([1.0, beyond], 1.0))
    assert not any(claims.within(word, *pair) for pair in pairs)


def test_better_is_smaller_and_not_equal() -> None:
    assert [claims.better(1.0, other) for other in (1.05, 1.0500001, 0.9)] == [False, True, False]
    assert [claims.better([1, 2], other) for other in ([2, 2], [2, 3])] == [False, True]
