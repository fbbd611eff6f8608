"""Exact errors of group means and of the gap between two of them.

The mechanisms are those of `ldpnb.mechanisms.groups` and `ldpnb.mechanisms.contrasts`. Values lie
in ``[-1, 1]``; a rate ``r`` in ``[0, 1]`` is ``v = 2 r - 1``, so a gap between rates is half the
gap between values. The values are fixed numbers, not random ones. They enter through each group's
second moment ``nu^2``, the mean of ``v^2``. Sizes of groups are known unless stated otherwise.
Equations and theorems are those of Juarez and Korolova (2022).
"""

from dataclasses import dataclass

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


# One group mean


def variance_laplace_mean(
    mechanism: LaplaceMeans, size: int, users: int, second_moment: float
) -> Real:
    """Return the variance of a group mean under ``M_L``, for any number of groups.

    It is ``(s^2 + (1 - a) nu^2 + (K - n)/n (a'/a) s'^2) / (a n)``, where ``a`` is the probability
    of keeping the group, ``a'`` that of moving to a given other group, and ``s^2`` and ``s'^2`` are
    the variances of the two noises. For two groups this is equation (19).

    Parameters
    ----------
    mechanism : LaplaceMeans
        How users report.
    size : int
        Number ``n`` of users of the group.
    users : int
        Number ``K`` of all users.
    second_moment : float
        ``nu^2`` of the group, in ``[0, 1]``.
    """
    members, others, nu2 = _group(size, users, second_moment)
    a = mechanism.keep
    moved = mechanism.move
    kept_scale = mechanism.kept_scale
    moved_scale = mechanism.moved_scale

    # The parts of the noise, of members who leave the group, and of others who come to it.
    of_noise = 2 * kept_scale * kept_scale
    of_leavers = moved * (mechanism.groups - 1) * nu2
    of_strangers = others / members * moved / a * (2 * moved_scale * moved_scale)
    return (of_noise + of_leavers + of_strangers) / (a * members)


def variance_discretised_mean(
    mechanism: DiscretisedMeans, size: int, users: int, second_moment: float
) -> Real:
    """Return the variance of a group mean under ``M_R``, for any number of groups.

    It is ``(1 - a t^2 nu^2 + (K - n)/n (a'/a)) / (a t^2 n)``, where ``a`` is the probability of
    keeping the group, ``a'`` that of moving to a given other group, and ``t = 2b - 1``, so that
    ``1 - t^2 = 4 b (1 - b)``. For two groups this is equation (20). The arguments are those of
    `variance_laplace_mean`.
    """
    members, others, nu2 = _group(size, users, second_moment)
    a = mechanism.keep
    moved = mechanism.move
    squared = mechanism.sharpness * mechanism.sharpness

    of_stayers = a * (_sign_variance(mechanism.value_epsilon) + squared * (1 - nu2))
    of_leavers = moved * (mechanism.groups - 1)
    of_strangers = others / members * moved / a
    return (of_stayers + of_leavers + of_strangers) / (a * squared * members)


def _sign_variance(epsilon: Real) -> Real:
    """Return the variance of a randomised sign, ``1 - tanh(epsilon / 2)^2 = 4 b (1 - b)``.

    Its mean is ``2b - 1`` or the opposite, where ``b = e^epsilon / (e^epsilon + 1)``.
    """
    sign = KaryRandomisedResponse(epsilon, 2)
    return 4 * sign.p * sign.q


def mean_variance(mechanism: GroupMeans, size: int, users: int, second_moment: float) -> Real:
    """Return the variance of a group mean under either mechanism, equation (19) or (20)."""
    if isinstance(mechanism, LaplaceMeans):
        return variance_laplace_mean(mechanism, size, users, second_moment)
    return variance_discretised_mean(mechanism, size, users, second_moment)


def _group(size: int, users: int, second_moment: float) -> tuple[Real, Real, Real]:
    """Return the checked size of a group, how many users are not in it, and its second moment."""
    members = checks.whole(size, "size", at_least=1)
    others = checks.whole(users, "users", at_least=members) - members
    return members, others, checks.probability(second_moment, "second_moment")


# The gap between two


