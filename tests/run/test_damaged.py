"""Damaged files and unusual starts: one line, and the same numbers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ldpnb as package
from ldpnb import claims, writing
from ldpnb.data import public
from ldpnb.papers.juarez2022 import clients, printed
from ldpnb.run import catalogue, export, ledger
from ldpnb.run.catalogue import home
from ldpnb.site import pages

PACKAGE = Path(package.__file__).parent
READERS: dict[str, Callable[[], object]] = {
    "papers/biswas2022/printed.csv": lambda: claims.published.__wrapped__("biswas2022")["rate_all"],
    "papers/bun2022/printed.csv": lambda: claims.published.__wrapped__("bun2022")["top_code"],
    "papers/lecture20/printed.csv": lambda: claims.published.__wrapped__("lecture20")["sensitivity"],
    "papers/lopuhaa2020/printed.csv": lambda: claims.published.__wrapped__("lopuhaa2020")["taxi_payment_domain_size"],
    "papers/juarez2022/printed.csv": lambda: printed._printed.__wrapped__()["UCI", "male_room_2"],
    "papers/juarez2022/rates.csv": lambda: clients.published_rates("sessions"),
    "data/adult_age.csv": lambda: public.adult("age"),
    "data/adult_workclass.csv": lambda: public.adult("workclass"),
}
"""What reads the tables of the package."""

NOTEBOOK, TABLE = "2_bun2022/03_cluster_lower_bounds", "figures/own_data/channel"
FIGURE = f"figures/{NOTEBOOK}/losses"
RESULTS = [
    ("figures/verdicts.csv", ledger.committed_ledger),
    (f"{FIGURE}.json", lambda: pages.published(f"{NOTEBOOK}/losses")),
    (f"{FIGURE}.csv", lambda: pages.published(f"{NOTEBOOK}/losses")),
    (f"{TABLE}.json", lambda: export.contents(TABLE.removeprefix("figures/"), "column", "times", "pdf")),
    (f"{TABLE}.csv", lambda: export.contents(TABLE.removeprefix("figures/"), "column", "times", "pdf")),
]
"""What is published with the companion, and what reads it."""

BYTES = {"none": lambda whole: 0, "half": lambda whole: len(whole) // 2}
KEPT = BYTES | {"a line": lambda whole: whole.index(b"\n") + 1}
"""How much of a file is left."""


def cut(path: Path, kept: str, copy: Path) -> None:
    content = path.read_bytes()
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.unlink(missing_ok=True)
    copy.write_bytes(content[: KEPT[kept](content)])


def test_every_table_of_the_package_is_listed() -> None:
    assert READERS.keys() == {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.csv")}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("path", READERS)
def test_a_table_that_was_cut_off_is_named_in_one_line(
    path: str, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert READERS[path]()
    cut(PACKAGE / path, kept, tmp_path / path)
    monkeypatch.setattr(writing, "files", lambda _package: tmp_path)
    with pytest.raises(OSError, match=rf"^{tmp_path / path} is damaged \([^\n]+\); `git checkout`[^\n]+$"):
        READERS[path]()


@pytest.mark.parametrize("kept", BYTES)
@pytest.mark.parametrize(("path", "read"), RESULTS)
def test_a_committed_result_that_was_cut_off_is_named_in_one_line(
    path: str, read: Callable[[], object], kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue.catalogue()  # which is kept, and must not be that of a folder that goes
    shutil.copytree(home() / "figures", tmp_path / "figures", copy_function=os.symlink)
    (tmp_path / "notebooks").symlink_to(home() / "notebooks")
    cut(home() / path, kept, tmp_path / path)
    monkeypatch.setenv(catalogue.HOME_VARIABLE, str(tmp_path))
    with pytest.raises(OSError, match=rf"^{tmp_path / path} is damaged \([^\n]+\); `git checkout`[^\n]+$"):
        read()


def test_claims_are_the_same_where_python_drops_docstrings() -> None:
    code = "from ldpnb import claims; print([c.says for c in claims.claims('lecture20')])"
    result = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str([claim.says for claim in claims.claims("lecture20")])
