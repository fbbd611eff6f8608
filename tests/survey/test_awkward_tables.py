"""Tables as people have them: each is read rightly, or refused in words that help."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ldpnb.survey.estimation import estimate
from ldpnb.survey.planning import plan

DIE: dict[str, Any] = {"p": "5/6", "q": "1/6"}
OUE: dict[str, Any] = {"mechanism": "OUE", "epsilon": 1}
LAPLACE: dict[str, Any] = {"mechanism": "Laplace", "epsilon": 5, "low": 0, "high": 5000}


def csv(folder: Path, text: str) -> Path:
    path = folder / "reports.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        'report,"sex\n(m or f)"\nyes,m\nno,f\nyes,f\n',
        'report,"a;b;c"\nyes,m\nno,f\nyes,f\n',
        "\n\nreport,sex\nyes,m\nno,f\nyes,f\n",
        "report|sex\nyes|m\nno|f\nyes|f\n",
    ],
    ids=["two lines in a name", "other separators in a name", "empty lines first", "bars"],
)
def test_a_header_is_read_as_spreadsheets_write_it(text: str, tmp_path: Path) -> None:
    found = estimate(csv(tmp_path, text), **DIE)
    assert found.rows[0].estimate == pytest.approx((2 / 3 - 1 / 6) / (2 / 3))


def test_two_columns_of_one_name_are_refused_in_a_file_too(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="columns must have different names, got weight twice"):
        estimate(csv(tmp_path, "report,weight,weight\nyes,1,5\nno,2,6\n"), **DIE)


def test_text_that_is_not_utf_8_is_refused_in_words_that_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_bytes("report,größe\nyes,1\n".encode("cp1252"))
    with pytest.raises(ValueError, match="a byte 0xf6 that is not: save it as CSV in UTF-8"):
        estimate(path, **DIE)


def test_empty_rows_are_not_counted_where_a_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got 'maybe' in row 2"):
        estimate(csv(tmp_path, "report,sex\nyes,m\n\n\nmaybe,f\n"), **DIE)
    with pytest.raises(ValueError, match="row 2 must have an entry for each of 2 columns"):
        estimate(csv(tmp_path, "report,sex\nyes,m\n\n\nno\n"), **DIE)


@pytest.mark.parametrize(
    ("text", "device", "word"),
    [
        ("report;count\nyes;2.000\nno;3.000\n", DIE, "count must .* got '2.000' in row 1"),
        ("report\n\n1.234\n2.345\n", LAPLACE, "report must .* write 1234 .* or 1.2340"),
        ("report;weight\nyes;950\nno;1.234\n", DIE, "weight must .* in row 2"),
    ],
    ids=["count", "report", "weight"],
)
def test_a_point_that_may_stand_between_thousands_is_asked_about(
    text: str, device: dict[str, Any], word: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=word):
        estimate(csv(tmp_path, text), **device)


def test_points_that_cannot_stand_between_thousands_are_decimal_points(tmp_path: Path) -> None:
    reports = ["1.234", "2.34", "1000"]
    found = estimate(csv(tmp_path, "\n".join(["report", *reports])), **LAPLACE)
    assert found.rows[0].estimate == pytest.approx((1.234 + 2.34 + 1000) / 3)


def test_a_decimal_comma_is_refused_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got '12,5' in row 1; write a decimal point"):
        estimate(csv(tmp_path, "report;x\n12,5;1\n13,5;1\n"), **LAPLACE)


def test_only_ratios_of_weights_count() -> None:
    table = {"report": [1, 0, 1, 1], "weight": [1.0, 2.0, 3.0, 4.0]}
    expected = repr(estimate(table, **DIE).rows)  # in which nan is nan
    for factor in (2.0**-1040, 2.0**1020):
        rescaled = estimate(table | {"weight": factor * np.arange(1, 5)}, **DIE)
        assert repr(rescaled.rows) == expected


@pytest.mark.parametrize("weight", ["0", "-1"])
def test_a_weight_that_is_not_positive_is_refused_as_such(weight: str) -> None:
    with pytest.raises(ValueError, match=rf"weight must be a number > 0, got '{weight}' in row 2"):
        estimate({"report": ["yes", "no"], "weight": ["1", weight]}, **DIE)


def test_a_difference_that_is_asked_for_is_never_left_out() -> None:
    table = {"report": [1, 0, 1, 1], "sex": ["f", "f", "f", "m"]}
    last = estimate(table, **DIE, by="sex", difference=("f", "m")).rows[-1]

    assert last.group == "sex f minus m"
    assert math.isnan(last.estimate)
    assert "fewer than two people" in last.remark


def test_groups_and_their_column_may_have_numbers_as_names() -> None:
    table = pd.DataFrame({"report": [1, 0, 1, 1], 2020: [30, 31, 30, 31]})
    last = estimate(table, **DIE, by=2020, difference=(30.0, 31)).rows[-1]  # type: ignore[arg-type]
    assert (last.group, last.estimate) == ("2020 30 minus 31", pytest.approx(0.75))


def test_no_standard_error_is_stated_where_reports_do_not_vary() -> None:
    row = estimate([1] * 20, **DIE).rows[0]
    assert math.isnan(row.standard_error)
    assert math.isnan(row.randomisation)
    assert "do not vary" in row.remark
    assert row.low > 0.7  # an exact interval needs no standard error

    census = estimate([1] * 20, p=1, q=0, population="everyone").rows[0]
    assert (census.estimate, census.standard_error, census.remark) == (1, 0, "")


def test_large_numbers_are_printed_without_powers_of_ten() -> None:
    reports = np.linspace(60_000, 180_000, 500)
    device: dict[str, Any] = {"mechanism": "Laplace", "epsilon": 10, "low": 0, "high": 200_000}
    assert " 120,000 " in str(estimate(reports, **device))

    text = str(plan(**device, error=12_345, failure=0.05))
    assert "An error of 12,345 or more" in text
    assert "e+" not in text


@pytest.mark.parametrize(
    ("table", "stated", "words"),
    [
        ([[1, 0], [0, 1]], {**OUE, "values": 2}, "got list; the bits .* joined to a word"),
        (np.eye(2), {**OUE, "values": 2}, r"got shape \(2, 2\); the bits .* joined to a word"),
        (None, DIE, "table must be reports, .* got None"),
        ([1, 0, 1], {**DIE, "missing": "1"}, "missing must not be a possible answer, got 1"),
        (["110"], {**OUE, "values": 3, "missing": "000"}, "possible answer, got 000"),
        ([1, 2], {**DIE, "values": {"a", "b"}}, "values must be in order, got a set"),
        ([1, 2, 0], {"epsilon": 1, "values": 3}, "one of 1, 2, 3, got '0' in row 3$"),
        (
            {"report": [1, 0], "stratum": [1, 1]},
            {**DIE, "population": {1: 10, "1": 20}},
            "population must name every stratum once",
        ),
        (
            {"report": [1, 0], "g": ["a", "b"]},
            {**DIE, "by": "g", "difference": "ab"},
            "difference must be two groups, got 'ab'",
        ),
    ],
    ids=[
        "lists of bits",
        "array of bits",
        "nothing",
        "missing yes",
        "missing bits",
        "set of answers",
        "yes and no of three answers",
        "a stratum twice",
        "groups as one word",
    ],
)
def test_what_can_be_read_in_no_way_or_in_two_is_refused_by_name(
    table: Any, stated: dict[str, Any], words: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        estimate(table, **stated)


def test_a_code_for_missing_reports_and_answers_may_be_numbers() -> None:
    values: Any = [3.0, 5.0, 7.0]
    found = estimate([3, 5, 7, 3, 99], values=values, epsilon=1, missing=99)
    assert found.missing == 1
    assert [row.of for row in found.rows] == ["3", "5", "7"]


def test_a_table_of_pyarrow_is_read_by_its_names() -> None:
    arrow = pytest.importorskip("pyarrow").table({"report": ["yes", None, "no"], "n": [1, 2, 3]})
    found = estimate(arrow, **DIE)
    assert (found.rows[0].reports, found.missing, found.unused) == (2, 1, ("n",))


def test_a_standard_deviation_that_is_too_large_is_named_with_its_stratum() -> None:
    sds = {"N": 0.2, "S": 0.7}
    with pytest.raises(
        ValueError, match=r"sd of stratum S must be at most half the range, got 0\.7"
    ):
        plan(epsilon=2, error=0.1, failure=0.1, population={"N": 900, "S": 90}, sds=sds)

    ends = plan(
        epsilon=2, count=4, failure=0.1, population={"N": 2, "S": 2}, sds={"N": 0.7, "S": 0}
    )
    assert ends.best is not None  # of two people the largest one is sqrt(1/2)