@dataclass(frozen=True, slots=True)
class GroupGap:
    """The error of an estimated gap between the means of two groups.

    The gap is signed: the mean of the first group minus that of the second. Values lie in
    ``[-1, 1]``, and the sizes of the groups are known.

    Parameters
    ----------
    mechanism : DiscretisedMeans, LaplaceMeans, SignedBit or SignedLaplace
        How users report; see `GAP` for those of this package. It must be made for as many groups
        as there are sizes. `SignedBit` and `SignedLaplace`, which report on the gap alone, must be
        made for the same sizes.
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
    Two groups of two users. Each sends a random sign whose mean is half of the user's value, so
    twice the sign is an unbiased estimate. If that value is -1 or 1, it has the variance 4 - 1 = 3.
    The mean of a group then has 3/2, and the gap 3/2 + 3/2.

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
        """Return the gap between two groups of equal size; the number of users is even."""
        half, odd = divmod(checks.whole(users, "users", at_least=2), 2)
        if odd:
            raise ValueError(f"users must be even for two equal groups, got users={users!r}")
        return cls(mechanism, (half, half))

    def variance(self, second_moments: Real) -> Real:
        """Return the variance, for given ``nu^2`` of the two groups compared.

        Two estimated means have covariance 0 (Theorem 5.4): a user adds to one group's sum at most,
        and adds a number of mean 0 to that of any other group.

        If every user sends one number, the variance is
        ``(K / t^2 - sum_g w_g^2 n_g nu_g^2) / n_min^2`` for the bit, and
        ``8 K / (epsilon n_min)^2`` for the noisy number. Here ``K`` are all users, ``n_min`` those
        in the smaller group, ``w_g = n_min / n_g``, and ``t = tanh(epsilon / 2)``.
        """
        checks.entries(second_moments, "second_moments", 2)
        moments = [checks.probability(moment, "second_moment") for moment in second_moments]
        if isinstance(self.mechanism, GroupMeans):
            return sum(self._mean_variances(self.mechanism, moments))

        sizes = np.asarray(self.sizes, dtype=float)  # squares of whole numbers leave 64 bits
        compared = sizes[:2]
        others = sizes[2:].sum()
        smaller = compared.min()
        users = sizes.sum()
        if isinstance(self.mechanism, SignedLaplace):
            return 2 * self.mechanism.scale**2 * users / smaller**2

        # K / t^2 is K (1 - t^2) / t^2, the noise, and K. What K exceeds the values by is a sum over
        # groups without cancellation: n_g - w_g^2 n_g nu_g^2 for the two that are compared.
        of_noise = users * _sign_variance(self.mechanism.epsilon) / self.mechanism.gain**2
        unweighted = (compared - smaller) * (compared + smaller)
        values = smaller**2 * (1 - np.array(moments))
        of_compared = sum((unweighted + values) / compared)
        return (of_noise + of_compared + others) / smaller**2

    def _mean_variances(self, mechanism: GroupMeans, second_moments: Real) -> list[Real]:
        """Return the variance of the mean of either group."""
        users = sum(self.sizes)
        variances = []
        for size, moment in zip(self.sizes[:2], second_moments, strict=True):
            variances.append(mean_variance(mechanism, size, users, moment))
        return variances

    def worst_variance(self) -> Real:
        """Return the largest variance over all values.

        It is at ``nu^2 = 1`` for `LaplaceMeans`, and at 0 for mechanisms that send signs.
        """
        nu2 = 1.0 if isinstance(self.mechanism, LaplaceMeans) else 0.0
        return self.variance((nu2, nu2))

    def misestimated_variance(self, size_factors: Real, second_moments: Real) -> Real:
        """Return the variance if the sizes of the groups are not known exactly.

        Each group's size is taken to be its factor, ``> 0``, times what it is, so the variance of
        its mean is divided by the squared factor.
        """
        if not isinstance(self.mechanism, GroupMeans):
            raise TypeError(
                f"mechanism must be for group means, got {type(self.mechanism).__name__}"
            )
        checks.entries(size_factors, "size_factors", 2)
        checks.entries(second_moments, "second_moments", 2)
        factors = [checks.positive(factor, "size_factors") for factor in size_factors]
        variances = self._mean_variances(self.mechanism, second_moments)
        return sum(
            variance / factor / factor for variance, factor in zip(variances, factors, strict=True)
        )

    def failure(self, alpha: float, tail: str = "chebyshev") -> float:
        """Bound the probability that the estimate is off by `alpha` or more, for all values.

        Parameters
        ----------
        alpha : float
            The error, ``> 0``, on the scale of values in ``[-1, 1]``.
        tail : str, default "chebyshev"
            One of *chebyshev*, *hoeffding*, *bernstein*, *exact*, *chernoff* and *normal*. All but
            *chebyshev* and *normal* need two equal groups. *hoeffding*, *bernstein* and *exact*
            need a mechanism that sends signs, *chernoff* `LaplaceMeans` with one scale. *exact* is
            the binomial distribution if all values are 0, where the variance is largest (near 0 the
            lattice may add an atom). *normal* is an approximation.

        Raises
        ------
        ValueError
            If the tail is unknown, or does not fit the mechanism or the sizes.
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
        users = sum(self.sizes)
        mechanism = self.mechanism
        deviation = error * self.sizes[0] * mechanism.gain

        if isinstance(mechanism, DiscretisedMeans | SignedBit):
            if tail == "bernstein":
                return tails.bernstein(users, 1 + mechanism.gain, deviation)
            if tail == "hoeffding":
                return tails.hoeffding(users, deviation)
            if tail == "exact":
                return tails.symmetric_binomial(users, deviation)

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
        """Return the error that is exceeded with a probability of at most `failure`.

        It is on the scale of values in ``[-1, 1]``; for rates it is half as large.

        Parameters
        ----------
        failure : float, default 0.01
            The probability, in ``(0, 1)``.
        tail : {"chebyshev", "normal"}, default "chebyshev"
            How the probability is bounded; *normal* is an approximation.
        """
        deviation = np.sqrt(self.worst_variance())
        allowed = checks.open_probability(failure, "failure")
        if checks.choice(tail, "tail", among=("chebyshev", "normal")) == "chebyshev":
            return deviation / np.sqrt(allowed)
        return -deviation * ndtri(allowed / 2)


