"""A file that is written completely or not at all, whatever ends its writer."""

import errno
import os
import secrets
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file in one step, once the disk holds all of it; its folder is created, and a symlink stays one.

    A writer that is killed may leave ``.<16 digits>.partial`` beside the file, which nobody reads.

    Raises
    ------
    OSError
        With the path, if the disk is full, the folder cannot be written, or something other than a file is there, such
        as a device; then what was there before still is.

    Examples
    --------
    >>> write(Path("/dev/null"), b"")
    Traceback (most recent call last):
    OSError: [Errno 22] not a regular file: '/dev/null'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        target = Path(os.path.realpath(path))  # which takes a link to itself for a file, where resolve() raises
        if target.exists() and not target.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        partial = target.with_name(f".{secrets.token_hex(8)}.partial")
        with partial.open("xb") as file:
            try:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                os.replace(partial, target)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
