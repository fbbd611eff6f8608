"""The site works where readers open it: from disk, on a phone, in light and dark, in print."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ldpnb.run.catalogue import catalogue, home
from ldpnb.run.ledger import committed_ledger

NOTEBOOK = "2_bun2022/03_cluster_lower_bounds"
PAGE = f"notebooks/{NOTEBOOK}.html"
FEW = [
    "index.html",
    "ledger.html?status=fails",
    "notebooks/index.html",
    "sweeps.html",
    "api/ldpnb.KaryRandomisedResponse.html",
    PAGE,
]
OTHERS = [
    "cite.html",
    "contribute.html",
    "ledger.html",
    "library.html",
    "figures/2_bun2022/errata.html",
    "search.html?q=budget",
    "notebooks/glossary.html",
    "notebooks/paths.html",
    *(f"notebooks/{other.id}.html" for other in catalogue() if other.id != NOTEBOOK),
]
PAGES = [*FEW, *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHERS)]

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
UNFOLD = """() => {
    document.querySelectorAll("section[hidden]").forEach((section) => section.remove());
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    document.querySelectorAll("img").forEach((image) => { image.loading = "eager"; });
}"""
CUT_OFF = """() => [...document.querySelectorAll("pre")]
    .filter((block) => block.checkVisibility() && block.scrollWidth > block.clientWidth + 1)
    .map((block) => block.textContent)"""
WITHOUT_TEXT = """() => [...document.images]
    .filter((image) => image.checkVisibility() && !(image.naturalWidth && image.alt))
    .map((image) => image.src)"""


def axe(page: Any, **options: Any) -> list[str]:
    """What axe-core says against a page, but for its formulas, which would take it minutes."""
    from axe_playwright_python.sync_playwright import Axe

    # With "preload" it would load the style sheets again, which a page opened from disk may not.
    options = {"resultTypes": ["violations"], "preload": False} | options
    found = Axe().run(page, context={"exclude": ["math"]}, options=options)

    said = []
    for rule in found.response["violations"]:
        said += [f"{rule['help']}: {node['html']}" for node in rule["nodes"]]

    return said


def light_or_dark(page: Any, scheme: str) -> None:
    """Ask for light or dark, and wait until the page has it."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
    page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished))")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_asks_nothing_of_anybody_and_axe_finds_nothing(
    name: str, visit: Any, seen: Any
) -> None:
    page = visit(name, **PHONE)
    page.evaluate(UNFOLD)
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360

    page.wait_for_function("[...document.images].every((image) => image.complete)")
    assert page.evaluate(WITHOUT_TEXT) == []
    light_or_dark(page, "light")  # the page before left this window dark
    assert axe(page) == []

    light_or_dark(page, "dark")
    assert axe(page, runOnly=["color-contrast"]) == []

    assert seen.outside == []
    assert seen.errors == []


@pytest.mark.nightly
def test_every_page_there_is_opens_from_disk_without_an_error(
    site: Path, visit: Any, seen: Any
) -> None:
    pages = sorted(path.relative_to(site) for path in site.rglob("*.html"))
    for path in pages:
        if path.parts[0] == "_static":
            continue  # templates of the theme

        visit(path.as_posix())
        assert seen.outside == [], path
        assert seen.errors == [], path


def test_what_a_page_would_ask_of_others_is_noticed(open_page: Any, seen: Any) -> None:
    page = open_page()
    with page.expect_event("requestfailed"):
        page.set_content('<img src="https://example.org/a.png">')
    assert seen.outside == ["https://example.org/a.png"]


@pytest.mark.parametrize("name", PAGES)
def test_no_code_is_cut_off_on_a_screen_of_1280_pixels_on_a_phone_or_in_print(
    name: str, visit: Any
) -> None:
    for options in ({}, PHONE):
        page = visit(name, **options)
        page.evaluate(UNFOLD)
        assert page.evaluate(CUT_OFF) == []

    page = visit(name)
    page.emulate_media(media="print")
    page.evaluate(UNFOLD)
    assert page.evaluate(CUT_OFF) == []
    page.emulate_media(media="screen")  # for the next test in this window


