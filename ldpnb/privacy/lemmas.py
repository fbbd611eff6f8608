"""The lemmas from which the losses of samples follow, about coupled, mixed and reweighted samples.

They stand in Appendices A and B of Bun et al. (2022). Losses and budgets are in nats; the
mechanisms on the sample are epsilon-DP when a record is deleted. `log_mixed` and `log_thinned` are
logarithms of mixtures of a likelihood ratio with 1, as they arise from sampling.
"""

from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.arithmetic import Real, is_exact

_FAR = 300.0
"""From here on ``e^x - 1`` equals ``e^x`` to all digits."""


def log_mixed(weight: Real, exponent: Real) -> Real:
    """Return ``ln(1 + w (e^x - 1))`` for ``w >= 0`` and ``x >= 0``.

    Floats keep all digits, however large ``x`` is.

    >>> round(float(np.exp(log_mixed(0.5, np.log(5)))), 12)
    3.0
    >>> round(float(log_mixed(np.exp(-300.0), 1000.0)), 9)
    700.0
    """
    if is_exact(weight) or is_exact(exponent) or np.max(exponent) <= _FAR:
        return np.log1p(weight * np.expm1(exponent))

    near = np.log1p(weight * np.expm1(np.minimum(exponent, _FAR)))
    with np.errstate(divide="ignore"):
        far = np.logaddexp(0.0, np.log(weight) + exponent)
    return np.where(np.greater(exponent, _FAR), far, near)[()]


def log_thinned(weight: Real, exponent: Real) -> Real:
    """Return ``ln(1 - w (1 - e^-x))`` for ``w`` in ``[0, 1]`` and ``x >= 0``.

    Floats keep all digits, however large ``x`` is.
    """
    if is_exact(weight) or is_exact(exponent):
        return np.log1p(weight * np.expm1(-exponent))

    with np.errstate(divide="ignore"):
        near = np.log1p(weight * np.expm1(-exponent))
        far = np.logaddexp(np.log1p(-weight), np.log(weight) - exponent)
    return np.where(near > -0.5, near, far)[()]


def coupled_loss(distance: Real, epsilon: Real) -> Real:
    """Return ``k epsilon``, the loss on samples that can be coupled within the distance ``k``.

    Lemma A.3 of Bun et al. (2022), where ``k = distance`` counts deleted and inserted records.
    """
    return checks.whole(distance, "distance") * checks.positive(epsilon, "epsilon")


def mixture_loss(weight: Real, *, common: Real, other: Real) -> Real:
    """Return ``ln((1-p) e^e0 + p e^e1)``, the loss between two mixtures ``(1-p) X0 + p X1``.

    It is the tight form of Lemma A.4 of Bun et al. (2022): some distributions attain it. If the
    first components are the same, it is ``ln(1 + p (e^e1 - 1))``.

    Parameters
    ----------
    weight : float
        Weight ``p`` of the second components, in ``[0, 1]``.
    common : float
        Loss ``e0`` between the first components ``X0`` and ``Y0``, in nats, ``>= 0``.
    other : float
        Loss ``e1 >= e0`` of the pairs ``(X1, Y1)``, ``(X1, Y0)`` and ``(X0, Y1)``, in nats.
    """
    p, least, most = _mixture(weight, common, other)
    return least + log_mixed(p, most - least)


def mixture_loss_product_form(weight: Real, *, common: Real, other: Real) -> Real:
    """Return ``e0 + ln(1 + p (e^e1 - 1))``, the form of Lemma A.4 in the proof of Theorem 4.3.

    It is never below `mixture_loss`, and equal to it if ``common = 0``.
    """
    p, least, most = _mixture(weight, common, other)
    return least + log_mixed(p, most)


def _mixture(weight: Real, common: Real, other: Real) -> tuple[Real, Real, Real]:
    least = checks.non_negative(common, "common")
    most = checks.non_negative(other, "other")
    if not (is_exact(least) or is_exact(most)) and most < least:
        raise ValueError(f"other must be >= common, got other={other} and common={common}")
    return checks.probability(weight, "weight"), least, most


def inserted_record_loss(size: Real, population: Real, epsilon: Real) -> Real:
    """Return the loss if a record is inserted into the population, and the sample size stays.

    It is ``ln(1 + (m/(n+1)) (e^(2 epsilon) - 1))`` for ``m`` of ``n`` records, Lemma B.1 of Bun et
    al. (2022). The new record is drawn with the probability ``m/(n+1)``, and then takes another's
    place, which is a distance of 2. If the larger population gives a sample with one record more,
    the loss is epsilon instead, by `coupled_loss` at distance 1.
    """
    records = checks.whole(population, "population", at_least=1)
    chance = checks.whole(size, "size", at_most=records) / (records + 1)
    return log_mixed(chance, 2 * checks.positive(epsilon, "epsilon"))


def largest_tilted_mean(law: Any, values: Any, epsilon: Real) -> Real:
    """Return the largest mean of a nondecreasing function under a reweighted distribution of sizes.

    It is ``sum t f e^(epsilon m) / sum t e^(epsilon m)``, Lemma B.3 of Bun et al. (2022).

    Parameters
    ----------
    law : array_like, shape (sizes,)
        Weights ``t(m) >= 0`` of the sizes ``m = 0, 1, ...``, not all zero.
    values : array_like, shape (sizes,)
        The function ``f(m)``.
    epsilon : float
        The reweighting may change by at most the factor ``e^epsilon`` from one size to the next;
        ``> 0``.
    """
    if is_exact(epsilon):
        weighted = [weight * np.exp(epsilon * size) for size, weight in enumerate(law)]
        return sum(w * value for w, value in zip(weighted, values, strict=True)) / sum(weighted)

    weights = np.asarray(law, dtype=float)
    f = np.asarray(values, dtype=float)
    if (np.diff(f) < 0).any():
        raise ValueError(f"values must be nondecreasing, got values={values!r}")
    if not (weights >= 0).all() or not weights.sum() > 0:
        raise ValueError(f"law must be weights >= 0, not all zero, got law={law!r}")

    with np.errstate(divide="ignore"):
        logs = np.log(weights) + checks.positive(epsilon, "epsilon") * np.arange(weights.size)
    tilted = np.exp(logs - logs.max())
    return float(tilted @ f / tilted.sum())
