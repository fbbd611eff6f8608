"""JupyterLab shows the first notebook: reading changes nothing, and its live section works."""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from patience import PATIENCE

from ldpnb.run.catalogue import find

TOKEN = "of-this-test-alone"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that reads no settings of a user."""
    folder = tmp_path_factory.mktemp("lab")
    stored = json.loads(find("00_start_here").path.read_bytes())
    stored["metadata"]["language_info"]["version"] = platform.python_version()
    text = json.dumps(stored, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    for name in ("tour", "read"):
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")

    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        f"--port={port}",
        f"--IdentityProvider.token={TOKEN}",
    ]
    users = ("LDPNB_", "JUPYTER")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(users)}
    environment["HOME"] = str(folder)
    environment["JUPYTER_CONFIG_DIR"] = str(folder / "config")
    environment["JUPYTER_NO_CONFIG"] = "1"

    with (folder / "server.log").open("w") as log:
        streams = {"stdout": log, "stderr": log}
        server = subprocess.Popen(
            command, cwd=folder, env=environment, start_new_session=True, **streams
        )

    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api")
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(PATIENCE)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def wait_for(address: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=PATIENCE).close()
            return
        except OSError:
            time.sleep(0.05)

    pytest.fail("JupyterLab does not answer")


def test_a_notebook_that_is_only_read_is_not_changed(lab: str, open_page: Any) -> None:
    page = open_page()
    page.goto(f"{lab}/lab/tree/read.ipynb?reset&token={TOKEN}")
    page.get_by_text("| Idle").wait_for()

    page.mouse.move(600, 500)
    for _ in range(20):
        page.mouse.wheel(0, 600)

    page.locator(".jp-RenderedImage img").first.wait_for()
    assert page.locator(".jp-mod-dirty").count() == 0


def test_the_tour_runs_and_its_live_section_follows_a_slider(lab: str, open_page: Any) -> None:
    from playwright.sync_api import expect

    page = open_page()
    page.goto(f"{lab}/lab/tree/tour.ipynb?reset&token={TOKEN}")
    page.get_by_text("| Idle").wait_for()

    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator("[data-command='runmenu:run-all']").click()
    section = page.locator(".widget-vbox", has=page.locator(".widget-interact")).last
    picture = section.locator(".widget-html img")
    picture.wait_for()
    page.get_by_text("| Idle").wait_for()

    errors = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']")
    before = picture.get_attribute("alt")
    assert errors.count() == 0
    assert section.locator(".widget-html b").text_content() == before

    slider = section.locator(".noUi-handle").first
    slider.scroll_into_view_if_needed()
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")

    expect(picture).not_to_have_attribute("alt", before, timeout=1000 * PATIENCE)
    assert section.locator(".widget-html b").text_content() == picture.get_attribute("alt")
