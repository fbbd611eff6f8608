"""A small notebook: what it declares, what it computes, its file, and a run of it that works
until it is ended.
"""

import subprocess
import sys
import time
from pathlib import Path

from nbformat import v4
from patience import PATIENCE

PARAMETERS = 'users: int = 4  # number of users\nfactor: float = 0.5  # what they are multiplied by\nlabel: str = "a"  # a name'
COMPUTE = (
    "import pandas as pd\n"
    "from ldpnb.notebook import curves, publish\n"
    'table = pd.DataFrame({"x": range(users), "y": [factor * i for i in range(users)]})\n'
    'publish(curves(table, "x", "y"), table, "figure_1", caption="A line.")'
)


def notebook(*cells: str) -> str:
    """A notebook whose first code cell is tagged parameters."""
    tags = [{"tags": ["parameters"]}] + [{}] * (len(cells) - 1)
    made = [
        v4.new_code_cell(cell, metadata=tagged) for cell, tagged in zip(cells, tags, strict=True)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}

    return v4.writes(
        v4.new_notebook(cells=[v4.new_markdown_cell("# A demonstration"), *made], metadata=kernel)
    )


WORK = {
    "idle": "time.sleep(600)",
    "Python": "sum(range(10**12))",
    "numpy": "any((a @ a)[0, 0] > 2 for _ in range(10**9))",
}
"""Work without end."""


def begun(checkout: Path, work: str) -> tuple[subprocess.Popen[str], int]:
    """Start a run of a notebook whose kernel works until it is ended; return it with its
    kernel's number.
    """
    place = checkout / "kernel"
    place.unlink(missing_ok=True)
    begin = f"import os, pathlib, time, numpy\npathlib.Path({str(place)!r}).write_text(f'{{os.getpid()}} ')\n"
    code = f"{begin}a = numpy.eye(2000)\n{WORK[work]}"
    (checkout / "notebooks/1_demo/01_line.ipynb").write_text(notebook(PARAMETERS, COMPUTE, code))
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
