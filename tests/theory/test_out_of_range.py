"""Every public formula and class refuses a number out of its range by name, rule and value.

The ends of the range that its documentation names are taken.

Functions and classes are found by introspection, and an argument's name says its range: it means
the same everywhere in the package. A formula whose arguments are all in `RANGES` is tried; one with
an argument of unknown name fails the first test, which says what to add.
"""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import pytest
from arguments import documented, needed, public_formulas, unknown_arguments

from ldpnb.accuracy.gaps import GroupGap
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.biswas2022.formulas.personalised import PersonalRates
from ldpnb.papers.bun2022.formulas.allocation import Family, Outcomes, fixed, outcomes
from ldpnb.papers.bun2022.formulas.clusters import ClusterSample
from ldpnb.papers.lopuhaa2020.formulas.exact_risk import TwoValues


@dataclass(frozen=True)
class Range:
    """A value that an argument may have, and the numbers that it may not have, besides nan."""

    right: Any
    wrong: tuple[float, ...]


any_budget = Range(1.0, wrong=(0.0, -1.0, math.inf))
smaller_budget = Range(0.5, wrong=(-1.0, math.inf))
positive = Range(2.0, wrong=(0.0, -1.0, math.inf))
distance = Range(0.5, wrong=(-1.0, math.inf))
rate = Range(0.3, wrong=(0.0, 1.1))
chance = Range(0.2, wrong=(-0.1, 1.1))
inner_chance = Range(0.1, wrong=(0.0, 1.0))
number_of_users = Range(20, wrong=(0, 2.5))
several = Range(4, wrong=(1, 2.5))
not_negative = Range(2, wrong=(-1,))

RANGES: dict[str, Range] = {
    **dict.fromkeys(("epsilon", "group_epsilon", "value_epsilon"), any_budget),
    "epsilon_after": smaller_budget,
    **dict.fromkeys(("bound", "concentration", "k", "resolution", "scale"), positive),
    **dict.fromkeys(("sd", "sensitivity", "upper"), positive),
    **dict.fromkeys(("alpha", "deviation", "error"), distance),
    **dict.fromkeys(("lowest_rate", "neighbour_rate", "rate", "sampling_rate"), rate),
    "highest_rate": Range(0.6, wrong=(0.0, 1.1)),
    **dict.fromkeys(("bias", "delta", "failure", "keep", "share"), inner_chance),
    **dict.fromkeys(("inside", "neighbour_inside", "outside", "neighbour_outside"), chance),
    **dict.fromkeys(("q", "second_moment", "weight"), chance),
    "p": Range(0.7, wrong=(-0.1, 1.1)),
    **dict.fromkeys(("changed_size", "draws", "population", "records"), number_of_users),
    **dict.fromkeys(("terms", "users"), number_of_users),
    **dict.fromkeys(("domain_size", "groups"), several),
    "cells": Range(3, wrong=(1, 2.5)),
    "step": Range(3, wrong=(-1, 2.5)),
    **dict.fromkeys(("common", "confusion", "distance", "estimation_error"), not_negative),
    **dict.fromkeys(("gain", "gap", "holders", "known_loss", "other", "other_size"), not_negative),
    **dict.fromkeys(("size", "squared_estimation_error", "threshold", "variance"), not_negative),
    "mechanism": Range(KaryRandomisedResponse(1.0, 4), wrong=()),
    "subset_size": Range(1, wrong=()),
}
"""The range of an argument of each name."""

ENDS_INCLUDED: dict[str, dict[str, set[float]]] = {
    "privacy.hockey_stick.laplace_means_delta": {"epsilon": {0.0}},
    "privacy.shuffling.gaussian_delta": {"epsilon": {0.0}},
    "privacy.subsampling.srs_delta": {"delta": {0.0, 1.0}},
    "accuracy.histograms.central_laplace_largest_error": {"domain_size": {1}},
    "accuracy.histograms.unary_report_bits": {"domain_size": {1}},
    "accuracy.means.approximate_bit_variance": {"delta": {0.0, 1.0}},
    "accuracy.tails.kept_laplace_chernoff": {"keep": {1.0}},
}
"""Where a number that is wrong elsewhere is an end of the range."""

MECHANISMS = {
    DiscretisedMeans: DiscretisedMeans(1.0, 1.0),
    LaplaceMeans: LaplaceMeans(1.0, 1.0),
    OneBit: OneBit(1.0, 1.0),
    LocalLaplace: LocalLaplace(1.0, 1.0),
    CentralLaplace: CentralLaplace(1.0, 1.0),
    SignedBit: SignedBit(1.0, (3, 3)),
    SignedLaplace: SignedLaplace(1.0, (3, 3)),
}
"""What a formula is given that does not take k-ary randomised response."""

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

DRAWING = "mechanisms.moves."
"""The module of helpers whose callers have checked what they are given."""


def has_wrong_numbers(name: str) -> bool:
    return name in RANGES and bool(RANGES[name].wrong)


