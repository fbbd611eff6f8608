"""Break a formula on purpose, and put the broken one in the place of the right one.

A verdict is worth something only if it would change when a formula is wrong. So the tests in
`test_broken_formulas.py` make the formulas wrong, one at a time, and demand that something notices.
This file does the breaking.

A worked example. A simple random sample of half of the records, at epsilon = ln 5, loses
``srs_loss(ln 5, 1/2) = ln(1 + (5 - 1)/2) = ln 3 = 1.0986``. The code ends with
``return log_mixed(rate, epsilon)``. Three of the six ways in `WAYS` can break it:

- "one per cent" returns 1.01 times the right number, which is 1.1096;
- "exchanged" ends with ``return log_mixed(epsilon, rate)``, which is 0.7149;
- "part of the domain" is right on the first call, and returns 1.01 times the right number when it
  is asked for larger arguments later, such as a rate of 0.9.

The other three ways change a sum, a minus sign or a whole number, and this code has none.

Who must notice? Theorem 2.2 of Bun et al. (2022) rests on the formula. Its check compares the
formula with an event that attains the bound, so the check must fail. A second route computes the
loss of the worst mechanism by optimisation (`test_bun2022_section_2.py`), so that test must fail,
too. One of the two is enough. If neither failed, the number in the verdict could be wrong today.
"""

import ast
import inspect
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from types import CodeType, FunctionType
from typing import Any
from zlib import crc32

import numpy as np
from flint import arb

from ldpnb.arithmetic import Symbol
from ldpnb.claims.formulas import function_of, owner_of

Formula = Callable[..., Any]

Rewrite = Callable[[ast.AST], ast.expr | None]
"""Returns what a piece of code becomes, or None if it stays as it is."""

SECONDS = 20
"""Processor time that a broken formula may take; after that it counts as noticed."""


# Ways to break the result of a formula


def one_per_cent_larger(value: Any) -> Any:
    """Return the result of a formula with every real number in it one per cent too large."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, dict):
        return {key: one_per_cent_larger(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # a named tuple
        return type(value)(*map(one_per_cent_larger, value))
    if isinstance(value, tuple | list):
        return type(value)(map(one_per_cent_larger, value))
    if is_dataclass(value) and not isinstance(value, Symbol):
        return with_larger_fields(value)
    return value * 1.01


def with_larger_fields(result: Any) -> Any:
    """Return a result object with its real numbers one per cent too large."""
    larger = {}
    for field in fields(result):
        number = getattr(result, field.name)
        if isinstance(number, float | np.ndarray | arb | Symbol):
            larger[field.name] = one_per_cent_larger(number)
    return replace(result, **larger)


def wrong_for_larger_arguments(formula: Formula) -> Formula:
    """Return a formula that is one per cent too large for larger arguments than its first ones."""
    sizes: list[float] = []

    def wrong(*args: Any, **kwargs: Any) -> Any:
        value = formula(*args, **kwargs)
        size = sum_of_numbers([*args, *kwargs.values()])
        if size is None:
            return value

        sizes.append(size)
        is_larger = size > sizes[0] * (1 + 1e-9)
        return one_per_cent_larger(value) if is_larger else value

    return wrong


def sum_of_numbers(value: Any) -> float | None:
    """Return the sum of all numbers in the arguments, or None if some of them are symbols."""
    if isinstance(value, Symbol | arb) or holds_objects(value):
        return None
    if isinstance(value, int | float | np.number | np.ndarray):
        is_numeric = np.asarray(value).dtype.kind in "iufb"
        return float(np.sum(value)) if is_numeric else 0.0

    if is_dataclass(value):
        value = [getattr(value, field.name, 0) for field in fields(value)]
    if not isinstance(value, tuple | list):
        return 0.0

    total = 0.0
    for part in value:
        number = sum_of_numbers(part)
        if number is None:
            return None
        total += number
    return total


def holds_objects(value: Any) -> bool:
    """Return whether a value is an array of symbols or of balls."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


# Ways to break the code of a formula


