"""A live section redraws when its reader lets a control go, and goes on after an error."""

import importlib
from typing import Any

import ipywidgets
import pandas as pd
import pytest

from ldpnb.notebook import curves
from ldpnb.notebook.controls import Choice, Slider
from ldpnb.notebook.environment import HEADLESS
from ldpnb.notebook.live import live

live_section = importlib.import_module("ldpnb.notebook.live")


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch):
    """A section whose sentence repeats a value: its controls, its picture, and its calls."""
    shown: list[dict[str, Any]] = []
    boxes: list[ipywidgets.VBox] = []
    calls: list[tuple[float, int, str]] = []
    make_box = ipywidgets.VBox

    def noted_box(children):
        boxes.append(make_box(children))
        return boxes[-1]

    monkeypatch.setenv(HEADLESS, "")
    monkeypatch.setattr(live_section, "in_notebook", lambda: True)
    monkeypatch.setattr(live_section, "show", shown.append)
    monkeypatch.setattr(ipywidgets, "VBox", noted_box)

    def redraw(epsilon, people, kind):
        calls.append((epsilon, people, kind))
        if epsilon > 3:
            raise ValueError("epsilon must be <= 3")

        table = pd.DataFrame({"x": [0, people], "y": [0, 1]})
        return curves(table, "x", "y"), f"{people} people < all"

    live(
        redraw,
        epsilon=Slider(1.0, 0.1, 5.0, "nats"),
        people=Slider(100, 1, 10_000, log=True),
        kind=Choice("a", ["a", "b"]),
    )

    assert shown[0]["text/plain"] == "100 people < all"
    assert shown[0]["application/vnd.jupyter.widget-view+json"]["model_id"] == boxes[0].model_id

    interactive, picture = boxes[0].children
    return interactive.children[:3], picture, calls


def test_a_changed_control_redraws_picture_and_sentence(section) -> None:
    (_, people, kind), picture, calls = section
    before = picture.value

    people.value = 2000
    kind.value = "b"

    assert calls == [(1.0, 100, "a"), (1.0, 2000, "a"), (1.0, 2000, "b")]
    assert "<p><b>2000 people &lt; all</b></p>" in picture.value
    assert 'alt="2000 people &lt; all"' in picture.value
    assert picture.value != before


def test_after_an_error_the_next_value_works_again(section) -> None:
    (epsilon, people, _), picture, calls = section
    before = picture.value

    epsilon.value = 4.0
    assert calls[-1][0] == 4.0
    assert picture.value == before

    people.value = 2000
    assert picture.value == before

    epsilon.value = 2.0
    assert "2000 people" in picture.value


def test_controls_name_their_units_and_redraw_when_they_are_let_go(section) -> None:
    (epsilon, people, kind), *_ = section
    assert epsilon.description == "epsilon (nats)"
    assert people.description == "people"
    assert kind.description == "kind"

    assert not epsilon.continuous_update
    assert not people.continuous_update
    assert people.options[-1] == ("10,000", 10_000)
