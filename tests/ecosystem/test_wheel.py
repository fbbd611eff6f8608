"""The wheel holds the package with the files that its modules read, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import ldpnb

CHECKOUT = Path(ldpnb.__file__).parents[1]


def test_a_wheel_holds_all_files_of_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {p.relative_to(CHECKOUT) for p in (CHECKOUT / "ldpnb").rglob("*") if p.is_file()}
    assert names == {p.as_posix() for p in files if "__pycache__" not in p.parts}
