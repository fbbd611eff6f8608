"""Use every public name and run a notebook, as a browser's Python (Pyodide) would.

This is a script, which `test_library.py` runs. What Pyodide lacks cannot be imported here, and no
process or thread starts.
"""

import json
import os
import subprocess
import sys
import threading
import tomllib
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from ldpnb.site.notebooks import IN_A_BROWSER

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


def not_installed() -> set[str]:
    """The libraries of the extra `notebooks` that the first cell in a browser does not install."""
    words = IN_A_BROWSER.partition("-q ")[2].split()
    installed = {"numpy", "scipy", "ipython", *words}
    waiting = [word for word in installed if word != "ldpnb"]
    while waiting:
        for requirement in map(Requirement, requires(waiting.pop()) or []):
            name = canonicalize_name(requirement.name)
            is_wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if is_wanted and name not in installed:
                installed.add(name)
                waiting.append(name)

    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["optional-dependencies"]["notebooks"]
    extra = {canonicalize_name(Requirement(line).name) for line in lines}
    left_out = extra - installed
    modules = packages_distributions()
    return {
        module
        for module, distributions in modules.items()
        if left_out.intersection(map(canonicalize_name, distributions))
    }


def main() -> None:
    lacked = LACKED_BY_PYTHON | RUNS_NOTEBOOKS | not_installed()
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

    path = HOME / "notebooks" / sys.argv[1]
    os.chdir(path.parent)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            shell.run_cell("".join(cell["source"])).raise_error()

    print(f"{len(cells)} cells")


if __name__ == "__main__":
    main()
