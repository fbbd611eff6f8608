"""Messages about what a file holds: they name the row and escape the text."""

from collections.abc import Sequence
from typing import NoReturn


def quoted(entry: object) -> str:
    """Return text of a file for a message: short, and escaped so that a terminal cannot obey it."""
    return repr(str(entry)[:60])


def listed(names: Sequence[str]) -> str:
    """Return names of a file for a message."""
    some = ", ".join(quoted(name) for name in names[:20])
    return some if len(names) <= 20 else f"{some}, and {len(names) - 20} more"


def printable(text: str) -> str:
    """Return a message of a library, escaped if a terminal could obey it."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def refuse(row: object, entry: object, why: str) -> NoReturn:
    """Refuse an entry, which is named with its row."""
    raise ValueError(f"row {row}: {quoted(entry)} {why}")
