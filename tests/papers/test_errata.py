"""The erratum sheets: complete, committed as they are written, and each line of Python prints what is said."""

import contextlib
import io

import pytest

from ldpnb.run import errata
from ldpnb.run.ledger import committed_ledger

NOTED = {claim: entry for source in errata.sheets() for claim, entry in errata.noted(source).items()}


@pytest.mark.parametrize("claim", NOTED)
def test_the_line_of_python_prints_what_the_sheet_says(claim: str) -> None:
    entry, printed = NOTED[claim], io.StringIO()
    assert "ldpnb" not in entry["python"]
    with contextlib.redirect_stdout(printed):
        exec(entry["python"], {})
    assert printed.getvalue().strip() == entry["prints"]


def test_every_source_of_a_statement_that_does_not_hold_has_a_sheet() -> None:
    rows = committed_ledger().itertuples()
    due = {r.claim.split("/")[0] for r in rows if r.status in ("corrected", "refuted")} - {"companion"}
    assert due == set(errata.sheets()), "list what does not hold in the source's errata.toml, then `ldpnb report`"
