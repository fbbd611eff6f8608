"""Estimates and plans equal values that others computed independently.

`reference_values.json` holds those values. It says in `left_out` which others there were, and why
this package computes nothing of the kind.
"""

import pytest
from reference import CASES, COMPUTED


@pytest.mark.parametrize("what", dict.fromkeys(case["what"] for case in CASES["estimation"]))
def test_estimates_equal_values_computed_by_others(what):
    agree(what, "estimation")


@pytest.mark.parametrize("what", dict.fromkeys(case["what"] for case in CASES["planning"]))
def test_plans_equal_values_computed_by_others(what):
    agree(what, "planning")


def agree(what, part):
    cases = [case for case in CASES[part] if case["what"] == what]
    for case in cases:
        for theirs, ours in COMPUTED[what](case["inputs"], case["value"]):
            assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8), case["inputs"]
