"""Files that are there whole or not at all, because they are written in one step."""

import errno
import os
import re
import secrets
import stat
from csv import DictReader
from importlib.resources import files
from pathlib import Path

_STREAM = re.compile(r"/dev/(stdout|stderr|fd/\d+)")


def write(path: Path, content: bytes) -> None:
    """Write a file in one step, once the disk holds all of it.

    The file's folder is created, its permissions stay as they are, and a symlink stays one. Of a
    hard link only the name that is written gets the new file; its other names keep the old one. A
    writer that is killed may leave ``.<16 digits>.partial`` next to the file, which nobody reads. A
    stream of this process (``/dev/stdout``, ``/dev/fd/3``) is written to, and nothing is replaced.

    Parameters
    ----------
    path : pathlib.Path
        Where to write.
    content : bytes
        The whole file.

    Raises
    ------
    OSError
        If the file cannot be written, is read-only, or `path` is something else than a regular
        file. The error names the path, and what was there before is still there.
    """
    if _STREAM.fullmatch(str(path)):
        with path.open("ab") as stream:
            stream.write(content)
        return

    path.parent.mkdir(parents=True, exist_ok=True)
    # Path.resolve() would raise an error of another kind for a link to itself.
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{secrets.token_hex(8)}.partial")

    try:
        if target.exists() and not target.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        if mode is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
            raise OSError(errno.EACCES, "read-only")
        with partial.open("xb") as file:
            if mode is not None:
                partial.chmod(mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        partial.unlink(missing_ok=True)


def rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a CSV table of the package, by its path there: ``data/adult_age.csv``."""
    text = files("ldpnb").joinpath(path).read_text(encoding="utf-8")
    return list(DictReader(text.splitlines()))
