"""Logarithms of mixtures of a likelihood ratio with 1, as sampling makes them."""

import numpy as np

from ldpnb.arithmetic import Real, is_exact

_FAR = 300.0


def log_mixed(weight: Real, exponent: Real) -> Real:
    """Return ``ln(1 + w (e^x - 1))`` for ``w >= 0`` and ``x >= 0``; in floats to full precision, however large ``x``.

    From ``x = 300`` on ``e^x - 1`` equals ``e^x`` to all digits, and the logarithm of ``w`` is used.

    >>> float(log_mixed(0.5, 0.0)), round(float(log_mixed(np.exp(-1000 / 3), 1000.0)), 9)
    (0.0, 666.666666667)
    """
    if is_exact(weight) or is_exact(exponent) or np.max(exponent) <= _FAR:
        return np.log1p(weight * np.expm1(exponent))
    near = np.log1p(weight * np.expm1(np.minimum(exponent, _FAR)))
    with np.errstate(divide="ignore"):
        far = np.logaddexp(0.0, np.log(weight) + exponent)
    return np.where(np.greater(exponent, _FAR), far, near)[()]


def log_thinned(weight: Real, exponent: Real) -> Real:
    """Return ``ln(1 - w (1 - e^-x))`` for ``w`` in [0, 1]; in floats to full precision, however large ``x >= 0``."""
    if is_exact(weight) or is_exact(exponent):
        return np.log1p(weight * np.expm1(-exponent))
    with np.errstate(divide="ignore"):
        near = np.log1p(weight * np.expm1(-exponent))
        far = np.logaddexp(np.log1p(-weight), np.log(weight) - exponent)
    return np.where(near > -0.5, near, far)[()]
