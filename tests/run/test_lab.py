"""JupyterLab asks for a token on the loopback interface, whatever its user's settings say, and ends with its kernels."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client import BlockingKernelClient
from patience import PATIENCE
from test_faulty_kernels import wait_for_end
from test_processes import BUSY

HOSTILE = """
c.IdentityProvider.token = c.PasswordIdentityProvider.token = c.ServerApp.token = ""
c.ServerApp.ip = "0.0.0.0"
c.ServerApp.allow_remote_access = c.ServerApp.allow_unauthenticated_access = True
c.ServerApp.disable_check_xsrf = c.ServerApp.trust_xheaders = True
c.ServerApp.root_dir = "/"
c.ServerApp.sock = "/tmp/ldpnb-hostile.sock"
c.ServerApp.allow_origin = "*"
c.ServerApp.identity_provider_class = "jupyter_server.auth.identity.IdentityProvider"
"""


@pytest.fixture
def server(checkout: Path) -> Iterator[tuple[str, subprocess.Popen]]:
    """The address that a lab with hostile settings tells, and its process."""
    home = checkout / "home"
    (home / ".jupyter").mkdir(parents=True)
    for name in ("jupyter_server_config.py", "jupyter_lab_config.py", "jupyter_config.py"):
        (home / ".jupyter" / name).write_text(HOSTILE)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    environment |= {"HOME": str(home), "JUPYTER_RUNTIME_DIR": str(checkout / "runtime")}
    command = [sys.executable, "-m", "ldpnb", "lab", "--no-browser", "--ServerApp.port=0", "--allow-root"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    told = ""
    while not (found := re.search(r"for one: (\w+)\n(?s:.*)(http://[\d.]+:\d+)/lab", told)):
        line = process.stderr.readline()
        assert line, told
        told += line
    yield f"{found[2]}/?token={found[1]}", process
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def status(address: str) -> int:
    for _ in range(100):
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except urllib.error.URLError:
            time.sleep(0.1)
    return 0


def test_the_lab_asks_for_its_token_whatever_its_users_settings_say_and_ends_with_its_kernels(
    server: tuple[str, subprocess.Popen], checkout: Path
) -> None:
    base, token = re.fullmatch(r"(http://[\d.:]+)/.*token=(\w+)", server[0]).groups()
    assert len(token) == 48
    assert status(f"{base}/api/contents") == 403
    assert status(f"{base}/api/contents?token=") == 403
    with urllib.request.urlopen(f"{base}/api/contents?token={token}", timeout=PATIENCE) as answer:
        assert b"notebooks" in answer.read()
    port = int(base.rpartition(":")[2])
    listening = {line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if f":{port:04X} " in line}
    assert {address for address in listening if address.endswith(f":{port:04X}")} == {f"0100007F:{port:04X}"}
    started = urllib.request.Request(f"{base}/api/kernels?token={token}", data=b"{}", method="POST")
    with urllib.request.urlopen(started, timeout=PATIENCE) as answer:
        kernel = json.load(answer)["id"]
    client = BlockingKernelClient(connection_file=str(checkout / f"runtime/kernel-{kernel}.json"))
    client.load_connection_file()
    client.start_channels(hb=False)  # a heart that beats late on a busy machine is no dead kernel
    client.wait_for_ready(timeout=PATIENCE)
    client.execute(BUSY.format(str(checkout / "begun.")))
    while not (begun := list(checkout.glob("begun.*"))):
        time.sleep(0.05)
    server[1].kill()
    wait_for_end(int(begun[0].suffix[1:]))
    client.stop_channels()
