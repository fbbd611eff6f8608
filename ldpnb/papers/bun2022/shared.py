"""What the sections of bun2022 share: symbols, and the worst mechanism by enumeration.

``t = e^epsilon`` throughout; by the definition of privacy one event decides. The enumerations use no closed form of the
package.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import UnsoundError
from ldpnb.deciders import budget, derivative, expression, identity, oo, positive, replaced, symbols
from ldpnb.designs import laws
from ldpnb.privacy import optimiser

t, p, x, small = symbols("t p x small")
eps = budget(t)
EVERY, SHARE = (0, oo), (0, 1)
BUDGET = {t: (1, oo)}
RELATIONS = ("deletion", "replacement")


def ratio(loss: Real) -> Real:
    """Return ``e^loss`` as a rational function, sums in exponents multiplied out; an UnsoundError if it is none."""
    value = expression(np.exp(loss)).replace(
        sympy.exp, lambda power: sympy.exp(sympy.expand(power))
    )
    if not value.is_rational_function():
        raise UnsoundError(f"not a rational function of e^epsilon: {value}"[:120])
    return Symbol(value)


def grows(value: Real, box: dict[Real, tuple[Real, Real]]) -> bool | None:
    """Return whether an expression in ``small = epsilon`` is 0 at 0 and grows: then it is positive for every budget."""
    return identity(replaced(value, small, 0)) and positive(
        replaced(derivative(value, small), small, eps), BUDGET | box
    )


def optimum(
    design: Callable[[list[Any]], laws.Law],
    records: int,
    epsilon: float,
    *,
    neighbours: str = "replacement",
    **of: str,
) -> float:
    """Return the largest loss over all mechanisms on samples of distinct records, one of them replaced, or one more.

    The mechanisms are epsilon-DP for deletion, or as ``mechanism=`` says.
    """
    whole = list(range(records))
    other = [-1, *whole[1:]] if neighbours == "replacement" else [*whole, -1]
    return optimiser.largest_loss(design(whole), design(other), epsilon=epsilon, **of).loss
