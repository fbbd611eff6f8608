"""What is written replaces regular files only."""

import os
import stat
from pathlib import Path

import pytest

from ldpnb import writing


@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "link to a device"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out"
    make = {
        "device": lambda: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7)),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link to a device": lambda: path.symlink_to("/dev/full"),
    }[kind]
    try:
        make()
    except PermissionError:
        pytest.skip("only root makes devices")
    before = os.lstat(path)
    with pytest.raises(OSError, match="not a regular file"):
        writing.write(path, b"2")
    assert os.lstat(path) == before
    assert os.listdir(tmp_path) == ["out"]
