"""Simulated establishments agree exactly with what they are simulated from, and bad files are refused."""

from pathlib import Path

import pandas as pd
import pytest

from ldpnb.papers.bun2022 import establishments, tabulations
from ldpnb.papers.bun2022.tables import allocation

HEAD = (
    "fipstate,fipscty,naics,empflag,emp_nf,emp,qp1,ap,est,n1_4,n5_9,n10_19,n20_49,n50_99,n100_249,n250_499,n500_999,"
    "n1000,n1000_1,n1000_2,n1000_3,n1000_4"
)


def row(county: str, naics: str, employment: int, counts: list[int], flag: str = "") -> str:
    """A line of the county layout; counts in the twelve classes."""
    small, large = counts[:8], counts[8:]
    numbers = [employment, 0, 0, sum(counts), *small, sum(large), *large]
    return ",".join(["01", county, f'"{naics}"', flag, "G", *map(str, numbers)])


LINES = [
    row("001", "------", 9000, [5, 3, 2, 1, 0, 1, 0, 0, 1, 0, 0, 1]),
    row("001", "31----", 1500, [2, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
    row("001", "44----", 0, [3, 2, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1], "I"),
    row("001", "441///", 60, [3, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    row("003", "------", 70, [4, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    row("003", "31----", 33, [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    row("003", "44----", 37, [3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
]


@pytest.fixture
def census_file(tmp_path: Path) -> Path:
    path = tmp_path / "cbp15co.txt"
    path.write_text("\n".join([HEAD, *LINES]) + "\n")
    return path


def test_a_census_file_is_read_by_county_and_industry(census_file: Path) -> None:
    read = tabulations.read_tabulation(census_file)
    assert read.cells["county"].tolist() == ["01001", "01001", "01003", "01003"]
    assert read.cells["industry"].tolist() == ["31----", "44----"] * 2
    assert read.cells["employment_low"].tolist() == [1500, 5000, 33, 37]
    assert read.cells["employment_high"].tolist() == [1500, 9999, 33, 37]
    assert read.county_employment == {"01001": 9000}
    assert tabulations.read_tabulation(census_file, industry_digits=3).cells["industry"].tolist() == ["441///"]
    assert len(tabulations.read_tabulation(census_file, industry_digits=0).cells) == 2


def check_agreement(tally: pd.DataFrame, read: tabulations.Tabulation) -> None:
    by_class = tally.groupby(["county", "industry", "size_class"])["establishments"].sum()
    for kind in tabulations.CLASSES:
        for _, cell in read.cells.iterrows():
            assert by_class.get((cell["county"], cell["industry"], kind.label), 0) == cell[kind.column]
        inside = tally.loc[tally["size_class"] == kind.label, "employees"]
        assert inside.between(kind.low, kind.high).all()


def test_establishments_agree_exactly_with_classes_cells_and_county_totals(census_file: Path) -> None:
    read = tabulations.read_tabulation(census_file)
    tally = establishments.simulate(read)
    check_agreement(tally, read)
    people = (tally["employees"] * tally["establishments"]).groupby([tally["county"], tally["industry"]]).sum()
    assert people["01001", "31----"] == 1500
    assert people["01001", "44----"] == 7500
    assert people["01003"].tolist() == [33, 37]
    pd.testing.assert_frame_equal(tally, establishments.simulate(read))


def test_industry_totals_are_margins_too(census_file: Path) -> None:
    read = tabulations.read_tabulation(census_file)
    free = read.cells.assign(
        employment_low=read.cells["employment_low"].where(read.cells["county"] == "01001", 0),
        employment_high=read.cells["employment_high"].where(read.cells["county"] == "01001", 10**6),
    )
    bound = tabulations.Tabulation(free, {"01001": 9000, "01003": 72}, {"31----": 1540})
    tally = establishments.simulate(bound)
    check_agreement(tally, bound)
    people = tally["employees"] * tally["establishments"]
    assert people.groupby(tally["county"]).sum().to_dict() == {"01001": 9000, "01003": 72}
    assert people.groupby(tally["industry"]).sum()["31----"] == 1540


def test_the_stand_in_meets_its_totals_and_is_deterministic() -> None:
    tally = establishments.simulate(tabulations.stand_in())
    assert tally["establishments"].sum() == 7_663_938
    assert (tally["employees"] * tally["establishments"]).sum() == 124_085_947
    check_agreement(tally, tabulations.stand_in())
    assert not tally.duplicated(["size_class", "employees"]).any()
    assert (establishments.top_coded(tally, 10_000)["employees"] <= 10_000).all()


@pytest.mark.parametrize(("count", "mean"), [(1, 1300.0), (2, 1000.0), (7, 1499.0), (500, 1001.3), (40_000, 1400.0)])
def test_sizes_within_a_class_sum_to_any_total(count: int, mean: float) -> None:
    counts = [0] * 8 + [count, 0, 0, 0]
    cells = pd.DataFrame([{c.column: n for c, n in zip(tabulations.CLASSES, counts, strict=True)}])
    total = round(count * mean)
    cells = cells.assign(county="x", industry="y", employment_low=total, employment_high=total)
    tally = establishments.simulate(tabulations.Tabulation(cells, {}, {}))
    assert tally["establishments"].sum() == count
    assert (tally["employees"] * tally["establishments"]).sum() == total


def test_an_impossible_total_names_its_cell(census_file: Path) -> None:
    census_file.write_text("\n".join([HEAD, row("005", "31----", 3, [1, 1] + [0] * 10)]) + "\n")
    read = tabulations.read_tabulation(census_file)
    with pytest.raises(ValueError, match=r"county 01005, industry 31---- must lie between 6 and 13 .* got 3"):
        establishments.simulate(read)
    mended, moved = tabulations.attainable(read)
    assert moved == 1
    assert (establishments.simulate(mended)["employees"]).tolist() == [1, 5]
    assert tabulations.attainable(mended)[1] == 0


def test_contradicting_margins_are_refused(census_file: Path) -> None:
    read = tabulations.read_tabulation(census_file)
    wrong = tabulations.Tabulation(read.cells, {"01003": 71}, {})
    with pytest.raises(ValueError, match="county and industry totals must be attainable together"):
        establishments.simulate(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fipstate,naics\n01,------\n", "columns of the county layout, got none named fipscty, emp, est"),
        ("\n".join([HEAD, LINES[1].replace("1500", "many")]), "whole numbers in column emp, got 'many' in line 2"),
        (
            "\n".join([HEAD, LINES[1].replace(",5,2,1,1,", ",6,2,1,1,")]),
            "classes that sum to est, got 5 for 6 in line 2",
        ),
        ("\n".join([HEAD, LINES[0]]), "industries of 2 digits, got none"),
    ],
)
def test_malformed_or_missing_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.txt").write_text(text + "\n")
    with pytest.raises(ValueError, match=message):
        tabulations.read_tabulation(tmp_path / "bad.txt")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        tabulations.read_tabulation(tmp_path / "nowhere.txt")


def test_a_users_file_goes_through_the_same_steps(census_file: Path) -> None:
    tally, origin = allocation.population(str(census_file), top_code=10_000)
    assert origin == "simulated from a Census file, employment adjusted in 0 of 4 cells"
    assert allocation.by_size(tally, [1, 20]).sizes.tolist() == [16, 5]
