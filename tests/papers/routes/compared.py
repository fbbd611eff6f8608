"""How a formula and its second route are compared.

A test of a second route yields pairs: what a formula of the package returns, and the same number
computed in another way. `compared` turns it into a test that both agree::

    @compared
    def test_the_loss_of_a_sample_is_that_of_its_worst_event() -> Pairs:
        yield srs_loss(1.0, 0.1), np.log(0.9 + 0.1 * np.e)
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from numpy.testing import assert_allclose

Pairs = Iterable[tuple[Any, ...]]
"""A formula's value, that of a second route, and the relative tolerance where 1e-9 is too fine."""


def compared(pairs: Callable[[], Pairs]) -> Callable[[], None]:
    """Return a test that the two values of every pair agree."""

    @wraps(pairs)
    def test() -> None:
        for formula, route, *tolerance in pairs():
            relative = tolerance[0] if tolerance else 1e-9
            assert_allclose(formula, route, rtol=relative, atol=1e-12)

    return test
