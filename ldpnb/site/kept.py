"""What an earlier site was made of, kept in ``build/kept`` for as long as it follows from the same."""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

from ldpnb import writing
from ldpnb.run import execution


def place(name: str, *follows: object) -> Path:
    """Return the file for what has a name and follows from what is given alone."""
    key = hashlib.sha256("\0".join(map(str, follows)).encode()).hexdigest()[:16]
    return execution.build() / "kept" / name / key


def keep(path: Path, content: str) -> None:
    """Keep a text in the place of what followed from something else."""
    for earlier in path.parent.glob("*"):
        if earlier != path:
            earlier.unlink(missing_ok=True)
    writing.write({path: content.encode()}, durable=False)


def kept(name: str, make: Callable[[], str], *follows: object) -> str:
    """Return a text that follows from what is given alone, made anew only if it is not kept."""
    path = place(name, *follows)
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8")
    made = make()
    with contextlib.suppress(OSError):  # it cannot be kept, but used
        keep(path, made)
    return made
