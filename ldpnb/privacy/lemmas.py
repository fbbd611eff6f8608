"""The lemmas behind the amplification results: losses couple, mix and tilt (Appendices A and B of bun2022).

Losses and budgets are in nats; the mechanisms on the sample are epsilon-deletion-DP. `log_mixed` and `log_thinned` are
the logarithms of mixtures of a likelihood ratio with 1, as sampling makes them.
"""

from typing import Any

import numpy as np

from ldpnb import checks
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


def coupled_loss(distance: Real, epsilon: Real) -> Real:
    """Return ``k epsilon``, the loss on samples coupled within deletion distance ``k`` (Lemma A.3)."""
    return checks.whole(distance, "distance") * checks.positive(epsilon, "epsilon")


def mixture_loss(weight: Real, *, common: Real, other: Real) -> Real:
    r"""Return ``ln((1-p) e^e0 + p e^e1)``, the loss between two mixtures with one weight (Lemma A.4, tight form).

    Some distributions attain it. With ``X0 = Y0`` it is ``ln(1 + p (e^e1 - 1))``.

    - `weight`, float: ``p``, the weight of the second components.
    - `common`, float: ``e0``: loss between the first components ``X0`` and ``Y0``.
    - `other`, float: ``e1 >= e0``: loss of the pairs ``(X1, Y1)``, ``(X1, Y0)`` and ``(X0, Y1)``.
    """
    p, least, most = _mixture(weight, common, other)
    return least + log_mixed(p, most - least)


def mixture_loss_product_form(weight: Real, *, common: Real, other: Real) -> Real:
    """Return ``e0 + ln(1 + p (e^e1 - 1))``, the form of Lemma A.4 that the proof of Theorem 4.3 uses.

    It is never below `mixture_loss`, and equals it when ``common = 0``.
    """
    p, least, most = _mixture(weight, common, other)
    return least + log_mixed(p, most)


def _mixture(weight: Real, common: Real, other: Real) -> tuple[Real, Real, Real]:
    least, most = checks.non_negative(common, "common"), checks.non_negative(other, "other")
    if not (is_exact(least) or is_exact(most)) and most < least:
        raise ValueError(f"other must be >= common, got other={other} and common={common}")
    return checks.probability(weight, "weight"), least, most


def inserted_record_loss(size: Real, population: Real, epsilon: Real) -> Real:
    """Return ``ln(1 + (m/(n+1)) (e^(2 epsilon) - 1))``, samples of one size with and without a record more (Lemma B.1).

    The new record is drawn with chance ``m/(n+1)``, out of ``n`` and one records, and then takes another's place, a
    distance of 2. If the larger population gives a sample with a record more, the loss is ``epsilon`` instead:
    `coupled_loss` at distance 1.
    """
    records = checks.whole(population, "population", at_least=1)
    return log_mixed(
        checks.whole(size, "size", at_most=records) / (records + 1),
        2 * checks.positive(epsilon, "epsilon"),
    )


def largest_tilted_mean(law: Any, values: Any, epsilon: Real) -> Real:
    """Return ``sum t f e^(epsilon m) / sum t e^(epsilon m)``, the largest log-Lipschitz reweighted mean (Lemma B.3).

    - `law`, (sizes,) float: weights ``t(m) >= 0`` on ``m = 0, 1, ...``; not all zero.
    - `values`, (sizes,) float: ``f(m)``, nondecreasing.
    - `epsilon`, float: the reweighting may change by at most the factor ``e^epsilon`` from one size to the next.
    """
    if is_exact(epsilon):
        weighted = [weight * np.exp(epsilon * size) for size, weight in enumerate(law)]
        return sum(w * value for w, value in zip(weighted, values, strict=True)) / sum(weighted)
    weights, f = np.asarray(law, dtype=float), np.asarray(values, dtype=float)
    if (np.diff(f) < 0).any():
        raise ValueError(f"values must be nondecreasing, got values={values!r}")
    if not (weights >= 0).all() or not weights.sum() > 0:
        raise ValueError(f"law must be weights >= 0, not all zero, got law={law!r}")
    with np.errstate(divide="ignore"):
        logs = np.log(weights) + checks.positive(epsilon, "epsilon") * np.arange(weights.size)
    tilted = np.exp(logs - logs.max())
    return float(tilted @ f / tilted.sum())
