"""What `estimate` does with a plan and a table: choices, sentences, refusals."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from fielded import (
    BITS,
    CLUSTERS,
    EVEN,
    EVERYBODY,
    LABELS,
    LAPLACE,
    NUMBER,
    RELEASE,
    SIMPLE,
    STAGES,
    STRATA,
    UNEQUAL,
)

from ldpnb.surveys import intervals
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

ONES = {"report": [1] * 90 + [0] * 60}


@pytest.mark.parametrize(
    ("plan", "table", "interval"),
    [
        (SIMPLE, ONES, "exact"),
        (NUMBER, ONES, "guaranteed"),
        (NUMBER, {"report": [1, 0, 0]}, "t, 2 df"),
        (EVEN, {"report": [1, 0, 0] * 45, "stratum": ["n"] * 90 + ["s"] * 45}, "guaranteed"),
        (STRATA, {"report": [1, 0, 0] * 50, "stratum": ["n"] * 90 + ["s"] * 60}, "t, 4"),
    ],
)
def test_the_interval_is_chosen_by_design_and_numbers(
    plan: FieldPlan, table: dict[str, Any], interval: str
) -> None:
    assert estimate(plan, table).rows[0].interval.startswith(interval)


def test_a_plan_of_one_stratum_is_a_simple_random_sample() -> None:
    table = ONES | {"stratum": ["n"] * 150}
    (one,), (simple,) = (
        estimate(replace(STRATA, strata={"n": (300, 150)}), table).rows,
        estimate(SIMPLE, ONES).rows,
    )
    np.testing.assert_equal(
        asdict(one), asdict(simple)
    )  # from 3.13 on Python calls two rows with nan unequal


def test_the_interval_of_a_group_is_chosen_too() -> None:
    """Exact of all who answer, guaranteed where the group's size is estimated, else t of clusters where it lives."""
    half, few = {"sex": np.arange(150) % 2}, {"sex": np.arange(150) < 3}
    strata, everybody = {"stratum": ["n"] * 90 + ["s"] * 60}, replace(EVERYBODY, kind="binary")
    clusters = {
        "report": np.arange(400) % 3 % 2,
        "cluster": np.arange(400) // 20,
        "sex": np.arange(400) // 100 == 0,
    }
    for plan, table, chosen in (
        (SIMPLE, ONES | half, ["exact", "guaranteed", "guaranteed"]),
        (everybody, ONES | half, ["exact", "exact", "exact"]),
        (CLUSTERS, clusters, ["t, 19 df", "t, 14 df", "t, 4 df"]),
    ):
        assert [row.interval for row in estimate(plan, table, by="sex").rows] == chosen
    mixed = {"report": [1, 0, 0] * 50}
    assert estimate(STRATA, mixed | strata | few, by="sex").rows[2].interval == "t, 2 df"


def test_who_answers_is_a_census_without_sampling() -> None:
    row = estimate(EVERYBODY, ONES).rows[0]
    assert (row.sampling_error, row.randomisation_error) == (0, row.standard_error)


def test_intervals_of_shares_hold_together() -> None:
    row, *_ = estimate(LABELS, {"report": ["a"] * 120 + ["b"] * 50 + ["c"] * 30}, alpha=0.06).rows
    assert (400 * row.low, 400 * row.high) == intervals.finite_share(
        120, 200, 400, LABELS.reports, 0.02
    )


def test_shares_have_the_nearest_distribution_beside_them() -> None:
    rows = estimate(LABELS, {"report": ["a"] * 120 + ["b"] * 50 + ["c"] * 30}).rows
    assert sum(r.estimate for r in rows) == pytest.approx(1)
    assert sum(r.norm_sub for r in rows) == pytest.approx(1)
    assert min(r.estimate for r in rows) < 0 == min(r.norm_sub for r in rows)


X, Y, SEX = {"report": [1, 0, 1]}, {"report": [1, 0]}, {"by": "sex"}
XYY, CLASSES = {"cluster": ["x", "y", "y"]}, {"class": ["y", "o"]}


