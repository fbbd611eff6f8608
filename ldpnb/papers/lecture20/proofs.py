"""Steps that several claims of Lecture 20 share, decided for every parameter.

Each function returns the decider's answer. Budgets are ``epsilon = ln t`` where formulas are
rational in ``t``, and ``epsilon = 2 u`` where they hold ``u`` and ``e^u``.
"""

from typing import Any

import numpy as np
import sympy

from ldpnb.accuracy import means
from ldpnb.arithmetic import Real, Symbol
from ldpnb.deciders import budget, derivative, expression, identity, oo, sign_changes, symbols
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit

Noise = CentralLaplace | LocalLaplace

eps, m, n, t, u, y = symbols("eps m n t u y")

CURATOR = CentralLaplace(eps, m)
NOISE = LocalLaplace(eps, m)
BIT = OneBit(budget(t), m)


def positive_throughout(value: Any) -> bool:
    """Decide whether a rational function of u and ``e^u`` is positive for every ``u > 0``.

    It is, if neither its numerator nor its denominator changes sign and it is positive at 1.
    """
    numerator, denominator = sympy.fraction(sympy.together(expression(value)))
    variable = expression(u)
    keeps_its_sign = (
        sign_changes(numerator, variable) == 0 and sign_changes(denominator, variable) == 0
    )
    return keeps_its_sign and bool(expression(value).subs(variable, 1) > 0)


def noise_is_private(mechanism: Noise) -> bool:
    """Decide that a report loses at most ``epsilon / m`` times the distance of two values.

    Of three points on a line, a report and two values, the report is the lowest, the highest or the
    middle one. Outside the values, the log-densities differ by exactly that: the loss at the
    distance m is epsilon.
    """
    a, b, c = symbols("a b c")
    low = a
    middle = a + b
    high = a + b + c
    price = eps / m

    def ratio(report: Symbol, value: Symbol, other: Symbol) -> Any:
        return mechanism.log_density(report, value) - mechanism.log_density(report, other)

    below_both = identity(ratio(low, middle, high), price * c)
    above_both = identity(ratio(high, middle, low), price * b)
    between = identity(price * (b + c) - ratio(middle, low, high), 2 * price * b)
    return below_both and above_both and between


def noise_tail(mechanism: Noise) -> bool:
    """Decide that noise is further than y from 0 with probability ``exp(-y epsilon / m)``.

    The probability is 1 at 0, and its slope is minus the density on both sides.
    """
    above = np.exp(mechanism.log_density(y, Symbol(0)))
    below = np.exp(mechanism.log_density(Symbol(0), y))
    return identity(-derivative(np.exp(-y * eps / m), y), above + below)


def noise_moment(mechanism: Noise, power: int) -> Real:
    """Return a moment of ``|noise|``, by integrating the density."""
    variable = expression(y)
    density = expression(np.exp(mechanism.log_density(y, Symbol(0))))
    integrand = 2 * variable**power * density
    return Symbol(sympy.integrate(integrand, (variable, 0, oo), meijerg=True))


def unit_variance() -> Any:
    """Return the worst variance of one bit in units of ``(m / epsilon)^2 / n``."""
    return means.worst_variance(OneBit(2 * u, m), n) * n * (2 * u) ** 2 / m**2


def bit_order() -> bool:
    """Decide that the worst standard deviation of one bit exceeds ``m / (epsilon sqrt n)``.

    The ratio grows with epsilon.
    """
    exceeds = positive_throughout(unit_variance() - 1)
    return exceeds and positive_throughout(derivative(unit_variance(), u))


def enough_users(epsilon: Real) -> Real:
    """Return how many users make a curator's Laplace noise as good as randomised response."""
    root = np.sinh(epsilon / 2)
    return 8 * (root * root) / (epsilon * epsilon)
