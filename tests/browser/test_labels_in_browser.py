"""Labels from a hostile table, in a notebook that stock tools executed and converted: shown as they are, never run."""

import csv
import html
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest

from ldpnb.run.catalogue import find

SHOWN = [  # by size, so that the notebook names them first
    "<script>window.pwned=1</script>",
    '<img src=x onerror="window.pwned=2">',
    "$0-$9,999",
    "[x](javascript:window.pwned=3)",
    r"\(z\)",
]
LABELS = [*SHOWN, "$x^$", "$$y$$", "a_b*c", "_x_", "|", "`tick`", "```", "&lt;b&gt;", "1. list"]
COLUMN, NUMBER, GROUP = "<img src=x onerror=window.pwned=4>", "$pay$ | `a_b*c`", "[g](javascript:window.pwned=5)"
GROUPS = ["<script>window.pwned=6</script>", "$0-$9,999"]
RUNS = {
    "categories": {"column": COLUMN},
    "groups": {"column": NUMBER, "group": GROUP, "low": 0.0, "high": 4.0},
}
EVERY = f"""
import pandas as pd
from ldpnb.notebook import literal, rounded, say
labels = {LABELS!r}
for label in labels:
    say(f"One is {{literal(label)}}, **{{literal(label)}}**.")
    say(literal(label))
rounded(pd.DataFrame({{label: [label] for label in labels}}))
"""
# as MathJax reads a page: pieces of text between tags, but not within code
TYPESET = r"""() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) {
        const skipped = walker.currentNode.parentElement.closest("script, style, textarea, pre, code, .tex2jax_ignore");
        if (!skipped && /\$[^$]+\$|\\\(|\\\[/.test(walker.currentNode.data)) found.push(walker.currentNode.data);
    }
    return found;
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Notebooks run by papermill and converted by ``jupyter nbconvert --to html``, by name."""
    folder = tmp_path_factory.mktemp("labels")
    rows = [label for i, label in enumerate(LABELS) for _ in range(2 * len(LABELS) - i)]
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([(COLUMN, NUMBER, GROUP)])
        csv.writer(file).writerows([label, i % 5, GROUPS[i % 2]] for i, label in enumerate(rows))
    common = {"data": str(folder / "people.csv"), "mechanisms": ["k-RR"]}
    every = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(EVERY)])
    nbformat.write(every, folder / "every.ipynb")
    papermill.execute_notebook(
        folder / "every.ipynb", folder / "every.ipynb", kernel_name="python3", progress_bar=False
    )
    for name, words in RUNS.items():
        made = folder / f"{name}.ipynb"
        papermill.execute_notebook(find("own_data").path, made, common | words, progress_bar=False)
    command = [sys.executable, "-m", "nbconvert", "--to", "html", *map(str, folder.glob("*.ipynb"))]
    subprocess.run(command, check=True, capture_output=True)
    return {name: folder / f"{name}.html" for name in (*RUNS, "every")}


def read(page: Any, path: Path) -> str:
    """Return the text that a page shows, after its scripts have run."""
    page.goto(path.as_uri())
    page.wait_for_load_state("load")
    return str(page.inner_text("body"))


def test_no_script_of_a_table_runs_and_its_labels_are_shown_literally(pages: dict[str, Path], open_page: Any) -> None:
    texts = {}
    for name, path in pages.items():
        page = open_page()
        texts[name] = read(page, path)
        assert page.evaluate("window.pwned") is None, name
        assert page.locator("[onerror], a[href^='javascript:']").count() == 0, name
        assert [text for text in page.evaluate(TYPESET) if "Q(y" not in text] == [], name
    assert all(f"One is {label}, {label}." in texts["every"] for label in LABELS)
    assert f"{COLUMN} of people.csv: " in texts["categories"]
    assert f"{NUMBER} by {GROUP} of people.csv: " in texts["groups"]
    assert all(group in texts["groups"] for group in GROUPS)


def test_a_script_that_runs_is_noticed(pages: dict[str, Path], open_page: Any, tmp_path: Path) -> None:
    raw = pages["groups"].read_text().replace(html.escape(GROUPS[0]), GROUPS[0])
    (tmp_path / "raw.html").write_text(raw)
    page = open_page()
    read(page, tmp_path / "raw.html")
    assert page.evaluate("window.pwned") == 6
