"""A kernel provisioner for Jupyter: kernels forked by the standard library's forkserver, which has the imports.

These take longer than most notebooks compute; done once, all notebooks take half the time. `ldpnb run` and the tests
choose it by its name in ``JUPYTER_DEFAULT_PROVISIONER_NAME``, where ``local-provisioner`` does without. Where nothing
can be forked (other systems than Linux, too few processes or files) the ordinary start of a kernel takes over.
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

NAME = "ldpnb-forked"  # as the package's metadata registers it

_IMPORTS = [
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "ipywidgets",
    "scipy.optimize",
    "scipy.stats",
    "PIL.Image",
]
_IMPORTS += [
    "matplotlib.backends.backend_agg",
    "matplotlib_inline.backend_inline",
    "pandas.io.formats.style",
]
_IMPORTS += [
    "ldpnb.notebook.figures",
    "ldpnb.notebook.live",
    "ldpnb.notebook.verdicts",
    "ldpnb.deciders.algebra",
]
_LAUNCHER = ["-m", "ipykernel_launcher"]


class _Process(getattr(multiprocessing.context, "ForkServerProcess", BaseProcess)):  # type: ignore[misc]
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
    """A kernel of this Python, forked from a process that has the imports where that can be done."""

    async def pre_launch(self, **options: Any) -> Any:
        """Wait for the imports before ports are chosen, since until the kernel has these others may take them."""
        if sys.platform == "linux":
            multiprocessing.set_forkserver_preload(_IMPORTS)
            with contextlib.suppress(
                OSError, EOFError, RuntimeError
            ):  # then the kernel is not forked either
                _Process(target=int, daemon=True).start()
        return await super().pre_launch(**options)

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Start the kernel that `cmd` describes: Python, ``-m ipykernel_launcher`` and its arguments."""
        program = cmd[: cmd.index(_LAUNCHER[1]) + 1] if _LAUNCHER[1] in cmd else cmd
        if sys.platform != "linux" or [program[0], *program[-2:]] != [sys.executable, *_LAUNCHER]:
            return await super().launch_kernel(cmd, **options)
        given = cmd[len(program) :], dict(options["env"]), options.get("cwd") or os.getcwd()
        process = _Process(target=_become_a_kernel, args=given, daemon=True)
        try:
            process.start()
        except (OSError, EOFError, RuntimeError):
            return await super().launch_kernel(cmd, **options)
        self.process, self.pid, self.pgid = cast(Any, process), process.pid, process.pid
        return self.connection_info


def _become_a_kernel(arguments: list[str], environment: Mapping[str, str], folder: str) -> None:
    """Set anew what a new process has from its start and what libraries look up while they are imported."""
    import matplotlib as mpl
    import numpy as np
    import pandas as pd
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    multiprocessing.set_start_method(None, force=True)  # the system's own
    random.seed()
    np.random.seed()  # noqa: NPY002  # for code that draws without a generator
    mpl.rcParams["backend"] = os.environ.setdefault(
        "MPLBACKEND", "module://matplotlib_inline.backend_inline"
    )
    pd.options.display.max_columns = 20  # as in any kernel, where pandas finds no terminal
    with open(os.devnull, "r+b", buffering=0) as nowhere:
        for stream in range(3):
            os.dup2(nowhere.fileno(), stream)
    gc.freeze()  # what was imported stays: no collection looks through it again
    be_killed_with_parent()
    # 0: ipykernel would wait for the process that it was forked from, which stays while its children do
    IPKernelApp.launch_instance([*arguments, "--IPKernelApp.parent_handle=0"])


def be_killed_with_parent() -> None:
    """Let Linux kill this process once the one that started it has ended, even while C code holds the lock.

    That end closes a pipe, of which the system tells by the signal that is chosen here.
    """
    import fcntl

    parent = cast(BaseProcess, multiprocessing.parent_process())
    fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)
    if not parent.is_alive():  # before that
        os._exit(1)
