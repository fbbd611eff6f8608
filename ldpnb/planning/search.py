"""The one search of a plan: the least whole number from which on a falling function is at most 0."""

import math
from collections.abc import Callable


def least(
    excess: Callable[[int], float], low: int, high: int, first: int, *, step: float = 0.0
) -> int | None:
    """Return the least number in ``low .. high`` for which a falling function is at most 0; None if there is none.

    - `excess`, callable: the function, nearly linear in the logarithm of the quantity, with a slope of about -1/2 or
      steeper.
    - `low`, `high`, int
    - `first`, int: the number to begin with; from there on upwards by the slope, until one is enough.
    - `step`, float: how much the logarithm grows with each number; 0 if the number itself is the quantity.

    Once one is enough, by false position, with the value at an end that stays halved ("Illinois", Dowell and Jarratt
    1971), and by bisection every eighth time and where a value is infinite.

    >>> least(lambda n: math.log(1000 / n), 1, 10**12, 10), least(lambda n: math.log(1000 / n), 1, 999, 10)
    (1000, None)
    """
    below, above, left = low - 1, min(max(first, low), high), math.inf
    while (right := excess(above)) > 0:
        if above == high:
            return None
        far = 2.5 * min(right, 4.0)
        below, left = above, right
        above = min(
            max(math.ceil(above + far / step if step else above * math.exp(far)), above + 1), high
        )
    turn, side = 0, 0
    while above - below > 1:
        turn += 1
        known = math.isfinite(left) and math.isfinite(right)
        share = left / (left - right) if known and turn % 8 else 0.5
        place = below + share * (above - below) if step else below ** (1 - share) * above**share
        middle = min(max(round(place), below + 1), above - 1)
        value = excess(middle)
        if value > 0:
            below, left, right, side = middle, value, right / 2 if side > 0 else right, 1
        else:
            above, right, left, side = middle, value, left / 2 if side < 0 else left, -1
    return above
