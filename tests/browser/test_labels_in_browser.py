"""Labels from a hostile table, in a notebook that stock tools executed and converted: shown as they are, never run."""

import csv
import html
import subprocess
import sys
from pathlib import Path
from typing import Any

import papermill
import pytest

from ldpnb.run.catalogue import find

LABELS = [
    "<script>window.pwned=1</script>",
    '<img src=x onerror="window.pwned=2">',
    "$0-$9,999",
    "$x^$",
    "$$y$$",
    "a_b*c",
    "_x_",
    "[x](javascript:window.pwned=3)",
    "|",
    "`tick`",
    "```",
    r"\(z\)",
    "&lt;b&gt;",
    "1. list",
]
COLUMN, NUMBER, GROUP = "<img src=x onerror=window.pwned=4>", "$pay$ | `a_b*c`", "[g](javascript:window.pwned=5)"
GROUPS = ["<script>window.pwned=6</script>", "$0-$9,999"]
RUNS = {
    "categories": {"column": COLUMN},
    "groups": {"column": NUMBER, "group": GROUP, "low": 0.0, "high": 4.0},
}
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
    """The notebook on own data run by papermill and converted by ``jupyter nbconvert --to html``, by name."""
    folder = tmp_path_factory.mktemp("labels")
    with (folder / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([COLUMN, NUMBER, GROUP])
        rows.writerows([label, i % 5, GROUPS[i % 2]] for i, label in enumerate(LABELS * 3))
    common = {"data": str(folder / "people.csv"), "mechanisms": ["k-RR"]}
    for name, words in RUNS.items():
        made = folder / f"{name}.ipynb"
        papermill.execute_notebook(find("own_data").path, made, common | words, progress_bar=False)
    command = [sys.executable, "-m", "nbconvert", "--to", "html", *map(str, folder.glob("*.ipynb"))]
    subprocess.run(command, check=True, capture_output=True)
    return {name: folder / f"{name}.html" for name in RUNS}


def test_no_script_of_a_table_runs_and_its_labels_are_shown_literally(pages: dict[str, Path], open_page: Any) -> None:
    shown = {}
    for name, path in pages.items():
        page = open_page()
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        assert page.evaluate("window.pwned") is None, name
        assert page.locator("[onerror], a[href^='javascript:']").count() == 0, name
        assert [text for text in page.evaluate(TYPESET) if "Q(y" not in text] == [], name
        shown[name] = page.locator(".jp-RenderedMarkdown.jp-OutputArea-output").all_inner_texts()
    words = [word for text in shown["categories"] for word in text.split("by size ")[1:]]
    assert f"{COLUMN} of people.csv: {3 * len(LABELS)} users hold {len(LABELS)} categories" in "\n".join(
        shown["categories"]
    )
    assert sum(label in words[0] for label in LABELS) == 5
    assert any(text.startswith(f"{NUMBER} by {GROUP} of people.csv: the mean is") for text in shown["groups"])
    assert all(any(f"of the group {group}" in text for text in shown["groups"]) for group in GROUPS)


def test_a_script_that_runs_is_noticed(pages: dict[str, Path], open_page: Any) -> None:
    page, path = open_page(), pages["groups"].with_stem("run")
    path.write_text(pages["groups"].read_text().replace(html.escape(GROUPS[0]), GROUPS[0]))
    page.goto(path.as_uri())
    assert page.evaluate("window.pwned") == 6
