"""`ldpnb show` on the name of a claim."""

import pkgutil
import re

import pytest
from click.testing import CliRunner

from ldpnb import claims
from ldpnb.cli import cli
from ldpnb.run import card
from ldpnb.run.catalogue import home
from ldpnb.run.ledger import committed_ledger


def said(*words: str) -> str:
    result = CliRunner().invoke(cli, ["show", *words], catch_exceptions=True)
    return result.output or str(result.exception)


@pytest.mark.parametrize("name", ["theorem-5.2", "Theorem 5.2", "bun2022/theorem-5.2", "bun2022 theorem 5.2"])
def test_a_claim_is_found_by_any_part_of_its_name_that_no_other_has(name: str) -> None:
    assert said(name).startswith("bun2022/theorem-5.2: Theorem 5.2, Section 5.1 growing clusters of bun2022\n")


def test_a_card_tells_verdict_notebook_and_code() -> None:
    text = said("theorem-5.2")
    for part in (
        "status      reproduced",
        "reach       all parameters",
        "reading     reconstructed",
        "kind        enumeration",
    ):
        assert part in text
    assert "notebook    notebooks/2_bun2022/03_cluster_lower_bounds.ipynb" in text
    assert re.search(r"decision    ldpnb/papers/bun2022/section_5.py:\d+", text)
    assert re.search(r"rests on    ldpnb/privacy/clusters.py:\d+", text)
    assert "from-one-sample" in said("several-releases")


def test_every_claim_of_the_ledger_is_found_by_its_whole_name_and_its_lines_exist() -> None:
    for row in committed_ledger().to_dict("records"):
        assert card.find_claim(row["claim"]) == row
    for path in {path for claim in claims.claims() for path in claim.rests_on}:
        file, line = card.place(pkgutil.resolve_name(f"ldpnb.{path}"))
        assert line <= len((home() / file).read_text().splitlines())


def test_several_claims_are_listed_and_none_names_the_nearest() -> None:
    assert said("theorem-3.1").endswith(", bun2022/theorem-3.1, lopuhaa2020/theorem-3.1")
    assert said("theorem-5.22").startswith("no notebook or claim theorem-5.22 (did you mean ")
    assert said("zzz").startswith("no notebook or claim zzz;")
