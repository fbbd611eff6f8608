"""The documentation of every simulator says that it protects nobody."""

import importlib
import pkgutil

import pytest

from ldpnb import mechanisms
from ldpnb.run.catalogue import home

DRAWS_NOTHING = "ldpnb.mechanisms.registry"
"""It only names the mechanisms of the other modules."""

MODULES = [info.name for info in pkgutil.iter_modules(mechanisms.__path__, "ldpnb.mechanisms.")]


@pytest.mark.parametrize("name", [name for name in MODULES if name != DRAWS_NOTHING])
def test_every_module_of_mechanisms_says_it_is_for_simulation_only(name: str) -> None:
    words = " ".join((importlib.import_module(name).__doc__ or "").split())
    assert "simulation only" in words
    assert "statistical generator" in words
    assert "floating point" in words


def test_the_readme_says_the_same() -> None:
    words = " ".join((home() / "README.md").read_text(encoding="utf-8").split())
    assert "made for study, not for deployment" in words
