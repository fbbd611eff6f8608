"""The site as a reader meets it: opened from disk, on a phone, in the dark, by keyboard, on paper."""

import os
from collections import Counter
from typing import Any

from ldpnb.run.catalogue import catalogue
from ldpnb.site import entries

PAGES = ["index.html", "ledger.html", "search.html?q=budget", *(f"{n.id}.html" for n in catalogue())]
CODE = [
    "paths.html",
    "glossary.html",
    "api/index.html",
    "api/privacy.html",
    "code/index.html",
    "code/ldpnb/rng.py.html#L-12",
]
KINDS = [
    *("index.html", "2_bun2022/03_cluster_lower_bounds.html", "planner.html", "ledger.html", "search.html?q=budget"),
    *("glossary.html", "code/ldpnb/rng.py.html"),
]
THOROUGH = "LDPNB_THOROUGH" in os.environ
SOME = "['.ledger > li', 'math'].forEach((kind) => document.querySelectorAll(kind).forEach((e, i) => { if (i % 12) e.remove(); }))"
DRAWN = """() => Object.keys(window.FIGURES ?? {}).every(
    (id) => document.querySelectorAll(`#${id} .panel`).length === FIGURES[id].panels.length && document.querySelector(`#${id} > a[hidden]`))"""
PICTURES = """Promise.all([...document.images].map(async (i) => { i.loading = "eager"; await i.decode(); return i.naturalWidth > 0 && i.alt; }))
    .then((all) => all.every(Boolean))"""
UNFOLD = """document.querySelectorAll('details').forEach((d) => { d.open = true; });
    document.querySelectorAll('.ledger > li').forEach((claim) => { claim.style.contentVisibility = 'visible'; })"""
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}


def test_every_page_opens_from_disk_on_a_phone_and_asks_nothing_of_anybody(visit: Any, seen: Any) -> None:
    high = {"viewport": {"width": 360, "height": 20_000}} if THOROUGH else {}
    for name in PAGES + CODE:
        page = visit(name, **PHONE | high)
        assert page.title().endswith("ldpnb")
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.locator("h1").count() == 1, name
        assert page.evaluate(PICTURES), name
        if THOROUGH:  # so high a window shows, and so draws, all figures
            page.wait_for_function(DRAWN)
        page.evaluate(UNFOLD)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
    assert page.evaluate("document.fonts.load('1em \"ldpnb Math\"').then(fonts => fonts.length)") == 1
    assert (seen.outside, seen.errors) == ([], [])


def test_what_a_page_would_ask_of_others_is_noticed(open_page: Any, seen: Any) -> None:
    address = "https://example.org/a.png"
    page = open_page()
    with page.expect_event("requestfailed"):
        page.set_content(f'<img src="{address}">')
    assert seen.outside == [address]


def test_the_ledger_is_filtered_by_source_verdict_and_words(visit: Any) -> None:
    claims = entries.entries()
    page = visit("ledger.html")
    shown = page.locator(".ledger > li:visible")
    assert shown.count() == len(claims)
    page.get_by_label("Verdict").select_option("refuted")
    refuted = [c for c in claims if c.status == "refuted"]
    assert shown.count() == len(refuted) > 0
    assert page.locator(".filter output").inner_text() == f"{len(refuted)} of {len(claims)} claims"
    source, count = Counter(c.source for c in refuted).most_common()[0]
    page.get_by_label("Source").select_option(source)
    assert shown.count() == count
    words = refuted[0].says.split()[:4]
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Containing").fill(" ".join(words))
    held = [c for c in claims if all(w.lower() in c.text for w in words)]
    assert refuted[0] in held
    assert shown.count() == len(held) < len(claims)
    page.get_by_label("Evidence").select_option("proof")
    assert shown.count() == sum(c.kind == "proof" for c in held)
    page.get_by_label("Evidence").select_option("any")
    page.get_by_label("Source").select_option(source)
    page.reload()
    assert page.get_by_label("Source").input_value() == source
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("document.querySelectorAll('.ledger > li[hidden]').length === 0")


