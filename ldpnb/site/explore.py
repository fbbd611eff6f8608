"""Live sections for pages: every notebook's grid, computed when its sources have changed, several at a time."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import joblib
from tqdm import tqdm

from ldpnb.checks import UsageError
from ldpnb.run.catalogue import Notebook
from ldpnb.run.runner import kernel_environment
from ldpnb.site.kept import code_hash, fingerprint, keep, place

PLANNER = "planner"
SETTINGS = 200
"""Of one section at most: about ten seconds of work, and a tenth of a megabyte."""


def has_section(notebook: Notebook) -> bool:
    """Return whether a notebook ends in a live section."""
    cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
    return any(line.startswith("live(") for cell in cells for line in "".join(cell["source"]).splitlines())


def grids(notebooks: Sequence[Notebook], settings: int = SETTINGS) -> dict[str, str]:
    """Return the grid of each notebook's live section as JSON, by its id, and that of the `PLANNER`.

    What is unchanged is not computed again; without notebooks there is nothing.

    Raises
    ------
    UsageError
        If a notebook's cells fail; what the others gave is kept for the next time.
    """
    live = [_notebooks_section(notebook, settings) for notebook in notebooks if has_section(notebook)]
    wanted = [_Section(PLANNER, PLANNER, 2 * settings, code_hash()), *live] if notebooks else []
    stale = [section for section in wanted if not section.kept.exists()]
    with (
        ThreadPoolExecutor(joblib.cpu_count()) as pool,
        tqdm(total=len(stale), unit="section", desc="Explore", disable=not stale or not sys.stderr.isatty()) as bar,
    ):
        for wrong in pool.map(_compute, stale):
            bar.update()
            if wrong:
                pool.shutdown(cancel_futures=True)
                raise UsageError(wrong)
    return {section.id: section.kept.read_text(encoding="utf-8") for section in wanted}


@dataclass(frozen=True, slots=True)
class _Section:
    """What is to be computed, for how many settings at most, and a hash of what it follows from."""

    id: str
    path: str
    settings: int
    follows: str

    @property
    def kept(self) -> Path:
        return place(f"explore/{self.id}", self.follows, self.settings)


def _notebooks_section(notebook: Notebook, settings: int) -> _Section:
    return _Section(notebook.id, str(notebook.path), settings, fingerprint(notebook))


def _compute(section: _Section) -> str:
    """Compute a grid and keep it in the place of an earlier one; return what went wrong."""
    command = [sys.executable, "-m", "ldpnb.site.grid", section.path, str(section.settings)]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | kernel_environment(Path(folder), Path())
        environment.pop("LDPNB_FIGURES")
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)
    if done.returncode:
        return f"{section.id}: its live section failed: {(done.stderr.strip() or 'killed').splitlines()[-1]}"
    keep(section.kept, done.stdout)
    return ""
