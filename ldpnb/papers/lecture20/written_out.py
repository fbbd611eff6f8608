"""Enumerations, integrals and printed formulas of the lecture.

Nothing here uses the package's probabilities or variances.
"""

from itertools import product

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ldpnb import claims
from ldpnb.arithmetic import Floats

FAILURE = 1 - claims.published("lecture20")["success_probability"]
"""That of the lecture's "with probability 99%"."""


def printed_rates(values: ArrayLike, epsilon: float, upper: float) -> Floats:
    """Return each user's probability of a one, as the lecture prints it for the 1-bit mean.

    At 0 and `upper` it is Warner's.
    """
    growth = np.exp(epsilon)
    lowest = 1 / (growth + 1)
    slope = (growth - 1) / (growth + 1)
    return np.asarray(lowest + np.asarray(values) / upper * slope)


def printed_means(bits: ArrayLike, epsilon: float, upper: float) -> Floats:
    """Return the lecture's 1-bit estimate of the mean for every row of bits.

    With ``upper = 1`` it is Warner's.
    """
    growth = np.exp(epsilon)
    undone = (np.asarray(bits) * (growth + 1) - 1) / (growth - 1)
    return np.asarray((upper * undone).mean(axis=-1))


def printed_signs(parameter: float, domain_size: int) -> tuple[Floats, Floats]:
    """Return all sign vectors and the lecture's law of them.

    Returns
    -------
    signs : ndarray of float, shape (2**domain_size, domain_size)
    law : ndarray of float, shape (2**domain_size, domain_size)
        A column for each value that a user can hold.
    """
    signs = np.array(list(product((-1, 1), repeat=domain_size)), dtype=float)
    own = np.where(signs == 1, 0.5 + parameter / 2, 0.5 - parameter / 2)
    return signs, own * 0.5 ** (domain_size - 1)


def inverted_tail(users: float, threshold: float) -> float:
    """Return ``Pr(|L_1 + ... + L_n| > threshold)`` of 20 or more Laplace variables.

    From the characteristic function of their sum, ``(1 + u^2)^-n``.
    """
    nodes, weights = special.roots_legendre(400)
    reach = np.sqrt(np.expm1(45 / users))
    u = reach * (nodes + 1) / 2
    integrand = np.sin(threshold * u) / u * (1 + u**2) ** -float(users)
    inside = reach / 2 * weights @ integrand
    return float(1 - 2 / np.pi * inside)


def normal_tail(error: float, variance: float) -> float:
    """Return ``Pr(|N(0, variance)| > error)``."""
    return float(special.erfc(error / np.sqrt(2 * variance)))


def largest_bit_variance(epsilon: float, upper: float) -> float:
    """Return the largest variance of one user's 1-bit estimate, over a grid of values."""
    rates = printed_rates(np.linspace(0, upper, 41), epsilon, upper)
    zero, one = printed_means([[0], [1]], epsilon, upper)
    return float(((one - zero) ** 2 * rates * (1 - rates)).max())


def rounded_entropy(scale: float) -> float:
    """Return the entropy, in bits, of Laplace noise rounded to whole numbers."""
    away = np.arange(1, int(60 * scale))
    beyond = np.exp(-away / scale) * np.sinh(1 / (2 * scale))
    at_zero = -np.expm1(-1 / (2 * scale))
    law = np.concatenate([[at_zero], beyond, beyond])
    return float(-(law * np.log2(law)).sum())


def public_signs(epsilon: float, domain_size: int) -> Floats:
    """Return the law of one bit times public signs.

    The bit is the public sign at the sender's value, kept as in Warner's randomised response.
    """
    vectors = printed_signs(0.0, domain_size)[0]
    kept = np.exp(epsilon) / (np.exp(epsilon) + 1)

    law = np.zeros((2**domain_size, domain_size))
    for value in range(domain_size):
        for public, (sign, chance) in product(vectors, ((1, kept), (-1, 1 - kept))):
            report = sign * public[value] * public
            place = np.flatnonzero((vectors == report).all(axis=1))
            law[place, value] += chance / 2**domain_size
    return law


def largest_gaps(laws: Floats, growth: float) -> Floats:
    """Return the largest ``P(E) - growth Q(E)`` over all events E.

    Every event is tried; a row for each law P, and a column for each law Q.
    """
    events = np.array(list(product((0.0, 1.0), repeat=len(laws))))
    chances = events @ laws
    return np.asarray((chances[:, :, None] - growth * chances[:, None]).max(axis=0))