def other_sign(node: ast.AST) -> ast.expr | None:
    """``a + b`` becomes ``a - b``, ``a - b`` becomes ``a + b``, and ``-a`` becomes ``a``."""
    match node:
        case ast.BinOp(left, ast.Add(), right):
            return ast.BinOp(left, ast.Sub(), right)
        case ast.BinOp(left, ast.Sub(), right):
            return ast.BinOp(left, ast.Add(), right)
        case ast.UnaryOp(ast.USub(), operand):
            return operand
    return None


def other_factor(node: ast.AST) -> ast.expr | None:
    """``a + b`` becomes ``a + 2 * b``, and ``a - b`` becomes ``a - 2 * b``."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as operator, right):
            twice = ast.BinOp(ast.Constant(2), ast.Mult(), right)
            return ast.BinOp(left, operator, twice)
    return None


def off_by_one(node: ast.AST) -> ast.expr | None:
    """``2`` becomes ``3``."""
    match node:
        case ast.Constant(int() as value) if not isinstance(value, bool):
            return ast.Constant(value + 1)
    return None


def exchanged(node: ast.AST) -> ast.expr | None:
    """``a / b`` becomes ``b / a``, ``a * b`` becomes ``a / b``, ``f(a, b)`` becomes ``f(b, a)``."""
    match node:
        case ast.BinOp(left, ast.Div() | ast.Pow() | ast.Sub() as operator, right):
            return ast.BinOp(right, operator, left)
        case ast.BinOp(left, ast.Mult(), right):
            return ast.BinOp(left, ast.Div(), right)
        case ast.Call(function, [first, second, *rest], keywords):
            is_unpacked = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
            if not is_unpacked:
                return ast.Call(function, [second, first, *rest], keywords)
    return None


REWRITES: dict[str, Rewrite] = {
    "other sign": other_sign,
    "other factor": other_factor,
    "off by one": off_by_one,
    "exchanged": exchanged,
}

WAYS = ("one per cent", *REWRITES, "part of the domain")


class OnePlace(ast.NodeTransformer):
    """Rewrites one place in the code of a function, and counts the places that it could rewrite.

    Messages of errors, assertions, checks of arguments and defaults are left alone: they are no
    part of the formula.
    """

    def __init__(self, rewrite: Rewrite, place: int | None = None) -> None:
        self.rewrite = rewrite
        self.place = place
        self.places_seen = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments):
            return node
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("checks."):
            return node

        changed = self.rewrite(node)
        if changed is None:
            return self.generic_visit(node)

        is_here = self.place == self.places_seen
        self.places_seen += 1
        return changed if is_here else self.generic_visit(node)


def rewritten(function: Any, way: str) -> Formula | None:
    """Return the function with one place of its code changed, or None if there is no such place.

    The name of the function chooses the place, so that it is the same in every run.
    """
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    definition.returns = None

    counter = OnePlace(REWRITES[way])
    counter.visit(ast.parse(ast.unparse(tree)))
    if counter.places_seen == 0:
        return None

    place = crc32(function.__qualname__.encode()) % counter.places_seen
    changed = OnePlace(REWRITES[way], place).visit(tree)
    return compiled(ast.fix_missing_locations(changed), function)


def compiled(tree: ast.Module, original: Any) -> Formula | None:
    """Return the function of that code, which sees the globals and closure of the original one."""
    module = compile(tree, "<broken>", "exec")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    if code.co_freevars != original.__code__.co_freevars:
        return None

    function = FunctionType(
        code,
        original.__globals__,
        code.co_name,
        original.__defaults__,
        original.__closure__,
    )
    function.__kwdefaults__ = original.__kwdefaults__
    return function


# One formula, broken in one way


def broken(path: str, way: str) -> Formula | None:
    """Return a formula broken in one of the `WAYS`, or None if it cannot be broken like that."""
    formula = function_of(path)
    if way == "part of the domain":
        return wrong_for_larger_arguments(formula)
    if way != "one per cent":
        return rewritten(formula, way)

    def wrong(*args: Any, **kwargs: Any) -> Any:
        return one_per_cent_larger(formula(*args, **kwargs))

    return wrong


@cache
def possible_ways(path: str) -> tuple[str, ...]:
    """Return the ways in which a formula can be broken, from one that its name chooses."""
    possible = [way for way in WAYS if broken(path, way) is not None]
    name = path.rpartition(".")[2]
    start = crc32(name.encode()) % len(possible)
    return (*possible[start:], *possible[:start])


# Did the broken formula return another number?


def differs(one: Any, other: Any, tolerance: float = 1e-6) -> bool:
    """Return whether two results are further apart than that part of the largest number."""
    if isinstance(other, Symbol):
        return not isinstance(one, Symbol) or one.expression != other.expression
    if isinstance(other, arb):
        return not arb(one).overlaps(other)
    if is_dataclass(other):
        return fields_differ(one, other, tolerance)
    if isinstance(other, dict):
        return any(differs(one[key], other[key], tolerance) for key in other)
    if isinstance(other, tuple | list) or holds_objects(other):
        pairs = zip(np.ravel(one), np.ravel(other), strict=True)
        return any(differs(*pair, tolerance) for pair in pairs)
    if isinstance(other, float | np.floating | np.ndarray):
        finite = np.abs(np.where(np.isfinite(other), other, 0.0))
        largest = float(np.max(finite, initial=0.0))
        return not np.allclose(one, other, rtol=0, atol=tolerance * largest, equal_nan=True)
    return False


def fields_differ(one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two result objects differ in a field.

    A result that has a ``gap`` was found by an iteration, and its gap certifies the other fields.
    Two such results may differ by one per cent, and their gaps by any number.
    """
    names = {field.name for field in fields(other)}
    if "gap" in names:
        names.remove("gap")
        tolerance = 0.01
    return any(differs(getattr(one, name), getattr(other, name), tolerance) for name in names)


