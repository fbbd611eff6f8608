"""Run as a script: every public name and the tour's cells as in Pyodide, where what it lacks is
missing and no process or thread starts.
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
LACKED = {
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
}
LACKED |= {"resource", "syslog", "tkinter", "venv", "jupyter_client", "nbclient", "zmq"}
"""Of Python 3.14 and of what runs notebooks; to these come the dependencies that are not for a
browser.
"""


class Lacked(MetaPathFinder):
    """What a browser has not is not installed."""

    def find_spec(self, name, path=None, target=None):
        if name in LACKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def refused(*_given, **_named):
    raise RuntimeError("a browser starts no process and no thread")


def main() -> None:
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    LACKED.update(
        line.partition(">")[0].replace("-", "_")
        for line in project["optional-dependencies"]["notebooks"]
        if "!= 'emscripten'" in line
    )
    shell = InteractiveShell.instance(history_manager=None)

    for name in LACKED & sys.modules.keys():
        del sys.modules[name]

    sys.meta_path.insert(0, Lacked())
    os.fork = subprocess.Popen = threading.Thread.start = refused
    import ldpnb

    for name in ldpnb.__all__:
        getattr(ldpnb, name)

    cells = nbformat.read(HOME / "notebooks/00_start_here.ipynb", 4).cells
    for cell in (cell for cell in cells if cell.cell_type == "code"):
        shell.run_cell(cell.source).raise_error()

    print(f"{len(cells)} cells")


if __name__ == "__main__":
    main()
