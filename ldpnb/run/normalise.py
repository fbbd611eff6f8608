"""An executed notebook without anything that differs between two identical runs."""

import json
import re
from pathlib import Path
from typing import Any

_CELL_METADATA = ("tags", "jupyter", "slideshow")
_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
"""As a kernel says it, but for its version, which another machine would change."""


def normalised(notebook: dict[str, Any], name: str, *, keep_injected: bool = False) -> dict[str, Any]:
    """Return a notebook without times, ids, and pieces in which a kernel happened to flush its output.

    Parameters
    ----------
    notebook : dict
        Content of its file.
    name : str
        From `identity`: its cells are numbered after it, so that no two notebooks share a cell's id.
    keep_injected : bool
        Whether the cell that papermill injected stays.
    """
    cells = [
        c for c in notebook["cells"] if keep_injected or "injected-parameters" not in c["metadata"].get("tags", [])
    ]
    count = 0
    for i, cell in enumerate(cells):
        cell["id"] = f"{name}-cell-{i:02d}"
        cell["metadata"] = {k: cell["metadata"][k] for k in _CELL_METADATA if cell["metadata"].get(k)}
        if cell["cell_type"] == "code":
            count += cell["execution_count"] is not None
            cell["execution_count"] = count if cell["execution_count"] is not None else None
            cell["outputs"] = _outputs(cell["outputs"], cell["execution_count"])
    metadata = {"kernelspec": _KERNEL, "language_info": _LANGUAGE}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def encoded(notebook: dict[str, Any]) -> bytes:
    """Return the content of a notebook's file."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def identity(path: Path) -> str:
    """Return a notebook's number, with its folder's, or the name of one that has no number.

    >>> identity(Path("notebooks/3_lopuhaa2020/01b_mle.ipynb")), identity(Path("notebooks/own_data.ipynb"))
    ('3-01b', 'own-data')
    """
    folder = [path.parent.name] if path.parent.name[:1].isdigit() else []
    parts = [name.partition("_")[0] if name[:1].isdigit() else name for name in [*folder, path.stem]]
    return re.sub(r"[^0-9A-Za-z]+", "-", "-".join(parts))[:40]


def _outputs(outputs: list[dict[str, Any]], count: int | None) -> list[dict[str, Any]]:
    """Join a stream's pieces, and drop volatile metadata."""
    kept: list[dict[str, Any]] = []
    for output in outputs:
        if output["output_type"] == "stream" and kept and kept[-1].get("name") == output["name"]:
            kept[-1]["text"] = "".join(kept[-1]["text"]) + "".join(output["text"])
            continue
        if output["output_type"] == "execute_result":
            output["execution_count"] = count
        if "metadata" in output:
            output["metadata"] = {k: v for k, v in output["metadata"].items() if k.startswith("image/")}
        kept.append(output)
    for output in kept:
        if output["output_type"] == "stream":
            output["text"] = "".join(output["text"]).splitlines(keepends=True)
    return kept
