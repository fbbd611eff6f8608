"""From a saved plan to estimates on the command line; what is wrong ends in one line, with nothing written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fielded import run

from ldpnb.rng import stream
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

PLAN = "plan mean --design simple --binary --epsilon 1 --failure .05 --mechanism Warner --population 900 --error .1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    plan = FieldPlan(
        design="simple", kind="binary", p="73/100", q="27/100", device="spinner", population=900, asked=400, answers=400
    )
    plan.save("plan.json")
    rng = stream("reports of a command", seed=0)
    columns = {"report": rng.integers(0, 2, 400), "sex": rng.choice(["f", "m"], 400), "id": np.arange(400)}
    pd.DataFrame(columns | {"class": "young"}).to_csv("reports.csv", index=False)
    return tmp_path


def test_the_saved_promise_is_that_of_the_device(folder: Path) -> None:
    coarse = run(*PLAN.split(), "--save", "saved.json", "--device", "ten-sided die")
    assert "The device is noisier than the plan" in coarse.output
    plan = FieldPlan.load("saved.json")
    assert (plan.p, plan.q, plan.asked, plan.epsilon) == ("7/10", "3/10", plan.answers, pytest.approx(np.log(7 / 3)))
    (answer,) = json.loads(run(*PLAN.split(), "--format", "json").output)["answers"]
    assert answer["invited"] == plan.asked
    assert plan.failure > answer["failure_bound"]


def test_the_command_writes_what_the_library_computes(folder: Path) -> None:
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


def test_classes_come_from_a_table(folder: Path) -> None:
    Path("invited.csv").write_text("class,invited\nyoung,200\nold,200\n")
    table = pd.read_csv("reports.csv").head(200)
    table["class"] = np.where(np.arange(200) % 3 == 0, "young", "old")
    table.to_csv("answered.csv", index=False)
    shown = run("estimate", "plan.json", "answered.csv", "--classes", "invited.csv").output
    assert "t, 198 df" in shown
    assert "shares of those asked in each class" in shown


@pytest.mark.parametrize(
    ("file", "line", "options", "message"),
    [
        ("reports.csv", "2,f,400,young", [], "report must be 0 or 1, got '2' in row 400"),
        ("reports.csv", "1,f,400,young\n1,f,401,young", [], "the survey must have 2 to 400 reports, as many as were invited at most, got 401"),
        ("reports.csv", "1,f,1,young", [], "id must be there once each, got '1' in row 400"),
        ("reports.csv", "1,,400,young", ["--by", "sex"], "sex must be given in every row, got '' in row 400"),
        ("plan.json", "", [], "plan.json: cannot be read as a plan"),
        ("plan.json", ', "asked": 1}', [], "sha256 must be that of the content"),
        ("invited.csv", "old,200", ["--classes", "invited.csv"], "class young must have 2 to 200 reports"),
        ("invited.csv", "old,many", ["--classes", "invited.csv"], "invited must be a number, got invited='many'"),
        ("", "", ["--by", "age"], "column age must be among"),
        ("", "", ["--level", "95"], "level must lie in (0, 1), got level=95.0"),
        ("", "", ["-o", "found.txt"], "output must end in .csv, .json, .xlsx, .png, .svg, .pdf, got"),
    ],
)  # fmt: skip
def test_what_is_wrong_ends_in_one_line_and_writes_nothing(
    file: str, line: str, options: list[str], message: str, folder: Path
) -> None:
    """The last line of a file is another."""
    Path("invited.csv").write_text("class,invited\nyoung,200\nold,200\n")
    if file:
        lines = Path(file).read_text().splitlines()
        Path(file).write_text("\n".join([*lines[:-1], line]) + "\n")
    result = run("estimate", "plan.json", "reports.csv", "-o", "found.csv", *options)
    assert (result.exit_code, "\n" in str(result.exception), list(Path().glob("found.*"))) == (2, False, [])
    assert message in str(result.exception)


NORMAL = "--tail normal --epsilon 2 --error .2 --failure .05"
CLUSTERS = "mean --design clusters --clusters 60 --cluster-size 9"
GUARANTEED = "mean --design clusters --clusters 400 --cluster-size 25 --take 15"


@pytest.mark.parametrize(
    ("words", "design", "estimator", "bound"),
    [
        (f"mean --design strata --strata strata.csv {NORMAL}", "strata", "stratified mean", "normal"),
        (f"{CLUSTERS} {NORMAL}", "clusters", "expansion", "normal"),
        (f"{CLUSTERS} --take 4 {NORMAL}", "two stages", "expansion", "normal"),
        (f"{GUARANTEED} --icc .05 --epsilon 2 --error .2 --failure .05", "two stages", "expansion", "Chebyshev"),
        (f"mean --design simple --population 900 --mechanism local_Laplace {NORMAL}", "simple", "mean", "normal"),
        (f"mean {NORMAL}", "everyone", "mean", "normal"),
        (f"frequency --values 3 --design strata --strata strata.csv {NORMAL}", "strata", "stratified mean", "normal"),
        (f"frequency --values 3 --labels a,b,c {NORMAL}", "everyone", "mean", "normal"),
    ],
)
def test_every_design_is_saved_with_the_estimator_of_its_promise(
    words: str, design: str, estimator: str, bound: str, folder: Path
) -> None:
    Path("strata.csv").write_text("stratum,size,sd\nnorth,500,.2\nsouth,300,.4\n")
    result = run("plan", *(word.replace("_", " ") for word in words.split()), "--save", "saved.json")
    assert result.exit_code == 0, result.exception or result.output
    plan = FieldPlan.load("saved.json")
    assert (plan.design, plan.estimator, plan.bound, plan.error) == (design, estimator, bound, 0.2)
    assert 0.04 < plan.failure <= 0.05 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--releases 2", "save needs shares or a mean, and one release"),
        ("--mechanism central_Laplace", "save needs a mechanism of Warner, 1-bit"),
        ("--design simple", "population must be given for a plan that is saved"),
    ],
)
def test_what_the_field_cannot_use_is_not_saved(words: str, message: str, folder: Path) -> None:
    refused = run("plan", "mean", *(w.replace("_", " ") for w in f"{words} {NORMAL}".split()), "--save", "saved.json")
    assert (refused.exit_code, Path("saved.json").exists()) == (2, False)
    assert message in str(refused.exception)
