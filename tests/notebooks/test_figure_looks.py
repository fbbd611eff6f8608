"""Series that are drawn together can be told apart, by the colour-blind and in grey, too.

Vector files keep their text as text.
"""

import io
import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from ldpnb.notebook import looks
from ldpnb.notebook.charts import Chart
from ldpnb.notebook.figures import draw

# What people see of linear RGB, by Machado, Oliveira and Fernandes (2009): complete deficiencies.
VISION = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1, 1.08883])
FAMILIES = [family[:6] for family in looks.FAMILIES]


def lab(colour: str, vision: str) -> np.ndarray:
    """CIE L*a*b* of a colour as somebody sees it."""
    coded = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0.001, 1)

    x, y, z = np.cbrt(XYZ @ seen / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def named_by_a_member(family: tuple[str, ...]) -> str:
    return f"family of {family[1]}"


@pytest.mark.parametrize("family", FAMILIES, ids=named_by_a_member)
@pytest.mark.parametrize("vision", VISION)
def test_series_of_one_figure_differ_for_every_kind_of_sight_and_in_grey(
    family: tuple[str, ...], vision: str
) -> None:
    seen = {}
    for name in ("truth", *family):
        seen[name] = lab(looks.looks_of([name])[name].colour, vision)

    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 15, (one, other)
        if vision == "usual":
            difference_in_grey = abs(seen[one][0] - seen[other][0])
            assert difference_in_grey > 7, (one, other)


@pytest.mark.parametrize("family", looks.FAMILIES, ids=named_by_a_member)
def test_series_of_one_figure_differ_in_marker_and_dash_too(family: tuple[str, ...]) -> None:
    own = [looks.looks_of([name])[name] for name in family]
    assert len({look.marker for look in own}) == len(family)
    assert len({str(look.dash) for look in own}) == len(family)


@pytest.mark.parametrize("family", looks.FAMILIES, ids=named_by_a_member)
def test_the_gaps_of_a_dash_are_no_narrower_than_its_line(family: tuple[str, ...]) -> None:
    for name in family:
        dash = looks.looks_of([name])[name].dash
        if dash != "-":
            _, lengths = dash
            assert min(lengths[1::2]) >= 1, name


def contrast_on_white(colour: str) -> float:
    """Return the contrast of a colour by the Web Content Accessibility Guidelines."""
    lightness = lab(colour, "usual")[0]
    luminance = ((lightness + 16) / 116) ** 3
    return 1.05 / (luminance + 0.05)


@pytest.mark.parametrize(
    "names", [*looks.FAMILIES, ("ε = 1", "ε = 2", "ε = 3")], ids=lambda names: names[1]
)
def test_lines_can_be_seen_on_white(names: tuple[str, ...]) -> None:
    for name, look in looks.looks_of(names).items():
        assert contrast_on_white(look.colour) >= 3, name


def test_a_series_beside_a_ramp_has_a_colour_of_its_own() -> None:
    names = ["π = 1", "π = 0.3", "π = 0.1", "general, π = 1"]
    drawn = looks.looks_of(names)
    alone = looks.looks_of(names[:3])
    assert [drawn[name] for name in names[:3]] == [alone[name] for name in names[:3]]
    assert drawn["general, π = 1"].colour not in {look.colour for look in alone.values()}


def test_two_numbers_beside_a_name_are_no_ramp_but_three_are() -> None:
    two = looks.looks_of(["ε = 1", "ε = 2", "exact"])
    assert two["exact"] == looks.looks_of(["exact"])["exact"]
    assert two["ε = 1"].dash != two["ε = 2"].dash

    three = looks.looks_of(["ε = 1", "ε = 2", "ε = 3", "exact"])
    assert len({look.dash for name, look in three.items() if name != "exact"}) == 1
    assert three["exact"] == two["exact"]


@pytest.mark.parametrize(
    "names",
    [["one", "other", "third"], ["MLE", "one", "Norm-Sub"], ["π = 1", "π = 2", "π = 3", "a", "b"]],
    ids=", ".join,
)
def test_names_without_a_family_have_looks_that_nothing_else_in_the_figure_has(
    names: list[str],
) -> None:
    drawn = looks.looks_of(names)
    assert list(drawn) != []
    assert len({look.colour for look in drawn.values()}) == len(names)
    for name in ("MLE", "Norm-Sub"):
        if name in names:
            assert drawn[name] == looks.looks_of([name])[name]


def test_a_figure_of_more_names_than_looks_uses_them_again() -> None:
    names = [f"rule {letter}" for letter in "abcdefghij"]
    assert len(looks.looks_of(names)) == 10


def test_numbers_are_ordered_from_dark_to_light() -> None:
    for names in (["ε = 0.1", "ε = 1", "ε = 10"], [1, 2, 3, 4], ["at 1e-6", "at 1e-3"]):
        lightness = [lab(look.colour, "usual")[0] for look in looks.looks_of(names).values()]
        assert lightness == sorted(lightness)
        assert np.diff(lightness).min() > 10


def test_words_in_the_colour_of_their_series_can_be_read_on_white() -> None:
    for colour in ["#ffffff", "#2B9DD0", "#777777", "#004B94", "#20a386"]:
        written = looks.ink(colour)
        assert contrast_on_white(written) >= 4.5
        if contrast_on_white(colour) >= 4.5:
            assert written == colour.lower()
        else:
            assert contrast_on_white(written) < 5


def test_text_in_vector_files_is_text() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    content = io.BytesIO()
    draw(Chart(table, "x", "y", title="t")).savefig(content, format="pdf")

    assert mpl.rcParams["pdf.fonttype"] == 42
    assert mpl.rcParams["svg.fonttype"] == "none"
    assert b"/Type3" not in content.getvalue()
    assert b"/FontFile2" in content.getvalue()
