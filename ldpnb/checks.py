"""Validators for the public boundary: each names the argument, the rule and the value.

They take one keyword, whose name is the argument's own, and return the checked value: ``positive(epsilon=epsilon)``.
Inner functions do not check again. Balls and symbols (`ldpnb.arithmetic`) pass: their domain is up to the caller.

>>> positive(epsilon=0.0)
Traceback (most recent call last):
ValueError: epsilon must be > 0 and finite, got epsilon=0.0
"""

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb.arithmetic import is_exact

_LONGEST_SHOWN = 200
_PLAIN = frozenset({float, int, bool, str, type(None)})


class UsageError(ValueError):
    """Wrong input by the caller: an unknown notebook, an unknown parameter, a value of the wrong type."""


def _number(rule: str, holds: Callable[[float], bool], /, **named: Any) -> Any:
    ((name, value),) = named.items()
    if (type(value) is float and holds(value)) or is_exact(value):  # as most are
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number, got {name}={shortened(value)}")
    try:
        number = float(value)
    except OverflowError:
        digits = len(str(value))
        raise ValueError(f"{name} must be within the range of a float, got an integer of {digits} digits") from None
    if not holds(number):
        raise ValueError(f"{name} must {rule}, got {name}={shortened(value)}")
    return number


positive = partial(_number, "be > 0 and finite", lambda number: 0 < number < math.inf)
non_negative = partial(_number, "be >= 0 and finite", lambda number: 0 <= number < math.inf)
probability = partial(_number, "lie in [0, 1]", lambda number: 0 <= number <= 1)
rate = partial(_number, "lie in (0, 1]", lambda number: 0 < number <= 1)
"""As a sampling rate must be."""
open_probability = partial(_number, "lie in (0, 1)", lambda number: 0 < number < 1)
"""As a failure probability must be."""


def whole(*, at_least: int = 0, at_most: float = math.inf, **named: Any) -> Any:
    """Return an integer between two, both included; an integral float such as ``1e6`` is accepted.

    >>> whole(users=1e9)
    1000000000
    """
    rule = f"be an integer >= {at_least}" if at_most == math.inf else f"be an integer from {at_least} to {at_most}"
    _number(rule, lambda number: at_least <= number <= at_most and number % 1 == 0, **named)
    (value,) = named.values()
    return value if is_exact(value) else int(value)


def numbers(*, low: float = -np.inf, high: Any = np.inf, above: bool = False, **named: Any) -> Any:
    """Return an array of finite numbers in ``[low, high]``, or `above` it in ``(low, high]``, of any shape.

    >>> numbers(holders=[1, 7], low=0, high=5)
    Traceback (most recent call last):
    ValueError: holders must lie in [0, 5], got holders[1]=7
    """
    ((name, value),) = named.items()
    if is_exact(value):
        return value
    array = _array(name, value)
    bad = ~np.isfinite(array) | (array < low) | (not is_exact(high) and array > high) | (above and array == low)
    _refuse(name, array, f"lie in {'(' if above else '['}{low}, {high}]", bad)
    return array.astype(float)


def counts(*, minimum_size: int = 1, least: int = 0, **named: ArrayLike) -> NDArray[np.int64]:
    """Return a one-dimensional array of whole numbers ``>= least`` with a positive sum."""
    ((name, value),) = named.items()
    array = _array(name, value)
    if array.ndim != 1 or array.size < minimum_size:
        rule = f"one-dimensional with at least {minimum_size} entries"
        raise ValueError(f"{name} must be {rule}, got shape {array.shape}")
    right = (array >= least) & np.isfinite(array) & (array == np.floor(array))
    _refuse(name, array, f"be whole numbers >= {least}", ~right)
    _refuse(name, array, "be < 2**63", array >= 2.0**63)
    if array.sum() == 0:
        raise ValueError(f"{name} must have a positive sum, got all zeros")
    return array.astype(np.int64)


