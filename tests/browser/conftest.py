"""A browser that can reach nothing but this machine, and a record of what its pages asked for
and complained about.
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

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HERE = re.compile(r"(https?|wss?)://127\.0\.0\.1[:/]|(file|data|blob|about|chrome):")
QUIET = ("gpu", "quic", "background-networking", "component-update")
# what leaves this machine ends at a port where nobody listens; to intercept requests instead would
# slow each of them down
ALONE = ["--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=127.0.0.1"]


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
    """The system's browser; tests are skipped where there is none, except in continuous
    integration.
    """
    missing = missing_browser()

    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)

    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)))
    # root has no user namespace for the sandbox
    flags = [
        *ALONE,
        *(f"--disable-{what}" for what in QUIET),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]

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
    """Open a page in a context of its own; whatever it asks of other machines is recorded."""
    contexts = []

    def note(asked: Any) -> None:
        if not HERE.match(asked.url):
            record.outside.append(asked.url)

    def open_(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        context.on("request", note)
        page = context.new_page()
        page.on("websocket", note)
        page.on("console", lambda m: record.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: record.errors.append(str(e)))

        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def visit(site: Path, open_page: Callable[..., Any]) -> Callable[..., Any]:
    """Open a page of the site from disk, in the window given or in one that all visits with the
    same options share.
    """
    shared: dict[str, Any] = {}

    def go(name: str, page: Any = None, **options: Any) -> Any:
        window = page or shared.get(str(options)) or open_page(**options)
        address = f"{site.as_uri()}/{name}"
        if page is None:
            shared[str(options)] = window
            if window.url.partition("#")[0] == address.partition("#")[0]:
                window.goto(
                    "about:blank"
                )  # else another place of the same page would not load it anew

        window.goto(address)
        return window

    return go
