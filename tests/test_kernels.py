"""Kernels that share their imports are as fresh as any other, give the same results, and end with whoever started them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="imports are shared on Linux only")

RUN = """
import os, sys
from pathlib import Path
from jupyter_client.manager import KernelManager
from ldpnb.companion import kernel_environment
from ldpnb.kernels import share_imports

def ask(client, code):
    said = []
    reply = client.execute_interactive(code, output_hook=lambda m: said.append(m["content"].get("text", "")))
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(said)

def start(folder):
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=folder, env={**os.environ, "OF_THIS_KERNEL": folder})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client

if __name__ == "__main__":
    os.environ.update(kernel_environment(None))
    SHARE
    one, other = sys.argv[1:]
    MAIN
"""


def run(tmp_path: Path, main: str, share: bool = True) -> subprocess.CompletedProcess:
    (tmp_path / "one").mkdir(exist_ok=True)
    (tmp_path / "other").mkdir(exist_ok=True)
    script = tmp_path / "script.py"
    script.write_text(
        RUN.replace("SHARE", "share_imports()" if share else "pass").replace("MAIN", main.replace("\n", "\n    "))
    )
    command = [sys.executable, str(script), str(tmp_path / "one"), str(tmp_path / "other")]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


def test_kernels_are_processes_with_their_own_folder_environment_and_variables(tmp_path: Path) -> None:
    main = """\
first, a = start(one)
second, b = start(other)
about = "import os, sys; print(os.getpid(), os.getsid(0), os.getcwd(), os.environ['OF_THIS_KERNEL'], 'x' in globals(), sys.argv[0])"
ask(a, "x = 1")
print(ask(b, about), ask(a, about), sep="")
draw = "import random, numpy; print(random.random(), numpy.random.rand())"
print(ask(a, draw), ask(b, draw), sep="")
for manager in (first, second):
    manager.shutdown_kernel(now=True)
    assert not manager.is_alive()
"""
    result = run(tmp_path, main)
    assert result.returncode == 0, result.stderr
    b, a, *drawn = filter(None, result.stdout.splitlines())
    (pid, session, folder, own, has_x, _), other = b.split(), a.split()
    assert pid == session != other[0]
    assert folder == own == str(tmp_path / "other")
    assert (has_x, other[4]) == ("False", "True")
    assert len(set(" ".join(drawn).split())) == 4


def test_what_a_shared_kernel_shows_is_what_an_ordinary_one_shows(tmp_path: Path) -> None:
    main = """\
manager, client = start(one)
print(ask(client, "import matplotlib, pandas, sys; print(type(manager) if 'manager' in globals() else '')"))
print(ask(client, "print(matplotlib.rcParams['backend'], pandas.options.display.max_columns, pandas.options.display.width)"))
print(ask(client, "import matplotlib.pyplot as p; from ldpnb import figures; print(p.get_fignums(), p.rcParams['font.size'])"))
print(ask(client, "print(sorted(k for k in globals() if not k.startswith('_')), __name__)"))
manager.shutdown_kernel(now=True)
"""
    shared, ordinary = (run(tmp_path, main, share) for share in (True, False))
    assert shared.returncode == ordinary.returncode == 0, shared.stderr + ordinary.stderr
    assert shared.stdout == ordinary.stdout


def test_a_kernel_ends_with_whoever_started_it(tmp_path: Path) -> None:
    main = """\
manager, client = start(one)
print(ask(client, "import os; print(os.getpid())"), flush=True)
os.kill(os.getpid(), 9)
"""
    result = run(tmp_path, main)
    assert result.returncode == -9
    pid = int(result.stdout)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.1)
    pytest.fail(f"kernel {pid} goes on without its parent")
