"""Names of the cases of a test, so that a failure says in a few words what was tried."""

from dataclasses import fields, is_dataclass
from typing import Any

import sympy

LONGEST = 60
"""Characters; what is longer is named by its argument and its place."""


def short(value: Any) -> str:
    """Return a value as it would be written by hand, numbers with three digits."""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return f"[{', '.join(map(short, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(short, value))})"
    if is_dataclass(value) and not isinstance(value, type):
        shown = [field.name for field in fields(value) if field.repr]
        arguments = [short(getattr(value, name)) for name in shown]
        return f"{type(value).__name__}({', '.join(arguments)})"
    return str(value)


def pytest_make_parametrize_id(config: Any, val: Any, argname: str) -> str | None:
    """Name sequences and expressions as they are written, and mechanisms as they are made."""
    is_object = is_dataclass(val) and not isinstance(val, type)
    if isinstance(val, tuple | list | dict | sympy.Basic) or is_object:
        text = short(val)
        if len(text) <= LONGEST and "<" not in text:
            return text
    return None
