"""What is kept for later, and shared by all who ask, nobody can change."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import ldpnb
from ldpnb import BestGapChannel
from ldpnb.estimators import gaps
from ldpnb.papers.biswas2022 import routes as biswas2022
from ldpnb.papers.juarez2022 import routes as juarez2022

KEPT: dict[str, Any] = {
    "regions": lambda: gaps._regions(0.05),
    "law of an error": lambda: juarez2022.error_law(1.0, 0.5),
    "reports": lambda: list(biswas2022.FIXED[0].outcomes),
    "best channel": lambda: cached(BestGapChannel(1.0, 0.4)),
}


def cached(given: Any) -> list[Any]:
    """Return what an object computes once."""
    return [
        getattr(given, name)
        for name, value in vars(type(given)).items()
        if isinstance(value, cached_property)
    ]


def arrays(kept: Any) -> list[np.ndarray]:
    if isinstance(kept, np.ndarray):
        return [kept] if kept.dtype.kind == "f" else []
    return (
        [array for part in kept for array in arrays(part)] if isinstance(kept, list | tuple) else []
    )


@pytest.mark.parametrize("name", KEPT)
def test_arrays_that_are_kept_are_read_only(name: str) -> None:
    kept = arrays(KEPT[name]())
    assert kept
    for array in kept:
        with pytest.raises(ValueError, match="read-only"):
            array *= 2


ROOMS = (
    "mechanisms",
    "estimators",
    "designs",
    "privacy",
    "accuracy",
    "survey",
    "guides",
    "claims",
)


def tables(name: str) -> dict[str, Any]:
    """Return the public tables that a module defines or hands on."""
    names = vars(importlib.import_module(name))
    return {
        key: value
        for key, value in names.items()
        if key.isupper() and key[0] != "_" and isinstance(value, Mapping)
    }


def modules() -> list[str]:
    every = [module.name for module in pkgutil.walk_packages(ldpnb.__path__, "ldpnb.")]
    return [
        name
        for name in every
        if name.split(".")[1] in ROOMS or (".tables" in name or ".formulas" in name)
    ]


@pytest.mark.parametrize("name", [name for name in modules() if tables(name)])
def test_registries_are_read_only(name: str) -> None:
    for key, registry in tables(name).items():
        before: Any = dict(registry)
        changed: Any = registry
        with pytest.raises(TypeError):
            changed["another"] = next(iter(before.values()))
        assert dict(registry) == before, key
