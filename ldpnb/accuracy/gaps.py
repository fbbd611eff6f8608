"""Exact error of group means and of the gap between two of them, for the mechanisms of `groups` and `contrasts`.

Values lie in ``[-1, 1]``; a rate ``r`` in ``[0, 1]`` is ``v = 2 r - 1``, so a gap between rates is half the gap between
values. The values are fixed (no distribution assumed); what enters is each group's second moment ``nu^2``, the mean of
``v^2``. Sizes of groups are known unless said otherwise.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from ldpnb import checks
from ldpnb.mechanisms.contrasts import Contrast, SignedBit, contrast_weights
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans


def variance_laplace_mean(mechanism: LaplaceMeans, size: int, clients: int, second_moment: float) -> float:
    """Return the variance of a group mean under ``M_L``, for any number of groups: equation (19) of juarez2022 at two.

    ``(s^2 + (1 - a) nu^2 + (K - n)/n (a'/a) s'^2) / (a n)`` with ``a`` the probability to keep the group, ``a'`` to
    move to a given one, and the variances ``s^2`` and ``s'^2`` of the two noises.

    Parameters
    ----------
    mechanism : LaplaceMeans
    size : int
        Clients ``n`` of the group.
    clients : int
        All clients ``K``.
    second_moment : float
        ``nu^2`` of the group, in ``[0, 1]``.

    Examples
    --------
    >>> round(variance_laplace_mean(LaplaceMeans(np.log(3), 2.0), size=1, clients=2, second_moment=1.0), 12)
    3.888888888889
    """
    members, others, nu2 = _group(size, clients, second_moment)
    a, moved = mechanism.keep, mechanism.move
    kept_noise, moved_noise = 2 * mechanism.kept_scale**2, 2 * mechanism.moved_scale**2
    strangers = others / members * moved / a * moved_noise
    return (kept_noise + _change(mechanism) * nu2 + strangers) / (a * members)


def variance_discretised_mean(mechanism: DiscretisedMeans, size: int, clients: int, second_moment: float) -> float:
    """Return the variance of a group mean under ``M_R``, for any number of groups: equation (20) of juarez2022 at two.

    ``(1 - a t^2 nu^2 + (K - n)/n (a'/a)) / (a t^2 n)`` with ``a`` the probability to keep the group, ``a'`` to move to
    a given one, and ``t = 2b - 1``. Parameters as in `variance_laplace_mean`.

    Examples
    --------
    >>> round(variance_discretised_mean(DiscretisedMeans(np.log(3), np.log(3)), size=1, clients=2, second_moment=0.0), 12)
    7.111111111111
    """
    members, others, nu2 = _group(size, clients, second_moment)
    a, moved, squared = mechanism.keep, mechanism.move, mechanism.sharpness**2
    return (1 - a * squared * nu2 + others / members * moved / a) / (a * squared * members)


def mean_variance(mechanism: GroupMeans, size: int, clients: int, second_moment: float) -> float:
    """Return the variance of a group mean under either mechanism, equation (19) or (20)."""
    if isinstance(mechanism, LaplaceMeans):
        return variance_laplace_mean(mechanism, size, clients, second_moment)
    return variance_discretised_mean(mechanism, size, clients, second_moment)


def gap_variance(
    mechanism: GroupMeans, sizes: ArrayLike, second_moments: tuple[float, float], *, pair: tuple[int, int] = (0, 1)
) -> float:
    """Return the variance of the signed gap, the sum of the two means' variances: their covariance is 0 (Theorem 5.4 of
    juarez2022).

    A client adds to one group's sum at most, and to that of another group than its own with mean 0.

    Parameters
    ----------
    mechanism : DiscretisedMeans or LaplaceMeans
    sizes : (d,) int
        Clients of every group.
    second_moments : (float, float)
        ``nu^2`` of the two groups compared, in ``[0, 1]``.
    pair : (int, int)
        The two groups compared.

    Examples
    --------
    >>> round(gap_variance(DiscretisedMeans(1.0, 1.0), (10_000, 10_000), (0.0, 0.0)), 12)
    0.001752352426
    """
    numbers = checks.counts(sizes=sizes, minimum_size=2)
    if numbers.size != mechanism.groups or numbers.min() < 1:
        raise ValueError(f"sizes must be >= 1, one per group, {mechanism.groups}, got sizes={numbers.tolist()}")
    moments = [checks.probability(second_moment=m) for m in second_moments]
    total = int(numbers.sum())
    return sum(mean_variance(mechanism, int(numbers[g]), total, nu2) for g, nu2 in zip(pair, moments, strict=True))


def worst_gap_variance(mechanism: GroupMeans | Contrast, sizes: ArrayLike, *, pair: tuple[int, int] = (0, 1)) -> float:
    """Return the largest variance of the gap over all values: ``nu^2 = 1`` for `LaplaceMeans`, ``nu^2 = 0`` for those
    that send signs.
    """
    if isinstance(mechanism, GroupMeans):
        nu2 = 1.0 if isinstance(mechanism, LaplaceMeans) else 0.0
        return gap_variance(mechanism, sizes, (nu2, nu2), pair=pair)
    if tuple(checks.counts(sizes=sizes)) != tuple(mechanism.sizes) or tuple(pair) != tuple(mechanism.pair):
        raise ValueError(
            f"sizes and pair must be the mechanism's, {mechanism.sizes}, got sizes={sizes!r}, pair={pair!r}"
        )
    return contrast_variance(mechanism, (0.0, 0.0))


def contrast_variance(mechanism: Contrast, second_moments: tuple[float, float]) -> float:
    """Return the variance of the gap when every client sends one number, `SignedBit` or `SignedLaplace`.

    With ``K`` clients in all, ``n_min`` in the smaller group and weights ``w``: ``(K / t^2 - sum_g w_g^2 n_g nu_g^2) /
    n_min^2`` for the bit with ``t = tanh(epsilon / 2)``, and ``8 K / (epsilon n_min)^2`` for the noisy number.

    Parameters
    ----------
    mechanism : SignedBit or SignedLaplace
    second_moments : (float, float)
        ``nu^2`` of the two groups compared; without effect on the noisy number.

    Examples
    --------
    >>> contrast_variance(SignedBit(epsilon=2 * np.arctanh(0.5), sizes=(2, 2)), (1.0, 1.0))
    3.0
    """
    moments = [checks.probability(second_moment=m) for m in second_moments]
    sizes = np.asarray(mechanism.sizes, dtype=float)  # squares of whole numbers leave 64 bits
    smaller, total = sizes[list(mechanism.pair)].min(), sizes.sum()
    if not isinstance(mechanism, SignedBit):
        return float(2 * mechanism.scale**2 * total / smaller**2)
    weights = contrast_weights(mechanism.sizes, mechanism.pair)
    signal = sum(weights[g] ** 2 * sizes[g] * nu2 for g, nu2 in zip(mechanism.pair, moments, strict=True))
    return float((total / mechanism.gain**2 - signal) / smaller**2)


def absolute_gap_bias(sd: ArrayLike, gap: ArrayLike) -> NDArray[np.float64]:
    """Return the bias of the absolute value of a normal estimate with mean `gap >= 0` and standard deviation `sd > 0`.

    ``s sqrt(2 / pi) exp(-gap^2 / (2 s^2)) - 2 gap Phi(-gap / s)``, the folded normal: 0.798 s at gap 0, 0.017 s at 2 s.

    Examples
    --------
    >>> absolute_gap_bias(1.0, [0.0, 2.0]).round(6).tolist()
    [0.797885, 0.016981]
    """
    s, distance = _folded(sd, gap)
    fold = s * np.sqrt(2 / np.pi) * np.exp(-(distance**2) / (2 * s**2))
    return np.asarray(fold - 2 * distance * ndtr(-distance / s))


def absolute_gap_mse(sd: ArrayLike, gap: ArrayLike) -> NDArray[np.float64]:
    """Return the mean squared error of the absolute value of a normal estimate, ``s^2 - 2 gap bias``: at most the
    signed estimate's ``s^2``.
    """
    return np.asarray(np.square(sd) - 2 * np.asarray(gap) * absolute_gap_bias(sd, gap))


def absolute_gap_error(sd: ArrayLike, gap: ArrayLike) -> NDArray[np.float64]:
    """Return the mean absolute error ``E ||X| - gap|`` of the absolute value of a normal estimate ``X`` with mean `gap
    >= 0`.

    ``s (sqrt(2 / pi) - 2 g(u) + 2 g(2u))`` with ``u = gap / s`` and ``g(u) = phi(u) - u Phi(-u)``: folding a negative
    estimate back brings it closer.

    Examples
    --------
    >>> absolute_gap_error(1.0, [0.0, 1.0, 9.0]).round(6).tolist()
    [0.797885, 0.648235, 0.797885]
    """
    s, distance = _folded(sd, gap)
    u = distance / s
    saved = _partial_mean(u) - _partial_mean(2 * u)
    return np.asarray(s * (np.sqrt(2 / np.pi) - 2 * saved))


def misestimated_gap_bias(size_factors: tuple[float, float], means: tuple[float, float]) -> float:
    """Return the bias of the gap when each group's size is taken to be `size_factors` times what it is.

    ``m_G / f_G - m_H / f_H - (m_G - m_H)``: the estimated means are divided by the factors.

    Parameters
    ----------
    size_factors : (float, float)
        Assumed size over true size, ``> 0``.
    means : (float, float)
        True group means, in ``[-1, 1]``.

    Examples
    --------
    >>> round(misestimated_gap_bias((1.5, 0.5), (0.8, 0.8)), 9)
    -1.066666667
    """
    first, second = (checks.positive(size_factors=f) for f in size_factors)
    return means[0] / first - means[1] / second - (means[0] - means[1])


def misestimated_gap_variance(
    mechanism: GroupMeans,
    sizes: tuple[int, int],
    size_factors: tuple[float, float],
    second_moments: tuple[float, float],
) -> float:
    """Return the variance of the gap between two groups whose sizes are misestimated: each mean's variance over its
    squared factor.
    """
    total = sum(sizes)
    return sum(
        mean_variance(mechanism, size, total, nu2) / checks.positive(size_factors=factor) ** 2
        for size, factor, nu2 in zip(sizes, size_factors, second_moments, strict=True)
    )


def _group(size: int, clients: int, second_moment: float) -> tuple[int, int, float]:
    """Return the checked size of a group, how many clients are not in it, and its second moment."""
    members = checks.whole(size=size, at_least=1)
    others = checks.whole(clients=clients, at_least=members) - members
    return members, others, checks.probability(second_moment=second_moment)


def _folded(sd: ArrayLike, gap: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return checked standard deviations and gaps."""
    s, distance = np.asarray(sd, dtype=float), np.asarray(gap, dtype=float)
    for name, numbers, right in (("sd", s, s > 0), ("gap", distance, distance >= 0)):
        if not (np.isfinite(numbers) & right).all():
            rule = "> 0" if name == "sd" else ">= 0"
            raise ValueError(f"{name} must be {rule} and finite, got {name}={numbers.tolist()!r}")
    return s, distance


def _partial_mean(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``E (Z - u)_+`` of a standard normal variable."""
    return np.asarray(np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) - u * ndtr(-u))


def _change(mechanism: GroupMeans) -> float:
    """Return ``1 - a``, the probability that the group changes."""
    return mechanism.move * (mechanism.groups - 1)
