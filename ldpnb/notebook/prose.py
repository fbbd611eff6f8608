"""Sentences with numbers from the notebook's own tables."""

import numpy as np
from numpy.typing import ArrayLike

from ldpnb.notebook.outputs import show
from ldpnb.words import listed as listed
from ldpnb.words import short as short


def say(text: str, shown: str = "") -> None:
    """Show a paragraph of Markdown with computed numbers.

    Parameters
    ----------
    text : str
        The paragraph, such as ``f"The loss is least at {place:.3g}."``.
    shown : str, optional
        What a front end shows instead; `text` is then the plain text.
    """
    show({"text/markdown": shown or text, "text/plain": text})


def solution(text: str) -> None:
    """Show the solution of an exercise, a paragraph of Markdown, folded away."""
    say(text, f"<details><summary>Solution</summary>\n\n{text}\n\n</details>")


def crossings(x: ArrayLike, one: ArrayLike, other: ArrayLike) -> list[float]:
    """Return where two curves cross.

    Between two points of the grid both curves are taken as straight: on logarithmic scales if all
    numbers are positive, and otherwise on linear ones.

    Parameters
    ----------
    x : array_like, shape (points,)
        The grid, increasing.
    one, other : array_like, shape (points,)
        The heights of the two curves on the grid. Points that are not finite are left out.

    Returns
    -------
    list of float
        The places in the order of the grid, to 12 digits.

    Examples
    --------
    >>> crossings([0, 1, 2, 3], [0, 1, 2, 3], [1.5, 1.5, 1.5, 3.0])
    [1.5]
    >>> crossings([1, 4], [1, 16], [4, 4])
    [2.0]
    """
    grid = np.asarray(x, dtype=float)
    first = np.asarray(one, dtype=float)
    second = np.asarray(other, dtype=float)
    is_logarithmic = bool((grid > 0).all() and (first > 0).all() and (second > 0).all())
    if is_logarithmic:
        scale = np.log(grid)
        gap = np.log(first) - np.log(second)
    else:
        scale = grid
        gap = first - second

    is_finite = np.isfinite(gap)
    gap = gap[is_finite]
    scale = scale[is_finite]

    # The last points at which one curve is above before the other one is. Where the curves touch
    # they are not apart; such points lie between the last point before and the first point after.
    apart = np.flatnonzero(gap)
    signs = np.sign(gap[apart])
    before = apart[:-1][signs[:-1] != signs[1:]]

    share = gap[before] / (gap[before] - gap[before + 1])
    places = scale[before] + share * (scale[before + 1] - scale[before])
    if is_logarithmic:
        places = np.exp(places)
    return [float(f"{place:.12g}") for place in places]


def where_less(
    x: ArrayLike, one: ArrayLike, other: ArrayLike, name: str = "ε", digits: int = 3
) -> str:
    """Say where one curve lies below another.

    Parameters
    ----------
    x : array_like, shape (points,)
        The grid, increasing. Whole numbers are counts, unless they are values of epsilon: a place
        between two of them is rounded up.
    one, other : array_like, shape (points,)
        The heights of the two curves on the grid.
    name : str
        What `x` is called in the words.
    digits : int
        Significant digits of the places; no more than two on a coarse grid.

    Returns
    -------
    str
        Words such as ``"below ε = 2"``.

    Examples
    --------
    >>> where_less([1, 2, 4], [1, 2, 3], [2, 2, 2])
    'below ε = 2'
    >>> where_less([1, 2], [1, 1], [2, 2])
    'at every ε shown'
    >>> where_less([1, 2, 4], [1, 1, 2], [2, 2, 2])
    'at 2 of 3 ε shown'
    >>> where_less([1, 2, 3, 4], [1, 3, 3, 1], [2, 2, 2, 2], "n")
    'outside n = 2 and 4'
    """
    less = np.asarray(one, float) < np.asarray(other, float)
    if less.all():
        return f"at every {name} shown"
    if not less.any():
        return f"at no {name} shown"

    are_counts = np.asarray(x).dtype.kind in "iu" and name != "ε"
    places = []
    for place in crossings(x, one, other):
        places.append(short(np.ceil(place) if are_counts else place, digits))

    if len(places) == 1:
        side = "below" if less[0] else "above"
    elif len(places) == 2:
        side = "outside" if less[0] else "between"
    else:
        return f"at {less.sum()} of {less.size} {name} shown"
    return f"{side} {name} = {listed(places)}"
