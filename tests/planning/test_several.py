"""Several questions on one budget, and the power of a test, answer as worked by hand."""

import json
import math
from typing import Any

import pytest
from fielded import run

from ldpnb.planning.power import Power
from ldpnb.planning.questions import Mean
from ldpnb.planning.samples import SimpleDesign
from ldpnb.planning.several import Several


def four(epsilon: float, **known: Any) -> Several:
    given: dict[str, Any] = {
        "design": SimpleDesign(),
        "failure": 0.05,
        "binary": True,
        "tail": "normal",
    } | known
    return Several(questions=4, each=Mean(epsilon=epsilon, **given))


def test_one_question_each_is_better_on_small_budgets() -> None:
    assert [four(epsilon, count=4000).best for epsilon in (1, 4.24, 4.25, 8)] == [
        "one",
        "one",
        "all",
        "all",
    ]


def test_questions_answer_as_worked() -> None:
    words = "mean --questions 4 --binary --design simple --epsilon 1 --failure 0.05 --tail normal"
    shown = run("plan", *words.split(), "--count", "4000").stdout
    assert shown == f"{four(1.0, count=4000)}\n"
    assert shown.startswith(
        "Better: one random question each: error 0.06707, 1,000 answers to each at 1 nats"
    )
    assert "everybody answers all: error 0.1247, 4,000 answers to each at 0.25 nats" in shown
    assert 4 * four(1.0, error=0.06706).ways["one"].value == pytest.approx(4000, abs=4)
    assert four(1.0, error=0.1246).ways["all"].value == pytest.approx(4000, rel=1e-3)
    assert (
        len(
            json.loads(run("plan", *words.split(), "--count", "4000", "--format", "json").stdout)[
                "ways"
            ]
        )
        == 2
    )
    small = Several(
        questions=2, each=Mean(epsilon=1.0, error=0.01, failure=0.05, design=SimpleDesign(50))
    )
    assert (small.best, str(small)) == (None, "No mechanism can do this.")


def test_power_is_that_of_the_normal_law_with_the_noise() -> None:
    # two groups, standardised gap 1/2, level .05, power .8: 63 a group without noise (Cohen 1988, normal law)
    assert Power(gap=0.25, power=0.8, epsilon=600.0).completed().count == 126
    found = Power(gap=0.1, power=0.8, epsilon=1.0).completed()
    variance = 4 * (1 / 4 + 1 / (4 * math.sinh(0.5) ** 2))
    assert found.count == math.ceil((1.959964 + 0.841621) ** 2 * variance / 0.01)
    for name in ("gap", "power", "epsilon"):
        full = {n: getattr(found, n) for n in ("count", "gap", "power", "epsilon")} | {name: None}
        assert getattr(Power(**full).completed(), name) == pytest.approx(
            getattr(found, name), rel=1e-3
        )
    words = "power --gap 0.1 --power 0.8 --epsilon 1"
    assert "1,838 and 1,838 in two public groups" in run("plan", *words.split()).stdout


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("power --gap 0.1", "count, power and epsilon are left out"),
        ("power --gap 0.1 --power 0.8 --epsilon 1 --count 10", "nothing is left out"),
        ("power --gap 0.1 --power 0.8 --count 10", "sampling alone is too coarse"),
        ("power --gap 0.1 --power 0.01 --epsilon 1", "power must be above half the level"),
        (
            "mean --questions 2 --epsilon 1 --error 0.1 --failure 0.1",
            "design of several questions must be simple",
        ),
        (
            "mean --questions 9 --design simple --count 10 --epsilon 1 --failure 0.1",
            "count must be at least 2 for",
        ),
    ],
)
def test_what_has_no_answer_is_refused(words: str, rule: str) -> None:
    assert rule in str(run("plan", *words.split()).exception)
