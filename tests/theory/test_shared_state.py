"""What the package keeps and hands out again, nobody can change for others."""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import ldpnb
from ldpnb import BestGapChannel, absolute_interval


@pytest.mark.parametrize("name", ["weights", "scores"])
def test_what_a_best_channel_keeps_is_read_only(name: str) -> None:
    kept = getattr(BestGapChannel(1.0, 0.4), name)
    with pytest.raises(ValueError, match="read-only"):
        kept *= 2


def test_to_change_an_interval_leaves_the_next_one_as_it_is() -> None:
    first = absolute_interval([0.0, 1.0, 10.0], 1.0, level=0.95)
    before = first.copy()
    first *= 2
    assert np.array_equal(absolute_interval([0.0, 1.0, 10.0], 1.0, level=0.95), before)


ROOMS = (
    "mechanisms",
    "estimators",
    "designs",
    "privacy",
    "accuracy",
    "survey",
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
