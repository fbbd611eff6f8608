"""Exact errors of group means and of the gap between two of them, for the mechanisms of `groups` and `contrasts`.

Values lie in ``[-1, 1]``; a rate ``r`` in ``[0, 1]`` is ``v = 2 r - 1``, so a gap between rates is half the gap between
values. The values are fixed, without any distribution; they enter through each group's second moment ``nu^2``, the mean
of ``v^2``. Sizes of groups are known unless stated otherwise.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from ldpnb import checks
from ldpnb.accuracy import tails
from ldpnb.arithmetic import Floats, Real
from ldpnb.mechanisms.contrasts import Contrast, SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.mechanisms.groups import DiscretisedMeans, GroupMeans, LaplaceMeans

TAILS = ("chebyshev", "hoeffding", "bernstein", "exact", "chernoff", "normal")
"""Ways to bound the probability of a large error: see `GroupGap.failure`."""


def variance_laplace_mean(
    mechanism: LaplaceMeans, size: int, users: int, second_moment: float
) -> Real:
    """Return the variance of a group mean under ``M_L``, for any number of groups: equation (19) of juarez2022 at two.

    ``(s^2 + (1 - a) nu^2 + (K - n)/n (a'/a) s'^2) / (a n)`` with ``a`` the probability to keep the group, ``a'`` to
    move to a given one, and the variances ``s^2`` and ``s'^2`` of the two noises.

    - `size`, int: users ``n`` of the group.
    - `users`, int: all users ``K``.
    - `second_moment`, float: ``nu^2`` of the group, in ``[0, 1]``.
    """
    members, others, nu2 = _group(size, users, second_moment)
    a, moved, kept_scale, moved_scale = (
        mechanism.keep,
        mechanism.move,
        mechanism.kept_scale,
        mechanism.moved_scale,
    )
    strangers = others / members * moved / a * (2 * moved_scale * moved_scale)
    return (2 * kept_scale * kept_scale + moved * (mechanism.groups - 1) * nu2 + strangers) / (
        a * members
    )


def variance_discretised_mean(
    mechanism: DiscretisedMeans, size: int, users: int, second_moment: float
) -> Real:
    """Return the variance of a group mean under ``M_R``, for any number of groups: equation (20) of juarez2022 at two.

    ``(1 - a t^2 nu^2 + (K - n)/n (a'/a)) / (a t^2 n)`` with ``a`` the probability to keep the group, ``a'`` to move to
    a given one, and ``t = 2b - 1``, where ``1 - t^2 = 4 b (1 - b)``. Parameters as in `variance_laplace_mean`.
    """
    members, others, nu2 = _group(size, users, second_moment)
    a, moved, squared = mechanism.keep, mechanism.move, mechanism.sharpness * mechanism.sharpness
    own = moved * (mechanism.groups - 1) + a * (
        _lost(mechanism.value_epsilon) + squared * (1 - nu2)
    )
    return (own + others / members * moved / a) / (a * squared * members)


def _lost(epsilon: Real) -> Real:
    """Return ``1 - tanh(epsilon / 2)^2 = 4 b (1 - b)``, the share of a sign's square that is noise."""
    sign = KaryRandomisedResponse(epsilon, 2)
    return 4 * sign.p * sign.q


def mean_variance(mechanism: GroupMeans, size: int, users: int, second_moment: float) -> Real:
    """Return the variance of a group mean under either mechanism, equation (19) or (20)."""
    if isinstance(mechanism, LaplaceMeans):
        return variance_laplace_mean(mechanism, size, users, second_moment)
    return variance_discretised_mean(mechanism, size, users, second_moment)


@dataclass(frozen=True, slots=True)
class GroupGap:
    """The error of an estimated gap between the means of two groups.

    The gap is signed: the mean of the first group less that of the second. Values lie in ``[-1, 1]``,
    and the sizes of the groups are known.

    Parameters
    ----------
    mechanism : DiscretisedMeans, LaplaceMeans, SignedBit or SignedLaplace
        How users report; see `GAP` for those of this package. It must be made for as many groups, and
        one that reports on the gap alone for the same sizes.
    sizes : sequence of int, shape (groups,)
        Users in each group, at least 1. The first two groups are compared.

    Raises
    ------
    ValueError
        If the sizes do not fit the mechanism.

    References
    ----------
    Juarez and Korolova (2022), equations (19) and (20).

    Examples
    --------
    Two groups of two users. Each sends a random sign whose mean is half of the user's value, so twice
    the sign is an unbiased estimate. If that value is -1 or 1, it has the variance 4 - 1 = 3. The mean
    of a group then has 3/2, and the gap 3/2 + 3/2.

    >>> mechanism = SignedBit(epsilon=2 * np.arctanh(0.5), sizes=(2, 2))
    >>> gap = GroupGap(mechanism, sizes=(2, 2))
    >>> round(float(gap.variance(second_moments=(1.0, 1.0))), 12)
    3.0
    """

    mechanism: GroupMeans | Contrast
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        checks.plain(self)
        sizes = tuple(checks.counts(self.sizes, "sizes", minimum_size=2, least=1).tolist())
        object.__setattr__(self, "sizes", sizes)
        if isinstance(self.mechanism, GroupMeans):
            checks.entries(sizes, "sizes", self.mechanism.groups)
        elif sizes != self.mechanism.sizes:
            raise ValueError(
                f"sizes must be the mechanism's, {self.mechanism.sizes}, got sizes={sizes}"
            )

    @classmethod
    def of_halves(cls, mechanism: GroupMeans | Contrast, users: int) -> "GroupGap":
        """Return the gap between two groups of equal size; `users` is even."""
        half, odd = divmod(checks.whole(users, "users", at_least=2), 2)
        if odd:
            raise ValueError(f"users must be even for two equal groups, got users={users!r}")
        return cls(mechanism, (half, half))

    def variance(self, second_moments: Real) -> Real:
        """Return the variance, for given ``nu^2`` of the two groups compared.

        Two estimated means have covariance 0 (Theorem 5.4 of juarez2022): a user adds to one group's sum at most, and
        to that of another group than the user's own with mean 0. Where every user sends one number it is
        ``(K / t^2 - sum_g w_g^2 n_g nu_g^2) / n_min^2`` for the bit, with ``K`` users in all, ``n_min`` in the smaller
        group, weights ``w_g = n_min / n_g`` and ``t = tanh(epsilon / 2)``, and ``8 K / (epsilon n_min)^2`` for the
        noisy number.
        """
        checks.entries(second_moments, "second_moments", 2)
        moments = [checks.probability(m, "second_moment") for m in second_moments]
        if isinstance(self.mechanism, GroupMeans):
            return sum(mean_variance(self.mechanism, *own) for own in self._compared(moments))
        sizes = np.asarray(self.sizes, dtype=float)  # squares of whole numbers leave 64 bits
        two, others = sizes[:2], sizes[2:].sum()
        smaller, users = two.min(), sizes.sum()
        if isinstance(self.mechanism, SignedLaplace):
            return 2 * self.mechanism.scale**2 * users / smaller**2
        own = ((two - smaller) * (two + smaller) + smaller**2 * (1 - np.array(moments))) / two
        return (
            users * _lost(self.mechanism.epsilon) / self.mechanism.gain**2 + sum(own) + others
        ) / smaller**2

    def _compared(self, second_moments: Real) -> list[tuple[Any, ...]]:
        """Return size, all users and second moment of either group."""
        return [
            (n, sum(self.sizes), nu2) for n, nu2 in zip(self.sizes[:2], second_moments, strict=True)
        ]

    def worst_variance(self) -> Real:
        """Return the largest variance over all values: ``nu^2 = 1`` for `LaplaceMeans`, 0 for those that send signs."""
        nu2 = 1.0 if isinstance(self.mechanism, LaplaceMeans) else 0.0
        return self.variance((nu2, nu2))

    def misestimated_variance(self, size_factors: Real, second_moments: Real) -> Real:
        """Return the variance of estimated means' gap where sizes are taken to be `size_factors` times what they are.

        Each mean's variance is divided by its squared factor, ``> 0``.
        """
        if not isinstance(self.mechanism, GroupMeans):
            raise TypeError(
                f"mechanism must be for group means, got {type(self.mechanism).__name__}"
            )
        checks.entries(size_factors, "size_factors", 2)
        checks.entries(second_moments, "second_moments", 2)
        factors = [checks.positive(f, "size_factors") for f in size_factors]
        variances = (mean_variance(self.mechanism, *own) for own in self._compared(second_moments))
        return sum(variance / f / f for variance, f in zip(variances, factors, strict=True))

    def failure(self, alpha: float, tail: str = "chebyshev") -> float:
        """Bound the probability that the estimate is off by `alpha` or more, whatever the values.

        - `alpha`, float: on the scale of values in ``[-1, 1]``.
        - `tail`, {"chebyshev", "hoeffding", "bernstein", "exact", "chernoff", "normal"}: all but *chebyshev* and
          *normal* need two equal groups. *hoeffding*, *bernstein* and *exact* need a mechanism that sends signs,
          *chernoff* `LaplaceMeans` with one scale. *exact* is the binomial law when all values are 0, where the
          variance is largest (near 0 the lattice may add an atom). *normal* is an approximation.
        - ValueError if the tail is unknown or does not fit the mechanism or the sizes.
        """
        checks.choice(tail, "tail", among=TAILS)
        error = checks.positive(alpha, "alpha")
        if tail == "chebyshev":
            return tails.chebyshev(self.worst_variance(), error)
        if tail == "normal":
            return tails.normal(float(np.sqrt(self.worst_variance())), error)
        if len(self.sizes) != 2 or self.sizes[0] != self.sizes[1]:
            raise ValueError(
                f"sizes must be those of two equal groups for tail={tail!r}, got sizes={self.sizes}"
            )
        users, mechanism = sum(self.sizes), self.mechanism
        deviation = error * self.sizes[0] * mechanism.gain
        if isinstance(mechanism, DiscretisedMeans | SignedBit) and tail == "bernstein":
            return tails.bernstein(users, 1 + mechanism.gain, deviation)
        if isinstance(mechanism, DiscretisedMeans | SignedBit) and tail != "chernoff":
            return (tails.hoeffding if tail == "hoeffding" else tails.symmetric_binomial)(
                users, deviation
            )
        if isinstance(mechanism, LaplaceMeans) and tail == "chernoff":
            if mechanism.moved_scale != mechanism.kept_scale:
                raise ValueError(f"tail='chernoff' needs equal noise scales, got k={mechanism.k!r}")
            return tails.kept_laplace_chernoff(
                users, mechanism.keep, mechanism.kept_scale, deviation
            )
        raise ValueError(
            f"tail must fit the mechanism, got tail={tail!r} for {type(mechanism).__name__}"
        )

    def error_bound(self, failure: Real = 0.01, tail: str = "chebyshev") -> Real:
        """Return the error that is exceeded with probability `failure` at most, by *chebyshev* or *normal*.

        It is on the scale of values in ``[-1, 1]``; halve it for rates.
        """
        sd, allowed = np.sqrt(self.worst_variance()), checks.open_probability(failure, "failure")
        if checks.choice(tail, "tail", among=("chebyshev", "normal")) == "chebyshev":
            return sd / np.sqrt(allowed)
        return -sd * ndtri(allowed / 2)


def absolute_gap_bias(sd: ArrayLike, gap: ArrayLike) -> Floats:
    """Return the bias of the absolute value of a normal estimate with mean `gap >= 0` and standard deviation `sd > 0`.

    ``s sqrt(2 / pi) exp(-gap^2 / (2 s^2)) - 2 gap Phi(-gap / s)``, the folded normal: 0.798 s at gap 0, 0.017 s at 2 s.
    """
    s, distance = checks.numbers(sd, "sd", low=0, above=True), checks.numbers(gap, "gap", low=0)
    fold = s * np.sqrt(2 / np.pi) * np.exp(-(distance**2) / (2 * s**2))
    return np.asarray(fold - 2 * distance * ndtr(-distance / s))


def absolute_gap_mse(sd: ArrayLike, gap: ArrayLike) -> Floats:
    """Return the mean squared error of that absolute value, ``s^2 - 2 gap bias``: at most the signed one's ``s^2``."""
    return np.asarray(np.square(sd) - 2 * np.asarray(gap) * absolute_gap_bias(sd, gap))


def absolute_gap_error(sd: ArrayLike, gap: ArrayLike) -> Floats:
    """Return the mean absolute error ``E ||X| - gap|`` of the absolute value of a normal ``X`` with mean `gap >= 0`.

    ``s sqrt(2 / pi) - b(gap) + b(2 gap)`` with the bias ``b``: folding a negative estimate back brings it closer.
    """
    closer = absolute_gap_bias(sd, gap) - absolute_gap_bias(sd, 2 * np.asarray(gap))
    return np.asarray(np.sqrt(2 / np.pi) * np.asarray(sd) - closer)


def misestimated_gap_bias(size_factors: Real, means: Real) -> Real:
    """Return the bias of the gap when each group's size is taken to be `size_factors > 0` times what it is.

    ``m_G / f_G - m_H / f_H - (m_G - m_H)``: the estimated means, in ``[-1, 1]``, are divided by the factors.
    """
    first, second = (
        checks.positive(f, "size_factors") for f in checks.entries(size_factors, "size_factors", 2)
    )
    one, other = (
        checks.numbers(mean, "means", low=-1, high=1) for mean in checks.entries(means, "means", 2)
    )
    return one / first - other / second - (one - other)


def _group(size: int, users: int, second_moment: float) -> tuple[Real, Real, Real]:
    """Return the checked size of a group, how many users are not in it, and its second moment."""
    members = checks.whole(size, "size", at_least=1)
    others = checks.whole(users, "users", at_least=members) - members
    return members, others, checks.probability(second_moment, "second_moment")
