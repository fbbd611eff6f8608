"""A plan's file keeps the plan, and shows when somebody has changed it."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from fielded import BIT, BITS, LABELS, PLANS, SIMPLE

from ldpnb.surveys.field_plan import ESTIMATORS, FieldPlan


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_comes_back_as_it_was_in_whatever_layout_and_replaces_no_other(
    name: str, tmp_path: Path
) -> None:
    plan, file = PLANS[name], tmp_path / "plan.json"
    for _ in range(2):
        plan.save(file)
    assert FieldPlan.load(file).to_json() == file.read_text() == plan.to_json()
    with pytest.raises(ValueError, match="save must name a new file"):
        FieldPlan(design="everyone", kind="binary", asked=7, **BIT).save(file)
    assert file.read_text() == plan.to_json()
    file.write_text(json.dumps(dict(reversed(json.loads(file.read_text()).items()))))
    assert FieldPlan.load(file).reports == plan.reports
    assert plan.estimator in ESTIMATORS


def test_the_loss_of_a_report_is_that_of_all_its_bits() -> None:
    losses = [math.exp(plan.epsilon) for plan in (SIMPLE, LABELS, BITS)]
    assert losses == pytest.approx([3, 2, 3])  # of bits (1/2 : 1/4) times (3/4 : 1/2)


CHANGED = [
    json.dumps(json.loads(SIMPLE.to_json()) | one)
    for one in ({"asked": 151}, {"p": "2/3"}, {"note": "new"})
]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "other"}', "{}", *CHANGED])
def test_a_changed_plan_and_what_is_none_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    message = (
        "sha256 must be that of the content" if text in CHANGED else "cannot be read as a plan"
    )
    with pytest.raises(ValueError, match=f"plan.json: {message}"):
        FieldPlan.load(file)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": "1/4", "q": "3/4"}, "q must satisfy 0 < q < p < 1"),
        ({"p": "x"}, "p and q must be fractions"),
        ({"kind": "Laplace"}, "epsilon must be > 0 with Laplace noise, got epsilon=nan"),
        ({"low": 1.0}, "high must be > low, got high=1.0"),
        ({"population": 1}, "population must be all who are asked, or more, got population=1"),
        ({"design": "strata"}, "strata must be given with design strata and no other"),
        ({"design": "strata", "strata": {"a": (3, 4)}}, "strata must be asked 1 to all of their people"),
        ({"design": "clusters", "clusters": 3, "chosen": 1}, "chosen must be 2 to all clusters, got chosen=1"),
        ({"kind": "labels", "labels": LABELS.labels, "q": "1/3"}, r"p must be 1 - \(k - 1\) q"),
        ({"labels": ("a",)}, "labels must be given for kinds labels and bits, got labels=\\('a',\\)"),
        ({"kind": "bits", "labels": ("a", "a")}, "labels must be there once each"),
        ({"device": "coin"}, "device must be one of"),
        ({"device": "curator", "epsilon": 1.0}, "answers must be 2 to all asked with a curator, got answers=0"),
        ({"device": "curator", "epsilon": 1.0, "kind": "Laplace"}, "kind must be binary or number with a curator"),
    ],
)  # fmt: skip
def test_an_impossible_plan_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FieldPlan(
            **{"design": "simple", "kind": "binary", "population": 9, "asked": 2} | BIT | options
        )
