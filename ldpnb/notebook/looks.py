"""The colour, the marker and the dash of a series, which are the same in every figure."""

import itertools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np


class Look(NamedTuple):
    """Colour, marker and dash of one series."""

    colour: str
    marker: str
    dash: Any


# Hues that the colour-blind can tell apart, with a contrast of at least 3 on white. The first six
# and black also differ in lightness, and so in a grey print.
_COLOURS = ("#004B94", "#BD4903", "#186A3A", "#C45D92", "#2B9DD0", "#522A06", "#807924", "#777777")
_MARKERS = "osD^vP*X"
_ON_OFF = ((5, 1.5), (1, 1), (4, 1, 1, 1), (8, 2), (2, 1), (6, 1, 1, 1, 1, 1), (3, 3))
_DASHES = ("-", *((0, lengths) for lengths in _ON_OFF))
_ALL = [Look(*parts) for parts in zip(_COLOURS, _MARKERS, _DASHES, strict=True)]

FAMILIES = (
    ("truth", "c_DE", "g_DE", "c-hat", "ratio", "T", "Horvitz-Thompson", "Hájek"),
    ("unbiased", "Norm-Sub", "MLE", "Bayes", "empirical Bayes", "uniform guess"),
    (
        "exact",
        "upper bound",
        "lower bound",
        "published",
        "simple random sampling",
        "no amplification",
        "improved lower bound",
    ),
    ("Neyman", "proportional", "proportional, rounded at random", "best found", "fixed"),
    ("k-RR", "OUE", "SUE", "subset selection", "signs", "central Laplace", "Gaussian", "OLH"),
    ("1-bit", "local Laplace", "Warner"),
    ("mean ± 2 sd (exact)", "estimate"),
    ("exact distribution", "normal approximation"),
    (
        "M_R",
        "M_L",
        "M_L, k = 2",
        "signed bit",
        "signed Laplace",
        "M_R as published",
        "M_L as published",
    ),
)
"""Series that are drawn together. Each has the colour, the marker and the dash of its place.

A series that stands in no family gets a look that its figure does not use yet (`looks_of`).
"""

_KNOWN: dict[str, Look] = {}
for _family in FAMILIES:
    _KNOWN |= dict(zip(_family, _ALL, strict=False))
_KNOWN["truth"] = Look("#000000", "x", "-")

_PALEST = 0.58
"""Where the ramp of colours ends on the scale of viridis: paler lines are hard to see on white."""

_BESIDE_A_RAMP = (1, 3, 5, 7)
"""The looks whose colours differ from those of the ramp: orange, pink, brown and grey."""


def looks_of(names: Sequence[Any]) -> dict[Any, Look]:
    """Return the looks of the series of a figure.

    Names that are numbers, or that differ in one number only, get colours from dark to light, which
    the colour-blind see in order; so do three or more of them beside others. Other names that stand
    in no family get looks that are not used in the figure, in order.

    Parameters
    ----------
    names : sequence
        The series in the order in which they are drawn.

    Returns
    -------
    dict
        A `Look` for each name.

    Examples
    --------
    >>> looks_of(["truth"])["truth"].marker
    'x'
    >>> [look.colour for look in looks_of(["ε = 1", "ε = 2.5"]).values()]
    ['#440154', '#20a386']
    """
    ordered = _that_differ_by_a_number(names)
    others = [name for name in names if name not in ordered]
    ramp = _from_dark_to_light(ordered)
    if others and len(ordered) < 3:
        others = list(names)
        ramp = {}

    looks = {name: _KNOWN[str(name)] for name in others if str(name) in _KNOWN}
    used = {look.colour for look in looks.values()}
    candidates = [_ALL[place] for place in _BESIDE_A_RAMP] if ramp else _ALL
    free = [look for look in candidates if look.colour not in used]
    unknown = [name for name in others if name not in looks]
    looks |= dict(zip(unknown, itertools.cycle(free or candidates), strict=False))
    return ramp | looks


def _that_differ_by_a_number(names: Sequence[Any]) -> list[Any]:
    """Return the most names, and at least two, that are the same but for one number."""
    number = r"[-+\d.,]+(e[-+]?\d+)?"
    alike: dict[str, list[Any]] = {}
    for name in names:
        pattern = re.sub(number, "#", str(name), count=1)
        alike.setdefault(pattern, []).append(name)

    most = max(alike.values(), key=len, default=[])
    return most if len(most) > 1 else []


def _from_dark_to_light(names: Sequence[Any]) -> dict[Any, Look]:
    shades = mpl.colormaps["viridis"](np.linspace(0.0, _PALEST, len(names)))
    markers = itertools.cycle(_MARKERS)
    looks = {}
    for name, shade, marker in zip(names, shades, markers, strict=False):
        looks[name] = Look(mpl.colors.to_hex(shade), marker, "-")
    return looks


def ink(colour: str) -> str:
    """Return a colour for words: that of their series, darkened until it can be read on white.

    The contrast of the words is at least 4.5, as the Web Content Accessibility Guidelines ask.

    >>> ink("#004B94"), ink("#A39A2E")
    ('#004b94', '#7f7824')
    """
    red_green_blue = np.array(mpl.colors.to_rgb(colour))
    while 1.05 / (_luminance(red_green_blue) + 0.05) < _CONTRAST:
        red_green_blue = 0.97 * red_green_blue

    # Rounded down, since a channel that is rounded up would be paler.
    levels = np.floor(255 * red_green_blue + 1e-9) / 255
    return mpl.colors.to_hex(tuple(levels.tolist()))


_CONTRAST = 4.5


def _luminance(red_green_blue: np.ndarray) -> float:
    """Return the relative luminance of a colour in sRGB, from 0 (black) to 1 (white)."""
    linear = np.where(
        red_green_blue <= 0.04045,
        red_green_blue / 12.92,
        ((red_green_blue + 0.055) / 1.055) ** 2.4,
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])
