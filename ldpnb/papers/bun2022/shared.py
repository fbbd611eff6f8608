"""What the sections of bun2022 share: symbols, steps of several proofs, and the worst mechanism by enumeration.

``t = e^epsilon`` throughout; by the definition of privacy one event decides. The enumerations use no closed form of the
package.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ldpnb import claims
from ldpnb.arithmetic import Real, Symbol
from ldpnb.claims import UnsoundError
from ldpnb.deciders import ball, budget, derivative, expression, identity, oo, positive, replaced, symbols, zeros
from ldpnb.designs import laws
from ldpnb.privacy import optimiser, subsampling

Array = NDArray[np.float64]

t, p, x, small = symbols("t p x small")
eps = budget(t)
EVERY, SHARE = (0, oo), (0, 1)
BUDGET = {t: (1, oo)}
RELATIONS = ("deletion", "replacement")

published = partial(claims.published, "bun2022")
"""Numbers printed in bun2022, by key."""


def ratio(loss: Real) -> Real:
    """Return ``e^loss`` as a rational function, sums in exponents multiplied out.

    Raises
    ------
    UnsoundError
        If it is none.
    """
    value = expression(np.exp(loss)).replace(sympy.exp, lambda power: sympy.exp(sympy.expand(power)))
    if not value.is_rational_function():
        raise UnsoundError(f"not a rational function of e^epsilon: {value}"[:120])
    return Symbol(value)


def grows(value: Real, box: dict[Real, tuple[Real, Real]]) -> bool | None:
    """Return whether an expression in ``small = epsilon`` is 0 at 0 and grows: then it is positive for every budget."""
    return identity(replaced(value, small, 0)) and positive(
        replaced(derivative(value, small), small, eps), BUDGET | box
    )


def listed(values: Iterable[Any], form: str = "{:.4f}") -> str:
    return ", ".join(map(form.format, values))


def about_until() -> float:
    """Return the budget up to which ``e^epsilon - 1`` is about epsilon, for their ratio grows."""
    (end,) = zeros(lambda y: y * ball(str(claims.WORDS["about"])) - np.expm1(y), "0.01", 5)
    return float(end.mid())


def small_budgets() -> bool | None:
    """Equations (1) and (2): ``p epsilon <= ln(1 + p (e^epsilon - 1)) <= p (e^epsilon - 1)``, both from slopes."""
    loss = subsampling.srs_loss(small, p)
    return grows(loss - p * small, {p: SHARE}) and grows(p * np.expm1(small) - loss, {p: SHARE})


def simple_random_sampling() -> bool | None:
    """Theorem 2.2: multipliers of ``mu_1 <= t mu_1' + delta`` and ``mu_1 <= t mu_0 + delta`` prove the bound.

    ``mu_1`` is the mean chance given that the record is drawn, ``mu_1'`` that with its replacement, ``mu_0`` that given
    that it is not drawn: replacing the record by one that is not drawn couples the first and the last.
    """
    inside, new, outside, delta = symbols("inside new outside delta")
    factor, least = np.exp(subsampling.srs_loss(eps, p)), subsampling.srs_delta(delta, p)
    first, second = p * factor / t, (1 - p) * (factor - 1) / t
    room = factor * (p * new + (1 - p) * outside) + least - (p * inside + (1 - p) * outside)
    proof = identity(room, first * (t * new + delta - inside) + second * (t * outside + delta - inside))
    return proof and all(positive(value, BUDGET | {p: SHARE}) for value in (first, second, t - factor))


def optimum(
    design: Callable[[list[Any]], laws.Law], records: int, epsilon: float, *, neighbours: str = "replacement", **of: str
) -> float:
    """Return the largest loss over all mechanisms on samples of distinct records, one of them replaced, or one more.

    The mechanisms are epsilon-DP for deletion, or as ``mechanism=`` says.
    """
    whole = list(range(records))
    other = [-1, *whole[1:]] if neighbours == "replacement" else [*whole, -1]
    return optimiser.largest_loss(design(whole), design(other), epsilon=epsilon, **of).loss
