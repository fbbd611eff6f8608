"""Colour, marker and dash of a series, which say what it is: the same in every figure."""

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


# hues that the colour-blind tell apart; the first six and black also differ in lightness, and so in grey
_COLOURS = ("#004B94", "#CB5004", "#1B7340", "#D86CA4", "#3DB2E6", "#522A06", "#A39A2E", "#777777")
_MARKERS = "osD^vP*X"
_ON_OFF = ((5, 1.5), (1, 1), (4, 1, 1, 1), (8, 2), (2, 1), (6, 1, 1, 1, 1, 1), (3, 3))
_ALL = [
    Look(*parts)
    for parts in zip(_COLOURS, _MARKERS, ["-", *((0, lengths) for lengths in _ON_OFF)], strict=True)
]
FAMILIES = (
    ("truth", "c_DE", "g_DE", "c-hat", "ratio", "T", "Horvitz-Thompson", "Hájek"),
    ("unbiased", "Norm-Sub", "MLE", "Bayes", "empirical Bayes", "uniform guess"),
    (
        *(
            "exact",
            "upper bound",
            "lower bound",
            "published",
            "simple random sampling",
            "no amplification",
        ),
        "improved lower bound",
    ),
    ("Neyman", "proportional", "proportional, rounded at random", "best found", "fixed"),
    ("k-RR", "OUE", "SUE", "subset selection", "signs", "central Laplace", "Gaussian", "OLH"),
    ("1-bit", "local Laplace", "Warner"),
    (
        *("M_R", "M_L", "M_L, k = 2", "signed bit", "signed Laplace"),
        *("M_R as published", "M_L as published"),
    ),
)
"""Series that are drawn together, each with the colour, marker and dash of its place.

A series that stands in none of them gets a look that its figure does not use (`looks_of`).
"""
_KNOWN = {name: own for family in FAMILIES for name, own in zip(family, _ALL, strict=False)}
_KNOWN["truth"] = Look("#000000", "o", "-")


def looks_of(names: Sequence[Any]) -> dict[Any, Look]:
    """Return the looks of a figure's series; unknown names get unused ones in order.

    Names that are numbers, or differ by one number, share a ramp from dark to light that the colour-blind see in order.

    >>> [look.colour for look in looks_of(["ε = 1", "ε = 2.5"]).values()], looks_of(["truth"])["truth"].marker
    (['#440154', '#4ec36b'], 'o')
    """
    texts = [str(name) for name in names]
    if (
        len(texts) > 1
        and len({re.sub(r"[-+\d.,]+(e[-+]?\d+)?", "#", text, count=1) for text in texts}) == 1
    ):
        ramp = map(mpl.colors.to_hex, mpl.colormaps["viridis"](np.linspace(0.0, 0.72, len(names))))
        return {
            n: Look(c, m, "-")
            for n, c, m in zip(names, ramp, itertools.cycle(_MARKERS), strict=False)
        }
    looks = {name: _KNOWN[str(name)] for name in names if str(name) in _KNOWN}
    free = [other for other in _ALL if other.colour not in {own.colour for own in looks.values()}]
    return looks | dict(
        zip([n for n in names if n not in looks], itertools.cycle(free or _ALL), strict=False)
    )


def ink(colour: str) -> str:
    """Return a colour for words: that of their series, darkened until it can be read on white.

    The contrast of the words is at least 4.5, as the Web Content Accessibility Guidelines ask.

    >>> ink("#004B94"), ink("#A39A2E")
    ('#004b94', '#807924')
    """
    red_green_blue = np.array(mpl.colors.to_rgb(colour))
    while 1.05 / (_luminance(red_green_blue) + 0.05) < _CONTRAST:
        red_green_blue = 0.97 * red_green_blue
    return mpl.colors.to_hex(tuple(red_green_blue.tolist()))


_CONTRAST = 4.5


def _luminance(red_green_blue: np.ndarray) -> float:
    """Return the relative luminance of a colour in sRGB, from 0 (black) to 1 (white)."""
    linear = np.where(
        red_green_blue <= 0.04045,
        red_green_blue / 12.92,
        ((red_green_blue + 0.055) / 1.055) ** 2.4,
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])