def distribution(**named: ArrayLike) -> NDArray[np.float64]:
    """Return a probability vector: entries ``>= 0`` with sum 1 up to 1e-9."""
    ((name, value),) = named.items()
    array = _array(name, value).astype(float)
    if array.ndim != 1 or not (array >= 0).all():
        raise ValueError(f"{name} must be a vector of probabilities, got {shortened(value)}")
    if not abs(array.sum() - 1) <= 1e-9:
        raise ValueError(f"{name} must sum to 1, got sum {float(array.sum())!r}")
    return array


def _array(name: str, value: Any) -> NDArray[Any]:
    """Return an argument's numbers; those of more than 64 bits become floats."""
    try:
        array = np.asarray(value)
        long = array.dtype.kind == "O" and all(type(entry) is int for entry in array.flat)
        array = array.astype(float, copy=False) if long or array.dtype.kind == "f" else array
    except (ValueError, OverflowError):
        rule = "a regular array, each number within the range of a float"
        raise ValueError(f"{name} must be {rule}, got {name}={shortened(value)}") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got dtype {array.dtype}")
    return array


def _refuse(name: str, array: NDArray[Any], rule: str, bad: NDArray[np.bool_]) -> None:
    if bad.any():
        first = np.unravel_index(int(np.argmax(bad)), array.shape)
        where = f"{name}[{', '.join(map(str, first))}]" if array.ndim else name
        raise ValueError(f"{name} must {rule}, got {where}={array[first]!s}")


def choice(*, among: tuple[str, ...], **named: Any) -> str:
    """Return a value, which must be one of a few."""
    ((name, value),) = named.items()
    if value not in among:
        raise ValueError(f"{name} must be one of {', '.join(among)}, got {name}={shortened(value)}")
    return str(value)


def entries(number: int, **named: Any) -> Any:
    """Return a sequence, which must have `number` entries."""
    ((name, value),) = named.items()
    row = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    row |= hasattr(value, "__array__") and np.ndim(value) > 0
    if not (is_exact(number) or is_exact(value) or (row and len(value) == number)):
        raise UsageError(f"{name} must have {number} entries, got {name}={shortened(value)}")
    return value


def plain(given: Any, **least: int) -> None:
    """Widen numpy's narrow numbers in the fields of a frozen object, and make those named whole, and at least so large.

    Of these, one that may be left out stays None.
    In eight bits ``-1`` is 255, ``np.exp(1)`` has three digits, and 100 + 100 is -56. Lists, and columns in place of
    tuples, become tuples, which do not change.
    """
    for field in fields(given):
        value = getattr(given, field.name)
        if type(value) not in _PLAIN:  # as few are
            column = str(field.type).startswith("tuple[") and hasattr(value, "__array__") and np.ndim(value) == 1
            value = _wide(np.asarray(value).tolist() if column else value)
        if field.name in least and not (value is None and field.default is None):
            value = whole(**{field.name: value}, at_least=least[field.name])
        object.__setattr__(given, field.name, value)


def _wide(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(value if set(map(type, value)) <= {float, int, str} else map(_wide, value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return value.astype(float if value.dtype.kind == "f" else np.promote_types(value.dtype, np.int64), copy=False)
    return value.item() if isinstance(value, np.generic) else value


@contextmanager
def as_usage() -> Iterator[None]:
    """Turn refused arguments into wrong usage, for a command whose options they are."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None


def shown(text: str) -> str:
    r"""Return a user's word for a message: unchanged, or escaped and shortened if it would spoil the line.

    >>> shown("01_line"), shown("two\nlines"), len(shown(10**6 * "x"))
    ('01_line', "'two\\nlines'", 203)
    """
    return text if text.isprintable() and len(text) <= _LONGEST_SHOWN else shortened(text)


def shortened(value: Any) -> str:
    """Return the repr of a value, on one line and cut if it would fill the screen."""
    text = " ".join(repr(value[: _LONGEST_SHOWN + 1] if isinstance(value, str | bytes) else value).split())
    return text if len(text) <= _LONGEST_SHOWN + 2 else f"{text[:_LONGEST_SHOWN]}..."


def nearest(word: str, among: Sequence[str]) -> str:
    """Return a suggestion for a misspelt word, such as " (did you mean epsilon?)", or an empty text."""
    near = difflib.get_close_matches(word[:_LONGEST_SHOWN], among, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""
