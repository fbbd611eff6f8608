"""The erratum sheets: complete, and each line of Python fits a page and prints what the sheet says, without our package."""

import pytest

from ldpnb.run import errata
from ldpnb.run.ledger import committed_ledger

NOTED = {
    claim: entry for source in errata.sheets() for claim, entry in errata.noted(source).items()
}
WIDTH = 96
"""Characters of a line of code on a page of the sheet as a PDF, beyond which it would be cut off."""


@pytest.mark.parametrize("claim", NOTED)
def test_the_lines_of_python_print_what_the_sheet_says_and_fit_its_page(claim: str) -> None:
    python = NOTED[claim]["python"]
    assert "ldpnb" not in python
    assert max(map(len, python.splitlines())) <= WIDTH
    sheet = errata.sheets()[claim.split("/")[0]].read_text(encoding="utf-8")
    assert f"this prints `{errata.printed(python)}`.\n\n```python\n{python.strip()}\n```" in sheet


def test_every_source_of_a_statement_that_does_not_hold_has_a_sheet() -> None:
    failing = [
        row["claim"] for row in committed_ledger() if row["status"] in ("corrected", "refuted")
    ]
    due = {claim.split("/")[0] for claim in failing} - {"companion"}
    assert due == set(errata.sheets()), (
        "list what does not hold in the source's errata.toml, then `ldpnb report`"
    )
