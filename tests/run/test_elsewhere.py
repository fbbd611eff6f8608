"""Where a system lacks what Linux has, kernels, interrupts and workers do without, forced here."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_client.provisioning import KernelProvisionerFactory

from ldpnb.run import kernels, orphans, parallel

# what a run does on macOS: no kernel is forked from another process, none asks to end with its parent
ELSEWHERE = """
import sys
from types import SimpleNamespace
from ldpnb.run import kernels, orphans
from ldpnb import cli
kernels.sys = orphans.sys = SimpleNamespace(platform="darwin", executable=sys.executable)
from jupyter_client.provisioning import KernelProvisionerFactory
cli.cli(sys.argv[1:], standalone_mode=False)
print("provisioner:", KernelProvisionerFactory.instance().default_provisioner_name)
"""


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_kernels_are_ordinary_ones_on_other_systems(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factory = KernelProvisionerFactory.instance()
    monkeypatch.setattr(factory, "default_provisioner_name", "local-provisioner")
    for module in (kernels, orphans):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform=platform))
    kernels.bind_kernels()
    kernels.share_imports()
    orphans.die_with_parent()
    assert factory.default_provisioner_name == "local-provisioner"


def test_interrupts_are_left_alone_where_they_cannot_be_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "pthread_sigmask")
    with parallel.interrupts_held_back():
        pass


@pytest.mark.skipif(not os.environ.get("LDPNB_THOROUGH"), reason="a whole run; LDPNB_THOROUGH=1 tries it")
def test_a_notebook_runs_with_an_ordinary_kernel(checkout: Path) -> None:
    command = [sys.executable, "-c", ELSEWHERE, "run", "01_line", "--jobs", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout)
    assert run.returncode == 0, run.stderr
    assert "01_line" in run.stdout
    assert "provisioner: local-provisioner" in run.stdout
