"""A file is written whole or not at all, and only where a file may be."""

import os
from pathlib import Path

import pytest

from ldpnb import writing


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out"
    make = {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link to a device": lambda: path.symlink_to("/dev/full"),
    }[kind]
    make()
    with pytest.raises(OSError, match="not a regular file"):
        writing.write(path, b"2")
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_stays_one_and_its_file_gets_the_content(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.csv", tmp_path / "there/target.csv"
    link.symlink_to(target)
    for content in (b"new", b"newer"):
        writing.write(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert os.listdir(target.parent) == ["target.csv"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
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


def test_files_get_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    writing.write(tmp_path / "written", b"")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "usual").stat().st_mode
