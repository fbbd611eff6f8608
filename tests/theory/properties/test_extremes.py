"""Every public formula over its whole range: numbers without floating-point errors, wrong arguments refused by name.

Arguments are drawn by their names, which mean the same everywhere in the package.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpnb.accuracy.allocation import Family, Outcomes, lottery, outcomes
from ldpnb.accuracy.exact_risk import TwoValues
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.accuracy.personalised import PersonalRates
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.clusters import ClusterSample
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
fewer = logarithmic(2, 1e6).map(int)
RANGES: tuple[tuple[str, st.SearchStrategy[Any], tuple[float, ...]], ...] = (
    ("epsilon group_epsilon value_epsilon", epsilons, (0.0, -1.0, np.inf)),
    ("epsilon_after", epsilons, (-1.0, np.inf)),
    ("upper sensitivity resolution sd concentration", positive, (0.0, -1.0, np.inf)),
    ("deviation error distance alpha", logarithmic(1e-6, 1e6), (-1.0, np.inf)),
    ("sampling_rate rate neighbour_rate lowest_rate", rates, (0.0, 1.1)),
    ("failure delta", failures, (0.0, 1.0)),
    ("inside neighbour_inside outside neighbour_outside", inner_rates, (-0.1, 1.1)),
    ("weight second_moment p q", unit, (-0.1, 1.1)),
    ("share bias keep", inner_rates, (0.0, 1.0)),
    ("users population records changed_size terms draws", users, (0, 2.5)),
    ("domain_size groups", domain_sizes, (1, 2.5)),
    ("step", st.integers(1, 1000), (-1, 2.5)),
    ("cells", st.integers(2, 3), (1, 2.5)),
    ("size", users, (-1,)),
    ("gap", users | st.just(0), (-1,)),
    ("other_size", positive, (-1,)),
    ("known_loss", epsilons, (-1,)),
    ("confusion", logarithmic(1e-9, 1e9) | st.just(0.0), (-1,)),
    ("threshold", logarithmic(1e-6, 1e6) | st.just(0.0), (-1,)),
    ("variance", logarithmic(1e-12, 1e12), (-1,)),
    ("gain", st.floats(0, 2), (-1,)),
    ("k", st.floats(2 / 3, 10), (0.0, -1.0, np.inf)),
    ("mechanism", responses, ()),
    ("neighbours", st.sampled_from(["deletion", "replacement"]), ()),
)
"""Arguments by name, what they are drawn from, and wrong numbers besides one that is not a number."""

ARGUMENTS = {name: drawn for names, drawn, _ in RANGES for name in names.split()}
WRONG = {name: wrong for names, _, wrong in RANGES for name in names.split() if wrong}
ALSO_NAMED = {"domain_size"}
"""What an error may name besides an argument: a property of the mechanism that was given."""

FOR_GAIN = ("calibrated_epsilon_for_gain", "published_epsilon_for_gain")
INFINITE = {
    **{f"accuracy.budgets.{name}": "a gain of 1 or more needs an infinite budget" for name in FOR_GAIN},
    "privacy.participation.participation_loss": "silence excludes a value at a rate of 1",
}
NOT_A_NUMBER = {"privacy.shuffling.closed_form": "outside the range of the published bound"}
MECHANISMS: dict[type, st.SearchStrategy[Any]] = {
    KaryRandomisedResponse: responses,
    DiscretisedMeans: st.builds(DiscretisedMeans, epsilons, epsilons),
    LaplaceMeans: st.builds(LaplaceMeans, epsilons, epsilons),
    SignedBit: st.builds(SignedBit, epsilons, st.just((3, 3))),
    SignedLaplace: st.builds(SignedLaplace, epsilons, st.just((3, 3))),
    **{kind: st.builds(kind, epsilons, positive) for kind in (OneBit, LocalLaplace, CentralLaplace)},
}
SMALLER = {"accuracy.means.laplace_sum_tail", "accuracy.means.success"}
"""Where a trillion users would take seconds."""

ENDS_INCLUDED: dict[str, dict[str, tuple[float, ...]]] = {
    "privacy.hockey_stick.laplace_means_delta": {"epsilon": (0.0,)},
    "privacy.shuffling.gaussian_delta": {"epsilon": (0.0,)},
    "privacy.subsampling.srs_delta": {"delta": (0.0, 1.0)},
    "accuracy.histograms.central_laplace_largest_error": {"domain_size": (1,)},
    "accuracy.histograms.unary_report_bits": {"domain_size": (1,)},
    "accuracy.means.approximate_bit_variance": {"delta": (0.0, 1.0)},
}
"""Where what is wrong elsewhere is an end of the range."""

COSTLY = {"accuracy.means.users_for_certain", "privacy.best_channel.staircase_patterns"}


def modules() -> list[ModuleType]:
    rooms = [importlib.import_module(f"ldpnb.{room}") for room in ROOMS]
    names = [f"{room.__name__}.{info.name}" for room in rooms for info in pkgutil.iter_modules(room.__path__)]
    return [importlib.import_module(name) for name in names]


def formulas() -> dict[str, Callable[..., Any]]:
    found = {}
    for module in modules():
        for name, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__ == module.__name__
            if own and not name.startswith("_") and needed(function) <= set(ARGUMENTS):
                found[f"{module.__name__.removeprefix('ldpnb.')}.{name}"] = function
    return {name: function for name, function in found.items() if name not in COSTLY}


def needed(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.default is p.empty}


def arguments(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What a formula may be called with; a mechanism of the kind that its annotation names."""
    function = FORMULAS[name]
    known = ARGUMENTS | ({"users": fewer} if name in SMALLER else {})
    drawn = {p: known[p] for p in sorted(needed(function))}
    if "mechanism" in drawn:
        kind = inspect.signature(function).parameters["mechanism"].annotation
        kinds = getattr(kind, "__args__", (kind,))
        drawn["mechanism"] = st.one_of([MECHANISMS.get(k, responses) for k in kinds])
    return st.fixed_dictionaries(drawn)


