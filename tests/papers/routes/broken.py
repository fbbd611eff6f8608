"""Formulas broken on purpose: by one per cent, in one place of their code, or on a part of the
domain.
"""

import ast
import inspect
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property
from types import CodeType, FunctionType
from typing import Any
from zlib import crc32

import numpy as np
from flint import arb

from ldpnb.arithmetic import Symbol
from ldpnb.claims.formulas import function_of, owner_of

Formula = Callable[..., Any]

SECONDS = 20
"""Processor time that a broken formula has, until it counts as noticed."""


# Ways of breaking a formula


def scaled(value: Any) -> Any:
    """Return what a formula returns, every real number in it one per cent too large."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, dict):
        return {key: scaled(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(scaled, value))
    if isinstance(value, tuple | list):
        return type(value)(map(scaled, value))
    if is_dataclass(value) and not isinstance(value, Symbol):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        real = {k: v for k, v in parts.items() if isinstance(v, float | np.ndarray | arb | Symbol)}
        return replace(value, **{name: scaled(part) for name, part in real.items()})
    return value * 1.01


def other_sign(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.BinOp(left, ast.Add(), right):
            return ast.BinOp(left, ast.Sub(), right)
        case ast.BinOp(left, ast.Sub(), right):
            return ast.BinOp(left, ast.Add(), right)
        case ast.UnaryOp(ast.USub(), operand):
            return operand
    return None


def other_factor(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as operator, right):
            twice = ast.BinOp(ast.Constant(2), ast.Mult(), right)
            return ast.BinOp(left, operator, twice)
    return None


def off_by_one(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Constant(int() as value) if not isinstance(value, bool):
            return ast.Constant(value + 1)
    return None


def exchanged(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.BinOp(left, ast.Div() | ast.Pow() | ast.Sub() as operator, right):
            return ast.BinOp(right, operator, left)
        case ast.BinOp(left, ast.Mult(), right):
            return ast.BinOp(left, ast.Div(), right)
        case ast.Call(function, [first, second, *rest], keywords):
            if not any(isinstance(part, ast.Starred) for part in (first, second)):
                return ast.Call(function, [second, first, *rest], keywords)
    return None


CODE = {
    "other sign": other_sign,
    "other factor": other_factor,
    "off by one": off_by_one,
    "exchanged": exchanged,
}
KINDS = ("one per cent", *CODE, "part of the domain")


class Change(ast.NodeTransformer):
    """Change one place of a function, and count the places that could be changed."""

    def __init__(self, change: Callable[[ast.AST], ast.expr | None], place: int = -1) -> None:
        self.change = change
        self.place = place
        self.places = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments):
            return node
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("checks."):
            return node

        changed = self.change(node)
        here = changed is not None and self.place == self.places
        self.places += changed is not None
        return changed if here else self.generic_visit(node)


def rewritten(function: Any, kind: str) -> Formula | None:
    """Return a function with one place of its code changed, chosen by its name, or None."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    definition.returns = None

    counted = Change(CODE[kind])
    counted.visit(ast.parse(ast.unparse(tree)))
    if not counted.places:
        return None

    place = crc32(function.__qualname__.encode()) % counted.places
    tree = ast.fix_missing_locations(Change(CODE[kind], place).visit(tree))
    return _compiled(function, tree)


def _compiled(function: Any, tree: ast.Module) -> Formula | None:
    """Return the function of that code, with the names that the original one knows."""
    code = compile(tree, "<broken>", "exec")
    made = next(part for part in code.co_consts if isinstance(part, CodeType))
    if made.co_freevars != function.__code__.co_freevars:
        return None

    broken = FunctionType(
        made, function.__globals__, made.co_name, function.__defaults__, function.__closure__
    )
    broken.__kwdefaults__ = function.__kwdefaults__
    return broken


def beyond(function: Formula) -> Formula:
    """Return a formula, one per cent too large where it is asked for larger numbers than at
    first.
    """
    first: list[float] = []

    def wrong(*args: Any, **kwargs: Any) -> Any:
        value = function(*args, **kwargs)
        size = magnitude([*args, *kwargs.values()])
        if size is None:
            return value
        first.append(size)
        return scaled(value) if size > first[0] * (1 + 1e-9) else value

    return wrong


