"""Nonresponse, takes and their costs, questions on one budget and power answer as the worked examples do."""

import json
import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from ldpnb.cli import cli
from ldpnb.planning.power import Power
from ldpnb.planning.survey import Survey
from ldpnb.planning.survey_questions import SurveyQuestions
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign
from ldpnb.surveys.strata_designs import StratifiedDesign
from ldpnb.surveys.unequal_designs import PoissonDesign, UnequalClusterDesign

TARGET: dict[str, Any] = {"epsilon": 1, "error": 0.05, "failure": 0.05}
SCHOOLS = Survey(
    design=ClusterDesign(400, 25, icc=0.05), epsilon=3, error=0.05, failure=0.05, binary=True, tail="normal"
)


def plan(*words: str) -> Any:
    return CliRunner().invoke(cli, ["plan", *words])


def test_enough_are_invited_and_their_losses_told() -> None:
    found = Survey(design=SimpleDesign(10_000), **TARGET, response=0.6, response_range=(0.4, 0.8)).plan()
    assert (found.answers, found.invited) == (1842, 3145)
    told = found.to_dict()
    assert told["failure_with_response"] == pytest.approx(0.1)
    assert told["response_bias"] == pytest.approx(0.171573, abs=1e-6)
    assert told["loss_of_report_or_absence"] == pytest.approx(1 + math.log(2))
    assert "the mean is biased by up to 0.1716, however many answer" in str(found)
    # all who are invited may answer
    secret = Survey(design=SimpleDesign(10_000), **TARGET, response=0.6, secret=True).plan()
    assert secret.released == pytest.approx(math.log(1 + 0.3145 * (math.e - 1)))


def test_enough_are_invited_in_every_stratum_and_cluster() -> None:
    strata = Survey(design=StratifiedDesign((6000, 4000)), count=1000, epsilon=1, failure=0.05, response=0.5).plan()
    for answers, invited in zip((600, 400), strata.survey.invited, strict=True):
        assert stats.binom.cdf(answers - 1, invited, 0.5) <= 0.025 < stats.binom.cdf(answers - 1, invited - 1, 0.5)
    design = ClusterDesign(400, 25, take=10)
    clusters = Survey(design=design, count=100, epsilon=1, failure=0.05, response=0.8, secret=True).plan()
    assert stats.binom.cdf(9, clusters.invited / 100, 0.8) <= 0.05 / 100
    assert clusters.released == 1
    with pytest.raises(ValueError, match="for 25 answers, got 25 people in a cluster"):
        Survey(design=ClusterDesign(400, 25), count=100, epsilon=1, failure=0.05, response=0.8).plan()
    with pytest.raises(ValueError, match="would have to be invited for 1,842 answers, got 2,000 people"):
        Survey(design=SimpleDesign(2000), **TARGET, response=0.6).plan()


@pytest.mark.parametrize(("population", "answers"), [("1e9", 1600), ("500", 381)])
def test_a_coefficient_of_variation_is_a_target(population: str, answers: int) -> None:
    # PracTools (Valliant, Dever and Kreuter), nCont(CV0=0.05, CVpop=2) and with N=500; next to no noise
    words = f"survey --population {population} --sd 0.2 --cv 0.05 0.1 --mechanism Laplace --epsilon 10000 --format json"
    assert json.loads(plan(*words.split()).stdout)["answers"] == answers
    assert "cv stands for error and failure" in str(plan(*words.split(), "--error", "0.1").exception)


@pytest.mark.parametrize(("epsilon", "best"), [(1, "one"), (4.24, "one"), (4.25, "all"), (8, "all")])
def test_one_question_each_is_better_on_small_budgets(epsilon: float, best: str) -> None:
    asked: dict[str, Any] = {"answers": 4000, "failure": 0.05, "binary": True, "tail": "normal"}
    found = SurveyQuestions(weights=(1, 1, 1, 1), epsilon=epsilon, **asked)
    assert found.best == best
    assert found.threshold == pytest.approx(4.245, abs=5e-4)


def test_questions_answer_as_worked() -> None:
    words = "questions --weights 1,1,1,1 --binary --epsilon 1 --failure 0.05 --tail normal"
    said = plan(*words.split(), "--answers", "4000").stdout
    assert said.startswith("Better: one random question each: ±0.06706 (1,000 answers at 1 nats).\n")
    assert "Everybody answers all: ±0.1246 (4,000 answers at 0.25 nats)." in said
    assert "better below epsilon 4.245" in said
    (row, *_) = json.loads(plan(*words.split(), "--error", "0.06706", "--format", "json").stdout)
    assert row["answers"] == pytest.approx(4000, abs=4)
    split = SurveyQuestions(weights=(1, 1, 8), answers=900, epsilon=1, failure=0.05, mechanism="Laplace", together=True)
    assert [e for _, e in split.shares("all")] == pytest.approx([0.25, 0.25, 0.5])
    assert [n for n, _ in split.shares("one")] == [186, 186, 527]
    assert "all at once" in str(split)
    assert split.threshold is None
    with pytest.raises(ValueError, match="error must be larger: 50 answers are too few"):
        SurveyQuestions(weights=(1, 1), answers=2, epsilon=1, failure=0.05, population=50).for_error(0.01)
    assert "one of answers and error" in str(plan(*words.split()).exception)


