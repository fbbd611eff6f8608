"""A small notebook for tests, and a run of it that works until it is ended."""

import subprocess
import sys
import time
from pathlib import Path

from nbformat import v4
from patience import PATIENCE

PARAMETERS = """\
users: int = 4  # number of users
factor: float = 0.5  # what they are multiplied by
label: str = "a"  # a name"""

COMPUTE = """\
import pandas as pd
from ldpnb.notebook import curves, publish
table = pd.DataFrame({"x": range(users), "y": [factor * i for i in range(users)]})
publish(curves(table, "x", "y"), table, "figure_1", caption="A line.")"""


def notebook(*cells: str) -> str:
    """The text of a notebook with these code cells, of which the first is tagged parameters."""
    made = [v4.new_markdown_cell("# A demonstration")]
    made += [v4.new_code_cell(cell) for cell in cells]
    made[1].metadata.tags = ["parameters"]

    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return v4.writes(v4.new_notebook(cells=made, metadata=kernel))


WORK = {
    "idle": "time.sleep(600)",
    "Python": "sum(range(10**12))",
    "numpy": "any((a @ a)[0, 0] > 2 for _ in range(10**9))",
}
"""Work without end, in which an interrupt meets a wait, Python's own loop, or compiled code."""

ENDLESS = """\
import os, pathlib, time, numpy
pathlib.Path({place!r}).write_text(f'{{os.getpid()}} ')
a = numpy.eye(2000)
{work}"""


def begun(checkout: Path, work: str) -> tuple[subprocess.Popen[str], int]:
    """Start a run of a notebook that works until it is ended.

    Returns the process of the run and the number of its kernel's process.
    """
    place = checkout / "kernel"
    place.unlink(missing_ok=True)
    endless = ENDLESS.format(place=str(place), work=WORK[work])
    (checkout / "notebooks/1_demo/01_line.ipynb").write_text(notebook(PARAMETERS, COMPUTE, endless))

    command = [sys.executable, "-m", "ldpnb", "run", "01_line"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)

    end = time.monotonic() + PATIENCE
    while not (place.exists() and place.read_text().endswith(" ")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.02)

    return process, int(place.read_text())


def gone(process: int) -> bool:
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
