"""Labels of a hostile table are shown as they are, and never run, in a notebook turned into a page.

Papermill runs the notebook, and nbconvert makes the page, as anybody's tools would.
"""

import html
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest

LABELS = [
    "<script>window.pwned=1</script>",
    '<img src=x onerror="window.pwned=2">',
    "$0-$9,999",
    "[x](javascript:window.pwned=3)",
    r"\(z\)",
    "$x^$",
    "$$y$$",
    "a_b*c",
    "_x_",
    "|",
    "`tick`",
    "```",
    "&lt;b&gt;",
    "1. list",
]
CODE = f"""
import pandas as pd
from ldpnb.notebook import literal, rounded, say
labels = {LABELS!r}
for label in labels:
    say(f"One is {{literal(label)}}, **{{literal(label)}}**.")
    say(literal(label))
rounded(pd.DataFrame({{label: [label] for label in labels}}))
"""
# As MathJax reads a page: pieces of text between tags, but not within code.
TYPESET = r"""() => {
    const code = "script, style, textarea, pre, code, .tex2jax_ignore";
    const formula = /\$[^$]+\$|\\\(|\\\[/;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.parentElement.closest(code) && formula.test(node.data)) found.push(node.data);
    }
    return found;
}"""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a notebook that shows every label."""
    folder = tmp_path_factory.mktemp("labels")
    written = folder / "written.ipynb"
    executed = folder / "executed.ipynb"
    cells = [nbformat.v4.new_code_cell(CODE)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), written)
    papermill.execute_notebook(written, executed, kernel_name="python3", progress_bar=False)

    command = [sys.executable, "-m", "nbconvert", "--to", "html", str(executed)]
    subprocess.run(command, check=True, capture_output=True)
    return executed.with_suffix(".html")


def test_no_script_of_a_table_runs_and_nothing_of_it_is_typeset(
    converted: Path, open_page: Any
) -> None:
    page = open_page()
    page.goto(converted.as_uri())

    assert page.evaluate("window.pwned") is None
    assert page.locator("[onerror], a[href^='javascript:']").count() == 0
    assert [text for text in page.evaluate(TYPESET) if "Q(y" not in text] == []

    sentences = []
    for label in LABELS:
        sentences += [f"One is {label}, {label}.", label]

    *shown, _ = page.locator(".jp-OutputArea-output").all_inner_texts()
    assert [text.strip() for text in shown] == sentences


def test_a_script_that_runs_is_noticed(converted: Path, open_page: Any, tmp_path: Path) -> None:
    script = LABELS[0]
    raw = tmp_path / "raw.html"
    raw.write_text(converted.read_text().replace(html.escape(script), script))

    page = open_page()
    page.goto(raw.as_uri())
    assert page.evaluate("window.pwned") == 1