def test_a_count_shows_its_claims_and_a_claim_leads_to_its_evidence(visit: Any) -> None:
    page = visit("ledger.html#status=refuted")
    claims = [c for c in entries.entries() if c.status == "refuted" and c.page]
    assert page.locator(".ledger > li:visible").count() == sum(c.status == "refuted" for c in entries.entries())
    page.locator(f"a[data-filter='source={claims[0].source}&status=refuted']").click()
    page.locator(".ledger > li:visible a").first.click()
    section = page.locator(f"#{claims[0].anchor}")
    assert f"{claims[0].place}: refuted." in section.inner_text()
    page.wait_for_function("e => e.getBoundingClientRect().top < innerHeight", arg=section.element_handle())


def test_the_search_is_reached_from_every_page_and_puts_the_best_first(visit: Any, seen: Any) -> None:
    page = visit(PAGES[3])
    page.keyboard.press("/")
    page.keyboard.type("Theorem 5.2")
    page.keyboard.press("Enter")
    first = page.locator("#results a").first
    assert first.text_content() == "Theorem 5.2: reproduced."
    assert page.locator("#results .kind").first.text_content() == "claim of bun2022"
    field = page.get_by_label("Search for")
    for words, best in (
        ("randomized resp", "Randomised response: reproduced."),
        ("Skoric norm-sub", "Maximum likelihood"),
    ):
        field.fill(words)
        assert first.text_content().startswith(best)
    field.fill("zzz")
    assert page.locator("form output").inner_text() == "0 found"
    field.fill("secret lottery")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "A secret lottery over allocations: reproduced."
    page.keyboard.press("Enter")
    page.locator("#claim-companion-a-secret-lottery-over-allocations").wait_for()
    assert (seen.outside, seen.errors) == ([], [])


def test_light_and_dark_follow_the_system_and_the_switch_is_kept(visit: Any, open_page: Any) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page = visit("index.html", open_page(color_scheme="dark"))
    dark = page.evaluate(background)
    page.get_by_role("button", name="Light").click()
    light = page.evaluate(background)
    assert (dark, light) == ("rgb(20, 23, 26)", "rgb(255, 255, 255)")
    assert visit(PAGES[3], page).evaluate(background) == light
    page.get_by_role("button", name="Dark").click()
    page.reload()
    assert page.evaluate(background) == dark


def test_axe_finds_nothing_in_light_and_dark(visit: Any) -> None:
    for name in KINDS:
        page = visit(name)
        page.evaluate(UNFOLD)
        if not THOROUGH:  # of the claims and formulas, which are made alike: all would take a quarter of a minute
            page.evaluate(SOME)
        assert axe(page) == [], name
        page.emulate_media(color_scheme="dark")
        assert axe(page, runOnly=["color-contrast"]) == [], name
        page.emulate_media(color_scheme="light")


def axe(page: Any, **options: Any) -> list[str]:
    """What axe-core says against a page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]} | options).response["violations"]
    return [f"{rule['help']}: {node['html']}" for rule in found for node in rule["nodes"]]


def test_it_can_be_used_by_keyboard(visit: Any, open_page: Any) -> None:
    page = visit("ledger.html", open_page())
    focused = "document.activeElement.id || document.activeElement.textContent"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") == 0
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "content"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "theme"
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.locator(".ledger summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".ledger details[open]").count() == 1


def test_on_paper_the_evidence_is_shown_and_what_only_works_on_a_screen_is_not(visit: Any, open_page: Any) -> None:
    page = visit("ledger.html", open_page(color_scheme="dark"))
    page.emulate_media(media="print")
    assert page.locator(".ledger details p").first.evaluate("e => e.getBoundingClientRect().height > 0")
    assert not page.locator("header.bar, form.filter").filter(visible=True).count()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    visit(PAGES[3], page)
    assert not page.locator("details.code, .files, footer").filter(visible=True).count()
    assert len(page.pdf(format="A4")) > 20_000


def test_without_scripts_everything_is_there_but_the_controls(visit: Any) -> None:
    page = visit("ledger.html", java_script_enabled=False)
    assert page.locator(".ledger > li").filter(visible=True).count() == len(entries.entries())
    assert not page.locator("form.filter, #theme").filter(visible=True).count()
