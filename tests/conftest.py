"""A small checkout to run notebooks in, and the command line as a user calls it."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from demonstration import COMPUTE, PARAMETERS, notebook
from patience import PATIENCE

from ldpnb import cli
from ldpnb.notebook.environment import FIGURES_FOLDER
from ldpnb.run import catalogue

if sys.platform != "win32":
    import fcntl

collect_ignore = ["run/recovery.py", *(f"boundary/{area}.py" for area in ("commands", "functions", "notebooks"))]
"""Scripts that tests start."""


FIRST = ("tests/run/test_recovery.py", "tests/browser", "tests/boundary")
"""What takes longest, in this order: the many short ones fill what is left."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests."""
    items.sort(key=lambda item: next((n for n, at in enumerate(FIRST) if item.nodeid.startswith(at)), len(FIRST)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Collect in one process after the other, so that the first compiles what all others load, and let garbage be.

    What is collected stays, so that the collector of garbage need not look through it again and again.
    """
    gc.disable()
    with open(__file__) as turn:
        if sys.platform != "win32":
            fcntl.flock(turn, fcntl.LOCK_EX)
        found = yield
    gc.enable()
    gc.freeze()
    return found


@pytest.fixture(autouse=True)
def _no_figures_of_other_tests() -> None:
    """Start every test without open figures, whatever ran before it in the same process."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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
        command = [sys.executable, "-m", "ldpnb", *arguments]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            cwd=checkout,
            timeout=PATIENCE,
            check=False,
        )

    return call


@pytest.fixture
def said(checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command line says of what it refuses, called in this process."""

    def call(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["ldpnb", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        return capsys.readouterr().err

    return call


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[int]]:
    """Return a function that makes a list grow by one entry whenever a function is called."""

    def count(module: Any, name: str) -> list[int]:
        calls, plain = [], getattr(module, name)

        def noted(*given: Any, **named: Any) -> Any:
            calls.append(1)
            return plain(*given, **named)

        monkeypatch.setattr(module, name, noted)
        return calls

    return count


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the committed notebooks, from the command line; built by the first process of the run that needs it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            few = ["--play", "03_cluster", "--settings", "12"]
            command = [sys.executable, "-m", "ldpnb", "site", "--output", str(folder), *few]
            environment = os.environ | {"PYTHONHASHSEED": "1"}
            result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            assert result.returncode == 0, result.stderr
            assert str(folder / "index.html") in result.stdout
    return folder
