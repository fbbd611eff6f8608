"""Files that are there whole or not at all, because they are written in one step."""

import errno
import os
import secrets
from csv import DictReader
from importlib.resources import files
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file in one step, once the disk holds all of it.

    The file's folder is created, and a symlink stays one. A writer that is killed may leave
    ``.<16 digits>.partial`` beside the file, which nobody reads.

    Parameters
    ----------
    path : pathlib.Path
        Where to write.
    content : bytes
        The whole file.

    Raises
    ------
    OSError
        If the file cannot be written, or `path` is something else than a regular file. The error
        names the path, and what was there before is still there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Path.resolve() would raise an error of another kind for a link to itself.
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{secrets.token_hex(8)}.partial")

    try:
        if target.exists() and not target.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        with partial.open("xb") as file:
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
