"""What `estimate` does with a plan and a table: names, choices, refusals."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fielded import BITS, CLUSTERS, EVEN, LABELS, LAPLACE, NUMBER, RELEASE, SIMPLE, STAGES, STRATA, UNEQUAL

from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan


def row(plan: FieldPlan, table: dict[str, Any], **more: Any) -> Any:
    return estimate(plan, table, **more).rows[0]


def test_the_interval_is_chosen_by_design_and_numbers() -> None:
    ones = {"report": [1] * 90 + [0] * 60}
    assert row(SIMPLE, ones).interval == "exact"
    assert row(NUMBER, ones).interval == "guaranteed"
    assert row(NUMBER, {"report": [1, 0, 0]}).interval == "t, 2 df"
    in_strata = {"report": [1, 0, 0] * 45, "stratum": ["n"] * 90 + ["s"] * 45}
    assert row(EVEN, in_strata).interval == "guaranteed"
    in_strata = {"report": [1, 0, 0] * 50, "stratum": ["n"] * 90 + ["s"] * 60}
    assert row(STRATA, in_strata).interval.startswith("t, ")


def test_a_plan_of_one_stratum_is_a_simple_random_sample() -> None:
    table = {"report": [1] * 90 + [0] * 60, "stratum": ["n"] * 150}
    assert row(replace(STRATA, strata={"n": (300, 150)}), table) == row(SIMPLE, table)


def test_shares_have_the_nearest_and_the_likeliest_distribution_beside_them() -> None:
    found = estimate(LABELS, {"report": ["a"] * 120 + ["b"] * 50 + ["c"] * 30}).rows
    assert sum(r.estimate for r in found) == pytest.approx(1)
    assert sum(r.norm_sub for r in found) == pytest.approx(1)
    assert sum(r.mle for r in found) == pytest.approx(1)
    assert min(r.estimate for r in found) < 0 <= min(r.mle for r in found)


@pytest.mark.parametrize(
    ("plan", "table", "options", "message"),
    [
        (SIMPLE, {"report": [0, 1, 2]}, {}, "report must be 0 or 1, got '2' in row 3"),
        (LABELS, {"report": ["a", "x"]}, {}, "report must be one of a, b, c, got 'x' in row 2"),
        (BITS, {"report": ["010", "01"]}, {}, "report must be a word of 3 bits, one per label, got '01' in row 2"),
        (LAPLACE, {"report": [0.5, np.nan]}, {}, "report must be a finite number, got '' in row 2"),
        (SIMPLE, {"report": [1] * 151}, {}, "reports must be 1 to 150, as many as were invited, got 151"),
        (SIMPLE, {"report": []}, {}, "reports must be 1 to 150, as many as were invited, got 0"),
        (SIMPLE, {"answer": [1]}, {}, "column report must be among the columns, got answer"),
        (SIMPLE, {"report": [1, 0, 1], "id": ["a", "b", "a"]}, {}, "id must be there once each, got a 2 times"),
        (STRATA, {"report": [1, 0], "stratum": ["n", "n"]}, {}, "stratum s must have 1 to 60 reports, as many as invited at most, got 0"),
        (STRATA, {"report": [1, 0, 1], "stratum": ["n", "s", "w"]}, {}, "stratum must be one of n, s, got 'w' in row 3"),
        (STRATA, {"report": [1, 0] * 50, "stratum": ["n"] * 39 + ["s"] * 61}, {}, "stratum s must have 1 to 60 reports, as many as invited at most, got 61"),
        (STRATA, {"report": [1, 0, 0], "stratum": ["n", "s", "s"]}, {}, "stratum n must have at least 2 reports"),
        (CLUSTERS, {"report": [1] * 21, "cluster": range(21)}, {}, "clusters must be 2 to 20, as many as were drawn, got 21"),
        (CLUSTERS, {"report": [1], "cluster": ["x"]}, {}, "clusters must be 2 to 20, as many as were drawn, got 1"),
        (STAGES, {"report": [1] * 11 + [0], "cluster": ["x"] * 11 + ["y"]}, {}, "cluster x must have 1 to 10 reports, as many as invited at most, got 11"),
        (STRATA, {"report": [1, 0], "stratum": ["n", None]}, {}, "stratum must be given in every row, got '' in row 2"),
        (CLUSTERS, {"report": [1, 0, 1], "cluster": ["x", "", "x"]}, {}, "cluster must be given in every row, got '' in row 2"),
        (UNEQUAL, {"report": [1, 0, 1], "cluster": ["x", "y", "y"]}, {}, "column cluster_size must be among the columns"),
        (UNEQUAL, {"report": [1, 0, 1], "cluster": ["x", "y", "y"], "cluster_size": [3, 1, 2]}, {}, "cluster_size must be one number in a cluster, got .1. in row 2"),
        (UNEQUAL, {"report": [1, 0, 1], "cluster": ["x", "y", "y"], "cluster_size": [3, 1, 1]}, {}, "cluster y must have 1 to 1 reports"),
        (UNEQUAL, {"report": [1, 0, 1], "cluster": ["x", "y", "y"], "cluster_size": [700, 200, 200]}, {}, "cluster_size must sum to 800 at most, got 900"),
        (SIMPLE, {"report": [1, 0, 1], "sex": ["f", "m", ""]}, {"by": "sex"}, "sex must be given in every row, got '' in row 3"),
        (SIMPLE, {"report": [1, 0, 1], "sex": ["f", "m", "m"]}, {"by": "sex"}, "sex f cannot be estimated: the sample must have at least 2 reports"),
        (STRATA, {"report": [1, 0] * 3, "stratum": list("nnnsss"), "sex": list("fmmmmm")}, {"by": "sex"}, "sex f cannot be estimated: reports must be 2 or more, got 1"),
        (CLUSTERS, {"report": [1, 0] * 3, "cluster": list("xxyyzz"), "sex": list("ffmmmm")}, {"by": "sex"}, "sex f cannot be estimated: reports must be of 2 clusters or more, got 1"),
        (BITS, {"report": ["010", "000"], "class": ["y", "o"]}, {"classes": {"y": 100, "o": 100}}, "nonresponse classes need design simple"),
        (NUMBER, {"report": [1, 0], "class": ["y", "o"]}, {"classes": {"y": 75, "o": 75}}, "nonresponse classes have no variance estimate for one-bit numbers"),
        (RELEASE, {"report": [0.5, 0.4]}, {}, "reports must be 1, the release, got 2"),
        (RELEASE, {"report": [0.5], "sex": ["f"]}, {"by": "sex"}, "a curator's release tells nothing of groups"),
        (SIMPLE, {"report": [1, 0]}, {"by": "report"}, "by must be a public column, got report"),
        (SIMPLE, {"report": [1, 0]}, {"by": "sex"}, "column sex must be among the columns, got report"),
        (SIMPLE, {"report": [1, 0], "class": ["y", "y"]}, {"classes": {"y": 75, "o": 75}}, "class o must have 1 to 75 reports, as many as invited at most, got 0"),
        (SIMPLE, {"report": [1, 0], "class": ["y", "o"]}, {"classes": {"y": 7, "o": 5}}, "invited must add up to the 150"),
        (CLUSTERS, {"report": [1, 0], "cluster": [1, 2], "class": ["y", "o"]}, {"classes": {"y": 200, "o": 200}}, "nonresponse classes need design simple"),
        (SIMPLE, {"report": [1, 0]}, {"alpha": 1.5}, r"alpha must lie in \(0, 1\), got alpha=1.5"),
    ],
)  # fmt: skip
def test_what_cannot_be_estimated_is_refused_in_one_line(
    plan: FieldPlan, table: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        estimate(plan, table, **options)
    assert "\n" not in str(refused.value)


def test_the_sentences_name_estimator_population_and_promise() -> None:
    plan = replace(SIMPLE, answers=120, error=0.2, failure=0.05)
    shown = str(estimate(plan, {"report": [1, 0] * 75}))
    assert "Estimator: the plain mean of the unbiased reports of all who answered." in shown
    assert "for the population of 300" in shown
    assert "promised an error below 0.2 except with probability 0.05." in shown
    assert "void: 120 answers were planned for" in str(estimate(plan, {"report": [1, 0] * 50}))


def test_the_notes_say_who_is_missing() -> None:
    shown = str(estimate(STRATA, {"report": [1, 0] * 50, "stratum": ["n"] * 50 + ["s"] * 50}))
    assert (
        "100 of the 150 people asked answered: they are taken as drawn at random from those asked of their stratum."
        in shown
    )
    assert "people asked" not in str(estimate(SIMPLE, {"report": [1, 0] * 75}))


def test_clusters_of_other_sizes_may_have_more_people_than_expected() -> None:
    """A plan knows the mean size; which clusters are drawn decides how many people there are."""
    sizes = np.repeat([30, 25], [15, 5])
    table = {
        "report": np.arange(575) % 2,
        "cluster": np.repeat(np.arange(20), sizes),
        "cluster_size": np.repeat(sizes, sizes),
    }
    found = estimate(UNEQUAL, table)
    assert (found.asked, found.rows[0].reports) == (575, 575)
    missing = {name: np.delete(column, [0, 600 - 30]) for name, column in table.items()}
    assert "573 of the 575 people asked answered" in str(estimate(UNEQUAL, missing))
