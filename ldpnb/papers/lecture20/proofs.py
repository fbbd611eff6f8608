"""Steps that several claims of lecture20 share, decided for every parameter; each returns the decider's answer.

Budgets are ``epsilon = ln t`` where formulas are rational in ``t``, and ``epsilon = 2 u`` where they hold ``u`` and
``e^u``.
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
CURATOR, NOISE, BIT = CentralLaplace(eps, m), LocalLaplace(eps, m), OneBit(budget(t), m)


def positive_throughout(value: Any) -> bool:
    """Decide whether a rational function of u and ``e^u`` is positive for every ``u > 0``: no sign changes."""
    parts = sympy.fraction(sympy.together(expression(value)))
    u_ = expression(u)
    return all(sign_changes(part, u_) == 0 for part in parts) and bool(
        expression(value).subs(u_, 1) > 0
    )


def noise_is_private(mechanism: Noise) -> bool:
    """Decide that log-densities of a report for two values differ by at most ``epsilon / m`` times their distance.

    Of three points on a line, a report and two values, the report is the lowest, the highest or the middle one. Outside
    the values the difference is exactly that: the loss at distance m is epsilon.
    """
    a, b, c = symbols("a b c")
    low, middle, high, price = a, a + b, a + b + c, eps / m

    def ratio(report: Symbol, value: Symbol, other: Symbol) -> Any:
        return mechanism.log_density(report, value) - mechanism.log_density(report, other)

    outside = identity(ratio(low, middle, high), price * c) and identity(
        ratio(high, middle, low), price * b
    )
    return outside and identity(price * (b + c) - ratio(middle, low, high), 2 * price * b)


def noise_tail(mechanism: Noise) -> bool:
    """Decide that noise is further than y from 0 with chance ``exp(-y epsilon / m)``, and as often above as below.

    The chance is 1 at 0, and its slope is minus the density on both sides.
    """
    density = np.exp(mechanism.log_density(y, Symbol(0))) + np.exp(
        mechanism.log_density(Symbol(0), y)
    )
    return identity(-derivative(np.exp(-y * eps / m), y), density)


def noise_moment(mechanism: Noise, power: int) -> Real:
    """Return a moment of ``|noise|``, by integrating the density."""
    y_, density = expression(y), expression(np.exp(mechanism.log_density(y, Symbol(0))))
    return Symbol(sympy.integrate(2 * y_**power * density, (y_, 0, oo), meijerg=True))


def unit_variance() -> Any:
    """Return the worst variance of one bit in units of ``(m / epsilon)^2 / n``."""
    return means.worst_variance(OneBit(2 * u, m), n) * n * (2 * u) ** 2 / m**2


def bit_order() -> bool:
    """Decide that the worst standard deviation exceeds ``m / (epsilon sqrt n)``, the more the larger epsilon is."""
    return positive_throughout(unit_variance() - 1) and positive_throughout(
        derivative(unit_variance(), u)
    )


def enough_users(epsilon: Real) -> Real:
    """Return how many users make a curator's Laplace noise as good as randomised response."""
    root = np.sinh(epsilon / 2)
    return 8 * (root * root) / (epsilon * epsilon)