def numbers(result: Any) -> np.ndarray:
    if is_dataclass(result):
        return np.concatenate([numbers(getattr(result, f.name)) for f in fields(result)] or [np.empty(0)])
    if isinstance(result, dict):
        return numbers((*result, *result.values()))
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


PAIR = st.just((3, 3))
GROUPED = (DiscretisedMeans, LaplaceMeans, SignedBit, SignedLaplace)
TWO_STRATA = outcomes(Family((2, 3), (1.0, 2.0)), lottery((1, 1), (2, 2), 0.3))
LAW = (TWO_STRATA.values, TWO_STRATA.chances, TWO_STRATA.pairs)

OBJECTS: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    UnaryEncoding: {"p": st.floats(0.5, 1 - 1e-9), "q": st.floats(1e-9, 0.49)},
    SubsetSelection: {"subset_size": st.just(1)},
    SignedBit: {"sizes": PAIR},
    SignedLaplace: {"sizes": PAIR},
    GroupGap: {"sizes": PAIR, "mechanism": st.one_of([MECHANISMS[kind] for kind in GROUPED])},
    ClusterSample: {"sizes": st.lists(st.integers(1, 10**6), min_size=5, max_size=9), "chosen": st.integers(1, 4)},
    ShuffledReports: {"users": fewer},
    Family: {"sizes": st.just((2, 3)), "heights": st.tuples(positive, positive)},
    Outcomes: dict(zip(("values", "chances", "pairs"), map(st.just, LAW), strict=True)),
    TwoValues: {"users": st.integers(1, 100)},
    PersonalRates: {"sizes": PAIR, "rates": st.tuples(rates, rates)},
}
"""What the fields of an object are drawn from where `ARGUMENTS` does not say."""

METHOD_ARGUMENTS: dict[str, Callable[[Any], st.SearchStrategy[Any]]] = {
    "holders": lambda survey: unit.map(lambda share: share * np.asarray(getattr(survey, "sizes", survey.users))),
    **dict.fromkeys(("values", "sums", "reports"), lambda one: unit.map(lambda share: share * one.upper)),
    "outputs": lambda mechanism: st.just(np.ones((1, mechanism.domain_size), int)),
    "subset_size": lambda bounds: st.integers(1, bounds.domain_size - 1),
    "population": lambda family: st.sampled_from(family.populations),
    "rule": lambda family: st.just(lottery((1, 1), (2, 2), 0.3)),
    "group": lambda mechanism: st.integers(0, mechanism.groups - 1),
    "value": lambda mechanism: st.floats(-1, 1),
    "mechanism": lambda gap: MECHANISMS[DiscretisedMeans],
    "parameter": lambda signs: inner_rates,
    "record_rate": lambda design: rates,
    "centre": lambda survey: unit,
    "scale": lambda outcomes: positive,
    "size_factors": lambda gap: st.tuples(positive, positive),
    "jitter": lambda bounds: st.booleans(),
    **dict.fromkeys(("released", "exact", "second_moments"), lambda _: st.tuples(unit, unit)),
    **dict.fromkeys(("entropy", "log_information", "log_frequencies"), lambda _: st.floats(-50, 50)),
}
"""What the arguments of an object's methods are drawn from, given the object, where `ARGUMENTS` does not say."""

