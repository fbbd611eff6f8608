"""Files that are there whole or not at all: written in one step, and refused in one line if they were cut off."""

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from csv import DictReader
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def write(path: Path, content: bytes) -> None:
    """Write a file in one step, once the disk holds all of it; its folder is created, and a symlink stays one.

    A writer that is killed may leave ``.<16 digits>.partial`` beside the file, which nobody reads. An `OSError` names
    the path, and then what was there before still is; so does one for something that is no regular file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.realpath(path))  # which takes a link to itself for a file, where resolve() raises
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


@contextmanager
def whole(path: Traversable) -> Iterator[str]:
    """Lend the text of a file that comes with the companion; where it is cut off or cannot be parsed, name it.

    >>> with whole(Path("/dev/null")) as text:
    ...     len(text)
    Traceback (most recent call last):
    OSError: /dev/null is damaged (its last line does not end); `git checkout` or a new installation brings it back
    """
    try:
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n"):
            raise ValueError("its last line does not end")
        yield text
    except (ValueError, KeyError) as error:  # those of pandas, of json, and of text in another encoding
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise damaged(path, reason) from None


def damaged(path: Traversable, reason: str) -> OSError:
    """Return the error that says of a file that comes with the companion what is wrong with it."""
    return OSError(f"{path} is damaged ({reason}); `git checkout` or a new installation brings it back")


class Table(dict[Key, Value]):
    """A CSV table of the package: what `read` makes of each row, a key and a value; a row that it lacks names the file.

    >>> Table("data/adult_age.csv", lambda row: (row["age"], int(row["count"])))["17"]
    395
    """

    def __init__(self, path: str, read: Callable[[dict[str, str]], tuple[Key, Value]]) -> None:
        self.path = files("ldpnb").joinpath(path)
        with whole(self.path) as text:
            super().__init__(map(read, DictReader(text.splitlines())))

    def __missing__(self, key: Key) -> Value:
        raise damaged(self.path, f"it lacks {key}")
