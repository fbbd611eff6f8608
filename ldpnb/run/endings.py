"""How a command ends when its terminal closes, its output fails or the system refuses."""

import contextlib
import errno
import os
import signal
import sys
import threading
from typing import NoReturn

from ldpnb.checks import shown

_PATIENCE = 30
"""Seconds after which the system ends a command that has not ended in order, and its kernels and workers with it: an
interrupt may fall where Python or a library swallows it."""


def hear() -> None:
    """Treat the end of a terminal or session as an interrupt, after which nothing more is written."""

    def interrupt(number: int, frame: object) -> NoReturn:
        if hasattr(signal, "alarm"):  # not on Windows
            signal.alarm(_PATIENCE)
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # `nohup` ignores the latter
            signal.signal(number, interrupt)

    if hasattr(signal, "pthread_kill"):  # not on Windows
        others, main = sys.unraisablehook, threading.main_thread().ident or 0

        def heard_by_nobody(found: "sys.UnraisableHookArgs") -> None:
            """Interrupt again, when Python has left the destructor in which it tells nobody of an interrupt."""
            if not issubclass(found.exc_type, KeyboardInterrupt):
                return others(found)
            again = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
            again.daemon = True
            return again.start()

        sys.unraisablehook = heard_by_nobody


def forget_output() -> None:
    """Discard further writes to an output that fails."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def cause(error: OSError) -> str:
    """Return on one line what the system refused."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{shown(str(error.filename))}: {reason}"
    return "the working directory is gone" if error.errno == errno.ENOENT else f"output cannot be written: {reason}"
