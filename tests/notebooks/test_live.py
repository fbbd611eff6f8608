"""A live section with a reader: it redraws when a control changes, says what went wrong, and returns to its start."""

import threading
import time

import matplotlib.pyplot as plt
import numpy as np
import pytest

from ldpnb.notebook.environment import HEADLESS
from ldpnb.notebook.live import Choice, Slider, _Layout, _thin_out, live


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch):
    """The widgets of a section whose sentence repeats its values, and the calls it made."""
    monkeypatch.setenv(HEADLESS, "")
    shown, calls = [], []
    monkeypatch.setattr("IPython.display.display", shown.append)

    def redraw(epsilon, people, kind):
        calls.append((epsilon, people, kind))
        if epsilon > 3:
            raise ValueError("epsilon must be <= 3 <here>")
        return plt.figure(figsize=(2, 1)), f"{people} people < all"

    controls = {"epsilon": Slider(1.0, 0.1, 5.0, 0.05, "nats"), "people": Slider(100, 1, 10_000, 0.1, log=True)}
    live(redraw, **controls, kind=Choice("a", ["a", "b"]))
    (shown_section,) = shown
    assert repr(shown_section) == shown_section._repr_mimebundle_()["text/plain"] == "100 people < all"
    return shown_section.box.children, calls


def test_a_changed_control_redraws_picture_and_sentence(section) -> None:
    (_, people, _, _, sentence, picture), calls = section
    before = picture.value
    people.value = 1995.262
    assert calls[-1] == (1.0, 1995, "a")
    assert sentence.value == "<b>1995 people &lt; all</b>"
    assert 'alt="1995 people &lt; all"' in picture.value
    assert picture.value != before
    assert not plt.get_fignums()


def test_reset_returns_to_the_start_in_one_redraw(section) -> None:
    (epsilon, people, kind, reset, sentence, _), calls = section
    epsilon.value, people.value, kind.value = 2.0, 10.0, "b"
    count = len(calls)
    reset.click()
    assert (epsilon.value, people.value, kind.value) == (1.0, 100, "a")
    assert calls[count:] == [(1.0, 100, "a")]
    kind.value = "b"
    assert calls[-1] == (1.0, 100, "b")
    assert sentence.value == "<b>100 people &lt; all</b>"


def test_an_error_is_shown_and_the_next_value_works_again(section) -> None:
    (epsilon, *_, sentence, picture), _ = section
    before = picture.value
    epsilon.value = 4.0
    assert sentence.value == "<b>ValueError: epsilon must be &lt;= 3 &lt;here&gt;</b>"
    assert picture.value == before
    epsilon.value = 2.0
    assert sentence.value == "<b>100 people &lt; all</b>"


@pytest.mark.parametrize(("low", "high", "ticks"), [(0.02, 5.0, 0), (0.2, 5.0, 12)])
def test_ticks_between_powers_of_ten_are_left_out_where_the_powers_tell_the_scale(low, high, ticks) -> None:
    figure, axis = plt.subplots()
    axis.set(yscale="log", ylim=(low, high))
    _thin_out(figure)
    shown = [y for y in axis.yaxis.get_minorticklocs() if low <= y <= high]
    plt.close(figure)
    assert len(shown) == ticks


def test_two_threads_take_turns_and_show_nothing_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADLESS, "")
    shown, alone, interactive = [], [], []
    free = threading.Lock()
    monkeypatch.setattr("IPython.display.display", shown.append)

    def redraw(**values):
        alone.append(free.acquire(blocking=False))
        interactive.append(plt.isinteractive())
        time.sleep(0.05)
        free.release()
        return plt.figure(figsize=(1, 1)), str(values)

    with plt.ion():
        live(redraw, one=Slider(1, 0, 9, 1), other=Slider(1, 0, 9, 1))
        *sliders, _, sentence, _ = shown[0].box.children
        threads = [threading.Thread(target=setattr, args=(slider, "value", 5)) for slider in sliders]
        for step in (threading.Thread.start, threading.Thread.join):
            for thread in threads:
                step(thread)
        assert plt.isinteractive()
    assert len(alone) >= 2
    assert all(alone)
    assert not any(interactive)
    assert sentence.value == "<b>{&#x27;one&#x27;: 5, &#x27;other&#x27;: 5}</b>"


@pytest.mark.parametrize("limits", [(0.02, 0.21), (0.0, 12_345.0)])
def test_a_layout_is_kept_until_labels_need_more_room(limits: tuple[float, float]) -> None:
    def figure(*limits: float):
        made, axes = plt.subplots(1, 2, layout="constrained")
        for axis in axes:
            axis.set_ylabel("error")
            axis.set_ylim(*limits)
        return made

    layout = _Layout()
    layout.draw(figure(0.0, 1.0))
    first = list(layout.boxes)
    again = figure(0.0, 1.0)
    layout.draw(again)
    assert [axis.get_position().bounds for axis in again.axes] == [box.bounds for box in first]
    assert layout.boxes == first
    layout.draw(figure(*limits))
    assert layout.boxes[0].x0 > first[0].x0
    fresh = figure(*limits)
    fresh.canvas.draw()
    assert np.allclose([b.bounds for b in layout.boxes], [axis.get_position().bounds for axis in fresh.axes])
    plt.close("all")


def test_sliders_name_their_units_show_every_step_and_follow_the_hand(section) -> None:
    (epsilon, people, kind, *_), _ = section
    assert [w.description for w in (epsilon, people, kind)] == ["epsilon (nats)", "people", "kind"]
    assert epsilon.continuous_update
    assert people.continuous_update
    assert (epsilon.readout_format, people.readout_format) == (".2f", ".3r")
