"""What the project brings with it is listed, free, and fixed."""

import importlib.metadata
import json
import re

import bill
import pytest
import yaml
from packaging.licenses import canonicalize_license_expression

from ldpnb.run.catalogue import home

COMPONENTS = json.loads(bill.BILL.read_text(encoding="utf-8"))["components"]
WORKFLOWS = sorted((home() / ".github" / "workflows").glob("*.yml"))

FREE = {
    *(
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PSF-2.0",
        "Zlib",
    ),
    *("BSD License", "PSF License"),  # declared without a version
    "LGPL-3.0-or-later",  # of the libraries in python-flint, which is used unchanged
    "MPL-2.0",  # copyleft for its own files only, which are used as they are
}


def installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def named(component: dict) -> str:
    (licence,) = component["licenses"]
    return licence.get("expression") or licence["license"]["name"]


def test_the_bill_of_materials_lists_what_is_locked() -> None:
    listed = [(c["name"], c["version"], c.get("properties", [{"value": ""}])[0]["value"]) for c in COMPONENTS]
    assert listed == bill.locked()
    assert json.loads(bill.bill())["metadata"] == json.loads(bill.BILL.read_text(encoding="utf-8"))["metadata"]


def test_the_bill_of_materials_names_no_host() -> None:
    assert not re.search(r"https?://|file:", bill.BILL.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted({c["name"] for c in COMPONENTS}))
def test_every_locked_package_has_a_free_licence_as_it_declares(name: str) -> None:
    for component in (c for c in COMPONENTS if c["name"] == name):
        words = named(component)
        assert set(re.split(r" AND | OR ", words)) <= FREE
        if "expression" in component["licenses"][0]:
            assert canonicalize_license_expression(words) == words
        if installed(name) == component["version"]:
            declared = named({"licenses": [bill.declared(name)]})
            # one version's wheels for two interpreters may say it in two ways
            assert declared == words or {declared, words} == {"BSD License", "BSD-3-Clause"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_say_which_release_that_is(workflow) -> None:
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line) for line in used)
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
