"""Sentences with numbers from the notebook's own tables."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.notebook.outputs import show
from ldpnb.words import listed as listed
from ldpnb.words import short as short


def say(text: str, shown: str = "") -> None:
    """Show a paragraph of Markdown with computed numbers: ``say(f"The loss is least at {place:.3g}.")``.

    What is `shown` may differ from the plain text.
    """
    show({"text/markdown": shown or text, "text/plain": text})


def solution(text: str) -> None:
    """Show the solution of an exercise, folded; see `say`."""
    say(text, f"<details><summary>Solution</summary>\n\n{text}\n\n</details>")


def crossings(x: ArrayLike, one: ArrayLike, other: ArrayLike) -> list[float]:
    """Return where two curves on one grid cross, in the order of the grid.

    Between two points of the grid both are taken as straight, on logarithmic scales if everything is positive.

    >>> crossings([0, 1, 2, 3], [0, 1, 2, 3], [1.5, 1.5, 1.5, 3.0]), crossings([1, 4], [1, 16], [4, 4])
    ([1.5], [2.0])
    """
    grid, low, high = (np.asarray(v, float) for v in (x, one, other))
    positive = bool((grid > 0).all() and (low > 0).all() and (high > 0).all())
    gap, scale = (np.log(low) - np.log(high), np.log(grid)) if positive else (low - high, grid)
    gap, scale = gap[np.isfinite(gap)], scale[np.isfinite(gap)]
    apart = np.flatnonzero(gap)
    before = apart[:-1][
        np.sign(gap[apart[:-1]]) != np.sign(gap[apart[1:]])
    ]  # where they may touch next
    share = gap[before] / (gap[before] - gap[before + 1])
    places = scale[before] + share * (scale[before + 1] - scale[before])
    return [float(f"{place:.12g}") for place in (np.exp(places) if positive else places)]


def where_less(
    x: ArrayLike, one: ArrayLike, other: ArrayLike, name: str = "ε", digits: int = 3
) -> str:
    """Return in words where one curve lies below another, both on one grid, whose counts are shown as whole numbers.

    On a coarse grid use no more than two `digits`.

    >>> where_less([1, 2, 4], [1, 2, 3], [2, 2, 2]), where_less([1, 2], [1, 1], [2, 2])
    ('below ε = 2', 'at every ε drawn')
    >>> where_less([1, 2, 4], [1, 1, 2], [2, 2, 2]), where_less([1, 2, 3, 4], [1, 3, 3, 1], [2, 2, 2, 2], "n")
    ('at 2 of 3 ε drawn', 'outside n = 2 and 4')
    """
    less = np.asarray(one, float) < np.asarray(other, float)
    counts = np.asarray(x).dtype.kind in "iu" and name != "ε"
    places = [
        short(np.ceil(place) if counts else place, digits) for place in crossings(x, one, other)
    ]
    if less.all() or not less.any():
        return f"at {'every' if less.all() else 'no'} {name} drawn"
    if len(places) > 2 or not places:
        return f"at {less.sum()} of {less.size} {name} drawn"
    inside, outside = ("above", "below") if len(places) == 1 else ("between", "outside")
    return f"{outside if less[0] else inside} {name} = {listed(places)}"
