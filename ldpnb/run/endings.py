"""How a command ends when its terminal goes, its output takes no more or the system refuses."""

import contextlib
import errno
import os
import signal
import sys
from typing import NoReturn

from ldpnb.checks import shown


def hear() -> None:
    """Take the end of a terminal or of a session for an interrupt, after which nothing is written any more."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # `nohup` ignores the latter
            signal.signal(number, interrupt)


def forget_output() -> None:
    """Let nothing more be written to an output that does not take it."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def cause(error: OSError) -> str:
    """Return what the system refused, on one line."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{shown(str(error.filename))}: {reason}"
    return "the working directory is gone" if error.errno == errno.ENOENT else f"output cannot be written: {reason}"
