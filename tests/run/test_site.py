"""What the site makes of tables, formulas and live sections, before a browser sees it."""

import ast
import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ldpnb.notebook.grids import NAME, Choice, Slider, grid
from ldpnb.notebook.vegalite import chart, titled

from ldpnb.notebook import curves, grids
from ldpnb.notebook.charts import Chart, Layer, Mark
from ldpnb.notebook.looks import looks_of
from ldpnb.run.catalogue import catalogue, home

pytest.importorskip("latex2mathml", reason="`make site` installs what this needs")

from ldpnb.site import live
from ldpnb.site.__main__ import sources
from ldpnb.site.mathematics import mathml

ROWS = [
    (1.0, 0.5, "MLE", None, "a"),
    (2.0, 0.25, "MLE", None, "a"),
    (1.0, 0.52, "Norm-Sub", 0.01, "b"),
]
TABLE = pd.DataFrame(ROWS, columns=["epsilon", "mse", "by", "error", "panel"])
GRIDS = sorted((home() / "figures").rglob(NAME))


def test_a_notebook_for_the_browser_installs_the_package_first() -> None:
    made = dict(sources())
    for notebook in catalogue():
        first, *cells = json.loads(made[f"_lite/{notebook.id}.ipynb"])["cells"]
        assert first["source"] == ["%pip install -q ldpnb"]
        assert cells == json.loads(notebook.path.read_bytes())["cells"]


def test_rows_are_the_series_of_the_picture_with_their_numbers() -> None:
    kept = curves(
        TABLE,
        "epsilon",
        "mse",
        by="by",
        panel="panel",
        error="error",
        marks=[Mark(x=1.5, label="here")],
    )
    again = Chart.read(TABLE, {"encoding": json.loads(json.dumps(kept.encoding()))})
    rows = again.rows().astype(object).where(again.rows().notna(), None).to_numpy().tolist()
    assert rows[:2] == [
        ["a", "MLE", "line", 1, 0.5, None, None],
        ["a", "MLE", "line", 2, 0.25, None, None],
    ]
    assert rows[2] == ["b", "Norm-Sub", "points", 1, 0.52, 0.5, 0.54]
    mark = {"panel": "a", "series": "here", "side": "above", "mark": "at x", "x": 1.5, "y": None}
    assert again.places().to_dict("records") == [mark, mark | {"panel": "b"}]


def test_columns_can_be_layers_and_panels_a_grid() -> None:
    layers = (Layer(name="mean", y="mse", error="error"), Layer(name="truth", y="mse"))
    made = Chart(TABLE, "epsilon", "mse", panel=("panel", "by"), layers=layers).rows()
    panels = ["a, MLE", "a, MLE", "b, Norm-Sub"]
    assert list(zip(made["panel"], made["series"], strict=True)) == [
        (p, s) for s in ("mean", "truth") for p in panels
    ]


def test_a_series_has_the_colour_of_its_picture_whatever_comes_before_it() -> None:
    table = pd.DataFrame({"x": [1.0, 1.0, 2.0, 2.0], "y": range(4), "by": ["another", "truth"] * 2})
    drawn = chart(Chart(table, "x", "y", by="by"))["layer"][0]["encoding"]["color"]["scale"]
    assert (
        dict(zip(drawn["domain"], drawn["range"], strict=True))["truth"]
        == looks_of(["truth"])["truth"].colour
    )


def test_a_chart_of_many_names_shows_as_many_as_the_picture_and_says_so() -> None:
    table = pd.DataFrame({"town": [f"town {i}" for i in range(400)], "share": 0.0025})
    spec = titled(
        Chart(table, "town", "share", xscale="category", setting="one survey", mark="bars"),
        "Shares.",
    )
    assert spec["title"]["subtitle"] == ["one survey; the first 60 of 400 names"]
    assert [curve["x"] for curve in spec["data"]["values"]] == [[f"town {i}" for i in range(60)]]


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        (r"\Delta", '<mi mathvariant="normal">Δ</mi>'),
        (r"\hat p", '<mover accent="true"><mi>p</mi><mo>^</mo></mover>'),
        (r"\max_x f", '<munder><mo movablelimits="true"'),
        (r"2\ln x", '<mo lspace=".17em" rspace=".17em">ln</mo>'),
        (r"\operatorname{Var}[x]", '<mo lspace="0" rspace="0">Var</mo>'),
        (r"a/b", '<mo lspace="0" rspace="0">/</mo>'),
        (r"[-1, 1]", '<mo form="prefix">\N{MINUS SIGN}</mo>'),
        (r"a < b", "<mo>&lt;</mo>"),
    ],
)
def test_formulas_look_as_in_tex(formula: str, part: str) -> None:
    assert part in mathml(formula)


