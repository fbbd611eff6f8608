"""Live sections for pages: every notebook's grid, computed when its sources have changed, several at a time."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
from tqdm import tqdm

from ldpnb import writing
from ldpnb.checks import UsageError
from ldpnb.run import execution
from ldpnb.run.catalogue import Notebook

SETTINGS = 200
"""Of one section at most: about ten seconds of work, and a tenth of a megabyte."""


def has_section(notebook: Notebook) -> bool:
    """Return whether a notebook ends in a live section."""
    cells = json.loads(notebook.path.read_text(encoding="utf-8"))["cells"]
    return any(line.startswith("live(") for cell in cells for line in "".join(cell["source"]).splitlines())


def grids(notebooks: Sequence[Notebook], settings: int = SETTINGS) -> dict[str, str]:
    """Return the grid of each notebook's live section as JSON, by the notebook's id; what is unchanged is not computed.

    Raises
    ------
    UsageError
        If a notebook's cells fail; what the others gave is kept for the next time.
    """
    live = [notebook for notebook in notebooks if has_section(notebook)]
    keys = {notebook.id: _key(notebook, settings) for notebook in live}
    stale = [notebook for notebook in live if not _kept(notebook, keys[notebook.id]).exists()]
    with (
        ThreadPoolExecutor(joblib.cpu_count()) as pool,
        tqdm(total=len(stale), unit="section", desc="Explore", disable=not stale or not sys.stderr.isatty()) as bar,
    ):
        for wrong in pool.map(lambda notebook: _compute(notebook, settings, keys[notebook.id], bar), stale):
            if wrong:
                pool.shutdown(cancel_futures=True)
                raise UsageError(wrong)
    return {notebook.id: _kept(notebook, keys[notebook.id]).read_text(encoding="utf-8") for notebook in live}


def _key(notebook: Notebook, settings: int) -> str:
    return hashlib.sha256(f"{execution.fingerprint(notebook)} {settings}".encode()).hexdigest()[:16]


def _kept(notebook: Notebook, key: str) -> Path:
    return execution.build() / "explore" / notebook.id / f"{key}.json"


def _compute(notebook: Notebook, settings: int, key: str, bar: Any) -> str:
    """Compute a grid and keep it in the place of an earlier one; return what went wrong."""
    command = [sys.executable, "-m", "ldpnb.site.grid", str(notebook.path), str(settings)]
    environment = os.environ | execution.kernel_environment(None)
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)
    bar.update()
    if done.returncode:
        return f"{notebook.id}: its live section failed: {(done.stderr.strip() or 'killed').splitlines()[-1]}"
    target = _kept(notebook, key)
    for earlier in target.parent.glob("*.json"):
        earlier.unlink()
    writing.write({target: done.stdout.encode()})
    return ""
