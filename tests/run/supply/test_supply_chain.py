"""What the project brings with it is listed, free, and fixed."""

import json
import re
from importlib.metadata import distributions

import bill
import pytest
import yaml

from ldpnb.run.catalogue import home

BILL = bill.BILL.read_text(encoding="utf-8")
WORKFLOWS = sorted((home() / ".github" / "workflows").glob("*.yml"))

FREE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU"),
    *("PSF-2.0", "Zlib"),
    *("BSD License", "PSF License"),  # declared without a version
    "LGPL-3.0-or-later",  # of the libraries in python-flint, which is used unchanged
    "MPL-2.0",  # copyleft for its own files only, which are used as they are
}


def words(licence: dict) -> str:
    return licence.get("expression") or licence["license"]["name"]


def test_the_bill_of_materials_lists_what_is_locked_and_names_no_host() -> None:
    listed = json.loads(BILL)
    versions = [
        (c["name"], c["version"], c.get("properties", [{"value": ""}])[0]["value"]) for c in listed["components"]
    ]
    assert versions == bill.locked()
    assert json.loads(bill.bill())["metadata"] == listed["metadata"]
    assert not re.search(r"https?://|file:", BILL)


def test_every_locked_package_has_a_free_licence_as_it_declares() -> None:
    installed = {package.name.lower().replace("_", "-"): package.version for package in distributions()}
    for component in json.loads(BILL)["components"]:
        name, (licence,) = component["name"], component["licenses"]
        assert set(re.split(r" AND | OR ", words(licence))) <= FREE, name
        if installed.get(name) == component["version"]:
            both = {words(licence), words(bill.declared(name))}
            # one version's wheels for two interpreters may say it in two ways
            assert len(both) == 1 or both == {"BSD License", "BSD-3-Clause"}, name


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_say_which_release_that_is(workflow) -> None:
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line) for line in used)
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
