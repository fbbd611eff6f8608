"""Files that are written completely or not at all, whatever ends their writer.

`write` stages contents next to their targets, under names that no reader takes for a result, and moves them into place
when the last one is complete. A staged file is locked while its writer lives, so that `discard_leftovers` recognises
the remains of a killed process without relying on clocks or process numbers.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_LEFTOVER = re.compile(r"\.[0-9a-f]{16}\.partial")


def write(contents: Mapping[Path, bytes | Iterable[bytes]], *, durable: bool = True) -> None:
    """Write files, each atomically, and none before the disk holds them all; folders are created.

    Parameters
    ----------
    contents : mapping of Path to bytes
        Content of each file, whole or in pieces; they are moved into place in this order.
    durable : bool
        Whether to wait until the content survives a power failure.

    Raises
    ------
    OSError
        If the disk is full, the folder cannot be written or a target is something other than a file, such as a device;
        then no file has changed, unless moving one of several into place failed.
    """
    for path in contents:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    with contextlib.ExitStack() as stack:
        staged = [(stack.enter_context(_staged(path.parent, c, durable)), path) for path, c in contents.items()]
        for partial, path in staged:
            os.replace(partial, path)


@contextlib.contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Create a temporary folder below another one, and remove it in the end."""

    def create(path: Path) -> int:
        path.mkdir()
        return os.open(path, os.O_RDONLY)

    path, descriptor = _locked(folder, create)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


@contextlib.contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, once no other process does."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def discard_leftovers(folder: Path) -> None:
    """Remove what killed writers have left in a folder, but nothing that is being written."""
    with contextlib.suppress(OSError):
        for path in [path for path in folder.iterdir() if _LEFTOVER.fullmatch(path.name)]:
            _discard(path)


def _discard(path: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if _lock(descriptor, wait=False):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        finally:
            os.close(descriptor)


def no_formula(value: Any) -> Any:
    """Return a value for a CSV file; a text that a spreadsheet would take for a formula is prefixed by an apostrophe.

    >>> [no_formula(v) for v in ("=HYPERLINK(1)", "-0.5", "k-RR", -1.0)]
    ["'=HYPERLINK(1)", '-0.5', 'k-RR', -1.0]
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")) or len(value) == 1:
        return value
    with contextlib.suppress(ValueError):
        float(value)
        return value
    return f"'{value}"


def without_formulas(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with `no_formula` applied to its texts and headings."""
    safe = table.copy()
    for i, kind in enumerate(table.dtypes):
        if kind.kind == "O":
            safe.isetitem(i, list(table.iloc[:, i].map(no_formula, na_action="ignore")))
    return safe.rename(columns=no_formula)


@contextlib.contextmanager
def _staged(folder: Path, content: bytes | Iterable[bytes], durable: bool) -> Iterator[Path]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    partial, descriptor = _locked(folder, lambda path: os.open(path, flags, 0o666))
    with os.fdopen(descriptor, "wb") as file:
        try:
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            if durable:
                os.fsync(descriptor)
            yield partial
        finally:
            partial.unlink(missing_ok=True)


def _locked(folder: Path, create: Callable[[Path], int]) -> tuple[Path, int]:
    """Create a file or folder under a unique name and lock it."""
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        path = folder / f".{secrets.token_hex(8)}.partial"
        descriptor = create(path)
        _lock(descriptor, wait=True)
        if path.exists():
            return path, descriptor
        # another process removed it as a leftover before it was locked
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file or folder until it is closed; return False if another has it or there are no locks here."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
