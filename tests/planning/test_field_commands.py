"""From a plan to a kit and to estimates on the command line; what is wrong ends in one line, with nothing written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fielded import run

from ldpnb.rng import stream
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

STRATA = FieldPlan(
    design="strata", kind="binary", p="73/100", q="27/100", device="spinner", asked=20,
    strata={"north": (50, 12), "south | west": (30, 8)},
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    chances = {"p": "73/100", "q": "27/100", "device": "spinner"}
    FieldPlan(
        design="simple", kind="binary", population=900, asked=400, answers=400, **chances
    ).save("plan.json")
    rng = stream("reports of a command", seed=0)
    columns = {
        "report": rng.integers(0, 2, 400),
        "sex": rng.choice(["f", "m"], 400),
        "id": np.arange(400),
    }
    pd.DataFrame(columns | {"class": "young"}).to_csv("reports.csv", index=False)
    Path("invited.csv").write_text("class,invited\nyoung,200\nold,200\n")
    STRATA.save("strata.json")
    strata = pd.DataFrame({"id": np.arange(80), "stratum": ["north"] * 50 + ["south | west"] * 30})
    strata.to_csv("frame.csv", index=False)
    Path("strata.csv").write_text("stratum,size,sd\nnorth,500,.2\nsouth,300,.4\n")
    return tmp_path


def test_estimate_writes_what_the_library_computes(folder: Path) -> None:
    own = estimate(FieldPlan.load("plan.json"), pd.read_csv("reports.csv"), by="sex")
    words = ["estimate", "plan.json", "reports.csv", "--by", "sex"]
    assert run(*words).output == f"{own}\n"
    assert json.loads(run(*words, "--format", "json").output) == own.tables()
    for suffix in ("csv", "json", "xlsx", "png", "svg", "pdf"):
        assert run(*words, "-o", f"found.{suffix}").output == ""
    assert json.loads(Path("found.json").read_text()) == own.tables()
    for table in (pd.read_csv("found.csv"), pd.read_excel("found.xlsx", engine="calamine")):
        assert table["estimate"].tolist() == pytest.approx([row.estimate for row in own.rows])
    drawn, row = Path("found.svg").read_text(), own.rows[0]
    assert f"Share: {row.estimate:.3g}" in drawn
    assert f"95 % interval {row.low:.3g} to {row.high:.3g}" in drawn
    assert all(name in drawn for name in (">share<", ">sex f share<", ">sex m share<"))


def test_reports_that_have_two_readings_are_asked_about_and_read_as_is_then_stated(
    folder: Path,
) -> None:
    text = Path("reports.csv").read_text()
    Path("titled.csv").write_text(f"Fieldwork of May\n{text}")
    asked = run("estimate", "plan.json", "titled.csv")
    assert "state skip=1" in str(asked.exception)
    stated = run("estimate", "plan.json", "titled.csv", "--skip", "1")
    assert stated.output == run("estimate", "plan.json", "reports.csv").output


def test_a_curators_plan_is_saved_and_its_release_estimated(folder: Path) -> None:
    words = [
        "plan",
        "mean",
        "--mechanism",
        "central Laplace",
        "--design",
        "simple",
        "--population",
        "5000",
        "--binary",
    ]
    planned = run(
        *words, "--epsilon", "0.5", "--error", "0.05", "--failure", "0.05", "--save", "curator.json"
    )
    assert "the curator" in planned.output.lower()
    Path("release.csv").write_text("report\n0.412\n")
    shown = run("estimate", "curator.json", "release.csv")
    assert shown.exit_code == 0
    assert "0.412" in shown.output
    assert run("kit", "curator.json", "-o", "new").exit_code == 2


def test_classes_come_from_a_table(folder: Path) -> None:
    table = pd.read_csv("reports.csv").head(200)
    table["class"] = np.where(np.arange(200) % 3 == 0, "young", "old")
    table.to_csv("answered.csv", index=False)
    shown = run("estimate", "plan.json", "answered.csv", "--classes", "invited.csv").output
    assert "t, 198 df" in shown
    assert "shares of those asked in each class" in shown


def test_a_kit_has_the_draw_and_is_the_same_again(folder: Path) -> None:
    words = [
        "kit",
        "strata.json",
        "--frame",
        "frame.csv",
        "--seed",
        "7",
        "--by",
        "class=young,old",
        "-o",
    ]
    assert (run(*words, "kit").output, run(*words, "again").exit_code) == (
        "kit: read kit/start.md first\n",
        0,
    )
    drawn = pd.read_csv("kit/draw.csv")
    assert drawn["stratum"].value_counts().to_dict() == {"north": 12, "south | west": 8}
    kit, again = (
        {path.name: path.read_text() for path in Path(name).iterdir()} for name in ("kit", "again")
    )
    assert kit == again
    assert kit["plan.json"] == Path("strata.json").read_text()
    assert "seed=7" in kit["sample.md"]
    assert kit["fieldwork.csv"].splitlines()[1] == "north,12,,,,"
    assert kit["invited.csv"] == "class,invited\nyoung,\nold,\n"


ESTIMATE, CLASSES, KIT = (
    "estimate plan.json reports.csv -o new.csv",
    "--classes invited.csv",
    "kit strata.json -o new",
)
NORMAL = "--tail normal --epsilon 2 --error .2 --failure .05 --save new.json"


@pytest.mark.parametrize(
    ("words", "file", "line", "message"),
    [
        (ESTIMATE, "reports.csv", "2,f,400,young", "report must be 0 or 1, got '2' in row 400"),
        (ESTIMATE, "reports.csv", "1,f,400,young\n1,f,401,young", "the survey must have 2 to 400 reports, as many as were invited at most, got 401"),
        (ESTIMATE, "reports.csv", "1,f,1,young", "id must be there once each, got '1' in row 400"),
        (f"{ESTIMATE} --by sex", "reports.csv", "1,,400,young", "sex must be given in every row, got '' in row 400"),
        (ESTIMATE, "plan.json", "", "plan.json: cannot be read as a plan"),
        (ESTIMATE, "plan.json", ', "asked": 1}', "sha256 must be that of the content"),
        (f"{ESTIMATE} {CLASSES}", "invited.csv", "old,200", "class young must have 2 to 200 reports"),
        (f"{ESTIMATE} {CLASSES}", "invited.csv", "old,many", "invited must be a number, got invited='many'"),
        (f"{ESTIMATE} --by age", "", "", "column age must be among"),
        (f"{ESTIMATE} --level 95", "", "", "level must lie in (0, 1), got level=95.0"),
        (ESTIMATE.replace("csv -o new.csv", "csv -o new.txt"), "", "", "output must end in .csv, .json, .xlsx, .png, .svg, .pdf, got"),
        ("kit plan.json -o frame.csv", "", "", "output must be a new folder, got frame.csv"),
        (f"{KIT} --frame frame.csv", "", "", "seed must be given too: a draw takes --frame, whom to draw from, and --seed, a number"),
        (f"{KIT} --frame invited.csv --seed 1", "", "", "column id must be among the columns"),
        ("kit frame.csv -o new", "", "", "frame.csv: cannot be read as a plan"),
        (f"{KIT} --by sex", "", "", "by must be a new column with 2 different values or more"),
        (f"plan mean {NORMAL} --questions 0", "", "", "questions must be an integer >= 1"),
        (f"plan frequency {NORMAL} --values 3 --labels a,,b", "", "", "labels must be 3, one per value"),
        ("plan mean --tail normal --epsilon 2 --failure .05 --range 0 1000 --error 4 --device spinner --save new.json", "", "", "tickets round by 5, got"),
        (f"plan mean {NORMAL} --design clusters --clusters 4000 --cluster-size 9 --take 1", "", "", "two people asked in every"),
        (f"{ESTIMATE} {CLASSES}", "invited.csv", "young,2\nyoung,3", "classes must name each class once"),
        (f"plan mean {NORMAL} --releases 2", "", "", "save needs shares or a mean, and one release"),
        (f"plan mean {NORMAL} --mechanism central_Laplace", "", "", "design must be simple with a curator"),
        (f"plan frequency {NORMAL} --mechanism central_Laplace", "", "", "save needs a mean with a curator"),
        (f"plan mean {NORMAL} --design simple", "", "", "population must be given for a plan that is saved"),
    ],
)  # fmt: skip
def test_what_is_wrong_ends_in_one_line_and_writes_nothing(
    words: str, file: str, line: str, message: str, folder: Path
) -> None:
    """The last line of a file is another."""
    if file:
        lines = Path(file).read_text().splitlines()
        Path(file).write_text("\n".join([*lines[:-1], line]) + "\n")
    result = run(*(word.replace("_", " ") for word in words.split()))
    assert (result.exit_code, "\n" in str(result.exception), list(Path().glob("new*"))) == (
        2,
        False,
        [],
    )
    assert message in str(result.exception)


WARNER = "plan mean --design simple --binary --epsilon 1 --failure .05 --mechanism Warner --population 900 --error .1"
CLUSTERS = "mean --design clusters --clusters 60 --cluster-size 9"
GUARANTEED = (
    "mean --design clusters --clusters 400 --cluster-size 25 --take 15 --icc .05 --tail guaranteed"
)


@pytest.mark.parametrize(
    ("words", "design", "estimator", "bound"),
    [
        ("mean --design strata --strata strata.csv", "strata", "stratified mean", "normal"),
        (CLUSTERS, "clusters", "expansion", "normal"),
        (f"{CLUSTERS} --take 4", "two stages", "expansion", "normal"),
        (GUARANTEED, "two stages", "expansion", "Chebyshev"),
        (
            "mean --design simple --population 900 --mechanism local_Laplace",
            "simple",
            "mean",
            "normal",
        ),
        ("mean", "everyone", "mean", "normal"),
        (
            "frequency --values 3 --design strata --strata strata.csv",
            "strata",
            "stratified mean",
            "normal",
        ),
        ("frequency --values 3 --labels a,b,c", "everyone", "mean", "normal"),
    ],
)
def test_every_design_is_saved_with_the_estimator_of_its_promise(
    words: str, design: str, estimator: str, bound: str, folder: Path
) -> None:
    kind, _, rest = words.partition(" ")
    result = run("plan", kind, *(word.replace("_", " ") for word in f"{NORMAL} {rest}".split()))
    assert result.exit_code == 0, result.exception or result.output
    plan = FieldPlan.load("new.json")
    assert (plan.design, plan.estimator, plan.bound, plan.error) == (design, estimator, bound, 0.2)
    assert 0.04 < plan.failure <= 0.05 * (1 + 1e-6)


def test_the_saved_promise_is_that_of_the_device(folder: Path) -> None:
    words = WARNER.split()
    coarse = run(*words, "--save", "saved.json", "--device", "ten-sided die")
    assert "The device is noisier than the plan" in coarse.output
    plan = FieldPlan.load("saved.json")
    assert (plan.p, plan.q, plan.asked, plan.epsilon) == (
        "7/10",
        "3/10",
        plan.answers,
        pytest.approx(np.log(7 / 3)),
    )
    (answer,) = json.loads(run(*words, "--format", "json").output)["answers"]
    assert answer["invited"] == plan.asked
    assert plan.failure > answer["failure_bound"]


def test_a_promise_says_what_it_takes_as_given_and_is_void_where_a_cluster_has_no_reports(
    folder: Path,
) -> None:
    words = f"plan mean {NORMAL} --binary --design clusters --clusters 40 --cluster-size 9 --icc 0.1 --response 0.9"
    shown = run(*words.split()).output
    given = "the intra-cluster correlation is 0.1 and whether somebody answers does not depend on what they hold"
    assert f"Assumed, and not promised without: {given}." in shown
    plan = FieldPlan.load("new.json")
    assert plan.assumed == given
    parts = [str(i) for i in range(plan.chosen - 1) for _ in range(9)]
    table = {"report": ["1", "0", "1"] * (3 * (plan.chosen - 1)), "cluster": parts}
    printed = str(estimate(plan, table))
    assert f"if {given}, which is void: 1 of the clusters drawn have no reports." in printed
