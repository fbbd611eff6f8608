"""Sentences, captions and controls say what the numbers beside them say."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ldpnb
from ldpnb.notebook import curves, prose, publishing
from ldpnb.notebook.controls import Choice, Slider, described
from ldpnb.notebook.environment import FIGURES_FOLDER, RUN_PARAMETERS
from ldpnb.notebook.tables import rounded

CHECKOUT = Path(ldpnb.__file__).parents[1]

# Where curves cross


@pytest.mark.parametrize(
    ("x", "one", "other", "places"),
    [
        ([0, 1, 2], [0, 1, 2], [0.5, 0.5, 0.5], [0.5]),
        ([0, 1, 2], [0, 2, 0], [1, 1, 1], [0.5, 1.5]),
        ([1, 2, 3], [1, 2, 3], [4, 4, 4], []),
        ([0, 1, 2], [0, 1, 2], [1, 1, 1], [1.0]),
        ([0, 1, 2, 4], [0, 1, 1, 3], [1, 1, 1, 1], [1.0]),
        ([0, 1, 2], [0, 1, 0], [1, 1, 1], []),
        ([0, 1, 2, 3], [0, np.nan, 2, 3], [1, 1, 1, 1], [1.0]),
        ([1, 100], [1, 100], [10, 10], [10.0]),
        ([0, 100], [1, 100], [10, 10], [100 / 11]),
        ([1, 100], [0, 100], [10, 10], [10.9]),
    ],
    ids=[
        "between two points",
        "twice",
        "nowhere",
        "at a point",
        "where they touch first",
        "only touching",
        "over a gap",
        "on logarithmic scales",
        "linear from 0 on",
        "linear where a curve is 0",
    ],
)
def test_curves_cross_where_their_straight_pieces_do(
    x: Any, one: Any, other: Any, places: list[float]
) -> None:
    assert prose.crossings(x, one, other) == pytest.approx(places, rel=1e-11)
    assert prose.crossings(x, other, one) == pytest.approx(places, rel=1e-11)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        ([-1, -1, -1, -1], "at every n shown"),
        ([1, 1, 1, 1], "at no n shown"),
        ([-1, -1, 1, 1], "below n = 26"),
        ([1, 1, -1, -1], "above n = 26"),
        ([1, -1, -1, 1], "between n = 16 and 36"),
        ([-1, 1, 1, -1], "outside n = 16 and 36"),
        ([-1, 1, -1, 1], "at 2 of 4 n shown"),
    ],
)
def test_a_sentence_says_where_one_curve_is_below_another(one: list[int], words: str) -> None:
    assert prose.where_less([10, 21, 30, 41], one, [0, 0, 0, 0], "n") == words


def test_places_between_values_of_epsilon_are_not_rounded_up() -> None:
    assert prose.where_less([0, 1], [0, 4], [1, 1]) == "below ε = 0.25"
    assert prose.where_less([0, 1], [0, 4], [1, 1], "n") == "below n = 1"
    assert prose.where_less([0, 3], [0, 4], [1, 1], "ε", digits=2) == "below ε = 0.75"
    assert prose.where_less([0.0, 1.0], [0, 3], [1, 1], "x", digits=2) == "below x = 0.33"


# Tables


def test_a_table_for_reading_has_short_floats_whole_counts_and_nothing_for_nan() -> None:
    table = pd.DataFrame(
        {"mse": [0.000123456, np.nan], "users": [1_234_567, 5], "rule": ["MLE", "OUE"]}
    )
    shown = rounded(table, digits=3)
    assert shown.to_numpy().tolist() == [["0.000123", "1,234,567", "MLE"], ["", "5", "OUE"]]
    assert table["users"].tolist() == [1_234_567, 5]


# Controls


@pytest.mark.parametrize(
    "slider",
    [
        Slider(1.0, 0.1, 5.0),
        Slider(0.37, 0.0, 1.0),
        Slider(1000, 10, 100_000, log=True),
        Slider(1.0, 0.01, 1000.0, log=True),
        Slider(1.0, 0.1, 3.0, log=True),
        Slider(50, 0, 1000),
    ],
    ids=lambda slider: f"{slider.low} to {slider.high}{' log' * slider.log}",
)
def test_a_slider_has_forty_steps_or_more_from_limit_to_limit_and_its_start(
    slider: Slider,
) -> None:
    values = slider.values
    assert values[0] == slider.low
    assert values[-1] == slider.high
    assert slider.start in values
    assert 40 <= len(values) <= 100
    assert values == sorted(set(values))

    steps = np.diff(np.log(values) if slider.log else values)
    assert steps.max() < 0.08 * steps.sum()
    assert all(isinstance(value, int) for value in values) == isinstance(slider.start, int)


def test_a_logarithmic_slider_stops_at_the_same_round_numbers_in_every_decade() -> None:
    values = Slider(1.0, 0.1, 100.0, log=True).values
    decades = [[round(value * scale, 3) for value in values] for scale in (1, 0.1)]
    assert [value for value in decades[0] if 1 <= value < 10] == [
        value for value in decades[1] if 1 <= value < 10
    ]
    assert all(float(f"{value:.2g}") == value for value in values)


def test_a_slider_of_few_whole_numbers_has_them_all() -> None:
    assert Slider(3, 2, 7).values == [2, 3, 4, 5, 6, 7]


def test_a_control_is_labelled_with_its_unit_and_starts_at_its_start() -> None:
    slider = described("sampling_rate", Slider(0.5, 0.0, 1.0, "share"))
    assert slider["label"] == "sampling rate (share)"
    assert not slider["choice"]
    assert slider["values"][slider["start"]] == "0.5"

    choice = described("law", Choice(1000, ["uniform", 1000]))
    assert choice["label"] == "law"
    assert choice["choice"]
    assert choice["start"] == 1
    assert choice["values"] == ["uniform", "1,000"]


# Published figures

TABLE = pd.DataFrame({"x": [1.0, 2.0], "y": [1 / 3, 2 / 3]})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What a notebook shows, in order, each with what a front end is told of it."""
    outputs: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def show(bundle: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        outputs.append((bundle, metadata or {}))

    monkeypatch.setattr(publishing, "show", show)
    monkeypatch.setattr(publishing, "in_notebook", lambda: True)
    return outputs


def test_a_notebook_shows_a_figure_with_its_finding_as_text_and_its_caption_below(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FIGURES_FOLDER, raising=False)
    chart = curves(TABLE, "x", "y", title="y doubles")
    publishing.publish(chart, TABLE, "nb/fig", caption="Where a < b & $c$.")

    (picture, described_as), (caption, _) = shown
    assert picture["text/plain"] == "y doubles"
    assert picture["image/png"].startswith(b"\x89PNG")
    assert described_as["image/png"] == {"width": 700, "alt": "y doubles"}
    assert caption["text/plain"] == "Where a < b & $c$."
    assert "<em>Where a &lt; b &amp; $c$.</em>" in caption["text/html"]
    assert 'class="tex2jax_ignore"' in caption["text/html"]
    assert "max-width: 700px" in caption["text/html"]


def test_a_published_figure_says_where_its_numbers_come_from(
    shown: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path))
    monkeypatch.setenv(RUN_PARAMETERS, '{"users": 10}')
    chart = curves(TABLE, "x", "y", setting="ε = 1")
    publishing.publish(chart, TABLE, "nb/fig", caption="Errors.")

    numbers = (tmp_path / "nb/fig.csv").read_bytes()
    picture = (tmp_path / "nb/fig.png").read_bytes()
    assert numbers == b"x,y\n1,0.3333333333\n2,0.6666666667\n"
    assert json.loads((tmp_path / "nb/fig.json").read_text()) == {
        "caption": "Errors.",
        "parameters": {"users": 10},
        "rows": 2,
        "columns": ["x", "y"],
        "setting": "ε = 1",
        "encoding": {"x": "x", "y": "y"},
        "sha256": hashlib.sha256(numbers).hexdigest(),
        "drawn": {".png": hashlib.sha256(picture).hexdigest()},
    }


def test_a_terminal_of_ipython_shows_the_text_of_an_output(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c"]
    code = "from ldpnb.notebook.prose import solution; solution('It is *two*.')"
    environment = os.environ | {"IPYTHONDIR": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
    shown = subprocess.run(
        [*command, code], capture_output=True, text=True, check=True, env=environment
    )
    assert shown.stdout == "It is *two*.\n"


def test_a_solution_is_folded_away_and_plain_in_a_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prose.solution("It is *two*.")
    assert capsys.readouterr().out == "It is *two*.\n"

    bundles: list[dict[str, str]] = []
    monkeypatch.setattr(prose, "show", bundles.append)
    prose.solution("It is *two*.")
    prose.say("It is *two*.")
    folded, plain = bundles
    assert folded["text/markdown"].startswith(
        "<details><summary>Solution</summary>\n\nIt is *two*."
    )
    assert folded["text/plain"] == plain["text/plain"] == plain["text/markdown"] == "It is *two*."
