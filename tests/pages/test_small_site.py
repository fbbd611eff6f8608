"""Pages are built as the site's settings say: from a page, a notebook, and a name of the library.

Sphinx builds a small site with the settings of the real one. What a browser makes of the real one,
`tests/browser` sees.
"""

import html
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

pytest.importorskip("myst_nb", reason="no myst_nb in this environment; `make site` brings it")

import ldpnb
from ldpnb.run.catalogue import home
from ldpnb.site.pages import linked_modules, table

CODE = linked_modules()[0]
FILE = f"{CODE.replace('.', '/')}.py"

INDEX = f"""# A small site

It has [code]({FILE}), the [licence](LICENSE), [another page](sub/page.ipynb) and $\\Delta < 1$.
The name `Loss` is code.

$$
\\hat p = \\max_x f(x)
$$

\\begin{{align}}
a &= b
\\end{{align}}

A line with $$ c $$ in it, and a [place](#a-third-heading).

A word is [important]{{.important}}.

:::{{dropdown}} Folded
It is folded.
:::

## A heading

### A third heading

```{{toctree}}
sub/page
library
```
"""
LIBRARY = f"Library\n=======\n\n{table(['~ldpnb.privacy_loss', '~ldpnb.UnaryEncoding'])}\n"


def notebook_of_everything() -> nbformat.NotebookNode:
    """A notebook that links to code, and that printed in pieces and complained."""
    printed = [
        new_output("stream", name="stdout", text="first line\n"),
        new_output("stream", name="stdout", text="second line\n"),
        new_output("stream", name="stderr", text="a complaint\n"),
        new_output(
            "display_data", data={"text/markdown": "The loss is $\\varepsilon$, **not** 0."}
        ),
    ]
    return new_notebook(
        cells=[
            new_markdown_cell(f"# A notebook\n\nIt rests on [code](../{FILE})."),
            new_code_cell("raise SystemExit", execution_count=1, outputs=printed),
        ],
        metadata={"language_info": {"name": "python", "pygments_lexer": "ipython3"}},
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    pages = folder / "pages"
    (pages / "sub").mkdir(parents=True)
    (pages / "index.md").write_text(INDEX, encoding="utf-8")
    (pages / "_part.md").write_text("# A part of pages is no page\n")
    (pages / "library.rst").write_text(LIBRARY)
    nbformat.write(notebook_of_everything(), pages / "sub/page.ipynb")

    settings = str(home() / "ldpnb/site")
    command = [sys.executable, "-m", "sphinx", "-E", "-W", "--keep-going", "-q", "-c", settings]
    command += ["-d", str(folder / "trees"), str(pages), str(folder / "site")]
    ended = subprocess.run(command, cwd=home(), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def index(built: Path) -> str:
    return (built / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(built: Path) -> str:
    return (built / "sub/page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reference(built: Path) -> str:
    return (built / "api/ldpnb.UnaryEncoding.html").read_text(encoding="utf-8")


def words_of(page: str) -> str:
    """What a page says, without its marks."""
    article = page.partition("<article")[2].partition("</article>")[0]
    return " ".join(html.unescape(re.sub("<[^>]*>", "", article)).split())


def test_a_link_to_code_leads_to_its_page_from_every_folder(index: str, page: str) -> None:
    address = f"_modules/{CODE.replace('.', '/')}.html"
    assert f'href="{address}"' in index
    assert f'href="../{address}"' in page


def test_a_link_to_a_file_that_no_page_shows_is_plain_text(index: str) -> None:
    assert "the licence, another page" in words_of(index)
    assert not re.search(r'href="[^"]*LICENSE', index)
    assert 'href="sub/page.html"' in index


def test_a_page_links_to_headings_of_three_levels(index: str) -> None:
    assert 'href="#a-third-heading"' in index
    assert 'id="a-third-heading"' in index


def test_formulas_are_mathml_in_a_line_and_of_their_own_and_in_outputs(
    index: str, page: str
) -> None:
    assert '<mi mathvariant="normal">Δ</mi>' in index
    assert index.count('<div class="formula" tabindex="0">') == 3
    assert "<mover" in index
    assert "<math" in page
    assert "<strong>not</strong>" in page
    assert "$" not in words_of(index) + words_of(page)
    assert "MathJax" not in index


def test_a_page_asks_nothing_of_other_machines(index: str, page: str, reference: str) -> None:
    for text in (index, page, reference):
        asked = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)', text)
        assert asked == []


def test_a_notebook_is_shown_as_it_was_run_without_its_complaints(page: str) -> None:
    words = words_of(page)
    assert "raise SystemExit" in words
    assert "first line second line" in words
    assert "a complaint" not in words
    printed = re.findall(r"<pre>[^<]*(?:<[^>]*>[^<]*)*?first line.*?</pre>", page, re.DOTALL)
    assert any("second line" in block for block in printed), "one box for what was printed"


def test_a_directive_and_a_class_of_markdown_are_used(index: str) -> None:
    assert "<details" in index
    assert '<span class="important">important</span>' in index
    assert ":::" not in index


def test_the_reference_of_a_name_has_its_signature_parameters_and_code(
    built: Path, reference: str
) -> None:
    words = words_of(reference)
    assert "class UnaryEncoding(" in words
    assert "ldpnb.UnaryEncoding(" not in words, "no path before the name"
    assert "Parameters" in words
    assert "[source]" in words
    assert list((built / "_modules/ldpnb").rglob("*.html"))
    for method in ("channel", "randomize"):
        assert f'id="ldpnb.UnaryEncoding.{method}"' in reference

    alone = (built / "api/ldpnb.privacy_loss.html").read_text(encoding="utf-8")
    assert words_of(alone).count("Examples") <= 1
    assert "privacy_loss(" in words_of(built.joinpath("api/ldpnb.privacy_loss.html").read_text())


def test_the_table_of_the_library_has_the_first_sentence_of_each_name(built: Path) -> None:
    words = words_of((built / "library.html").read_text(encoding="utf-8"))
    first = (ldpnb.UnaryEncoding.__doc__ or "").strip().partition("\n")[0].replace("`", "")
    assert f"UnaryEncoding {first}" in words


def test_parts_of_pages_and_the_sources_of_pages_are_not_in_the_site(built: Path) -> None:
    assert not list(built.rglob("_part*"))
    assert not list(built.rglob("_sources/*"))
    assert "HAS_SOURCE: false" in (built / "_static/documentation_options.js").read_text()


def test_a_search_needs_no_page_but_its_own(built: Path) -> None:
    options = (built / "_static/documentation_options.js").read_text()
    assert "SHOW_SEARCH_SUMMARY: false" in options

    scorer = (home() / "ldpnb/site/static/scorer.js").read_text(encoding="utf-8")
    assert scorer.strip() in (built / "_static/language_data.js").read_text(encoding="utf-8")


def test_every_page_has_its_title_and_the_sites_style_licence_and_list_of_headings(
    index: str, page: str
) -> None:
    for text, title in ((index, "A small site"), (page, "A notebook")):
        assert re.search(f"<title>{title} .* ldpnb</title>", text)
        assert "_static/site.css" in text
        assert re.search(r"<script defer=\"\" src=\"[./]*_static/ledger.js", text)
        assert "the authors of ldpnb, MIT licence" in text
        assert 'data-theme="auto"' in text
        assert "Created using" not in text

    (headings,) = re.findall('class="page-toc".*?</nav>', index, re.DOTALL)
    assert "A heading" in headings
