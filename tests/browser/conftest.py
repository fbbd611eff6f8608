"""A browser that can reach nothing but this machine, and a record of what its pages asked for and complained about."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HERE = re.compile(r"(https?|wss?)://127\.0\.0\.1[:/]|(file|data|blob|about|chrome):")
QUIET = ("gpu", "quic", "background-networking", "component-update")


def missing_browser() -> str:
    """What would have to be installed, or nothing."""
    if not any(map(shutil.which, BROWSERS)):
        return "no chromium on this machine; `apt-get install chromium` brings it"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "no playwright in this environment; `make test` installs it"
    return ""


@dataclass
class Seen:
    """What pages did behind the reader's back."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's browser; tests are skipped where there is none, except in continuous integration."""
    missing = missing_browser()
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)))
    # root has no user namespace for the sandbox
    flags = [*(f"--disable-{what}" for what in QUIET), *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=flags)
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
    """Open a page in a context of its own; whatever leaves this machine is recorded and stopped."""
    contexts = []

    def stop(route: Any) -> None:
        record.outside.append(route.request.url)
        route.abort()

    def open_(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        context.route(lambda url: not HERE.match(url), stop)
        page = context.new_page()
        page.on("websocket", lambda s: None if HERE.match(s.url) else record.outside.append(s.url))
        page.on("console", lambda m: record.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: record.errors.append(str(e)))
        return page

    yield open_
    for context in contexts:
        context.close()
