"""What is installed, locked and declared agrees, and no lock names a host."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from ldpnb.claims import sources
from ldpnb.run.catalogue import home

ROOT = home()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_environment_is_an_interpreter_and_the_package_with_its_extra() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *plain, pip = environment["dependencies"]
    assert [re.split("[=<>]", d)[0] for d in plain] == ["python", "pip"]
    assert pip == {"pip": ["--editable .[notebooks]"]}

    python = re.split("=+", plain[0])[1]
    assert (
        Version(python) in Requirement("python" + PROJECT["project"]["requires-python"]).specifier
    )


def test_what_is_installed_satisfies_what_is_declared() -> None:
    project = PROJECT["project"]
    declared = map(
        Requirement,
        project["dependencies"]
        + project["optional-dependencies"]["notebooks"]
        + PROJECT["dependency-groups"]["dev"],
    )

    assert [str(r) for r in declared if version(r.name) not in r.specifier] == []


def test_what_is_imported_is_declared() -> None:
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    declared = [
        *project["dependencies"],
        *project["optional-dependencies"]["notebooks"],
        *groups["dev"],
        *groups["site"],
    ]
    names = {canonicalize_name(Requirement(line).name) for line in declared}
    names |= {"docutils", "pygments", "distributed"}  # which sphinx and dask bring, as they say
    names |= {"numba"}  # which is only looked into where the audited code has imported it
    imported = {
        module.partition(".")[0]
        for path in (ROOT / "ldpnb").rglob("*.py")
        for module in modules(path)
    }
    known = packages_distributions()

    assert [
        module
        for module in sorted(imported - sys.stdlib_module_names - {"ldpnb"})
        if not names & {canonicalize_name(name) for name in known.get(module, [module])}
    ] == []


def modules(path: Path) -> Iterator[str]:
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


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
    assert len(citation["references"]) == len(sources().keys() - {"companion"}), (
        "CITATION.cff refers to every source"
    )
    assert {"title", "authors", "type"} <= set(citation["references"][0])


def test_version_is_the_same_everywhere() -> None:
    import ldpnb

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert ldpnb.__version__ == version("ldpnb") == citation["version"]