def formulas() -> dict[str, Callable[..., Any]]:
    """Return the functions whose arguments are all known, if one of them can be wrong."""
    functions = {}
    for name, function in public_formulas():
        if inspect.isfunction(function) and not name.startswith(DRAWING):
            arguments = [argument.name for argument in needed(function)]
            all_known = all(argument in RANGES for argument in arguments)
            if all_known and any(has_wrong_numbers(argument) for argument in arguments):
                functions[name] = function
    return functions


def checked_fields() -> list[tuple[type, str]]:
    """Return every class that checks its fields, with each field that can be wrong."""
    pairs = []
    for _, kind in public_formulas():
        if is_dataclass(kind) and hasattr(kind, "__post_init__"):
            names = [field.name for field in fields(kind)]
            pairs += [(kind, name) for name in names if has_wrong_numbers(name)]
    return pairs


FORMULAS = formulas()


def right_mechanism(function: Callable[..., Any]) -> Any:
    """Return a mechanism of the first class that a function's annotation allows."""
    annotation = inspect.signature(function).parameters["mechanism"].annotation
    first = getattr(annotation, "__args__", (annotation,))[0]
    return MECHANISMS.get(first, RANGES["mechanism"].right)


def test_every_argument_that_is_a_number_has_a_range() -> None:
    unknown = unknown_arguments(RANGES, where="RANGES in tests/theory/test_out_of_range.py")
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize(("kind", "field"), checked_fields())
def test_an_object_refuses_a_number_out_of_range_by_name(kind: type, field: str) -> None:
    right = {name: known.right for name, known in RANGES.items()} | FIELDS.get(kind, {})
    valid = kind(**{argument.name: right[argument.name] for argument in needed(kind)})

    for value in (math.nan, *RANGES[field].wrong):
        with pytest.raises(ValueError, match=rf"\b{field}\b.* must .*got .*{value}"):
            replace(valid, **{field: value})


def refusal(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Return why a function refuses its arguments; an empty text if it takes them."""
    try:
        function(**arguments)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_refuses_a_number_out_of_range_by_name(name: str) -> None:
    function = FORMULAS[name]
    arguments = {argument.name: RANGES[argument.name].right for argument in needed(function)}
    if "mechanism" in arguments:
        arguments["mechanism"] = right_mechanism(function)
    function(**arguments)

    # an error may name a property of the mechanism that was given
    named = "|".join({*arguments, "domain_size"})
    for argument in filter(has_wrong_numbers, arguments):
        accepted = ENDS_INCLUDED.get(name, {}).get(argument, set())
        for value in {math.nan, *RANGES[argument].wrong} - accepted:
            said = refusal(function, {**arguments, argument: value})
            assert said, (
                f"{name} takes {argument}={value}: refuse it by ldpnb.checks, or enter it in "
                "ENDS_INCLUDED if it is an end of the range"
            )
            assert re.search(rf"\b({named})\b", said)


NUMBER = r"(-?\d[\d.e]*)"
RULES_WITH_ENDS = (
    rf"\bat least {NUMBER}",
    rf"\bfrom {NUMBER} to ",
    rf"``>= {NUMBER}``",
    rf"``\[{NUMBER}, ",
    rf"``.\S+, {NUMBER}\]``",
)
"""How docstrings say that an end of a range is part of it. One that limits the work is left out."""


def documented_ends() -> dict[str, tuple[Callable[..., Any], str, float]]:
    """Return every formula and class that has such an argument, with the argument and the end."""
    cases = {}
    for name, function in public_formulas():
        own_fields = FIELDS.get(function, {})
        arguments = [argument.name for argument in needed(function)]
        if not all(argument in {*RANGES, *own_fields} for argument in arguments):
            continue

        entries = documented(function)
        for argument in arguments:
            if argument in entries and has_wrong_numbers(argument) and argument not in own_fields:
                rule, _, _ = entries[argument].text.rstrip(".").partition(". ")
                for pattern in RULES_WITH_ENDS:
                    for end in re.findall(pattern, rule):
                        cases[f"{name}, {argument}={end}"] = (function, argument, float(end))
    return cases


ENDS = documented_ends()


@pytest.mark.parametrize("case", ENDS)
def test_the_documented_ends_of_a_range_are_taken(case: str) -> None:
    function, argument, end = ENDS[case]
    known = {name: RANGES[name].right for name in RANGES} | FIELDS.get(function, {})
    arguments = {needed_one.name: known[needed_one.name] for needed_one in needed(function)}
    if "mechanism" in arguments and "mechanism" not in FIELDS.get(function, {}):
        arguments["mechanism"] = right_mechanism(function)

    said = refusal(function, {**arguments, argument: end})
    others = "|".join(set(arguments) - {argument})
    is_tied_to_others = others and re.search(rf"\b({others})\b", said)
    assert not said or is_tied_to_others, said