def redraw(epsilon: float, users: int, kind: str) -> tuple[Any, str]:
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [epsilon, users, epsilon * users]})
    return Chart(table, "x", "y"), f"{kind} at {epsilon:g} and {users}."


def test_a_grid_has_every_setting_with_at_most_one_slider_off_its_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    controls = {"epsilon": Slider(1.0, 0.1, 8.0, log=True), "users": Slider(500, 100, 1000)}
    assert min(len(control.values) for control in controls.values()) >= 40
    for name, smaller in {"STEPS": 10, "MARKS": (4, 3), "BYTES": 5_000}.items():
        monkeypatch.setattr(grids, name, smaller)
    made = json.loads(grid(redraw, controls | {"kind": Choice("b", "ab")}))
    epsilon, users, _ = made["controls"]
    assert (epsilon["values"][0], epsilon["values"][epsilon["start"]], epsilon["values"][-1]) == (
        "0.1",
        "1",
        "8",
    )
    settings = {tuple(setting[0]): setting for setting in made["settings"]}
    for at in itertools.product(*(range(len(control["values"])) for control in made["controls"])):
        off = sum(
            i not in control["marks"] for i, control in zip(at, made["controls"], strict=True)
        )
        assert (at in settings) == (off <= 1)
    for place, setting in list(settings.items())[::17]:
        first, second = (
            float(c["values"][i].replace(",", ""))
            for c, i in zip((epsilon, users), place, strict=False)
        )
        ((kind, *columns),) = setting[4]
        values = made["columns"][columns[made["kinds"][kind]["columns"].index("y")]]
        assert values == pytest.approx([first, second, first * second], rel=1e-3)
        assert (
            live.sentence(made["words"][setting[2]], setting[3])
            == f"{'ab'[place[2]]} at {first:g} and {second:g}."
        )


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.parent.name)
def test_a_committed_grid_is_dense_small_and_begins_with_what_its_notebook_says(path: Path) -> None:
    made = json.loads(path.read_text(encoding="utf-8"))
    assert path.stat().st_size <= 400 * 1024
    for control in made["controls"]:
        values = control["values"]
        if not control["choice"] and len(values) < 40:  # then every whole number there is
            assert {int(b) - int(a) for a, b in itertools.pairwise(values)} == {1}
    starts = [control["start"] for control in made["controls"]]
    first = next(setting for setting in made["settings"] if setting[0] == starts)
    name = path.parent.relative_to(home() / "figures")
    cells = json.loads((home() / f"notebooks/{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert live.sentence(made["words"][first[2]], first[3]) in {
        "".join(text) for text in said(cells)
    }
    (section,) = (text for cell in cells if "def redraw(" in (text := "".join(cell["source"])))
    assert {control["name"] for control in made["controls"]} == required(section)


def required(cell: str) -> set[str]:
    """The arguments of a live section's function that have no default: its controls."""
    (function,) = (
        n for n in ast.parse(cell).body if isinstance(n, ast.FunctionDef) and n.name == "redraw"
    )
    names = [argument.arg for argument in function.args.args]
    return set(names[: len(names) - len(function.args.defaults)])


def said(cells: list[dict[str, Any]]) -> list[list[str]]:
    """What a notebook's outputs say in plain text."""
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [output.get("data", {}).get("text/plain", []) for output in outputs]


def test_every_live_section_has_its_grid() -> None:
    playing = [n.id for n in catalogue() if '"live(' in n.path.read_text(encoding="utf-8")]
    assert [name for name in playing if not live.place(name).exists()] == []
