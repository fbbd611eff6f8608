"""Every public formula and object refuses a number out of its range by name, rule and value.

Functions and classes are found by introspection and join by themselves as soon as all their
parameters have known names, which mean the same everywhere in the package.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from formulas import modules as modules_of_formulas

from ldpnb.accuracy.gaps import GroupGap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.bun2022.formulas.allocation import Family, Outcomes, fixed, outcomes
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues

ROOMS = ("mechanisms", "privacy", "accuracy")
RANGES: tuple[tuple[str, Any, tuple[float, ...]], ...] = (
    ("epsilon group_epsilon value_epsilon", 1.0, (0.0, -1.0, np.inf)),
    ("epsilon_after", 0.5, (-1.0, np.inf)),
    ("upper sensitivity resolution sd concentration k", 2.0, (0.0, -1.0, np.inf)),
    ("deviation error alpha", 0.5, (-1.0, np.inf)),
    ("sampling_rate rate neighbour_rate lowest_rate", 0.3, (0.0, 1.1)),
    ("failure delta share bias keep", 0.1, (0.0, 1.0)),
    ("inside neighbour_inside outside neighbour_outside weight second_moment q", 0.2, (-0.1, 1.1)),
    ("p", 0.7, (-0.1, 1.1)),
    ("users population records changed_size terms draws", 20, (0, 2.5)),
    ("domain_size groups", 4, (1, 2.5)),
    ("step", 3, (-1, 2.5)),
    ("cells", 3, (1, 2.5)),
    ("size gap distance other_size known_loss confusion threshold variance gain", 2, (-1,)),
    ("mechanism", KaryRandomisedResponse(1.0, 4), ()),
    ("subset_size", 1, ()),
)
"""Arguments by name, a right one, and wrong numbers besides one that is not a number."""

RIGHT = {name: right for names, right, _ in RANGES for name in names.split()}
WRONG = {name: wrong for names, _, wrong in RANGES for name in names.split() if wrong}
ALSO_NAMED = {"domain_size"}
"""What an error may name besides an argument: a property of the mechanism that was given."""

MECHANISMS = {
    kind: kind(1.0, *more)
    for kind, *more in (
        *(
            (kind, 1.0)
            for kind in (DiscretisedMeans, LaplaceMeans, OneBit, LocalLaplace, CentralLaplace)
        ),
        *((kind, (3, 3)) for kind in (SignedBit, SignedLaplace)),
    )
}
STRATA = outcomes(Family((2, 3), (1.0, 2.0)), fixed((1, 2)))
FIELDS: dict[type, dict[str, Any]] = {
    SignedBit: {"sizes": (3, 3)},
    SignedLaplace: {"sizes": (3, 3)},
    GroupGap: {"sizes": (3, 3), "mechanism": MECHANISMS[DiscretisedMeans]},
    ClusterSample: {"sizes": [5, 1, 4, 2, 3], "chosen": 2},
    Family: {"sizes": (2, 3), "heights": (1.0, 2.0)},
    Outcomes: {"values": STRATA.values, "chances": STRATA.chances, "pairs": STRATA.pairs},
    PersonalRates: {"sizes": (3, 3), "rates": (0.2, 0.7)},
    TwoValues: {"users": 10},
}
"""Fields that `RANGES` does not say, or not so small."""

ENDS_INCLUDED: dict[str, dict[str, tuple[float, ...]]] = {
    "privacy.hockey_stick.laplace_means_delta": {"epsilon": (0.0,)},
    "privacy.shuffling.gaussian_delta": {"epsilon": (0.0,)},
    "privacy.subsampling.srs_delta": {"delta": (0.0, 1.0)},
    "accuracy.histograms.central_laplace_largest_error": {"domain_size": (1,)},
    "accuracy.histograms.unary_report_bits": {"domain_size": (1,)},
    "accuracy.means.approximate_bit_variance": {"delta": (0.0, 1.0)},
}
"""Where what is wrong elsewhere is an end of the range."""


def modules() -> list[ModuleType]:
    return [importlib.import_module(name) for name in modules_of_formulas(ROOMS)]


def needed(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name for p in parameters if p.default is p.empty}


def formulas() -> dict[str, Callable[..., Any]]:
    """Return the public functions whose arguments are known, one of them a number with wrong
    values.
    """
    functions = {}
    for module in modules():
        for name, function in vars(module).items():
            own = (
                inspect.isfunction(function)
                and function.__module__ == module.__name__
                and not name.startswith("_")
            )
            if own and needed(function) <= set(RIGHT) and needed(function) & set(WRONG):
                functions[f"{module.__name__.removeprefix('ldpnb.')}.{name}"] = function
    return {
        name: function
        for name, function in functions.items()
        if not name.startswith("mechanisms.moves")
    }


def kinds() -> list[type]:
    """Return every frozen dataclass of the rooms that checks its fields."""
    classes = [
        kind for module in modules() for kind in vars(module).values() if inspect.isclass(kind)
    ]
    own = {
        kind: None
        for kind in classes
        if is_dataclass(kind) and kind.__module__ in modules_of_formulas(ROOMS)
    }
    return [
        kind for kind in own if hasattr(kind, "__post_init__") and not kind.__name__.startswith("_")
    ]


FORMULAS = formulas()
CONSTRUCTED = [(kind, f.name) for kind in kinds() for f in fields(kind) if f.name in WRONG]


@pytest.mark.parametrize(("kind", "field"), CONSTRUCTED)
def test_an_object_refuses_a_number_out_of_range_by_name(kind: type, field: str) -> None:
    known = RIGHT | FIELDS.get(kind, {})
    holder = kind(**{f.name: known[f.name] for f in fields(kind) if f.default is MISSING})
    for value in (np.nan, *WRONG[field]):
        with pytest.raises(ValueError, match=rf"\b{field}\b.* must .*got .*{value}"):
            replace(holder, **{field: value})


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_refuses_a_number_out_of_range_by_name(name: str) -> None:
    function = FORMULAS[name]
    arguments = {p: RIGHT[p] for p in needed(function)}
    if "mechanism" in arguments:
        annotation = inspect.signature(function).parameters["mechanism"].annotation
        arguments["mechanism"] = MECHANISMS.get(
            getattr(annotation, "__args__", (annotation,))[0], RIGHT["mechanism"]
        )
    function(**arguments)
    for wrong in sorted(arguments.keys() & set(WRONG)):
        for value in {np.nan, *WRONG[wrong]} - set(ENDS_INCLUDED.get(name, {}).get(wrong, ())):
            with pytest.raises(ValueError, match=rf"\b({'|'.join(ALSO_NAMED | set(arguments))})\b"):
                function(**arguments | {wrong: value})
