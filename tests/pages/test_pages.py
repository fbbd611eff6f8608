"""What the site's pages are made of, before Sphinx sees them.

A page is made from a notebook, from the ledger of claims, or from the package. No Sphinx is needed
to run these tests.
"""

import json
import re
from importlib import import_module
from typing import Any

import pytest

import ldpnb as ldp
from ldpnb.run.catalogue import Notebook, catalogue, home
from ldpnb.run.ledger import committed_ledger
from ldpnb.site import notebooks, pages
from ldpnb.site.__main__ import sources

NOTEBOOKS = [pytest.param(notebook, id=notebook.id) for notebook in catalogue()]
LINKING = catalogue()[1]


def outputs(book: Any, kind: str) -> list[str]:
    """The outputs of a notebook that are of a kind, such as ``text/markdown``."""
    found = []
    for cell in book["cells"]:
        for output in cell.get("outputs", []):
            found.append("".join(output.get("data", {}).get(kind, "")))

    return [text for text in found if text]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_page_has_every_figure_once_with_its_caption_and_its_numbers(notebook: Notebook) -> None:
    shown = "\n".join(outputs(notebooks.page(notebook), "text/markdown"))

    for record in notebooks.published(notebook).values():
        name = record["name"]
        assert shown.count(f":::{{figure}} /figures/{name}.png") == 1
        assert shown.count(f"[Numbers (CSV)](/figures/{name}.csv)") == 1
        assert shown.count(notebooks.literal(record["caption"])) == 1
        assert (home() / f"figures/{name}.csv").exists()


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_page_has_no_picture_twice_and_no_table_with_a_style_of_its_own(
    notebook: Notebook,
) -> None:
    book = notebooks.page(notebook)

    pictures = outputs(json.loads(notebook.path.read_bytes()), "image/png")
    figures = notebooks.published(notebook)
    assert len(outputs(book, "image/png")) == len(pictures) - len(figures)

    for table in outputs(book, "text/html"):
        assert "<style" not in table
        assert 'border="1"' not in table
        assert "<th></th>" not in table


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_page_links_each_of_its_verdicts_to_the_ledger(notebook: Notebook) -> None:
    shown = "\n".join(outputs(notebooks.page(notebook), "text/markdown"))
    told = "\n".join(outputs(json.loads(notebook.path.read_bytes()), "text/markdown"))

    for row in committed_ledger():
        if row["notebook"] == notebook.id and f"**{row['place']}: " in told:
            assert f"([in the ledger](#{pages.anchor(row['claim'])}))" in shown


def test_a_page_says_how_to_run_its_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.delenv("LDPNB_LITE", raising=False)

    ways = notebooks.page(LINKING).cells[0].source
    assert f"`notebooks/{LINKING.id}.ipynb`" in ways
    assert f"`.venv/bin/ldpnb run {LINKING.path.stem} -p NAME=VALUE`" in ways
    assert f'<a href="{LINKING.path.name}" download>' in ways
    assert "address of a public copy" in ways
    assert "JupyterLite" not in ways


def test_a_public_page_opens_its_notebook_in_binder_and_in_jupyterlite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/ldpnb")
    monkeypatch.setenv("LDPNB_LITE", "1")

    ways = notebooks.page(LINKING).cells[0].source
    place = f"labpath=notebooks/{LINKING.id}.ipynb"
    assert f"https://mybinder.org/v2/gh/someone/ldpnb/HEAD?{place}" in ways
    assert f'href="../../lite/lab/index.html?path={LINKING.id}.ipynb"' in ways


def test_a_notebook_for_the_browser_installs_the_package_first() -> None:
    made = dict(sources())
    for notebook in catalogue():
        first, *cells = json.loads(made[f"_lite/{notebook.id}.ipynb"])["cells"]
        assert "".join(first["source"]).startswith("%pip install -q ldpnb ")
        assert cells == json.loads(notebook.path.read_bytes())["cells"]


def test_the_ledger_has_every_claim_once_under_an_address_of_its_own() -> None:
    text = pages.ledger()
    anchors = re.findall(r"^\((.*)\)=$", text, re.MULTILINE)
    assert anchors == [pages.anchor(row["claim"]) for row in committed_ledger()]
    assert len(set(anchors)) == len(anchors)


def test_a_claims_heading_names_its_source() -> None:
    assert "### Theorem 3.5 (Biswas)" in pages.ledger()
    assert "### Theorem 5.1 (Bun)" in pages.ledger()


def test_a_claim_can_be_chosen_by_every_filter_of_the_form() -> None:
    form = (home() / "ldpnb/site/pages/ledger.md").read_text(encoding="utf-8")
    chosen = re.findall(r'<select name="(\w+)">', form)
    for words in re.findall(r"\{container\} claim (.*)", pages.ledger()):
        assert all(f"{name}-" in words for name in chosen)
        assert words.count("-") >= len(chosen)


def test_every_notebook_has_a_card_with_its_title_and_a_sentence() -> None:
    text = pages.notebooks()
    for notebook in catalogue():
        card = re.search(
            rf":::\{{grid-item-card\}} {re.escape(notebook.title)}\n"
            rf":link: /notebooks/{notebook.id}\n(?::.*\n)*\n(.*)\n",
            text,
        )
        assert card
        assert 10 < len(card[1]) < 300


def test_the_library_lists_every_public_name_and_modules_that_can_be_imported() -> None:
    text = pages.library()
    listed = re.findall(r"^   ~ldpnb\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(ldp.__all__) - {"__version__"})

    for module in pages.linked_modules():
        assert f"\n   {module}\n" in f"{text}\n"
        import_module(module)


def test_a_caption_is_shown_as_it_stands() -> None:
    assert notebooks.literal("f_1 * 2 < $3 [x]") == r"f\_1 \* 2 \< \$3 \[x\]"
