"""Every public formula over the whole box of settings, against itself in balls of 300 bits.

Epsilon in [1e-8, 700], domains up to 1e6, users up to 1e12, rates in [1e-12, 1]: log-uniform,
both ends included, by a fixed seeds, and fresh ones with ``LDPNB_THOROUGH=1``. Functions,
methods and properties are found by introspection and join by themselves as soon as all their
parameters have known names. A closed form is generic, so its value in floats is compared with
its value in balls; an algorithm must be finite, of the right sign, in [0, 1] if it is a
probability, or say clearly what it refuses. ``pytest -s`` shows the worst relative error of
each.
"""

import importlib
import inspect
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import flint
import formulas
import numpy as np

ROOMS = ("mechanisms", "accuracy", "privacy")
TOLERANCE = 1e-10
FIXED, FRESH = (10, 4) if "LDPNB_THOROUGH" in os.environ else (4, 0)
BITS = 300
SMALLEST = 1e-290
"""Below it floats lose digits by their range, which no formula can mend."""


def log_uniform(low: float, high: float) -> Callable[[np.random.Generator], float]:
    def draw(rng: np.random.Generator) -> float:
        number = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        return [low, high, min(max(number, low), high)][rng.choice(3, p=[0.1, 0.1, 0.8])]

    return draw


def log_whole(low: int, high: int) -> Callable[[np.random.Generator], int]:
    draw = log_uniform(low, high)
    return lambda rng: round(draw(rng))


epsilons, rates, inner = (
    log_uniform(1e-8, 700),
    log_uniform(1e-12, 1),
    log_uniform(1e-12, 1 - 1e-12),
)
users, sizes, scales = log_whole(1, 10**12), log_whole(2, 10**6), log_uniform(1e-6, 1e6)
DRAWN: dict[str, Callable[[np.random.Generator], Any]] = {
    **dict.fromkeys(
        ("epsilon", "group_epsilon", "value_epsilon", "epsilon_after", "known_loss"), epsilons
    ),
    **dict.fromkeys(("rate", "sampling_rate", "neighbour_rate", "lowest_rate"), rates),
    **dict.fromkeys(("bias", "failure", "delta", "share", "keep", "gain", "highest_rate"), inner),
    **dict.fromkeys(("users", "population", "records", "terms", "draws"), users),
    **dict.fromkeys(("domain_size", "groups"), sizes),
    **dict.fromkeys(
        ("upper", "sensitivity", "sd", "deviation", "error", "distance", "variance"), scales
    ),
    **dict.fromkeys(("p", "q", "weight", "second_moment"), rates),
    **dict.fromkeys(("scale", "concentration", "other_size", "confusion"), scales),
    **dict.fromkeys(
        (
            "alpha",
            "bound",
            "threshold",
            "resolution",
            "estimation_error",
            "squared_estimation_error",
        ),
        scales,
    ),
    **dict.fromkeys(("common", "other", "first", "second"), epsilons),
    **dict.fromkeys(("size", "gap", "changed_size"), users),
    **dict.fromkeys(("subset_size", "step"), log_whole(1, 1000)),
}

FEW = {"users": log_whole(1, 60)}
FEWER: dict[str, dict[str, Callable[[np.random.Generator], Any]]] = {
    **{
        f"papers.lopuhaa2020.formulas.exact_risk.TwoValues.{part}": FEW
        for part in ("posteriors", "risk", "entropies")
    },
    "accuracy.means.laplace_sum_tail": {"users": log_whole(1, 10**6)},
    "accuracy.means.largest_warner_constant": {"users": log_whole(1, 3)},
    "accuracy.means.users_for_certain": {
        "error": log_uniform(0.05, 1e6),
        "epsilon": log_uniform(0.1, 700),
    },
    "mechanisms.frequency.KaryRandomisedResponse.channel": {"domain_size": log_whole(2, 300)},
}
"""What lists every tally, or searches among as many as it would list, is tried on fewer."""

