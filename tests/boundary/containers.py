"""The same numbers in other containers: every public function answers them as it does Python's, or refuses them."""

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import functions
import numpy as np
import pandas as pd
from guarded import chance, report, sample, silent
from kinds import shown

CHANCE = chance("containers")
NARROW = (np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.longdouble)
Case = tuple[str, Callable[..., Any], dict[str, Any], str, Any, Any]


def forms(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield numbers as Python holds them, and the same ones otherwise."""
    array = np.asarray(value)
    if isinstance(value, bool) or array.dtype.kind not in "iuf" or not array.size:
        return
    for dtype in NARROW:
        narrow = array.clip(0, 120).astype(dtype)  # as large as the narrowest allow, where sums run over
        if (narrow == array).all() or (array.dtype.kind == "f" and narrow.dtype.kind == "f"):
            plain = (narrow if narrow.dtype.kind != "f" else narrow.astype(float)).tolist()
            yield plain, narrow[()]
    if array.ndim:
        held = array.tolist()
        yield held, tuple(map(tuple, held) if array.ndim > 1 else held)
        yield held, np.repeat(array, 2, axis=-1)[..., ::2]
        yield held, array.astype(array.dtype.newbyteorder())
    if array.ndim == 1:
        yield held, pd.Series(held, index=range(array.size, 0, -1))


def told(answer: Any, depth: int = 0) -> list[Any]:
    """Return all numbers of an answer: those of an object are its fields' and properties'."""
    if isinstance(answer, bool | int | float | np.number | np.bool_):
        return [float(answer)]
    if is_dataclass(answer) and depth < 4:
        names = [field.name for field in fields(answer)]
        names += [name for name, _ in inspect.getmembers(type(answer), lambda member: isinstance(member, property))]
        return [number for name in names for number in told(attribute(answer, name), depth + 1)]
    if isinstance(answer, np.ndarray | pd.Series | pd.DataFrame):
        return told(np.asarray(answer).ravel().tolist(), depth)
    if isinstance(answer, list | tuple | dict):
        held = answer.values() if isinstance(answer, dict) else answer
        return [number for entry in held for number in told(entry, depth)]
    return []


def attribute(thing: Any, name: str) -> Any:
    try:
        return getattr(thing, name)
    except (ValueError, TypeError):  # which needs what was not given
        return None


def cases() -> Iterator[Case]:
    for name, function, good in functions.callables(functions.examples()):
        for argument, value in good.items():
            if not callable(value) and functions.kind_of(value) in ("number", "list"):
                for plain, other in forms(value):
                    yield name, function, good, argument, plain, other


def said(case: Case) -> str:
    """Return how the answers differ, or nothing."""
    name, function, good, argument, plain, other = case
    answers, whole = [], []
    for value in (plain, other):
        try:
            with silent():
                made = functions.called(function, copy.deepcopy(good) | {argument: value})  # with generators of its own
                methods = functions.METHODS.get(name, {})
                more = [functions.called(getattr(made, m), copy.deepcopy(own)) for m, own in methods.items()]
                answers.append(np.array(told(made) + told(more)))
                whole.append(made)
        except (ValueError, TypeError):
            return ""
    str(whole), is_dataclass(whole[0]) and whole[0] == whole[1]  # neither refuses anything
    one, another = answers
    return "" if np.array_equal(one, another, equal_nan=True) else f"not as of {shown(plain)}: {another} for {one}"


def show(case: Case) -> str:
    return f"{case[0]}({case[3]}={shown(case[5])}, {type(case[5]).__name__})"


def main() -> None:
    report(said, sample(list(cases()), 300, CHANCE), show)