def broken(path: str, kind: str) -> Formula | None:
    """Return a formula broken in a way, or None if its code has no place for that."""
    function = function_of(path)
    if kind == "one per cent":
        return lambda *args, **kwargs: scaled(function(*args, **kwargs))
    if kind == "part of the domain":
        return beyond(function)
    return rewritten(function, kind)


@cache
def ways(path: str) -> tuple[str, ...]:
    """The ways in which a formula can be broken, beginning with one that its name chooses."""
    possible = [kind for kind in KINDS if broken(path, kind)]
    first = crc32(path.rpartition(".")[2].encode()) % len(possible)
    return (*possible[first:], *possible[:first])


# What has become of the results


def magnitude(value: Any) -> float | None:
    """Return the sum of all numbers that a formula is asked for, or None if some are symbols."""
    if isinstance(value, Symbol | arb) or holds_objects(value):
        return None
    if isinstance(value, int | float | np.number | np.ndarray):
        return float(np.sum(value)) if np.asarray(value).dtype.kind in "iufb" else 0.0
    if is_dataclass(value):
        value = [getattr(value, field.name, 0) for field in fields(value)]

    parts = [magnitude(part) for part in value] if isinstance(value, tuple | list) else [0.0]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def holds_objects(value: Any) -> bool:
    """Return whether a value is an array of symbols or balls."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def differs(one: Any, other: Any, tolerance: float = 1e-6) -> bool:
    """Return whether two results are apart, by more than that part of the largest number."""
    if isinstance(other, Symbol):
        return not isinstance(one, Symbol) or one.expression != other.expression
    if isinstance(other, arb):
        return not arb(one).overlaps(other)
    if is_dataclass(other):
        names = {field.name for field in fields(other)}
        if "gap" in names:  # it certifies the rest, which an iteration found
            tolerance = 0.01
        names -= {"gap"}
        return any(differs(getattr(one, name), getattr(other, name), tolerance) for name in names)
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


# Putting a broken formula in place


@contextmanager
def in_place_of(path: str, wrong: Formula) -> Iterator[list[bool]]:
    """Put a broken formula in the place of the right one.

    Yields
    ------
    list
        It is empty until the broken formula has returned something else than the right one.
    """
    owner, name = owner_of(path)
    original = vars(owner)[name]
    right = function_of(path)
    moved: list[bool] = []

    def replacement(*args: Any, **kwargs: Any) -> Any:
        try:
            value = wrong(*args, **kwargs)
        except Exception:
            moved.append(True)
            raise
        if not moved and "rng" not in kwargs and differs(value, right(*args, **kwargs)):
            moved.append(True)
        return value

    stand_in: Any = replacement
    if isinstance(original, property | classmethod | staticmethod):
        stand_in = type(original)(replacement)
    elif isinstance(original, cached_property):
        stand_in = cached_property(replacement)
        stand_in.__set_name__(owner, name)

    holders = [names for names in known_names() if names.get(name) is original]
    forget()
    try:
        setattr(owner, name, stand_in)
        for names in holders:
            names[name] = stand_in
        yield moved
    finally:
        setattr(owner, name, original)
        for names in holders:
            names[name] = original
        forget()


def known_names() -> Iterator[dict[str, Any]]:
    """Yield the names of each module of the package and of the second routes."""
    for key, module in list(sys.modules.items()):
        if key.startswith(("ldpnb.", "test_")):
            yield vars(module)


def forget() -> None:
    """Clear what functions of the package keep of earlier calls."""
    for names in known_names():
        for thing in list(names.values()):
            if hasattr(thing, "cache_clear") and thing.__module__.startswith("ldpnb.papers"):
                thing.cache_clear()


class OutOfTimeError(BaseException):
    """A broken formula went on for too long; no handler of errors in between takes it."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Interrupt what takes more processor time."""

    def interrupt(*_: Any) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
