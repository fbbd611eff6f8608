"""Labels from a hostile table, in a notebook that stock tools executed and converted: shown as
they are, never run.
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
    *(r"\(z\)", "$x^$", "$$y$$", "a_b*c", "_x_", "|", "`tick`", "```", "&lt;b&gt;", "1. list"),
]
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
    """A notebook run by papermill and converted by ``jupyter nbconvert --to html``."""
    folder = tmp_path_factory.mktemp("labels")
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(EVERY)]), folder / "labels.ipynb"
    )
    quiet = {"kernel_name": "python3", "progress_bar": False}
    papermill.execute_notebook(folder / "labels.ipynb", folder / "every.ipynb", **quiet)
    made = {"every": folder / "every.html"}
    command = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to",
        "html",
        *(str(p.with_suffix(".ipynb")) for p in made.values()),
    ]
    subprocess.run(command, check=True, capture_output=True)

    return made


@pytest.mark.parametrize("name", ["every"])
def test_no_script_of_a_table_runs_and_nothing_of_it_is_typeset(
    name: str, pages: dict[str, Path], open_page: Any
) -> None:
    page = open_page()
    page.goto(pages[name].as_uri())

    assert page.evaluate("window.pwned") is None
    assert page.locator("[onerror], a[href^='javascript:']").count() == 0
    assert [text for text in page.evaluate(TYPESET) if "Q(y" not in text] == []

    shown = page.locator(".jp-OutputArea-output").all_inner_texts()
    sentences = [text for label in LABELS for text in (f"One is {label}, {label}.", label)]
    assert [text.strip() for text in shown[:-1]] == sentences


def test_a_script_that_runs_is_noticed(
    pages: dict[str, Path], open_page: Any, tmp_path: Path
) -> None:
    raw = pages["every"].read_text().replace(html.escape(LABELS[0]), LABELS[0])
    (tmp_path / "raw.html").write_text(raw)
    page = open_page()
    page.goto((tmp_path / "raw.html").as_uri())
    assert page.evaluate("window.pwned") == 1
