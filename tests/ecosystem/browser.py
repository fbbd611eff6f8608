"""Use every public name and run the first notebook, as a browser's Python (Pyodide) would.

This is a script, which `test_library.py` runs. What Pyodide lacks cannot be imported here, and no
process or thread starts.
"""

import os
import subprocess
import sys
import threading
import tomllib
from importlib.abc import MetaPathFinder
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell

HOME = Path(__file__).parents[2]
LACKED_BY_PYTHON = {
    "_curses",
    "_dbm",
    "_multiprocessing",
    "_posixshmem",
    "curses",
    "dbm",
    "ensurepip",
    "grp",
    "pwd",
    "readline",
    "resource",
    "syslog",
    "tkinter",
    "venv",
}
"""Modules of Python 3.14 that Pyodide does not have."""

RUNS_NOTEBOOKS = {"jupyter_client", "nbclient", "zmq"}
"""What runs notebooks in processes."""


class Lacked(MetaPathFinder):
    """Modules that look as if they were not installed."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def refused(*_given, **_named):
    raise RuntimeError("a browser starts no process and no thread")


def not_for_a_browser() -> set[str]:
    """The dependencies that `pyproject.toml` does not ask for in a browser."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["optional-dependencies"]["notebooks"]
    left_out = [line for line in lines if "!= 'emscripten'" in line]
    return {line.partition(">")[0].replace("-", "_") for line in left_out}


def main() -> None:
    lacked = LACKED_BY_PYTHON | RUNS_NOTEBOOKS | not_for_a_browser()
    shell = InteractiveShell.instance(history_manager=None)

    for name in lacked & sys.modules.keys():
        del sys.modules[name]

    sys.meta_path.insert(0, Lacked(lacked))
    os.fork = refused
    subprocess.Popen = refused
    threading.Thread.start = refused

    import ldpnb

    for name in ldpnb.__all__:
        getattr(ldpnb, name)

    cells = nbformat.read(HOME / "notebooks/00_start_here.ipynb", 4).cells
    for cell in cells:
        if cell.cell_type == "code":
            shell.run_cell(cell.source).raise_error()

    print(f"{len(cells)} cells")


if __name__ == "__main__":
    main()
