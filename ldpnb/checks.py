"""Validators for the public boundary: each names the argument, the rule and the value.

They take exactly one keyword, whose name is the argument's own, and return the checked value:
``positive(epsilon=epsilon)``. Inner functions do not check again. Balls and symbols (`ldpnb.arithmetic`) pass: their
domain is up to the caller.
"""

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldpnb.arithmetic import is_exact

_LONGEST_SHOWN = 200
_AS_THEY_ARE = {float, int, str, bool, type(None)}

Kind = TypeVar("Kind")


def _one(named: dict[str, Any]) -> tuple[str, Any]:
    if len(named) != 1:
        raise TypeError(f"check one argument at a time, got {sorted(named)}")
    return next(iter(named.items()))


def _number(name: str, value: Any) -> float:
    if type(value) is float:  # as most are
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number, got {name}={shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(
            f"{name} must be within the range of a float, got an integer of {len(str(value))} digits"
        ) from None


def _array(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(value)
        # whole numbers beyond 64 bits, and floats of other precisions
        wide = array.size and _all_whole(array) if array.dtype.kind == "O" else array.dtype.kind == "f"
        with np.errstate(over="ignore"):
            return array.astype(float, copy=False) if wide else array
    except OverflowError:
        raise ValueError(f"{name} must be within the range of a float, got {name}={shortened(value)}") from None
    except ValueError:
        raise ValueError(f"{name} must be a regular array, got rows of different lengths") from None


def _all_whole(array: NDArray[Any]) -> bool:
    return all(isinstance(entry, int) and not isinstance(entry, bool) for entry in array.flat)


def _checked(named: dict[str, Any], rule: str, holds: Callable[[float], bool]) -> Any:
    name, value = _one(named)
    if (type(value) is float and holds(value)) or is_exact(value):
        return value
    number = _number(name, value)
    if not holds(number):
        raise ValueError(f"{name} must {rule}, got {name}={shortened(value)}")
    return number


def plain(given: Any, **least: int) -> None:
    """Widen numpy's narrow numbers in the fields of a frozen object, and make those named whole, and at least so large.

    Lists become tuples, which do not change, and so do columns in place of tuples.

    In eight bits ``-1`` is 255, ``np.exp(1)`` has three digits, and 100 + 100 is -56.
    """
    for name, is_tuple in _fields(given.__class__):
        value = getattr(given, name)
        if type(value) in _AS_THEY_ARE:
            continue
        column = is_tuple and hasattr(value, "__array__") and np.ndim(value) == 1
        if (wide := tuple(np.asarray(value).tolist()) if column else _wide(value)) is not value:
            object.__setattr__(given, name, wide)
    for name, at_least in least.items():
        object.__setattr__(given, name, whole(**{name: getattr(given, name)}, at_least=at_least))


@cache
def _fields(kind: type) -> tuple[tuple[str, bool], ...]:
    """Return the names of a class's fields, and which of them are tuples."""
    return tuple((field.name, str(field.type).startswith("tuple[")) for field in fields(kind))


def _wide(value: Any) -> Any:
    kind = type(value)
    if kind is tuple or kind is list:
        return tuple(value if set(map(type, value)) <= {float, int, str} else map(_wide, value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        wide = np.promote_types(value.dtype, np.int64) if value.dtype.kind in "iu" else np.float64
        return value.astype(wide, copy=False)
    if isinstance(value, np.floating):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def positive(**named: Any) -> Any:
    """Return a finite number ``> 0``.

    >>> positive(epsilon=0.0)
    Traceback (most recent call last):
    ValueError: epsilon must be > 0 and finite, got epsilon=0.0
    """
    return _checked(named, "be > 0 and finite", lambda number: 0 < number < math.inf)


def non_negative(**named: Any) -> Any:
    """Return a finite number ``>= 0``."""
    return _checked(named, "be >= 0 and finite", lambda number: 0 <= number < math.inf)


def probability(**named: Any) -> Any:
    """Return a number in ``[0, 1]``."""
    return _checked(named, "lie in [0, 1]", lambda number: 0 <= number <= 1)


def rate(**named: Any) -> Any:
    """Return a number in ``(0, 1]``, as a sampling rate must be."""
    return _checked(named, "lie in (0, 1]", lambda number: 0 < number <= 1)


def open_probability(**named: Any) -> Any:
    """Return a number in ``(0, 1)``, as a failure probability must be."""
    return _checked(named, "lie in (0, 1)", lambda number: 0 < number < 1)


def whole(*, at_least: int = 0, **named: Any) -> Any:
    """Return an integer ``>= at_least``; an integral float such as ``1e6`` is accepted.

    >>> whole(domain_size=1, at_least=2)
    Traceback (most recent call last):
    ValueError: domain_size must be an integer >= 2, got domain_size=1
    >>> whole(users=1e9)
    1000000000
    """
    name, value = _one(named)
    if is_exact(value):
        return value
    number = _number(name, value)
    if not math.isfinite(number) or number != int(number) or number < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {name}={shortened(value)}")
    return int(value)


def numbers(*, low: float = -np.inf, high: Any = np.inf, **named: Any) -> Any:
    """Return an array of finite numbers in ``[low, high]``, of any shape.

    >>> numbers(holders=[1, 7], low=0, high=5)
    Traceback (most recent call last):
    ValueError: holders must lie in [0, 5], got holders[1]=7
    """
    name, value = _one(named)
    if is_exact(value):
        return value
    array = _array(name, value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got dtype {array.dtype}")
    bad = ~np.isfinite(array) | (array < low) | (not is_exact(high) and array > high)
    if bad.any():
        first = np.unravel_index(int(np.argmax(bad)), array.shape)
        where = f"{name}[{', '.join(map(str, first))}]" if array.ndim else name
        raise ValueError(f"{name} must lie in [{low}, {high}], got {where}={array[first]!s}")
    return array.astype(float)


def counts(*, minimum_size: int = 1, allow_empty: bool = False, **named: ArrayLike) -> NDArray[np.int64]:
    """Return a one-dimensional array of whole numbers ``>= 0`` with a positive sum.

    >>> counts(counts=[3, -1])
    Traceback (most recent call last):
    ValueError: counts must be whole numbers >= 0, got counts[1]=-1
    """
    name, value = _one(named)
    array = _array(name, value)
    if array.ndim != 1 or array.size < minimum_size:
        raise ValueError(
            f"{name} must be one-dimensional with at least {minimum_size} entries, got shape {array.shape}"
        )
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got dtype {array.dtype}")
    whole = array.dtype.kind in "iu"
    bad = array < 0 if whole else ~(np.isfinite(array) & (array >= 0) & (array == np.floor(array)))
    large = array >= 2.0**63 if array.dtype.kind in "uf" else None
    for wrong, rule in ((bad, "whole numbers >= 0"), (large, "< 2**63")):
        if wrong is not None and wrong.any():
            first = int(np.argmax(wrong))
            raise ValueError(f"{name} must be {rule}, got {name}[{first}]={array[first]!s}")
    if not allow_empty and array.sum() == 0:
        raise ValueError(f"{name} must have a positive sum, got all zeros")
    return array.astype(np.int64)


def distribution(**named: ArrayLike) -> NDArray[np.float64]:
    """Return a probability vector: entries ``>= 0`` with sum 1 up to 1e-9."""
    name, value = _one(named)
    array = _array(name, value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got dtype {array.dtype}")
    array = array.astype(float)
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{name} must be a vector of probabilities, got {shortened(value)}")
    if abs(array.sum() - 1) > 1e-9:
        raise ValueError(f"{name} must sum to 1, got sum {float(array.sum())!r}")
    return array


def choice(*, among: tuple[str, ...], **named: Any) -> str:
    """Return a value, which must be one of a few."""
    name, value = _one(named)
    if value not in among:
        raise ValueError(f"{name} must be one of {', '.join(among)}, got {name}={shortened(value)}")
    return str(value)


class UsageError(ValueError):
    """Wrong input by the caller: an unknown notebook, an unknown parameter, a value of the wrong type."""


@contextmanager
def as_usage() -> Iterator[None]:
    """Turn refused arguments into wrong usage, for a command whose options they are."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None


_BRINGS = {
    "dask": ("dask", "distributed"),
    "files": ("openpyxl", "pooch"),
    "learning": ("sklearn",),
    "proofs": ("sympy", "flint"),
    "site": ("altair", "vl_convert"),
}
"""The libraries that each extra of the package installs."""


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """If an optional library is missing, say in one line which extra `what` needs.

    >>> with needed_for("an Excel file"):
    ...     raise ModuleNotFoundError(name="openpyxl")
    Traceback (most recent call last):
    ldpnb.checks.UsageError: an Excel file needs openpyxl; `python -m pip install 'ldpnb[files]'` brings it
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        for extra, brought in _BRINGS.items():
            if library in brought:
                command = f"python -m pip install 'ldpnb[{extra}]'"
                raise UsageError(f"{what} needs {library}; `{command}` brings it") from None
        raise


def entries(number: int, **named: Any) -> Any:
    """Return a sequence, which must have `number` entries.

    >>> entries(2, rates=[0.5])
    Traceback (most recent call last):
    ldpnb.checks.UsageError: rates must have 2 entries, got rates=[0.5]
    """
    name, value = _one(named)
    if not (is_exact(number) or is_exact(value)) and _array(name, value).shape[:1] != (number,):
        raise UsageError(f"{name} must have {number} entries, got {name}={shortened(value)}")
    return value


def instance(kind: type[Kind], **named: Any) -> Kind:
    """Return an object, which must be of a class.

    >>> instance(str, column=1)
    Traceback (most recent call last):
    TypeError: column must be a str, got column=1
    """
    name, value = _one(named)
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {name}={shortened(value)}")
    return value


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


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a positive number with a few significant digits, rounded up, so that what is printed is promised as well.

    >>> rounded_up(0.557711), rounded_up(1.0), rounded_up(0.0)
    ('0.5578', '1', '0')
    """
    if not (math.isfinite(value) and value > 0):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{math.ceil(value / unit - 1e-6) * unit:.{digits}g}"


def nearest(word: str, among: Sequence[str]) -> str:
    """Return a suggestion for a misspelt word, or an empty text.

    >>> nearest("epsilom", ("epsilon", "n"))
    ' (did you mean epsilon?)'
    """
    near = difflib.get_close_matches(word[:_LONGEST_SHOWN], among, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""
