"""JupyterLab as `make lab` starts it: notebooks run to their end, and their live sections follow the hand."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from ldpnb.run.catalogue import catalogue, home

SOURCES = ("biswas2022", "bun2022", "lecture20") if "LDPNB_THOROUGH" in os.environ else ()
SHOWN = ["00_start_here", *(next(n.id for n in catalogue() if n.source == s) for s in SOURCES)]


@dataclass
class Lab:
    address: str
    token: str
    log: Path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The server on copies of the notebooks, with no settings but the companion's."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(home() / "notebooks", folder / "notebooks")
    port, runtime, log = free_port(), folder / "runtime", folder / "server.log"
    names = {"CONFIG_DIR": "config", "DATA_DIR": "data"}
    own = {f"JUPYTER_{n}": str(folder / p) for n, p in names.items()} | {"JUPYTER_RUNTIME_DIR": str(runtime)}
    own |= {f"JUPYTERLAB_{n}_DIR": str(folder / n.lower()) for n in ("SETTINGS", "WORKSPACES")}
    own |= {"HOME": str(folder), "IPYTHONDIR": str(folder / "ipython"), "LDPNB_HOME": str(folder)}
    options = ["--no-browser", f"--port={port}", "--ServerApp.port_retries=0"]
    options += ["--allow-root"] if os.geteuid() == 0 else []
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LDPNB_", "JUPYTER"))}
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",
                "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
                *options,
            ],
            cwd=folder,
            env=kept | own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield Lab(f"http://127.0.0.1:{port}", _token(runtime, server, log), log)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(PATIENCE)


def _token(runtime: Path, server: subprocess.Popen[bytes], log: Path) -> str:
    """The server's token, once it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        for path in runtime.glob("jpserver-*.json"):
            try:
                about = json.loads(path.read_text())
                urllib.request.urlopen(f"{about['url']}api", timeout=PATIENCE).close()
                return str(about["token"])
            except (OSError, ValueError):
                continue
        time.sleep(0.1)
    raise RuntimeError(log.read_text()[-2000:])


@pytest.fixture(scope="module")
def page(open_page: Any, lab: Lab, record: Any) -> Any:
    """One page for all notebooks, which spares loading JupyterLab anew."""
    page = open_page()
    page.goto(f"{lab.address}/lab?reset&token={lab.token}")
    page.get_by_role("menuitem", name="File", exact=True).wait_for()
    assert (record.outside, record.errors) == ([], [])
    return page


@pytest.mark.parametrize("notebook", SHOWN)
def test_a_notebook_runs_and_its_live_section_follows_the_slider(notebook: str, page: Any, seen: Any) -> None:
    page.get_by_role("menuitem", name="File", exact=True).click()
    page.locator("[data-command='filebrowser:open-path']").click()
    page.locator(".jp-Dialog input").fill(f"notebooks/{notebook}.ipynb")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_text("| Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator("[data-command='runmenu:run-all']").click()
    live = page.locator(".widget-vbox", has=page.locator(".ldpnb-number")).last
    number, figure = live.locator(".ldpnb-number b"), live.locator(".ldpnb-figure img")
    number.wait_for()
    page.get_by_text("| Idle").wait_for()
    assert not page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']").count()
    live.scroll_into_view_if_needed()
    before = (number.text_content(), figure.get_attribute("src"))
    assert figure.get_attribute("alt") == before[0]
    drag_until_it_changes(page, live, before[0])
    assert figure.get_attribute("alt") == number.text_content()
    assert figure.get_attribute("src") != before[1]
    live.get_by_role("button", name="Reset").click()
    wait_until(lambda: (number.text_content(), figure.get_attribute("src")) == before)
    page.get_by_role("menuitem", name="File", exact=True).click()
    page.locator("[data-command='filemenu:close-and-cleanup']").click()
    page.get_by_role("button", name="Ok").click()
    # on a busy machine JupyterLab closes a kernel before its debugger, which it asked of its own accord, has answered
    errors = [error for error in seen.errors if not error.startswith("Could not restore the debugger state: Canceled")]
    assert (seen.outside, errors) == ([], [])


def drag_until_it_changes(page: Any, live: Any, text: str) -> None:
    """Drag one slider after the other, to one side and the other, until the sentence is another."""
    number, figure = live.locator(".ldpnb-number b"), live.locator(".ldpnb-figure img")
    for handle in live.locator(".noUi-handle").all():
        for offset in (90, -200):
            before = figure.get_attribute("src")
            handle.scroll_into_view_if_needed()
            box = handle.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            for part in (0.3, 0.6, 1):
                page.mouse.move(x + part * offset, y)
            page.mouse.up()
            wait_until(lambda before=before: figure.get_attribute("src") != before)
            settled(page, figure)
            if number.text_content() != text:
                return
    raise AssertionError(f"no slider changes the sentence {text!r}")


def settled(page: Any, figure: Any) -> None:
    """Wait until the redraws that a drag has asked for are done."""
    seen = ""
    while seen != (seen := figure.get_attribute("src")):
        page.wait_for_timeout(300)
        page.get_by_text("| Idle").wait_for()


def wait_until(holds: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
