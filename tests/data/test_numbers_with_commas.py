"""Numbers with commas are never taken for names in silence."""

from pathlib import Path

import pytest

from ldpnb.data.files import load_column
from ldpnb.data.inspection import inspect
from ldpnb.data.reading import Reading


@pytest.mark.parametrize(
    ("entry", "ways"),
    [
        ("1,5", "set decimal=, if it is 1.5, or set categories"),
        ("1.234,50", "set thousands='.' if it is 1234.5, or set categories"),
        ("1,234", "set decimal=, if it is 1.234, or thousands=',' if it is 1234, or set categ"),
    ],
)
def test_a_column_of_numbers_with_commas_is_asked_about(
    entry: str, ways: str, tmp_path: Path
) -> None:
    file = tmp_path / "pay.csv"
    file.write_text(f"pay;sex\n{entry};f\n2,5;m\n{entry};m\n")
    with pytest.raises(ValueError, match="may be a number") as refusal:
        load_column(file, "pay")
    assert ways in str(refusal.value)
    assert "may be a number: set --" in inspect(file)


def test_names_with_commas_are_names(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("town;n\nBonn, Beuel;1\nBonn, Beuel;2\n1,5;3\n")
    assert load_column(file, "town", reading=Reading(counts="none")).users == 3
