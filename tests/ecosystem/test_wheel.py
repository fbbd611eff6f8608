"""An installed package brings its own notebooks: the wheel holds them, `ldpnb get` unpacks them, and commands find them."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import ldpnb
from ldpnb import cli
from ldpnb.checks import UsageError
from ldpnb.run import catalogue


@pytest.fixture
def unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(catalogue.HOME_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli.cli, ["get"]).exit_code == 0
    return tmp_path / f"ldpnb-{ldpnb.__version__}"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_wheel_holds_what_get_unpacks_and_no_test(unpacked: Path, tmp_path: Path) -> None:
    checkout = Path(ldpnb.__file__).parents[1]
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=checkout, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    held = {name.removeprefix("ldpnb/companion/") for name in names if name.startswith("ldpnb/companion/")}
    grids = {
        name for name in files(unpacked) if name.endswith(".grid.json")
    }  # for the site, which is built from a checkout
    assert held == files(unpacked) - {catalogue.MARK} - grids
    assert {"notebooks/plan.ipynb", "figures/verdicts.csv"} <= held
    assert {name.partition("/")[0] for name in names} == {"ldpnb", f"ldpnb-{ldpnb.__version__}.dist-info"}
    assert {"ldpnb/py.typed", "ldpnb/__init__.pyi", "ldpnb/run/nbval_sanitize.cfg"} <= set(names)
    assert wheel.stat().st_size < 10_000_000


def test_commands_work_on_the_folder_that_they_are_called_in(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(unpacked / "notebooks" / "1_biswas2022")
    assert catalogue.home() == unpacked


def test_a_folder_that_holds_something_is_left_alone(unpacked: Path) -> None:
    result = CliRunner().invoke(cli.cli, ["get"])
    assert isinstance(result.exception, UsageError)
    assert "must be new or empty" in str(result.exception)
