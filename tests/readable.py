"""Names of parametrised tests that a reader of pytest's output understands."""

from typing import Any


def stated(value: Any) -> str:
    """Name a case by the arguments that it states, such as ``epsilon=1, population=everyone``."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={given}" for name, given in value.items()) or "nothing"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "nothing"
    return str(value)
