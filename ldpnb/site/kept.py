"""What an earlier site was made of, kept in ``build/kept`` for as long as it follows from the same."""

import contextlib
import hashlib
import json
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path

import ldpnb
from ldpnb import writing
from ldpnb.run import runner
from ldpnb.run.catalogue import Notebook, home


@cache
def code_hash() -> str:
    """Hash Python's version, the package and the lock, once per process."""
    digest = hashlib.sha256(platform.python_version().encode())
    files = [
        p for p in Path(ldpnb.__file__).parent.rglob("*") if p.suffix in (".py", ".csv", ".mplstyle") and p.is_file()
    ]
    lock = home() / "requirements.lock"
    for path in [*sorted(files), *([lock] if lock.exists() else [])]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def fingerprint(notebook: Notebook) -> str:
    """Return a hash of what a notebook's results follow from: its sources, the package, the lock."""
    cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
    sources = json.dumps([(c["cell_type"], "".join(c["source"]), c["metadata"].get("tags")) for c in cells])
    return hashlib.sha256((sources + code_hash()).encode()).hexdigest()


def place(name: str, *follows: object) -> Path:
    """Return the file for what has a name and follows from what is given alone."""
    key = hashlib.sha256("\0".join(map(str, follows)).encode()).hexdigest()[:16]
    return runner.build() / "kept" / name / key


def keep(path: Path, content: str) -> None:
    """Keep a text in the place of what followed from something else."""
    for earlier in path.parent.glob("*"):
        if earlier != path:
            earlier.unlink(missing_ok=True)
    writing.write(path, content.encode())


def kept(name: str, make: Callable[[], str], *follows: object) -> str:
    """Return a text that follows from what is given alone, made anew only if it is not kept."""
    path = place(name, *follows)
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8")
    made = make()
    with contextlib.suppress(OSError):  # it cannot be kept, but used
        keep(path, made)
    return made
