"""What is imported, declared, locked and installed agrees, and no lock names a host."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import ldpnb
from ldpnb.run.catalogue import home

ROOT = home()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_environment_is_an_interpreter_and_the_package_with_its_extra() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, by_pip = environment["dependencies"]
    assert pip == "pip"
    assert by_pip == {"pip": ["--editable .[notebooks]"]}

    name, given = re.split("=+", python)
    required = Requirement("python" + PROJECT["project"]["requires-python"])
    assert name == "python"
    assert Version(given) in required.specifier


def declared(*groups: str) -> list[Requirement]:
    """What the package, its extra and these groups of its dependencies require."""
    project = PROJECT["project"]
    lines = project["dependencies"] + project["optional-dependencies"]["notebooks"]
    for group in groups:
        lines = lines + PROJECT["dependency-groups"][group]

    return [Requirement(line) for line in lines]


def unsatisfied(requirements: list[Requirement]) -> list[str]:
    """The requirements that the installed packages do not meet."""
    return [str(one) for one in requirements if version(one.name) not in one.specifier]


def test_what_is_installed_satisfies_what_is_declared() -> None:
    assert unsatisfied(declared("dev")) == []


def test_what_is_imported_is_declared() -> None:
    names = {canonicalize_name(one.name) for one in declared("dev", "site")}
    names |= {"docutils", "pygments", "distributed"}  # which sphinx and dask bring, as they say
    names |= {"numba"}  # which is only looked into where the audited code has imported it

    imported = set()
    for path in (ROOT / "ldpnb").rglob("*.py"):
        imported |= imported_modules(path)

    distributions = packages_distributions()
    undeclared = []
    for module in sorted(imported - sys.stdlib_module_names - {"ldpnb"}):
        brought_by = distributions.get(module, [module])
        if names.isdisjoint(canonicalize_name(name) for name in brought_by):
            undeclared.append(module)

    assert undeclared == []


def imported_modules(path: Path) -> set[str]:
    """The packages of other projects, and Python's modules, that a file imports anywhere."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module)

    return {name.partition(".")[0] for name in found}


def test_the_locks_name_no_host() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        assert not re.search(r"https?://|file:|--index|--find-links", lock.read_text())


def test_installed_versions_are_the_locked_ones() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    locked = [
        Requirement(line) for line in re.findall(r"^[A-Za-z0-9._-]+==[^\\\n]+", lock, re.MULTILINE)
    ]
    wanted = [one for one in locked if one.marker is None or one.marker.evaluate()]

    assert wanted
    assert unsatisfied(wanted) == []


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name
)
def test_actions_are_pinned_by_commit_and_say_which_release_that_is(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action), action

    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert version("ldpnb") == ldpnb.__version__
    assert citation["version"] == ldpnb.__version__
