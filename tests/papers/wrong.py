"""Formulas made wrong: by one per cent, and in kind, by changing one place of their code."""

import ast
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from types import CodeType, FunctionType
from typing import Any
from zlib import crc32

import numpy as np
from flint import arb

from ldpnb.arithmetic import Symbol, is_exact

TRIES = 6
"""Changes of the code tried until one changes what a check computes; after them the result is one too large."""
SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add}
IDLE = (ast.Raise, ast.Assert, ast.JoinedStr)


def owner_of(path: str) -> tuple[Any, str]:
    """The module or class that holds the formula of that path below ``ldpnb``, and its name there."""
    owner, _, name = path.rpartition(".")
    return pkgutil.resolve_name(f"ldpnb.{owner}"), name


def wrong_result(result: Any, change: Callable[[Any], Any] = lambda number: number * 1.01) -> Any:
    """What a formula returns, every number of it changed, by one per cent if nothing else is said."""
    if isinstance(result, bool | np.bool_ | str) or result is None:
        raise TypeError(f"a formula returning {result!r} needs a control of its own")
    if isinstance(result, dict):
        return {key: wrong_result(value, change) for key, value in result.items()}
    if isinstance(result, tuple | list) and not hasattr(result, "_fields"):
        return type(result)(wrong_result(value, change) for value in result)
    if is_dataclass(result):
        numbers = {f.name: getattr(result, f.name) for f in fields(result)}
        real = {
            k: v for k, v in numbers.items() if isinstance(v, float | np.ndarray | arb | Symbol)
        }
        return replace(
            result, **{name: wrong_result(value, change) for name, value in real.items()}
        )
    return change(result)


def other_sign(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        return ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None


def other_factor(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        return ast.BinOp(node.left, node.op, ast.BinOp(ast.Constant(2), ast.Mult(), node.right))
    return None


def one_more(node: ast.AST) -> ast.AST | None:
    return (
        ast.Constant(node.value + 1)
        if isinstance(node, ast.Constant) and type(node.value) is int
        else None
    )


def exchanged(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Pow | ast.Sub):
        return ast.BinOp(node.right, node.op, node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return ast.BinOp(node.left, ast.Div(), node.right)
    if not isinstance(node, ast.Call) or ast.unparse(node.func).startswith("checks."):
        return None
    if len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args):
        return ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    return None


CHANGES = {
    "sign": other_sign,
    "factor": other_factor,
    "off by one": one_more,
    "exchanged": exchanged,
}
KINDS = (*CHANGES, "part of the domain")


def function_of(path: str) -> Any:
    owner, name = owner_of(path)
    raw = owner.__dict__[name]
    return inspect.unwrap(getattr(raw, "fget", None) or getattr(raw, "__func__", raw))


def compiled(function: Any, tree: ast.Module) -> Any:
    """The function of that code, with the names that the original one knows."""
    codes = [compile(ast.fix_missing_locations(tree), "<wrong>", "exec")]
    while (code := codes.pop(0)).co_name != function.__name__:
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
    if code.co_freevars != function.__code__.co_freevars:
        return None
    made = FunctionType(
        code, function.__globals__, code.co_name, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def rewritten(function: Any, kind: str, place: int) -> Any:
    """The function with one node of its code changed, or None if none can be."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    top = tree.body[0]
    assert isinstance(top, ast.FunctionDef)
    top.decorator_list, top.returns = [], None
    places = [
        (at, key, new) for n in top.body for at, key, old in slots(n) if (new := CHANGES[kind](old))
    ]
    if not places:
        return None
    at, key, new = places[place % len(places)]
    at[key] = new
    return compiled(function, tree)


def slots(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """What holds each expression in a node, its key there, and the expression; not in annotations nor in errors."""
    inner = []
    for name, value in ast.iter_fields(node):
        holder, items = (
            (value, enumerate(value))
            if isinstance(value, list)
            else (node.__dict__, [(name, value)])
        )
        for key, item in items:
            if isinstance(item, ast.expr):
                yield holder, key, item
            if isinstance(item, ast.AST) and name != "annotation" and not isinstance(item, IDLE):
                inner.append(item)
    for item in inner:
        yield from slots(item)


def magnitude(value: Any) -> float | None:
    """The sum of all numbers in what a formula is asked for, or None where it is asked as a formula."""
    if is_exact(value) or (isinstance(value, np.ndarray) and value.dtype == object):
        return None
    if isinstance(value, int | float | np.number | np.ndarray):
        return float(np.sum(value))
    if is_dataclass(value):
        value = [getattr(value, field.name, 0) for field in fields(value)]
    parts = [magnitude(part) for part in value] if isinstance(value, tuple | list) else [0.0]
    return None if None in parts else sum(parts)  # type: ignore[arg-type]


def beyond(function: Any, first: float) -> Any:
    """The function, one per cent too large where the numbers that it is asked for are more than some."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        value, asked = function(*args, **kwargs), magnitude([*args, *kwargs.values()])
        return wrong_result(value) if asked is not None and asked > first * (1 + 1e-9) else value

    return wrong


def wrong_formulas(path: str, asked: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Kinds and wrong functions; the part of the domain begins after the first numbers that the formula is asked for."""
    function, name = function_of(path), crc32(path.encode())
    first = next((number for number in map(magnitude, asked) if number is not None), None)
    for turn in range(TRIES):
        kind = KINDS[(name + turn) % len(KINDS)]
        if kind == KINDS[-1]:
            if first is not None:
                yield kind, beyond(function, first)
        elif made := rewritten(function, kind, name // len(KINDS) + turn):
            yield kind, made
    yield (
        "one more",
        lambda *args, **kwargs: wrong_result(function(*args, **kwargs), lambda number: number + 1),
    )


def apart(one: Any, other: Any) -> bool:
    """Whether two results differ, by more than 1e-6 of the larger where they are numbers; a truth is no number."""
    if isinstance(other, bool | np.bool_):
        return False
    if isinstance(one, Symbol) or isinstance(other, Symbol):
        return not isinstance(other, Symbol) or getattr(one, "expression", None) != other.expression
    if isinstance(one, arb) or isinstance(other, arb):
        return not arb(one).overlaps(arb(other))
    if is_dataclass(one):
        pairs = [(getattr(one, f.name, None), getattr(other, f.name, None)) for f in fields(one)]
        numbers = [
            pair for pair in pairs if isinstance(pair[0], float)
        ]  # what else it has serves to compute them
        return any(apart(*pair) for pair in numbers or pairs)
    if isinstance(one, dict):
        return one.keys() != other.keys() or any(apart(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) != len(other) or any(map(apart, one, other))
    try:
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype == object or other.dtype == object:
            return one.shape != other.shape or any(map(apart, one.flat, other.flat))
        return one.shape != other.shape or not np.allclose(
            one, other, rtol=1e-6, atol=1e-300, equal_nan=True
        )
    except TypeError:
        return False
