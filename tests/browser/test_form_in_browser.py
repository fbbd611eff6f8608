"""The form of a field kit in a browser: from a plan to an estimate, its chances, and what is left of an answer."""

import math
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from ldpnb.cli import cli
from ldpnb.planning.kit.pages import pages, save
from ldpnb.rng import stream
from ldpnb.surveys.estimation import estimate
from ldpnb.surveys.field_plan import FieldPlan

THOROUGH = "LDPNB_THOROUGH" in os.environ
PEOPLE, DRAWS = (2000, 50_000) if THOROUGH else (300, 5000)
FALSE_ALARM = 1e-6
PLAN = (
    f"plan mean --design simple --population 20000 --count {PEOPLE} --binary --epsilon 1 --failure 0.05"
    " --question Ever? --save plan.json"
)
LABELS = ("never", 'now, "then"', "<b>often</b>")
BINARY = FieldPlan(
    design="simple",
    kind="binary",
    p="3/4",
    q="1/4",
    population=900,
    asked=200,
    question="Do <b>you</b>?",
)
LABEL: dict[str, Any] = {"p": "1/2", "q": "1/4", "labels": LABELS}
STRATA = FieldPlan(
    design="strata", kind="labels", strata={"north": (99, 9), "a, b": (99, 9)}, asked=18, **LABEL
)
CLUSTERS: dict[str, Any] = {"population": 900, "clusters": 60, "chosen": 20, "take": 10}
STAGES = FieldPlan(design="two stages", kind="bits", asked=200, **CLUSTERS, **LABEL)
NUMBER = FieldPlan(
    design="everyone", kind="number", p="3/4", q="1/4", low=-1.0, high=23.0, asked=200
)
LAPLACE = FieldPlan(design="everyone", kind="Laplace", epsilon=0.5, low=0.0, high=10.0, asked=200)

ANSWER_ALL = """truths => { for (const truth of truths) {
  document.querySelector("#begin").click();
  document.querySelector("#yes").click();
  document.querySelectorAll("input[name=answer]")[truth].click();
  document.querySelector("#record").click();
  document.querySelector("#next").click();
} }"""

Opened = Callable[..., Any]


@pytest.fixture
def form(tmp_path: Path, open_page: Opened) -> Opened:
    """Open the form of a plan."""

    def go(plan: FieldPlan, **groups: tuple[str, ...]) -> Any:
        folder = tmp_path / plan.checksum
        if not folder.exists():
            save(folder, pages(plan, groups))
        page = open_page(accept_downloads=True)
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto((folder / "form.html").as_uri())
        return page

    return go


def saved(page: Any, path: Path) -> pd.DataFrame:
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(path)
    return pd.read_csv(path, dtype=str)


def test_from_a_plan_through_the_form_to_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: Opened, seen: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (PLAN, "kit plan.json -o kit"):
        assert CliRunner().invoke(cli, words.split()).exit_code == 0
    truths = stream("respondents of a form", seed=0).random(PEOPLE) < 0.3
    page = open_page(accept_downloads=True)
    page.goto((tmp_path / "kit/form.html").as_uri())
    page.evaluate(ANSWER_ALL, [int(not truth) for truth in truths])  # the first answer is yes
    reports = saved(page, tmp_path / "reports.csv")
    assert (len(reports), reports["id"].nunique()) == (PEOPLE, PEOPLE)
    shown = CliRunner().invoke(
        cli, f"estimate plan.json reports.csv --level {1 - FALSE_ALARM}".split()
    )
    assert shown.exit_code == 0
    own = estimate(FieldPlan.load("plan.json"), reports, alpha=FALSE_ALARM).rows[0]
    assert f"The share is estimated at {own.estimate:.4g}" in shown.output
    assert own.low <= 0.3 <= own.high  # these people are a sample of many of whom so many say yes
    noise = own.randomisation_error * stats.norm.isf(FALSE_ALARM / 2)
    assert abs(own.estimate - truths.mean()) < 1.1 * noise
    assert (seen.outside, seen.errors) == ([], [])


