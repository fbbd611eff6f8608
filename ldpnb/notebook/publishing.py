"""Keep a figure with its numbers, so that those behind every picture can be read, compared and reused."""

import hashlib
import html
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ldpnb import writing
from ldpnb.notebook import environment
from ldpnb.notebook.charts import WIDTH, Chart
from ldpnb.notebook.figures import png
from ldpnb.notebook.outputs import in_notebook, show


def publish(chart: Chart, table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Show a chart and write it with its numbers when a folder for figures is set.

    Writes ``<name>.png`` and ``<name>.csv`` (10 significant digits), and their provenance ``<name>.json``: caption,
    title and setting, the encoding, the run's own parameters, and hashes of these files.

    - `chart`, Chart: what is shown.
    - `table`, pandas.DataFrame: its numbers: those drawn, and perhaps further series. `ValueError` if it has not the
      rows.
    - `name`, str: of the figure within its notebook's folder.
    - `caption`, str: what the figure shows, in a sentence or two; it stands below the picture.
    """
    kept = replace(chart, table=table)
    if chart.by and len(table) > len(chart.table):
        kept = replace(kept, series=list(dict.fromkeys(chart.table[chart.by])))
    if len(table) and not kept.rows().equals(chart.rows()):
        raise ValueError(f"{name}: needs the table that its figure was drawn from")
    picture = png(chart)
    words = {"title": chart.title, "setting": chart.setting, "encoding": kept.encoding()}
    publish_table(table, name, caption=caption, drawn={".png": picture}, **words)
    if in_notebook():
        size = {"image/png": {"width": round(100 * WIDTH)}}
        show({"text/plain": chart.title or name, "image/png": picture}, size)
    show({"text/plain": caption, "text/html": _below_a_picture(caption)})


def _below_a_picture(caption: str) -> str:
    """Return a caption as everybody reads it, also who does not see the picture."""
    style = f"max-width: {100 * WIDTH:.0f}px"
    return f'<p class="tex2jax_ignore" style="{style}"><em>{html.escape(caption)}</em></p>'


def publish_table(
    table: pd.DataFrame,
    name: str,
    *,
    caption: str,
    drawn: Mapping[str, bytes] | None = None,
    **words: Any,
) -> None:
    """Write a table as ``<name>.csv`` with its provenance, and what was drawn from it, when a folder is set.

    See `publish`.
    """
    if not caption.strip() or not len(table):
        raise ValueError(f"{name}: needs a caption and a table with rows")
    folder, drawn = os.environ.get(environment.FIGURES_FOLDER), drawn or {}
    if not folder:
        return
    content = table.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    record = {
        "caption": caption,
        "parameters": json.loads(os.environ.get(environment.RUN_PARAMETERS) or "{}"),
        "rows": len(table),
        "columns": list(table.columns),
        **{key: part for key, part in words.items() if part},
        "sha256": hashlib.sha256(content).hexdigest(),
        "drawn": {suffix: hashlib.sha256(part).hexdigest() for suffix, part in drawn.items()},
    }
    for suffix, part in {".csv": content, ".json": provenance(record), **drawn}.items():
        writing.write(Path(folder, name + suffix), part)


def provenance(record: Mapping[str, Any]) -> bytes:
    """Return the file that says where a figure comes from."""
    return (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()
