"""Which formulas a claim rests on, recorded while its check runs."""

import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from types import CodeType, FrameType
from typing import Any

import numpy as np
from flint import arb

import ldpnb
from ldpnb.arithmetic import Symbol
from ldpnb.claims.register import Claim, verdict

ROOM_OF_FORMULAS = re.compile(
    r"(accuracy|designs|estimators|mechanisms|privacy|papers/\w+/formulas)/"
)
"""Where in the package formulas stand."""

NO_FORMULAS = ("estimators/solvers.py",)
"""Files of those folders that hold no formulas.

A solver makes the steps of an iteration; how good its result is, a certificate says.
"""

_PACKAGE = f"{Path(ldpnb.__file__).parent}/"

# A part that begins with an underscore, or is <lambda> or <locals>.
_NOT_PUBLIC = re.compile(r"(^|\.)[_<]")


def resting_on(claim: Claim) -> tuple[str, ...]:
    """Return the formulas that a claim rests on, by their paths within ``ldpnb``."""
    # Looking the check up imports its module, and formulas called by an import are not recorded.
    check = claim.check

    with recorded() as paths:
        verdict(claim, check)
    return tuple(sorted(paths))


@contextmanager
def recorded() -> Iterator[set[str]]:
    """Record the public formulas that are called, directly or through another one.

    A formula is a function, method or property, in one of the folders of `ROOM_OF_FORMULAS`, that
    returns real numbers. A function that returns something else, such as a sample or a whole
    number, does not count.

    Yields
    ------
    set of str
        Their paths within ``ldpnb``, such as ``privacy.subsampling.srs_loss``.
    """
    paths: set[str] = set()
    no_formulas: set[CodeType] = set()

    def note(frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        if event != "return" or code in no_formulas:
            return

        if not is_formula(code.co_filename, code.co_qualname):
            no_formulas.add(code)
        elif has_numbers(value):
            module = frame.f_globals["__name__"].removeprefix("ldpnb.")
            paths.add(f"{module}.{code.co_qualname}")

    previous = sys.getprofile()
    sys.setprofile(note)
    try:
        yield paths
    finally:
        sys.setprofile(previous)


def is_formula(file: str, name: str) -> bool:
    """Return whether a function of that file and qualified name may be a formula."""
    if not file.startswith(_PACKAGE) or _NOT_PUBLIC.search(name):
        return False
    place = file.removeprefix(_PACKAGE)
    return ROOM_OF_FORMULAS.match(place) is not None and place not in NO_FORMULAS


def has_numbers(value: Any) -> bool:
    """Return whether a value is a real number, or an array or collection that holds some."""
    if isinstance(value, float | np.floating | arb | Symbol):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object or np.issubdtype(value.dtype, np.floating)

    if is_dataclass(value):
        value = [getattr(value, field.name, None) for field in fields(value)]
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, tuple | list) and any(map(has_numbers, value))


def function_of(path: str) -> Any:
    """Return the plain function behind a formula's path, be it a method or a property."""
    owner, name = owner_of(path)
    return plain(vars(owner)[name])


def plain(function: Any) -> Any:
    """Return the function as it was written, under what decorators have made of it."""
    if isinstance(function, property):
        function = function.fget
    elif isinstance(function, cached_property):
        function = function.func
    elif isinstance(function, classmethod | staticmethod):
        function = function.__func__
    return inspect.unwrap(function)


def owner_of(path: str) -> tuple[Any, str]:
    """Return the module or class that holds a formula, and the formula's name there."""
    owner, _, name = path.rpartition(".")
    return resolve_name(f"ldpnb.{owner}"), name
