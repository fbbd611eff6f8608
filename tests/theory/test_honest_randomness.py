"""Whoever reads of a simulator reads that it protects nobody."""

import importlib
import pkgutil

import pytest

from ldpnb import mechanisms
from ldpnb.run.catalogue import home

NAMES_OTHERS = "ldpnb.mechanisms.registry"
"""Draws nothing itself."""

MODULES = [
    name
    for _, name, _ in pkgutil.iter_modules(mechanisms.__path__, "ldpnb.mechanisms.")
    if name != NAMES_OTHERS
]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_of_mechanisms_says_it_is_for_simulation_only(name: str) -> None:
    words = " ".join((importlib.import_module(name).__doc__ or "").split())
    assert all(
        phrase in words for phrase in ("simulation only", "statistical generator", "floating point")
    )


def test_the_readme_says_the_same() -> None:
    words = " ".join((home() / "README.md").read_text(encoding="utf-8").split())
    assert "made for study, not for deployment" in words
