"""What the site's pages are made of, before Sphinx sees them.

A page is made from a notebook, from the ledger of claims, or from the package. No Sphinx is needed
to run these tests.
"""

import json
import re
import runpy
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_output

import ldpnb as ldp
from ldpnb import claims
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

    own = []
    for row in committed_ledger():
        if row["notebook"] == notebook.id and f"**{row['place']}: " in told:
            own.append(pages.anchor(row["claim"]))
    assert sorted(re.findall(r"\(\[in the ledger\]\(#(.*?)\)\)", shown)) == sorted(own)


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


def listed_below(heading: str, text: str) -> list[str]:
    """The pages that are listed under a heading."""
    part = text.partition(f"## {heading}\n")[2]
    (tree,) = re.findall(
        r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", part.partition("\n## ")[0], re.DOTALL
    )
    return tree.splitlines()


def test_every_page_is_listed_once_under_its_source_and_those_of_none_come_first() -> None:
    text = pages.notebooks()
    assert text.startswith("# Notebooks\n\nAll of them except the ledger begin with a question.")

    of_none = [notebook.id for notebook in catalogue() if not notebook.source]
    assert listed_below("Start here, and your own data", text) == [*of_none, "paths", "glossary"]
    assert "(notebooks-start)=\n## Start here, and your own data\n" in text
    for source, about in claims.sources().items():
        own = [notebook.id for notebook in catalogue() if notebook.source == source]
        if own:
            assert listed_below(about.heading, text) == own
            assert f"(notebooks-{source})=\n## {about.heading}\n" in text


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_card_shows_the_first_figure_with_its_finding_and_how_the_claims_came_out(
    notebook: Notebook,
) -> None:
    card = pages.card(notebook)
    counts = Counter(row["status"] for row in committed_ledger() if row["notebook"] == notebook.id)
    badges = re.findall(r"\{bdg-(\w+)\}`(\d+) ([^`]*)`", card)
    assert {status: int(count) for _, count, status in badges} == counts
    for colour, _, status in badges:
        expected = {"holds": "success", "holds with a change": "warning", "fails": "danger"}
        assert colour == expected.get(status, "info")

    figures = re.findall(
        rf":::\{{figure\}} /figures/{notebook.id}/(\w+)\.png",
        "\n".join(outputs(notebooks.page(notebook), "text/markdown")),
    )
    if not figures:
        assert ":img-top:" not in card
        return

    record = json.loads((home() / f"figures/{notebook.id}/{figures[0]}.json").read_bytes())
    assert f":img-top: /figures/{notebook.id}/{figures[0]}.png\n" in card
    assert f":img-alt: {record['title']}\n" in card
    assert f"\n{notebooks.literal(record['title'])}\n" in card


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# A title\n\nHow many? All of them.", "How many?"),
        ("# A title\nIt has two\nlines. Then this.\n\nAnd that.", "It has two lines."),
        ("# A title\n\nOne line without an end\n\nAnother.", "One line without an end"),
        ("# A title\n\nThese are meant: one", "These are meant:"),
    ],
)
def test_a_card_without_a_figure_has_the_first_sentence_of_its_notebook(
    text: str, sentence: str
) -> None:
    assert pages.opening(text) == sentence


def test_every_source_has_a_card_that_counts_its_notebooks_and_its_verdicts() -> None:
    ledger = pages.ledger()
    text = pages.sources()
    for source, about in claims.sources().items():
        own = [notebook for notebook in catalogue() if notebook.source == source]
        if not own:
            continue
        (card,) = re.findall(
            rf":::\{{grid-item-card\}} {re.escape(about.heading)}\n(.*?):::", text, re.DOTALL
        )
        assert f":link: notebooks-{source}\n:link-type: ref\n" in card

        rows = pages.of_source(source)
        assert f"\n{len(own)} notebooks; {len(rows)} claims: " in card
        counts = card.partition("claims: ")[2].strip()
        assert sum(map(int, re.findall(r"\d+", counts))) == len(rows)
        assert f"## {about.heading}\n\n{len(rows)} claims: {counts}\n" in ledger

    others = [notebook for notebook in catalogue() if not notebook.source]
    assert f":link: notebooks-start\n:link-type: ref\n\n{len(others)} notebooks.\n" in text


def test_a_claim_of_the_ledger_has_its_verdict_its_words_and_the_lines_that_decide_it() -> None:
    text = pages.ledger()
    for row in committed_ledger():
        part = text.partition(f"({pages.anchor(row['claim'])})=\n")[2].partition("\n::::\n")[0]
        assert part.startswith(f"### {row['place']} (")
        assert f"`{row['status']}` {row['how']}" in part
        linked = re.findall(r"\[in its notebook\]\(/notebooks/(.*)\.ipynb\)", part)
        assert linked == ([row["notebook"]] if row["notebook"] else [])

        for said in (row["says"][1:], row["evidence"], row["over"]):
            assert said in part
        name = claims.find(row["claim"]).check.__name__
        assert re.search(rf"In `ldpnb/papers/[\w/]+\.py`:\n\n.*\ndef {name}\(", part, re.DOTALL)


CAPTION = "Errors & more."
RECORDS = {CAPTION: {"caption": CAPTION, "title": "One wins", "name": "nb_1/fig"}}
PICTURE = new_output("display_data", data={"image/png": "", "text/plain": "One wins"})
SAID = new_output("display_data", data={"text/plain": CAPTION})
OTHER = new_output("display_data", data={"image/png": "", "text/plain": "a sketch"})


def kinds(outputs: list[Any]) -> list[str]:
    return [next(iter(output["data"])) for output in notebooks.with_figures(outputs, RECORDS)]


def test_a_picture_and_its_caption_become_one_figure_and_other_pictures_stay() -> None:
    assert kinds([PICTURE, SAID]) == ["text/markdown"]
    assert kinds([OTHER, PICTURE, SAID, OTHER]) == ["image/png", "text/markdown", "image/png"]
    assert kinds([OTHER]) == ["image/png"]
    assert kinds([SAID]) == ["text/markdown"]


def test_a_figure_has_its_finding_as_alternative_text_and_an_address() -> None:
    lines = notebooks.figure(RECORDS[CAPTION]).splitlines()
    assert lines[:4] == [
        ":::{figure} /figures/nb_1/fig.png",
        ":alt: One wins",
        ":name: figure-nb-1-fig",
        ":class: published",
    ]
    assert f":alt: {CAPTION}" in notebooks.figure(RECORDS[CAPTION] | {"title": ""})


def test_jupyterlite_finds_the_package_where_make_puts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = home() / "ldpnb/site/conf.py"
    monkeypatch.delenv("LDPNB_LITE", raising=False)
    assert "jupyterlite_sphinx" not in runpy.run_path(str(settings))["extensions"]

    monkeypatch.setenv("LDPNB_LITE", "1")
    lite = runpy.run_path(str(settings))
    assert "jupyterlite_sphinx" in lite["extensions"]
    assert Path(lite["jupyterlite_dir"]) == home() / "build/lite"
    assert "--directory build/lite/pypi" in (home() / "Makefile").read_text(encoding="utf-8")


def test_a_caption_is_shown_as_it_stands() -> None:
    assert notebooks.literal("f_1 * 2 < $3 [x]") == r"f\_1 \* 2 \< \$3 \[x\]"
