"""The site as a reader meets it: opened from disk, on a phone, in light and dark, by pointer, keyboard and without scripts."""

import json
import os
import re
from typing import Any

import pandas as pd
import pytest
from ldpnb.notebook.grids import NAME

from ldpnb.run.catalogue import catalogue, home
from ldpnb.run.ledger import committed_ledger

NOTEBOOK, FIGURE = "2_bun2022/03_cluster_lower_bounds", "losses"
PLAYED = f"notebooks/{NOTEBOOK}.html"
FEW = [
    "index.html",
    "ledger.html?status=fails",
    PLAYED,
    "code/ldpnb/rng.html#L-12",
]
OTHERS = [
    "ledger.html",
    "figures/2_bun2022/errata.html",
    "package/privacy.html",
    "search.html?q=budget",
    "notebooks/glossary.html",
]
OTHERS += [f"notebooks/{notebook.id}.html" for notebook in catalogue()]
PAGES = [*FEW, *OTHERS] if "LDPNB_THOROUGH" in os.environ else FEW
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
SHOW_ALL = """async () => {
    document.querySelectorAll("section[hidden]").forEach((s) => s.remove());
    document.querySelectorAll("details").forEach((d) => { d.open = true; });
    document.querySelectorAll("img").forEach((i) => { i.loading = "eager"; });
    for (const chart of document.querySelectorAll(".chart, .live")) {
        chart.scrollIntoView();
        while (!chart.querySelector("svg.marks")) await new Promise((done) => setTimeout(done, 20));
    }
}"""


def axe(page: Any, **options: Any) -> list[str]:
    """What axe-core says against a page, but for its formulas, whose thousands of parts take it minutes."""
    from axe_playwright_python.sync_playwright import Axe

    # it would load the style sheets once more, which a page opened from disk may not
    options = {"resultTypes": ["violations"], "preload": False} | options
    rules = Axe().run(page, context={"exclude": ["math"]}, options=options).response["violations"]
    return [f"{rule['help']}: {node['html']}" for rule in rules for node in rule["nodes"]]


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
    page.evaluate(SHOW_ALL)
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert (
        page.evaluate(
            "[...document.images].filter((i) => i.checkVisibility() && !(i.naturalWidth && i.alt)).length"
        )
        == 0
    )
    assert axe(page) == []
    light_or_dark(page, "dark")
    assert axe(page, runOnly=["color-contrast"]) == []
    assert (seen.outside, seen.errors) == ([], [])


def test_what_a_page_would_ask_of_others_is_noticed(open_page: Any, seen: Any) -> None:
    page = open_page()
    with page.expect_event("requestfailed"):
        page.set_content('<img src="https://example.org/a.png">')
    assert seen.outside == ["https://example.org/a.png"]


def test_the_site_is_small(site: Any) -> None:
    assert sum(path.stat().st_size for path in site.rglob("*")) < 30e6


def test_every_formula_is_set(site: Any) -> None:
    source = re.compile(r">[^<]*\$[^<$]*[\\^_][^<$]*\$")
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    words = {
        page: re.sub(r"<(pre|script|code)\b.*?</\1>", "", text, flags=re.DOTALL)
        for page, text in pages.items()
    }
    assert not [
        (page.name, shown[0]) for page, text in words.items() if (shown := source.search(text))
    ]


def test_the_ledger_is_filtered_and_its_address_keeps_the_filter(visit: Any) -> None:
    table = pd.DataFrame(committed_ledger())
    page = visit("ledger.html?status=fails")
    shown = page.locator(".claim").filter(visible=True)
    assert shown.count() == (table["status"] == "fails").sum() > 0
    page.get_by_label("Source").select_option("biswas2022")
    ours = table[(table["status"] == "fails") & table["claim"].str.startswith("biswas2022/")]
    assert shown.count() == len(ours) > 0
    assert page.locator("#filter output").inner_text() == f"{len(ours)} of {len(table)} claims"
    page.reload()
    assert shown.count() == len(ours)
    page.get_by_label("Containing").fill("zzz")
    assert shown.count() == 0
    visit("ledger.html#biswas2022-theorem-3-5")
    page.locator("#biswas2022-theorem-3-5, #theorem-3-5").first.wait_for()
    page.locator("section:has(> .claim) a", has_text="in its notebook").first.click()
    page.locator("h1").wait_for()


def test_the_pointer_reads_all_curves_at_one_place_and_the_legend_switches(visit: Any) -> None:
    page = visit(PLAYED)
    chart = page.locator(f"#figure-{FIGURE} .chart")
    chart.scroll_into_view_if_needed()
    chart.locator("svg.marks").wait_for()
    assert not page.locator(f"#figure-{FIGURE} img").is_visible()
    chart.hover(position={"x": 150, "y": 150})
    names = pd.read_csv(home() / f"figures/{NOTEBOOK}/{FIGURE}.csv")["quantity"].unique()
    assert set(names) <= set(page.locator("#vg-tooltip-element td").all_inner_texts())
    faint = chart.locator(".mark-line path[stroke-opacity='0.06'], .mark-line path[opacity='0.06']")
    assert faint.count() == 0
    chart.locator(".role-legend-label text").first.click()
    faint.first.wait_for()


def test_a_live_section_plays_by_keyboard_within_a_tenth_of_a_second(visit: Any) -> None:
    page = visit(PLAYED)
    live = page.locator(".live")
    live.scroll_into_view_if_needed()
    live.locator("svg.marks").wait_for()
    grid = json.loads((home() / f"figures/{NOTEBOOK}/{NAME}").read_text())
    first = live.locator("input").first
    before, says = live.locator(".mark-line path").first.get_attribute("d"), live.locator(".says")
    first.focus()
    page.keyboard.press("End")
    last = grid["controls"][0]["values"][-1]
    assert (
        first.get_attribute("aria-valuetext") == live.locator("output").first.inner_text() == last
    )
    place = [len(grid["controls"][0]["values"]) - 1, *(c["start"] for c in grid["controls"][1:])]
    setting = next(s for s in grid["settings"] if s[0] == place)
    assert all(number in says.inner_text() for number in setting[3])
    assert f"epsilon={last}" in page.url
    assert live.locator(".mark-line path").first.get_attribute("d") != before
    took = """async (live) => {
        const times = [];
        for (let i = 0; i < 9; i++) {
            const [start, input] = [performance.now(), live.querySelector("input")];
            input.value = i;
            input.dispatchEvent(new Event("input"));
            await live.live.drawing;
            times.push(performance.now() - start);
        }
        return Math.min(...times);
    }"""
    assert live.evaluate(took) < 100
    page.keyboard.press("End")
    page.reload()
    assert page.locator(".live output").first.inner_text() == last
    live.get_by_role("button", name="Reset").click()
    assert (
        live.locator("output").first.inner_text()
        == grid["controls"][0]["values"][grid["controls"][0]["start"]]
    )


def test_the_search_finds_a_claim_offline(visit: Any, seen: Any) -> None:
    page = visit("search.html?q=Theorem+3.5")
    page.locator("#search-results a", has_text="Theorem 3.5").first.wait_for()
    assert (seen.outside, seen.errors) == ([], [])


def test_without_scripts_a_figure_is_its_picture_and_a_formula_is_set(visit: Any) -> None:
    page = visit(PLAYED, java_script_enabled=False)
    assert page.locator(f"#figure-{FIGURE} img").is_visible()
    assert page.locator("math").count() > 50
    assert not page.locator(".live form").is_visible()
    assert page.locator(".live .says").inner_text().endswith("of ε.")
