"""Every public formula over the whole box of settings, against itself in balls of 300 bits.

The box is epsilon in [1e-8, 700], domains of up to 1e6 values, up to 1e12 users, and rates in
[1e-12, 1]. Settings are drawn log-uniformly, both ends included, by fixed seeds; with
``LDPNB_THOROUGH=1`` by more of them, some of which are new in every run.

Functions, methods and properties are found by introspection. One whose arguments all have a range
in `RANGES` is tried; one with an argument of unknown name fails the first test, which says what to
add. The second way to a closed form is the same code on balls, which carry their error with them.
An algorithm that does not run on balls must return finite numbers of the right sign, in [0, 1] if
they are probabilities. Both may refuse a setting with a ValueError.
"""

import inspect
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import flint
import numpy as np
import pytest
from arguments import is_number, needed, public_formulas, public_members, unknown_arguments

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.rng import stream

THOROUGH = "LDPNB_THOROUGH" in os.environ
FIXED_SEEDS = 10 if THOROUGH else 4
FRESH_SEEDS = 4 if THOROUGH else 0

TOLERANCE = 1e-10
BITS = 300

SMALLEST = 1e-290
"""Below it floats lose digits by their range, which no formula can mend."""

Draw = Callable[[np.random.Generator], Any]


def log_uniform(low: float, high: float) -> Draw:
    """Draw a number between two ends on a logarithmic scale; one time in five, draw an end."""

    def draw(rng: np.random.Generator) -> float:
        number = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        inside = min(max(number, low), high)
        return [low, high, inside][rng.choice(3, p=[0.1, 0.1, 0.8])]

    return draw


def log_whole(low: int, high: int) -> Draw:
    draw = log_uniform(low, high)
    return lambda rng: round(draw(rng))


epsilons = log_uniform(1e-8, 700)
rates = log_uniform(1e-12, 1)
rates_below_one = log_uniform(1e-12, 1 - 1e-12)
users = log_whole(1, 10**12)
domain_sizes = log_whole(2, 10**6)
scales = log_uniform(1e-6, 1e6)

RANGES: dict[str, Draw] = {
    **dict.fromkeys(("epsilon", "group_epsilon", "value_epsilon", "epsilon_after"), epsilons),
    **dict.fromkeys(("common", "first", "known_loss", "other", "second"), epsilons),
    **dict.fromkeys(("lowest_rate", "neighbour_rate", "rate", "sampling_rate"), rates),
    **dict.fromkeys(("p", "q", "second_moment", "weight"), rates),
    **dict.fromkeys(("bias", "delta", "failure", "gain", "highest_rate"), rates_below_one),
    **dict.fromkeys(("keep", "share"), rates_below_one),
    **dict.fromkeys(("draws", "k", "population", "records", "terms", "users"), users),
    **dict.fromkeys(("changed_size", "gap", "size"), users),
    **dict.fromkeys(("domain_size", "groups"), domain_sizes),
    **dict.fromkeys(("subset_size", "step"), log_whole(1, 1000)),
    **dict.fromkeys(("deviation", "distance", "error", "sd", "variance"), scales),
    **dict.fromkeys(("alpha", "bound", "concentration", "confusion", "other_size"), scales),
    **dict.fromkeys(("resolution", "scale", "sensitivity", "threshold", "upper"), scales),
    **dict.fromkeys(("estimation_error", "squared_estimation_error"), scales),
}
"""From which range an argument of each name is drawn."""

ALSO_DRAWN = ("mechanism", "holders")
"""Arguments without a range: a mechanism is drawn by its own, and the holders among the users."""

FEW = {"users": log_whole(1, 60)}
NARROWER: dict[str, dict[str, Draw]] = {
    "lopuhaa2020.exact_risk.TwoValues.posteriors": FEW,
    "lopuhaa2020.exact_risk.TwoValues.risk": FEW,
    "lopuhaa2020.exact_risk.TwoValues.entropies": FEW,
    "accuracy.means.laplace_sum_tail": {"users": log_whole(1, 10**6)},
    "accuracy.means.largest_warner_constant": {"users": log_whole(1, 3)},
    "accuracy.means.users_for_certain": {
        "error": log_uniform(0.05, 1e6),
        "epsilon": log_uniform(0.1, 700),
    },
    "mechanisms.frequency.KaryRandomisedResponse.channel": {"domain_size": log_whole(2, 300)},
}
"""Smaller ranges for what lists every tally, or searches among as many as it would list."""