def chi_square(counts: Any, chances: Any) -> float:
    expected = np.sum(counts) * np.asarray(chances)
    return float(
        stats.chi2.sf(((np.asarray(counts) - expected) ** 2 / expected).sum(), len(expected) - 1)
    )


DRAW = "([answer, times]) => Array.from({length: times}, () => reports[plan.kind](answer))"


def test_the_form_draws_with_the_chances_of_the_plan(form: Opened) -> None:
    page, times = form(BINARY), DRAWS
    for answer, rate in ((0, 0.75), (1, 0.25)):
        ones = sum(page.evaluate(DRAW, [answer, times]))
        assert chi_square([ones, times - ones], [rate, 1 - rate]) > FALSE_ALARM
    drawn = pd.Series(form(STRATA).evaluate(DRAW, [1, times])).value_counts()
    assert chi_square([drawn[label] for label in LABELS], [0.25, 0.5, 0.25]) > FALSE_ALARM
    words = pd.Series(form(STAGES).evaluate(DRAW, [2, times])).value_counts()
    rates = {
        "".join(word): math.prod((3 - 2 * int(bit)) / 4 for bit in word[:2]) / 2
        for word in product("01", repeat=3)
    }
    assert chi_square([words[word] for word in rates], [*rates.values()]) > FALSE_ALARM
    page = form(NUMBER)
    for answer in (-1, 5, 23):
        ones, rate = sum(page.evaluate(DRAW, [answer, times])), 0.25 + 0.5 * (answer + 1) / 24
        assert chi_square([ones, times - ones], [rate, 1 - rate]) > FALSE_ALARM


def test_laplace_noise_is_exact_on_its_grid(form: Opened) -> None:
    """Noise with P(x) proportional to exp(-|x| s/t), by the form's own code; and reports around the answer."""
    page, times = form(LAPLACE), DRAWS
    drawn = np.array(
        page.evaluate("times => Array.from({length: times}, () => noise(2, 3))", times)
    )
    ratio = math.exp(-2 / 3)
    chances = [(1 - ratio) / (1 + ratio) * ratio ** abs(x) for x in range(-5, 6)]
    counts = [(drawn == x).sum() for x in range(-5, 6)]
    assert chi_square([*counts, times - sum(counts)], [*chances, 1 - sum(chances)]) > FALSE_ALARM
    reports = np.array(page.evaluate(DRAW, [4, times]))
    assert stats.kstest(reports, stats.laplace(4, 10 / 0.5).cdf).pvalue > FALSE_ALARM
    assert page.evaluate("plan.scale") == [1, 200_000]  # epsilon 1/2 on 100,000 steps


def test_numbers_that_would_favour_some_are_drawn_anew(form: Opened) -> None:
    """The largest number there is, 2^53 - 1, is beyond the last whole multiple of 3: two of the 2^53 are left over."""
    calls = """() => { let words = [2 ** 32 - 1, 2 ** 32 - 1, 0, 5]; let asked = 0;
      crypto.getRandomValues = array => { asked += 1; array.set(words.splice(0, 2)); return array; };
      return [below(3), asked]; }"""
    assert form(BINARY).evaluate(calls) == [2, 2]
    page = form(BINARY)
    seeded = (
        "() => { Math.random = Date.now = () => { throw new Error('no chance of its own'); }; }"
    )
    page.evaluate(seeded)
    assert set(page.evaluate("Array.from({length: 2000}, () => below(6))")) == set(range(6))


def left(page: Any) -> str:
    """Everything that a page keeps, and what is chosen, typed and focused in it."""
    return page.evaluate("""() => JSON.stringify([document.documentElement.outerHTML, location.href, history.state,
      document.cookie, Object.entries(localStorage), Object.entries(sessionStorage), kept, unit,
      Array.from(document.querySelectorAll("input, select, textarea"), field => [field.value, field.checked])])""")


