"""A notebook as a page: each picture with its caption and numbers, and how to run it."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_output

from ldpnb.run.catalogue import Notebook, home
from ldpnb.run.ledger import committed_ledger

IN_A_BROWSER = (
    "%pip install -q ldpnb pandas matplotlib ipywidgets sympy python-flint threadpoolctl "
    "scikit-learn"
)
"""What a notebook needs where JupyterLite has brought Python with numpy and scipy."""

Published = dict[str, Any]


def published(notebook: Notebook) -> dict[str, Published]:
    """Return the record of each figure of a notebook, by its caption."""
    records = {}
    for path in sorted((home() / "figures" / notebook.id).glob("*.json")):
        record = json.loads(path.read_bytes())
        if path.with_suffix(".png").exists():
            records[record["caption"]] = record | {"name": f"{notebook.id}/{path.stem}"}
    return records


def page(notebook: Notebook) -> Any:
    """Return a notebook with its outputs as a page shows them."""
    book = nbformat.read(notebook.path, 4)
    records = published(notebook)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                shown(notebook, output) for output in with_figures(cell.outputs, records)
            ]

    title = book.cells[0]
    heading, _, text = title.source.partition("\n")
    title.source = f"{heading}\n\n{how_to_run(notebook)}\n{text}"
    return book


def with_figures(outputs: list[Any], records: dict[str, Published]) -> Iterator[Any]:
    """Yield outputs, and for each picture and the caption that follows it one figure."""
    captions = [output.get("data", {}).get("text/plain", "") for output in outputs]
    for output, caption, following in zip(outputs, captions, [*captions, ""][1:], strict=True):
        if caption in records:
            text = figure(records[caption])
            yield new_output("display_data", data={"text/markdown": text, "text/plain": caption})
        elif "image/png" not in output.get("data", {}) or following not in records:
            yield output


def shown(notebook: Notebook, output: Any) -> Any:
    """Return an output as a page shows it: a plain table, or verdicts with their links."""
    data = output.get("data", {})
    if "text/html" in data:
        data["text/html"] = plain(data["text/html"])
    if "text/markdown" in data:
        data["text/markdown"] = linked(notebook, data["text/markdown"])
    return output


def figure(record: Published) -> str:
    """Return a picture with a visible caption and the link to its numbers."""
    name = record["name"]
    return "\n".join(
        [
            f":::{{figure}} /figures/{name}.png",
            f":alt: {record.get('title') or record['caption']}",
            f":name: figure-{re.sub('[/_]', '-', name)}",
            ":class: published",
            "",
            f"{literal(record['caption'])} [Numbers (CSV)](/figures/{name}.csv)",
            ":::",
        ]
    )


def literal(text: str) -> str:
    """Return plain text as Markdown that shows it as it stands."""
    return re.sub(r"([\\`*_\[\]<>$#])", r"\\\1", text)


def plain(table: str) -> str:
    """Return pandas' HTML of a table without its style, its border and its empty heads."""
    table = re.sub(r"<style.*?</style>", "", table, flags=re.DOTALL)
    return table.replace(' border="1"', "").replace("<th></th>", "<td></td>")


def linked(notebook: Notebook, verdicts: str) -> str:
    """Return verdicts with a link from each one to its place in the ledger."""
    from ldpnb.site.pages import anchor

    for row in committed_ledger():
        if row["notebook"] == notebook.id:
            verdict = rf"^(\*\*{re.escape(row['place'])}: .*?\*\*)"
            link = rf"\1 ([in the ledger](#{anchor(row['claim'])}))"
            verdicts = re.sub(verdict, link, verdicts, flags=re.MULTILINE)
    return verdicts


def how_to_run(notebook: Notebook) -> str:
    """Return the ways to run a notebook, folded under its title."""
    name = notebook.path.stem
    file = f"notebooks/{notebook.id}.ipynb"
    repository = os.environ.get("GITHUB_REPOSITORY")
    if repository:
        address = f"https://mybinder.org/v2/gh/{repository}/HEAD?labpath={file}"
        binder = f"[open it there]({address}), without installing anything"
    else:
        binder = (
            "give [mybinder.org](https://mybinder.org) the address of a public copy of this "
            "repository"
        )

    lines = [
        ":::{dropdown} Run this notebook",
        f"- **On your machine**: `make lab` opens JupyterLab; choose `{file}`. "
        f"`.venv/bin/ldpnb run {name}"
        " -p NAME=VALUE` runs it with parameters of your own.",
        f"- **On Binder**: {binder}.",
    ]
    if os.environ.get("LDPNB_LITE"):
        up = "../" * file.count("/")
        place = f"{up}lite/lab/index.html?path={notebook.id}.ipynb"
        lines.append(f'- **In this browser**: <a href="{place}">open it in JupyterLite</a>.')
    lines += [
        f'- **Elsewhere**: <a href="{notebook.path.name}" download>download the notebook</a>.',
        ":::",
    ]
    return "\n".join(lines)


def for_a_browser(notebook: Notebook) -> Any:
    """Return a notebook that begins by installing in a browser what it needs."""
    book = nbformat.read(notebook.path, 4)
    book.cells.insert(0, new_code_cell(IN_A_BROWSER))
    return book