def test_power_is_that_of_the_normal_law_with_the_noise() -> None:
    # two groups, standardised gap 1/2, level .05, power .8: 63 a group without noise (Cohen 1988, normal law)
    plain = Power(gap=0.125, power=0.8, epsilon=1e6, sd=0.25, mechanism="Laplace")
    assert plain.answered().answers == 126
    asked = Power(gap=0.1, power=0.8, epsilon=1.0, binary=True)
    found = asked.answered()
    variance = 4 * (1 / 4 + 1 / (4 * math.sinh(0.5) ** 2))
    assert found.answers == math.ceil((1.959964 + 0.841621) ** 2 * variance / 0.01)
    for name in ("gap", "power", "epsilon"):
        full = {n: getattr(found, n) for n in ("answers", "gap", "power", "epsilon")} | {name: None}
        assert getattr(Power(**full, binary=True).answered(), name) == pytest.approx(getattr(found, name), rel=1e-3)
    assert (
        "1,838 and 1,838 in two public groups"
        in plan(*["power", "--gap", "0.1", "--power", "0.8", "--epsilon", "1", "--binary"]).stdout
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("power --gap 0.1", "got no answers and no power and no epsilon"),
        ("power --gap 0.1 --power 0.8 --epsilon 1 --answers 10", "must be left out, got all"),
        ("power --gap 0.1 --power 0.8 --answers 10", "sampling alone is too coarse"),
        ("power --gap 0.1 --power 0.01 --epsilon 1", "power must be above half the level"),
        ("questions --weights 1 --answers 10 --epsilon 1 --failure 0.1", "two questions or more"),
    ],
)
def test_what_has_no_answer_is_refused(words: str, said: str) -> None:
    assert said in str(plan(*words.split()).exception)


def sample_law(rates: tuple[float, ...], number: int) -> np.ndarray[Any, Any]:
    """The law of the ones among the bits of a simple random sample, by enumeration."""
    law, samples = np.zeros(number + 1), list(combinations(rates, number))
    for drawn in samples:
        ones = np.array([1.0])
        for rate in drawn:
            ones = np.convolve(ones, [1 - rate, rate])
        law += ones / len(samples)
    return law


@pytest.mark.parametrize("number", [2, 3, 4])
def test_bits_of_a_sample_are_independent_ones_in_law(number: int) -> None:
    """The generating function has real zeros only, and no tail from a report on exceeds the binomial's."""
    for rates in product((0.1, 0.4, 0.9), repeat=5):
        law = sample_law(rates, number)
        zeros = np.roots(law[::-1])
        assert np.abs(zeros.imag).max() < 1e-3 * np.abs(zeros).max()  # triple zeros are found to a third of the digits
        mean = number * float(np.mean(rates))
        for ones in range(math.ceil(mean + 1), number + 1):
            assert law[ones:].sum() <= stats.binom.sf(ones - 1, number, mean / number) + 1e-12


DESIGNS = [
    *(SimpleDesign(1000), ClusterDesign(40, 25), ClusterDesign(40, 25, 0.05, 5), ClusterDesign(40, 25, None, 5)),
    *(StratifiedDesign((600, 400)), StratifiedDesign((600, 400), spans=(1.0, 2e-4))),
    *(UnequalClusterDesign((2, 5, 9, 30, 3)), PoissonDesign((600, 400), (1.0, 2.0))),
]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("collection", ["local", "central"])
@pytest.mark.parametrize("secret", [False, True])
def test_noise_falls_with_the_budget_and_is_never_nothing(design: Any, collection: Any, secret: bool) -> None:
    count = 101 if design.unit == "people" else 3
    if secret and design.visible(local=collection == "local"):
        return
    losses, scales = [], []
    for epsilon in (1e-6, 1e-3, 1.0, 50.0, 700.0, 710.0, 1e4):
        found = Survey(design=design, count=count, epsilon=epsilon, failure=0.05, collection=collection, secret=secret)
        assert found.plan().error
        losses.append(design.loss(count, epsilon, (count,)))
        scales.append(design.scale(count, epsilon, 1.0, secret=secret))
    assert (min(losses) > 0, losses) == (True, sorted(losses))
    assert (min(scales) > 0, scales) == (True, sorted(scales, reverse=True))
