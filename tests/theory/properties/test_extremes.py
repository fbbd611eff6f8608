"""Every public formula over its whole range: no floating-point error, no silent NaN; and wrong numbers are refused by
name.

Arguments are drawn by their names, which mean the same everywhere in the package.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.privacy.shuffling import ShuffledReports
from properties.strategies import (
    domain_sizes,
    epsilons,
    examples,
    failures,
    inner_rates,
    logarithmic,
    rates,
    responses,
    users,
)

ROOMS = ("mechanisms", "privacy", "accuracy")

unit = st.sampled_from([0.0, 1e-9, 1.0]) | st.floats(0, 1)
positive = logarithmic(1e-6, 1e9)
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("epsilon", "group_epsilon", "epsilon_after"), epsilons),
    **dict.fromkeys(("sampling_rate", "rate", "neighbour_rate", "lowest_rate"), rates),
    **dict.fromkeys(("population", "records", "changed_size"), users),
    **dict.fromkeys(("upper", "sensitivity", "resolution", "other_size", "sd", "concentration"), positive),
    **dict.fromkeys(("deviation", "error", "distance", "alpha"), logarithmic(1e-6, 1e6)),
    **dict.fromkeys(("weight", "second_moment"), unit),
    **dict.fromkeys(("share", "bias", "keep"), inner_rates),
    **dict.fromkeys(("gap", "terms", "size"), users),
    "step": st.integers(1, 1000),
    **dict.fromkeys(("p", "q"), unit),
    "failure": failures,
    "delta": failures,
    "clients": users,
    "users": users,
    "domain_size": domain_sizes,
    "groups": domain_sizes,
    "mechanism": responses,
    "confusion": logarithmic(1e-9, 1e9) | st.just(0.0),
    "known_loss": epsilons,
    "gain": st.floats(0, 2),
    "variance": logarithmic(1e-12, 1e12),
    "threshold": logarithmic(1e-6, 1e6) | st.just(0.0),
    "neighbours": st.sampled_from(["deletion", "replacement"]),
}

ALSO_NAMED = {"domain_size"}
"""What an error may name besides an argument: a property of the mechanism that was given."""

INFINITE = {
    "accuracy.budgets.bit_epsilon_for_gain": "a gain of 1 or more needs an infinite budget",
    "accuracy.budgets.calibrated_epsilon_for_gain": "a gain of 1 or more needs an infinite budget",
    "accuracy.budgets.published_epsilon_for_gain": "a gain of 1 or more needs an infinite budget",
    "privacy.participation.participation_loss": "silence excludes a value at a rate of 1",
}
NOT_A_NUMBER = {"privacy.shuffling.closed_form": "outside the range of the published bound"}
WRONG = {
    **dict.fromkeys(
        ("epsilon", "group_epsilon", "epsilon_after", "upper", "sensitivity", "resolution"), (-1.0, np.inf)
    ),
    **dict.fromkeys(("sd", "concentration", "deviation", "error", "distance", "alpha"), (-1.0, np.inf)),
    **dict.fromkeys(("sampling_rate", "rate", "neighbour_rate", "lowest_rate", "failure", "delta"), (-0.1, 1.1)),
    **dict.fromkeys(("share", "bias", "p", "q", "weight", "second_moment", "keep"), (-0.1, 1.1)),
    **dict.fromkeys(("clients", "population", "records", "changed_size", "users"), (-1, 2.5)),
    **dict.fromkeys(("domain_size", "terms", "step"), (-1, 2.5)),
    **dict.fromkeys(("confusion", "known_loss", "variance", "threshold", "gain", "other_size", "gap", "size"), (-1,)),
}
MECHANISMS: dict[type, st.SearchStrategy[Any]] = {
    KaryRandomisedResponse: responses,
    DiscretisedMeans: st.builds(DiscretisedMeans, epsilons, epsilons),
    LaplaceMeans: st.builds(LaplaceMeans, epsilons, epsilons),
    SignedBit: st.builds(SignedBit, epsilons, st.just((3, 3))),
    SignedLaplace: st.builds(SignedLaplace, epsilons, st.just((3, 3))),
    **{kind: st.builds(kind, epsilons, positive) for kind in (OneBit, LocalLaplace, CentralLaplace)},
}
SMALLER: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "accuracy.means.laplace_sum_tail": {"users": logarithmic(1, 1e6).map(int)},
    "accuracy.means.success": {"users": logarithmic(1, 1e6).map(int)},
}
"""Where the whole range would take seconds."""

COSTLY = {
    "accuracy.means.users_for_certain",
    "privacy.best_channel.staircase_patterns",
}


def formulas() -> dict[str, Callable[..., Any]]:
    found = {}
    for room in ROOMS:
        package = importlib.import_module(f"ldpnb.{room}")
        for info in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"ldpnb.{room}.{info.name}")
            for name, function in vars(module).items():
                own = inspect.isfunction(function) and function.__module__ == module.__name__
                if own and not name.startswith("_") and needed(function) <= set(ARGUMENTS):
                    found[f"{room}.{info.name}.{name}"] = function
    return {name: function for name, function in found.items() if name not in COSTLY}


def needed(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.default is p.empty}


def arguments(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What a formula may be called with; a mechanism of the kind that its annotation names."""
    function = FORMULAS[name]
    drawn = {p: (ARGUMENTS | SMALLER.get(name, {}))[p] for p in sorted(needed(function))}
    if "mechanism" in drawn:
        kind = inspect.signature(function).parameters["mechanism"].annotation
        kinds = getattr(kind, "__args__", (kind,))
        drawn["mechanism"] = st.one_of([MECHANISMS.get(k, responses) for k in kinds])
    return st.fixed_dictionaries(drawn)


