"""Plans of surveys answer as the worked examples of survey statistics do, and refuse what has no answer."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ldpnb as ldp
from ldpnb.cli import cli
from ldpnb.planning.survey import Survey
from ldpnb.surveys.open_designs import ClusterDesign, SimpleDesign, SurveyDesign
from ldpnb.surveys.strata_designs import StratifiedDesign

TARGET: dict[str, Any] = {"epsilon": 1, "error": 0.05, "failure": 0.05}
STRATA = StratifiedDesign((6000, 3000, 1000), (0.01, 0.09, 0.25), "neyman", 2.0, ("A", "B", "C"))
WIDE: dict[str, Any] = {"epsilon": 1, "error": 0.1, "failure": 0.05, "mechanism": "Laplace", "tail": "normal"}


def plan(*words: str) -> Any:
    return CliRunner().invoke(cli, ["plan", "survey", *words])


@pytest.mark.parametrize(
    ("design", "asked", "count"),
    [
        (ClusterDesign(400, 25, icc=0.05), TARGET | {"binary": True, "tail": "normal"}, 84),
        (ClusterDesign(400, 25, icc=0.05), TARGET | {"binary": True}, 327),
        (ClusterDesign(400, 25, icc=0.05, take=15), TARGET | {"binary": True, "tail": "normal", "epsilon": 3}, 46),
        (SimpleDesign(5000), TARGET | {"binary": True, "tail": "normal"}, 1671),
        (SimpleDesign(1500), TARGET | {"binary": True, "tail": "normal"}, 1433),
        (SimpleDesign(10**6), TARGET, 1842),
        (SimpleDesign(10_000), TARGET | {"binary": True}, 1774),
        (STRATA, WIDE, 789),
    ],
)
def test_the_fewest_units_that_meet_a_target(design: SurveyDesign, asked: dict[str, Any], count: int) -> None:
    found = Survey(design=design, **asked).plan()
    assert abs(found.count - count) <= 1  # the values neglect N/(N-1) in the worst variance
    fewer = Survey(design=design, **asked | {"count": found.count - 1, "failure": None}).plan()
    assert found.survey.chance()[0] <= asked["failure"] < fewer.failure


@pytest.mark.parametrize("design", [SimpleDesign(10_000), ClusterDesign(400, 25, icc=0.1, take=5), STRATA])
@pytest.mark.parametrize("collection", ["local", "central"])
@pytest.mark.parametrize("tail", ["guaranteed", "normal"])
def test_every_unknown_leads_back_to_the_others(design: SurveyDesign, collection: Any, tail: Any) -> None:
    about: dict[str, Any] = {"design": design, "collection": collection, "tail": tail, "mechanism": "Laplace"}
    complete = {"count": 200, "epsilon": 2.0, "failure": 0.05}
    complete["error"] = Survey(**about, **complete).plan().error
    for name, value in complete.items():
        found = getattr(Survey(**about, **complete | {name: None}).plan(), name)
        assert found == pytest.approx(value, rel=1e-6, abs=1 if name == "count" else 0)


def test_both_parts_of_the_error_and_both_design_effects_are_told() -> None:
    said = Survey(design=ClusterDesign(400, 25, icc=0.05), **TARGET, binary=True, tail="normal").plan()
    told = said.to_dict()
    assert (told["sampling_sd"], told["randomisation_sd"]) == pytest.approx((0.0144, 0.0209), rel=5e-3)
    assert said.design_effects == pytest.approx((2.205, 1.213), abs=1e-3)
    assert "a secret sample would gain nothing" in str(said)
    assert said.to_frame().loc[0, "answers"] == 2100
    secret = Survey(design=SimpleDesign(10_000), **TARGET, binary=True, secret=True).plan()
    assert secret.released == pytest.approx(math.log(1 + 0.1774 * (math.e - 1)))


def test_a_curator_needs_far_fewer_people() -> None:
    asked = {"collection": "central", "binary": True, "tail": "normal"}
    known, secret = (Survey(design=SimpleDesign(10_000), **TARGET, **asked, secret=s).plan() for s in (False, True))
    assert secret.count < known.count < 400
    assert secret.survey.scale() == pytest.approx(0.0007, rel=0.01)
    rng = np.random.default_rng(7)
    held = np.repeat([0, 1], 5000)
    drawn = rng.hypergeometric(5000, 5000, known.count, size=100_000) / known.count
    errors = np.abs(drawn + rng.laplace(0, known.survey.scale(), 100_000) - held.mean())
    assert float(np.mean(errors >= 0.05)) == pytest.approx(0.05, abs=5 * math.sqrt(0.05 * 0.95 / 100_000) + 0.004)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--population 1300 --binary --tail normal",
            "all 1,300 people still leaves an error of 0.0522: an epsilon of 1.04",
        ),
        ("", "design simple needs population, got none"),
        ("--population 100 --icc 0.1", "design simple has no icc, got icc=0.1"),
        ("--design cluster --clusters 5 --cluster-size 4 --icc -0.5", "icc must lie in"),
        ("--population 1000 --sd 0.6", "sd must be at most 0.5"),
        ("--population 1000 --count 10", "exactly one of count, epsilon, error, failure must be left out, got none"),
        ("--population 1000 --response 0", "response must"),
        ("--population 1000 --weights 0.5", "weights must be a Kish design effect >= 1, got weights=0.5"),
        ("--population 1000 --weights 2 --secret-sample", "secret cannot be claimed with unequal weights"),
        ("--design strata --strata nowhere.csv", "strata must be a file, got strata='nowhere.csv'"),
    ],
)
def test_what_has_no_answer_is_refused_in_a_line(words: str, said: str) -> None:
    found = plan(*words.split(), "--epsilon", "1", "--error", "0.05", "--failure", "0.05")
    assert said in str(found.exception)
    assert "\n" not in str(found.exception)


def test_a_tail_beside_a_survey_s_own_is_refused() -> None:
    asked: Any = ldp.Survey(design=SimpleDesign(10_000), **TARGET)
    with pytest.raises(ValueError, match="tail of a survey is stated in it"):
        ldp.plan(asked, tail="normal")


def test_strata_come_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "strata.csv"
    path.write_text("stratum;size;sd\nA;6000;0,1\nB;3000;0,3\nC;1000;0,5\n")
    asked = [
        "--design",
        "strata",
        "--strata",
        str(path),
        "--mechanism",
        "Laplace",
        "--epsilon",
        "1",
        "--tail",
        "normal",
    ]
    asked += ["--failure", "0.05"]
    said = plan(*asked, "--allocation", "neyman", "--error", "0.1").stdout
    assert said.startswith("Ask 789 of 10,000 people (A 468, B 239, C 82).")
    told = json.loads(plan(*asked, "--count", "1000", "--format", "json").stdout)
    assert (told["answers"], told["loss_of_report"], told["neighbours"]) == (
        1000,
        1.0,
        "replacement of one person's value",
    )
    path.write_text("stratum,size\nA,10\nA,20\n")
    assert "named once each, got 'A' twice" in str(plan(*asked, "--count", "10").exception)
