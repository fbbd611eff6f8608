"""Names of the cases of a test, so that a failure says what was tried."""

from dataclasses import is_dataclass
from typing import Any

import sympy


def pytest_make_parametrize_id(config: Any, val: Any, argname: str) -> str | None:
    """Show sequences and expressions as they are written, and mechanisms as they are made."""
    is_object = is_dataclass(val) and not isinstance(val, type)
    is_written = isinstance(val, tuple | list | dict | sympy.Basic) or is_object
    text = str(val)
    return text if is_written and len(text) < 80 and "<" not in text else None