# The broken formula in the place of the right one


@dataclass(slots=True)
class Trial:
    """What is known about a broken formula while it stands in the place of the right one.

    Attributes
    ----------
    changed_a_number : bool
        Whether it has returned another number than the right one, or raised an error.
    """

    changed_a_number: bool = False


@contextmanager
def in_place_of(path: str, wrong: Formula) -> Iterator[Trial]:
    """Put a broken formula in the place of the right one, in every module that knows it."""
    owner, name = owner_of(path)
    original = vars(owner)[name]
    right = function_of(path)
    trial = Trial()

    def observed(*args: Any, **kwargs: Any) -> Any:
        try:
            value = wrong(*args, **kwargs)
        except Exception:
            trial.changed_a_number = True
            raise

        is_random = "rng" in kwargs  # a second call would draw other numbers
        if not trial.changed_a_number and not is_random:
            trial.changed_a_number = differs(value, right(*args, **kwargs))
        return value

    stand_in: Any = observed
    if isinstance(original, property | classmethod | staticmethod):
        stand_in = type(original)(observed)
    elif isinstance(original, cached_property):
        stand_in = cached_property(observed)
        stand_in.__set_name__(owner, name)

    importers = [names for names in global_names() if names.get(name) is original]
    forget_results()
    try:
        setattr(owner, name, stand_in)
        for names in importers:
            names[name] = stand_in
        yield trial
    finally:
        setattr(owner, name, original)
        for names in importers:
            names[name] = original
        forget_results()


def global_names() -> Iterator[dict[str, Any]]:
    """Yield the global names of each module of the package and of the second routes."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(("ldpnb.", "test_")):
            yield vars(module)


def forget_results() -> None:
    """Clear the caches of the papers' functions, which hold results of the right formulas."""
    for names in global_names():
        for thing in list(names.values()):
            if hasattr(thing, "cache_clear") and thing.__module__.startswith("ldpnb.papers"):
                thing.cache_clear()


class OutOfTimeError(BaseException):
    """A broken formula takes too long. It is no `Exception`, so that no handler swallows it."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise `OutOfTimeError` when that much processor time has passed."""

    def interrupt(*_: Any) -> None:
        raise OutOfTimeError

    previous = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
