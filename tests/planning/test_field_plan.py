"""A plan's file keeps the plan, and shows when somebody has changed it."""

import json
from pathlib import Path
from typing import Any

import pytest
from fielded import LABELS, PLANS, SIMPLE

from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_comes_back_as_it_was_in_whatever_layout(name: str, tmp_path: Path) -> None:
    plan, file = PLANS[name], tmp_path / "plan.json"
    plan.save(file)
    assert FieldPlan.load(file).to_json() == file.read_text() == plan.to_json()
    file.write_text(json.dumps(dict(reversed(json.loads(file.read_text()).items()))))
    assert FieldPlan.load(file).reports == plan.reports
    assert plan.estimator in ESTIMATORS


def test_a_plan_never_replaces_another_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    PLANS["simple"].save(file)
    PLANS["simple"].save(file)
    for other in (PLANS["strata"], PLANS["clusters"]):
        with pytest.raises(ValueError, match="save must name a new file"):
            other.save(file)
    assert FieldPlan.load(file).to_json() == PLANS["simple"].to_json()


CHANGED = [json.dumps(json.loads(SIMPLE.to_json()) | one) for one in ({"asked": 151}, {"p": "2/3"}, {"note": "new"})]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "other"}', "{}", *CHANGED])
def test_a_changed_plan_and_what_is_none_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    message = "sha256 must be that of the content" if text in CHANGED else "cannot be read as a plan"
    with pytest.raises(ValueError, match=f"plan.json: {message}"):
        FieldPlan.load(file)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": "1/4", "q": "3/4"}, "p and q must satisfy"),
        ({"p": "x"}, "p and q must be fractions"),
        ({"population": 1}, "population must be an integer >= 2"),
        ({"design": "strata"}, "strata must be given with design strata and no other"),
        ({"design": "strata", "strata": {"a": (3, 4)}}, "stratum a must be asked 1 to 3"),
        ({"design": "clusters", "clusters": 3, "chosen": 1}, "chosen must be 2 to 3"),
        ({"design": "clusters", "clusters": 3, "chosen": 2, "collection": "curator", "epsilon": 1}, "a curator's release"),
        ({"kind": "labels", "labels": LABELS.labels, "q": "1/3"}, r"p \+ \(k - 1\) q must be 1"),
        ({"device": "coin"}, "device must be one of"),
    ],
)  # fmt: skip
def test_an_impossible_plan_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FieldPlan(
            **({"design": "simple", "kind": "binary", "p": "3/4", "q": "1/4", "population": 9, "asked": 2} | options)
        )
