"""A file is written whole or not at all, and only where a file may be; one that was cut off is named in one line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ldpnb import claims, writing
from ldpnb.data import public
from ldpnb.papers.juarez2022 import clients, printed
from ldpnb.run import catalogue, export, ledger


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


READERS: dict[str, Callable[[], object]] = {
    "papers/biswas2022/printed.csv": lambda: claims.published.__wrapped__("biswas2022"),
    "papers/bun2022/printed.csv": lambda: claims.published.__wrapped__("bun2022"),
    "papers/lecture20/printed.csv": lambda: claims.published.__wrapped__("lecture20"),
    "papers/lopuhaa2020/printed.csv": lambda: claims.published.__wrapped__("lopuhaa2020"),
    "papers/juarez2022/printed.csv": printed._printed.__wrapped__,
    "papers/juarez2022/rates.csv": lambda: clients.published_rates("sessions"),
    "data/adult_age.csv": lambda: public.adult("age"),
    "data/adult_workclass.csv": lambda: public.adult("workclass"),
    "figures/verdicts.csv": ledger.committed_ledger,
    "figures/own_data/channel.json": lambda: export.contents("own_data/channel", "column", "times", "pdf"),
    "figures/own_data/channel.csv": lambda: export.contents("own_data/channel", "column", "times", "pdf"),
}
"""What reads the tables of the package, and what is published with it."""


def test_every_table_of_the_package_is_listed() -> None:
    package = Path(claims.__file__).parent
    assert {path.relative_to(package).as_posix() for path in package.rglob("*.csv")} <= READERS.keys()


@pytest.mark.parametrize("path", READERS)
def test_a_table_that_was_cut_off_within_a_line_is_named_in_one_line(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = catalogue.home()
    content = (committed / path if path.startswith("figures") else committed / "ldpnb" / path).read_bytes()
    READERS[path]()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "figures/own_data").mkdir(parents=True)
    for name in ("channel.csv", "channel.json"):
        (tmp_path / "figures/own_data" / name).write_bytes((committed / "figures/own_data" / name).read_bytes())
    monkeypatch.setattr(writing, "files", lambda _package: tmp_path)
    monkeypatch.setenv(catalogue.HOME_VARIABLE, str(tmp_path))
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    for kept in (b"", content[: len(content) // 2].rstrip()):
        (tmp_path / path).write_bytes(kept)
        with pytest.raises(OSError, match=rf"^{tmp_path / path} is cut off: [^\n]+; `git checkout`[^\n]+$"):
            READERS[path]()
