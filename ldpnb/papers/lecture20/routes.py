"""The independent routes behind the claims of lecture20. Nothing here uses the package's probabilities, variances or
tails.
"""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ldpnb import claims

Array = NDArray[np.float64]
BUDGETS = (0.1, 0.5, 1.0, 3.0)


published = partial(claims.published, "lecture20")
"""Numbers printed in lecture20, by key."""


def failure() -> float:
    """Return the failure probability behind the lecture's "with probability 99%"."""
    return 1 - published()["success_probability"]


def printed_rates(values: ArrayLike, epsilon: float, upper: float) -> Array:
    """Return each user's chance of a one as the lecture prints it for the 1-bit mean; Warner's at the values 0 and
    `upper`.
    """
    growth = np.exp(epsilon)
    return np.asarray(1 / (growth + 1) + np.asarray(values) / upper * (growth - 1) / (growth + 1))


def printed_means(bits: ArrayLike, epsilon: float, upper: float) -> Array:
    """Return the lecture's 1-bit estimate of the mean for every row of bits; Warner's at ``upper = 1``."""
    growth = np.exp(epsilon)
    return np.asarray((upper * (np.asarray(bits) * (growth + 1) - 1) / (growth - 1)).mean(axis=-1))


def all_bits(rates: Array) -> tuple[Array, Array]:
    """Return all ``2^n`` outcomes of independent bits, ``(2^n, n)``, and their chances."""
    bits = np.array(list(product((0, 1), repeat=len(rates))), dtype=float)
    return bits, np.where(bits == 1, rates, 1 - rates).prod(axis=1)


def printed_signs(parameter: float, domain_size: int) -> tuple[Array, Array]:
    """Return all ``2^k`` sign vectors and the lecture's law of them, ``(2^k, k)``, a column per value held."""
    signs = np.array(list(product((-1, 1), repeat=domain_size)), dtype=float)
    own = np.where(signs == 1, 0.5 + parameter / 2, 0.5 - parameter / 2)
    return signs, own * 0.5 ** (domain_size - 1)


def moments(estimates: Array, chances: Array) -> tuple[float, float]:
    """Return the mean and variance of an estimate given for every outcome."""
    mean = float(chances @ estimates)
    return mean, float(chances @ (estimates - mean) ** 2)


def half_line(function: Callable[[Array], Array], scale: float, start: float = 0.0) -> float:
    """Return the integral from `start` to infinity of a polynomial times ``exp(-y / scale)``, by Gauss-Laguerre
    quadrature.
    """
    nodes, weights = special.roots_laguerre(24)
    return float(scale * (weights * np.exp(nodes)) @ function(start + scale * nodes))


def inverted_tail(users: int, threshold: float) -> float:
    """Return ``Pr(|L_1 + ... + L_n| > threshold)``, 20 or more Laplace variables, from the characteristic function ``(1
    + u^2)^-n``.
    """
    nodes, weights = special.roots_legendre(400)
    reach = np.sqrt(np.expm1(45 / users))
    u = reach * (nodes + 1) / 2
    inside = reach / 2 * weights @ (np.sin(threshold * u) / u * (1 + u**2) ** -float(users))
    return float(1 - 2 / np.pi * inside)


def normal_tail(error: float, variance: float) -> float:
    """Return ``Pr(|N(0, variance)| > error)``."""
    return float(special.erfc(error / np.sqrt(2 * variance)))


def same_order(constants: ArrayLike) -> bool:
    """Return whether the constants of an O(.) stay within a factor of two of each other over the settings tried."""
    tried = np.asarray(constants)
    return bool(tried.min() > 0 and tried.max() <= 2 * tried.min())
