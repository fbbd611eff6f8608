"""How a formula and its second route are compared."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from numpy.testing import assert_allclose

Pairs = Iterable[tuple[Any, ...]]
"""A formula's value, that of a second route, and the relative tolerance where 1e-9 is too fine."""


def compared(pairs: Callable[[], Pairs]) -> Callable[[], None]:
    """A test that the two values of every pair agree."""

    @wraps(pairs)
    def test() -> None:
        for formula, route, *tolerance in pairs():
            rtol = tolerance[0] if tolerance else 1e-9
            assert_allclose(formula, route, rtol=rtol, atol=1e-12)

    return test
