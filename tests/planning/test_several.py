"""Several questions on one budget, and the power of a test, answer as worked by hand."""

import json
import math
from typing import Any

import pytest
from click.testing import CliRunner

from ldpnb.cli import cli
from ldpnb.planning.designs import SimpleDesign
from ldpnb.planning.power import Power
from ldpnb.planning.several import Several, split


def plan(*words: str) -> Any:
    return CliRunner().invoke(cli, ["plan", *words])


@pytest.mark.parametrize(("epsilon", "best"), [(1, "one"), (4.24, "one"), (4.25, "all"), (8, "all")])
def test_one_question_each_is_better_on_small_budgets(epsilon: float, best: str) -> None:
    asked: dict[str, Any] = {"count": 4000, "failure": 0.05, "binary": True, "tail": "normal"}
    found = Several(weights=(1, 1, 1, 1), epsilon=epsilon, **asked)
    assert found.best == best
    assert found.threshold == pytest.approx(4.245, abs=5e-4)


def test_questions_answer_as_worked() -> None:
    words = "questions --weights 1,1,1,1 --binary --epsilon 1 --failure 0.05 --tail normal"
    said = plan(*words.split(), "--count", "4000").stdout
    assert said.startswith("Better: one random question each: ±0.06706 (1,000 answers at 1 nats).\n")
    assert "Else everybody answers all: ±0.1246 (4,000 answers at 0.25 nats)." in said
    assert "all reports of a person together lose 1 nats" in said
    assert "better below epsilon 4.245" in said
    (row, *_) = json.loads(plan(*words.split(), "--error", "0.06706", "--format", "json").stdout)
    assert row["answers"] == pytest.approx(4000, abs=4)
    several = Several(weights=(1, 1, 8), count=900, epsilon=1, failure=0.05, mechanism="local Laplace", together=True)
    assert [e for _, e in several.shares("all")] == pytest.approx([0.25, 0.25, 0.5])
    assert [n for n, _ in several.shares("one")] == [186, 186, 527]
    assert "all at once" in str(several)
    assert several.threshold is None
    small = Several(weights=(1, 1), count=4, epsilon=1, failure=0.05, design=SimpleDesign(50))
    with pytest.raises(ValueError, match=r"error must be >= 0\.[0-9]+, what all 50 people leave, got error=0.01"):
        small.for_error(0.01)
    assert "one of count and error must be given" in str(plan(*words.split()).exception)


def test_a_split_budget_leaves_every_question_the_same_weighted_slope() -> None:
    parts = split(6.0, [1.0, 1.0, 8.0], bits=True)
    slopes = [w * math.cosh(e / 2) / math.sinh(e / 2) ** 3 for w, e in zip([1, 1, 8], parts, strict=True)]
    assert parts.sum() == pytest.approx(6)
    assert slopes == pytest.approx([slopes[0]] * 3)


def test_power_is_that_of_the_normal_law_with_the_noise() -> None:
    # two groups, standardised gap 1/2, level .05, power .8: 63 a group without noise (Cohen 1988, normal law)
    assert Power(gap=0.125, power=0.8, epsilon=1e6, sd=0.25, mechanism="local Laplace").completed().count == 126
    found = Power(gap=0.1, power=0.8, epsilon=1.0, binary=True).completed()
    variance = 4 * (1 / 4 + 1 / (4 * math.sinh(0.5) ** 2))
    assert found.count == math.ceil((1.959964 + 0.841621) ** 2 * variance / 0.01)
    for name in ("gap", "power", "epsilon"):
        full = {n: getattr(found, n) for n in ("count", "gap", "power", "epsilon")} | {name: None}
        assert getattr(Power(**full, binary=True).completed(), name) == pytest.approx(getattr(found, name), rel=1e-3)
    words = "power --gap 0.1 --power 0.8 --epsilon 1 --binary"
    assert "1,838 and 1,838 in two public groups" in plan(*words.split()).stdout


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("power --gap 0.1", "got no count and no power and no epsilon"),
        ("power --gap 0.1 --power 0.8 --epsilon 1 --count 10", "must be left out, got all"),
        ("power --gap 0.1 --power 0.8 --count 10", "sampling alone is too coarse"),
        ("power --gap 0.1 --power 0.01 --epsilon 1", "power must be above half the level"),
        ("questions --weights 1 --count 10 --epsilon 1 --failure 0.1", "two questions or more"),
    ],
)
def test_what_has_no_answer_is_refused(words: str, rule: str) -> None:
    assert rule in str(plan(*words.split()).exception)
