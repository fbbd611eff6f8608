"""Compute everything that is printed, with whatever interpreter and libraries this runs under.

    python tests/matrix/probe.py FOLDER

Writes into FOLDER the ledger and every figure's table as the notebooks do, ``verdicts.csv`` and ``<stem>.csv``, and
what it ran on, ``about.json``. Notebooks run in this process, cell by cell, without the pictures and without the live
sections."""

import contextlib
import io
import json
import locale
import os
import platform
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def main(folder: Path) -> None:
    """Write the ledger, the tables and the description of this environment."""
    os.environ |= {"LDPNB_HEADLESS": "1", "MPLBACKEND": "agg"}
    locale.setlocale(locale.LC_ALL, "")
    from ldpnb.notebook import figures
    from ldpnb.run.catalogue import catalogue

    def table_only(figure: Any, table: Any, stem: str, *, caption: str) -> None:
        figures.publish_table(table, stem, caption=caption)

    figures.publish = table_only
    for notebook in catalogue():
        os.environ["LDPNB_FIGURES"] = str(folder / notebook.id)
        with contextlib.redirect_stdout(io.StringIO()):
            _run(Path(notebook.path), notebook.id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "about.json").write_text(json.dumps(_about(), indent=1), encoding="utf-8")


def _run(path: Path, name: str) -> None:
    names = {"__name__": "__main__", "display": lambda *_: None}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "live(" not in source and "claims" not in cell["metadata"].get("tags", []):
            exec(compile(source, name, "exec"), names)
    sys.modules["matplotlib.pyplot"].close("all")


def _about() -> dict[str, Any]:
    import numpy as np
    import pandas as pd
    import scipy
    from threadpoolctl import threadpool_info

    from ldpnb.rng import as_recorded

    blas = [SimpleNamespace(**pool) for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "pandas": pd.__version__,
        "blas": " ".join(sorted({f"{pool.architecture} x{pool.num_threads}" for pool in blas})),
        "as recorded": as_recorded(),
        "decimal_point": locale.localeconv()["decimal_point"],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
