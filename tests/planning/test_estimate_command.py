"""From a saved plan to estimates on the command line; what is wrong ends in one line, with nothing written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.rng import stream
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan


def run(*words: str) -> Result:
    result = CliRunner().invoke(cli, list(words))
    if isinstance(result.exception, UsageError):
        result.exit_code = 2  # as `main` ends
    return result


SURVEY = (
    "plan",
    "mean",
    "--design",
    "simple",
    "--binary",
    "--epsilon",
    "1",
    "--failure",
    ".05",
    "--mechanism",
    "Warner",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    result = run(*SURVEY, "--population", "900", "--error", ".1", "--save", "plan.json", "--device", "spinner")
    assert result.exit_code == 0, result.output
    plan = FieldPlan.load("plan.json")
    rng = stream("reports of a command", seed=0)
    bits = (rng.random(plan.asked) < 0.4).astype(int)
    pd.DataFrame({"report": bits, "sex": np.where(rng.random(plan.asked) < 0.5, "f", "m")}).to_csv(
        "reports.csv", index=False
    )
    return tmp_path


def test_the_saved_promise_is_that_of_the_device(folder: Path) -> None:
    coarse = run(*SURVEY, "--population", "900", "--error", ".1", "--save", "coarse.json", "--device", "ten-sided die")
    assert "The device is noisier than the plan" in coarse.output
    plan = FieldPlan.load("plan.json")
    assert (plan.p, plan.q, plan.asked, plan.answers) == ("73/100", "27/100", plan.answers, plan.asked)
    assert plan.epsilon == pytest.approx(np.log(73 / 27))
    planned = json.loads(
        run(*SURVEY, "--population", "900", "--error", ".1", "--format", "json").output.split("\n\n")[0]
    )
    (answer,) = planned["answers"]
    assert answer["invited"] == plan.asked
    assert plan.failure > answer["failure_bound"]  # a spinner of 100 has a little less than epsilon 1


def test_the_command_says_what_the_library_computes(folder: Path) -> None:
    table = pd.read_csv("reports.csv")
    own = estimate(FieldPlan.load("plan.json"), table, by="sex")
    shown = run("estimate", "plan.json", "reports.csv", "--by", "sex")
    assert shown.exit_code == 0
    assert shown.output == f"{own}\n"
    written = run("estimate", "plan.json", "reports.csv", "--by", "sex", "--format", "json").output
    assert json.loads(written) == own.tables()


@pytest.mark.parametrize("suffix", ["csv", "json", "xlsx"])
def test_estimates_are_written_in_the_format_of_the_name(suffix: str, folder: Path) -> None:
    out = Path(f"found.{suffix}")
    assert run("estimate", "plan.json", "reports.csv", "-o", str(out)).output == ""
    value = estimate(FieldPlan.load("plan.json"), pd.read_csv("reports.csv")).rows[0].estimate
    if suffix == "json":
        assert json.loads(out.read_text())["estimates"][0]["estimate"] == value
    else:
        frame = pd.read_csv(out) if suffix == "csv" else pd.read_excel(out, engine="calamine")
        assert frame["estimate"][0] == pytest.approx(value)


@pytest.mark.parametrize(("suffix", "first"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_has_a_line_for_every_estimate(suffix: str, first: bytes, folder: Path) -> None:
    assert run("estimate", "plan.json", "reports.csv", "--by", "sex", "-o", f"found.{suffix}").exit_code == 0
    content = Path(f"found.{suffix}").read_bytes()
    assert content.startswith(first)
    if suffix == "svg":
        found = estimate(FieldPlan.load("plan.json"), pd.read_csv("reports.csv")).rows[0]
        assert f"Share: {found.estimate:.3g}, from {found.low:.3g} to {found.high:.3g}".encode() in content
        assert all(name in content for name in (b">share<", b">sex f share<", b">sex m share<"))


def test_classes_come_from_a_table(folder: Path) -> None:
    asked = FieldPlan.load("plan.json").asked
    Path("invited.csv").write_text(f"class,invited\nyoung,{asked // 2}\nold,{asked - asked // 2}\n")
    table = pd.read_csv("reports.csv").head(asked // 2)
    table["class"] = np.where(np.arange(len(table)) % 3 == 0, "young", "old")
    table.to_csv("answered.csv", index=False)
    shown = run("estimate", "plan.json", "answered.csv", "--classes", "invited.csv")
    assert "df" in shown.output, shown.exception
    assert "void" in shown.output


def broken(kind: str) -> str:
    """Spoil one file and return what the refusal says."""
    table: Any = pd.read_csv("reports.csv")
    if kind == "outside":
        table.loc[3, "report"] = 2
    elif kind == "too many":
        table = pd.concat([table] * 2)
    elif kind == "twice":
        table["id"] = ["a", "a", *range(len(table) - 2)]
    elif kind == "no column":
        table = table.rename(columns={"report": "answer"})
    elif kind == "gap":
        table["report"] = table["report"].astype(object)
        table.loc[0, "report"] = None
    elif kind == "empty group":
        table.loc[2, "sex"] = None
    elif kind == "class without answers":
        asked = FieldPlan.load("plan.json").asked
        Path("invited.csv").write_text(f"class,invited\nold,9\nyoung,{asked - 9}\n")
        table["class"] = "young"
    elif kind == "edited":
        Path("plan.json").write_text(Path("plan.json").read_text().replace('"asked": ', '"asked": 1'))
    table.to_csv("reports.csv", index=False)
    return {
        "outside": "report must be 0 or 1, got '2' in row 4",
        "too many": "as many as were invited, got",
        "twice": "id must be of one report each, got a 2 times",
        "no column": "column report must be among the columns, got answer, sex",
        "gap": "report must be 0 or 1, got '' in row 1",
        "empty group": "sex must be given in every row, got '' in row 3",
        "class without answers": "class old must have 1 to 9 reports",
        "edited": "sha256 must be that of the content",
    }[kind]


@pytest.mark.parametrize(
    "kind", ["outside", "too many", "twice", "no column", "gap", "edited", "empty group", "class without answers"]
)
def test_what_is_wrong_ends_in_one_line_and_writes_nothing(kind: str, folder: Path) -> None:
    message = broken(kind)
    more = {"empty group": ["--by", "sex"], "class without answers": ["--classes", "invited.csv"]}.get(kind, [])
    result = run("estimate", "plan.json", "reports.csv", "-o", "found.csv", *more)
    assert result.exit_code == 2
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not Path("found.csv").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.json", "reports.csv"], "nowhere.json: cannot be read as a plan"),
        (["plan.json", "nowhere.csv"], "reports must be a file"),
        (["plan.json", "reports.csv", "--by", "age"], "column age must be among"),
        (["plan.json", "reports.csv", "--level", "95"], "level must lie in (0, 1), got level=95.0"),
        (
            ["plan.json", "reports.csv", "-o", "found.txt"],
            "output must end in .csv, .json, .xlsx, .png, .svg, .pdf, got",
        ),
    ],
)
def test_wrong_words_end_in_one_line(words: list[str], message: str, folder: Path) -> None:
    result = run("estimate", *words)
    assert result.exit_code == 2
    assert message in str(result.exception)


STRATA = "stratum,size,sd\nnorth,500,.2\nsouth,300,.4\n"
NORMAL = ("--tail", "normal", "--epsilon", "2", "--error", ".2", "--failure", ".05")


@pytest.mark.parametrize(
    ("words", "design", "estimator"),
    [
        (("mean", "--design", "strata", "--strata", "strata.csv"), "strata", "stratified mean"),
        (("mean", "--design", "clusters", "--clusters", "60", "--cluster-size", "9"), "clusters", "expansion"),
        (("mean", "--design", "clusters", "--clusters", "60", "--cluster-size", "9", "--take", "4"), "two stages", "expansion"),
        (("mean", "--design", "simple", "--population", "900", "--mechanism", "local Laplace"), "simple", "mean"),
        (("mean", "--design", "simple", "--population", "900", "--mechanism", "central Laplace"), "simple", "release"),
        (("mean",), "everyone", "mean"),
        (("frequency", "--values", "3", "--design", "strata", "--strata", "strata.csv"), "strata", "stratified mean"),
        (("frequency", "--values", "3", "--labels", "a,b,c"), "everyone", "mean"),
    ],
)  # fmt: skip
def test_every_design_is_saved_with_the_estimator_of_its_promise(
    words: tuple[str, ...], design: str, estimator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("strata.csv").write_text(STRATA)
    result = run("plan", *words, *NORMAL, "--save", "plan.json")
    assert result.exit_code == 0, result.exception or result.output
    plan = FieldPlan.load("plan.json")
    assert (plan.design, plan.estimator) == (design, estimator)
    assert plan.error == 0.2
    assert plan.failure == pytest.approx(0.05, rel=0.2)
    assert plan.failure <= 0.05 * (1 + 1e-6)


def test_what_the_field_cannot_use_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("plan", "mean", "--releases", "2", *NORMAL, "--save", "plan.json")
    assert refused.exit_code == 2
    assert "save needs shares or a mean, and one release" in str(refused.exception)
    refused = run("plan", "mean", "--design", "simple", *NORMAL, "--save", "plan.json")
    assert "population must be given for a plan that is saved" in str(refused.exception)
    assert not Path("plan.json").exists()