def test_a_figure_has_a_visible_caption_and_numbers_that_are_there(site: Path, visit: Any) -> None:
    page = visit(PAGE)
    figures = page.locator("figure:has(img)")
    assert figures.count() == len(list((home() / f"figures/{NOTEBOOK}").glob("*.png")))

    for figure in figures.all():
        caption = figure.locator("figcaption")
        assert caption.is_visible()

        link = caption.get_by_role("link", name="Numbers (CSV)").get_attribute("href")
        assert len(pd.read_csv((site / PAGE).parent / link))


PADDING = """() => [...document.querySelectorAll(".cell_output td")]
    .map((cell) => getComputedStyle(cell))
    .map((style) => parseFloat(style.paddingLeft) + parseFloat(style.paddingRight))"""


def test_digits_of_neighbouring_columns_do_not_touch(visit: Any) -> None:
    gaps = visit(PAGE).evaluate(PADDING)
    assert gaps
    assert min(gaps) >= 10


def test_a_link_to_code_leads_to_its_lines(visit: Any) -> None:
    page = visit(PAGE)
    page.get_by_role("link", name="clusters", exact=True).first.click()
    assert page.url.endswith("_modules/ldpnb/papers/bun2022/formulas/clusters.html")
    assert "class ClusterSample" in page.locator("pre").inner_text()


def test_the_site_is_small(site: Path) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*")) < 40e6


def test_every_formula_is_set(site: Path) -> None:
    source = re.compile(r">[^<]*\$[^<$]*[\\^_][^<$]*\$")
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        words = re.sub(r"<(pre|script|code)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert not source.search(words), page


def test_the_ledger_is_filtered_and_its_address_keeps_the_filter(visit: Any) -> None:
    table = pd.DataFrame(committed_ledger())
    fails = table[table["status"] == "fails"]
    of_biswas = fails[fails["claim"].str.startswith("biswas2022/")]
    assert 0 < len(of_biswas) < len(fails)

    page = visit("ledger.html?status=fails")
    shown = page.locator(".claim").filter(visible=True)
    assert shown.count() == len(fails)

    page.get_by_label("Source").select_option("biswas2022")
    said = page.locator("#filter output").inner_text()
    assert shown.count() == len(of_biswas)
    assert said == f"{len(of_biswas)} of {len(table)} claims"

    page.reload()
    assert shown.count() == len(of_biswas)

    page.get_by_label("Containing").fill("zzz")
    assert shown.count() == 0


def test_a_claim_has_an_address_its_check_and_a_link_to_its_notebook(visit: Any) -> None:
    page = visit("ledger.html#biswas2022-theorem-3-5")
    claim = page.locator("section:has(> .claim)", has_text="Theorem 3.5 (Biswas)")

    claim.get_by_text("The lines that decide it").click()
    assert "def theorem_3_5(" in claim.locator("pre").inner_text()

    claim.get_by_role("link", name="in its notebook").click()
    assert "1_biswas2022" in page.url


def test_the_search_finds_a_claim_first_names_its_source_and_needs_no_network(
    visit: Any, seen: Any
) -> None:
    page = visit("search.html?q=Theorem+5.1")
    first = page.locator("#search-results li").first
    first.wait_for()
    page.get_by_text("Search finished").wait_for()

    assert first.inner_text().strip() == "The ledger > Theorem 5.1 (Bun)"
    assert seen.outside == []
    assert seen.errors == []


def test_without_scripts_pictures_and_formulas_are_there(visit: Any) -> None:
    page = visit(PAGE, java_script_enabled=False)
    assert page.locator("figure img").first.is_visible()
    assert page.locator("math").first.is_visible()
