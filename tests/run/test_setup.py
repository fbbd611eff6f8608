"""`make` sets up an environment under any path, and makes one anew that does not work.

A stub in place of Python notes how it is called; nothing is installed.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ldpnb.run.catalogue import home

NAMES = [
    "plain",
    '$(touch PWNED) it\'s "quoted" `touch PWNED`',
    " $HOME; blanks  in it ",
    "#x\\*?~!{}<>%:=é&|()",
]
STUB = """#!/bin/sh
printf '%s\n' "$*" >>"$LOG"
case "$*" in
    "-m venv"*)
        shift 2
        test "$1" = --clear && shift
        rm -rf "$1"
        mkdir -p "$1/bin"
        cp "$STUB" "$1/bin/python"
        ;;
esac
"""
DAMAGE = {
    "its Python is gone": lambda venv: (venv / "bin/python").unlink(),
    "its Python does not start": lambda venv: (venv / "bin/python").write_text(
        "#!/bin/sh\nexit 1\n"
    ),
    "it was half made": lambda venv: (venv / ".installed").unlink(),
    "it was made elsewhere": lambda venv: (venv / ".installed").write_text("/elsewhere\n"),
}


def make(folder: Path, stub: Path) -> list[str]:
    """Run `make figures` with the stub as Python; return its calls."""
    log = stub.with_name("log")
    log.write_text("")
    environment = os.environ | {"LOG": str(log), "STUB": str(stub)}
    environment.pop("MAKEFLAGS", None)
    result = subprocess.run(
        ["make", "figures", "JOBS=2", f"PYTHON={stub}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    return log.read_text().splitlines()


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    path = tmp_path / "python3"
    path.write_text(STUB)
    path.chmod(0o755)
    return path


def checkout_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(home() / name, folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_checkout_may_have_any_path(tmp_path: Path, stub: Path, name: str) -> None:
    folder = checkout_in(tmp_path / name / "ldpnb")
    log = stub.with_name("log")

    calls = make(folder, stub)
    assert calls[-1] == "-m ldpnb run --jobs 2"
    assert any(f"--python {folder}/.venv/bin/python" in call for call in calls)

    calls = make(folder, stub)
    assert calls == ["-c import pip", "-m ldpnb run --jobs 2"]

    subprocess.run([folder / ".venv/bin/ldpnb", "x"], env={"LOG": str(log)}, check=True)
    assert log.read_text().splitlines()[-1] == "-P -m ldpnb x"
    assert not list(tmp_path.rglob("PWNED"))


@pytest.mark.parametrize("damage", DAMAGE)
def test_an_environment_that_does_not_work_is_made_anew(
    tmp_path: Path, stub: Path, damage: str
) -> None:
    folder = checkout_in(tmp_path / "ldpnb")
    make(folder, stub)
    DAMAGE[damage](folder / ".venv")

    calls = make(folder, stub)
    assert "-m venv --clear .venv" in calls

    calls = make(folder, stub)
    assert calls == ["-c import pip", "-m ldpnb run --jobs 2"]
