"""`python -m ldpnb.site` builds into the folder that is named, or anew into ``build/site``."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="no sphinx in this environment; `make site` brings it")

import sphinx.cmd.build

from ldpnb.run.catalogue import catalogue
from ldpnb.site import __main__ as site

Build = Callable[..., tuple[int, Path]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Build a site of one page by a Sphinx that copies it; return the exit code, and where."""

    def run(*arguments: str, fails: bool = False) -> tuple[int, Path]:
        built: list[Path] = []

        def sphinx_build(options: list[str]) -> int:
            pages, target = map(Path, options[-2:])
            assert "-W" in options
            assert {path.name for path in pages.rglob("*") if path.is_file()} == {"index.md"}
            for notebook in catalogue():
                (target / f"notebooks/{notebook.id}").parent.mkdir(parents=True, exist_ok=True)
            (target / "index.html").write_bytes((pages / "sub/index.md").read_bytes())
            (target / "theme.css.map").touch()
            built.append(target)
            return int(fails)

        monkeypatch.setattr(sphinx.cmd.build, "build_main", sphinx_build)
        monkeypatch.setattr(site, "home", lambda: tmp_path)
        monkeypatch.setattr(site, "sources", lambda: [("sub/index.md", b"a page")])
        monkeypatch.setattr(sys, "argv", ["ldpnb.site", *arguments])
        code = site.main()
        return code, built[0]

    return run


def test_a_site_without_a_name_is_made_anew_in_the_build_folder(
    build: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("site", "pages"):
        (tmp_path / "build" / folder).mkdir(parents=True)
        (tmp_path / "build" / folder / "former.html").touch()

    code, target = build()
    assert code == 0
    assert target == tmp_path / "build/site"
    assert not (target / "former.html").exists()
    assert (target / "index.html").read_text() == "a page"
    assert capsys.readouterr().out == f"the site is in {target / 'index.html'}\n"


def test_a_site_is_built_into_the_folder_that_is_named_whose_other_files_stay(
    build: Build, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/kept.txt").touch()
    code, target = build(str(tmp_path / "mine"))
    assert code == 0
    assert target == tmp_path / "mine"
    assert (target / "kept.txt").exists()
    assert not (tmp_path / "build/site").exists()


def test_every_page_of_a_notebook_has_its_notebook_beside_it_and_no_source_map(
    build: Build,
) -> None:
    _, target = build()
    for notebook in catalogue():
        copied = target / f"notebooks/{notebook.id}.ipynb"
        assert copied.read_bytes() == notebook.path.read_bytes()
    assert not list(target.rglob("*.map"))


def test_a_site_that_could_not_be_built_ends_with_the_code_of_sphinx(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    code, target = build(fails=True)
    assert code == 1
    assert capsys.readouterr().out == ""
    assert not list(target.rglob("*.ipynb"))
