"""Fresh kernels without the wait: each is forked from a process that has imported the libraries and done nothing else.

Starting Python and importing numpy, scipy, pandas and matplotlib takes longer than most notebooks compute. A kernel
made here is a process of its own with its own folder, environment and session, as any other; only the imports are
shared. JupyterLab's kernels are the ordinary ones.
"""

import contextlib
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from typing import Any, cast

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from ldpnb.claims import LEDGERS
from ldpnb.notebook import environment
from ldpnb.run import orphans
from ldpnb.run.orphans import die_with_parent
from ldpnb.run.parallel import interrupts_held_back

BOUND, _FORKED = "ldpnb-bound", "ldpnb-forked"
_SHARED = (
    "loky",  # a kernel that a loky worker starts is told of its way to start processes
    "ipykernel.kernelapp",
    "ipykernel.debugger",
    "ipywidgets",
    "scipy.optimize",
    "scipy.stats",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "ldpnb.notebook.figures",
    "ldpnb.notebook.live",
    "ldpnb.notebook.verdicts",
    *(f"ldpnb.papers.{source}.claims" for source in LEDGERS),
)


def bind_kernels() -> None:
    """Let kernels that this process starts from now on end with it."""
    factory = KernelProvisionerFactory.instance()
    if sys.platform == "linux" and factory.default_provisioner_name != _FORKED:
        factory.default_provisioner_name = BOUND


def share_imports() -> None:
    """Let kernels that this process starts from now on share their imports, where that is safe.

    That is on Linux, outside daemons. A kernel with its imports is there after 0.6 s instead of 2 s, the first one of a
    process after 3.2 s, so that all notebooks together take an eighth less time (two cores, three jobs).
    """
    if sys.platform == "linux" and not multiprocessing.current_process().daemon:
        KernelProvisionerFactory.instance().default_provisioner_name = _FORKED
        multiprocessing.set_forkserver_preload(list(_SHARED))


class BoundKernel(LocalProvisioner):
    """A kernel that ends with the process that started it."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Start the kernel through a program that asks for its end and becomes it; without a reader it is silent."""
        if options.get("env", {}).get(environment.HEADLESS):
            options |= dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        through = [sys.executable, "-I", "-S", orphans.__file__, str(os.getpid())]
        return await super().launch_kernel([*through, *cmd], **options)


class ForkedKernel(LocalProvisioner):
    """A kernel forked from a process that has the imports."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Fork the kernel that `cmd` describes: ``python -m ipykernel_launcher`` and its arguments."""
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        fork = multiprocessing.get_context("forkserver").Process
        process = fork(target=_serve, args=(arguments, dict(options["env"]), options.get("cwd")), daemon=True)
        with interrupts_held_back():
            forkserver.ensure_running()
        process.start()
        self.process = cast("subprocess.Popen[bytes]", _Process(process))
        self.pid = self.pgid = process.pid
        return self.connection_info


def _serve(arguments: list[str], environment: Mapping[str, str], folder: str | None) -> None:
    """Become a kernel: what a new process has from its start is set anew after the fork."""
    import matplotlib as mpl
    import numpy as np
    import pandas as pd
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ.clear()
    os.environ.update(environment)
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    # what these libraries look up while they are imported
    random.seed()
    np.random.seed()  # noqa: NPY002  # for code that draws without a generator
    mpl.rcParams["backend"] = os.environ["MPLBACKEND"]
    pd.options.display.max_columns = 20
    with open(os.devnull, "r+b", buffering=0) as nowhere:
        for stream in range(3):
            os.dup2(nowhere.fileno(), stream)
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    os.chdir(folder or os.getcwd())
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    gc.freeze()  # what was imported stays: no collection looks through it again
    IPKernelApp.launch_instance([*arguments, "--IPKernelApp.parent_handle=0"])


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class _Process:
    """A `multiprocessing.Process` with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self._process.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()