EXCEPTED = {
    "privacy.shuffling.closed_form": "is nan where the published bound says nothing",
    "bun2022.sizes.fixed_size": "has chances of 0, whose logarithms are -inf",
    "mechanisms.best_gap.BestGapChannel.variance": "is certified from 0.01 nats and shares of 1e-5",
}
"""What is not held to the whole box, and why."""


NO_CLOSED_FORM = (
    AttributeError,
    IndexError,
    NotImplementedError,
    OverflowError,
    TypeError,
    ValueError,
)
"""What a formula raises that does not run on balls: it counts, or lists what can happen."""


@dataclass(frozen=True)
class Formula:
    """A public function, or a public method or property of a class."""

    name: str
    owner: Any
    member: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def method(self) -> Callable[..., Any] | None:
        member = vars(self.owner)[self.member] if self.member else None
        return member if inspect.isfunction(member) else None


def is_drawable(argument: inspect.Parameter) -> bool:
    if argument.name in ALSO_DRAWN:
        return True
    return argument.name in RANGES and is_number(argument)


def is_tried(function: Callable[..., Any]) -> bool:
    return all(is_drawable(argument) for argument in needed(function))


def found() -> Iterator[Formula]:
    """Yield every formula whose arguments can all be drawn."""
    for name, thing in public_formulas():
        arguments = needed(thing)
        if not is_tried(thing):
            continue
        if inspect.isfunction(thing):
            names = {argument.name for argument in arguments}
            if "holders" not in names or "users" in names:
                yield Formula(name, thing)
        elif arguments:
            for member_name, member in public_members(thing):
                if isinstance(member, property) or is_tried(member):
                    yield Formula(f"{name}.{member_name}", thing, member_name)


@dataclass(frozen=True)
class Recipe:
    """An object by its class and arguments, so that it can be made of floats and of balls."""

    kind: type
    arguments: dict[str, Any]

    def make(self, cast: Callable[[Any], Any]) -> Any:
        return self.kind(**made(self.arguments, cast))


def made(arguments: dict[str, Any], cast: Callable[[Any], Any]) -> dict[str, Any]:
    """Return arguments whose numbers are cast, those of mechanisms as well."""
    return {
        name: value.make(cast) if isinstance(value, Recipe) else cast(value)
        for name, value in arguments.items()
    }


@dataclass(frozen=True)
class Case:
    """A formula with numbers for its arguments, and for those of its method if it is one."""

    formula: Formula
    arguments: dict[str, Any]
    method_arguments: dict[str, Any]

    def value(self, cast: Callable[[Any], Any]) -> Any:
        """Return the value of the formula for arguments that are cast, to balls for example."""
        result = self.formula.owner(**made(self.arguments, cast))
        if not self.formula.member:
            return result

        result = getattr(result, self.formula.member)
        if self.formula.method is None:
            return result
        return result(**made(self.method_arguments, cast))


def draw_arguments(
    function: Callable[..., Any], ranges: dict[str, Draw], rng: np.random.Generator
) -> dict[str, Any]:
    """Draw every argument that a function needs but the holders, who depend on the users."""
    arguments = {}
    for argument in needed(function):
        if argument.name == "mechanism":
            arguments["mechanism"] = draw_mechanism(argument.annotation, ranges, rng)
        elif argument.name != "holders":
            arguments[argument.name] = ranges[argument.name](rng)
    return arguments


def draw_mechanism(annotation: Any, ranges: dict[str, Draw], rng: np.random.Generator) -> Recipe:
    """Draw a mechanism of a class that the annotation allows."""
    allowed = getattr(annotation, "__args__", [annotation])
    kinds = [kind for kind in allowed if is_dataclass(kind) and needed(kind) and is_tried(kind)]
    kinds = kinds or [KaryRandomisedResponse]
    kind = kinds[rng.integers(len(kinds))]
    return Recipe(kind, draw_arguments(kind, ranges, rng))