def test_nothing_is_left_of_an_answer(form: Opened, seen: Any) -> None:
    page = form(NUMBER)
    page.click("#begin")
    page.click("#yes")
    page.fill("#typed", "17.0625")
    assert "17.0625" in left(page)
    page.click("#record")
    assert "17.0625" not in left(page)
    page.keyboard.press("Control+z")
    page.click("#next")
    page.keyboard.press("Control+z")
    page.click("#begin")
    page.click("#yes")
    assert "17.0625" not in left(page)
    assert page.input_value("#typed") == ""
    page.reload()
    assert "17.0625" not in left(page)
    assert page.inner_text("#count") == "Reports kept on this device: 1. People who declined: 0."
    assert (seen.outside, seen.errors) == ([], [])


@pytest.mark.parametrize("answer", [0, 1])
def test_what_is_left_does_not_tell_which_answer_was_chosen(answer: int, form: Opened) -> None:
    """With chance fixed to the same draws the page is the same but for the receipt, whose draw is fixed too."""
    page = form(BINARY)
    page.evaluate(
        "() => { crypto.getRandomValues = array => array.fill(0); }"
    )  # below(n) is 0: always a report of 1
    page.click("#begin")
    page.click("#yes")
    page.locator("input[type=radio]").nth(answer).check()
    page.click("#record")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.evaluate("kept") == {"rows": [{"id": "r000000000000", "report": 1}], "declined": 0}
    assert page.locator("input").count() == 0


def test_the_file_has_the_columns_that_the_estimate_reads(form: Opened, tmp_path: Path) -> None:
    page = form(STRATA, sex=("f", "m"))
    for i in range(12):
        page.get_by_label("stratum").select_option(["north", "a, b"][i % 2])
        page.get_by_label("sex").select_option(["f", "m"][i // 2 % 2])
        page.click("#begin")
        page.click("#yes")
        page.get_by_label(LABELS[i % 3]).check()
        page.click("#record")
        page.click("#next")
    table = saved(page, tmp_path / "reports.csv")
    assert list(table.columns) == ["report", "stratum", "sex", "id"]
    assert len(estimate(STRATA, table, by="sex").rows) == 9
    assert set(table["report"]) <= set(LABELS)
    page.click("#remove")
    assert "Reports kept on this device: 0." in page.inner_text("#count")


def test_what_is_missing_is_asked_for_and_a_refusal_counted(form: Opened) -> None:
    page = form(STAGES)
    page.click("#begin")
    assert page.inner_text("#problem") == "Fill in cluster first."
    page.get_by_label("cluster ", exact=False).first.fill("17")
    page.get_by_label("cluster_size").fill("many")
    page.click("#begin")
    assert page.inner_text("#problem") == "cluster_size must be a whole number of people."
    page.get_by_label("cluster_size").fill("15")
    page.click("#begin")
    page.click("#no")
    page.click("#next")
    assert page.inner_text("#count") == "Reports kept on this device: 0. People who declined: 1."
    page.click("#begin")
    page.click("#yes")
    page.click("#record")
    assert page.inner_text("#problem") == "Choose an answer."
    page = form(NUMBER)
    page.click("#begin")
    page.click("#yes")
    page.fill("#typed", "24")
    page.click("#record")
    assert page.inner_text("#problem") == "Give a number from -1 to 23."


def press(page: Any, key: str, identifier: str) -> None:
    """Go by the Tab key to a place, and press a key there."""
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id || document.activeElement.value") == identifier:
            return page.keyboard.press(key)
    raise AssertionError(f"{identifier} cannot be reached")


def test_it_is_used_by_keyboard_and_read_by_a_screen_reader(form: Opened) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page, found = form(BINARY, sex=("f", "m")), []

    def read() -> None:
        assert (
            page.evaluate("document.activeElement.tagName") == "H1"
        )  # where a screen reader goes on
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found.extend(
                Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            )

    read()
    page.get_by_label("sex").focus()
    page.keyboard.press("f")
    press(page, "Enter", "begin")
    read()
    press(page, "Enter", "yes")
    read()
    assert page.get_by_role("group", name="Do <b>you</b>?").get_by_role("radio").count() == 2
    press(page, "Space", "0")
    press(page, "Enter", "record")
    read()
    press(page, "Enter", "next")
    assert found == []
    assert page.inner_text("#count") == "Reports kept on this device: 1. People who declined: 0."
