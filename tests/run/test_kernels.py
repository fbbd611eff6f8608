"""Kernels that share their imports are as fresh as any other, show the same, and end with whoever started them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from test_faulty_kernels import wait_for_end

Done = subprocess.CompletedProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="imports are shared on Linux only")

SCRIPT = """
import os, sys
from jupyter_client.manager import KernelManager
from ldpnb.run.execution import kernel_environment
from ldpnb.run import kernels

SHOWN = '''
import matplotlib, pandas, sys
print(matplotlib.rcParams["backend"], pandas.options.display.max_columns, pandas.options.display.width)
print(sorted(name for name in globals() if not name.startswith("_")), __name__)
import matplotlib.pyplot as p
from ldpnb.notebook import figures
print(p.get_fignums(), p.rcParams["font.size"])
'''
ABOUT = '''
import os, random, numpy
print(os.getpid(), os.getsid(0), os.getcwd(), os.environ["OF_THIS_KERNEL"], "x" in globals())
print(random.random(), numpy.random.rand())
'''

def ask(client, code):
    said = []
    reply = client.execute_interactive(code, output_hook=lambda m: said.append(m["content"].get("text", "")))
    assert reply["content"]["status"] == "ok", reply["content"]
    print("".join(said), end="", flush=True)

def start(folder):
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=folder, env={**os.environ, "OF_THIS_KERNEL": folder})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=600)
    return manager, client

if __name__ == "__main__":
    os.environ.update(kernel_environment(None))
    one, other, shared = sys.argv[1:]
    if shared:
        kernels._SHARED = tuple(name for name in kernels._SHARED if ".papers." not in name)  # which take seconds
        kernels.share_imports()
    first, a = start(one)
    ask(a, SHOWN)
    if shared:
        second, b = start(other)
        ask(a, "x = 1")
        ask(a, ABOUT)
        ask(b, ABOUT)
        first.shutdown_kernel(now=True)
        assert not first.is_alive()
        os.kill(os.getpid(), 9)
    first.shutdown_kernel(now=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "script.py").write_text(SCRIPT)
    for name in ("one", "other"):
        (folder / name).mkdir()
    return folder


def run(folder: Path, shared: str) -> Done:
    command = [sys.executable, str(folder / "script.py"), str(folder / "one"), str(folder / "other"), shared]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)


@pytest.fixture(scope="module")
def shared(folder: Path) -> Done:
    """Two kernels; the first is stopped, then their parent kills itself."""
    result = run(folder, "shared")
    assert result.returncode == -9, result.stderr
    return result


def test_kernels_are_processes_with_folder_environment_and_seeds_of_their_own(shared: Done, folder: Path) -> None:
    *_, first, drawn_first, second, drawn_second = shared.stdout.splitlines()
    (pid, session, cwd, own, has_x), other = second.split(), first.split()
    assert pid == session != other[0]
    assert cwd == own == str(folder / "other")
    assert (has_x, other[4]) == ("False", "True")
    assert len({*drawn_first.split(), *drawn_second.split()}) == 4


def test_what_a_shared_kernel_shows_is_what_an_ordinary_one_shows(shared: Done, folder: Path) -> None:
    ordinary = run(folder, "")
    assert ordinary.returncode == 0, ordinary.stderr
    assert shared.stdout.splitlines()[:-4] == ordinary.stdout.splitlines()


def test_a_kernel_ends_with_whoever_started_it(shared: Done) -> None:
    wait_for_end(int(shared.stdout.splitlines()[-2].split()[0]))
