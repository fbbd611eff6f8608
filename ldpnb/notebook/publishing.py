"""Keep every figure with its numbers, so that readers can compare and reuse them."""

import hashlib
import html
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ldpnb import writing
from ldpnb.notebook import environment
from ldpnb.notebook.charts import WIDTH, Chart
from ldpnb.notebook.figures import png
from ldpnb.notebook.outputs import in_notebook, show


def publish(chart: Chart, table: pd.DataFrame, name: str, *, caption: str) -> None:
    """Show a chart, and write it with its numbers if a folder for figures is set.

    The files are ``<name>.png``, ``<name>.csv`` (the numbers to 10 significant digits), and
    ``<name>.json``, which says where they come from: the caption, the title and the setting, how
    the numbers are drawn, the parameters of the run, and the hashes of the other two files.

    Parameters
    ----------
    chart : Chart
        What is shown.
    table : DataFrame
        The numbers of the chart, and perhaps those of further series.
    name : str
        The name of the figure within the folder of its notebook.
    caption : str
        What the figure shows, in a sentence or two. It stands below the picture.

    Raises
    ------
    ValueError
        If the caption or the table is empty, or the chart was not drawn from the table.
    """
    kept = replace(chart, table=table)
    if chart.by is not None and len(table) > len(chart.table):
        series = list(dict.fromkeys(chart.table[chart.by]))
        kept = replace(kept, series=series)

    if len(table) and not kept.rows().equals(chart.rows()):
        raise ValueError(f"{name}: needs the table that its figure was drawn from")

    picture = png(chart)
    publish_table(
        table,
        name,
        caption=caption,
        drawn={".png": picture},
        title=chart.title,
        setting=chart.setting,
        encoding=kept.encoding(),
    )

    if in_notebook():
        finding = chart.title or name
        shown_as = {"width": round(100 * WIDTH), "alt": finding}
        show({"text/plain": finding, "image/png": picture}, {"image/png": shown_as})
    show({"text/plain": caption, "text/html": _below_a_picture(caption)})


def _below_a_picture(caption: str) -> str:
    """Return a caption as HTML, for all readers, also those who do not see the picture."""
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
    """Write a table and what was drawn from it, if a folder for figures is set.

    Parameters
    ----------
    table, name, caption
        As for `publish`.
    drawn : mapping of str to bytes, optional
        What was drawn from the table, by the suffix of its file.
    **words
        What else ``<name>.json`` is to say.

    Raises
    ------
    ValueError
        If the caption or the table is empty.
    """
    if not caption.strip() or not len(table):
        raise ValueError(f"{name}: needs a caption and a table with rows")

    folder = os.environ.get(environment.FIGURES_FOLDER)
    if not folder:
        return

    drawn = drawn or {}
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

    files = {".csv": content, ".json": provenance(record), **drawn}
    for suffix, part in files.items():
        writing.write(Path(folder, name + suffix), part)


def provenance(record: Mapping[str, Any]) -> bytes:
    """Return the content of the JSON file that says where a figure comes from.

    Numbers of numpy, such as pandas returns, are written like those of Python.
    """
    text = json.dumps(record, indent=1, ensure_ascii=False, default=np.generic.item)
    return f"{text}\n".encode()