@pytest.mark.parametrize(
    ("plan", "table", "options", "message"),
    [
        (SIMPLE, {"report": np.array([1, True], object)}, {}, "report must be 0 or 1, got 'True' in row 2"),
        (LABELS, {"report": ["a", "x"]}, {}, "report must be one of a, b, c, got 'x' in row 2"),
        (BITS, {"report": ["010", "01"]}, {}, "report must be a word of 3 bits, one per label, got '01' in row 2"),
        (LAPLACE, {"report": [0.5, np.nan]}, {}, "report must be a finite number, got '' in row 2"),
        (SIMPLE, {"report": [1]}, {}, "the survey must have 2 to 150 reports, as many as were invited at most, got 1"),
        (SIMPLE, {"answer": [1]}, {}, "column report must be among the columns, got answer"),
        (STRATA, Y | {"stratum": ["n", "n"]}, {}, "stratum s must have 2 to 60 reports, as many as were invited at most, got 0"),
        (STRATA, X | {"stratum": ["n", "s", "w"]}, {}, "stratum must be one of n, s, got 'w' in row 3"),
        (STRATA, {"report": [1, 0] * 50, "stratum": ["n"] * 39 + ["s"] * 61}, {}, "stratum s must have 2 to 60 reports, .*, got 61"),
        (STRATA, X | {"stratum": ["n", "s", "s"]}, {}, "stratum n must have 2 to 90 reports, .*, got 1"),
        (CLUSTERS, {"report": [1] * 21, "cluster": range(21)}, {}, "clusters must be 2 to 20, as many as were drawn, got 21"),
        (CLUSTERS, Y | {"cluster": ["x", "x"]}, {}, "clusters must be 2 to 20, as many as were drawn, got 1"),
        (STAGES, {"report": [1] * 11 + [0] * 2, "cluster": ["x"] * 11 + ["y"] * 2}, {}, "cluster x must have 2 to 10 reports, .*, got 11"),
        (replace(STAGES, cluster_size=0), {"report": [1, 0, 1, 0, 1], "cluster": list("xxyyy"), "cluster_size": [9, 9, 2, 2, 2]}, {}, "cluster y must have 2 to 2 reports, .*, got 3"),
        (STRATA, Y | {"stratum": ["n", None]}, {}, "stratum must be given in every row, got '' in row 2"),
        (UNEQUAL, X | XYY, {}, "column cluster_size must be among the columns"),
        (UNEQUAL, X | XYY | {"cluster_size": [3, 1, 2]}, {}, "cluster_size must be one number in a cluster, got '1' in row 2"),
        (UNEQUAL, X | XYY | {"cluster_size": [3, 1.5, 1.5]}, {}, "cluster_size must be an integer >= 1, got '1.5' in row 2"),
        (UNEQUAL, X | XYY | {"cluster_size": [1, 1, 1]}, {}, "cluster y must have 1 to 1 reports, .*, got 2"),
        (UNEQUAL, X | XYY | {"cluster_size": [700, 200, 200]}, {}, "cluster_size must sum to 800 at most, got 900"),
        (SIMPLE, X | {"sex": ["f", "m", "m"]}, SEX, "sex f cannot be estimated: reports must be of 2 people or more, got 1"),
        (CLUSTERS, {"report": [1, 0] * 3, "cluster": list("xxyyzz"), "sex": list("ffmmmm")}, SEX, "sex f cannot be estimated: reports must be of 2 clusters or more, got 1"),
        (RELEASE, Y, {}, "a curator must release one number, of no classes, got 2 reports"),
        (RELEASE, {"report": ["x"]}, {}, "report must be a finite number, got 'x' in row 1"),
        (RELEASE, {"report": [0.5], "sex": ["f"]}, SEX, "by must be left out of a curator's release, which is one number, got sex"),
        (SIMPLE, Y, {"by": "report"}, "by must be a public column, got report"),
        (SIMPLE, Y, SEX, "column sex must be among the columns, got report"),
        (BITS, {"report": ["010", "000"]} | CLASSES, {"classes": {"y": 100, "o": 100}}, "nonresponse classes need design simple"),
        (NUMBER, Y | CLASSES, {"classes": {"y": 75, "o": 75}}, "nonresponse classes have no variance estimate for one-bit numbers"),
        (SIMPLE, X | {"class": ["y"] * 3}, {"classes": {"y": 75, "o": 75}}, "class o must have 2 to 75 reports, .*, got 0"),
        (SIMPLE, Y | CLASSES, {"classes": {"y": 7, "o": 5}}, "invited must add up to the 150"),
        (SIMPLE, Y, {"alpha": 1.5}, r"alpha must lie in \(0, 1\), got alpha=1.5"),
    ],
)  # fmt: skip
def test_what_cannot_be_estimated_is_refused_in_one_line(
    plan: FieldPlan, table: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        estimate(plan, table, **options)
    assert "\n" not in str(refused.value)


def test_the_sentences_name_estimator_population_promise_and_who_is_missing() -> None:
    plan = replace(SIMPLE, answers=120, error=0.2, failure=0.05)
    shown = str(estimate(plan, {"report": [1, 0] * 75}))
    assert "Estimator: the plain mean of the unbiased reports of all who answered." in shown
    assert "for the population of 300" in shown
    assert "promised an error below 0.2 except with probability 0.05." in shown
    assert "people asked" not in shown
    assert "void: 120 answers were planned for" in str(estimate(plan, {"report": [1, 0] * 50}))
    shown = str(estimate(STRATA, {"report": [1, 0] * 50, "stratum": ["n"] * 50 + ["s"] * 50}))
    missing = "100 of the 150 people asked answered: they are taken as drawn at random from those asked of their stratum."
    assert missing in shown
    few = replace(STRATA, needed=(40, 51), error=0.2, failure=0.05)
    shown = str(estimate(few, {"report": [1, 0] * 50, "stratum": ["n"] * 50 + ["s"] * 50}))
    assert "which is void: 1 of the strata have fewer answers than it needs." in shown


def test_a_release_that_shares_and_noise_cannot_give_is_said_to_be_so() -> None:
    plan = replace(RELEASE, answers=100, asked=100, epsilon=1.0, population=1000)
    near, far = (estimate(plan, {"report": [release]}).rows[0] for release in (1.02, 1.3))
    assert (near.remark, near.standard_error) == ("", pytest.approx(2**0.5 / 100))
    assert "far outside what shares and the plan's noise give" in far.remark


def test_clusters_of_other_sizes_may_have_more_people_than_expected() -> None:
    """A plan knows the mean size; which clusters are drawn decides how many people there are."""
    sizes = np.repeat([30, 25], [15, 5])
    clusters = {"cluster": np.repeat(np.arange(20), sizes), "cluster_size": np.repeat(sizes, sizes)}
    table = clusters | {"report": np.arange(575) % 2}
    assert (estimate(UNEQUAL, table).asked, estimate(UNEQUAL, table).rows[0].reports) == (575, 575)
    missing = {name: np.delete(column, [0, 570]) for name, column in table.items()}
    assert "573 of the 575 people asked answered" in str(estimate(UNEQUAL, missing))