def draw_holders(all_users: int, rng: np.random.Generator) -> int:
    """Draw how many of the users hold a value: none, all, all but one, or any number."""
    choices = [0, all_users, all_users - 1, int(all_users * rng.random())]
    return choices[rng.integers(len(choices))]


def draw_case(formula: Formula, rng: np.random.Generator) -> Case:
    ranges = {**RANGES, **NARROWER.get(formula.name, {})}
    arguments = draw_arguments(formula.owner, ranges, rng)
    if "holders" in inspect.signature(formula.owner).parameters:
        arguments["holders"] = draw_holders(arguments["users"], rng)
    if formula.method is None:
        return Case(formula, arguments, {})

    method_arguments = draw_arguments(formula.method, ranges, rng)
    if "holders" in inspect.signature(formula.method).parameters:
        method_arguments["holders"] = draw_holders(arguments["users"], rng)
    return Case(formula, arguments, method_arguments)


def numbers(result: Any) -> list[Any]:
    """Return all numbers in a result: an array, a dataclass, or a sequence of such."""
    if result is None or isinstance(result, str | bool):
        return []

    if is_dataclass(result):
        parts = [getattr(result, field.name) for field in fields(result)]
    elif isinstance(result, tuple | list):
        parts = list(result)
    else:
        return list(np.ravel(result))

    listed = []
    for part in parts:
        listed.extend(numbers(part))
    return listed


def in_floats(case: Case) -> list[Any] | None:
    """Return the numbers of a case in floats, or None where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return numbers(case.value(lambda number: number))
        except ValueError:
            return None


def in_balls(case: Case) -> list[flint.arb] | None:
    """Return the numbers of a case in balls, or None where the formula is no closed form."""
    try:
        balls = numbers(case.value(flint.arb))
    except NO_CLOSED_FORM:
        return None
    are_finite = all(isinstance(ball, flint.arb) and ball.is_finite() for ball in balls)
    return balls if are_finite else None


def relative_error(number: Any, ball: flint.arb) -> float:
    exact = float(ball.mid())
    if np.isinf(exact):
        return 0.0
    if abs(exact) < SMALLEST:
        return 0.0 if abs(float(number)) < 2 * SMALLEST else np.inf

    ball_is_vague = float(ball.rad()) > 1e-20 * abs(exact)
    if ball_is_vague:  # the terms cancel in the balls too: the value is as good as zero
        return 0.0
    return float(abs(flint.arb(float(number)) - ball) / abs(ball))


def assert_plausible(values: list[Any], case: Case) -> None:
    """Check the numbers of an algorithm for what its name says they are."""
    array = np.array(values, dtype=float)
    name = case.formula.name
    assert np.isfinite(array).all(), case

    if "variance" in name or "error" in name:
        assert (array >= 0).all(), case
    if any(word in name for word in ("delta", "total_variation", "advantage", "tail")):
        assert ((array >= 0) & (array <= 1)).all(), case


def seeds() -> list[int]:
    fresh = np.random.SeedSequence().generate_state(FRESH_SEEDS)
    return [*range(FIXED_SEEDS), *fresh.tolist()]


FORMULAS = [formula for formula in found() if formula.name not in EXCEPTED]


def test_every_argument_that_is_a_number_has_a_range() -> None:
    known = {*RANGES, *ALSO_DRAWN}
    unknown = unknown_arguments(known, where="RANGES in tests/theory/test_whole_box.py")
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_formula_keeps_its_digits_over_the_whole_box(formula: Formula) -> None:
    for seed in seeds():
        case = draw_case(formula, stream("whole box", formula.name, seed=seed))
        values = in_floats(case)
        if values is None:
            continue

        with flint.ctx.workprec(BITS):
            balls = in_balls(case)
            if balls is None or len(balls) != len(values):
                assert_plausible(values, case)
                continue

            for value, ball in zip(values, balls, strict=True):
                assert relative_error(value, ball) <= TOLERANCE, case
