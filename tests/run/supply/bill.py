"""Write the bill of materials of the locked dependencies, ``sbom.cdx.json``: CycloneDX, with the licence of each.

    python tests/run/supply/bill.py

The licences are those that the installed packages declare; the few that the lock holds for another system or Python are
listed here. The file has no date and no serial number, so that the same lock gives the same bytes."""

import hashlib
import json
import re
import tomllib
from contextlib import suppress
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

import ldpnb

ROOT = Path(__file__).resolve().parents[3]
BILL = ROOT / "sbom.cdx.json"

ELSEWHERE = {
    "aiohappyeyeballs": "PSF-2.0",
    "aiohttp": "Apache-2.0 AND MIT",
    "aiosignal": "Apache-2.0",
    "appnope": "BSD-2-Clause",
    "colorama": "BSD-3-Clause",
    "frozenlist": "Apache-2.0",
    "importlib-metadata": "Apache-2.0",
    "lazy-importer": "Apache-2.0",
    "multidict": "Apache-2.0",
    "overrides": "Apache-2.0",
    "pexpect": "ISC",
    "propcache": "Apache-2.0",
    "ptyprocess": "ISC",
    "pywinpty": "MIT",
    "yarl": "Apache-2.0",
    "zipp": "MIT",
}
"""Licences of packages that are locked for some systems or Pythons only."""

SPDX = {
    "MIT License": "MIT",
    "MIT license": "MIT",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "ISC license": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""SPDX expressions of the words by which packages name their licence."""

UNNUMBERED = {"BSD": "BSD License", "BSD License": "BSD License", "Python Software Foundation License": "PSF License"}
"""What they say without a version: kept as a name."""


def locked() -> list[tuple[str, str, str]]:
    """Return name, version and environment marker of every line of the lock."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    lines = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))?(?: \\)?$", text, re.MULTILINE)
    return [(name.lower(), version, marker) for name, version, marker in lines]


def declared(name: str) -> dict[str, Any]:
    """Return the licence that an installed package declares: an SPDX expression, or a name if it tells no version."""
    package = metadata(name)
    words = [package.get("License-Expression") or "", (package.get("License") or "").strip()]
    words += [c.split(" :: ")[-1] for c in package.get_all("Classifier", []) if c.startswith("License")]
    for word in words:
        with suppress(InvalidLicenseExpression):
            return {"expression": canonicalize_license_expression(SPDX.get(word, word))}
    return {"license": {"name": next(UNNUMBERED[word] for word in words if word in UNNUMBERED)}}


def component(name: str, version: str, marker: str) -> dict[str, Any]:
    """Return one line of the lock as a component."""
    purl = f"pkg:pypi/{name}@{version}"
    licence = {"expression": ELSEWHERE[name]} if name in ELSEWHERE else declared(name)
    made = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": [licence]}
    return made | ({"properties": [{"name": "environment marker", "value": marker}]} if marker else {})


def bill() -> str:
    """Return the bill of materials."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    digest = hashlib.sha256((ROOT / "requirements.lock").read_bytes()).hexdigest()
    own = {
        "type": "application",
        "bom-ref": project["name"],
        "name": project["name"],
        "version": ldpnb.__version__,
        "licenses": [{"expression": project["license"]}],
        "properties": [{"name": "sha256 of requirements.lock", "value": digest}],
    }
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [component(*line) for line in locked()],
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    BILL.write_text(bill(), encoding="utf-8")
