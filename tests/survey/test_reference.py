"""Values that others computed independently: of 156, 68 are about what this package computes.

`reference_values.json` says in `left_out` why the other 88 are not.
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
    for case in CASES[part]:
        if case["what"] == what:
            for theirs, ours in COMPUTED[what](case["inputs"], case["value"]):
                assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8), case["inputs"]
