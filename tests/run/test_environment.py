"""What is installed, locked and declared agrees, and no lock names a host."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from ldpnb.claims import SOURCES
from ldpnb.run.catalogue import home

ROOT = home()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_environment_is_an_interpreter_and_the_package_with_its_extras() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *plain, pip = environment["dependencies"]
    assert [re.split("[=<>]", d)[0] for d in plain] == ["python", "pip"]
    extras = ",".join(PROJECT["project"]["optional-dependencies"])
    assert pip == {"pip": [f"--editable .[{extras}]"]}
    python = re.split("=+", plain[0])[1]
    assert (
        Version(python) in Requirement("python" + PROJECT["project"]["requires-python"]).specifier
    )


def test_what_is_installed_satisfies_what_is_declared() -> None:
    declared = map(
        Requirement, PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    )
    assert [str(r) for r in declared if version(r.name) not in r.specifier] == []


def test_the_locks_name_no_host() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        assert not re.search(r"https?://|file:|--index|--find-links", lock.read_text())


def test_installed_versions_are_the_locked_ones() -> None:
    lines = re.findall(
        r"^[A-Za-z0-9._-]+==[^\\\n]+", (ROOT / "requirements.lock").read_text(), re.MULTILINE
    )
    wanted = [r for r in map(Requirement, lines) if r.marker is None or r.marker.evaluate()]
    other = {str(r): version(r.name) for r in wanted if version(r.name) not in r.specifier}
    assert wanted
    assert other == {}


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name
)
def test_actions_are_pinned_by_commit_and_say_which_release_that_is(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line) for line in used)
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_citation_names_the_sources() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert len(citation["references"]) == len(SOURCES), "CITATION.cff refers to every source"
    assert {"title", "authors", "type"} <= set(citation["references"][0])


def test_version_is_the_same_everywhere() -> None:
    import ldpnb

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert ldpnb.__version__ == version("ldpnb") == citation["version"]
