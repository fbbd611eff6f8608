"""Section 5 of juarez2022 with Appendices A.3 to A.5: unbiased means, their variances, variance and bias of the gap."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ldpnb.accuracy import gaps
from ldpnb.claims import Evidence, agree, claim
from ldpnb.estimators import gaps as estimators
from ldpnb.mechanisms import groups, moves
from ldpnb.papers.juarez2022 import routes
from ldpnb.papers.juarez2022.proofs import errors

SIGNS = (groups.DiscretisedMeans(1.0, 1.0), groups.DiscretisedMeans(0.3, 2.0, 3))
NOISE = (groups.LaplaceMeans(0.5, 1.0), groups.LaplaceMeans(0.7, 0.4, 2 / 3, 3))
MECHANISMS: tuple[groups.GroupMeans, ...] = SIGNS + NOISE
VALUES = np.array([-1.0, -0.2, 0.4, 1.0])

section_5 = partial(claim, kind="enumeration", reach="all parameters")
EVERY = "eps1, eps2 > 0, every number and all sizes of groups, all values"


def example_counts(number: int) -> NDArray[np.int64]:
    """Return how many clients of each of a few groups hold each of `VALUES`: sizes and means all differ."""
    return np.array([[2, 1, 3, 4], [5, 0, 2, 1], [1, 1, 1, 3]])[:number]


@section_5(
    "Proposition 5.2",
    groups.DiscretisedMeans.gain,
    groups.LaplaceMeans.gain,
    estimators.group_means,
    groups.DiscretisedMeans.channel,
    groups.LaplaceMeans.law,
    moves.sign_probabilities,
    assumption="the size n of each group is known",
    over=EVERY,
    argument="the estimate is linear in what every client adds; Laplace noise is symmetric",
)
def proposition_5_2(e: Evidence) -> str:
    """the estimated group means are unbiased"""
    for mechanism in MECHANISMS:
        counts = example_counts(mechanism.groups)
        sizes, gain = counts.sum(axis=1), routes.printed_gain(mechanism)
        expected = [routes.mean_moments(mechanism, counts, VALUES, group)[0] for group in range(mechanism.groups)]
        e.same(mechanism.gain, gain)
        e.same(estimators.group_means(mechanism, gain * sizes, sizes), np.ones(mechanism.groups))
        e.needs(np.abs(expected - counts @ VALUES / sizes).max() < 1e-12)
    e.proven(errors.means_are_unbiased())
    return (
        "the exact expectation equals the mean of every group, 2 and 3 groups of 6 to 10 clients, "
        f"{len(MECHANISMS)} mechanisms"
    )


def _examples(mechanism: groups.GroupMeans) -> Iterator[tuple[dict[str, float], float, float]]:
    """Yield size, clients and second moment of each group, the variance by the package and by enumeration."""
    counts = example_counts(mechanism.groups)
    for group, row in enumerate(counts):
        size, clients, nu2 = int(row.sum()), int(counts.sum()), float(row @ VALUES**2 / row.sum())
        stated = gaps.mean_variance(mechanism, size, clients, nu2)
        enumerated = routes.mean_moments(mechanism, counts, VALUES, group)[1]
        yield {"size": size, "clients": clients, "second_moment": nu2}, stated, enumerated


def _variance_evidence(e: Evidence, mechanisms: tuple[groups.GroupMeans, ...], printed: Callable[..., float]) -> str:
    """Compare a variance formula of the package with enumeration, and the printed one with both, at 2 and 3 groups."""
    three = []
    for mechanism in mechanisms:
        for group, stated, enumerated in _examples(mechanism):
            e.same(stated, enumerated)
            if mechanism.groups == 2:
                e.needs(agree(printed(mechanism, **group), stated))
            else:
                three.append(printed(mechanism, **group) / stated)
    return (
        "printed formula and enumeration of every client's report agree for 2 groups; for 3 groups the printed one is "
        f"{min(three):.4f} to {max(three):.4f} times the exact variance"
    )


@section_5(
    "Equation (19)",
    gaps.variance_laplace_mean,
    groups.LaplaceMeans.law,
    gaps.mean_variance,
    groups.LaplaceMeans.keep,
    groups.LaplaceMeans.kept_scale,
    groups.LaplaceMeans.move,
    groups.LaplaceMeans.moved_scale,
    assumption="two groups; for d groups e^-eps1 becomes (1 - a)/a, save in the last term, where it stays",
    over="eps1, eps2, k > 0, any sizes of two groups, all values; as computed here, every number of groups",
    argument="clients report independently, so that their variances add",
)
def equation_19(e: Evidence) -> str:
    """the variance of a group mean under M_L"""

    def printed(mechanism: groups.LaplaceMeans, **group: float) -> float:
        split = mechanism.group_epsilon, mechanism.value_epsilon, mechanism.k
        return routes.printed_variance_laplace(*split, **group)

    e.proven(errors.variance_of_noise() and errors.printed_noise_agrees())
    return _variance_evidence(e, NOISE, printed)


@section_5(
    "Equation (20)",
    gaps.variance_discretised_mean,
    groups.DiscretisedMeans.channel,
    gaps.mean_variance,
    groups.DiscretisedMeans.gain,
    groups.DiscretisedMeans.keep,
    groups.DiscretisedMeans.move,
    assumption="two groups; for d groups 1 - a becomes (1 - a)/(d - 1)",
    over="eps1, eps2 > 0, any sizes of two groups, all values; as computed here, every number of groups",
    argument="clients report independently, so that their variances add",
)
def equation_20(e: Evidence) -> str:
    """the variance of a group mean under M_R"""

    def printed(mechanism: groups.DiscretisedMeans, **group: float) -> float:
        split = mechanism.group_epsilon, mechanism.value_epsilon
        return routes.printed_variance_discretised(*split, groups=mechanism.groups, **group)

    e.proven(errors.variance_of_signs() and errors.printed_signs_agree())
    return _variance_evidence(e, SIGNS, printed)


@section_5(
    "Theorem 5.4, variance",
    gaps.GroupGap.variance,
    gaps.mean_variance,
    groups.DiscretisedMeans.channel,
    groups.DiscretisedMeans.gain,
    groups.LaplaceMeans.gain,
    groups.LaplaceMeans.law,
    moves.sign_probabilities,
    over=EVERY,
    argument="a client adds to one group at most, so the covariance of what it adds to two is minus the product of the "
    "means, of which the one for a group other than its own is 0; clients report independently",
)
def theorem_5_4_variance(e: Evidence) -> str:
    """the errors of the two group means are uncorrelated, so that the variance of the gap is the sum of theirs"""
    for mechanism in MECHANISMS:
        counts = example_counts(mechanism.groups)
        (first, one, exact_one), (second, other, exact_other), *_ = _examples(mechanism)
        sizes, exact = tuple(counts.sum(axis=1).tolist()), routes.gap_moments(mechanism, counts, VALUES)[1]
        stated = gaps.GroupGap(mechanism, sizes).variance((first["second_moment"], second["second_moment"]))
        e.same([one, other, stated], [exact_one, exact_other, exact])
        e.needs(abs(exact_one + exact_other - exact) / exact < 1e-12)
    e.proven(errors.means_are_unbiased())
    return (
        f"covariance 0 to 12 digits by complete enumeration for {len(MECHANISMS)} mechanisms with 2 and 3 groups: a "
        "client adds to one group at most, and to another than its own with mean 0"
    )


@claim(
    "Theorem 5.4, unbiased",
    gaps.absolute_gap_bias,
    gaps.absolute_gap_mse,
    gaps.GroupGap.worst_variance,
    groups.DiscretisedMeans.gain,
    groups.DiscretisedMeans.keep,
    groups.DiscretisedMeans.move,
    groups.DiscretisedMeans.published,
    groups.LaplaceMeans.gain,
    moves.sign_probabilities,
    kind="certified",
    corrected="the signed gap is unbiased with the summed variance s^2; its absolute value is biased upwards by twice "
    "the mean of its negative part, for a normal estimate by s sqrt(2/pi) e^(-D^2/2s^2) - 2 D Phi(-D/s); its mean "
    "squared error is less by 2 D times the bias, so that Chebyshev's bound stays valid",
    reach="all parameters",
    over="eps1, eps2 > 0, every number and all sizes of groups, all values; the formula for normal estimates, that of "
    "the folded normal law, at gaps of 0 to 2 s",
    argument="the noise of M_L is negative enough with some chance; |X| - X = 2 max(-X, 0); no client adds to both "
    "sums, and what it adds to the other group's has mean 0, so that the two errors are uncorrelated",
)
def theorem_5_4_unbiased(e: Evidence) -> str:
    """the absolute difference of the two estimated means is an unbiased estimate of the gap, with mean squared error
    the sum of theirs
    """
    distances = np.array([0.0, 0.5, 1.0, 2.0])
    bias, square = gaps.absolute_gap_bias(1.0, distances), gaps.absolute_gap_mse(1.0, distances)
    e.same([bias, square], [[_folded_moment(gap, power) for gap in distances] for power in (1, 2)])
    e.same(gaps.absolute_gap_bias(0.3, 0.3 * distances), 0.3 * bias)
    e.needs(bias.max() < 1e-9)
    e.proven(errors.means_are_unbiased() and errors.absolute_gap_is_biased())
    heads, gain = np.arange(21), routes.printed_gain(groups.DiscretisedMeans(1.0, 1.0))
    chances = np.exp(routes.log_binomials(20, heads) - 20 * np.log(2))
    small = float(chances @ np.abs(2 * heads - 20)) * 2 / 20 / gain
    e.sure(small > 0)
    halves = gaps.GroupGap.of_halves(groups.DiscretisedMeans.published(0.1), 10**7)
    e.same(halves.worst_variance(), routes.printed_bound("M_R", 0.1, 10**7))
    at_zero = float(gaps.absolute_gap_bias(np.sqrt(halves.worst_variance()), 0.0))
    return (
        f"bias {bias[0]:.4f}, {bias[1]:.4f}, {bias[2]:.4f} and {bias[3]:.4f} standard deviations at gaps of 0, 0.5, 1 "
        f"and 2 of them, mean squared error {square[0]:.3f}, {square[1]:.3f}, {square[2]:.3f} and {square[3]:.3f} of "
        f"the sum; 10 + 10 clients without a gap show {small:.3f} on average at epsilon 1; 10^7 clients at 0.1 show "
        f"{at_zero:.4f}"
    )


def _folded_moment(gap: float, power: int) -> float:
    """Return the mean power of ``|gap + Z| - gap``, ``Z`` standard normal: Gauss and Legendre on both sides of 0."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    total = 0.0
    for low, high in ((-12.0, -gap), (-gap, 12.0)):
        x, half = low + (high - low) * (nodes + 1) / 2, (high - low) / 2
        total += float(half * weights @ (np.exp(-(x**2) / 2) * (np.abs(gap + x) - gap) ** power))
    return total / float(np.sqrt(2 * np.pi))
