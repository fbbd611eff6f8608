"""What tests in several folders use: a small checkout, the command line in it, and the site.

It also orders the files of tests, and says at the end what could not be tried.
"""

import gc
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from demonstration import COMPUTE, PARAMETERS, notebook
from patience import PATIENCE

from ldpnb import cli
from ldpnb.notebook.environment import FIGURES_FOLDER
from ldpnb.run import catalogue

# a shell's background job ignores Ctrl-C, and so would everything that a test starts and interrupts
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Collect files that are named as tests; the others are helpers and programs."""
    is_helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_helper else None


WAITING = (
    "tests/browser/",
    "tests/test_sweep.py",
    "tests/run/test_runner.py",
    "tests/run/test_sameness.py",
    "tests/run/test_setup.py",
    "tests/ecosystem/",
)
"""Tests that wait for other processes more than they compute."""


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread tests that wait over the first half of the run, and leave the others where they are.

    So no core is idle at first, and none still waits at the end.
    """
    files = list(dict.fromkeys(file_of(item) for item in items))
    waiting = [name for name in files if name.startswith(WAITING)]

    places = {name: float(place) for place, name in enumerate(files)}
    for turn, name in enumerate(waiting):
        places[name] = len(files) / 2 * turn / len(waiting) - 0.5
    items.sort(key=lambda item: places[file_of(item)])


def pytest_collection_finish() -> None:
    """Keep what is imported and collected out of later collections of garbage; it stays anyway.

    From Python 3.14 on, hypothesis does not find what refers to its generator if that is frozen.
    """
    if sys.version_info < (3, 14):
        gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say in one line what was not tried because something is not installed."""
    missing: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            if "brings" in reason:
                missing[reason] += 1

    if missing:
        reasons = [f"{number} tests or files: {reason}" for reason, number in missing.items()]
        line = f"NOT TRIED: {'; '.join(reasons)}"
        terminalreporter.write_line(line, red=True, bold=True)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one notebook that works and one that fails."""
    folder = tmp_path / "notebooks" / "1_demo"
    folder.mkdir(parents=True)
    (folder / "01_line.ipynb").write_text(notebook(PARAMETERS, COMPUTE))
    (folder / "02_broken.ipynb").write_text(notebook("seed: int = 1  # seed", "1 / 0"))

    monkeypatch.setenv(catalogue.HOME_VARIABLE, str(tmp_path))
    monkeypatch.setenv(FIGURES_FOLDER, "")
    catalogue.catalogue.cache_clear()
    yield tmp_path
    catalogue.catalogue.cache_clear()


@pytest.fixture
def ldpnb(checkout: Path) -> Callable[..., subprocess.CompletedProcess]:
    """The command line in that checkout."""

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "ldpnb", *arguments],
            cwd=checkout,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return call


@pytest.fixture
def said(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """What the command line says when it refuses its arguments, called in this process."""

    def call(*arguments: str) -> str:
        monkeypatch.chdir(checkout)
        monkeypatch.setattr(sys, "argv", ["ldpnb", *arguments])

        with pytest.raises(SystemExit) as ended:
            cli.main()

        assert ended.value.code == 2
        return capsys.readouterr().err

    return call


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the committed notebooks, as `make site` builds it.

    The first process of the run that needs it builds it for all.
    """
    import fcntl

    pytest.importorskip("myst_nb", reason="no myst_nb in this environment; `make site` brings it")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "site"

    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            command = [sys.executable, "-m", "ldpnb.site", str(folder)]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stderr
            assert str(folder / "index.html") in result.stdout

    return folder
