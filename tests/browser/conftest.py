"""A browser that reaches nothing but this machine, and a record of what its pages do unseen.

The record says what pages ask of other machines and which errors they raise.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
HERE = re.compile(r"(https?|wss?)://127\.0\.0\.1[:/]|(file|data|blob|about|chrome):")
QUIET = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
]
ALONE = ["--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=127.0.0.1"]
"""What leaves this machine ends at a port where nobody listens.

To intercept requests instead would slow each of them down.
"""


def missing_browser() -> str:
    """What would have to be installed, or nothing."""
    if not any(map(shutil.which, BROWSERS)):
        return "no chromium on this machine; `apt-get install chromium` brings it"

    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "no playwright in this environment; `make site` brings it"

    return ""


@dataclass
class Seen:
    """What pages did behind the reader's back."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's browser. Where there is none, tests are skipped, or fail in CI."""
    missing = missing_browser()
    if missing and os.environ.get("CI") == "true":
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)

    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)))
    flags = [*ALONE, *QUIET]
    if os.geteuid() == 0:  # who has no user namespace for the sandbox
        flags.append("--no-sandbox")

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=path, args=flags, timeout=1000 * PATIENCE
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def record() -> Seen:
    return Seen()


@pytest.fixture
def seen(record: Seen) -> Seen:
    """The record, empty at the beginning of a test."""
    record.outside.clear()
    record.errors.clear()
    return record


@pytest.fixture(scope="module")
def open_page(browser: Any, record: Seen) -> Iterator[Callable[..., Any]]:
    """Open a page in a context of its own; what it asks of others and its errors are recorded."""
    contexts = []

    def note_request(asked: Any) -> None:
        if not HERE.match(asked.url):
            record.outside.append(asked.url)

    def note_message(message: Any) -> None:
        if message.type == "error":
            record.errors.append(message.text)

    def note_error(error: Any) -> None:
        record.errors.append(str(error))

    def open_(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        context.on("request", note_request)

        page = context.new_page()
        page.on("websocket", note_request)
        page.on("console", note_message)
        page.on("pageerror", note_error)
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def visit(site: Path, open_page: Callable[..., Any]) -> Callable[..., Any]:
    """Open a page of the site from disk; all visits with the same options share a window."""
    windows: dict[str, Any] = {}

    def go(name: str, **options: Any) -> Any:
        key = str(options)
        if key not in windows:
            windows[key] = open_page(**options)

        # Another place of the page that is open would not load it anew.
        window = windows[key]
        address = f"{site.as_uri()}/{name}"
        if window.url.partition("#")[0] == address.partition("#")[0]:
            window.goto("about:blank")

        window.goto(address)
        return window

    return go
