"""What the sections of Bun et al. share: symbols, and the worst mechanism by enumeration.

Throughout, ``t = e^epsilon``. By the definition of privacy, one event decides. The enumerations use
no closed form of the package.
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
EVERY = (0, oo)
SHARE = (0, 1)
BUDGET = {t: (1, oo)}
RELATIONS = ("deletion", "replacement")


def ratio(loss: Real) -> Real:
    """Return ``e^loss`` as a rational function, with sums in exponents multiplied out.

    A loss of another kind is an UnsoundError.
    """
    value = expression(np.exp(loss))
    value = value.replace(sympy.exp, lambda power: sympy.exp(sympy.expand(power)))
    if not value.is_rational_function():
        raise UnsoundError(f"not a rational function of e^epsilon: {value}"[:120])
    return Symbol(value)


def grows(value: Real, box: dict[Real, tuple[Real, Real]]) -> bool | None:
    """Decide whether an expression in ``small = epsilon`` is 0 at 0, and grows.

    If so, it is positive for every budget.
    """
    starts_at_zero = identity(replaced(value, small, 0))
    slope = replaced(derivative(value, small), small, eps)
    return starts_at_zero and positive(slope, BUDGET | box)


def optimum(
    design: Callable[[list[Any]], laws.Law],
    records: int,
    epsilon: float,
    *,
    neighbours: str = "replacement",
    mechanism: str = "deletion",
) -> float:
    """Return the largest loss over all mechanisms on samples of distinct records.

    One of the records is replaced, or there is one more (deletion). The mechanisms are epsilon-DP
    under the relation that `mechanism` names.
    """
    whole = list(range(records))
    other = [-1, *whole[1:]] if neighbours == "replacement" else [*whole, -1]
    worst = optimiser.largest_loss(
        design(whole), design(other), epsilon=epsilon, mechanism=mechanism
    )
    return worst.loss
