"""Several questions on one budget: everybody answers all of them, or one random question each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ldpnb import checks
from ldpnb.surveys.noise import MeanMechanism


def smallest_budget(mechanism: MeanMechanism, variance: float, span: float = 1.0) -> float:
    """Return the budget, in nats, at which the report of an end of the range has that variance, in squared units.

    ``2 asinh(R / (2 sqrt v))`` for one bit, ``R sqrt(2 / v)`` for Laplace noise, in a range of length ``R``.

    >>> round(smallest_budget("one-bit", 0.5), 6), round(smallest_budget("Laplace", 0.05), 6)
    (1.316958, 6.324555)
    """
    checks.choice(mechanism=mechanism, among=("one-bit", "Laplace"))
    root = checks.positive(span=span) / np.sqrt(checks.positive(variance=variance))
    return float(2 * np.arcsinh(root / 2) if mechanism == "one-bit" else np.sqrt(2) * root)


def split(epsilon: float, weights: Sequence[float], mechanism: MeanMechanism) -> NDArray[np.float64]:
    """Return the budgets of questions that everybody answers, with the least weighted sum of variances.

    Parameters
    ----------
    epsilon : float
        Their sum, by basic composition.
    weights : sequence of float
        Importance times squared range of each question.
    mechanism : {"one-bit", "Laplace"}

    Notes
    -----
    At the optimum ``weight times slope of the variance`` is the same for all: budgets go with the cube root of the
    weights for Laplace noise, and for one bit by its slope ``-cosh(e/2) / (4 sinh^3(e/2))``.

    Examples
    --------
    >>> split(1.0, [1, 1, 8], "Laplace").round(6).tolist()
    [0.25, 0.25, 0.5]
    """
    epsilon = checks.positive(epsilon=epsilon)
    importance = np.asarray([checks.positive(weight=w) for w in weights])
    roots = np.cbrt(importance)
    if mechanism == "Laplace":
        return np.asarray(epsilon * roots / roots.sum())

    def log_slope(budget: float) -> float:
        half = budget / 2
        # logarithms of cosh and of sinh cubed, without overflow
        return float(np.logaddexp(half, -half) - 3 * (half + np.log(-np.expm1(-budget))) + 2 * np.log(2) - np.log(4))

    def budget(weight: float, price: float) -> float:
        low, high = epsilon * 1e-12, epsilon
        if np.log(weight) + log_slope(high) >= price:
            return high
        return float(
            brentq(lambda b: np.log(weight) + log_slope(b) - price, low, high, xtol=1e-15 * epsilon, rtol=1e-14)
        )

    def surplus(price: float) -> float:
        return sum(budget(w, price) for w in importance) - epsilon

    low = float(np.log(importance.min()) + log_slope(epsilon))
    high = float(np.log(importance.max()) + log_slope(epsilon / (2 * len(importance)))) + 1
    price = brentq(surplus, low - 1, high, xtol=1e-14, rtol=1e-14)
    shares = np.array([budget(w, price) for w in importance])
    return np.asarray(shares * epsilon / shares.sum())


def one_question_threshold(questions: int) -> float:
    """Return the budget below which one random question each beats answers to all, at the worst bits.

    There ``coth^2(e / (2 q)) = q coth^2(e / 2)``.

    >>> round(one_question_threshold(2), 6)
    3.057142
    """
    questions = checks.whole(questions=questions, at_least=2)

    def gain(epsilon: float) -> float:
        return float(np.tanh(epsilon / 2) ** 2 - questions * np.tanh(epsilon / (2 * questions)) ** 2)

    return float(brentq(gain, 1.0, 100.0 * questions, xtol=1e-13))
