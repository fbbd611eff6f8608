"""Files as surveys, offices and devices leave them: read as they are meant, or refused in a line that says the way out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from ldpnb.cli import cli
from ldpnb.data import files
from ldpnb.data.inspection import inspect
from ldpnb.data.reading import Reading

SURVEY = "Alter;Lohn;Region\n30;1.234,50;Süd\n41;2.000,00;Nord\nk.A.;0,5;Süd\n"
AGES = {"column": "Alter", "low": 0, "high": 120}
PAY = {"low": 0, "high": 5000, "bins": 5}
Read = dict[str, Any]

# content, encoding, what is stated, and which values are held how often
READ: dict[str, tuple[str, str, Read, dict[str, int]]] = {
    "codes": (SURVEY, "utf-8-sig", AGES | {"reading": Reading(missing=("k.A.",))}, {"30": 1, "41": 1}),
    "semicolons": (SURVEY, "utf-8", {"column": "Region"}, {"Nord": 1, "Süd": 2}),
    "cp1252": (SURVEY, "cp1252", {"column": "Region"}, {"Nord": 1, "Süd": 2}),
    "utf-16": (SURVEY, "utf-16", {"column": "Region"}, {"Nord": 1, "Süd": 2}),
    "utf-16 without a mark": (SURVEY, "utf-16-le", {"column": "Region"}, {"Nord": 1, "Süd": 2}),
    "cp1250": ("miasto\nŁódź\nŚrem\nŁódź\n", "cp1250", {"column": "miasto"}, {"Łódź": 2, "Śrem": 1}),
    "decimal commas": (SURVEY, "cp1252", {"column": "Lohn"} | PAY, {"0 to 1000": 1, "1000 to 2000": 1}),
    "grouped by commas": ('pay,x\n"1,234.50",a\n"2,000",b\n', "ascii", {"column": "pay"} | PAY, {"2000 to 3000": 1}),
    "grouped by blanks": ("pay,x\n1 234,a\n2 000,b\n", "ascii", {"column": "pay"} | PAY, {"1000 to 2000": 1}),
    "commas both ways": (
        "a;b\n1,5;2\n2,5;3\n",
        "ascii",
        {"column": "a", "low": 0, "high": 5, "bins": 5},
        {"1 to 2": 1},
    ),
    "no grouping": ("a\n1.234\n2.345\n", "ascii", {"column": "a"} | PAY, {"0 to 1000": 2}),
    "bars": ("a|b\n1|x\n2|y\n", "ascii", {"column": "b"}, {"x": 1, "y": 1}),
    "tabs in a csv": ("a\tb\n1\t2\n3\t4\n", "ascii", {"column": "a", "low": 0, "high": 5}, {"1": 1, "3": 1}),
    "blank lines": ("\n\na,b\n\n1,2\n\n3,4\n", "ascii", {"column": "a", "low": 0, "high": 5}, {"1": 1, "3": 1}),
    "lines in quotes": (
        'age,city\n25,"New\nYork"\n30,Rome\n',
        "ascii",
        {"column": "city"},
        {"New\nYork": 1, "Rome": 1},
    ),
    "German dates": ("d\n01.02.2020\n15.03.2020\n17.03.2020\n", "ascii", {"column": "d"}, {"2020-02": 1, "2020-03": 2}),
    "stated dates": (
        "d\n01/02/2020\n05/03/2020\n",
        "ascii",
        {"column": "d", "dates": "weekday %d/%m/%Y"},
        {"Saturday": 1, "Thursday": 1, "Sunday": 0},
    ),
    "months between": ("d\n2020-01-31\n2020-03-01\n", "ascii", {"column": "d"}, {"2020-02": 0, "2020-03": 1}),
    "codes as numbers": (
        "a\n25\n-9\n999.0\n30\n",
        "ascii",
        {"column": "a", "low": 0, "high": 120, "reading": Reading(missing=("-9", "999"))},
        {"25": 1, "30": 1, "120": 0},
    ),
    "strays as missing": (
        "a\n25\n-9\n",
        "ascii",
        {"column": "a", "low": 0, "high": 99, "outside": "missing"},
        {"0": 0},
    ),
    "strays clamped": ("a\n25\n-9\n", "ascii", {"column": "a", "low": 0, "high": 99, "outside": "clamp"}, {"0": 1}),
    "large and other": (
        "a\nx\nx\ny\nz\n",
        "ascii",
        {"column": "a", "categories": ("x", "other")},
        {"x": 2, "other": 2},
    ),
}
REFUSED: dict[str, tuple[str, Read, str]] = {
    "trailing separators": (
        "age,pay\n25,90,\n30,80,\n",
        {"column": "age", "low": 0, "high": 99},
        "row 2, counting the header, has 3 fields where the header has 2, '25,90,'; mend it, or state separator=",
    ),
    "a short row": (
        "a,b\n25,90\n30\n",
        {"column": "a", "low": 0, "high": 99},
        "row 3, counting the header, has 1 fields",
    ),
    "one name twice": ("age,Age\n25,90\n", {"column": "age", "low": 0, "high": 99}, "2 columns are called 'age'"),
    "a code": (SURVEY, AGES, "column Alter must hold numbers, got 'k.A.'; list codes of missing entries in missing="),
    "three words": (
        "a\n1\nx\ny\nz\nu\n",
        {"column": "a", "low": 0, "high": 9},
        "numbers, got 'x', 'y', 'z'; list codes",
    ),
    "hexadecimals": ("a\n0x10\n2\n", {"column": "a", "low": 0, "high": 9}, "must hold numbers, got '0x10'"),
    "truth values": ("a\n1\ntrue\n", {"column": "a", "low": 0, "high": 9}, "must hold numbers, got 'true'"),
    "a spreadsheet's error": ("a\n1\n#DIV/0!\n", {"column": "a", "low": 0, "high": 9}, "got '#DIV/0!'"),
    "strays": (
        "a\n25\n-9\n999\n",
        {"column": "a", "low": 0, "high": 120},
        r"must lie in \[0, 120\], got 2 outside, such as -9, 999; state a wider range, .* or outside='clamp'",
    ),
    "mostly numbers": (
        "a\n12\nn/k\n14\n15\n",
        {"column": "a"},
        r"holds numbers \(75.0% of its first entries\) and text",
    ),
    "day or month": ("d\n01/02/2020\n05/03/2020\n", {"column": "d"}, "which may be %d/%m/%Y or %m/%d/%Y"),
    "a date that is none": (
        "d\n2020-01-31\nsoon\n",
        {"column": "d", "dates": "day %Y-%m-%d"},
        "dates like .* got 'soon'",
    ),
    "names of people": (
        "\n".join(["n", *map(str, range(-(10**4), 0))]),
        {"column": "n", "kind": "category"},
        "10,000 val",
    ),
    "a wide range": ("a\n1\n2\n", {"column": "a", "low": 0, "high": 1e7}, "10,000,001 values, more than most=4,096"),
    "another separator": (
        "a,b\n1,2\n",
        {"column": "a", "reading": Reading(separator=";")},
        r"are a,b \(separator ';'\)",
    ),
    "another encoding": (
        SURVEY,
        {"column": "Region", "reading": Reading(encoding="ascii")},
        "it is not ascii; state encoding=, such as 'utf-8'",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_as_it_is_meant(tmp_path: Path, name: str) -> None:
    content, encoding, stated, held = READ[name]
    (tmp_path / "people.csv").write_bytes(content.encode(encoding))
    column = files.load_counts(tmp_path / "people.csv", **stated)
    counts = dict(zip(column.labels, column.counts.tolist(), strict=True))
    assert {label: counts[label] for label in held} == held


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_refused_with_the_way_out(tmp_path: Path, name: str) -> None:
    content, stated, rule = REFUSED[name]
    (tmp_path / "people.csv").write_text(content)
    with pytest.raises(ValueError, match=rule):
        files.load_counts(tmp_path / "people.csv", **stated)


def test_what_clamping_does_to_the_mean_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age;sex\n40;m\n999;w\n30;m\n20;w\n")
    column = files.load_counts(tmp_path / "a.csv", "age", low=0, high=100, outside="clamp")
    assert "moved the mean from 272.25 to 47.5, by -224.8." in column.report()
    assert "Read with separator ';'." in column.report()
    both = files.load_groups(tmp_path / "a.csv", "age", "sex", low=0, high=100, outside="clamp")
    assert (both.outside, both.unclamped, both.mean.tolist()) == (1, 272.25, [35.0, 60.0])


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ({"separator": "::"}, "separator must be one character or 'tab', got separator='::'"),
        ({"decimal": "x"}, "decimal must be one of"),
        ({"decimal": ",", "thousands": ","}, "thousands must be one character that is neither"),
        ({"encoding": "utf-9"}, "encoding must be one that Python knows, got encoding='utf-9'"),
    ],
)
def test_a_reading_that_cannot_be_is_refused(stated: Read, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Reading(**stated)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, n = np.random.default_rng(3), 2000
    age = rng.integers(16, 95, n).astype(object)
    age[:40], pay = "k.A.", rng.lognormal(7.5, 0.3, n)
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
    columns = {
        "Nr": np.arange(n),
        "Alter": age,
        "Geschlecht": rng.choice(["m", "w"], n),
        "Größe": [f"{v:.2f}".replace(".", ",") for v in rng.normal(1.7, 0.1, n)],
        "Lohn": [f"{v:.0f}" for v in np.where(rng.random(n) < 0.01, 1e9, pay)],
        "Datum": days.strftime("%d.%m.%Y"),
        "Urteil": rng.choice([1, 2, 3, 4, 5, -9, 99], n),
        "Wort": [f"viele Worte, die niemand zweimal schreibt, zum Beispiel {i}" for i in range(n)],
    }
    path = tmp_path_factory.mktemp("survey") / "umfrage.csv"
    pd.DataFrame(columns).to_csv(path, sep=";", index=False, encoding="cp1252")
    return path


def test_a_file_is_described_before_anything_is_run(survey: Path) -> None:
    found = inspect(survey)
    assert (found.reading.separator, found.reading.encoding, found.reading.decimal) == (";", "cp1252", ",")
    assert (found.rows, found.whole) == (2000, True)
    fields = {column.name: column for column in found.columns}
    assert {name: column.seems for name, column in fields.items()} == {
        "Nr": "identifier",
        "Alter": "whole",
        "Geschlecht": "boolean",
        "Größe": "number",
        "Lohn": "whole",
        "Datum": "date",
        "Urteil": "whole",
        "Wort": "free text",
    }
    assert (fields["Alter"].codes, fields["Alter"].low, fields["Alter"].high) == (("k.A.",), 16, 94)
    assert fields["Urteil"].codes == ("-9", "99")
    assert fields["Lohn"].implausible > 5
    assert fields["Datum"].shown == ("%d.%m.%Y",)


def test_codes_are_found_among_names_and_dates(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(
        "seen;place\n" + "01.02.2020;Nord\n15.03.2020;S\u00fcd\nk.A.;Nord\n17.03.2020;-\n" * 9, encoding="cp1252"
    )
    seen, place = inspect(path).columns
    assert (seen.seems, seen.codes, seen.shown) == ("date", ("k.A.",), ("%d.%m.%Y",))
    assert (place.seems, place.codes, set(place.shown)) == ("category", ("-",), {"Nord", "S\u00fcd"})
    assert """-p 'missing=["-"]'""" in inspect(path).command


def test_the_next_command_is_complete(survey: Path) -> None:
    said = CliRunner().invoke(cli, ["inspect", str(survey), "--json"])
    told = json.loads(said.stdout)
    assert told["next"].startswith(f"ldpnb run own_data -p data={survey} -p column=Alter -p encoding=cp1252 -p low=16")
    assert told["next"].endswith("-p 'missing=[\"k.A.\"]'")
    shown = CliRunner().invoke(cli, ["inspect", str(survey)]).stdout
    assert "low and high should say what may occur, not what occurs" in shown
    assert shown.rstrip().endswith(told["next"])
    refused = CliRunner().invoke(cli, ["inspect", str(survey.parent / "none.csv")])
    assert "data must be a file" in str(refused.exception)


def test_columns_of_one_name_and_a_sample_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("x,X,y\n" + "1,2,3\n" * 2000)
    monkeypatch.setattr("ldpnb.data.inspection.ROWS", 1000)
    monkeypatch.setattr("ldpnb.data.tables._BLOCK", 2000)
    found = inspect(tmp_path / "a.csv")
    assert (found.twice, [c.name for c in found.columns], found.whole) == (("x", "X"), ["y"], False)
    assert "several columns are called 'x'" in found.report()
    assert "the first 1," in found.report()
