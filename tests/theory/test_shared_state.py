"""What the package keeps and hands out again, nobody can change for others."""

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
from arguments import is_kind, public_formulas
from formulas import SHARED

import ldpnb
from ldpnb import BestGapChannel, absolute_interval

ROOMS = ("accuracy", "claims", "designs", "estimators", "mechanisms", "privacy", "survey")


def test_what_a_best_channel_keeps_is_read_only() -> None:
    best = BestGapChannel(1.0, 0.4)
    for kept in (best.weights, best.scores):
        with pytest.raises(ValueError, match="read-only"):
            kept *= 2


def test_to_change_an_interval_leaves_the_next_one_as_it_is() -> None:
    first = absolute_interval([0.0, 1.0, 10.0], 1.0, level=0.95)
    before = first.copy()
    first *= 2
    assert np.array_equal(absolute_interval([0.0, 1.0, 10.0], 1.0, level=0.95), before)


def is_searched(module_name: str) -> bool:
    room = module_name.split(".")[1]
    return room in ROOMS or ".tables" in module_name or ".formulas" in module_name


def public_tables() -> dict[str, Any]:
    """Return the public mappings that modules define or hand on, after their full names."""
    tables = {}
    for info in pkgutil.walk_packages(ldpnb.__path__, "ldpnb."):
        if not is_searched(info.name):
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            if name.isupper() and not name.startswith("_") and isinstance(value, Mapping):
                tables[f"{info.name.removeprefix('ldpnb.')}.{name}"] = value
    return tables


TABLES = public_tables()


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_only(name: str) -> None:
    table = TABLES[name]
    before = dict(table)
    with pytest.raises(TypeError):
        table["another"] = next(iter(before.values()))
    assert dict(table) == before


KINDS = {name: thing for name, thing in public_formulas(SHARED) if is_kind(thing)}


@pytest.mark.parametrize("name", KINDS)
def test_an_object_stays_as_it_was_when_it_was_checked(name: str) -> None:
    kind = KINDS[name]
    unfilled = object.__new__(kind)
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(unfilled, field.name, 1)
