"""Files that are there whole or not at all, since they are written in one step."""

import errno
import os
import secrets
from csv import DictReader
from importlib.resources import files
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file in one step, once the disk holds all of it; its folder is created, and a symlink stays one.

    A writer that is killed may leave ``.<16 digits>.partial`` beside the file, which nobody reads. An `OSError` names
    the path, and then what was there before still is; so does one for something that is no regular file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = Path(
        os.path.realpath(path)
    )  # which takes a link to itself for a file, where resolve() raises
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
    """Return the rows of a CSV table of the package, by its path there, such as ``data/adult_age.csv``."""
    return list(DictReader(files("ldpnb").joinpath(path).read_text(encoding="utf-8").splitlines()))
