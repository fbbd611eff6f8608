"""A plan's file keeps the plan, and shows when somebody has changed it."""

import json
from pathlib import Path

import pytest

from ldpnb.surveys.field_plan import FieldPlan

PLANS = [
    FieldPlan(design="simple", kind="binary", p="73/100", q="27/100", device="spinner", population=1000, asked=500, answers=500, error=0.1, failure=0.05, question="Have you ever ...?"),
    FieldPlan(design="strata", kind="labels", p="1/2", q="1/4", labels=("a", "b", "c"), strata={"n": (50, 20), "s": (30, 10)}, asked=30),
    FieldPlan(design="two stages", kind="number", p="3/4", q="1/4", low=-1.0, high=24.0, population=800, clusters=40, chosen=20, take=10, asked=200),
    FieldPlan(design="everyone", kind="Laplace", epsilon=1.0, asked=200),
    FieldPlan(design="simple", kind="binary", collection="curator", epsilon=0.2, population=1000, asked=100, answers=100, scale=0.05),
]  # fmt: skip


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.design)
def test_a_plan_comes_back_as_it_was(plan: FieldPlan, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan.json")
    again = FieldPlan.load(tmp_path / "plan.json")
    assert again.to_json() == plan.to_json()
    assert (again.strata, again.labels, again.reports) == (plan.strata, plan.labels, plan.reports)


@pytest.mark.parametrize(("key", "value"), [("asked", 501), ("p", "3/4"), ("estimator", "another"), ("note", "new")])
def test_a_changed_plan_is_refused(key: str, value: object, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    PLANS[0].save(file)
    content = json.loads(file.read_text()) | {key: value}
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="sha256 must be that of the content"):
        FieldPlan.load(file)


def test_its_layout_may_change(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    PLANS[0].save(file)
    content = json.loads(file.read_text())
    file.write_text(json.dumps(dict(reversed(content.items()))))
    assert FieldPlan.load(file).to_json() == PLANS[0].to_json()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "other"}', "{}"])
def test_what_is_no_plan_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"plan.json: (cannot be read as a plan|format must be)"):
        FieldPlan.load(file)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": "simple", "p": "1/4", "q": "3/4", "population": 10}, "p and q must satisfy"),
        ({"design": "simple", "p": "x", "q": "3/4", "population": 10}, "p and q must be fractions"),
        ({"design": "simple", "p": "3/4", "q": "1/4", "population": 1}, "population must be an integer >= 2"),
        ({"design": "strata", "p": "3/4", "q": "1/4"}, "strata must be given with design strata and no other"),
        ({"design": "strata", "p": "3/4", "q": "1/4", "strata": {"a": (3, 4)}}, "stratum a must be asked 1 to 3"),
        ({"design": "clusters", "p": "3/4", "q": "1/4", "population": 9, "clusters": 3, "chosen": 1}, "chosen must be 2 to 3"),
        ({"design": "clusters", "epsilon": 1.0, "collection": "curator", "population": 9, "clusters": 3, "chosen": 2}, "a curator's release"),
        ({"design": "everyone", "p": "3/4", "q": "1/4", "device": "coin"}, "device must be one of"),
    ],
)  # fmt: skip
def test_an_impossible_plan_is_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FieldPlan(kind="binary", asked=2, **options)