LISTING = {"channel", "outputs", "likelihood", "functions"}
"""What lists every value or output: for small domains."""

SUPPORTING = ("KaryRandomisedResponse", "UnaryEncoding", "SubsetSelection", "SignRandomiser", "LocalHashing")
BLANKET = ("of", "of_channel", "sampled", "delta_upper", "epsilon_upper", "excess")
OTHERWISE_TRIED = {
    "WorstMechanism.acceptance": "takes a sample of the mechanism that was found",
    **{f"{kind}.holders": "of whole tallies, by `unbiased` (test_estimators.py)" for kind in SUPPORTING},
    "BestRule.rule": "of a rule that `best_rule` found (test_beyond.py)",
    **{f"Blanket.{name}": "of a mechanism or a channel (test_beyond.py)" for name in BLANKET},
    "BestGapChannel.variance": "an optimum in floats, certified from 0.01 to 30 nats (test_beyond.py)",
}


def kinds() -> list[type]:
    """Return every frozen dataclass of the rooms."""
    found = [kind for module in modules() for kind in vars(module).values() if inspect.isclass(kind)]
    own = {kind: None for kind in found if is_dataclass(kind) and kind.__module__.split(".")[1] in ROOMS}
    return list(own)


def methods() -> dict[str, tuple[type, str]]:
    """Return the public properties and methods of all objects, but for those that draw at random."""
    found = {}
    for kind in kinds():
        for name in vars(kind).keys() - {f.name for f in fields(kind)}:
            formula = getattr(kind, name)
            draws = callable(formula) and "rng" in inspect.signature(formula).parameters
            if not name.startswith("_") and not draws:
                found[f"{kind.__name__}.{name}"] = (kind, name)
    return {name: found[name] for name in sorted(found.keys() - OTHERWISE_TRIED.keys())}


def objects(kind: type, listing: bool = False) -> st.SearchStrategy[Any]:
    known = ARGUMENTS | OBJECTS.get(kind, {}) | ({"domain_size": st.integers(2, 8)} if listing else {})
    needed_fields = [f.name for f in fields(kind) if f.default is MISSING]
    return st.builds(kind, **{name: known[name] for name in needed_fields})


METHODS = methods()


@pytest.mark.parametrize("name", METHODS)
@examples(4)
@given(data=st.data())
def test_an_objects_formula_gives_a_number_everywhere(name: str, data: st.DataObject) -> None:
    kind, formula = METHODS[name]
    holder = data.draw(objects(kind, formula in LISTING))
    result = getattr(holder, formula)
    if callable(result):
        wanted = sorted(needed(result))
        given_ = {p: data.draw(METHOD_ARGUMENTS[p](holder) if p in METHOD_ARGUMENTS else ARGUMENTS[p]) for p in wanted}
        names = "|".join(ALSO_NAMED | set(given_) | {f.name for f in fields(kind)})
        try:
            result = result(**given_)
        except (TypeError, ValueError) as error:
            if not re.search(rf"\b({names})\b.* must ", str(error)):
                raise
            return
    assert np.isfinite(numbers(result)).all()


CONSTRUCTED = [
    (kind, f.name) for kind in kinds() for f in fields(kind) if f.name in WRONG and "__post_init__" in vars(kind)
]


@pytest.mark.parametrize(("kind", "field"), CONSTRUCTED)
@examples(1)
@given(data=st.data())
def test_an_object_refuses_a_number_out_of_range_by_name(kind: type, field: str, data: st.DataObject) -> None:
    holder = data.draw(objects(kind))
    for value in (np.nan, *WRONG[field]):
        with pytest.raises(ValueError, match=rf"\b{field}\b.* must .*got .*{value}"):
            replace(holder, **{field: value})


CHECKED = {
    name: function
    for name, function in FORMULAS.items()
    if needed(function) & set(WRONG) and not name.startswith("mechanisms.moves")
}


@pytest.mark.parametrize("name", CHECKED)
@examples(1)
@given(data=st.data())
def test_a_number_out_of_range_is_refused_by_name(name: str, data: st.DataObject) -> None:
    function = CHECKED[name]
    given_ = data.draw(arguments(name))
    for wrong in sorted(needed(function) & set(WRONG)):
        for value in {np.nan, *WRONG[wrong]} - set(ENDS_INCLUDED.get(name, {}).get(wrong, ())):
            with pytest.raises(ValueError, match=rf"\b({'|'.join(ALSO_NAMED | needed(function))})\b"):
                function(**given_ | {wrong: value})
