"""Processes that end with their parent, even while they compute in C.

On Linux the operating system ends them. Elsewhere they check for their parent themselves, between two steps of Python.
"""

import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1


def die_with_parent(parent: int = 0) -> None:
    """Have this process killed when the thread that started it ends, even after `exec`.

    Parameters
    ----------
    parent : int
        The process that started this one. If it has ended already, this one ends at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if parent and os.getppid() != parent:
            os._exit(1)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
