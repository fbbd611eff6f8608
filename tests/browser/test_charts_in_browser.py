"""Figures and Explore sections as a reader plays with them: by pointer, by keyboard, on a phone, in the dark."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ldpnb.notebook.prose import short
from ldpnb.papers.bun2022.tables.clusters import losses_by_cluster_size
from ldpnb.planning.plans import plan
from ldpnb.planning.questions import Frequency
from ldpnb.run.catalogue import home

PAGE, FIGURE = "2_bun2022/03_cluster_lower_bounds", "losses"
PLAYED = f"{PAGE}.html"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}


def figure(page: Any, name: str = FIGURE) -> Any:
    drawn = page.locator(f"#figure-{name}")
    drawn.scroll_into_view_if_needed()
    drawn.locator(".view svg").first.wait_for()
    return drawn


def table() -> pd.DataFrame:
    return pd.read_csv(home() / f"figures/{PAGE}/{FIGURE}.csv")


def test_a_figure_is_a_chart_whose_values_the_keyboard_reads(visit: Any, seen: Any) -> None:
    page = visit(PLAYED)
    drawn = figure(page)
    assert not drawn.locator("img").is_visible()
    panel = drawn.locator(".frame").first
    panel.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    readout = panel.locator(".readout")
    readout.wait_for()
    rows = table().query("design == design[0]")
    place = sorted(set(rows["cluster size (records)"]))[-2]
    lines = readout.locator("li").all_inner_texts()
    assert readout.locator("p").inner_text() == f"cluster size (records): {place:g}"
    found = rows[rows["cluster size (records)"] == place].set_index("quantity")["loss (nats)"]
    assert [line.strip() for line in lines] == [f"{name} {float(f'{value:.4g}'):g}" for name, value in found.items()]
    page.keyboard.press("Escape")
    assert not readout.is_visible()
    assert (seen.outside, seen.errors) == ([], [])


def test_the_pointer_reads_values_and_the_legend_switches_series(visit: Any) -> None:
    page = visit(PLAYED)
    drawn = figure(page)
    panel = drawn.locator(".frame").first
    panel.hover()
    readout = panel.locator(".readout")
    readout.wait_for()
    names = drawn.locator(".legend button").all_inner_texts()
    assert len(names) == readout.locator("li").count() == table()["quantity"].nunique()
    button = drawn.get_by_role("button", name="exact")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    panel.hover(position={"x": 60, "y": 100})
    readout.wait_for()
    assert not any(line.strip().startswith("exact") for line in readout.locator("li").all_inner_texts())


def test_of_a_cloud_of_points_the_number_and_the_range_are_read(visit: Any) -> None:
    page = visit("4_juarez2022/04_validation.html")
    panel = figure(page, "client_rates").locator(".frame").first
    panel.focus()
    page.keyboard.press("Home")
    panel.locator(".readout").wait_for()
    rates = pd.read_csv(home() / "figures/4_juarez2022/04_validation/client_rates.csv")
    first = rates.query("metric == metric[0] and group == group[0]")
    least, most = (f"{float(f'{end:.4g}'):g}" for end in (first["rate"].min(), first["rate"].max()))
    (line,) = panel.locator(".readout li").all_inner_texts()
    assert line.strip() == f"{first['group'].iloc[0]} {len(first)} values, {least} to {most}"


def test_on_a_phone_panels_stack_and_the_legend_is_below(visit: Any) -> None:
    page = visit(PLAYED, **PHONE, color_scheme="dark")
    drawn = figure(page)
    boxes = [panel.bounding_box() for panel in drawn.locator(".panel").all()]
    assert len({box["x"] for box in boxes}) == 1
    assert drawn.locator(".legend").bounding_box()["y"] > boxes[-1]["y"] + boxes[-1]["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    colours = "e => [...e.querySelectorAll('.legend svg')].map(s => getComputedStyle(s).color)"
    dark = drawn.evaluate(colours)
    page.emulate_media(color_scheme="light")
    assert all(one != other for one, other in zip(dark, drawn.evaluate(colours), strict=True))


def test_without_scripts_a_figure_is_its_picture(visit: Any) -> None:
    page = visit(PLAYED, java_script_enabled=False)
    assert page.locator(f"#figure-{FIGURE} img").is_visible()
    assert not page.locator(".chart-box").count()


def settings(site: Any) -> dict[str, Any]:
    return json.loads((site / f"{PAGE}/explore.js").read_text().removeprefix("window.EXPLORE = ").rstrip(";\n"))


def test_a_live_section_plays_and_its_sentence_is_the_notebooks_own(visit: Any, site: Any, seen: Any) -> None:
    page = visit(PLAYED)
    section = page.locator("#live-section")
    says = section.locator(".says")
    grid = settings(site)
    stored = next(
        c for c in json.loads((site / f"{PAGE}.ipynb").read_text())["cells"] if "live(redraw" in "".join(c["source"])
    )
    assert says.inner_text() == "".join(stored["outputs"][0]["data"]["text/plain"]).strip()
    section.locator(".view svg").first.wait_for()
    line = section.locator(".mark-line path").first
    before = line.get_attribute("d")
    epsilon = page.get_by_label("epsilon (nats)")
    epsilon.focus()
    page.keyboard.press("End")
    values = grid["controls"][0]["values"]
    assert epsilon.get_attribute("aria-valuetext") == f"{values[-1]} nats"
    at = (len(values) - 1, *(control["start"] for control in grid["controls"][1:]))
    shape = [len(control["values"]) for control in grid["controls"]]
    assert says.inner_text() == grid["settings"][np.ravel_multi_index(at, shape)]["says"]
    page.wait_for_function("([e, d]) => e.getAttribute('d') !== d", arg=[line.element_handle(), before])
    section.get_by_role("button", name="Reset").click()
    page.wait_for_function("([e, d]) => e.getAttribute('d') === d", arg=[line.element_handle(), before])
    assert (seen.outside, seen.errors) == ([], [])


def test_the_grid_holds_what_the_notebook_computes(site: Any) -> None:
    grid = settings(site)
    shape = [len(control["values"]) for control in grid["controls"]]
    for place in (0, len(grid["settings"]) - 1):
        at = np.unravel_index(place, shape)
        epsilon, chosen, largest = (float(c["values"][i]) for c, i in zip(grid["controls"], at, strict=True))
        table = losses_by_cluster_size(int(largest), count=100, chosen=int(chosen), epsilon=epsilon, spread=0.0)
        rows = table[(table["design"] == "equal sizes, deletion") & (table["quantity"] == "exact")]
        (panel,) = grid["settings"][place]["panels"]
        exact = next(s for s in panel["series"] if grid["looks"][s["look"]]["name"] == "exact")
        assert grid["columns"][exact["y"]] == pytest.approx(rows["loss (nats)"].tolist(), rel=1e-4)


def test_the_planner_ranks_mechanisms_as_the_command_does(visit: Any, seen: Any) -> None:
    page = visit("planner.html")
    page.locator("#live-section .view svg").wait_for()
    users = page.get_by_label("users")
    users.focus()
    page.keyboard.press("End")
    best = plan(Frequency(epsilon=1.0, count=10**8, failure=0.01, values=8)).best
    assert (
        page.locator("#live-section .says")
        .inner_text()
        .startswith(f"The least error where nobody is trusted, {short(best.value)}, is that of {best.name}.")
    )
    frame = page.locator("#live-section .frame")
    frame.focus()
    page.keyboard.press("Home")
    frame.locator(".readout").wait_for()
    assert frame.locator(".readout li").inner_text().endswith(f"{best.name} {float(f'{best.value:.4g}'):g}")
    assert (seen.outside, seen.errors) == ([], [])


@pytest.fixture(scope="module")
def planner(visit: Any) -> Any:
    return visit("planner.html")


@pytest.mark.parametrize(
    ("channel", "answer"),
    [
        (
            "3/4 1/4\n1/4 3/4",
            "The privacy loss is 1.09861 nats, a ratio of 3, at report 1, between the values of lines 1 and 2.",
        ),
        (
            "1, 0\n.5; .5",
            "The privacy loss is infinite, at report 2, between the values of lines 2 and 1: only the first can send it.",
        ),
        (".5 .5 0\n.5 .5 0", "The privacy loss is 0: all values send every report with the same chance."),
        (".5 .4\n.5 .5", "No answer: the chances of a line must sum to 1; those of line 1 sum to 0.9."),
        (".5 .5\n1", "No answer: every line must have as many entries as line 1, 2; line 2 has 1."),
        ("1 x\n0 1", "No answer: line 1: chances must lie between 0 and 1, got x."),
        ("1", "No answer: a channel needs at least two lines, one for every value."),
    ],
)
def test_a_channel_that_a_reader_types_is_audited(planner: Any, channel: str, answer: str) -> None:
    planner.get_by_label("Chances of the reports").fill(channel)
    assert planner.locator("#audit-result").inner_text() == answer