# The absolute value of an estimated gap


def absolute_gap_bias(sd: ArrayLike, gap: ArrayLike) -> Floats:
    """Return the bias of the absolute value of a normal estimate.

    The estimate has the mean `gap >= 0` and the standard deviation `sd > 0`. By the folded normal
    distribution the bias is ``s sqrt(2 / pi) exp(-gap^2 / (2 s^2)) - 2 gap Phi(-gap / s)``: 0.798 s
    at gap 0, and 0.017 s at 2 s.
    """
    s = checks.numbers(sd, "sd", low=0, above=True)
    distance = checks.numbers(gap, "gap", low=0)
    fold = s * np.sqrt(2 / np.pi) * np.exp(-(distance**2) / (2 * s**2))
    return np.asarray(fold - 2 * distance * ndtr(-distance / s))


def absolute_gap_mse(sd: ArrayLike, gap: ArrayLike) -> Floats:
    """Return the mean squared error of that absolute value, ``s^2 - 2 gap bias``.

    It is at most that of the signed estimate, ``s^2``.
    """
    return np.asarray(np.square(sd) - 2 * np.asarray(gap) * absolute_gap_bias(sd, gap))


def absolute_gap_error(sd: ArrayLike, gap: ArrayLike) -> Floats:
    """Return the mean absolute error of that absolute value, ``E ||X| - gap|``.

    With the bias ``b`` it is ``s sqrt(2 / pi) - b(gap) + b(2 gap)``: to fold a negative estimate
    back brings it closer.
    """
    closer = absolute_gap_bias(sd, gap) - absolute_gap_bias(sd, 2 * np.asarray(gap))
    return np.asarray(np.sqrt(2 / np.pi) * np.asarray(sd) - closer)


# Sizes that are not known


def misestimated_gap_bias(size_factors: Real, means: Real) -> Real:
    """Return the bias of the gap if each group's size is taken to be a factor times what it is.

    The first group has the mean ``m_G`` and the factor ``f_G``, the second ``m_H`` and ``f_H``. The
    bias is ``m_G / f_G - m_H / f_H - (m_G - m_H)``, since the estimated means are divided by the
    factors.

    Parameters
    ----------
    size_factors : (float, float)
        The factors of both groups, ``> 0``.
    means : (float, float)
        The means of both groups, in ``[-1, 1]``.
    """
    checks.entries(size_factors, "size_factors", 2)
    first_factor = checks.positive(size_factors[0], "size_factors")
    second_factor = checks.positive(size_factors[1], "size_factors")

    checks.entries(means, "means", 2)
    first = checks.numbers(means[0], "means", low=-1, high=1)
    second = checks.numbers(means[1], "means", low=-1, high=1)
    return first / first_factor - second / second_factor - (first - second)
