"""A kernel provisioner for Jupyter that forks kernels from a process which has the imports already.

The imports take longer than most notebooks compute. If they are done once, by the forkserver of the
standard library, a run of all notebooks takes half the time. `ldpnb run` and the tests choose this
provisioner by its name in ``JUPYTER_DEFAULT_PROVISIONER_NAME``; the name ``local-provisioner``
there turns it off. Where nothing can be forked (on systems other than Linux, or with too few
processes or files), kernels are started in the ordinary way.
"""

import contextlib
import gc
import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from typing import Any, cast

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

NAME = "ldpnb-forked"
"""The name under which the metadata of the package registers the provisioner."""

PRELOADED = [
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "ipywidgets",
    "scipy.optimize",
    "scipy.stats",
    "PIL.Image",
    "matplotlib.backends.backend_agg",
    "matplotlib_inline.backend_inline",
    "pandas.io.formats.style",
    "ldpnb.notebook.figures",
    "ldpnb.notebook.live",
    "ldpnb.notebook.verdicts",
    "ldpnb.deciders.algebra",
]
"""What most notebooks import."""

_CANNOT_FORK = (OSError, EOFError, RuntimeError)
"""Errors of a forkserver that cannot start, has ended, or gets no process."""

_LAUNCHER = ["-m", "ipykernel_launcher"]


_ForkServerProcess: Any = getattr(multiprocessing.context, "ForkServerProcess", BaseProcess)
"""Which Windows does not have."""


class _Process(_ForkServerProcess):
    """A forked process with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        return cast("int | None", self.exitcode)

    def wait(self) -> int | None:
        self.join()
        return self.poll()

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


class ForkedKernel(LocalProvisioner):
    """A kernel of this Python, forked from a process that has the imports if that is possible."""

    async def pre_launch(self, **options: Any) -> Any:
        """Let the imports be done before Jupyter chooses ports for the kernel.

        Ports are free to be taken by others until the kernel opens them, so that should be soon.
        """
        if sys.platform == "linux":
            multiprocessing.set_forkserver_preload(PRELOADED)

            # The first process starts the forkserver, which imports before it forks. If this fails,
            # so does the start of the kernel below, which knows what to do then.
            with contextlib.suppress(*_CANNOT_FORK):
                _Process(target=int, daemon=True).start()
        return await super().pre_launch(**options)

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Start the kernel of a command: Python, ``-m ipykernel_launcher`` and its arguments."""
        program = cmd
        if _LAUNCHER[1] in cmd:
            program = cmd[: cmd.index(_LAUNCHER[1]) + 1]

        # Only a kernel of this very Python has the imports of this process.
        is_ours = [program[0], *program[-2:]] == [sys.executable, *_LAUNCHER]
        if sys.platform != "linux" or not is_ours:
            return await super().launch_kernel(cmd, **options)

        arguments = cmd[len(program) :]
        environment = dict(options["env"])
        folder = options.get("cwd") or os.getcwd()
        process = _Process(
            target=_become_a_kernel, args=(arguments, environment, folder), daemon=True
        )
        try:
            process.start()
        except _CANNOT_FORK:
            return await super().launch_kernel(cmd, **options)

        # By these Jupyter waits for the kernel, interrupts it and ends it.
        self.process = cast(Any, process)
        self.pid = process.pid
        self.pgid = process.pid
        return self.connection_info


def _become_a_kernel(arguments: list[str], environment: Mapping[str, str], folder: str) -> None:
    """Turn a forked process into the kernel that a new process would be, and run it.

    A forked process has the state of its parent. What follows sets all that a new process has from
    its start, and what libraries have looked up while they were imported.
    """
    import matplotlib as mpl
    import numpy as np
    import pandas as pd
    from ipykernel.kernelapp import IPKernelApp

    # A group of processes of its own: a Ctrl-C in the terminal is for `ldpnb run`, not for kernels.
    os.setsid()

    # The environment and the folder that Jupyter would start the kernel with.
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)

    # As ipykernel_launcher does while the kernel is loaded; IPython then adds the folder again.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]

    # A notebook that starts processes gets the method that is usual on this system.
    multiprocessing.set_start_method(None, force=True)

    # All forks would draw the same numbers, in code that draws without a generator.
    random.seed()
    np.random.seed()  # noqa: NPY002

    # matplotlib has read the variable when it was imported, before it was set.
    inline = "module://matplotlib_inline.backend_inline"
    mpl.rcParams["backend"] = os.environ.setdefault("MPLBACKEND", inline)

    # In a terminal pandas fits a table to its width. In a kernel it finds none, and shows 20
    # columns.
    pd.options.display.max_columns = 20

    # The parent's terminal is not the kernel's.
    with open(os.devnull, "r+b", buffering=0) as nowhere:
        for stream in range(3):
            os.dup2(nowhere.fileno(), stream)

    # What was imported stays, so no collection of garbage needs to look through it again.
    gc.freeze()

    be_killed_with_parent()

    # 0 means no parent. With one, ipykernel would wait for its end; but here this is the
    # forkserver,
    # which stays as long as it has children.
    IPKernelApp.launch_instance([*arguments, "--IPKernelApp.parent_handle=0"])


def be_killed_with_parent() -> None:
    """Let Linux kill this process when the one that started it has ended.

    It works even while C code holds Python's lock: a pipe from that process closes at its end, and
    the system reports this by a signal. Here the signal is chosen to be SIGKILL.
    """
    import fcntl

    parent = cast(BaseProcess, multiprocessing.parent_process())
    pipe = parent.sentinel

    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())  # to whom the signal goes
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)  # which signal
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)  # from now on

    # If it ended before, no signal comes.
    if not parent.is_alive():
        os._exit(1)