EXCEPTED = {
    "privacy.shuffling.closed_form": "not a number where the published bound says nothing, so that curves end",
    "papers.bun2022.formulas.sizes.fixed_size": "a law of sizes, whose logarithms are -inf but at one size",
    "mechanisms.best_gap.BestGapChannel.variance": "certified from 0.01 nats and shares of 1e-5 on",
}
"""What is not held to the whole box, and why."""


def found() -> Iterator[tuple[str, Any, str]]:
    """Yield what is tried: its name, the function or class, and the attribute of the latter."""
    for own in formulas.modules(ROOMS):
        for name, thing in list(vars(importlib.import_module(own)).items()):
            if name.startswith("_") or getattr(thing, "__module__", "") != own:
                continue
            full = f"{own.removeprefix('ldpnb.')}.{name}"
            if inspect.isfunction(thing) and known(
                thing, *["holders"] * ("users" in needed(thing))
            ):
                yield full, thing, ""
            elif is_dataclass(thing) and makeable(thing):
                yield from ((f"{full}.{part}", thing, part) for part in parts(thing))


def needed(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.name != "self"]


def known(function: Callable[..., Any], *more: str) -> bool:
    names = needed(function)
    kinds = [
        str(p.annotation)
        for p in inspect.signature(function).parameters.values()
        if p.name in names
    ]
    words = (
        "Sequence",
        "ndarray",
        "tuple",
        "ArrayLike",
        "_SupportsArray",
        "str",
    )  # numpy 2.5 calls it by its name
    several = any(word in kind for kind in kinds for word in words)
    return set(names) <= {*DRAWN, *more, "mechanism"} and (not several or "holders" in names)


def makeable(kind: type) -> bool:
    names = {f.name for f in fields(kind) if f.default is MISSING}
    return bool(names) and names <= {*DRAWN, "mechanism"}


def parts(kind: type) -> Iterator[str]:
    for name, part in list(vars(kind).items()):
        if name.startswith("_") or name in {f.name for f in fields(kind)}:
            continue
        if isinstance(part, property) or (inspect.isfunction(part) and known(part, "holders")):
            yield name


