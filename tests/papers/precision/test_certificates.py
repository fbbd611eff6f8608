"""Printed numbers against high precision; a claim whose text shows a computed number is here, or the reason why not."""

import importlib
import re
from pathlib import Path

import pytest
from certify import LEDGER, TEXTS, certify, values
from mpmath import log, mp, mpf

from ldpnb import claims

HERE = Path(__file__).parent
TABLES = {
    source: importlib.import_module(source)
    for source in claims.LEDGERS
    if (HERE / f"{source}.py").is_file()
}
PIECES = [
    (source, claim, piece)
    for source, table in TABLES.items()
    for claim, pieces in table.CERTIFICATES.items()
    for piece in pieces
]


@pytest.mark.parametrize(("source", "claim", "piece"), PIECES)
def test_printed_digits_are_those_of_the_high_precision_route(
    source: str, claim: str, piece: str
) -> None:
    certify(f"{source}/{claim}", piece, TABLES[source].CERTIFICATES[claim][piece])


@pytest.mark.parametrize("source", claims.LEDGERS)
def test_every_claim_is_certified_or_says_why_not(source: str) -> None:
    assert source in TABLES, f"write {source}.py beside this file, with CERTIFICATES and EXCEPTIONS"
    table, ids = TABLES[source], {c.id.split("/")[1] for c in claims.claims(source)}
    certified, excepted = set(table.CERTIFICATES), set(table.EXCEPTIONS)
    assert not certified & excepted
    assert (certified | excepted) <= ids
    with_fractions = {claim for claim in ids if re.search(r"\d\.\d", TEXTS[f"{source}/{claim}"])}
    simulated = {claim for claim in ids if LEDGER.loc[f"{source}/{claim}", "kind"] == "statistical"}
    assert with_fractions <= certified | excepted | simulated
    assert all(reason.strip() for reason in table.EXCEPTIONS.values())


@pytest.mark.parametrize("off", ["0.0005", "-0.0007"])
def test_a_last_digit_that_is_off_by_one_is_refused(off: str) -> None:
    claim, piece = "lecture20/mean-central-laplace", r"exactly $\ln 100 = {}$ times"
    certify(claim, piece, lambda: log(mpf(100)))
    with pytest.raises(AssertionError, match=r"printed 4.605"):
        certify(claim, piece, lambda: log(mpf(100)) + mpf(off))


def test_a_value_that_hangs_on_the_working_precision_is_refused() -> None:
    with pytest.raises(AssertionError, match="unstable"):
        values(lambda: mpf(1) / 3 * mpf(10) ** mp.dps)
