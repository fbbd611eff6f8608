"""A file is written whole or not at all, and only where a file may be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ldpnb import writing


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")

    with pytest.raises(OSError, match="not a regular file"):
        writing.write(path, b"2")

    assert os.listdir(tmp_path) == ["out"]


def test_a_link_stays_one_and_its_file_gets_the_content(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there/target.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(target)

    for content in (b"new", b"newer"):
        writing.write(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content

    assert os.listdir(target.parent) == ["target.csv"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    "failure",
    [OSError(28, "No space left on device"), KeyboardInterrupt()],
    ids=["full disk", "interrupt"],
)
def test_on_failure_the_earlier_content_stays_and_nothing_is_left_beside_it(
    tmp_path, monkeypatch, step, failure
) -> None:
    def fail(*_):
        raise failure

    path = tmp_path / "table.csv"
    writing.write(path, b"before")
    monkeypatch.setattr(os, step, fail)

    with pytest.raises(type(failure)) as caught:
        writing.write(path, b"after")

    if isinstance(failure, OSError):
        assert str(caught.value) == f"[Errno 28] No space left on device: '{path}'"

    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("mode", [0o600, 0o755], ids=oct)
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "private.csv"
    path.write_text("before")
    path.chmod(mode)

    writing.write(path, b"after")
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == mode


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    path.write_text("before")
    path.chmod(0o444)

    with pytest.raises(OSError, match=r"read-only: .*kept\.csv"):
        writing.write(path, b"after")

    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["kept.csv"]


def test_standard_output_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("before\n")
    code = "from pathlib import Path; from ldpnb import writing; "
    code += "writing.write(Path('/dev/stdout'), b'after\\n')"

    with path.open("ab") as appended:
        subprocess.run([sys.executable, "-c", code], stdout=appended, check=True)

    assert path.read_text() == "before\nafter\n"


def test_files_get_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    writing.write(tmp_path / "written", b"")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "usual").stat().st_mode
