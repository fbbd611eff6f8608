"""Plans lead back to what was given, say whom they promise for and by which estimator, and refuse in a line."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ask import alone, answer
from fielded import run

import ldpnb as ldp
from ldpnb.checks import UsageError
from ldpnb.planning.clusters import ClusterDesign
from ldpnb.planning.mechanisms import CURATOR
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import MOST_VALUES, Frequency, Gap, Mean
from ldpnb.planning.reports import MANY
from ldpnb.planning.samples import Everyone, SimpleDesign, StratifiedDesign
from ldpnb.surveys.field_plan import ESTIMATORS

STRATA = StratifiedDesign((6000, 3000, 1000), (0.1, 0.3, 0.5), "neyman", ("A", "B", "C"))


def command(words: str, *more: str) -> Any:
    return run("plan", *words.split(), *more)


def test_two_values_of_randomised_response_are_one_estimate() -> None:
    known = {"epsilon": 1.0, "error": 0.05, "failure": 0.01, "values": 2}
    once, both = plan(Frequency(**known)), plan(Frequency(**known, simultaneous=True))
    assert "Best: k-RR and subset selection, alike." in str(once)
    assert answer(once, "k-RR").value == answer(both, "k-RR").value
    assert answer(once, "SUE").value < answer(both, "SUE").value
    warner = alone(Mean(epsilon=1.0, error=0.05, failure=0.01, binary=True), "Warner")
    assert answer(once, "k-RR").value == warner.value


ASKED = [
    Frequency(epsilon=1.0, error=0.03, failure=0.01, values=10, simultaneous=True),
    Frequency(epsilon=2.0, error=0.1, failure=0.01, values=5, design=SimpleDesign(3000)),
    Frequency(epsilon=2.0, error=0.1, failure=0.05, values=5, design=StratifiedDesign((900, 600))),
    Mean(epsilon=1.0, error=0.3, failure=0.001, low=-5, high=5),
    Mean(epsilon=1.0, error=0.05, failure=0.01, binary=True, design=SimpleDesign(20_000)),
    Mean(epsilon=1.0, error=0.05, failure=0.05, design=STRATA, response=0.8),
    Mean(epsilon=2.0, error=0.1, failure=0.05, design=ClusterDesign(400, 20, 8, 0.1), response=0.8),
    Mean(
        epsilon=2.0,
        error=0.1,
        failure=0.05,
        design=ClusterDesign(400, 20, None, 0.1, None, 5.0),
        tail="normal",
    ),
    Gap(epsilon=1.0, error=0.05, failure=0.01),
    Gap(epsilon=1.0, error=0.1, failure=0.01, shares=(0.25, 0.75)),
]


@pytest.mark.parametrize(
    "question", ASKED, ids=lambda q: f"{type(q).__name__} {type(q.design).__name__}"
)
def test_what_is_computed_and_then_given_leads_back(question: Any) -> None:
    # shares cost sums: two mechanisms stand for six
    for one in question.candidates[:: 3 if isinstance(question, Frequency) else 1]:
        found = alone(question, one)
        assert found.feasible, found.reason
        assert found.chance()[0] <= question.failure
        for name in ("epsilon", "error", "failure"):
            back, given = alone(found.with_value(name, None), one).value, getattr(question, name)
            assert back <= given * (1 + 1e-8)
            if name == "error":
                assert back == pytest.approx(
                    given, rel=0.06 if question.design.unit == "clusters" else 0.01
                )


def test_readers_who_cannot_know_who_was_asked_learn_less() -> None:
    found = alone(
        Mean(epsilon=1.0, error=0.05, failure=0.05, design=SimpleDesign(20_000), releases=2),
        "1-bit",
    )
    assert found.reported == 2.0
    assert found.hidden == pytest.approx(np.log1p(found.value / 20_000 * np.expm1(2)))
    clusters = alone(
        Mean(epsilon=1.0, count=40, failure=0.05, design=ClusterDesign(400, 25)), "1-bit"
    )
    assert clusters.hidden == 1.0


def test_two_stages_are_planned_by_a_mean_and_a_spread_of_sizes_but_for_a_curator() -> None:
    design = ClusterDesign(400, 20, 5, icc=0.1, size_sd=5.0)
    found = plan(Mean(design=design, epsilon=2.0, error=0.1, failure=0.05, tail="normal"))
    assert found.best.mechanism == "1-bit"
    assert answer(found, CURATOR).reason.startswith("the noise would depend on the largest cluster")
    words = "mean --design clusters --clusters 400 --cluster-size 20 --take 5 --size-sd 5 --epsilon 2 --error 0.1"
    assert command(f"{words} --failure 0.05 --tail normal --icc 0.1").output == f"{found}\n"


def test_a_curator_with_yes_or_no_answers_is_promised_by_the_exact_law() -> None:
    known: dict[str, Any] = {
        "design": SimpleDesign(100_000),
        "mechanism": CURATOR,
        "failure": 0.001,
        "epsilon": 1.0,
    }
    found = alone(Mean(**known, error=0.02, binary=True), CURATOR)
    assert (found.value, found.bound, found.estimator) == (6346, "exact", "release")
    # Chebyshev's bound asked for 86,216; numbers in between have Serfling's with the noise
    number = alone(Mean(**known, error=0.02), CURATOR)
    assert (number.bound, 8600 < number.value < 8800) == ("Chernoff", True)
    census = Mean(
        design=SimpleDesign(1000),
        count=1000,
        error=0.05,
        failure=0.05,
        binary=True,
        mechanism=CURATOR,
    )
    assert plan(census).best is not None


@pytest.mark.parametrize(
    ("design", "estimator", "whom"),
    [
        (Everyone(), "mean", "those who answer, not for a population they may be drawn from"),
        (SimpleDesign(), "mean", "the population"),
        (SimpleDesign(50_000), "mean", "the population of 50,000"),
        (STRATA, "stratified mean", "the population of 10,000"),
        (ClusterDesign(400, 25, 5, icc=0.1), "expansion", "the population of 10,000"),
    ],
    ids=str,
)
def test_every_answer_says_for_whom_by_which_estimator_and_how_certain(
    design: Any, estimator: str, whom: str
) -> None:
    found = plan(Mean(design=design, epsilon=2.0, error=0.1, failure=0.05, releases=3))
    assert (found.best.estimator, found.best.whom) == (estimator, whom)
    shown = str(found)
    assert (
        f"Promised for {whom}: at the worst data an error of 0.1 or more has probability at most 0.05"
        in shown
    )
    assert f"Estimator ({estimator}): {ESTIMATORS[estimator]}." in shown
    assert "and the 3 reports of a person together 6" in shown
    normal = str(plan(Mean(design=design, epsilon=2.0, error=0.1, failure=0.05, tail="normal")))
    assert "has probability about 0.05 (normal)" in normal
    assert "an approximation for many reports, no promise" in normal


def test_nonresponse_is_part_of_the_failure() -> None:
    known: dict[str, Any] = {"design": SimpleDesign(10_000), "epsilon": 1.0, "error": 0.05}
    found = alone(Mean(**known, failure=0.05, response=0.6), "1-bit")
    assert found.value == alone(Mean(**known, failure=0.045), "1-bit").value
    (invited,) = found.invited
    assert invited > found.value / 0.6
    clusters: dict[str, Any] = {"epsilon": 2.0, "error": 0.05, "failure": 0.05, "tail": "normal"}
    design = ClusterDesign(
        400, 25, 12, 0.05
    )  # 12 are asked in each, whether or not that many answer
    found = plan(Mean(design=design, response=0.7, mechanism="1-bit", **clusters))
    assert sum(found.best.invited) == 12 * found.best.value
    assert "of whom about" in str(found)
    # of very many clusters some would have no answer; so few do not
    many = ClusterDesign(5000, 25, 8, 0.05)
    found = alone(
        Mean(design=many, response=0.6, epsilon=3.0, error=0.1, failure=0.1, tail="normal"), "1-bit"
    )
    assert found.value == 25
    assert found.with_value("count", 24).chance()[0] > 0.1


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_extreme_budgets_are_planned_without_a_warning(epsilon: float) -> None:
    for question in (
        Frequency(epsilon=epsilon, count=1000, error=0.5, values=8, simultaneous=True),
        Mean(epsilon=epsilon, count=1000, error=0.5, binary=True, design=SimpleDesign(4000)),
        Mean(epsilon=epsilon, count=100, error=0.5, design=ClusterDesign(400, 10)),
        Gap(epsilon=epsilon, count=1000, error=0.5, shares=(0.3, 0.7)),
    ):
        for found in plan(question).answers:
            if found.feasible:
                assert 0 < found.value < 1
                assert epsilon == 50.0 or found.central or found.value > 0.1


UNSIZED = {"epsilon": 1.0, "error": 0.1, "failure": 0.1}
SMALL = Mean(
    design=SimpleDesign(50), response=0.5, count=40, epsilon=1.0, error=0.1, mechanism="1-bit"
)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: plan(Mean(epsilon=1.0)), "count, error and failure are left out"),
        (lambda: plan(Mean(count=10, **UNSIZED)), "nothing is left out"),
        (lambda: Mean(error=1.0), "error must be < 1, the whole range"),
        (lambda: Mean(epsilon=0.0), "epsilon must be > 0"),
        (lambda: Mean(failure=1.0), r"failure must lie in \(0, 1\)"),
        (lambda: Mean(count=1), "count must be an integer >= 2"),
        (
            lambda: Mean(count=MANY + 1),
            "count must be at most 1,000,000,000,000 people, got 1,000,000,000,001",
        ),
        (lambda: Mean(low=1.0, high=1.0), "low must be < high"),
        (
            lambda: Mean(mechanism="OUE"),
            "mechanism must be one of 1-bit, local Laplace, central Laplace",
        ),
        (lambda: Mean(response=0.0), "response must lie in"),
        (lambda: Mean(releases=0), "releases must be an integer >= 1"),
        (lambda: Frequency(values=MOST_VALUES + 1), "values must lie in"),
        (lambda: Gap(design=STRATA), "design of a gap must be everyone"),
        (lambda: Gap(shares=(0.0, 1.0)), "shares must be > 0"),
        (lambda: Gap(shares=(0.3, 0.3)), "shares must sum to 1"),
        (lambda: SMALL.invited, "of 50 people would have to be invited for 40 answers"),
    ],
)
def test_bad_questions_name_the_rule_and_the_value(make: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        make()


def test_what_cannot_be_done_says_what_remains() -> None:
    known: dict[str, Any] = {"epsilon": 1.0, "error": 0.05, "failure": 0.05, "binary": True}
    small = alone(Mean(design=SimpleDesign(1300), **known), "Warner")
    assert small.reason.startswith("if all 1,300 people are asked, an error of 0.05")
    result = command("mean --count 100 --error 0.001 --failure 0.01 --mechanism 1-bit")
    assert result.exit_code == 1
    assert "No mechanism can do this." in result.output
    assert "at any budget an error of 0.133 remains" in result.output


def test_the_command_prints_what_the_library_does() -> None:
    result = command("gap --count 1e4 --shares 0.3,0.7 --error 0.2 --failure 0.01")
    assert result.exit_code == 0
    assert (
        result.output == f"{plan(Gap(count=10_000, shares=(0.3, 0.7), error=0.2, failure=0.01))}\n"
    )
    lines = result.output.splitlines()
    assert lines[0].startswith("Which budget? 10,000 people, error below 0.2")
    assert lines[2].split() == ["mechanism", "epsilon", "bound"]
    assert "Best: signed bit." in result.output
    words = "mean --binary --design clusters --clusters 400 --cluster-size 25 --icc 0.05 --epsilon 1 --error 0.05"
    shown = command(f"{words} --failure 0.05 --tail normal").output
    assert "Draw 84 of 400 clusters and ask everybody in each, 2,100 people." in shown


def test_strata_come_from_a_table_and_their_numbers_leave_in_every_format(tmp_path: Path) -> None:
    table, file = tmp_path / "strata.csv", tmp_path / "plan.xlsx"
    table.write_text("stratum;size;sd\nA;6000;0,1\nB;3000;0,3\nC;1000;0,5\n")
    words = f"mean --design strata --strata {table} --allocation neyman --epsilon 1 --error .1 --failure .05"
    said = plan(Mean(design=STRATA, epsilon=1.0, error=0.1, failure=0.05))
    invited = dict(zip(STRATA.names, said.best.invited, strict=True))
    assert command(words).output == f"{said}\n"
    assert f"A {invited['A']:,}, B {invited['B']:,}, C {invited['C']:,}." in str(said)
    (row, *_) = json.loads(command(words, "--format", "json").output)["answers"]
    assert {name: row[f"invite {name}"] for name in "ABC"} == invited
    assert (row["estimator"], row["whom"]) == ("stratified mean", "the population of 10,000")
    assert (
        command(words, "--format", "csv")
        .output.splitlines()[0]
        .endswith("invite A,invite B,invite C")
    )
    assert command(words, "-o", str(file)).output == ""
    book = pd.read_excel(BytesIO(file.read_bytes()), sheet_name=None, engine="calamine")
    assert (book["answers"]["count"][0], book["answers"]["invite B"][0]) == (
        said.best.value,
        invited["B"],
    )
    assert isinstance(command(words, "--format", "xlsx").exception, UsageError)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("stratum,people\nA,5\n", "column size must be among the columns, got stratum, people"),
        ("stratum,size\nA,5\nA,6\n", "strata must be named once each, got 'A' twice"),
        ("stratum,size\nA,5.5\n", "size must be an integer >= 1, got size=5.5"),
        (
            "stratum,size,sd\nA,5,0.1\nB,6,\n",
            "sd must have an entry in every row, got none in row 2",
        ),
    ],
)
def test_a_table_of_strata_that_cannot_be_used_is_refused(
    text: str, rule: str, tmp_path: Path
) -> None:
    (tmp_path / "strata.csv").write_text(text)
    with pytest.raises(ValueError, match=rule):
        ldp.load_strata(tmp_path / "strata.csv")


SAVED = "mean --design simple --epsilon 1 --error 0.1 --failure 0.1 --questions 2 --save p.json"


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("mean --epsilon 1", "count, error and failure are left out"),
        ("mean --count 2.5", "count must be an integer >= 2, got count=2.5"),
        (SAVED, "save keeps one question"),
        ("mean --design simple --clusters 3", "design simple has no clusters, got clusters=3"),
        ("mean --design clusters --clusters 3", "design clusters needs cluster-size, got none"),
        ("mean --design strata", "design strata needs strata, got none"),
        ("gap --shares a,b", "is not a list of numbers"),
    ],
)
def test_wrong_usage_of_the_command_is_named(words: str, rule: str) -> None:
    result = command(words)
    assert rule in (
        str(result.exception) if isinstance(result.exception, UsageError) else result.output
    )


def test_printed_budgets_are_rounded_up_so_that_they_hold() -> None:
    question = Gap(count=10_000, error=0.1, failure=0.01)
    found = plan(question)
    printed = float(str(found).splitlines()[3].split()[-2])
    assert found.best.value <= printed < 1.001 * found.best.value
    assert (
        alone(
            question.with_value("epsilon", printed).with_value("failure", None), "signed bit"
        ).value
        <= 0.01
    )


@pytest.mark.parametrize("design", [Everyone(), SimpleDesign(), SimpleDesign(MANY // 2)], ids=str)
@pytest.mark.parametrize("users", [10**8, MANY // 2])
def test_laws_and_bounds_hold_up_to_the_most_people(design: Any, users: int) -> None:
    known: dict[str, Any] = {
        "design": design,
        "count": users,
        "epsilon": 2.0,
        "error": 5 / users**0.5,
        "failure": 0.01,
    }
    gaps = [Gap(**known), Gap(**known, shares=(0.3, 0.7))] if design.respondents else []
    for question in (
        Frequency(**known, values=16),
        Mean(**known),
        Mean(**known, binary=True),
        *gaps,
    ):
        for one in question.candidates[:: 3 if isinstance(question, Frequency) else 1]:
            full = question.with_value("mechanism", one)
            if not full.central:
                normal, (chance, bound) = full.chance("normal")[0], full.chance()
                assert chance >= normal * (1 - 1e-3), one
                if bound == "exact" and normal < 0.1:
                    assert chance <= normal * (1 + 50 / users**0.5), one