def numbers(result: Any) -> np.ndarray:
    if is_dataclass(result):
        return np.concatenate([numbers(getattr(result, f.name)) for f in fields(result)] or [np.empty(0)])
    if isinstance(result, tuple):
        return np.concatenate([numbers(part) for part in result])
    return np.ravel(np.asarray(result, dtype=float))


FORMULAS = formulas()


@pytest.mark.parametrize("name", FORMULAS)
@examples(4)
@given(data=st.data())
def test_a_formula_gives_a_number_everywhere(name: str, data: st.DataObject) -> None:
    function = FORMULAS[name]
    given_ = data.draw(arguments(name))
    try:
        result = numbers(function(**given_))
    except ValueError as error:
        if not any(p in str(error) for p in ALSO_NAMED | set(given_)):
            raise
        return
    assert name in NOT_A_NUMBER or not np.isnan(result).any()
    assert name in INFINITE or not np.isinf(result).any()


OBJECTS: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    SampledCounts: {},
    ShuffledReports: {"users": logarithmic(2, 1e6).map(int)},
}
"""Objects whose methods and properties are formulas, and ranges of their parameters that are smaller than usual."""


def methods() -> list[tuple[type, str]]:
    of_fields = {kind: {f.name for f in fields(kind)} for kind in OBJECTS}
    return [(k, name) for k in OBJECTS for name in vars(k) if not name.startswith("_") and name not in of_fields[k]]


@pytest.mark.parametrize(("kind", "name"), methods())
@examples(4)
@given(data=st.data())
def test_an_objects_formula_gives_a_number_everywhere(kind: type, name: str, data: st.DataObject) -> None:
    known = ARGUMENTS | OBJECTS[kind]
    holder = kind(**{f.name: data.draw(known[f.name]) for f in fields(kind) if f.default is MISSING})
    try:
        result = getattr(holder, name)
        if callable(result):
            known["holders"] = unit.map(lambda share: share * holder.users)
            result = result(**{p: data.draw(known[p]) for p in needed(result)})
    except ValueError as error:
        if "domain_size must be" not in str(error):  # a lower bound needs three values
            raise
        return
    assert np.isfinite(numbers(result)).all()


CHECKED = {
    name: function
    for name, function in FORMULAS.items()
    if needed(function) & set(WRONG) and not name.startswith("mechanisms.moves")
}


@pytest.mark.parametrize("name", CHECKED)
@examples(4)
@given(data=st.data())
def test_a_number_out_of_range_is_refused_by_name(name: str, data: st.DataObject) -> None:
    function = CHECKED[name]
    given_ = data.draw(arguments(name))
    wrong = data.draw(st.sampled_from(sorted(needed(function) & set(WRONG))))
    value = data.draw(st.sampled_from((np.nan, *WRONG[wrong])))
    with pytest.raises(ValueError, match=rf"\b({'|'.join(ALSO_NAMED | needed(function))})\b"):
        function(**given_ | {wrong: value})
