"""What others read about the project is right: Binder's steps, the paper and its references."""

import os
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_binder_installs_the_lock_and_then_the_package_as_make_does() -> None:
    folder = ROOT / "binder"
    (line,) = (folder / "requirements.txt").read_text().splitlines()
    assert (folder / line.removeprefix("-r ")).resolve() == ROOT / "requirements.lock"

    _, install = (folder / "postBuild").read_text().splitlines()
    options = "--no-deps --no-build-isolation --editable ."

    assert install == f"python -m pip install {options}"
    assert options in (ROOT / "Makefile").read_text()
    assert os.access(folder / "postBuild", os.X_OK)


def test_the_paper_cites_what_the_bibliography_has() -> None:
    paper = (ROOT / "paper.md").read_text(encoding="utf-8")
    head, text = re.fullmatch(r"---\n(.*?)\n---\n(.*)", paper, re.DOTALL).groups()
    about = yaml.safe_load(head)
    bibliography = (ROOT / about["bibliography"]).read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE)

    assert about.keys() == {"title", "tags", "authors", "affiliations", "date", "bibliography"}
    assert {"# Summary", "# Statement of need", "# References"} <= set(text.splitlines())
    assert set(re.findall(r"@(\w+)", text)) == set(entries) - {"ldpnb"}