def draw(
    name: str, thing: Any, part: str, rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings of the function, or of the object and of its method."""
    from ldpnb.mechanisms.frequency import KaryRandomisedResponse

    def one(parameter: inspect.Parameter) -> Any:
        if parameter.name != "mechanism":
            return {**DRAWN, **FEWER.get(name, {})}[parameter.name](rng)
        several = [
            k
            for k in getattr(parameter.annotation, "__args__", [parameter.annotation])
            if is_dataclass(k)
        ]
        several = [k for k in several if makeable(k)] or [KaryRandomisedResponse]
        kind = several[rng.integers(len(several))]
        return Made(kind, draw(name, kind, "", rng)[0])

    parameters = inspect.signature(thing).parameters
    made = {key: one(parameters[key]) for key in needed(thing) if key != "holders"}
    if "holders" in parameters:
        made["holders"] = holders(made["users"], rng)
    if not part or isinstance(vars(thing)[part], property):
        return made, {}
    method = inspect.signature(vars(thing)[part]).parameters
    extra = {key: one(method[key]) for key in needed(vars(thing)[part]) if key != "holders"}
    if "holders" in method:
        extra["holders"] = holders(made["users"], rng)
    return made, extra


def holders(every: int, rng: np.random.Generator) -> int:
    return [0, every, every - 1, int(every * rng.random())][rng.integers(4)]


class Made:
    """An object by its class and settings, so that it can be made of floats and of balls."""

    def __init__(self, kind: type, settings: dict[str, Any]) -> None:
        self.kind, self.settings = kind, settings

    def __repr__(self) -> str:
        return f"{self.kind.__name__}({self.settings})"


def value(
    thing: Any, part: str, made: dict[str, Any], extra: dict[str, Any], cast: Callable[[Any], Any]
) -> Any:
    def build(setting: Any) -> Any:
        if isinstance(setting, Made):
            return setting.kind(**{key: build(inner) for key, inner in setting.settings.items()})
        return cast(setting)

    result = thing(**{key: build(setting) for key, setting in made.items()})
    if not part:
        return result
    result = getattr(result, part)
    return (
        result(**{key: build(setting) for key, setting in extra.items()})
        if callable(result)
        else result
    )


def numbers(result: Any) -> list[Any]:
    if result is None or isinstance(result, str | bool):
        return []
    if is_dataclass(result):
        return [n for f in fields(result) for n in numbers(getattr(result, f.name))]
    if isinstance(result, tuple | list):
        return [n for each in result for n in numbers(each)]
    return list(np.ravel(result))


def exactly(thing: Any, part: str, made: dict[str, Any], extra: dict[str, Any]) -> list[Any] | None:
    """Return the value in balls, or None where the function is no closed form."""
    try:
        balls = numbers(value(thing, part, made, extra, flint.arb))
    except (TypeError, AttributeError, ValueError, OverflowError, NotImplementedError):
        return None
    if not all(isinstance(ball, flint.arb) and ball.is_finite() for ball in balls):
        return None
    return balls


def relative_error(number: Any, ball: flint.arb) -> float:
    exact = float(ball.mid())
    if abs(exact) < SMALLEST or np.isinf(exact):
        return 0.0 if abs(float(number)) < 2 * SMALLEST or np.isinf(exact) else np.inf
    if float(ball.rad()) > 1e-20 * abs(exact):
        return 0.0  # the balls themselves cancel: zero, or as good as
    return float(abs(flint.arb(float(number)) - ball) / abs(ball))


def flaw(numbers_: list[Any], part: str) -> str:
    """Return what is wrong with an algorithm's numbers, whatever they mean."""
    array = np.array(numbers_, dtype=float)
    if not np.isfinite(array).all():
        return "not finite"
    if ("variance" in part or "error" in part) and (array < 0).any():
        return "negative"
    if (
        any(word in part for word in ("delta", "total_variation", "advantage", "tail"))
        and ((array < 0) | (array > 1)).any()
    ):
        return "not a probability"
    return ""


def test_the_whole_box() -> None:
    worst: dict[str, tuple[float, Any]] = defaultdict(lambda: (-1.0, None))
    flaws: dict[str, Any] = {}
    seeds = [np.random.default_rng(seed) for seed in range(FIXED)]
    fresh = np.random.SeedSequence().generate_state(FRESH).tolist()
    seeds += [np.random.default_rng(seed) for seed in fresh]
    before, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        for name, thing, part in found():
            for rng in seeds:
                made, extra = draw(name, thing, part, rng)
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        floats = numbers(value(thing, part, made, extra, lambda setting: setting))
                except (ValueError, OverflowError, RuntimeError, MemoryError, TypeError) as error:
                    if not isinstance(error, ValueError):
                        flaws[name] = (repr(error)[:100], made, extra)
                    continue
                balls = exactly(thing, part, made, extra)
                if balls is None or len(balls) != len(floats):
                    worst.setdefault(name, (-1.0, None))
                    if wrong := flaw(floats, name):
                        flaws[name] = (wrong, made, extra)
                    continue
                error_ = max(
                    (relative_error(n, b) for n, b in zip(floats, balls, strict=True)), default=0.0
                )
                if not error_ <= worst[name][0]:
                    worst[name] = (error_, (made, extra, floats))
    finally:
        flint.ctx.prec = before
    for name, (error_, _) in sorted(worst.items()):
        print(f"{name:70} {'algorithm' if error_ < 0 else f'{error_:.1e}'}")
    far = {
        name: found_
        for name, found_ in worst.items()
        if found_[0] > TOLERANCE or np.isnan(found_[0])
    }
    for name, what in (far | flaws).items():
        print(f"{name:70} {EXCEPTED[name]}" if name in EXCEPTED else f"WRONG {name} {what}")
    wrong = sorted((far | flaws).keys() - EXCEPTED.keys())
    assert not wrong, f"fresh seeds {fresh}"
